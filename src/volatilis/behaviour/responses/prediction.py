"""A continuous report: a prediction with noise around the belief's mean, on a line or a circle; the belief itself; confidence."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, NamedTuple, Protocol

import numpy as np

from volatilis._compiler.registry import compiled_function, python_only
from volatilis._core.fields import Real
from volatilis._core.records import LINEAR, LOG, Range
from volatilis.behaviour.responses._base import (
    Moment,
    MotorNoise,
    Noise,
    NonNegative,
    PerUncertainty,
    PerUpdate,
    estimate,
    needs_variance,
    on_a_line,
    response,
    uncertainty,
)
from volatilis.families import Gaussian, VonMises
from volatilis.families._laws import CircularLaw
from volatilis.special import LOG_2_PI, TURN, cosine_and_sine, log, scaled_bessel

if TYPE_CHECKING:
    from volatilis.families._base import Family
    from volatilis.learners._base import Learner, LearnerOf, S


@compiled_function
def response_noise(model: Noisy, learner: LearnerOf[S], state: S, mean: float, before: float) -> float:
    """Fixed, and more of it the less certain the belief is and the further the response has to move."""
    scale = model.sd
    if model.per_uncertainty > 0.0:
        scale += model.per_uncertainty * uncertainty(learner, state, 0)
    if model.per_update > 0.0 and before == before:
        scale += model.per_update * abs(learner.family.difference(mean, before))
    return math.sqrt(scale * scale + model.motor * model.motor)


class Noisy(Protocol):
    """A response model with the noise of `response_noise`."""

    @property
    def sd(self) -> float: ...
    @property
    def per_uncertainty(self) -> float: ...
    @property
    def per_update(self) -> float: ...
    @property
    def motor(self) -> float: ...


def noise_at(model: Noisy, moment: Moment) -> float:
    """`response_noise` of a simulated person."""
    scale = model.sd
    if model.per_uncertainty > 0.0:
        scale += model.per_uncertainty * moment.sd[0]
    if model.per_update > 0.0 and moment.before == moment.before:
        scale += model.per_update * abs(moment.family.difference(moment.mean[0], moment.before))
    return math.hypot(scale, model.motor)


def check_noise(model: Noisy, learner: Learner) -> None:
    on_a_line(model, learner)
    if model.per_uncertainty > 0.0:
        needs_variance(model, learner)


@compiled_function
def log_normal(given: float, mean: float, scale: float) -> float:
    """log N(given; mean, scale^2), for response models of one's own.

    given   the response
    mean    where the density is highest
    scale   its standard deviation

    Returns the log density. Raises nothing.

    >>> from volatilis.behaviour import log_normal
    >>> round(log_normal(1.0, 0.0, 2.0), 3)
    -1.737
    """
    apart = (given - mean) / scale
    return -0.5 * (apart * apart + LOG_2_PI) - log(scale)


@response
class GaussianNoise(NamedTuple):
    """N(mean of the belief, s^2) with s^2 = (sd + per_uncertainty * SD of the belief + per_update * |mean - last|)^2 + motor^2.

    With sd alone, maximum likelihood is least squares, the paper's first criterion. Motor noise can be told from sd only where
    the rest of the noise varies.

    sd                the noise that is always there
    per_uncertainty   how much of it grows with the uncertainty of the belief
    per_update        how much of it grows with the distance from the last response
    motor             noise of the hand, apart from the rest

    >>> import volatilis as vl
    >>> from volatilis.behaviour import GaussianNoise, LaplaceNoise
    >>> learner = vl.VarSMiLe(vl.Gaussian(sigma=1.0), m=0.1)
    >>> models = GaussianNoise(sd=0.5), LaplaceNoise(sd=0.5)
    >>> [f'{model.log_response(learner, learner.init(), 0.2, float("nan")):.3f}' for model in models]
    ['-0.306', '-0.219']
    """

    sd: Noise
    per_uncertainty: PerUncertainty = 0.0
    per_update: PerUpdate = 0.0
    motor: MotorNoise = 0.0

    def log_response(self, learner: LearnerOf[S], state: S, given: float, before: float) -> float:
        mean = estimate(learner, state, 0)
        return log_normal(given, mean, response_noise(self, learner, state, mean, before))

    @python_only
    def draw(self, moment: Moment, rng: np.random.Generator) -> float:
        return rng.normal(moment.mean[0], noise_at(self, moment))

    @python_only
    def noise_law(self) -> tuple[float, float]:
        return 2.0, 0.5 * LOG_2_PI

    @python_only
    def check_learner(self, learner: Learner) -> None:
        check_noise(self, learner)


@response
class LaplaceNoise(NamedTuple):
    """Like gaussian, with heavier tails: exp(-|response - mean| / b) / (2 b), where b gives the standard deviation s.

    sd, per_uncertainty, per_update, motor   as of `GaussianNoise`, which has an example
    """

    sd: Noise
    per_uncertainty: PerUncertainty = 0.0
    per_update: PerUpdate = 0.0
    motor: MotorNoise = 0.0

    def log_response(self, learner: LearnerOf[S], state: S, given: float, before: float) -> float:
        mean = estimate(learner, state, 0)
        b = response_noise(self, learner, state, mean, before) / math.sqrt(2.0)
        return -abs(given - mean) / b - log(2.0 * b)

    @python_only
    def draw(self, moment: Moment, rng: np.random.Generator) -> float:
        return rng.laplace(moment.mean[0], noise_at(self, moment) / math.sqrt(2.0))

    @python_only
    def noise_law(self) -> tuple[float, float]:
        return 1.0, 0.5 * math.log(2.0)

    @python_only
    def check_learner(self, learner: Learner) -> None:
        check_noise(self, learner)


@response
class UnderBelief(NamedTuple):
    """The paper's second criterion: the density of the prediction, less a constant bias, under the learner's belief.

    bias   by how much responses are too high

    >>> import volatilis as vl
    >>> from volatilis.behaviour import UnderBelief
    >>> learner = vl.VarSMiLe(vl.Gaussian(sigma=1.0), m=0.1)
    >>> f'{UnderBelief(bias=0.1).log_response(learner, learner.init(), 0.2, float("nan")):.3f}'
    '-0.924'
    """

    bias: Annotated[Real, Range(LINEAR, -5.0, 5.0, -0.3, 0.3, unit=True)] = 0.0

    def log_response(self, learner: LearnerOf[S], state: S, given: float, before: float) -> float:
        return state.belief_log_density(learner.family, given - self.bias)

    @python_only
    def draw(self, moment: Moment, rng: np.random.Generator) -> float:
        return moment.theta + self.bias

    @python_only
    def draws_theta(self) -> bool:
        return True

    @python_only
    def check_learner(self, learner: Learner) -> None:
        needs_variance(self, learner)
        if not isinstance(learner.family, (Gaussian, VonMises)):
            name = type(learner.family).__name__
            raise TypeError(f"UnderBelief is for beliefs about a mean, the families gaussian and vonmises, not {name}")


@response
class Confidence(NamedTuple):
    """A report of confidence: N(level - slope * log(SD of the belief), sd^2): the surer, the higher.

    sd      the noise of the report
    level   the report where the belief has a standard deviation of 1
    slope   how much the report falls with the logarithm of that

    >>> import volatilis as vl
    >>> from volatilis.behaviour import Confidence
    >>> learner = vl.VarSMiLe(vl.Gaussian(sigma=1.0), m=0.1)
    >>> f'{Confidence(sd=0.5).log_response(learner, learner.init(), 0.2, float("nan")):.3f}'
    '-0.306'
    """

    sd: Noise
    level: Annotated[Real, Range(LINEAR, -1e3, 1e3, -2.0, 2.0)] = 0.0
    slope: Annotated[NonNegative, Range(LOG, 1e-4, 1e4, 0.1, 3.0)] = 1.0

    def log_response(self, learner: LearnerOf[S], state: S, given: float, before: float) -> float:
        return log_normal(given, self.level - self.slope * log(uncertainty(learner, state, 0)), self.sd)

    @python_only
    def draw(self, moment: Moment, rng: np.random.Generator) -> float:
        return rng.normal(self.level - self.slope * math.log(moment.sd[0]), self.sd)

    @python_only
    def check_learner(self, learner: Learner) -> None:
        needs_variance(self, learner)


NOWHERE = 1.0 - 1e-12  # of the largest variance on a circle: a belief as broad as that has no direction


@response
class CircularNoise(NamedTuple):
    """vonMises(direction of the belief, kappa) with kappa = (period / (2 pi s))^2, s as of gaussian.

    s is in the outcome's units, and the standard deviation of noise that is small beside the period. Updates are the short way
    round. Where the belief has no direction, as a uniform prior, any response is as likely as any other.

    sd, per_uncertainty, per_update, motor   as of `GaussianNoise`

    >>> import volatilis as vl
    >>> from volatilis.behaviour import CircularNoise
    >>> learner = vl.VarSMiLe(vl.VonMises(8.0, kappa_0=1.0, period=360.0), m=0.1)
    >>> f'{CircularNoise(sd=20.0).log_response(learner, learner.init(), 350.0, float("nan")):.3f}'
    '-4.056'
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
