"""A prediction on a circle: an angle, a time of day."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from volatilis._compiler.registry import compiled_function, python_only
from volatilis.behaviour.responses._base import (
    Moment,
    MotorNoise,
    Noise,
    PerUncertainty,
    PerUpdate,
    estimate,
    needs_variance,
    response,
)
from volatilis.behaviour.responses.prediction import noise_at, response_noise
from volatilis.families._laws import CircularLaw
from volatilis.special import TURN, cosine_and_sine, log, scaled_bessel

if TYPE_CHECKING:
    from volatilis.families._base import Family
    from volatilis.learners._base import Learner, LearnerOf, S

NOWHERE = 1.0 - 1e-12  # of the largest variance on a circle: a belief as broad as that has no direction


@response
class CircularNoise(NamedTuple):
    """vonMises(direction of the belief, kappa) with kappa = (period / (2 pi s))^2, s as of `GaussianNoise`.

    s is in the outcome's units, and the standard deviation of noise that is small beside the period. Updates are the short way
    round. Where the belief has no direction, as a uniform prior, any response is as likely as any other.
    """

    sd: Noise
    per_uncertainty: PerUncertainty = 0.0
    per_update: PerUpdate = 0.0
    motor: MotorNoise = 0.0

    def log_response(self, learner: LearnerOf[S], state: S, given: float, before: float) -> float:
        mean, around = estimate(learner, state, 0), learner.family.circumference()
        if mean == learner.family.mean(state.pi_0, 0, 0) and points_nowhere(learner, state, mean):
            return -log(around)
        noise = TURN * response_noise(self, learner, state, mean, before) / around
        return log_von_mises(learner.family.difference(given, mean) / around, 1.0 / (noise * noise)) - log(around)

    @python_only
    def draw(self, moment: Moment, rng: np.random.Generator) -> float:
        around = moment.family.circumference()
        if np.isnan(moment.mean[0]):
            return around * rng.random()
        concentration = (around / (TURN * noise_at(self, moment))) ** 2
        return float(CircularLaw(moment.mean[0], concentration, around).rvs(1, rng)[0])

    @python_only
    def check_learner(self, learner: Learner) -> None:
        if not learner.family.circumference() < np.inf:
            name = type(learner.family).__name__
            raise TypeError(f"CircularNoise is for places on a circle, the family vonmises; {name} is on a line: use gaussian")
        if self.per_uncertainty > 0.0:
            needs_variance(self, learner)


@compiled_function
def log_von_mises(turns: float, concentration: float) -> float:
    """log of the density per turn, `turns` from the mean: -2 kappa sin^2(angle / 2) - log(I0(kappa) e^-kappa)."""
    _, half = cosine_and_sine(0.5 * turns)
    return -2.0 * concentration * half * half - log(scaled_bessel(concentration))


@compiled_function
def points_nowhere(learner: LearnerOf[S], state: S, mean: float) -> bool:
    """Whether the belief, or the prior before a learner without one has seen anything, is uniform."""
    seen = learner.read_mean(state, 0)
    unit = learner.family.circumference() / TURN
    variance = learner.read_variance(state, 0, mean) if seen == seen else learner.family.variance(state.pi_0, 0, 0)
    return variance >= 2.0 * unit * unit * NOWHERE


def without_direction(family: Family, variance: np.ndarray) -> np.ndarray:
    """Where beliefs with these variances have no direction."""
    unit = family.circumference() / TURN
    return variance >= 2.0 * unit * unit * NOWHERE if math.isfinite(unit) else np.zeros(variance.shape, dtype=bool)
