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
from volatilis.behaviour.responses.prediction import without_direction
from volatilis.behaviour.situations import CHOSEN, NO_NUMBERS, contexts_of, elements_of, inner_family
from volatilis.families import Transitions
from volatilis.families._base import Family
from volatilis.learners._base import Learner, State
from volatilis.running.drivers import ELAPSE, OBSERVE, RESET, outputs, run_sequence


def simulate(model: Model, values: Mapping[str, float], person: Person, seed: int | np.random.SeedSequence) -> Person:
    """A person's trials with the responses that `model` would give.

    model    a learner and a response model
    values   of each parameter that is free
    person   whose trials are taken
    seed     of the responses; the same seed gives the same ones

    Returns the person with the new responses. Raises ValueError for a learner that the response model cannot be used with.

    >>> from volatilis.behaviour import Model, Source, read_people, simulate
    >>> model = Model.parse("gaussian:sigma=10,mu_0=150,sigma_0=50", "varsmile:m=free", "gaussian:sd=free")
    >>> person = read_people(Source("people.csv"), model).persons[0]
    >>> simulate(model, {"m": 0.1, "sd": 8.0}, person, seed=1).parts[0].given[:3].round(1)
    array([144.9, 286.5, 271.4])
    """
    seeds = seed_sequence(seed).spawn(1 + len(person.parts))
    rng, given = np.random.default_rng(seeds[0]), np.concatenate([part.given[part.scored] for part in person.parts])
    middle = 0.5 * float(given.min() + given.max()) if given.size else 0.0
    parts = []
    for part, key in zip(person.parts, seeds[1:], strict=True):
        learner, response = model.make({**part.columns, **values})
        response.check_learner(learner)
        if response.chooses_contexts() and part.learn == CHOSEN:
            parts.append(choices_among_arms(learner, response, part, rng, generator_key(key)))
        else:
            parts.append(part._replace(given=responses_to(learner, response, part, rng, middle, generator_key(key))))
    return Person(person.name, tuple(parts))


def responses_to(
    learner: Learner, response: ResponseModel, trials: Trials, rng: np.random.Generator, middle: float, key: int = 0
) -> np.ndarray:
    """One response per trial that has one."""
    given, before = trials.given.copy(), np.nan
    first, width = _elements(learner, response, trials)
    believed = _drawn_beliefs(learner, trials, rng, key) if response.draws_theta() else _beliefs(learner, trials, key)
    for t, (mean, sd, theta) in enumerate(believed):
        if trials.events[t] >= RESET:
            before = np.nan
        if trials.scored[t]:
            own_mean, own_sd = _of_context(learner.family, mean, sd, int(first[t]), width)
            worth = trials.worth[t] if trials.worth.size else NO_NUMBERS
            given[t] = float(response.draw(Moment(own_mean, own_sd, theta, before, middle, learner.family, worth), rng))
        if given[t] == given[t]:
            before = given[t]
    return given


def choices_among_arms(
    learner: Learner, response: ResponseModel, trials: Trials, rng: np.random.Generator, key: int = 0
) -> Trials:
    """The same for choices that decide what is seen: the outcomes are those of the arms that were chosen."""
    if not trials.rewards.size:
        raise ValueError(
            "choices are simulated, and what an arm that was not chosen would have paid is not in the table: name a column for "
            "each arm, such as --outcome reward_0,reward_1"
        )
    family, size, before = learner.family, learner.family.size(), np.nan
    has_variance = "variance" in learner.readouts()
    out = outputs(1, size, ("mean", "variance", "run_length") if has_variance else ("mean", "run_length"))
    first = _start(learner, size, has_variance)
    state, progress, (mean, sd) = learner.init(key), np.zeros(1, dtype=np.int64), first
    given, rows, events = trials.given.copy(), trials.values.copy(), trials.events.copy()
    for t in range(given.size):
        if events[t] >= RESET:
            before, (mean, sd) = np.nan, first
        if trials.scored[t]:
            given[t] = float(response.draw(Moment(mean, sd, np.nan, before, 0.0, family, trials.worth[t]), rng))
        before = before if np.isnan(given[t]) else given[t]
        paid = np.nan if np.isnan(given[t]) else trials.rewards[t, int(given[t])]
        value, absent = family.observations([paid], [0.0 if np.isnan(given[t]) else given[t]])
        rows[t], start = value[0], events[t] // RESET * RESET
        events[t] = start + (ELAPSE if absent[0] else OBSERVE)
        if not learner.has_room(state):
            state = learner.grow(state)
        progress[0] = 0
        Call(run_sequence, learner, state, value, events[t : t + 1], progress, out)()
        means, variances = out.means.reshape(size), out.variances.reshape(size) if has_variance else NO_NUMBERS
        mean, sd = np.where(np.isnan(means), first[0], means), np.sqrt(variances)
    return trials._replace(given=given, values=rows, events=events, contexts=np.nan_to_num(given))


def _elements(learner: Learner, response: ResponseModel, trials: Trials) -> tuple[np.ndarray, int]:
    """Where the coming trial's part of theta begins, for each trial, and how wide it is; -1 where the context may be any."""
    length, family = trials.events.size, learner.family
    if isinstance(family, Transitions):
        first, width = elements_of(family, response)
        pasts = _pasts(family, trials)
        return np.where(pasts >= 0, family.k * pasts + first, -1), width
    if contexts_of(family) == 1 or response.chooses_contexts():
        return np.zeros(length, dtype=int), family.size()
    width = inner_family(family).size()
    return width * trials.contexts.astype(int), width


def _of_context(family: Family, mean: np.ndarray, sd: np.ndarray, first: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of the coming context's theta; where that may be any, of their average."""
    if first >= 0 or not isinstance(family, Transitions):
        return mean[first : first + width], sd[first : first + width]
    columns = slice(family.k - width, family.k)
    means, sds = mean.reshape(-1, family.k)[:, columns], sd.reshape(-1, family.k)[:, columns]
    return means.mean(axis=0), np.sqrt(np.mean(sds**2, axis=0) + means.var(axis=0))


def _pasts(family: Transitions, trials: Trials) -> np.ndarray:
    """The number of the row of symbols before each response, as `Transitions` counts them; -1 where not all are known."""
    pasts, known = np.full(trials.events.size, -1), list[int]()
    for t, (event, symbol) in enumerate(zip(trials.events, trials.values, strict=True)):
        known = [] if event >= RESET else known
        if not trials.after:
            pasts[t] = _past(family, known)
        known = [*known, int(symbol)][-family.order :] if event % RESET == OBSERVE else []
        if trials.after:
            pasts[t] = _past(family, known)
    return pasts


def _past(family: Transitions, known: list[int]) -> int:
    return sum(symbol * family.k**back for back, symbol in enumerate(reversed(known))) if len(known) == family.order else -1


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
    variances = out.variances.reshape(length, size) if has_variance else np.empty((length, 0))
    if has_variance:
        means = np.where(without_direction(learner.family, variances), np.nan, means)
    sds = np.sqrt(variances)
    for t in range(length):
        fresh = not trials.after and (t == 0 or trials.events[t] >= RESET)
        at = t if trials.after else t - 1
        yield (*first, np.nan) if fresh else (means[at], sds[at], np.nan)


def _start(learner: Learner, size: int, has_variance: bool) -> tuple[np.ndarray, np.ndarray]:
    state, family = learner.init(0), learner.family
    mean = np.array([responses.estimate(learner, state, k) for k in range(size)])
    mean[without_direction(family, np.array([family.variance(state.pi_0, 0, k) for k in range(size)]))] = np.nan
    return mean, np.array([responses.uncertainty(learner, state, k) for k in range(size)]) if has_variance else np.empty(0)


def _drawn_beliefs(
    learner: Learner, trials: Trials, rng: np.random.Generator, key: int
) -> Iterator[tuple[np.ndarray, np.ndarray, float]]:
    """A draw of theta from the belief itself: the learner goes trial by trial."""
    state, progress, nothing = learner.init(key), np.zeros(1, dtype=np.int64), np.empty(0)
    out = outputs(0, learner.family.size(), ("run_length",))._replace(log_p=nothing, log_p_0=nothing, gamma=nothing)
    for t in range(trials.events.size):
        if trials.events[t] >= RESET:
            learner.begin(state)
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
    return float(np.ravel(belief.rvs(size=1, random_state=rng))[0])
