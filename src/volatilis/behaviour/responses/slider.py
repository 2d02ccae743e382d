"""A prediction on a slider with two ends."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from volatilis._compiler.registry import compiled_function, python_only
from volatilis._core.fields import Real
from volatilis.behaviour.responses._base import Moment, MotorNoise, Noise, PerUncertainty, PerUpdate, estimate, response
from volatilis.behaviour.responses.prediction import check_noise, log_normal, noise_at, response_noise
from volatilis.special import exp, log_1p, log_normal_tail

if TYPE_CHECKING:
    from volatilis.families._base import Family
    from volatilis.learners._base import Learner, LearnerOf, S


def check_slider(model: TruncatedNoise | CensoredNoise, given: np.ndarray) -> None:
    beyond = given[(given < model.low) | (given > model.high)]
    if beyond.size:
        where = "is 1 response, the first" if beyond.size == 1 else f"are {beyond.size} responses, the first"
        raise ValueError(f"beyond the slider, {model.low:g} to {model.high:g}, {where} {beyond[0]:g}")


def check_ends(model: TruncatedNoise | CensoredNoise) -> None:
    if not model.low < model.high:
        raise ValueError(f"{type(model).__name__}: low = {model.low} is not below high = {model.high}")


@compiled_function
def log_between(low: float, high: float, mean: float, scale: float) -> float:
    """log P(low < X < high) for X ~ N(mean, scale^2), from the tail on the side where it is small."""
    a, b = (low - mean) / scale, (high - mean) / scale
    if a + b < 0.0:
        a, b = -b, -a
    larger, smaller = log_normal_tail(a), log_normal_tail(b)
    return larger + log_1p(-exp(smaller - larger))


@response
class TruncatedNoise(NamedTuple):
    """A slider from low to high, whose responses are those of gaussian that lie on it.

    low, high                                the ends of the slider
    sd, per_uncertainty, per_update, motor   as of `GaussianNoise`

    >>> import volatilis as vl
    >>> from volatilis.behaviour import TruncatedNoise
    >>> learner = vl.VarSMiLe(vl.Gaussian(sigma=1.0), m=0.1)
    >>> f'{TruncatedNoise(sd=0.5, low=-1.0, high=1.0).log_response(learner, learner.init(), 0.2, float("nan")):.3f}'
    '-0.259'
    """

    sd: Noise
    low: Real
    high: Real
    per_uncertainty: PerUncertainty = 0.0
    per_update: PerUpdate = 0.0
    motor: MotorNoise = 0.0

    def log_response(self, learner: LearnerOf[S], state: S, given: float, before: float) -> float:
        mean = estimate(learner, state, 0)
        scale = response_noise(self, learner, state, mean, before)
        return log_normal(given, mean, scale) - log_between(self.low, self.high, mean, scale)

    def _check(self) -> None:
        check_ends(self)

    @python_only
    def draw(self, moment: Moment, rng: np.random.Generator) -> float:
        """By the inverse of the distribution on the slider, in logarithms: the mean may lie far beyond an end."""
        from scipy.special import log_ndtr, ndtri_exp

        mean, scale, share = moment.mean[0], noise_at(self, moment), rng.random()
        low, high = (self.low - mean) / scale, (self.high - mean) / scale
        sign = 1.0 if low + high < 0.0 else -1.0  # towards the tail that has digits
        if sign < 0.0:
            low, high = -high, -low
        log_share = math.log(share) if share > 0.0 else -np.inf
        below = np.logaddexp(log_ndtr(low) + math.log1p(-share), log_ndtr(high) + log_share)
        return min(max(mean + sign * scale * float(ndtri_exp(below)), self.low), self.high)

    @python_only
    def slider_ends(self) -> tuple[float, float]:
        return self.low, self.high

    @python_only
    def check_learner(self, learner: Learner) -> None:
        check_noise(self, learner)

    @python_only
    def check_responses(self, family: Family, given: np.ndarray) -> None:
        check_slider(self, given)


@response
class CensoredNoise(NamedTuple):
    """A slider from low to high, where a response of gaussian beyond an end is that end.

    low, high                                the ends of the slider
    sd, per_uncertainty, per_update, motor   as of `GaussianNoise`

    >>> import volatilis as vl
    >>> from volatilis.behaviour import CensoredNoise
    >>> learner = vl.VarSMiLe(vl.Gaussian(sigma=1.0), m=0.1)
    >>> f'{CensoredNoise(sd=0.5, low=-1.0, high=1.0).log_response(learner, learner.init(), 1.0, float("nan")):.3f}'
    '-3.783'
    """

    sd: Noise
    low: Real
    high: Real
    per_uncertainty: PerUncertainty = 0.0
    per_update: PerUpdate = 0.0
    motor: MotorNoise = 0.0

    def log_response(self, learner: LearnerOf[S], state: S, given: float, before: float) -> float:
        if given == self.low or given == self.high:
            return self.log_mass(learner, state, given, before)
        mean = estimate(learner, state, 0)
        return log_normal(given, mean, response_noise(self, learner, state, mean, before))

    def log_mass(self, learner: LearnerOf[S], state: S, given: float, before: float) -> float:
        if given != self.low and given != self.high:
            return -np.inf
        mean = estimate(learner, state, 0)
        scale = response_noise(self, learner, state, mean, before)
        return log_normal_tail((mean - self.low) / scale if given == self.low else (self.high - mean) / scale)

    def _check(self) -> None:
        check_ends(self)

    @python_only
    def draw(self, moment: Moment, rng: np.random.Generator) -> float:
        return min(max(rng.normal(moment.mean[0], noise_at(self, moment)), self.low), self.high)

    @python_only
    def slider_ends(self) -> tuple[float, float]:
        return self.low, self.high

    @python_only
    def check_learner(self, learner: Learner) -> None:
        check_noise(self, learner)

    @python_only
    def check_responses(self, family: Family, given: np.ndarray) -> None:
        check_slider(self, given)
