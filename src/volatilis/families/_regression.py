"""Normal-inverse-gamma beliefs about a regression, as a Cholesky factor in the rows of a bank's column.

With q = p + 1 the factor stands in rows 0 ... q^2 - 1, row by row: L in its first p rows and columns, then (z, r); see
`LinearRegression`. Row q^2 is alpha, and those after it are room to work in.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from volatilis._compiler.registry import compiled_function
from volatilis.families._base import Beliefs
from volatilis.families._wishart import add_outer_product


@compiled_function
def half_square(root: float, excess: float) -> float:
    """root^2 / 2 / excess, infinite where the moment does not exist."""
    return 0.5 * root * (root / excess) if excess > 0.0 else np.inf


@compiled_function
def coefficients(beliefs: Beliefs, i: int, p: int) -> None:
    """m = L^-T z, in the first rows that are room to work in."""
    q, chi = p + 1, beliefs.chi
    at = q * q + 1
    for back in range(p):
        r = p - 1 - back
        value = chi[p * q + r, i]
        for c in range(r + 1, p):
            value -= chi[c * q + r, i] * chi[at + c, i]
        chi[at + r, i] = value / chi[r * q + r, i]


@compiled_function
def length_of_step(beliefs: Beliefs, i: int, others: Beliefs, j: int, metric: Beliefs, k: int, p: int, unit: float) -> float:
    """(m_i - m_j)^T A_k (m_i - m_j) / unit^2 = |L_k^T (m_i - m_j)|^2 / unit^2, of coefficients just computed."""
    q, result = p + 1, 0.0
    at = q * q + 1
    for c in range(p):
        value = 0.0
        for r in range(c, p):
            value += metric.chi[r * q + c, k] * ((beliefs.chi[at + r, i] - others.chi[at + r, j]) / unit)
        result += value * value
    return result


@compiled_function
def add_inverse(
    chi: np.ndarray, source: int, first: int, width: int, p: int, weight: float, i: int, target: int, work: int
) -> None:
    """The factor at `target` of column i takes in weight (F F^T)^-1 of the p x p factor F of column `source`.

    F stands in rows of `width` numbers from `first` on. The rows of F^-1 are what is taken in, by rotations.
    """
    root = math.sqrt(weight)
    for r in range(p):
        for back in range(p):
            k = p - 1 - back
            value = 1.0 if k == r else 0.0
            for m in range(k + 1, r + 1):
                value -= chi[first + m * width + k, source] * chi[work + m, i]
            chi[work + k, i] = value / chi[first + k * width + k, source] if k <= r else 0.0
        for k in range(r + 1):
            chi[work + k, i] *= root
        add_outer_product(chi, target, p, i, work)


class NormalInverseGamma:
    """The joint belief about (b, v), with the methods of a SciPy distribution."""

    def __init__(self, m: np.ndarray, lower: np.ndarray, alpha: float, beta: float) -> None:
        from scipy import stats

        self._m, self._lower, self._variance = m, lower, stats.invgamma(alpha, scale=beta)

    def pdf(self, theta: npt.ArrayLike) -> np.ndarray:
        values = np.asarray(theta, dtype=float)
        b, v = values[..., :-1], values[..., -1]
        z = (b - self._m) @ self._lower / np.sqrt(v)[..., None]
        log_det = np.log(np.diagonal(self._lower)).sum()
        density = np.exp(log_det - 0.5 * (z * z).sum(axis=-1) - 0.5 * self._m.size * np.log(2.0 * math.pi * v))
        return density * self._variance.pdf(v)

    def rvs(self, size: int, random_state: np.random.Generator) -> np.ndarray:
        v = self._variance.rvs(size, random_state=random_state)
        z = random_state.standard_normal((size, self._m.size)) * np.sqrt(v)[:, None]
        return np.concatenate([self._m + np.linalg.solve(self._lower.T, z.T).T, v[:, None]], axis=1)
