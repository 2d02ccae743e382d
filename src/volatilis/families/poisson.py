"""Counts with an unknown mean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from volatilis._compiler.registry import compiled_function, python_only
from volatilis._core.fields import Positive
from volatilis._core.records import LOG, Range
from volatilis.families._base import AcceptedNumbers, Beliefs
from volatilis.families._kinds import FamilyRecord, FamilyTuple, family
from volatilis.families._observations import level_and_spread, whole_observations
from volatilis.special import beta_cdf, digamma, exp, log, log_1p, log_beta, log_gamma, log_gamma_ratio

Shape = Annotated[Positive, Range(LOG, 1e-3, 1e3, 0.5, 5.0)]
Rate = Annotated[Positive, Range(LOG, 1e-4, 1e4, 0.1, 10.0)]


@family(
    FamilyRecord(
        name="poisson",
        place=70,
        observes="a whole number from 0 to 2^53 - 1",
        likelihood=r"$y \sim \mathrm{Poisson}(\lambda)$",
        theta=r"$\lambda$ (`lambda`)",
        prior=r"$\lambda \sim \mathrm{Gamma}(\text{shape}, \text{rate})$",
    )
)
class Poisson(FamilyTuple):
    """y ~ Poisson(lambda), and lambda ~ Gamma(shape, rate) at each change; theta = lambda.

    chi = sum of y, nu = number of y, with the prior's shape and rate: the belief is Gamma(chi, nu).

        shape   of the prior of lambda: as if that many events had been counted before
        rate    of the prior of lambda: in that many observations

    >>> import volatilis as vl
    >>> vl.run(vl.VarSMiLe(vl.Poisson(shape=2.0, rate=1.0), m=0.1), [3, 2, 11]).mean.round(3)
    array([2.5  , 2.315, 4.843])
    """

    shape: Shape
    rate: Rate

    def rows(self) -> int:
        return 1

    def size(self) -> int:
        return 1

    def prior(self, beliefs: Beliefs, i: int) -> None:
        beliefs.chi[0, i] = self.shape
        beliefs.nu[i] = self.rate

    def log_predictive(self, beliefs: Beliefs, i: int, y: int) -> float:
        """Negative binomial."""
        shape, rate = beliefs.chi[0, i], beliefs.nu[i]
        choose = -log(shape + y) - log_beta(shape, y + 1.0)
        return choose - shape * log_1p(1.0 / rate) - y * log_1p(rate)

    def predictive_cdf(self, beliefs: Beliefs, i: int, y: int, k: int, v: float, around: float) -> float:
        shape, rate = beliefs.chi[0, i], beliefs.nu[i]
        below = beta_cdf(shape, float(y), rate / (rate + 1.0), 1.0 / (rate + 1.0)) if y > 0 else 0.0
        return min(below + v * exp(self.log_predictive(beliefs, i, y)), 1.0)

    def absorb(self, beliefs: Beliefs, i: int, y: int) -> None:
        beliefs.chi[0, i] += y
        beliefs.nu[i] += 1.0

    def mean(self, beliefs: Beliefs, i: int, k: int) -> float:
        return beliefs.chi[0, i] / beliefs.nu[i]

    def variance(self, beliefs: Beliefs, i: int, k: int) -> float:
        return beliefs.chi[0, i] / beliefs.nu[i] / beliefs.nu[i]

    def estimate(self, beliefs: Beliefs, i: int, k: int) -> float:
        return beliefs.chi[0, i] / beliefs.nu[i]

    def merge(self, beliefs: Beliefs, i: int, j: int, a: float, b: float) -> None:
        """Keeps the pair's mean and variance."""
        shape, rate = merged_gamma(beliefs.chi[0, i], beliefs.nu[i], beliefs.chi[0, j], beliefs.nu[j], a, b)
        beliefs.chi[0, i] = shape
        beliefs.nu[i] = rate

    def dissimilarity(self, beliefs: Beliefs, i: int, j: int, a: float, b: float) -> float:
        """In the metric 1 / lambda: |m_i - m_j|^2 + (V_i + V_j) log^2(V_i / V_j) with V = 1 / nu."""
        inverse_i, inverse_j = 1.0 / beliefs.nu[i], 1.0 / beliefs.nu[j]
        apart = beliefs.chi[0, i] * inverse_i - beliefs.chi[0, j] * inverse_j
        level = a * beliefs.chi[0, i] * inverse_i + b * beliefs.chi[0, j] * inverse_j
        ratio = log(beliefs.nu[i] * inverse_j)
        return apart * (apart / level) + (inverse_i + inverse_j) * ratio * ratio

    def divergence(self, beliefs: Beliefs, i: int, others: Beliefs, j: int) -> float:
        return gamma_divergence(beliefs.chi[0, i], beliefs.nu[i], others.chi[0, j], others.nu[j])

    def scaled_likelihood(self, beliefs: Beliefs, i: int, y: int) -> None:
        """Gamma(y + 1, 1)."""
        beliefs.chi[0, i] = y + 1.0
        beliefs.nu[i] = 1.0

    def log_density(self, beliefs: Beliefs, i: int, x: float) -> float:
        """Of x = log lambda."""
        return gamma_log_density(beliefs.chi[0, i], beliefs.nu[i], x)

    def lower(self, beliefs: Beliefs, i: int) -> float:
        return gamma_lower(beliefs.chi[0, i], beliefs.nu[i])

    def upper(self, beliefs: Beliefs, i: int) -> float:
        return gamma_upper(beliefs.chi[0, i], beliefs.nu[i])

    def in_row(self, row: np.ndarray, start: int) -> int:
        return int(row[start])

    def log_broad(self, spread: float, y: int) -> float:
        """s / ((y + s) (y + s + 1)) with s = spread (1 + the prior's mean): half of it up to about s, tails as 1 / y^2."""
        s = spread * (1.0 + self.shape / self.rate)
        return log(s) - log(y + s) - log(y + s + 1.0)

    def broad_cdf(self, spread: float, y: int, v: float, around: float) -> float:
        s = spread * (1.0 + self.shape / self.rate)
        return (y + v * s / (y + s + 1.0)) / (y + s)

    @python_only
    def sample_broad(self, spread: float, n: int, rng: np.random.Generator) -> np.ndarray:
        s = spread * (1.0 + self.shape / self.rate)
        below = 1.0 - rng.random(n)  # P(y >= k) = s / (k + s)
        return np.minimum(np.floor(s * (1.0 - below) / below), 2.0**53 - 1.0).astype(np.int64)

    @python_only
    def parameter_names(self) -> tuple[str, ...]:
        return ("lambda",)

    @python_only
    def observations(self, ys: object) -> tuple[np.ndarray, np.ndarray]:
        return whole_observations("Poisson", ys, lambda v: (v >= 0) & (v < 2.0**53), "a count: a whole number, 0 or more")

    @python_only
    def accepted_numbers(self) -> AcceptedNumbers:
        return AcceptedNumbers(0.0, 2.0**53 - 1.0, whole=True)

    @python_only
    def distribution(self, beliefs: Beliefs, i: int) -> Any:
        from scipy import stats

        return stats.gamma(beliefs.chi[0, i], scale=1.0 / beliefs.nu[i])

    @python_only
    def plausible(self, sequences: Sequence[np.ndarray]) -> Poisson:
        mean, spread = level_and_spread(np.concatenate(sequences).astype(float))
        mean = max(mean, 1e-3)
        between = max(spread * spread - mean, 0.1 * mean)  # the variance of lambda
        return Poisson(mean * mean / between, mean / between)

    @python_only
    def sample_parameter(self, rng: np.random.Generator) -> np.ndarray:
        return np.array([rng.gamma(self.shape, 1.0 / self.rate)])

    @python_only
    def sample_observations(self, theta: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
        return rng.poisson(theta[0], n).astype(np.int64)


# --- gamma beliefs about a positive rate: of counts here, of waiting times in `exponential` ---------------------------------


@compiled_function
def merged_gamma(shape_i: float, rate_i: float, shape_j: float, rate_j: float, a: float, b: float) -> tuple[float, float]:
    """Shape and rate of the gamma distribution with the mean and variance of the pair, weighted a and b."""
    mean_i, mean_j = shape_i / rate_i, shape_j / rate_j
    mean = a * mean_i + b * mean_j
    # relative variance: 1/shape of the result
    r_i, r_j, apart = mean_i / mean, mean_j / mean, (mean_i - mean_j) / mean
    relative = a * r_i * r_i / shape_i + b * r_j * r_j / shape_j + a * b * apart * apart
    return 1.0 / relative, 1.0 / (relative * mean)


@compiled_function
def gamma_divergence(shape_i: float, rate_i: float, shape_j: float, rate_j: float) -> float:
    """KL[Gamma(shape_i, rate_i) || Gamma(shape_j, rate_j)]."""
    more = shape_i - shape_j
    shapes = more * digamma(shape_i) - log_gamma_ratio(shape_j, more)
    return shapes + shape_j * log(rate_i / rate_j) + shape_i * (rate_j / rate_i - 1.0)


@compiled_function
def gamma_log_density(shape: float, rate: float, x: float) -> float:
    """Of x = log theta."""
    return shape * (x + log(rate)) - rate * exp(x) - log_gamma(shape)


@compiled_function
def gamma_lower(shape: float, rate: float) -> float:
    """x with P(log theta < x) < 1e-16."""
    if shape > 200.0:
        return log(shape / rate) - 10.0 / math.sqrt(shape)
    return (log_gamma(shape + 1.0) - 37.0) / shape - log(rate)


@compiled_function
def gamma_upper(shape: float, rate: float) -> float:
    """x with P(log theta > x) < 1e-16."""
    return log((shape + 9.0 * math.sqrt(shape) + 45.0) / rate)
