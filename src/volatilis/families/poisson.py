"""Counts with an unknown mean."""

from __future__ import annotations

from typing import Any

import numpy as np

from volatilis._compiler.registry import python_only
from volatilis.families._base import AcceptedNumbers, Beliefs, FamilyRecord, FamilyTuple, family
from volatilis.families._gamma import Rate, Shape, gamma_divergence, gamma_log_density, gamma_lower, gamma_upper, merged_gamma
from volatilis.families._observations import whole_observations
from volatilis.special import log, log_1p, log_beta


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

    @python_only
    def parameter_names(self) -> tuple[str, ...]:
        return ("lambda",)

    @python_only
    def observations(self, ys: Any) -> tuple[np.ndarray, np.ndarray]:
        return whole_observations("Poisson", ys, lambda v: (v >= 0) & (v < 2.0**53), "a count: a whole number, 0 or more")

    @python_only
    def accepted_numbers(self) -> AcceptedNumbers:
        return AcceptedNumbers(0.0, 2.0**53 - 1.0, whole=True)

    @python_only
    def distribution(self, beliefs: Beliefs, i: int) -> Any:
        from scipy import stats

        return stats.gamma(beliefs.chi[0, i], scale=1.0 / beliefs.nu[i])

    @python_only
    def sample_parameter(self, rng: np.random.Generator) -> np.ndarray:
        return np.array([rng.gamma(self.shape, 1.0 / self.rate)])

    @python_only
    def sample_observations(self, theta: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
        return rng.poisson(theta[0], n).astype(np.int64)
