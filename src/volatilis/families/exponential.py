"""Waiting times with an unknown rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from volatilis._compiler.registry import python_only
from volatilis.families._base import AcceptedNumbers, Beliefs
from volatilis.families._kinds import FamilyRecord, FamilyTuple, family
from volatilis.families._observations import real_observations
from volatilis.families.poisson import Rate, Shape, gamma_divergence, gamma_log_density, gamma_lower, gamma_upper, merged_gamma
from volatilis.special import exp, log, log_1p


@family(
    FamilyRecord(
        name="exponential",
        place=80,
        observes="a finite number, 0 or more",
        likelihood=r"$y \sim \mathrm{Exponential}(\lambda)$, mean $1/\lambda$",
        theta=r"$\lambda$ (`lambda`)",
        prior=r"$\lambda \sim \mathrm{Gamma}(\text{shape}, \text{rate})$",
    )
)
class Exponential(FamilyTuple):
    """y ~ Exponential(lambda), and the rate lambda ~ Gamma(shape, rate) at each change; theta = lambda.

    chi = sum of y, nu = number of y, with the prior's rate and shape: the belief is Gamma(nu, chi).

        shape   of the prior of lambda: as if that many waiting times had been observed before
        rate    of the prior of lambda: of this length in all

    >>> import volatilis as vl
    >>> vl.run(vl.VarSMiLe(vl.Exponential(shape=2.0, rate=1.0), m=0.1), [0.3, 0.6, 5.0]).mean.round(3)
    array([2.308, 2.088, 0.675])
    """

    shape: Shape
    rate: Rate

    def rows(self) -> int:
        return 1

    def size(self) -> int:
        return 1

    def prior(self, beliefs: Beliefs, i: int) -> None:
        beliefs.chi[0, i] = self.rate
        beliefs.nu[i] = self.shape

    def log_predictive(self, beliefs: Beliefs, i: int, y: float) -> float:
        """Lomax."""
        shape, rate = beliefs.nu[i], beliefs.chi[0, i]
        return log(shape) - log(rate) - (shape + 1.0) * log_1p(min(y / rate, 1e300))

    def predictive_cdf(self, beliefs: Beliefs, i: int, y: float, k: int, v: float, around: float) -> float:
        return 1.0 - exp(-beliefs.nu[i] * log_1p(min(y / beliefs.chi[0, i], 1e300)))

    def absorb(self, beliefs: Beliefs, i: int, y: float) -> None:
        beliefs.chi[0, i] += y
        beliefs.nu[i] += 1.0

    def mean(self, beliefs: Beliefs, i: int, k: int) -> float:
        return beliefs.nu[i] / beliefs.chi[0, i]

    def variance(self, beliefs: Beliefs, i: int, k: int) -> float:
        return beliefs.nu[i] / beliefs.chi[0, i] / beliefs.chi[0, i]

    def estimate(self, beliefs: Beliefs, i: int, k: int) -> float:
        return beliefs.nu[i] / beliefs.chi[0, i]

    def merge(self, beliefs: Beliefs, i: int, j: int, a: float, b: float) -> None:
        """Keeps the pair's mean and variance."""
        shape, rate = merged_gamma(beliefs.nu[i], beliefs.chi[0, i], beliefs.nu[j], beliefs.chi[0, j], a, b)
        beliefs.nu[i] = shape
        beliefs.chi[0, i] = rate

    def dissimilarity(self, beliefs: Beliefs, i: int, j: int, a: float, b: float) -> float:
        """In the metric 1 / lambda^2: |m_i - m_j|^2 + (V_i + V_j) log^2(V_i / V_j) with V = 1 / nu."""
        inverse_i, inverse_j = 1.0 / beliefs.nu[i], 1.0 / beliefs.nu[j]
        apart = log((beliefs.nu[i] / beliefs.chi[0, i]) / (beliefs.nu[j] / beliefs.chi[0, j]))
        ratio = log(beliefs.nu[i] * inverse_j)
        return apart * apart + (inverse_i + inverse_j) * ratio * ratio

    def divergence(self, beliefs: Beliefs, i: int, others: Beliefs, j: int) -> float:
        return gamma_divergence(beliefs.nu[i], beliefs.chi[0, i], others.nu[j], others.chi[0, j])

    def scaled_likelihood(self, beliefs: Beliefs, i: int, y: float) -> None:
        """Gamma(2, y), which is proper for y > 0."""
        beliefs.nu[i] = 2.0
        beliefs.chi[0, i] = y

    def log_density(self, beliefs: Beliefs, i: int, x: float) -> float:
        """Of x = log lambda."""
        return gamma_log_density(beliefs.nu[i], beliefs.chi[0, i], x)

    def lower(self, beliefs: Beliefs, i: int) -> float:
        return gamma_lower(beliefs.nu[i], beliefs.chi[0, i])

    def upper(self, beliefs: Beliefs, i: int) -> float:
        return gamma_upper(beliefs.nu[i], beliefs.chi[0, i])

    @python_only
    def improper_scaled_likelihood(self, values: np.ndarray) -> str | None:
        if np.any(values == 0.0):
            return f"observation {int(np.argmax(values == 0.0))} is 0, where the likelihood of the rate has no finite integral"
        return None

    def log_broad(self, spread: float, y: float) -> float:
        """s / (y + s)^2 with s = spread times rate / shape: half of it up to s, tails as 1 / y^2."""
        s = spread * self.rate / self.shape
        return -log(s) - 2.0 * log_1p(min(y / s, 1e300))

    def broad_cdf(self, spread: float, y: float, v: float, around: float) -> float:
        return y / (y + spread * self.rate / self.shape)

    @python_only
    def sample_broad(self, spread: float, n: int, rng: np.random.Generator) -> np.ndarray:
        below = 1.0 - rng.random(n)  # P(Y >= y) = s / (y + s)
        return spread * self.rate / self.shape * (1.0 - below) / below

    @python_only
    def parameter_names(self) -> tuple[str, ...]:
        return ("lambda",)

    @python_only
    def observations(self, ys: object) -> tuple[np.ndarray, np.ndarray]:
        return real_observations("Exponential", ys, lambda v: v >= 0.0, "a waiting time: a finite number, 0 or more")

    @python_only
    def accepted_numbers(self) -> AcceptedNumbers:
        return AcceptedNumbers(low=0.0)

    @python_only
    def distribution(self, beliefs: Beliefs, i: int) -> Any:
        from scipy import stats

        return stats.gamma(beliefs.nu[i], scale=1.0 / beliefs.chi[0, i])

    @python_only
    def plausible(self, sequences: Sequence[np.ndarray]) -> Exponential:
        return Exponential(2.0, max(float(np.median(np.concatenate(sequences))) / 0.4142, 1e-300))  # the median of a Lomax

    @python_only
    def sample_parameter(self, rng: np.random.Generator) -> np.ndarray:
        return np.array([rng.gamma(self.shape, 1.0 / self.rate)])

    @python_only
    def sample_observations(self, theta: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
        return rng.standard_exponential(n) / theta[0]
