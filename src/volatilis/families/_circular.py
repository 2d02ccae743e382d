"""What `VonMises` is made of: beliefs about a direction as vectors, for compiled code, and the distribution, as SciPy has them.

The vectors come with what every use of them needs, in the rows of chi: see `VonMises`.
"""

from __future__ import annotations

import functools
import math
from typing import Annotated, Any

import numpy as np

from volatilis._compiler.registry import compiled_function
from volatilis._core.fields import Rule
from volatilis._core.records import LOG, Range
from volatilis.families._base import Beliefs, Observation
from volatilis.special import (
    ROUNDING,
    TURN,
    bessel_summary,
    concentration,
    cosine_and_sine,
    direction,
    exp_in_range,
    fma,
)
from volatilis.special.bessel import NODES as EIGHT
from volatilis.special.bessel import WEIGHTS as OF_EIGHT

C, S, LENGTH, SQUARE, GAP, SHARE = range(6)  # the rows of chi

Concentration = Annotated[
    float, Rule(float, lambda v: 0.0 < v <= 1e15, "a number above 0, at most 1e15"), Range(LOG, 1e-2, 1e4, 1.0, 30.0)
]
PriorConcentration = Annotated[
    float, Rule(float, lambda v: 0.0 <= v <= 1e15, "a number from 0 (anywhere) to 1e15"), Range(LOG, 1e-4, 1e3, 0.05, 2.0)
]
Period = Annotated[float, Rule(float, lambda v: 1e-100 <= v <= 1e100, "a number from 1e-100 to 1e100, such as 360 for degrees")]


# --- vectors -----------------------------------------------------------------------------------------------------------


@compiled_function
def unit_vector(y: float, period: float) -> tuple[float, float]:
    """Cosine and sine of the direction y, at most `MOST_PERIODS` away. Without branches: a loop over beliefs takes it out."""
    periods = y / period + ROUNDING - ROUNDING
    return cosine_and_sine(fma(-periods, period, y) / period)


@compiled_function
def angle(c: float, s: float, period: float, undefined: float) -> float:
    """The direction of a vector, from 0 up to, not including, the period."""
    return undefined if c == 0.0 and s == 0.0 else direction(c, s) * period


@compiled_function
def set_vector(beliefs: Beliefs, i: int, c: float, s: float) -> None:
    length = math.sqrt(c * c + s * s)
    beliefs.chi[C, i] = c
    beliefs.chi[S, i] = s
    beliefs.chi[LENGTH, i] = length
    beliefs.chi[SQUARE, i], beliefs.chi[GAP, i], beliefs.chi[SHARE, i] = bessel_summary(length)


@compiled_function
def aside(beliefs: Beliefs, i: int, c: float, s: float) -> float:
    """R (1 - cos of the angle between the belief's direction and the unit vector (c, s))."""
    return vectors_apart(beliefs.chi[C, i], beliefs.chi[S, i], beliefs.chi[LENGTH, i], c, s, 1.0)


@compiled_function
def vectors_apart(a: float, b: float, length: float, c: float, d: float, other: float) -> float:
    """|(a, b)| |(c, d)| (1 - cos of the angle between), their lengths given."""
    above, below = aside_parts(a, b, length, c, d, other)
    return above / below


@compiled_function
def aside_parts(a: float, b: float, length: float, c: float, d: float, other: float) -> tuple[float, float]:
    """The same as a fraction: from the sine where the angle is below a quarter turn, since 1 - cos would lose digits."""
    along, both = fma(a, c, b * d), length * other
    product = b * c
    across = fma(a, d, -product) + fma(-b, c, product)  # a d - b c, rounded as if exact (Kahan)
    return (across * across if along > 0.0 else both - along), (both + along if along > 0.0 else 1.0)


@compiled_function
def predictive_width(kappa: float, length: float, period: float) -> float:
    """About the standard deviation of the predictive: 1 / kappa and 1 / R add up; no more than a quarter of the period."""
    return period / TURN * min(math.sqrt(1.0 / kappa + 1.0 / (length if length > 1e-3 else 1e-3)), 0.25 * TURN)


@compiled_function
def share_beside(
    family: Observation, beliefs: Beliefs, i: int, middle: float, width: float, offset: float, period: float
) -> float:
    """The predictive's share between its middle and an offset, with the offset's sign: quadrature, eight nodes for two widths."""
    far, result = abs(offset), 0.0
    if far >= min(14.0 * width, 0.5 * period):
        result = 0.5
    else:
        pieces = int(0.5 * far / width) + 1
        for piece in range(pieces):
            for j in range(4):
                for side in range(2):
                    x = (piece + (EIGHT[j] if side == 0 else 1.0 - EIGHT[j])) * far / pieces
                    result += OF_EIGHT[j] * exp_in_range(family.log_predictive(beliefs, i, middle + x)) * far / pieces
    return result if offset > 0.0 else -result


@compiled_function
def chord_variance(gap: float, period: float) -> float:
    """2 (1 - length), in units of the period."""
    return 2.0 * gap * (period / TURN) * (period / TURN)


@compiled_function
def chord_gap(variance: float, period: float) -> float:
    """What a length lacks of 1, from the variance."""
    return 0.5 * variance * (TURN / period) * (TURN / period)


@compiled_function
def reach(length: float) -> float:
    """Periods to each side of the mean that leave out less than 1e-16 of a belief: half of one where it is broad.

    Beyond w the density is at most e^(-2 R sin^2(w / 2)) of the highest. asin(x) <= x + (pi / 2 - 1) x^3 from 0 to 1.
    """
    x = math.sqrt(20.0 / (length if length > 20.0 else 20.0))
    return 2.0 * (x + (math.pi / 2.0 - 1.0) * x * x * x) / TURN


@functools.lru_cache(maxsize=1024)
def column_of_prior(start: float, kappa_0: float, period: float) -> np.ndarray:
    """The rows of chi of a prior. Remembered, since a fit makes thousands of families and in Python this takes a moment."""
    beliefs = Beliefs(np.zeros((6, 1)), np.zeros(1))
    c, s = unit_vector(start, period)
    set_vector(beliefs, 0, kappa_0 * c, kappa_0 * s)
    return beliefs.chi[:, 0]


def invalid_vectors(chi: np.ndarray, nu: np.ndarray) -> str | None:
    """What is wrong with columns from a state file. All rows follow from C and S; one that holds nothing yet is all zeros."""
    from scipy.special import ive

    if (nu < 0.0).any():
        return "a belief has a negative number of observations"
    c, s, length, square, gap, share = (chi[..., row, :] for row in range(6))
    some = chi.any(axis=-2)
    fits = np.abs(length - np.hypot(c, s)) <= 1e-9 * length + 1e-150
    fits &= np.abs(square - ive(0, length) ** 2) <= 1e-9 * square
    fits &= (np.abs(1.0 - gap - share * length) <= 1e-9) & (gap > 0.0) & (share > 0.0)
    return None if (fits | ~some).all() else "a belief's concentration does not fit its direction"


@compiled_function
def merge_vectors(beliefs: Beliefs, i: int, j: int, a: float, b: float) -> None:
    """`VonMises.merge`."""
    chi = beliefs.chi
    c = a * chi[SHARE, i] * chi[C, i] + b * chi[SHARE, j] * chi[C, j]
    s = a * chi[SHARE, i] * chi[S, i] + b * chi[SHARE, j] * chi[S, j]
    length = math.sqrt(c * c + s * s)
    gap = a * chi[GAP, i] + b * chi[GAP, j]  # of the weighted lengths
    apart = vectors_apart(chi[C, i], chi[S, i], chi[LENGTH, i], chi[C, j], chi[S, j], chi[LENGTH, j])
    squared_gap = gap * (2.0 - gap) + 2.0 * (a * chi[SHARE, i]) * (b * chi[SHARE, j]) * apart  # 1 - length^2
    factor = concentration(length, squared_gap / (1.0 + length)) / (length if length > 0.0 else 1.0)
    set_vector(beliefs, i, factor * c, factor * s)
    beliefs.nu[i] = a * beliefs.nu[i] + b * beliefs.nu[j]


def constants_of(kappa: float, mu_0: float, kappa_0: float, period: float) -> dict[str, Any]:
    """What a `VonMises` computes once from its parameters."""
    from scipy.special import i0e, i1e

    start = math.fmod(mu_0, period)
    start = start + period if start < 0.0 else start
    start = 0.0 if start >= period else start
    column, scaled = column_of_prior(start, kappa_0, period), float(i0e(kappa))
    log_unit, information = -math.log(period) - math.log(scaled), kappa * float(i1e(kappa)) / scaled
    return {"start": start, "prior_column": column, "log_unit": log_unit, "information": information}


@compiled_function
def pooled_vector(means: np.ndarray, variances: np.ndarray, w: np.ndarray, n: int, period: float) -> tuple[float, float]:
    """The weighted sum of mean vectors."""
    x, z = 0.0, 0.0
    for i in range(n):
        c, s = unit_vector(means[i], period)
        length = w[i] * (1.0 - chord_gap(variances[i], period))
        x += length * c
        z += length * s
    return x, z


@compiled_function
def cdf_from_antipode(family: Any, beliefs: Beliefs, i: int, y: float, around: float) -> float:
    """`VonMises.predictive_cdf`."""
    middle = angle(beliefs.chi[C, i], beliefs.chi[S, i], family.period, family.start)
    width = predictive_width(family.kappa, beliefs.chi[LENGTH, i], family.period)
    to_y, to_cut = family.difference(y, middle), family.difference(around + 0.5 * family.period, middle)
    below_y = share_beside(family, beliefs, i, middle, width, to_y, family.period)
    below_cut = share_beside(family, beliefs, i, middle, width, to_cut, family.period)
    return min(max(below_y - below_cut + (0.0 if to_y >= to_cut else 1.0), 0.0), 1.0)


@compiled_function
def pooled_gap(family: Any, means: np.ndarray, variances: np.ndarray, w: np.ndarray, n: int, mean: float) -> float:
    """What the length of a weighted sum of mean vectors lacks of 1."""
    result = 0.0
    for i in range(n):
        gap = chord_gap(variances[i], family.period)
        half = unit_vector(0.5 * family.difference(means[i], mean), family.period)[1]
        result += w[i] * (gap + (1.0 - gap) * 2.0 * half * half)
    return result
