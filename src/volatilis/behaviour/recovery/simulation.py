"""Simulated responses: what a person would do on the same trials if a model were true.

A belief never depends on responses, so the learner runs over the outcomes once, compiled; responses are then drawn trial by
trial, each knowing the one before. Responses are missing where the person's are. On catch trials, where the hidden parameter was
shown, the model does not say what a person does: the person's own response stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from volatilis._compiler import Call
from volatilis._core.seeds import generator_key, seed_sequence
from volatilis.behaviour import responses
from volatilis.behaviour.models import Model
from volatilis.behaviour.people import Person, Trials
from volatilis.behaviour.responses._base import Moment, ResponseModel
from volatilis.learners._base import Learner, State
from volatilis.running.drivers import RESET, outputs, run_sequence


def simulate(model: Model, values: Mapping[str, float], person: Person, seed: int | np.random.SeedSequence) -> Person:
    """The person's trials with responses of `model` with these values of what is free."""
    own = seed_sequence(seed).spawn(1 + len(person.parts))
    rng, given = np.random.default_rng(own[0]), np.concatenate([part.given[part.scored] for part in person.parts])
    middle = 0.5 * float(given.min() + given.max()) if given.size else 0.0
    parts = []
    for part, key in zip(person.parts, own[1:], strict=True):
        learner, response = model.make({**part.columns, **values})
        response.check_learner(learner)
        parts.append(part._replace(given=responses_to(learner, response, part, rng, middle, generator_key(key))))
    return Person(person.name, tuple(parts))


def responses_to(
    learner: Learner, response: ResponseModel, trials: Trials, rng: np.random.Generator, middle: float, key: int = 0
) -> np.ndarray:
    """One response per trial that has one."""
    given, before = trials.given.copy(), np.nan
    size = learner.family.size()
    believed = _drawn_beliefs(learner, trials, rng, key) if response.draws_theta() else _beliefs(learner, trials, key)
    for t, (mean, sd, theta) in enumerate(believed):
        if trials.events[t] >= RESET:
            before = np.nan
        if trials.scored[t]:
            given[t] = float(response.draw(Moment(mean[:size], sd, theta, before, middle), rng))
        if given[t] == given[t]:
            before = given[t]
    return given


# --- what is believed at each trial --------------------------------------------------------------------------------------


def _beliefs(learner: Learner, trials: Trials, key: int) -> Iterator[tuple[np.ndarray, np.ndarray, float]]:
    """Means and standard deviations when the trial's response is given."""
    size, length, readouts = learner.family.size(), trials.events.size, ("mean", "variance", "run_length")
    has_variance = "variance" in learner.readouts()
    out = outputs(length, size, readouts if has_variance else ("mean", "run_length"))
    state, progress = learner.init(key), np.zeros(1, dtype=np.int64)
    first = _start(learner, size, has_variance)
    while progress[0] < length:
        if not learner.has_room(state):
            state = learner.grow(state)
        Call(run_sequence, learner, state, trials.values, trials.events, progress, out, release_gil=True)()
    means = out.means.reshape(length, size)
    means = np.where(np.isnan(means), first[0], means)
    sds = np.sqrt(out.variances.reshape(length, size)) if has_variance else np.empty((length, 0))
    for t in range(length):
        fresh = not trials.after and (t == 0 or trials.events[t] >= RESET)
        at = t if trials.after else t - 1
        yield (*first, np.nan) if fresh else (means[at], sds[at], np.nan)


def _start(learner: Learner, size: int, has_variance: bool) -> tuple[np.ndarray, np.ndarray]:
    state = learner.init(0)
    mean = np.array([responses.estimate(learner, state, k) for k in range(size)])
    return mean, np.array([responses.uncertainty(learner, state, k) for k in range(size)]) if has_variance else np.empty(0)


def _drawn_beliefs(
    learner: Learner, trials: Trials, rng: np.random.Generator, key: int
) -> Iterator[tuple[np.ndarray, np.ndarray, float]]:
    """A draw of theta from the belief itself: the learner goes trial by trial."""
    state, progress, nothing = learner.init(key), np.zeros(1, dtype=np.int64), np.empty(0)
    out = outputs(0, learner.family.size(), ("run_length",))._replace(log_p=nothing, log_p_0=nothing, gamma=nothing)
    for t in range(trials.events.size):
        if trials.events[t] >= RESET:
            learner.restart(state)
        theta = np.nan if trials.after else _theta(learner, state, rng)
        if not learner.has_room(state):
            state = learner.grow(state)
        progress[0] = 0
        event = trials.events[t : t + 1] % RESET
        Call(run_sequence, learner, state, trials.values[t : t + 1], event, progress, out)()
        yield nothing, nothing, _theta(learner, state, rng) if trials.after else theta


def _theta(learner: Learner, state: State, rng: np.random.Generator) -> float:
    """One hypothesis by its weight, then theta under it."""
    belief = learner.family.distribution(state.beliefs, state.draw_column(rng))
    return float(np.ravel(belief.rvs(random_state=rng))[0])
