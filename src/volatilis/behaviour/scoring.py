"""How probable a person's responses are under a learner and a response model: one compiled loop over the trials."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from volatilis._compile import Call
from volatilis._drivers import ELAPSE, OBSERVE, RESET


class Trials(NamedTuple):
    """Trials of one person that share all parameters, as learners and response models take them; the learner starts anew.

    values     outcomes as their family has them
    events     what happens at each trial: an outcome, time passing, nothing; and where blocks begin
    given      responses, NaN where there is none
    scored     which responses count
    after      whether a response was given after the trial's outcome, or before it
    columns    the values of parameters that stand in columns
    rows       where the trials stand in the table, if they come from one
    """

    values: np.ndarray
    events: np.ndarray
    given: np.ndarray
    scored: np.ndarray
    after: bool = False
    columns: Mapping[str, Any] = {}
    rows: np.ndarray | None = None


class Person(NamedTuple):
    """A person's trials, in parts where parameters that stand in columns (the noise of a block) differ."""

    name: str
    parts: tuple[Trials, ...]

    @property
    def responses(self) -> int:
        """How many count."""
        return sum(int(part.scored.sum()) for part in self.parts)

    def outcomes(self) -> np.ndarray:
        """All that were observed."""
        seen = [np.asarray(part.values, dtype=float)[part.events % RESET == OBSERVE].ravel() for part in self.parts]
        return np.concatenate(seen)


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


def log_likelihoods(learner: Any, model: Any, trials: Trials, key: int = 0) -> np.ndarray:
    """The log probability of each response; 0 where none counts."""
    out, last, progress = np.empty(trials.events.size), np.array([np.nan]), np.zeros(1, dtype=np.int64)
    state = learner.init(key)
    while progress[0] < trials.events.size:
        if not learner.has_room(state):
            state = learner.grow(state)
        arguments = (trials.values, trials.events, trials.given, trials.scored, trials.after)
        Call(score_responses, learner, state, model, *arguments, progress, last, out, release_gil=True)()
    return out


def log_likelihood(make: Callable[[Mapping[str, Any]], tuple[Any, Any]], person: Person, keys: Sequence[int] = (0,)) -> float:
    """Of all responses; `make` gives learner and response model for a part's columns.

    For a learner that samples, the mean of the likelihood over several runs (not of its logarithm).
    """
    totals = np.zeros(len(keys))
    for part in person.parts:
        learner, model = make(part.columns)
        totals += [log_likelihoods(learner, model, part, key).sum() for key in keys]
    top = totals.max()
    return float(top if len(keys) == 1 or not np.isfinite(top) else top + np.log(np.mean(np.exp(totals - top))))
