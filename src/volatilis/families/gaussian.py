"""Gaussian observations with unknown mean and known variance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from volatilis._compiler.registry import compiled_function, python_only
from volatilis._core.fields import Positive, Real
from volatilis._core.records import LINEAR, LOG, Range
from volatilis.families._base import Beliefs
from volatilis.families._kinds import FamilyRecord, FamilyTuple, family
from volatilis.families._observations import level_and_spread, noise_scale
from volatilis.special import (
    LOG_2_PI,
    LOG_PI,
    bounded,
    direction,
    exp,
    exp_in_range,
    hypotenuse,
    largest,
    log,
    log_1p,
    normal_cdf,
    not_faint,
    total,
)

Noise = Annotated[Positive, Range(LOG, 1e-3, 1e2, 0.1, 1.0, unit=True)]
Location = Annotated[Real, Range(LINEAR, -5.0, 5.0, -1.0, 1.0, unit=True)]
Spread = Annotated[Positive, Range(LOG, 1e-2, 1e3, 0.5, 5.0, unit=True)]


@family(
    FamilyRecord(
        name="gaussian",
        place=10,
        observes="a finite number",
        likelihood=r"$y \sim N(\mu, \sigma^2)$",
        theta=r"$\mu$ (`mu`)",
        prior=r"$\mu \sim N(\mu_0, \sigma_0^2)$",
    )
)
class Gaussian(FamilyTuple):
    """y ~ N(mu, sigma^2), and mu ~ N(mu_0, sigma_0^2) at each change; theta = mu.

    The belief is N(chi, sigma^2 / nu): chi is the mean of the observations with the prior's share (not their sum, which
    would cost a division at every use), nu their number, where a prior of sigma_0 weighs as rho = sigma^2 / sigma_0^2.

        sigma     the standard deviation of an observation
        mu_0      the prior mean of mu
        sigma_0   the prior standard deviation of mu

    >>> import volatilis as vl
    >>> vl.run(vl.VarSMiLe(vl.Gaussian(sigma=0.5, sigma_0=2.0), m=0.1), [0.2, -0.1, 3.0]).mean.round(3)
    array([0.188, 0.046, 2.819])
    """

    sigma: Noise
    mu_0: Location = 0.0
    sigma_0: Spread = 1.0

    def rows(self) -> int:
        return 1

    def size(self) -> int:
        return 1

    def prior(self, beliefs: Beliefs, i: int) -> None:
        ratio = self.sigma / self.sigma_0
        beliefs.chi[0, i] = self.mu_0
        beliefs.nu[i] = ratio * ratio

    def log_predictive(self, beliefs: Beliefs, i: int, y: float) -> float:
        """log N(y; chi, sigma^2 (1 + 1/nu))."""
        share = beliefs.nu[i] / (beliefs.nu[i] + 1.0)
        z = bounded((y - beliefs.chi[0, i]) * (1.0 / self.sigma))
        return -0.5 * z * z * share - log(self.sigma) - 0.5 * LOG_2_PI + 0.5 * log(share)

    def predictives(self, beliefs: Beliefs, w: np.ndarray, n: int, y: float, out: np.ndarray) -> tuple[float, float]:
        precision, scale = 1.0 / self.sigma, -log(self.sigma) - 0.5 * LOG_2_PI
        for i in range(n):
            share = beliefs.nu[i] / (beliefs.nu[i] + 1.0)
            z = (y - beliefs.chi[0, i]) * precision
            out[i] = w[i] * (exp_in_range(-0.5 * z * z * share) * math.sqrt(share))
        evidence = total(out, n)
        if evidence < 1e-6:  # nobody expected y: again, in units of the likeliest
            for i in range(n):
                z = bounded((y - beliefs.chi[0, i]) * precision)
                exponent = -0.5 * z * z * (beliefs.nu[i] / (beliefs.nu[i] + 1.0))  # the same bits as in log_predictive
                out[i] = exponent if w[i] > 0.0 else -np.inf
            top, share_of_top = largest(out, n), 1.0
            for i in range(n):
                share_of_top = beliefs.nu[i] / (beliefs.nu[i] + 1.0) if out[i] == top else share_of_top
            for i in range(n):
                share = math.sqrt(beliefs.nu[i] / (beliefs.nu[i] + 1.0)) / math.sqrt(share_of_top)
                out[i] = w[i] * (exp_in_range(out[i] - top) * share)
            return not_faint(out, n, top - log(self.sigma) - 0.5 * LOG_2_PI + 0.5 * log(share_of_top))
        return evidence, scale

    def predictive_cdf(self, beliefs: Beliefs, i: int, y: float, k: int, v: float, around: float) -> float:
        share = beliefs.nu[i] / (beliefs.nu[i] + 1.0)
        return normal_cdf(bounded((y - beliefs.chi[0, i]) * (1.0 / self.sigma)) * math.sqrt(share))

    def bayes_factor(self, beliefs: Beliefs, i: int, others: Beliefs, j: int, y: float) -> float:
        share_i, share_j = beliefs.nu[i] / (beliefs.nu[i] + 1.0), others.nu[j] / (others.nu[j] + 1.0)
        z_i, z_j = bounded((y - beliefs.chi[0, i]) * (1.0 / self.sigma)), bounded((y - others.chi[0, j]) * (1.0 / self.sigma))
        return exp(0.5 * (z_i * z_i * share_i - z_j * z_j * share_j)) * math.sqrt(share_j / share_i)

    def absorb(self, beliefs: Beliefs, i: int, y: float) -> None:
        beliefs.nu[i] += 1.0
        beliefs.chi[0, i] += (y - beliefs.chi[0, i]) / beliefs.nu[i]

    def blend(self, beliefs: Beliefs, i: int, others: Beliefs, j: int, a: float, b: float) -> None:
        nu = a * beliefs.nu[i] + b * others.nu[j]
        if b > 0.0:
            beliefs.chi[0, i] += b * others.nu[j] / nu * (others.chi[0, j] - beliefs.chi[0, i])
        beliefs.nu[i] = nu

    def mean(self, beliefs: Beliefs, i: int, k: int) -> float:
        return beliefs.chi[0, i]

    def variance(self, beliefs: Beliefs, i: int, k: int) -> float:
        return self.sigma * (self.sigma / beliefs.nu[i])

    def estimate(self, beliefs: Beliefs, i: int, k: int) -> float:
        return beliefs.chi[0, i]

    def merge(self, beliefs: Beliefs, i: int, j: int, a: float, b: float) -> None:
        """Keeps the pair's mean and variance."""
        mean_i, mean_j = beliefs.chi[0, i], beliefs.chi[0, j]
        apart = (mean_i - mean_j) / self.sigma
        beliefs.nu[i] = 1.0 / (a / beliefs.nu[i] + b / beliefs.nu[j] + (a * apart) * (b * apart))
        beliefs.chi[0, i] = a * mean_i + b * mean_j

    def dissimilarity(self, beliefs: Beliefs, i: int, j: int, a: float, b: float) -> float:
        """In units of sigma: |m_i - m_j|^2 + (V_i + V_j) log^2(V_i / V_j) with V = 1/nu."""
        inverse_i, inverse_j = 1.0 / beliefs.nu[i], 1.0 / beliefs.nu[j]
        apart = (beliefs.chi[0, i] - beliefs.chi[0, j]) / self.sigma
        spread = log(beliefs.nu[i] * inverse_j)
        return apart * apart + (inverse_i + inverse_j) * spread * spread

    def divergence(self, beliefs: Beliefs, i: int, others: Beliefs, j: int) -> float:
        ratio = others.nu[j] / beliefs.nu[i] - 1.0
        apart = (beliefs.chi[0, i] - others.chi[0, j]) / self.sigma
        return 0.5 * (ratio - log_1p(ratio) + others.nu[j] * apart * apart)

    def scaled_likelihood(self, beliefs: Beliefs, i: int, y: float) -> None:
        """N(theta; y, sigma^2)."""
        beliefs.chi[0, i] = y
        beliefs.nu[i] = 1.0

    def log_density(self, beliefs: Beliefs, i: int, x: float) -> float:
        z = (x - beliefs.chi[0, i]) / self.sigma
        return 0.5 * (log(beliefs.nu[i]) - beliefs.nu[i] * z * z) - log(self.sigma) - 0.5 * LOG_2_PI

    def lower(self, beliefs: Beliefs, i: int) -> float:
        return beliefs.chi[0, i] - 9.0 * self.sigma / math.sqrt(beliefs.nu[i])

    def upper(self, beliefs: Beliefs, i: int) -> float:
        return beliefs.chi[0, i] + 9.0 * self.sigma / math.sqrt(beliefs.nu[i])

    def log_broad(self, spread: float, y: float) -> float:
        """Cauchy around mu_0, as wide as sqrt(sigma^2 + sigma_0^2)."""
        return log_cauchy(y - self.mu_0, spread * hypotenuse(self.sigma, self.sigma_0))

    def broad_cdf(self, spread: float, y: float, v: float, around: float) -> float:
        return cauchy_cdf(y - self.mu_0, spread * hypotenuse(self.sigma, self.sigma_0))

    @python_only
    def sample_broad(self, spread: float, n: int, rng: np.random.Generator) -> np.ndarray:
        return self.mu_0 + spread * math.hypot(self.sigma, self.sigma_0) * rng.standard_cauchy(n)

    @python_only
    def parameter_names(self) -> tuple[str, ...]:
        return ("mu",)

    @python_only
    def distribution(self, beliefs: Beliefs, i: int) -> Any:
        from scipy import stats

        return stats.norm(beliefs.chi[0, i], self.sigma / math.sqrt(beliefs.nu[i]))

    @python_only
    def plausible(self, sequences: Sequence[np.ndarray]) -> Gaussian:
        mean, spread = level_and_spread(np.concatenate(sequences))
        sigma = noise_scale(np.concatenate([np.diff(y) for y in sequences])) or self.sigma
        return Gaussian(sigma, mean, math.sqrt(max(spread * spread - sigma * sigma, sigma * sigma)))

    @python_only
    def sample_parameter(self, rng: np.random.Generator) -> np.ndarray:
        return np.array([rng.normal(self.mu_0, self.sigma_0)])

    @python_only
    def sample_observations(self, theta: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
        return rng.normal(theta[0], self.sigma, n)


@compiled_function
def log_cauchy(apart: float, scale: float) -> float:
    """The Cauchy law: its tails are heavier than any Gaussian's, and than those of Student's t above one degree of freedom."""
    z = bounded(apart / scale)
    return -log_1p(z * z) - log(scale) - LOG_PI


@compiled_function
def cauchy_cdf(apart: float, scale: float) -> float:
    turn = direction(1.0, bounded(apart / scale))  # of a whole one, from 0 to 1
    return 0.5 + 2.0 * (turn if turn < 0.5 else turn - 1.0)
