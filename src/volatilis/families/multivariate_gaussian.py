"""Gaussian vectors with unknown mean and known covariance."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from volatilis._compiler.registry import python_only
from volatilis._core.fields import Matrix, Real, Vector, derived, positive_definite_root
from volatilis.families._base import Beliefs
from volatilis.families._kinds import FamilyRecord, FamilyTuple, family
from volatilis.families._laws import round_cauchy
from volatilis.families._observations import row_by_row, vector_observations
from volatilis.families._wishart import log_round_cauchy
from volatilis.special import LOG_2_PI, bounded, log, log_1p, normal_cdf


@family(
    FamilyRecord(
        name="multivariate-gaussian",
        place=30,
        observes="p finite numbers; missing if any of them is",
        likelihood=r"$y \sim N(\mu, C)$ in p dimensions",
        theta=r"$\mu$ (`mu[0]`, ...)",
        prior=r"$\mu \sim N(\mu_0, C_0)$",
    )
)
class MultivariateGaussian(FamilyTuple):
    """y ~ N(mu, C), and mu ~ N(mu_0, C_0) at each change; theta = mu.

    One linear map makes C the identity and C_0 diagonal (the generalised eigenvectors of the pair). In those axes every
    belief between two changes is independent Gaussians, so observations are mapped once, on the way in, and a hypothesis
    costs O(p). chi = (linear terms, precisions) along the axes, nu counts observations.

        covariance     C, a (p, p) matrix
        mu_0           the prior mean of mu, p numbers
        covariance_0   C_0, a (p, p) matrix

    >>> import volatilis as vl
    >>> family = vl.MultivariateGaussian([[1.0, 0.3], [0.3, 1.0]], [0.0, 0.0], [[4.0, 0.0], [0.0, 4.0]])
    >>> vl.run(vl.VarSMiLe(family, m=0.1), [[0.2, 0.1], [3.0, -1.0]]).mean.round(3)
    array([[ 0.156,  0.071],
           [ 1.594, -0.522]])
    """

    covariance: Matrix
    mu_0: Vector
    covariance_0: Matrix
    axes: Matrix = derived()  # y = axes @ z + mu_0
    inverse_axes: Matrix = derived()  # z = inverse_axes @ (y - mu_0)
    prior_precision: Vector = derived()  # of each z
    log_volume: Real = derived()  # log |det axes|

    def whole(self, n: int) -> int:
        return n  # a column is a loop of its own

    def rows(self) -> int:
        return 2 * self.mu_0.size

    def size(self) -> int:
        return self.mu_0.size

    def prior(self, beliefs: Beliefs, i: int) -> None:
        p = self.mu_0.size
        for r in range(p):
            beliefs.chi[r, i] = 0.0
            beliefs.chi[p + r, i] = self.prior_precision[r]
        beliefs.nu[i] = 0.0

    def log_predictive(self, beliefs: Beliefs, i: int, y: np.ndarray) -> float:
        p = self.mu_0.size
        result = -0.5 * p * LOG_2_PI - self.log_volume
        for r in range(p):
            precision = beliefs.chi[p + r, i]
            share = precision / (precision + 1.0)
            z = bounded(y[r] - beliefs.chi[r, i] / precision)
            result += 0.5 * (log(share) - z * z * share)
        return result

    def coordinates(self) -> int:
        return self.mu_0.size

    def predictive_cdf(self, beliefs: Beliefs, i: int, y: np.ndarray, k: int, v: float, around: float) -> float:
        """Along axis k: given theta the axes are independent."""
        precision = beliefs.chi[self.mu_0.size + k, i]
        return normal_cdf(bounded(y[k] - beliefs.chi[k, i] / precision) * math.sqrt(precision / (precision + 1.0)))

    def log_predictive_part(self, beliefs: Beliefs, i: int, y: np.ndarray, k: int) -> float:
        p = self.mu_0.size
        share = beliefs.chi[p + k, i] / (beliefs.chi[p + k, i] + 1.0)
        z = bounded(y[k] - beliefs.chi[k, i] / beliefs.chi[p + k, i])
        return 0.5 * (log(share) - z * z * share - LOG_2_PI) - self.log_volume / p

    def absorb(self, beliefs: Beliefs, i: int, y: np.ndarray) -> None:
        p = self.mu_0.size
        for r in range(p):
            beliefs.chi[r, i] += y[r]
            beliefs.chi[p + r, i] += 1.0
        beliefs.nu[i] += 1.0

    def mean(self, beliefs: Beliefs, i: int, k: int) -> float:
        p = self.mu_0.size
        result = 0.0
        for r in range(p):
            result += self.axes[k, r] * (beliefs.chi[r, i] / beliefs.chi[p + r, i])
        return result + self.mu_0[k]

    def variance(self, beliefs: Beliefs, i: int, k: int) -> float:
        p = self.mu_0.size
        result = 0.0
        for r in range(p):
            result += self.axes[k, r] * (self.axes[k, r] / beliefs.chi[p + r, i])
        return result

    def estimate(self, beliefs: Beliefs, i: int, k: int) -> float:
        return self.mean(beliefs, i, k)

    def merge(self, beliefs: Beliefs, i: int, j: int, a: float, b: float) -> None:
        """Keeps the pair's mean and its variance along each axis."""
        p = self.mu_0.size
        for r in range(p):
            precision_i, precision_j = beliefs.chi[p + r, i], beliefs.chi[p + r, j]
            mean_i, mean_j = beliefs.chi[r, i] / precision_i, beliefs.chi[r, j] / precision_j
            apart = mean_i - mean_j
            precision = 1.0 / (a / precision_i + b / precision_j + (a * apart) * (b * apart))
            beliefs.chi[p + r, i] = precision
            beliefs.chi[r, i] = (a * mean_i + b * mean_j) * precision
        beliefs.nu[i] = a * beliefs.nu[i] + b * beliefs.nu[j]

    def dissimilarity(self, beliefs: Beliefs, i: int, j: int, a: float, b: float) -> float:
        """In the metric C^-1: |m_i - m_j|^2 + (V_i + V_j) log^2(V_i / V_j), V = trace of the belief's covariance."""
        p = self.mu_0.size
        apart, spread_i, spread_j = 0.0, 0.0, 0.0
        for r in range(p):
            inverse_i, inverse_j = 1.0 / beliefs.chi[p + r, i], 1.0 / beliefs.chi[p + r, j]
            difference = beliefs.chi[r, i] * inverse_i - beliefs.chi[r, j] * inverse_j
            apart += difference * difference
            spread_i += inverse_i
            spread_j += inverse_j
        ratio = log(spread_i / spread_j)
        return apart + (spread_i + spread_j) * ratio * ratio

    def divergence(self, beliefs: Beliefs, i: int, others: Beliefs, j: int) -> float:
        p = self.mu_0.size
        result = 0.0
        for r in range(p):
            precision_i, precision_j = beliefs.chi[p + r, i], others.chi[p + r, j]
            ratio = precision_j / precision_i - 1.0
            apart = beliefs.chi[r, i] / precision_i - others.chi[r, j] / precision_j
            result += 0.5 * (ratio - log_1p(ratio) + precision_j * apart * apart)
        return result

    def scaled_likelihood(self, beliefs: Beliefs, i: int, y: np.ndarray) -> None:
        """N(theta; y, C)."""
        p = self.mu_0.size
        for r in range(p):
            beliefs.chi[r, i] = y[r]
            beliefs.chi[p + r, i] = 1.0
        beliefs.nu[i] = 1.0

    @staticmethod
    def _derive(covariance: np.ndarray, mu_0: np.ndarray, covariance_0: np.ndarray) -> dict[str, Any]:
        p = mu_0.size
        root = positive_definite_root("MultivariateGaussian", "covariance", covariance, p)
        positive_definite_root("MultivariateGaussian", "covariance_0", covariance_0, p)
        inverse_root = np.linalg.inv(root)
        variances, vectors = np.linalg.eigh(inverse_root @ covariance_0 @ inverse_root.T)
        return {
            "axes": root @ vectors,
            "inverse_axes": vectors.T @ inverse_root,
            "prior_precision": 1.0 / variances,
            "log_volume": float(np.sum(np.log(np.diag(root)))),
        }

    def row_width(self) -> int:
        return self.mu_0.size

    def in_row(self, row: np.ndarray, start: int) -> np.ndarray:
        return row[start : start + self.mu_0.size]

    def log_broad(self, spread: float, y: np.ndarray) -> float:
        """Cauchy in p dimensions around mu_0, with the covariance C + C_0 of the prior's predictive as its scale."""
        p = self.mu_0.size
        quadratic, volume = 0.0, self.log_volume
        for r in range(p):
            scale = spread * math.sqrt(1.0 + 1.0 / self.prior_precision[r])
            quadratic += bounded(y[r] / scale) * bounded(y[r] / scale)
            volume += log(scale)
        return log_round_cauchy(p, quadratic) - volume

    @python_only
    def sample_broad(self, spread: float, n: int, rng: np.random.Generator) -> np.ndarray:
        scales = spread * np.sqrt(1.0 + 1.0 / self.prior_precision)
        return self.mu_0 + row_by_row(round_cauchy(self.mu_0.size, n, rng) * scales, self.axes)

    @python_only
    def parameter_names(self) -> tuple[str, ...]:
        return tuple(f"mu[{k}]" for k in range(self.mu_0.size))

    @python_only
    def observations(self, ys: object) -> tuple[np.ndarray, np.ndarray]:
        values, missing = vector_observations("MultivariateGaussian", ys, self.mu_0.size)
        return row_by_row(values - self.mu_0, self.inverse_axes), missing

    @python_only
    def as_observed(self, values: np.ndarray) -> np.ndarray:
        return values @ self.axes.T + self.mu_0

    @python_only
    def distribution(self, beliefs: Beliefs, i: int) -> Any:
        from scipy import stats

        p = self.mu_0.size
        mean = self.axes @ (beliefs.chi[:p, i] / beliefs.chi[p:, i]) + self.mu_0
        return stats.multivariate_normal(mean, (self.axes / beliefs.chi[p:, i]) @ self.axes.T)

    @python_only
    def sample_parameter(self, rng: np.random.Generator) -> np.ndarray:
        return self.axes @ (rng.standard_normal(self.mu_0.size) / np.sqrt(self.prior_precision)) + self.mu_0

    @python_only
    def sample_observations(self, theta: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
        return theta + row_by_row(rng.standard_normal((n, self.mu_0.size)), self.axes)
