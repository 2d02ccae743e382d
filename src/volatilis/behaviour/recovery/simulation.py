"""Simulated responses: what a person would do on the same trials if a model were true.

A belief never depends on responses, so the learner runs over the outcomes once, compiled; responses are then drawn trial by
trial, each knowing the one before. Responses are missing where the person's are. On catch trials, where the hidden parameter was
shown, the model does not say what a person does: the person's own response stays.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from volatilis._compiler.calls import Call
from volatilis._core.seeds import generator_key, seed_sequence
from volatilis.behaviour import responses
from volatilis.behaviour.models import Model
from volatilis.behaviour.people import Person, Trials
from volatilis.learners._hypotheses import Hypotheses
from volatilis.running.drivers import RESET, outputs, run_sequence


class Moment(NamedTuple):
    """What a simulated person knows when responding.

    mean, sd   of each element of theta; sd is empty for a learner without uncertainty
    theta      a draw from the belief, for a response model that needs one
    before     the last response; NaN if there is none
    middle     of the person's own responses: where a slider of a known length is taken to lie if its ends are not known
    """

    mean: np.ndarray
    sd: np.ndarray
    theta: float
    before: float
    middle: float


def simulate(model: Model, values: Mapping[str, Any], person: Person, seed: int | np.random.SeedSequence) -> Person:
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
    learner: Any, response: Any, trials: Trials, rng: np.random.Generator, middle: float, key: int = 0
) -> np.ndarray:
    """One response per trial that has one."""
    given, before = trials.given.copy(), np.nan
    size = learner.family.size()
    believed = _drawn_beliefs(learner, trials, rng, key) if needs_theta(response) else _beliefs(learner, trials, key)
    for t, (mean, sd, theta) in enumerate(believed):
        if trials.events[t] >= RESET:
            before = np.nan
        if trials.scored[t]:
            given[t] = draw(response, Moment(mean[:size], sd, theta, before, middle), rng)
        if given[t] == given[t]:
            before = given[t]
    return given


# --- what is believed at each trial --------------------------------------------------------------------------------------


def _beliefs(learner: Any, trials: Trials, key: int) -> Iterator[tuple[np.ndarray, np.ndarray, float]]:
    """Means and standard deviations when the trial's response is given."""
    size, length, readouts = learner.family.size(), trials.events.size, ("mean", "variance", "run_length")
    has_variance = "variance" in learner._readouts
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


def _start(learner: Any, size: int, has_variance: bool) -> tuple[np.ndarray, np.ndarray]:
    state = learner.init(0)
    mean = np.array([responses.estimate(learner, state, k) for k in range(size)])
    return mean, np.array([responses.uncertainty(learner, state, k) for k in range(size)]) if has_variance else np.empty(0)


def _drawn_beliefs(
    learner: Any, trials: Trials, rng: np.random.Generator, key: int
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


def _theta(learner: Any, state: Any, rng: np.random.Generator) -> float:
    """One hypothesis by its weight, then theta under it."""
    i = int(rng.choice(state.weights.size, p=state.weights / state.weights.sum())) if isinstance(state, Hypotheses) else state.i
    return float(np.ravel(learner.family.distribution(state.beliefs, i).rvs(random_state=rng))[0])


def needs_theta(response: Any) -> bool:
    return isinstance(response, responses.UnderBelief) or (hasattr(response, "model") and needs_theta(response.model))


# --- a response, per response model --------------------------------------------------------------------------------------


@functools.singledispatch
def draw(response: Any, moment: Moment, rng: np.random.Generator) -> float:
    """A response at this moment. A response model of your own has a method for it: draw(self, moment, rng)."""
    if not hasattr(response, "draw"):
        raise ValueError(f"{type(response).__name__} cannot be simulated: give it a method draw(self, moment, rng)")
    return float(response.draw(moment, rng))


def noise(response: Any, moment: Moment) -> float:
    """The standard deviation of a continuous response (`responses.response_noise`)."""
    scale = response.sd
    if response.per_uncertainty > 0.0:
        scale += response.per_uncertainty * moment.sd[0]
    if response.per_update > 0.0 and moment.before == moment.before:
        scale += response.per_update * abs(moment.mean[0] - moment.before)
    return math.hypot(scale, response.motor)


@draw.register
def _(response: responses.GaussianNoise, moment: Moment, rng: np.random.Generator) -> float:
    return rng.normal(moment.mean[0], noise(response, moment))


@draw.register
def _(response: responses.LaplaceNoise, moment: Moment, rng: np.random.Generator) -> float:
    return rng.laplace(moment.mean[0], noise(response, moment) / math.sqrt(2.0))


@draw.register
def _(response: responses.TruncatedNoise, moment: Moment, rng: np.random.Generator) -> float:
    """By the inverse of the distribution on the slider, in logarithms: the mean may lie far beyond an end."""
    from scipy.special import log_ndtr, ndtri_exp

    mean, scale, share = moment.mean[0], noise(response, moment), rng.random()
    low, high = (response.low - mean) / scale, (response.high - mean) / scale
    sign = 1.0 if low + high < 0.0 else -1.0  # towards the tail that has digits
    if sign < 0.0:
        low, high = -high, -low
    drawn = mean + sign * scale * float(ndtri_exp(np.logaddexp(log_ndtr(low) + math.log1p(-share), log_ndtr(high) + _log(share))))
    return min(max(drawn, response.low), response.high)


@draw.register
def _(response: responses.CensoredNoise, moment: Moment, rng: np.random.Generator) -> float:
    return min(max(rng.normal(moment.mean[0], noise(response, moment)), response.low), response.high)


@draw.register
def _(response: responses.UnderBelief, moment: Moment, rng: np.random.Generator) -> float:
    return moment.theta + response.bias


@draw.register
def _(response: responses.Softmax, moment: Moment, rng: np.random.Generator) -> float:
    shares = np.array([1.0 - moment.mean[0], moment.mean[0]]) if moment.mean.size == 1 else moment.mean
    with np.errstate(divide="ignore"):
        logs = response.beta * np.log(shares) if response.beta > 0.0 else np.zeros(shares.size)
    weights = np.exp(logs - logs.max())
    return float(rng.choice(shares.size, p=weights / weights.sum()))


@draw.register
def _(response: responses.Confidence, moment: Moment, rng: np.random.Generator) -> float:
    return rng.normal(response.level - response.slope * math.log(moment.sd[0]), response.sd)


@draw.register
def _(response: responses.Habits, moment: Moment, rng: np.random.Generator) -> float:
    if moment.before == moment.before and rng.random() < response.stay:
        return moment.before
    if rng.random() < response.lapse:
        low = getattr(response.model, "low", moment.middle - 0.5 * response.span)
        return low + response.span * rng.random()
    return draw(response.model, moment, rng)


@draw.register
def _(response: responses.ChoiceHabits, moment: Moment, rng: np.random.Generator) -> float:
    if moment.before == moment.before and rng.random() < response.stay:
        return moment.before
    if rng.random() < response.lapse:
        return float(rng.integers(int(response.span)))
    return draw(response.model, moment, rng)


def _log(share: float) -> float:
    return math.log(share) if share > 0.0 else -np.inf
