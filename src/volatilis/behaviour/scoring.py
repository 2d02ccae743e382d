"""How probable a person's responses are under a learner and a response model: one compiled loop over the trials."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from volatilis._compile import Call
from volatilis._drivers import ELAPSE, OBSERVE, RESET


class Person(NamedTuple):
    """One person's trials, as learners and response models take them.

    values     outcomes as their family has them
    events     what happens at each trial: an outcome, time passing, nothing; and where blocks begin
    given      responses, NaN where there is none
    scored     which responses count
    after      whether a response was given after the trial's outcome, or before it
    """

    name: str
    values: np.ndarray
    events: np.ndarray
    given: np.ndarray
    scored: np.ndarray
    after: bool = False

    @property
    def responses(self) -> int:
        return int(self.scored.sum())


def score_responses(
    learner: Any,
    state: Any,
    model: Any,
    ys: Any,
    events: Any,
    given: Any,
    scored: Any,
    after: bool,
    progress: Any,
    last: Any,
    out: Any,
) -> None:
    """log P(response_t) in out[t], 0 where it does not count. last[0] is the last response; a block begins without one.

    A response that is missing is no response: the learner goes on learning, and the last one stays the last.
    """
    for t in range(progress[0], events.size):
        if not learner.has_room(state):
            progress[0] = t
            return
        event = events[t]
        if event >= RESET:
            learner.restart(state)
            last[0] = np.nan
            event -= RESET
        out[t] = 0.0
        if scored[t] and not after:
            out[t] = model.log_response(learner, state, given[t], last[0])
        if event == OBSERVE:
            learner.update(state, ys[t])
        elif event == ELAPSE:
            learner.elapse(state)
        if scored[t] and after:
            out[t] = model.log_response(learner, state, given[t], last[0])
        if given[t] == given[t]:
            last[0] = given[t]
    progress[0] = events.size


def log_likelihoods(learner: Any, response: Any, person: Person, key: int = 0) -> np.ndarray:
    """The log probability of each response; 0 where none counts."""
    out, last, progress = np.empty(person.events.size), np.array([np.nan]), np.zeros(1, dtype=np.int64)
    state = learner.init(key)
    while progress[0] < person.events.size:
        if not learner.has_room(state):
            state = learner.grow(state)
        trials = (person.values, person.events, person.given, person.scored, person.after)
        Call(score_responses, learner, state, response, *trials, progress, last, out, release_gil=True)()
    return out


def log_likelihood(learner: Any, response: Any, person: Person, keys: tuple[int, ...] = (0,)) -> float:
    """Of all responses. For a learner that samples, the mean of the likelihood over several runs (not of its logarithm)."""
    totals = np.array([log_likelihoods(learner, response, person, key).sum() for key in keys])
    top = totals.max()
    return float(top if len(keys) == 1 or not np.isfinite(top) else top + np.log(np.mean(np.exp(totals - top))))
