"""What `VonMises` is made of: beliefs about a direction as vectors, for compiled code, and the distribution, as SciPy has them.

The vectors come with what every use of them needs, in the rows of chi: see `VonMises`.
"""

from __future__ import annotations

import functools
import math
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from volatilis._compiler.registry import compiled_function
from volatilis._core.fields import Rule
from volatilis._core.records import LOG, Range
from volatilis.families._base import Beliefs, Observation
from volatilis.special import (
    FAR,
    ROUNDING,
    TURN,
    bessel_summary,
    cosine_and_sine,
    direction,
    exp_in_range,
    far_bessel,
    fma,
    near_bessel,
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

NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)


class CircularLaw:
    """The von Mises distribution on [0, period), with mean direction `mean` and concentration `kappa`.

    The distribution function counts from 0 to the period.
    """

    def __init__(self, mean: float, kappa: float, period: float) -> None:
        self.direction, self.kappa, self.period = mean, kappa, period

    def logpdf(self, x: npt.ArrayLike) -> Any:
        from scipy.special import i0e

        half = np.sin(math.pi * (np.asarray(x, dtype=float) - self.direction) / self.period)
        return -2.0 * self.kappa * half * half - np.log(self.period * i0e(self.kappa))

    def pdf(self, x: npt.ArrayLike) -> Any:
        return np.exp(self.logpdf(x))

    def cdf(self, x: npt.ArrayLike) -> Any:
        """The share of the distribution from 0 to x, which is within the period: Gauss-Legendre, piece by piece."""
        points = np.asarray(x, dtype=float)
        shares = np.array([self._share(min(max(float(point), 0.0), self.period)) for point in points.ravel()])
        return shares.reshape(points.shape)[()]

    def ppf(self, q: npt.ArrayLike) -> Any:
        """The x with cdf(x) = q."""
        from scipy.optimize import brentq

        def one(level: float) -> float:
            if level <= 0.0 or level >= 1.0:
                return 0.0 if level <= 0.0 else self.period
            return float(brentq(lambda x: self._share(x) - level, 0.0, self.period, xtol=1e-15 * self.period, rtol=1e-15))

        levels = np.asarray(q, dtype=float)
        return np.array([one(float(level)) for level in levels.ravel()]).reshape(levels.shape)[()]

    def rvs(self, size: int, random_state: np.random.Generator) -> np.ndarray:
        unit = self.period / (2.0 * math.pi)
        draws = np.mod(self.direction + random_state.vonmises(0.0, self.kappa, size) * unit, self.period)
        return np.where(draws >= self.period, 0.0, draws)

    def _share(self, x: float) -> float:
        """The integral of the density from 0 to x, cut around the peaks so that 40 nodes are enough for each piece."""
        spread = self.period / (2.0 * math.pi * math.sqrt(max(self.kappa, 1.0)))
        around = [
            self.direction + turn * self.period + k * spread for turn in (-1, 0, 1) for k in (-40, -12, -6, -2, 0, 2, 6, 12, 40)
        ]
        edges = np.array([0.0, *sorted(point for point in around if 0.0 < point < x), x])
        half, middle = 0.5 * np.diff(edges), 0.5 * (edges[1:] + edges[:-1])
        return float((self.pdf(middle[:, None] + half[:, None] * NODES) @ WEIGHTS) @ half)


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
def length_after(beliefs: Beliefs, i: int, c: float, s: float, kappa: float) -> float:
    """R', the length with the unit vector (c, s) taken in kappa times."""
    x, z = fma(kappa, c, beliefs.chi[C, i]), fma(kappa, s, beliefs.chi[S, i])
    return math.sqrt(x * x + z * z)


@compiled_function
def count_far(lengths: np.ndarray, n: int) -> int:
    """How many come before the first, in eights, whose Bessel functions are from the power series."""
    first = n
    for i in range(n):
        place = i if lengths[i] < FAR else n
        first = place if place < first else first
    return first & -8


@compiled_function
def taken_in(beliefs: Beliefs, i: int, c: float, s: float, kappa: float, after: float) -> tuple[float, float]:
    """(ratio, exponent) with I0(R') / I0(R) = sqrt(ratio) e^(exponent + kappa); after is R'."""
    ratio, exponent = taken_in_far(beliefs, i, c, s, kappa, after)
    bessel = near_bessel(after if after < FAR else FAR)
    ratio = bessel * bessel / beliefs.chi[SQUARE, i] if after < FAR else ratio
    return ratio, (exponent - after if after < FAR else exponent)


@compiled_function
def taken_in_far(beliefs: Beliefs, i: int, c: float, s: float, kappa: float, after: float) -> tuple[float, float]:
    """The same where R' is 16 or more.

    The exponent R' - kappa - R is -2 kappa (R - (C, S) . (c, s)) / (R' + kappa + R): the difference itself would lose digits.
    """
    square = beliefs.chi[SQUARE, i]
    common = 1.0 / ((after if after > FAR else FAR) * square)  # one division for both
    bessel = far_bessel(common * square)
    above, below = aside_parts(beliefs.chi[C, i], beliefs.chi[S, i], beliefs.chi[LENGTH, i], c, s, 1.0)
    return bessel * bessel * common, -2.0 * kappa * above / (below * (after + kappa + beliefs.chi[LENGTH, i]))


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
