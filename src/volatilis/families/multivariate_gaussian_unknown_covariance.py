"""Gaussian vectors with unknown mean and unknown covariance."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from volatilis._compiler.registry import python_only
from volatilis._core.fields import Matrix, Positive, Vector, derived, positive_definite_root
from volatilis.families._base import Beliefs
from volatilis.families._kinds import FamilyRecord, FamilyTuple, family
from volatilis.families._laws import NormalInverseWishart, full_matrix, round_cauchy, square_root
from volatilis.families._observations import row_by_row, vector_observations
from volatilis.families._wishart import (
    add_outer_product,
    distance_in_precision,
    element_cdf,
    element_log_density,
    log_diagonal,
    log_round_cauchy,
    merge_wisharts,
    psi_element,
    solve_lower,
    sum_of_squares,
    trace_of_ratio,
    triangle_position,
)
from volatilis.families.gaussian_unknown_variance import PriorWeight
from volatilis.special import LOG_2_PI, bounded, digamma, log, log_1p, log_gamma_ratio


@family(
    FamilyRecord(
        name="multivariate-gaussian-unknown-covariance",
        place=40,
        observes="p finite numbers; missing if any of them is",
        likelihood=r"$y \sim N(\mu, S)$ in p dimensions",
        theta=r"$\mu$, then the upper triangle of S row by row (`mu[0]`, ..., `S[0,0]`, `S[0,1]`, ...)",
        prior=r"$S \sim \mathrm{InverseWishart}(\nu_0, \Psi_0)$, $\mu \sim N(\mu_0, S / \kappa_0)$",
    )
)
class MultivariateGaussianUnknownCovariance(FamilyTuple):
    """y ~ N(mu, S), and at each change S ~ InverseWishart(nu_0, psi_0), mu ~ N(mu_0, S / kappa_0).

    theta = (mu, then the upper triangle of S, row by row). The belief is normal-inverse-Wishart: chi = (mu, the Cholesky
    factor of psi, degrees of freedom, room to work in), nu = kappa. The factor stays positive definite by construction.

        mu_0      the prior mean of mu, p numbers
        kappa_0   how many observations the prior mean is worth
        nu_0      the degrees of freedom of the prior of S, above p - 1; its mean exists above p + 1, its variance above p + 3
        psi_0     the scale of the prior of S, a (p, p) matrix; its mean is psi_0 / (nu_0 - p - 1)

    >>> import volatilis as vl
    >>> family = vl.MultivariateGaussianUnknownCovariance([0.0, 0.0], 1.0, 6.0, [[3.0, 0.0], [0.0, 3.0]])
    >>> vl.run(vl.VarSMiLe(family, m=0.1), [[0.2, 0.1], [3.0, -1.0]]).mean.round(3)
    array([[ 0.1  ,  0.05 ,  0.755,  0.003,  0.751],
           [ 1.115, -0.322,  1.756, -0.405,  0.767]])
    """

    mu_0: Vector
    kappa_0: PriorWeight
    nu_0: Positive
    psi_0: Matrix
    root_0: Matrix = derived()  # the Cholesky factor of psi_0
    inverse_root_0: Matrix = derived()

    def whole(self, n: int) -> int:
        return n  # a column is a loop of its own

    def rows(self) -> int:
        p = self.mu_0.size
        return p + p * p + 1 + 2 * p * p + 2 * p

    def size(self) -> int:
        p = self.mu_0.size
        return p + p * (p + 1) // 2

    def prior(self, beliefs: Beliefs, i: int) -> None:
        p = self.mu_0.size
        for r in range(p):
            beliefs.chi[r, i] = self.mu_0[r]
            for c in range(p):
                beliefs.chi[p + r * p + c, i] = self.root_0[r, c]
        beliefs.chi[p + p * p, i] = self.nu_0
        beliefs.nu[i] = self.kappa_0

    def log_predictive(self, beliefs: Beliefs, i: int, y: np.ndarray) -> float:
        """Student's t in p dimensions with dof - p + 1 degrees of freedom."""
        p = self.mu_0.size
        chi, dof, kappa, work = beliefs.chi, beliefs.chi[p + p * p, i], beliefs.nu[i], p + p * p + 1
        for r in range(p):
            chi[work + r, i] = y[r] - chi[r, i]
        solve_lower(chi, p, p, i, work)
        share = kappa / (kappa + 1.0)
        quadratic = min(share * sum_of_squares(chi, work, p, i), 1e300)
        gammas = log_gamma_ratio(0.5 * (dof - p + 1.0), 0.5 * p)
        volume = log_diagonal(chi, p, p, i) - 0.5 * p * log(2.0 * share)
        return gammas - 0.5 * p * LOG_2_PI - volume - 0.5 * (dof + 1.0) * log_1p(quadratic)

    def coordinates(self) -> int:
        return self.mu_0.size

    def predictive_cdf(self, beliefs: Beliefs, i: int, y: np.ndarray, k: int, v: float, around: float) -> float:
        return element_cdf(beliefs, i, y, k, self.mu_0.size)

    def log_predictive_part(self, beliefs: Beliefs, i: int, y: np.ndarray, k: int) -> float:
        return element_log_density(beliefs, i, y, k, self.mu_0.size)

    def absorb(self, beliefs: Beliefs, i: int, y: np.ndarray) -> None:
        p = self.mu_0.size
        chi, kappa, work = beliefs.chi, beliefs.nu[i], p + p * p + 1
        weight = math.sqrt(kappa / (kappa + 1.0))
        for r in range(p):
            surprise = y[r] - chi[r, i]
            chi[work + r, i] = weight * surprise
            chi[r, i] += surprise / (kappa + 1.0)
        add_outer_product(chi, p, p, i, work)
        chi[p + p * p, i] += 1.0
        beliefs.nu[i] = kappa + 1.0

    def blend(self, beliefs: Beliefs, i: int, others: Beliefs, j: int, a: float, b: float) -> None:
        p = self.mu_0.size
        chi, work = beliefs.chi, p + p * p + 1
        kappa_i, kappa_j = a * beliefs.nu[i], b * others.nu[j]
        kappa = kappa_i + kappa_j
        share = kappa_j / kappa if kappa > 0.0 else 0.0
        root_a, root_b, between = math.sqrt(a), math.sqrt(b), math.sqrt((kappa - kappa_j) * share)
        for r in range(p * p):
            chi[work + p + r, i] = root_b * others.chi[p + r, j]  # before L_i changes, for i and j may be one column
        for r in range(p * p):
            chi[p + r, i] *= root_a
        for c in range(p):  # psi = a L_i L_i^T + b L_j L_j^T, one column of L_j after another
            for r in range(p):
                chi[work + r, i] = chi[work + p + r * p + c, i]
            add_outer_product(chi, p, p, i, work)
        for r in range(p):
            apart = others.chi[r, j] - chi[r, i]
            chi[work + r, i] = between * apart
            chi[r, i] += share * apart
        add_outer_product(chi, p, p, i, work)
        chi[p + p * p, i] = a * chi[p + p * p, i] + b * others.chi[p + p * p, j]
        beliefs.nu[i] = kappa

    def mean(self, beliefs: Beliefs, i: int, k: int) -> float:
        p = self.mu_0.size
        if k < p:
            return beliefs.chi[k, i]
        row, column = triangle_position(k - p, p)
        excess = beliefs.chi[p + p * p, i] - p - 1.0
        return psi_element(beliefs, i, p, row, column) / excess if excess > 0.0 else np.inf

    def variance(self, beliefs: Beliefs, i: int, k: int) -> float:
        p = self.mu_0.size
        dof = beliefs.chi[p + p * p, i]
        excess = dof - p - 1.0
        if k < p:
            return psi_element(beliefs, i, p, k, k) / excess / beliefs.nu[i] if excess > 0.0 else np.inf
        row, column = triangle_position(k - p, p)
        rc = psi_element(beliefs, i, p, row, column) / excess
        rr, cc = psi_element(beliefs, i, p, row, row) / excess, psi_element(beliefs, i, p, column, column) / excess
        top = (dof - p + 1.0) * rc * rc + excess * (rr * cc)
        return top / ((dof - p) * (excess - 2.0)) if excess > 2.0 else np.inf

    def estimate(self, beliefs: Beliefs, i: int, k: int) -> float:
        p = self.mu_0.size
        if k < p:
            return beliefs.chi[k, i]
        row, column = triangle_position(k - p, p)
        return psi_element(beliefs, i, p, row, column) / beliefs.chi[p + p * p, i]

    def merge(self, beliefs: Beliefs, i: int, j: int, a: float, b: float) -> None:
        """Keeps, with the precision W = S^-1, the pair's E[W], E[W mu], E[mu^T W mu] and E[log det W]: nearest in KL.

        The degrees of freedom stay at least the smaller ones of the pair, or p + 4, where mean and variance of S exist: moments
        that both have are not lost (see `GaussianUnknownVariance`).
        Where the two covariances are so unlike that sixteen digits cannot hold both, the heavier belief stands for the pair.
        """
        merge_wisharts(beliefs, i, j, a, b, self.mu_0.size)

    def dissimilarity(self, beliefs: Beliefs, i: int, j: int, a: float, b: float) -> float:
        """In the metric of (mu, S): |m_i - m_j|^2 + (V_i + V_j) log^2(V_i / V_j), V = p/kappa + p (p + 1) / (2 dof)."""
        p = self.mu_0.size
        dof_i, dof_j = beliefs.chi[p + p * p, i], beliefs.chi[p + p * p, j]
        apart = 0.5 * (distance_in_precision(beliefs, i, j, p) + distance_in_precision(beliefs, j, i, p)) - p
        spread_i = p / beliefs.nu[i] + 0.5 * p * (p + 1.0) / dof_i
        spread_j = p / beliefs.nu[j] + 0.5 * p * (p + 1.0) / dof_j
        ratio = log(spread_i / spread_j)
        return apart + (spread_i + spread_j) * ratio * ratio

    def divergence(self, beliefs: Beliefs, i: int, others: Beliefs, j: int) -> float:
        p = self.mu_0.size
        chi, work = beliefs.chi, p + p * p + 1
        dof_i, dof_j = chi[p + p * p, i], others.chi[p + p * p, j]
        for r in range(p):
            chi[work + r, i] = chi[r, i] - others.chi[r, j]
        solve_lower(chi, p, p, i, work)
        ratio = others.nu[j] / beliefs.nu[i] - 1.0
        location = 0.5 * (p * (ratio - log_1p(ratio)) + others.nu[j] * dof_i * sum_of_squares(chi, work, p, i))
        trace = trace_of_ratio(beliefs, i, others, j, p)  # of psi_i^-1 psi_j
        result = location + 0.5 * dof_i * (trace - p)
        result -= dof_j * (log_diagonal(others.chi, p, p, j) - log_diagonal(chi, p, p, i))
        more = 0.5 * (dof_i - dof_j)
        for r in range(p):
            result += more * digamma(0.5 * (dof_i - r)) - log_gamma_ratio(0.5 * (dof_j - r), more)
        return result

    def log_broad(self, spread: float, y: np.ndarray) -> float:
        """Cauchy in p dimensions around mu_0, with the scale of the t that is the prior's predictive."""
        p = self.mu_0.size
        share = self.kappa_0 * (self.nu_0 - p + 1.0) / (self.kappa_0 + 1.0) / (spread * spread)
        quadratic, volume = 0.0, -0.5 * p * log(share)
        for r in range(p):
            z = 0.0
            for c in range(r + 1):
                z += self.inverse_root_0[r, c] * (y[c] - self.mu_0[c])
            quadratic += share * bounded(z) * bounded(z)
            volume += log(self.root_0[r, r])
        return log_round_cauchy(p, quadratic) - volume

    @python_only
    def sample_broad(self, spread: float, n: int, rng: np.random.Generator) -> np.ndarray:
        p = self.mu_0.size
        scale = spread * math.sqrt((self.kappa_0 + 1.0) / (self.kappa_0 * (self.nu_0 - p + 1.0)))
        return self.mu_0 + scale * row_by_row(round_cauchy(p, n, rng), self.root_0)

    @staticmethod
    def _derive(mu_0: np.ndarray, kappa_0: float, nu_0: float, psi_0: np.ndarray) -> dict[str, Any]:
        owner, p = "MultivariateGaussianUnknownCovariance", mu_0.size
        if nu_0 <= p - 1:
            raise ValueError(f"{owner}: nu_0 = {nu_0!r} is not accepted; with {p} means it must be a number above {p - 1}")
        root = positive_definite_root(owner, "psi_0", psi_0, p)
        return {"root_0": root, "inverse_root_0": np.linalg.inv(root)}

    @python_only
    def improper_scaled_likelihood(self, values: np.ndarray) -> str | None:
        return "one observation's likelihood of mean and covariance together has no finite integral"

    def row_width(self) -> int:
        return self.mu_0.size

    def in_row(self, row: np.ndarray, start: int) -> np.ndarray:
        return row[start : start + self.mu_0.size]

    @python_only
    def parameter_names(self) -> tuple[str, ...]:
        p = self.mu_0.size
        pairs = [(r, c) for r in range(p) for c in range(r, p)]
        return tuple(f"mu[{k}]" for k in range(p)) + tuple(f"S[{r},{c}]" for r, c in pairs)

    @python_only
    def observations(self, ys: object) -> tuple[np.ndarray, np.ndarray]:
        return vector_observations("MultivariateGaussianUnknownCovariance", ys, self.mu_0.size)

    @python_only
    def distribution(self, beliefs: Beliefs, i: int) -> Any:
        p = self.mu_0.size
        root = beliefs.chi[p : p + p * p, i].reshape(p, p)
        return NormalInverseWishart(beliefs.chi[:p, i], beliefs.nu[i], beliefs.chi[p + p * p, i], root @ root.T)

    @python_only
    def sample_parameter(self, rng: np.random.Generator) -> np.ndarray:
        return NormalInverseWishart(self.mu_0, self.kappa_0, self.nu_0, self.psi_0).rvs(1, rng)[0]

    @python_only
    def sample_observations(self, theta: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
        p = self.mu_0.size
        return theta[:p] + row_by_row(rng.standard_normal((n, p)), square_root(full_matrix(theta[p:], p)))
