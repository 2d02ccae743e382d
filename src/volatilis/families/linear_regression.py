"""Linear regression with unknown coefficients and unknown variance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from volatilis._compiler.registry import python_only
from volatilis._core.fields import Positive, Rule, whole_number
from volatilis._core.records import LOG, Range
from volatilis.families._base import Beliefs
from volatilis.families._kinds import FamilyRecord, FamilyTuple, family
from volatilis.families._laws import NormalInverseGamma
from volatilis.families._observations import real_observations, regressors, row_by_row
from volatilis.families._regression import coefficients, half_square, least_squares, length_of_step, merge_regressions
from volatilis.families._wishart import add_outer_product
from volatilis.families.gaussian import Location, cauchy_cdf, log_cauchy
from volatilis.families.gaussian_unknown_variance import ENOUGH, PriorWeight
from volatilis.special import bounded, digamma, log, log_1p, log_gamma_ratio, student_cdf

LOG_PI = math.log(math.pi)
Regressors = Annotated[int, Rule(whole_number, lambda v: 1 <= v <= 100, "a whole number from 1 to 100")]
Shape = Annotated[Positive, Range(LOG, 1e-2, 1e3, 1.0, 10.0)]
OtherWeight = Annotated[
    float, Rule(float, lambda v: 0.0 <= v < np.inf, "a finite number, 0 or above"), Range(LOG, 1e-4, 1e3, 0.05, 2.0)
]


@family(
    FamilyRecord(
        name="linear-regression",
        place=220,
        observes="a finite number, with p regressors",
        likelihood=r"$y - \mu_0 \sim N(x^T b, v)$",
        theta="(b, v) (`b[0]`, ..., `v`)",
        prior=r"$v \sim \mathrm{InverseGamma}(\alpha_0, \beta_0)$, $b \sim N(0, v / \kappa_0)$",
    )
)
class LinearRegression(FamilyTuple):
    """y - mu_0 ~ N(x'b, v) with p regressors x, and at each change v ~ InverseGamma(alpha_0, beta_0), b ~ N(0, v / kappa_0).

    theta = (b, v). The belief is normal-inverse-gamma: b ~ N(m, v A^-1), v ~ InverseGamma(alpha, r^2 / 2). chi is the Cholesky
    factor of the sum of (x, y - mu_0)(x, y - mu_0)^T with the prior's share, which holds all three,

        ( L   0 )        A = L L^T,   m = L^-T z
        ( z^T r )

    then alpha and room to work in. An observation is a row of rotations (square-root form): sums of squares are never formed, so
    nothing cancels. An intercept is a regressor that is always 1; a large offset of y belongs into mu_0.

        p         how many regressors there are
        kappa_0   how many observations (with regressors of size 1) the prior of b is worth
        alpha_0   the shape of the prior of v: its mean exists above 1, its variance above 2
        beta_0    the scale of the prior of v, whose mean is beta_0 / (alpha_0 - 1)
        mu_0      is subtracted from y
        kappa_x   kappa_0 of all regressors but the first, where that is an intercept and the others have other units; 0: the same

    >>> import volatilis as vl
    >>> learner = vl.VarSMiLe(vl.LinearRegression(2), m=0.1)
    >>> vl.run(learner, [0.9, 2.1, 2.8], given=[[1, 0], [1, 1], [1, 2]]).mean.round(3)
    array([[0.45 , 0.   , 0.881],
           [0.777, 0.662, 0.926],
           [0.773, 0.895, 0.822]])
    """

    p: Regressors
    kappa_0: PriorWeight = 1.0
    alpha_0: Shape = 3.0
    beta_0: Positive = 2.0
    mu_0: Location = 0.0
    kappa_x: OtherWeight = 0.0

    def prior_weight(self, r: int) -> float:
        return self.kappa_x if r > 0 and self.kappa_x > 0.0 else self.kappa_0

    def whole(self, n: int) -> int:
        return n  # a column is a loop of its own

    def rows(self) -> int:
        return (self.p + 1) * (self.p + 1) + 1 + 2 * self.p * self.p + 3 * self.p + 2

    def size(self) -> int:
        return self.p + 1

    def prior(self, beliefs: Beliefs, i: int) -> None:
        q = self.p + 1
        for row in range(q * q):
            beliefs.chi[row, i] = 0.0
        for r in range(self.p):
            beliefs.chi[r * q + r, i] = math.sqrt(self.prior_weight(r))
        beliefs.chi[q * q - 1, i] = math.sqrt(2.0 * self.beta_0)
        beliefs.chi[q * q, i] = self.alpha_0
        beliefs.nu[i] = self.kappa_0

    def log_predictive(self, beliefs: Beliefs, i: int, y: np.ndarray) -> float:
        """Student's t with 2 alpha degrees of freedom; with u = L^-1 x its place is u'z, its squared scale grows by 1 + u'u."""
        q = self.p + 1
        alpha, r = beliefs.chi[q * q, i], beliefs.chi[q * q - 1, i]
        error, widening = self.forecast(beliefs, i, y)
        z = bounded(error / (r * math.sqrt(widening)))
        return log_gamma_ratio(alpha, 0.5) - 0.5 * (LOG_PI + log(widening)) - log(r) - (alpha + 0.5) * log_1p(z * z)

    def predictive_cdf(self, beliefs: Beliefs, i: int, y: np.ndarray, k: int, v: float, around: float) -> float:
        q = self.p + 1
        error, widening = self.forecast(beliefs, i, y)
        z = bounded(error / (beliefs.chi[q * q - 1, i] * math.sqrt(widening)))
        return student_cdf(z * z, 2.0 * beliefs.chi[q * q, i], z > 0.0)

    def forecast(self, beliefs: Beliefs, i: int, y: np.ndarray) -> tuple[float, float]:
        """y - mu_0 less what was expected of it, and 1 + x' A^-1 x."""
        p, q, chi = self.p, self.p + 1, beliefs.chi
        work, error, widening = q * q + 1, y[0] - self.mu_0, 1.0
        for r in range(p):
            value = y[1 + r]
            for c in range(r):
                value -= chi[r * q + c, i] * chi[work + c, i]
            value /= chi[r * q + r, i]
            chi[work + r, i] = value
            error -= value * chi[p * q + r, i]
            widening += value * value
        return error, widening

    def absorb(self, beliefs: Beliefs, i: int, y: np.ndarray) -> None:
        p, q, chi = self.p, self.p + 1, beliefs.chi
        work = q * q + 1
        for r in range(p):
            chi[work + r, i] = y[1 + r]
        chi[work + p, i] = y[0] - self.mu_0
        add_outer_product(chi, 0, q, i, work)
        chi[q * q, i] += 0.5
        beliefs.nu[i] += 1.0

    def blend(self, beliefs: Beliefs, i: int, others: Beliefs, j: int, a: float, b: float) -> None:
        q, chi = self.p + 1, beliefs.chi
        work, room, root_a, root_b = q * q + 1, q * q + 1 + q, math.sqrt(a), math.sqrt(b)
        for row in range(q * q):  # before the factor changes, for i and j may be one column
            chi[room + row, i] = root_b * others.chi[row, j]
        for row in range(q * q):
            chi[row, i] *= root_a
        if b > 0.0:
            for c in range(q):
                for r in range(q):
                    chi[work + r, i] = chi[room + r * q + c, i]
                add_outer_product(chi, 0, q, i, work)
        chi[q * q, i] = a * chi[q * q, i] + b * others.chi[q * q, j]
        beliefs.nu[i] = a * beliefs.nu[i] + b * others.nu[j]

    def mean(self, beliefs: Beliefs, i: int, k: int) -> float:
        q = self.p + 1
        if k < self.p:
            coefficients(beliefs, i, self.p)
            return beliefs.chi[q * q + 1 + k, i]
        return half_square(beliefs.chi[q * q - 1, i], beliefs.chi[q * q, i] - 1.0)

    def variance(self, beliefs: Beliefs, i: int, k: int) -> float:
        p, q, chi = self.p, self.p + 1, beliefs.chi
        expected, excess = half_square(chi[q * q - 1, i], chi[q * q, i] - 1.0), chi[q * q, i] - 2.0
        if k == p:
            return expected * (expected / excess) if excess > 0.0 else np.inf
        squares, work = 0.0, q * q + 1
        for r in range(k, p):  # L^-1 e_k, which begins at k
            value = 1.0 if r == k else 0.0
            for c in range(k, r):
                value -= chi[r * q + c, i] * chi[work + c, i]
            chi[work + r, i] = value / chi[r * q + r, i]
            squares += chi[work + r, i] * chi[work + r, i]
        return expected * squares

    def estimate(self, beliefs: Beliefs, i: int, k: int) -> float:
        """Least squares, NaN where the observations do not determine it; of v the likeliest."""
        q, longest = self.p + 1, 0.0
        for r in range(self.p):
            longest = max(longest, beliefs.chi[r * q + r, i])
        for r in range(self.p):
            if not beliefs.chi[r * q + r, i] > 1e-13 * longest:
                return np.nan
        return self.mean(beliefs, i, k) if k < self.p else half_square(beliefs.chi[q * q - 1, i], beliefs.chi[q * q, i])

    def merge(self, beliefs: Beliefs, i: int, j: int, a: float, b: float) -> None:
        """Keeps, with the precision w = 1/v, the pair's E[w], E[w b], E[w b b'] and E[log w]: the nearest member (KL).

        alpha stays at least the smaller one of the pair, or 2.5, as in `GaussianUnknownVariance`.
        """
        merge_regressions(beliefs, i, j, a, b, self.p)

    def dissimilarity(self, beliefs: Beliefs, i: int, j: int, a: float, b: float) -> float:
        """As in `GaussianUnknownVariance`, where one observation tells A / nu about b; V = p / nu + 1 / (2 alpha)."""
        p, q, chi = self.p, self.p + 1, beliefs.chi
        root_i, root_j = chi[q * q - 1, i] / math.sqrt(chi[q * q, i]), chi[q * q - 1, j] / math.sqrt(chi[q * q, j])
        coefficients(beliefs, i, p)
        coefficients(beliefs, j, p)
        z_i = 2.0 * length_of_step(beliefs, i, beliefs, j, beliefs, i, p, root_i) / beliefs.nu[i]
        z_j = 2.0 * length_of_step(beliefs, i, beliefs, j, beliefs, j, p, root_j) / beliefs.nu[j]
        ratio = (root_i / root_j) * (root_i / root_j)
        apart = 0.5 * (z_i + z_j) + 0.5 * (ratio + 1.0 / ratio - 2.0)
        spread_i, spread_j = p / beliefs.nu[i] + 0.5 / chi[q * q, i], p / beliefs.nu[j] + 0.5 / chi[q * q, j]
        log_ratio = log(spread_i / spread_j)
        return apart + (spread_i + spread_j) * log_ratio * log_ratio

    def divergence(self, beliefs: Beliefs, i: int, others: Beliefs, j: int) -> float:
        p, q, chi = self.p, self.p + 1, beliefs.chi
        work, r_i, alpha_i, alpha_j = q * q + 1, chi[q * q - 1, i], chi[q * q, i], others.chi[q * q, j]
        coefficients(beliefs, i, p)
        coefficients(others, j, p)
        result = alpha_i * length_of_step(beliefs, i, others, j, others, j, p, r_i)
        for c in range(p):  # (tr(A_i^-1 A_j) - p - log det(A_i^-1 A_j)) / 2, by the columns of L_i^-1 L_j
            for r in range(c, p):
                value = others.chi[r * q + c, j]
                for k in range(c, r):
                    value -= chi[r * q + k, i] * chi[work + k, i]
                chi[work + r, i] = value / chi[r * q + r, i]
                result += 0.5 * chi[work + r, i] * chi[work + r, i]
            result -= 0.5 + log(chi[work + c, i])
        scale, more = others.chi[q * q - 1, j] / r_i, alpha_i - alpha_j
        shapes = more * digamma(alpha_i) - log_gamma_ratio(alpha_j, more)
        return result + shapes - 2.0 * alpha_j * log(scale) + alpha_i * (scale * scale - 1.0)

    def broad_scale(self, y: np.ndarray) -> float:
        """Of the Student's t that the prior predicts with these regressors."""
        widening = 1.0
        for r in range(self.p):
            widening += y[1 + r] * y[1 + r] / self.prior_weight(r)
        return math.sqrt(self.beta_0 * widening / self.alpha_0)

    def log_broad(self, spread: float, y: np.ndarray) -> float:
        return log_cauchy(y[0] - self.mu_0, spread * self.broad_scale(y))

    def broad_cdf(self, spread: float, y: np.ndarray, v: float, around: float) -> float:
        return cauchy_cdf(y[0] - self.mu_0, spread * self.broad_scale(y))

    def row_width(self) -> int:
        return 1 + self.p

    def in_row(self, row: np.ndarray, start: int) -> np.ndarray:
        return row[start : start + 1 + self.p]

    @python_only
    def improper_scaled_likelihood(self, values: np.ndarray) -> str | None:
        return "one observation's likelihood of coefficients and variance together has no finite integral"

    @python_only
    def context_width(self) -> int:
        return self.p

    @python_only
    def parameter_names(self) -> tuple[str, ...]:
        return (*(f"b[{k}]" for k in range(self.p)), "v")

    @python_only
    def observations(self, ys: object, given: object = None) -> tuple[np.ndarray, np.ndarray]:
        values, absent = real_observations("LinearRegression", ys)
        if given is None and not absent.all():
            raise TypeError(f"LinearRegression needs the regressors of all: given= with shape ({len(values)}, {self.p})")
        rows = np.zeros((len(values), 1 + self.p))
        rows[:, 0] = values
        if given is not None:
            rows[:, 1:] = regressors("LinearRegression", given, absent, self.p)
        return rows, absent

    @python_only
    def as_observed(self, values: np.ndarray) -> np.ndarray:
        return values[:, 0]

    @python_only
    def distribution(self, beliefs: Beliefs, i: int) -> Any:
        q = self.p + 1
        factor = beliefs.chi[: q * q, i].reshape(q, q)
        lower = factor[: self.p, : self.p]
        m = np.linalg.solve(lower.T, factor[self.p, : self.p])
        return NormalInverseGamma(m, lower, beliefs.chi[q * q, i], 0.5 * factor[self.p, self.p] ** 2)

    @python_only
    def sample_parameter(self, rng: np.random.Generator) -> np.ndarray:
        v = self.beta_0 / rng.standard_gamma(self.alpha_0)
        return np.array([*(rng.normal(0.0, math.sqrt(v / self.prior_weight(r))) for r in range(self.p)), v])

    @python_only
    def plausible(self, sequences: Sequence[np.ndarray]) -> LinearRegression:
        size, v, mu_0 = least_squares(sequences)
        return LinearRegression(self.p, v / size, ENOUGH, (ENOUGH - 1.0) * v, mu_0)

    @python_only
    def sample_segment(
        self, theta: np.ndarray, n: int, rng: np.random.Generator, given: np.ndarray | None, past: np.ndarray
    ) -> np.ndarray:
        if given is None:
            raise ValueError(f"LinearRegression needs the regressors to draw from: given= with shape ({n}, {self.p})")
        x = regressors("LinearRegression", given, np.zeros(n, dtype=bool), self.p)
        return self.mu_0 + row_by_row(x, theta[None, : self.p])[:, 0] + rng.normal(0.0, math.sqrt(theta[self.p]), n)

    @python_only
    def sample_broad_in(
        self, spread: float, n: int, rng: np.random.Generator, given: np.ndarray | None, past: np.ndarray
    ) -> np.ndarray:
        x = regressors("LinearRegression", given, np.zeros(n, dtype=bool), self.p)
        scale = np.sqrt(self.beta_0 * (1.0 + x * x @ [1.0 / self.prior_weight(r) for r in range(self.p)]) / self.alpha_0)
        return self.mu_0 + spread * scale * rng.standard_cauchy(n)
