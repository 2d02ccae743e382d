"""What learners share: the two kinds of state, the adaptation rate, and the step of exact inference.

A learner is a NamedTuple of hyper-parameters with these compiled methods; its state is arrays that they change in place:

    restart(state)              the state becomes that before the first observation
    update(state, y) -> Info    one observation
    elapse(state)               one step of time without an observation
    has_room(state)             whether the state can take one more step as it is
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import numpy as np

from volatilis._fields import validated
from volatilis._registry import compiled_function, compiled_methods, python_only
from volatilis.families._base import Beliefs, in_eights, prior_beliefs, zeros
from volatilis.special import exp, fma, largest, log, total

C = TypeVar("C", bound=type)
NOTHING = 1e-300  # a weight below this is none: products of it with a predictive would lose digits to underflow
FIRST_ROOM = 128  # for hypotheses whose number is not fixed; it doubles as needed
READOUTS = ("mean", "variance", "log_p", "log_p_0", "gamma", "run_length")


@compiled_methods
class Info(NamedTuple):
    """What an update knew: log P(y; pi^(t)), log P(y; pi^(0)) and the adaptation rate gamma."""

    log_p: float
    log_p_0: float
    gamma: float


@compiled_function
def modulated(m: float, surprise: float) -> tuple[float, float]:
    """gamma(S_BF, m) and 1 - gamma from S_BF itself, which may be 0 or infinite."""
    if surprise <= 1.0:
        return m * surprise / (1.0 + m * surprise), 1.0 / (1.0 + m * surprise)
    inverse = 1.0 / surprise
    return m / (m + inverse), inverse / (m + inverse)


@compiled_function
def change_and_stay(p_c: float, log_p_0: float, scale: float) -> tuple[float, float]:
    """p_c P(y; pi_0) and (1 - p_c) e^scale in one unit, the larger of P(y; pi_0) and e^scale: neither overflows."""
    log_ratio = log_p_0 - scale
    smaller = exp(-abs(log_ratio))
    return p_c * (smaller if log_ratio < 0.0 else 1.0), (1.0 - p_c) * (1.0 if log_ratio < 0.0 else smaller)


# --- one belief --------------------------------------------------------------------------------------------------------


@compiled_methods
class OneBelief(NamedTuple):
    """The state of a learner with one belief: column i of a bank. Many sequences in lock-step are many columns."""

    beliefs: Beliefs
    run_lengths: np.ndarray  # expected number of observations since the last change
    work: Beliefs  # room for the learner, three columns
    pi_0: Beliefs  # the prior, a bank of one
    i: int

    def belief_mean(self, family: Any, k: int) -> float:
        return family.mean(self.beliefs, self.i, k)

    def belief_variance(self, family: Any, k: int, mean: float) -> float:
        return family.variance(self.beliefs, self.i, k)

    def belief_moments(self, family: Any, means: np.ndarray, variances: np.ndarray) -> None:
        for k in range(family.size()):
            means[k] = family.mean(self.beliefs, self.i, k)
            if variances.size > 0:
                variances[k] = family.variance(self.beliefs, self.i, k)

    def belief_log_density(self, family: Any, x: float) -> float:
        return family.log_density(self.beliefs, self.i, x)

    def expected_run_length(self) -> float:
        return self.run_lengths[self.i]

    def at(self, i: int) -> OneBelief:
        """The state of sequence i among many in lock-step."""
        return OneBelief(self.beliefs, self.run_lengths, self.work, self.pi_0, i)

    def copy_from(self, other: OneBelief) -> None:
        copy_column(other.beliefs, other.i, self.beliefs, self.i)
        self.run_lengths[self.i] = other.run_lengths[other.i]


def one_belief(family: Any, columns: int = 1) -> OneBelief:
    return OneBelief(prior_beliefs(family, columns), np.zeros(columns), prior_beliefs(family, 3), prior_beliefs(family), 0)


@compiled_function
def relax(family: Any, state: OneBelief, gamma: float) -> None:
    """A step of time without an observation, for a learner that averages logarithms: towards the prior by gamma."""
    family.blend(state.beliefs, state.i, state.pi_0, 0, 1.0 - gamma, gamma)
    state.run_lengths[state.i] *= 1.0 - gamma


@compiled_function
def copy_column(source: Beliefs, i: int, target: Beliefs, j: int) -> None:
    for row in range(source.chi.shape[0]):
        target.chi[row, j] = source.chi[row, i]
    target.nu[j] = source.nu[i]


# --- weighted hypotheses -----------------------------------------------------------------------------------------------


@compiled_methods
class Hypotheses(NamedTuple):
    """The state of a learner that weighs hypotheses about the time of the last change, the newest last.

    The first `count[0]` columns live; their weights sum to one, and those of all other columns are 0. So a loop that takes
    eight columns at a time may run on beyond the last that lives (`family.whole`).
    """

    weights: np.ndarray
    beliefs: Beliefs
    run_lengths: np.ndarray  # observations since the change (for merged hypotheses their expected number)
    scratch: np.ndarray  # room to work in
    count: np.ndarray  # type: ignore[assignment]  # one number: how many live
    random: np.ndarray  # the state of the random generator
    pi_0: Beliefs  # the prior, a bank of one

    def belief_mean(self, family: Any, k: int) -> float:
        n, w = family.whole(self.count[0]), self.weights
        for i in range(n):  # a moment may be infinite, which a weight of nothing must not make NaN
            self.scratch[i] = w[i] * family.mean(self.beliefs, i, k) if w[i] > 0.0 else 0.0
        return total(self.scratch, n)

    def belief_variance(self, family: Any, k: int, mean: float) -> float:
        """Within and between the hypotheses."""
        if abs(mean) == np.inf:
            return np.inf
        n, w = family.whole(self.count[0]), self.weights
        for i in range(n):
            apart = family.mean(self.beliefs, i, k) - mean
            variance = fma(w[i] * apart, apart, w[i] * family.variance(self.beliefs, i, k))
            self.scratch[i] = variance if w[i] > 0.0 else 0.0
        return total(self.scratch, n)

    def belief_moments(self, family: Any, means: np.ndarray, variances: np.ndarray) -> None:
        """Mean and, where there is room for it, variance of every element of theta."""
        for k in range(family.size()):
            means[k] = self.belief_mean(family, k)
            if variances.size > 0:
                variances[k] = self.belief_variance(family, k, means[k])

    def belief_log_density(self, family: Any, x: float) -> float:
        """log sum_i w_i pi_i(x)."""
        top = -np.inf
        for i in range(self.count[0]):
            value = log(self.weights[i]) + family.log_density(self.beliefs, i, x)
            self.scratch[i] = value
            top = value if value > top else top
        if top == -np.inf:
            return top
        result = 0.0
        for i in range(self.count[0]):
            result += exp(self.scratch[i] - top)
        return top + log(result)

    def expected_run_length(self) -> float:
        n = self.count[0]
        for i in range(n):
            self.scratch[i] = self.weights[i] * self.run_lengths[i]
        return total(self.scratch, n)

    def copy_from(self, other: Hypotheses) -> None:
        for i in range(other.count[0]):
            self.weights[i] = other.weights[i]
            self.run_lengths[i] = other.run_lengths[i]
            copy_column(other.beliefs, i, self.beliefs, i)
        set_count(self, other.count[0])


def hypotheses(family: Any, capacity: int, seed: int) -> Hypotheses:
    """Room for `capacity` hypotheses or, in eights, a few more; none lives yet."""
    capacity = in_eights(capacity)
    return Hypotheses(
        weights=zeros(capacity),
        beliefs=prior_beliefs(family, capacity),
        run_lengths=zeros(capacity),
        scratch=zeros(capacity),
        count=np.zeros(1, dtype=np.int64),
        random=np.array([seed], dtype=np.uint64),
        pi_0=prior_beliefs(family),
    )


@compiled_function
def exact_step(family: Any, p_c: float, state: Hypotheses, y: Any, nothing: float) -> Info:
    """The recursion of exact inference (paper, Proposition and Eq. 9-10): n hypotheses become n + 1.

    The old ones take the observation in, w_i <- (1 - gamma) w_i P(y; pi_i) / P(y; pi); the new one, "it changed just now",
    takes it as its first, w <- gamma. A hypothesis that has observed nothing is the prior, so there a change is no news and
    the two are one: thus the first observation comes from a change with certainty (c_1 = 1). Weights below `nothing` become 0.
    """
    n, w, p, beliefs = family.whole(state.count[0]), state.weights, state.scratch, state.beliefs
    # Surprise: p_i = w_i P(y; pi_i) / e^scale
    evidence, scale = family.predictives(beliefs, w, n, y, p)
    log_p_0 = family.log_prior_predictive(state.pi_0, y)
    # Modulation factor: gamma = p_c P(y; pi_0) / (p_c P(y; pi_0) + (1 - p_c) P(y; pi))
    change, stay = change_and_stay(p_c, log_p_0, scale)
    norm = 1.0 / (change + stay * evidence)
    gamma, factor = change * norm, stay * norm
    # Weights
    for i in range(n):
        weight = factor * p[i]
        w[i] = weight if weight >= nothing else 0.0
    # Updated beliefs
    no_news = knows_nothing(state)
    for i in range(n):
        family.absorb(beliefs, i, y)
        state.run_lengths[i] += 1.0
    if no_news:
        w[state.count[0] - 1] += gamma
    else:
        new = add_prior(family, state, gamma)
        family.absorb(beliefs, new, y)
        state.run_lengths[new] = 1.0
    return Info(scale + log(evidence), log_p_0, gamma)


@compiled_function
def exact_elapse(family: Any, p_c: float, state: Hypotheses) -> None:
    """A step of time without an observation: a change has probability p_c, and nothing is learned."""
    for i in range(state.count[0]):
        weight = (1.0 - p_c) * state.weights[i]
        state.weights[i] = weight if weight >= NOTHING else 0.0
    if knows_nothing(state):
        state.weights[state.count[0] - 1] += p_c
    else:
        add_prior(family, state, p_c)


@compiled_function
def knows_nothing(state: Hypotheses) -> bool:
    """Whether the newest hypothesis, the last, has observed nothing."""
    return state.run_lengths[state.count[0] - 1] == 0.0


@compiled_function
def add_prior(family: Any, state: Hypotheses, weight: float) -> int:
    """One more hypothesis, which has observed nothing; returns its place, the last."""
    new = state.count[0]
    state.count[0] = new + 1
    state.weights[new] = weight
    state.run_lengths[new] = 0.0
    family.prior(state.beliefs, new)
    return new


@compiled_function
def drop_below(state: Hypotheses, threshold: float, share: float) -> None:
    """Forget the hypotheses lighter than the threshold once they are more than a share of all, and weigh the others anew."""
    n, w = state.count[0], state.weights
    light = 0
    for i in range(n):
        light += 1 if w[i] < threshold else 0
    if light <= share * n:
        return
    if light == n:  # the heaviest always stays
        threshold = largest(w, n)
    kept, lost = 0, 0.0
    for i in range(n):
        if w[i] >= threshold:
            move(state, i, kept)
            kept += 1
        else:
            lost += w[i]
    set_count(state, kept)
    if lost > 1e-16:  # less would not change a weight
        normalise(state)


@compiled_function
def set_count(state: Hypotheses, n: int) -> None:
    """Only the first n columns live."""
    for i in range(n, state.count[0]):
        state.weights[i] = 0.0
    state.count[0] = n


@compiled_function
def move(state: Hypotheses, source: int, target: int) -> None:
    state.weights[target] = state.weights[source]
    state.run_lengths[target] = state.run_lengths[source]
    copy_column(state.beliefs, source, state.beliefs, target)


@compiled_function
def forget(state: Hypotheses, i: int) -> None:
    """Hypothesis i goes and those after it move up: row by row, in flat loops."""
    n, chi = state.count[0], state.beliefs.chi
    for k in range(i + 1, n):
        state.weights[k - 1] = state.weights[k]
        state.run_lengths[k - 1] = state.run_lengths[k]
        state.beliefs.nu[k - 1] = state.beliefs.nu[k]
    for row in range(chi.shape[0]):
        for k in range(i + 1, n):
            chi[row, k - 1] = chi[row, k]
    set_count(state, n - 1)


@compiled_function
def normalise(state: Hypotheses) -> None:
    n = state.count[0]
    factor = 1.0 / total(state.weights, n)
    for i in range(n):
        state.weights[i] *= factor


# --- the decorators ----------------------------------------------------------------------------------------------------


def learner(cls: C) -> C:
    """Make a NamedTuple class a learner: validate its fields, fill in the common readouts, let it be compiled."""
    _fill_in(cls, _Readouts)
    if not hasattr(cls, "_readouts"):
        cls._readouts = READOUTS  # type: ignore[attr-defined]
    if not hasattr(cls, "_samples"):
        cls._samples = True  # type: ignore[attr-defined]  # as far as is known: it may draw from its state's generator
    cls._is_learner = True  # type: ignore[attr-defined]
    return compiled_methods(validated(cls))


def learner_with_one_belief(cls: C) -> C:
    """A learner whose state is one belief that starts as the prior; the class gives `update` and `elapse`."""
    _fill_in(cls, _OneBeliefStart)
    cls._samples = False  # type: ignore[attr-defined]  # its state has no generator
    return learner(cls)


def learner_with_hypotheses(cls: C) -> C:
    """Exact inference and then an approximation; the class gives the latter, `approximate(state)`."""
    _fill_in(cls, _ExactThenApproximate)
    return learner(cls)


def _fill_in(cls: type, defaults: type) -> None:
    for name, method in vars(defaults).items():
        if callable(method) and not hasattr(cls, name):
            setattr(cls, name, method)


class _Readouts:
    def read_mean(self: Any, state: Any, k: int) -> float:
        return state.belief_mean(self.family, k)

    def read_variance(self: Any, state: Any, k: int, mean: float) -> float:
        return state.belief_variance(self.family, k, mean)

    def read_moments(self: Any, state: Any, means: np.ndarray, variances: np.ndarray) -> None:
        state.belief_moments(self.family, means, variances)

    def read_run_length(self: Any, state: Any) -> float:
        return state.expected_run_length()

    def has_room(self: Any, state: Any) -> bool:
        return True

    @python_only
    def change_probability(self: Any) -> float:
        """p_c of the whole model, change included: the Shannon surprise needs it."""
        return self.p_c if hasattr(self, "p_c") else self.m / (1.0 + self.m)

    @python_only
    def check_observations(self: Any, values: np.ndarray) -> None:
        """A learner that cannot take some valid observation of its family says so here."""


class _OneBeliefStart:
    @python_only
    def init(self: Any, seed: int = 0, columns: int = 1) -> OneBelief:
        return one_belief(self.family, columns)

    def restart(self: Any, state: OneBelief) -> None:
        self.family.prior(state.beliefs, state.i)
        state.run_lengths[state.i] = 0.0


class _ExactThenApproximate:
    @python_only
    def init(self: Any, seed: int = 0) -> Hypotheses:
        state = hypotheses(self.family, getattr(self, "n", FIRST_ROOM - 1) + 1, seed)
        self.restart(state)
        return state

    def restart(self: Any, state: Hypotheses) -> None:
        """One hypothesis: nothing observed since the change that begins every sequence."""
        set_count(state, 1)
        state.weights[0] = 1.0
        state.run_lengths[0] = 0.0
        self.family.prior(state.beliefs, 0)

    def update(self: Any, state: Hypotheses, y: Any) -> Info:
        info = exact_step(self.family, self.p_c, state, y, NOTHING)
        self.approximate(state)
        return info

    def elapse(self: Any, state: Hypotheses) -> None:
        exact_elapse(self.family, self.p_c, state)
        self.approximate(state)
