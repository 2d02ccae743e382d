"""A prediction on a slider with two ends."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from volatilis._compiler.registry import compiled_function, python_only
from volatilis._core.fields import Positive, Real
from volatilis.behaviour.responses._base import NonNegative, estimate, response
from volatilis.behaviour.responses.prediction import check_noise, log_normal, response_noise
from volatilis.special import exp, log_1p, log_normal_tail


def check_slider(model: Any, given: np.ndarray) -> None:
    beyond = given[(given < model.low) | (given > model.high)]
    if beyond.size:
        where = "is 1 response, the first" if beyond.size == 1 else f"are {beyond.size} responses, the first"
        raise ValueError(f"beyond the slider, {model.low:g} to {model.high:g}, {where} {beyond[0]:g}")


def check_ends(model: Any) -> None:
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
    """A slider from low to high, whose responses are those of `GaussianNoise` that lie on it."""

    sd: Positive
    low: Real
    high: Real
    per_uncertainty: NonNegative = 0.0
    per_update: NonNegative = 0.0
    motor: NonNegative = 0.0

    def log_response(self, learner: Any, state: Any, given: float, before: float) -> float:
        mean = estimate(learner, state, 0)
        scale = response_noise(self, learner, state, mean, before)
        return log_normal(given, mean, scale) - log_between(self.low, self.high, mean, scale)

    def _check(self) -> None:
        check_ends(self)

    @python_only
    def check_learner(self, learner: Any) -> None:
        check_noise(self, learner)

    @python_only
    def check_responses(self, family: Any, given: np.ndarray) -> None:
        check_slider(self, given)


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
        if given == self.low or given == self.high:
            return self.log_mass(learner, state, given, before)
        mean = estimate(learner, state, 0)
        return log_normal(given, mean, response_noise(self, learner, state, mean, before))

    def log_mass(self, learner: Any, state: Any, given: float, before: float) -> float:
        if given != self.low and given != self.high:
            return -np.inf
        mean = estimate(learner, state, 0)
        scale = response_noise(self, learner, state, mean, before)
        return log_normal_tail((mean - self.low) / scale if given == self.low else (self.high - mean) / scale)

    def _check(self) -> None:
        check_ends(self)

    @python_only
    def check_learner(self, learner: Any) -> None:
        check_noise(self, learner)

    @python_only
    def check_responses(self, family: Any, given: np.ndarray) -> None:
        check_slider(self, given)
