"""Normal-inverse-gamma beliefs about a regression, as a Cholesky factor in the rows of a bank's column.

With q = p + 1 the factor stands in rows 0 ... q^2 - 1, row by row: L in its first p rows and columns, then (z, r); see
`LinearRegression`. Row q^2 is alpha, and those after it are room to work in.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from volatilis._compiler.registry import compiled_function
from volatilis.families._base import Beliefs
from volatilis.families._observations import noise_scale
from volatilis.families._wishart import add_outer_product, degrees_of_freedom
from volatilis.families.gaussian_unknown_variance import ENOUGH
from volatilis.special import log, log_minus_digamma

GROWN = 30.0  # times as far as the middle half of the observations, or as large as the noise: then a series has grown
COARSE = 0.02  # of the noise: the distance of neighbouring numbers beyond which it is rounded away
MOST_WINDOWS = 1000  # more would not say more


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


@compiled_function
def merge_regressions(beliefs: Beliefs, i: int, j: int, a: float, b: float, p: int) -> None:
    """`LinearRegression.merge`."""
    q, chi = p + 1, beliefs.chi
    m, apart, work = q * q + 1, q * q + 1 + p, q * q + 1 + 2 * p
    inverse, factor = work + p, work + p + p * p
    alpha_i, alpha_j = chi[q * q, i], chi[q * q, j]
    root_i, root_j = chi[q * q - 1, i] / math.sqrt(2.0 * alpha_i), chi[q * q - 1, j] / math.sqrt(2.0 * alpha_j)
    unit = min(root_i, root_j)  # precisions in units of the larger one
    w_i, w_j = (unit / root_i) * (unit / root_i), (unit / root_j) * (unit / root_j)
    w = a * w_i + b * w_j
    share = b * w_j / w
    gap = a * (log_minus_digamma(alpha_i) - log(w_i / w)) + b * (log_minus_digamma(alpha_j) - log(w_j / w))
    alpha = max(0.5 * degrees_of_freedom(gap, 1), min(alpha_i, alpha_j, ENOUGH))
    coefficients(beliefs, i, p)
    coefficients(beliefs, j, p)
    # A^-1 <- a A_i^-1 + b A_j^-1 + a w_i share (m_i - m_j)(m_i - m_j)^T, all as factors
    for row in range(2 * p * p):
        chi[inverse + row, i] = 0.0
    add_inverse(chi, i, 0, q, p, a, i, inverse, work)
    add_inverse(chi, j, 0, q, p, b, i, inverse, work)
    between = math.sqrt(a * w_i * share)
    for r in range(p):
        chi[apart + r, i] = chi[m + r, j] - chi[m + r, i]
        chi[work + r, i] = between * (chi[apart + r, i] / unit)
        chi[m + r, i] += share * chi[apart + r, i]
    add_outer_product(chi, inverse, p, i, work)
    add_inverse(chi, i, inverse, p, p, 1.0, i, factor, work)
    for c in range(p):
        value = 0.0
        for r in range(c, p):
            chi[r * q + c, i] = chi[factor + r * p + c, i]
            value += chi[factor + r * p + c, i] * chi[m + r, i]
        chi[p * q + c, i] = value  # z = L^T m
    chi[q * q - 1, i] = unit * math.sqrt(2.0 * alpha / w)
    chi[q * q, i] = alpha
    beliefs.nu[i] = 1.0 / (a / beliefs.nu[i] + b / beliefs.nu[j])


def least_squares(sequences: Sequence[np.ndarray]) -> tuple[float, float, float]:
    """Of rows (y, x): the mean square of the coefficients, not below what noise alone would let it be; the variance of what is
    left, from differences of neighbours; and its mean."""
    rows = np.concatenate(sequences)
    y, x = rows[:, 0], rows[:, 1:]
    b = np.linalg.lstsq(x - x.mean(axis=0), y - y.mean(), rcond=None)[0]
    left = [one[:, 0] - one[:, 1:] @ b for one in sequences]
    v = (noise_scale(np.concatenate([np.diff(one) for one in left])) or 1.0) ** 2
    return max(float(np.mean(b * b)), v / (float(np.mean(x * x)) or 1.0)), v, float(np.mean(y - x @ b))


class Stable(NamedTuple):
    """What windows of a series say that grows without end for a while: where it is otherwise, roughly, and the noise."""

    level: float
    spread: float
    v: float


def without_growth(sequences: Sequence[np.ndarray], order: int) -> Stable | None:
    """Of series in which coefficients beyond 1 let observations grow; None where they do not, so that moments tell enough.

    Each window has a regression of its own on its past. Medians over windows know nothing of how far the few that grow reach.
    """
    v, center = _windows(sequences, order)
    if not v.size:
        return None
    noise, centers = float(np.median(v)), center[np.isfinite(center)]
    values = np.concatenate(sequences)
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
    grows = float(np.std(values)) > GROWN * max(float(high - low), math.sqrt(noise))
    grows = grows or noise_scale(np.concatenate([np.diff(y) for y in sequences])) > GROWN * math.sqrt(noise) > 0.0
    if not (grows and noise > 0.0):
        return None
    level = float(np.median(centers)) if centers.size else float(middle)
    around = 1.4826 * float(np.median(np.abs(centers - level))) if centers.size else 0.0
    return Stable(level, max(around, math.sqrt(noise)), noise)


def far_for_noise(sequences: Sequence[np.ndarray], order: int) -> tuple[float, float]:
    """The noise where it is smallest, and how large numbers may be that have digits left for it; NaN where that is not known."""
    v, _ = _windows(sequences, order)
    noise = math.sqrt(float(np.quantile(v, 0.1))) if v.size else 0.0
    return (noise, COARSE * noise / float(np.finfo(float).eps)) if noise > 0.0 else (math.nan, math.nan)


def _windows(sequences: Sequence[np.ndarray], order: int) -> tuple[np.ndarray, np.ndarray]:
    """`_regressed` of windows one after the other."""
    length = 4 * (order + 2)
    windows = [y[at : at + length + order] for y in sequences for at in range(0, len(y) - length - order + 1, length)]
    regressed = [_regressed(y, order) for y in windows[:: 1 + len(windows) // MOST_WINDOWS]]
    return np.array([one[0] for one in regressed]), np.array([one[1] for one in regressed])


def _regressed(y: np.ndarray, order: int) -> tuple[float, float]:
    """Of one window the variance that its past leaves, and where it would settle: NaN where it would not, or anywhere."""
    unit = float(np.abs(y).max()) or 1.0
    x = np.stack([np.full(len(y) - order, 1.0), *(y[order - k - 1 : len(y) - k - 1] / unit for k in range(order))], axis=1)
    b = np.linalg.lstsq(x, y[order:] / unit, rcond=None)[0]
    left = (y[order:] / unit - x @ b) * unit
    away = 1.0 - float(b[1:].sum())
    center = unit * float(b[0]) / away if abs(b[1:]).sum() < 1.0 and away > 0.1 else math.nan
    return float(left @ left) / (len(left) - order - 1), center
