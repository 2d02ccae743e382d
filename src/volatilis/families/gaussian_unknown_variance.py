"""Gaussian observations with unknown mean and unknown variance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from volatilis._compiler.registry import compiled_function, python_only
from volatilis._core.fields import Positive
from volatilis._core.records import LOG, Range
from volatilis.families._base import Beliefs
from volatilis.families._kinds import FamilyRecord, FamilyTuple, family
from volatilis.families._observations import level_and_spread, noise_scale
from volatilis.families._wishart import degrees_of_freedom
from volatilis.families.gaussian import Location, cauchy_cdf, log_cauchy
from volatilis.special import (
    LOG_2_PI,
    bounded,
    digamma,
    hypotenuse,
    log,
    log_1p,
    log_gamma_ratio,
    log_minus_digamma,
    student_cdf,
)

ENOUGH = 2.5  # from this alpha on, mean (alpha > 1) and variance (alpha > 2) of v exist and are not about to be lost
PriorWeight = Annotated[Positive, Range(LOG, 1e-4, 1e3, 0.05, 2.0)]


@family(
    FamilyRecord(
        name="gaussian-unknown-variance",
        place=20,
        observes="a finite number",
        likelihood=r"$y \sim N(\mu, v)$",
        theta=r"$(\mu, v)$ (`mu`, `v`)",
        prior=r"$v \sim \mathrm{InverseGamma}(\alpha_0, \beta_0)$, $\mu \sim N(\mu_0, v / \kappa_0)$",
    )
)
class GaussianUnknownVariance(FamilyTuple):
    """y ~ N(mu, v), and at each change v ~ InverseGamma(alpha_0, beta_0), mu ~ N(mu_0, v / kappa_0); theta = (mu, v).

    The belief is normal-inverse-gamma: chi = (mu, alpha, sqrt(beta)), nu = kappa. Sums of y and y^2 would cancel after many
    observations and overflow beyond 1e154, so chi is kept centred, and beta as its root.

        mu_0      the prior mean of mu
        kappa_0   how many observations the prior mean is worth
        alpha_0   the shape of the prior of v: its mean exists above 1, its variance above 2
        beta_0    the scale of the prior of v, whose mean is beta_0 / (alpha_0 - 1)

    >>> import volatilis as vl
    >>> family = vl.GaussianUnknownVariance(mu_0=0.0, kappa_0=1.0, alpha_0=3.0, beta_0=2.0)
    >>> vl.run(vl.VarSMiLe(family, m=0.1), [0.2, -0.1, 3.0]).mean.round(3)
    array([[0.1  , 0.804],
           [0.029, 0.683],
           [0.901, 1.606]])
    """

    mu_0: Location
    kappa_0: PriorWeight
    alpha_0: Annotated[Positive, Range(LOG, 1e-2, 1e3, 1.0, 10.0)]
    beta_0: Positive

    def rows(self) -> int:
        return 3

    def size(self) -> int:
        return 2

    def prior(self, beliefs: Beliefs, i: int) -> None:
        beliefs.chi[0, i] = self.mu_0
        beliefs.chi[1, i] = self.alpha_0
        beliefs.chi[2, i] = math.sqrt(self.beta_0)
        beliefs.nu[i] = self.kappa_0

    def log_predictive(self, beliefs: Beliefs, i: int, y: float) -> float:
        """Student's t with 2 alpha degrees of freedom."""
        alpha, b, share = beliefs.chi[1, i], beliefs.chi[2, i], beliefs.nu[i] / (beliefs.nu[i] + 1.0)
        z = bounded((y - beliefs.chi[0, i]) / b)
        tail = (alpha + 0.5) * log_1p(0.5 * share * z * z)
        return log_gamma_ratio(alpha, 0.5) - 0.5 * (LOG_2_PI - log(share)) - log(b) - tail

    def predictive_cdf(self, beliefs: Beliefs, i: int, y: float, k: int, v: float, around: float) -> float:
        z = bounded((y - beliefs.chi[0, i]) / beliefs.chi[2, i])
        return student_cdf(0.5 * beliefs.nu[i] / (beliefs.nu[i] + 1.0) * z * z, 2.0 * beliefs.chi[1, i], z > 0.0)

    def absorb(self, beliefs: Beliefs, i: int, y: float) -> None:
        kappa = beliefs.nu[i]
        surprise = y - beliefs.chi[0, i]
        beliefs.chi[0, i] += surprise / (kappa + 1.0)
        beliefs.chi[1, i] += 0.5
        beliefs.chi[2, i] = hypotenuse(beliefs.chi[2, i], math.sqrt(0.5 * kappa / (kappa + 1.0)) * surprise)
        beliefs.nu[i] = kappa + 1.0

    def blend(self, beliefs: Beliefs, i: int, others: Beliefs, j: int, a: float, b: float) -> None:
        kappa_i, kappa_j = a * beliefs.nu[i], b * others.nu[j]
        kappa = kappa_i + kappa_j
        share = kappa_j / kappa if kappa > 0.0 else 0.0
        apart = others.chi[0, j] - beliefs.chi[0, i]
        between = math.sqrt(0.5 * (kappa - kappa_j) * share) * apart
        within = hypotenuse(math.sqrt(a) * beliefs.chi[2, i], math.sqrt(b) * others.chi[2, j])
        beliefs.chi[0, i] += share * apart
        beliefs.chi[1, i] = a * beliefs.chi[1, i] + b * others.chi[1, j]
        beliefs.chi[2, i] = hypotenuse(within, between)
        beliefs.nu[i] = kappa

    def mean(self, beliefs: Beliefs, i: int, k: int) -> float:
        return beliefs.chi[0, i] if k == 0 else _over(beliefs.chi[2, i], beliefs.chi[1, i] - 1.0)

    def variance(self, beliefs: Beliefs, i: int, k: int) -> float:
        expected = _over(beliefs.chi[2, i], beliefs.chi[1, i] - 1.0)
        excess = beliefs.chi[1, i] - 2.0
        of_variance = expected * (expected / excess) if excess > 0.0 else np.inf
        return expected / beliefs.nu[i] if k == 0 else of_variance

    def estimate(self, beliefs: Beliefs, i: int, k: int) -> float:
        return beliefs.chi[0, i] if k == 0 else beliefs.chi[2, i] * (beliefs.chi[2, i] / beliefs.chi[1, i])

    def merge(self, beliefs: Beliefs, i: int, j: int, a: float, b: float) -> None:
        """Keeps, with the precision w = 1/v, the pair's E[w], E[w mu], E[w mu^2] and E[log w]: the nearest member (KL).

        Two beliefs that disagree about the precision make the nearest member's tail heavier than either's, up to where v has no
        mean. So alpha stays at least the smaller one of the pair, or 2.5: moments of v that both have are not lost. E[log w] then
        moves as little as this allows.
        """
        alpha_i, alpha_j = beliefs.chi[1, i], beliefs.chi[1, j]
        root_i, root_j = beliefs.chi[2, i] / math.sqrt(alpha_i), beliefs.chi[2, j] / math.sqrt(alpha_j)
        unit = min(root_i, root_j)  # precisions in units of the larger one
        w_i, w_j = (unit / root_i) * (unit / root_i), (unit / root_j) * (unit / root_j)
        w = a * w_i + b * w_j
        share = b * w_j / w
        apart = (beliefs.chi[0, j] - beliefs.chi[0, i]) / unit
        between = (a * w_i * share * apart) * apart
        gap = a * (log_minus_digamma(alpha_i) - log(w_i / w)) + b * (log_minus_digamma(alpha_j) - log(w_j / w))
        alpha = max(0.5 * degrees_of_freedom(gap, 1), min(alpha_i, alpha_j, ENOUGH))
        beliefs.chi[0, i] += share * (beliefs.chi[0, j] - beliefs.chi[0, i])
        beliefs.chi[1, i] = alpha
        beliefs.chi[2, i] = unit * math.sqrt(alpha / w)
        beliefs.nu[i] = 1.0 / (a / beliefs.nu[i] + b / beliefs.nu[j] + between)

    def dissimilarity(self, beliefs: Beliefs, i: int, j: int, a: float, b: float) -> float:
        """In the metric diag(1/v, 1/(2 v^2)): |m_i - m_j|^2 + (V_i + V_j) log^2(V_i / V_j), V = 1/kappa + 1/(2 alpha)."""
        root_i = beliefs.chi[2, i] / math.sqrt(beliefs.chi[1, i])
        root_j = beliefs.chi[2, j] / math.sqrt(beliefs.chi[1, j])
        z_i = (beliefs.chi[0, i] - beliefs.chi[0, j]) / root_i
        z_j = (beliefs.chi[0, i] - beliefs.chi[0, j]) / root_j
        ratio = (root_i / root_j) * (root_i / root_j)
        apart = 0.5 * (z_i * z_i + z_j * z_j) + 0.5 * (ratio + 1.0 / ratio - 2.0)
        spread_i = 1.0 / beliefs.nu[i] + 0.5 / beliefs.chi[1, i]
        spread_j = 1.0 / beliefs.nu[j] + 0.5 / beliefs.chi[1, j]
        log_ratio = log(spread_i / spread_j)
        return apart + (spread_i + spread_j) * log_ratio * log_ratio

    def divergence(self, beliefs: Beliefs, i: int, others: Beliefs, j: int) -> float:
        alpha_i, alpha_j = beliefs.chi[1, i], others.chi[1, j]
        ratio = others.nu[j] / beliefs.nu[i] - 1.0
        z = (beliefs.chi[0, i] - others.chi[0, j]) / beliefs.chi[2, i]
        location = 0.5 * (ratio - log_1p(ratio) + others.nu[j] * alpha_i * z * z)
        scale = others.chi[2, j] / beliefs.chi[2, i]
        more = alpha_i - alpha_j
        shapes = more * digamma(alpha_i) - log_gamma_ratio(alpha_j, more)
        return location + shapes - 2.0 * alpha_j * log(scale) + alpha_i * (scale * scale - 1.0)

    @python_only
    def improper_scaled_likelihood(self, values: np.ndarray) -> str | None:
        return "one observation's likelihood of mean and variance together has no finite integral"

    def log_broad(self, spread: float, y: float) -> float:
        """Cauchy around mu_0, with the scale of the t that is the prior's predictive."""
        return log_cauchy(y - self.mu_0, spread * math.sqrt(self.beta_0 * (1.0 + 1.0 / self.kappa_0) / self.alpha_0))

    def broad_cdf(self, spread: float, y: float, v: float, around: float) -> float:
        return cauchy_cdf(y - self.mu_0, spread * math.sqrt(self.beta_0 * (1.0 + 1.0 / self.kappa_0) / self.alpha_0))

    @python_only
    def sample_broad(self, spread: float, n: int, rng: np.random.Generator) -> np.ndarray:
        scale = math.sqrt(self.beta_0 * (1.0 + 1.0 / self.kappa_0) / self.alpha_0)
        return self.mu_0 + spread * scale * rng.standard_cauchy(n)

    @python_only
    def parameter_names(self) -> tuple[str, ...]:
        return ("mu", "v")

    @python_only
    def distribution(self, beliefs: Beliefs, i: int) -> Any:
        return _NormalInverseGamma(beliefs.chi[0, i], beliefs.nu[i], beliefs.chi[1, i], beliefs.chi[2, i] ** 2)

    @python_only
    def plausible(self, sequences: Sequence[np.ndarray]) -> GaussianUnknownVariance:
        mean, spread = level_and_spread(np.concatenate(sequences))
        sigma = noise_scale(np.concatenate([np.diff(y) for y in sequences])) or 1.0
        kappa_0 = sigma * sigma / max(spread * spread - sigma * sigma, sigma * sigma)
        return GaussianUnknownVariance(mean, kappa_0, ENOUGH, (ENOUGH - 1.0) * sigma * sigma)

    @python_only
    def sample_parameter(self, rng: np.random.Generator) -> np.ndarray:
        v = self.beta_0 / rng.standard_gamma(self.alpha_0)
        return np.array([rng.normal(self.mu_0, math.sqrt(v / self.kappa_0)), v])

    @python_only
    def sample_observations(self, theta: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
        return rng.normal(theta[0], math.sqrt(theta[1]), n)


@compiled_function
def _over(root: float, excess: float) -> float:
    """root^2 / excess, infinite where the moment does not exist."""
    return root * (root / excess) if excess > 0.0 else np.inf


class _NormalInverseGamma:
    """The joint belief about (mu, v), with the methods of a SciPy distribution."""

    def __init__(self, mu: float, kappa: float, alpha: float, beta: float) -> None:
        from scipy import stats

        self.mu, self.kappa = mu, kappa
        self._normal, self._variance = stats.norm, stats.invgamma(alpha, scale=beta)

    def pdf(self, theta: npt.ArrayLike) -> np.ndarray:
        mu, v = np.moveaxis(np.asarray(theta, dtype=float), -1, 0)
        return self._normal.pdf(mu, self.mu, np.sqrt(v / self.kappa)) * self._variance.pdf(v)

    def rvs(self, size: int, random_state: np.random.Generator) -> np.ndarray:
        v = self._variance.rvs(size, random_state=random_state)
        return np.stack([random_state.normal(self.mu, np.sqrt(v / self.kappa)), v], axis=-1)
