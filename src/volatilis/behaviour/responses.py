"""Response models: how probable a person's response is, given what a learner believes at that moment.

    @response
    class Rounded(NamedTuple):           # one of your own: fields are its parameters, the method is the model
        sd: Positive
        def log_response(self, learner, state, given, before):
            return log_normal(given, round(estimate(learner, state, 0)), self.sd)

`given` is the response, `before` the person's last one (NaN if there is none). It runs as Python and as native code, as a learner
does.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple, TypeVar

import numpy as np

from volatilis._fields import Positive, Real, Rule, _float, validated
from volatilis._registry import compiled_function, compiled_methods, python_only
from volatilis.special import LOG_2_PI, exp, log, log_1p, log_normal_tail

C = TypeVar("C", bound=type)
NonNegative = Annotated[float, Rule(_float, lambda v: 0.0 <= v < np.inf, "a finite number, 0 or more")]
Share = Annotated[float, Rule(_float, lambda v: 0.0 <= v < 1.0, "a number from 0 up to, not including, 1")]


def response(cls: C) -> C:
    """Make a NamedTuple class with `log_response(self, learner, state, given, before)` a response model."""
    if not hasattr(cls, "check_learner"):
        cls.check_learner = _accept_any  # type: ignore[attr-defined]
    cls._is_response = True  # type: ignore[attr-defined]
    return compiled_methods(validated(cls))


@python_only
def _accept_any(self: Any, learner: Any) -> None:
    """A response model that cannot go with some learner says so here."""


# --- what a learner believes ---------------------------------------------------------------------------------------------


@compiled_function
def estimate(learner: Any, state: Any, k: int) -> float:
    """E[theta_k]; before a learner without a belief has seen anything, the prior's."""
    mean = learner.read_mean(state, k)
    return mean if mean == mean else learner.family.mean(state.pi_0, 0, k)


@compiled_function
def uncertainty(learner: Any, state: Any, k: int) -> float:
    """The standard deviation of theta_k."""
    return math.sqrt(learner.read_variance(state, k, learner.read_mean(state, k)))


@python_only
def needs_variance(model: Any, learner: Any) -> None:
    if "variance" not in learner._readouts:
        raise TypeError(f"{type(model).__name__} needs the uncertainty of the belief, and {type(learner).__name__} has none")


# --- a continuous prediction ---------------------------------------------------------------------------------------------


@compiled_function
def response_noise(model: Any, learner: Any, state: Any, mean: float, before: float) -> float:
    """Fixed, and more of it the less certain the belief is and the further the response has to move."""
    scale = model.sd
    if model.per_uncertainty > 0.0:
        scale += model.per_uncertainty * uncertainty(learner, state, 0)
    if model.per_update > 0.0 and before == before:
        scale += model.per_update * abs(mean - before)
    return math.sqrt(scale * scale + model.motor * model.motor)


@compiled_function
def log_normal(given: float, mean: float, scale: float) -> float:
    apart = (given - mean) / scale
    return -0.5 * (apart * apart + LOG_2_PI) - log(scale)


@response
class GaussianNoise(NamedTuple):
    """N(mean of the belief, s^2) with s^2 = (sd + per_uncertainty * SD of the belief + per_update * |mean - last|)^2 + motor^2.

    With sd alone, maximum likelihood is least squares, the paper's first criterion.
    """

    sd: Positive
    per_uncertainty: NonNegative = 0.0
    per_update: NonNegative = 0.0
    motor: NonNegative = 0.0

    def log_response(self, learner: Any, state: Any, given: float, before: float) -> float:
        mean = estimate(learner, state, 0)
        return log_normal(given, mean, response_noise(self, learner, state, mean, before))

    @python_only
    def check_learner(self, learner: Any) -> None:
        if self.per_uncertainty > 0.0:
            needs_variance(self, learner)


@response
class LaplaceNoise(NamedTuple):
    """The same with heavier tails: exp(-|response - mean| / b) / (2 b), where b gives the standard deviation s."""

    sd: Positive
    per_uncertainty: NonNegative = 0.0
    per_update: NonNegative = 0.0
    motor: NonNegative = 0.0

    def log_response(self, learner: Any, state: Any, given: float, before: float) -> float:
        mean = estimate(learner, state, 0)
        b = response_noise(self, learner, state, mean, before) / math.sqrt(2.0)
        return -abs(given - mean) / b - log(2.0 * b)

    @python_only
    def check_learner(self, learner: Any) -> None:
        if self.per_uncertainty > 0.0:
            needs_variance(self, learner)


# p and c of log P = -A / sd^p - log sd - c, where A depends on nothing but how far the response is from the mean
GaussianNoise._noise_alone = (2.0, 0.5 * LOG_2_PI)  # type: ignore[attr-defined]
LaplaceNoise._noise_alone = (1.0, 0.5 * math.log(2.0))  # type: ignore[attr-defined]


@response
class TruncatedNoise(NamedTuple):
    """A slider from low to high, whose responses are those of `GaussianNoise` that lie on it."""

    sd: Positive
    low: Real
    high: Real
    per_uncertainty: NonNegative = 0.0
    per_update: NonNegative = 0.0
    motor: NonNegative = 0.0

    def log_response(self, learner: Any, state: Any, given: float, before: float) -> float:
        if given < self.low or given > self.high:
            return -np.inf
        mean = estimate(learner, state, 0)
        scale = response_noise(self, learner, state, mean, before)
        return log_normal(given, mean, scale) - log_between(self.low, self.high, mean, scale)

    def _check(self) -> None:
        check_bounds(self)

    @python_only
    def check_learner(self, learner: Any) -> None:
        if self.per_uncertainty > 0.0:
            needs_variance(self, learner)


@response
class CensoredNoise(NamedTuple):
    """A slider from low to high, where a response of `GaussianNoise` beyond an end is that end."""

    sd: Positive
    low: Real
    high: Real
    per_uncertainty: NonNegative = 0.0
    per_update: NonNegative = 0.0
    motor: NonNegative = 0.0

    def log_response(self, learner: Any, state: Any, given: float, before: float) -> float:
        if given < self.low or given > self.high:
            return -np.inf
        mean = estimate(learner, state, 0)
        scale = response_noise(self, learner, state, mean, before)
        if given == self.low:
            return log_normal_tail((mean - self.low) / scale)
        if given == self.high:
            return log_normal_tail((self.high - mean) / scale)
        return log_normal(given, mean, scale)

    def _check(self) -> None:
        check_bounds(self)

    @python_only
    def check_learner(self, learner: Any) -> None:
        if self.per_uncertainty > 0.0:
            needs_variance(self, learner)


@compiled_function
def log_between(low: float, high: float, mean: float, scale: float) -> float:
    """log P(low < X < high) for X ~ N(mean, scale^2), from the tail on the side where it is small."""
    a, b = (low - mean) / scale, (high - mean) / scale
    if a + b < 0.0:
        a, b = -b, -a
    larger, smaller = log_normal_tail(a), log_normal_tail(b)
    return larger + log_1p(-exp(smaller - larger))


def check_bounds(model: Any) -> None:
    if not model.low < model.high:
        raise ValueError(f"{type(model).__name__}: low = {model.low} is not below high = {model.high}")


@response
class UnderBelief(NamedTuple):
    """The paper's second criterion: the density of the prediction, less a constant bias, under the learner's belief."""

    bias: Real = 0.0

    def log_response(self, learner: Any, state: Any, given: float, before: float) -> float:
        return state.belief_log_density(learner.family, given - self.bias)

    @python_only
    def check_learner(self, learner: Any) -> None:
        needs_variance(self, learner)
        if not hasattr(learner.family, "log_density"):
            raise TypeError(f"{type(learner.family).__name__} has no density, which UnderBelief needs")


# --- a choice, and how sure ----------------------------------------------------------------------------------------------


@response
class Softmax(NamedTuple):
    """A choice among the categories: P(k) = p_k^beta / sum_j p_j^beta, p the belief's mean. beta = 1 is probability matching."""

    beta: NonNegative = 1.0

    def log_response(self, learner: Any, state: Any, given: float, before: float) -> float:
        return log_softmax(self.beta, learner, state, given)

    @python_only
    def check_learner(self, learner: Any) -> None:
        needs_categories(self, learner)


@compiled_function
def log_softmax(beta: float, learner: Any, state: Any, given: float) -> float:
    """For one probability of two (Bernoulli) and for several (Categorical)."""
    chosen, size, result, top = int(given), learner.family.size(), 0.0, -np.inf
    if size == 1:
        p = estimate(learner, state, 0)
        one, other = (p, 1.0 - p) if chosen == 1 else (1.0 - p, p)
        return -log_1p(exp(beta * (log(other) - log(one))))
    for k in range(size):
        top = max(top, estimate(learner, state, k))
    for k in range(size):
        result += exp(beta * (log(estimate(learner, state, k)) - log(top)))
    return beta * (log(estimate(learner, state, chosen)) - log(top)) - log(result)


@python_only
def needs_categories(model: Any, learner: Any) -> None:
    if type(learner.family).__name__ not in ("Categorical", "Bernoulli"):
        raise TypeError(f"{type(model).__name__} is for choices among categories, not for {type(learner.family).__name__}")


@response
class Confidence(NamedTuple):
    """A report of confidence: N(level - slope * log(SD of the belief), sd^2): the surer, the higher."""

    sd: Positive
    level: Real = 0.0
    slope: NonNegative = 1.0

    def log_response(self, learner: Any, state: Any, given: float, before: float) -> float:
        return log_normal(given, self.level - self.slope * log(uncertainty(learner, state, 0)), self.sd)

    @python_only
    def check_learner(self, learner: Any) -> None:
        needs_variance(self, learner)


# --- what people also do -------------------------------------------------------------------------------------------------


@response
class Habits(NamedTuple):
    """A continuous response model with lapses and perseveration around it.

    With probability `stay` the last response is given again, exactly; else, with probability `lapse`, any response on a slider
    of length `span`, equally likely; else what `model` says. The same number as before thus has a probability and any other a
    density: compare models with `stay` only with models with `stay`.
    """

    model: Any
    lapse: Share = 0.0
    stay: Share = 0.0
    span: Positive = 1.0

    def log_response(self, learner: Any, state: Any, given: float, before: float) -> float:
        if self.stay > 0.0 and given == before:
            return log(self.stay)
        said = log_with_lapses(self, self.model.log_response(learner, state, given, before))
        return said + log_1p(-self.stay) if before == before else said

    @python_only
    def check_learner(self, learner: Any) -> None:
        self.model.check_learner(learner)


@response
class ChoiceHabits(NamedTuple):
    """A choice with lapses (any of `span` categories, equally likely) and perseveration (the last choice once more) around it."""

    model: Any
    lapse: Share = 0.0
    stay: Share = 0.0
    span: Positive = 2.0

    def log_response(self, learner: Any, state: Any, given: float, before: float) -> float:
        said = log_with_lapses(self, self.model.log_response(learner, state, given, before))
        if before != before:
            return said
        return log((self.stay if given == before else 0.0) + (1.0 - self.stay) * exp(said))

    @python_only
    def check_learner(self, learner: Any) -> None:
        self.model.check_learner(learner)


@compiled_function
def log_with_lapses(habits: Any, said: float) -> float:
    if habits.lapse == 0.0:
        return said
    said, uniform = log_1p(-habits.lapse) + said, log(habits.lapse) - log(habits.span)
    top = max(said, uniform)
    return top + log(exp(said - top) + exp(uniform - top))
