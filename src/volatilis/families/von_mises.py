"""Directions with an unknown mean and known concentration: angles, times of day, any outcome that wraps."""

from __future__ import annotations

import functools
import math
from typing import Annotated, Any

import numpy as np

from volatilis._compiler.registry import compiled_function, python_only
from volatilis._core.fields import Real, Rule, Vector, derived
from volatilis._core.records import LOG, Range
from volatilis.families._base import AcceptedNumbers, Beliefs, not_faint
from volatilis.families._circular import CircularLaw
from volatilis.families._kinds import FamilyRecord, FamilyTuple, family
from volatilis.families._observations import real_observations
from volatilis.special import (
    FAR,
    ROUNDING,
    TURN,
    bessel_divergence,
    bessel_summary,
    concentration,
    cosine_and_sine,
    direction,
    exp_in_range,
    far_bessel,
    far_summary,
    fma,
    largest,
    log,
    near_bessel,
    total,
)

MOST_PERIODS = 2.0**40  # an observation further out is wrapped when it comes in, exactly; others where they are used
C, S, LENGTH, SQUARE, GAP, SHARE = range(6)  # the rows of chi

Concentration = Annotated[
    float, Rule(float, lambda v: 0.0 < v <= 1e15, "a number above 0, at most 1e15"), Range(LOG, 1e-2, 1e4, 1.0, 30.0)
]
PriorConcentration = Annotated[
    float, Rule(float, lambda v: 0.0 <= v <= 1e15, "a number from 0 (anywhere) to 1e15"), Range(LOG, 1e-4, 1e3, 0.05, 2.0)
]
Period = Annotated[float, Rule(float, lambda v: 1e-100 <= v <= 1e100, "a number from 1e-100 to 1e100, such as 360 for degrees")]


@family(
    FamilyRecord(
        name="vonmises",
        place=90,
        observes="a direction: a finite number, of which whole periods do not matter",
        likelihood=r"$y \sim \mathrm{vonMises}(\mu, \kappa)$, on a circle of the given period",
        theta=r"$\mu$ (`mu`)",
        prior=r"$\mu \sim \mathrm{vonMises}(\mu_0, \kappa_0)$; $\kappa_0 = 0$ is uniform",
    )
)
class VonMises(FamilyTuple):
    """y ~ vonMises(mu, kappa) on a circle, and mu ~ vonMises(mu_0, kappa_0) at each change; theta = mu.

    An observation is any finite number, in units in which `period` is once around. The belief is vonMises(mu, R), where
    (C, S) = R (cos mu, sin mu) is kappa times the sum of the observations' unit vectors plus kappa_0 times the prior's. Beside
    these chi holds R and what every use of it needs: (I0(R) e^-R)^2, 1 - A and A / R, where A = I1(R) / I0(R) is the length of
    the belief's mean vector.

    The mean is the direction of the mean vector, from 0 up to, not including, the period, for a mixture too (where there is none,
    as for a uniform prior, mu_0). The variance is the mean squared distance along a chord from there, 2 (1 - length)
    (period / 2 pi)^2: that of the numbers themselves where they are close together, and (period / 2 pi)^2 times 2 at most.

        kappa     the concentration of an observation: about 1 / (standard deviation in radians)^2
        mu_0      the prior direction of mu
        kappa_0   the prior concentration of mu; 0 is anywhere
        period    once around: 2 pi for radians, 360 for degrees, 24 for hours

    >>> import volatilis as vl
    >>> vl.run(vl.VarSMiLe(vl.VonMises(kappa=8.0, period=360.0), m=0.1), [350.0, 20.0, 6.0, 120.0]).mean.round(2)
    array([350.  ,   5.26,   5.52, 119.51])
    """

    kappa: Concentration
    mu_0: Real = 0.0
    kappa_0: PriorConcentration = 0.0
    period: Period = TURN
    start: Real = derived()  # mu_0 within the period
    prior_column: Vector = derived()  # of chi
    log_unit: Real = derived()  # -log(period I0(kappa) e^-kappa)
    information: Real = derived()  # of one observation about mu: kappa A(kappa)

    def rows(self) -> int:
        return 6

    def size(self) -> int:
        return 1

    def prior(self, beliefs: Beliefs, i: int) -> None:
        for row in range(6):
            beliefs.chi[row, i] = self.prior_column[row]
        beliefs.nu[i] = 0.0

    def log_predictive(self, beliefs: Beliefs, i: int, y: float) -> float:
        """log of I0(R') / (period I0(kappa) I0(R)), R' the length of (C, S) with y taken in."""
        c, s = unit_vector(y, self.period)
        ratio, exponent = taken_in(beliefs, i, c, s, self.kappa, length_after(beliefs, i, c, s, self.kappa))
        return 0.5 * log(ratio) + exponent + self.log_unit

    def predictives(self, beliefs: Beliefs, w: np.ndarray, n: int, y: float, out: np.ndarray) -> tuple[float, float]:
        c, s = unit_vector(y, self.period)
        for i in range(n):
            out[i] = length_after(beliefs, i, c, s, self.kappa)
        far = count_far(out, n)
        for i in range(far):
            ratio, exponent = taken_in_far(beliefs, i, c, s, self.kappa, out[i])
            out[i] = w[i] * (math.sqrt(ratio) * exp_in_range(exponent))
        for i in range(far, n):
            ratio, exponent = taken_in(beliefs, i, c, s, self.kappa, out[i])
            out[i] = w[i] * (math.sqrt(ratio) * exp_in_range(exponent))
        evidence, scale = total(out, n), self.log_unit
        if evidence < 1e-6:  # nobody expected y: again, in units of the likeliest
            for i in range(n):
                ratio, exponent = taken_in(beliefs, i, c, s, self.kappa, length_after(beliefs, i, c, s, self.kappa))
                out[i] = 0.5 * log(ratio) + exponent if w[i] > 0.0 else -np.inf
            top = largest(out, n)
            for i in range(n):
                out[i] = w[i] * exp_in_range(out[i] - top)
            return not_faint(out, n, top + self.log_unit)
        return evidence, scale

    def absorb(self, beliefs: Beliefs, i: int, y: float) -> None:
        c, s = unit_vector(y, self.period)
        set_vector(beliefs, i, fma(self.kappa, c, beliefs.chi[C, i]), fma(self.kappa, s, beliefs.chi[S, i]))
        beliefs.nu[i] += 1.0

    def absorb_all(self, beliefs: Beliefs, n: int, y: float) -> None:
        """The shorter way for those that are concentrated, as older beliefs, which come first, mostly are."""
        chi = beliefs.chi
        c, s = unit_vector(y, self.period)
        for i in range(n):
            chi[C, i] = fma(self.kappa, c, chi[C, i])
            chi[S, i] = fma(self.kappa, s, chi[S, i])
            chi[LENGTH, i] = math.sqrt(chi[C, i] * chi[C, i] + chi[S, i] * chi[S, i])
            beliefs.nu[i] += 1.0
        far = count_far(chi[LENGTH], n)
        for i in range(far):
            chi[SQUARE, i], chi[GAP, i], chi[SHARE, i] = far_summary(1.0 / chi[LENGTH, i])
        for i in range(far, n):
            chi[SQUARE, i], chi[GAP, i], chi[SHARE, i] = bessel_summary(chi[LENGTH, i])

    def blend(self, beliefs: Beliefs, i: int, others: Beliefs, j: int, a: float, b: float) -> None:
        c = a * beliefs.chi[C, i] + b * others.chi[C, j]
        s = a * beliefs.chi[S, i] + b * others.chi[S, j]
        set_vector(beliefs, i, c, s)
        beliefs.nu[i] = a * beliefs.nu[i] + b * others.nu[j]

    def mean(self, beliefs: Beliefs, i: int, k: int) -> float:
        return angle(beliefs.chi[C, i], beliefs.chi[S, i], self.period, self.start)

    def variance(self, beliefs: Beliefs, i: int, k: int) -> float:
        return chord_variance(beliefs.chi[GAP, i], self.period)

    def mixture_mean(self, beliefs: Beliefs, w: np.ndarray, n: int, k: int, room: np.ndarray) -> float:
        """The direction of the sum of the mean vectors."""
        for i in range(n):
            room[i] = w[i] * beliefs.chi[SHARE, i] * beliefs.chi[C, i]
        c = total(room, n)
        for i in range(n):
            room[i] = w[i] * beliefs.chi[SHARE, i] * beliefs.chi[S, i]
        return angle(c, total(room, n), self.period, self.start)

    def mixture_variance(self, beliefs: Beliefs, w: np.ndarray, n: int, k: int, mean: float, room: np.ndarray) -> float:
        """What the length of that sum lacks of 1: of each part what its own length lacks, and what it points aside."""
        c, s = unit_vector(mean, self.period)
        for i in range(n):
            room[i] = w[i] * fma(beliefs.chi[SHARE, i], aside(beliefs, i, c, s), beliefs.chi[GAP, i])
        return chord_variance(total(room, n), self.period)

    def difference(self, a: float, b: float) -> float:
        """The short way from b to a: from half a period back to half a period ahead."""
        apart = a - b
        return apart - self.period * (apart / self.period + ROUNDING - ROUNDING)

    def estimate(self, beliefs: Beliefs, i: int, k: int) -> float:
        return angle(beliefs.chi[C, i], beliefs.chi[S, i], self.period, self.start)

    def merge(self, beliefs: Beliefs, i: int, j: int, a: float, b: float) -> None:
        """Keeps the pair's mean vector. What its length lacks of 1 is computed apart: near 1 the length holds no digits of it."""
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

    def dissimilarity(self, beliefs: Beliefs, i: int, j: int, a: float, b: float) -> float:
        """Of the mean vectors, in units of what one observation tells: |m_i - m_j|^2 + (V_i + V_j) log^2(V_i / V_j)."""
        chi = beliefs.chi
        c = chi[SHARE, i] * chi[C, i] - chi[SHARE, j] * chi[C, j]
        s = chi[SHARE, i] * chi[S, i] - chi[SHARE, j] * chi[S, j]
        ratio = log(chi[GAP, i] / chi[GAP, j])
        return self.information * (c * c + s * s + 2.0 * (chi[GAP, i] + chi[GAP, j]) * ratio * ratio)

    def divergence(self, beliefs: Beliefs, i: int, others: Beliefs, j: int) -> float:
        """Of the concentrations, and A(R_i) R_j (1 - cos of the angle between) of the directions."""
        one, two = beliefs.chi, others.chi
        apart = vectors_apart(one[C, i], one[S, i], one[LENGTH, i], two[C, j], two[S, j], two[LENGTH, j])
        return bessel_divergence(one[LENGTH, i], two[LENGTH, j]) + one[SHARE, i] * apart

    def scaled_likelihood(self, beliefs: Beliefs, i: int, y: float) -> None:
        """vonMises(theta; y, kappa)."""
        c, s = unit_vector(y, self.period)
        set_vector(beliefs, i, self.kappa * c, self.kappa * s)
        beliefs.nu[i] = 1.0

    def log_density(self, beliefs: Beliefs, i: int, x: float) -> float:
        c, s = unit_vector(x, self.period)
        return -aside(beliefs, i, c, s) - 0.5 * log(beliefs.chi[SQUARE, i]) - log(self.period)

    def lower(self, beliefs: Beliefs, i: int) -> float:
        return self.mean(beliefs, i, 0) - self.period * reach(beliefs.chi[LENGTH, i])

    def upper(self, beliefs: Beliefs, i: int) -> float:
        return self.mean(beliefs, i, 0) + self.period * reach(beliefs.chi[LENGTH, i])

    def range_ends(self, cuts: np.ndarray) -> int:
        cuts[0] = 0.0
        cuts[1] = self.period
        return 2

    def within_range(self, x: float) -> float:
        x = x + self.period if x < 0.0 else x
        return x - self.period if x >= self.period else x

    @staticmethod
    def _derive(kappa: float, mu_0: float, kappa_0: float, period: float) -> dict[str, Any]:
        from scipy.special import i0e, i1e

        start = math.fmod(mu_0, period)
        start = start + period if start < 0.0 else start
        start = 0.0 if start >= period else start
        column, scaled = column_of_prior(start, kappa_0, period), float(i0e(kappa))
        log_unit, information = -math.log(period) - math.log(scaled), kappa * float(i1e(kappa)) / scaled
        return {"start": start, "prior_column": column, "log_unit": log_unit, "information": information}

    @python_only
    def parameter_names(self) -> tuple[str, ...]:
        return ("mu",)

    @python_only
    def observations(self, ys: Any) -> tuple[np.ndarray, np.ndarray]:
        values, missing = real_observations("VonMises", ys)
        far = np.abs(values) > MOST_PERIODS * self.period
        if far.any():
            values[far] = np.fmod(values[far], self.period)
        return values, missing

    @python_only
    def accepted_numbers(self) -> AcceptedNumbers:
        return AcceptedNumbers(-MOST_PERIODS * self.period, MOST_PERIODS * self.period)

    @python_only
    def invalid_state(self, chi: np.ndarray, nu: np.ndarray) -> str | None:
        """The other rows follow from C and S; a column that holds nothing yet is all zeros."""
        from scipy.special import ive

        if (nu < 0.0).any():
            return "a belief has a negative number of observations"
        c, s, length, square, gap, share = (chi[..., row, :] for row in range(6))
        some = chi.any(axis=-2)
        fits = np.abs(length - np.hypot(c, s)) <= 1e-9 * length + 1e-150
        fits &= np.abs(square - ive(0, length) ** 2) <= 1e-9 * square
        fits &= (np.abs(1.0 - gap - share * length) <= 1e-9) & (gap > 0.0) & (share > 0.0)
        return None if (fits | ~some).all() else "a belief's concentration does not fit its direction"

    @python_only
    def distribution(self, beliefs: Beliefs, i: int) -> CircularLaw:
        return CircularLaw(self.mean(beliefs, i, 0), float(beliefs.chi[LENGTH, i]), self.period)

    @python_only
    def sample_parameter(self, rng: np.random.Generator) -> np.ndarray:
        return CircularLaw(self.start, self.kappa_0, self.period).rvs(1, rng)

    @python_only
    def sample_observations(self, theta: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
        return CircularLaw(float(theta[0]), self.kappa, self.period).rvs(n, rng)


@functools.lru_cache(maxsize=1024)
def column_of_prior(start: float, kappa_0: float, period: float) -> np.ndarray:
    """The rows of chi of a prior. Remembered, since a fit makes thousands of families and in Python this takes a moment."""
    beliefs = Beliefs(np.zeros((6, 1)), np.zeros(1))
    c, s = unit_vector(start, period)
    set_vector(beliefs, 0, kappa_0 * c, kappa_0 * s)
    return beliefs.chi[:, 0]


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
def chord_variance(gap: float, period: float) -> float:
    """2 (1 - length), in units of the period."""
    return 2.0 * gap * (period / TURN) * (period / TURN)


@compiled_function
def reach(length: float) -> float:
    """Periods to each side of the mean that leave out less than 1e-16 of a belief: half of one where it is broad.

    Beyond w the density is at most e^(-2 R sin^2(w / 2)) of the highest. asin(x) <= x + (pi / 2 - 1) x^3 from 0 to 1.
    """
    x = math.sqrt(20.0 / (length if length > 20.0 else 20.0))
    return 2.0 * (x + (math.pi / 2.0 - 1.0) * x * x * x) / TURN
