"""Directions with an unknown mean and known concentration: angles, times of day, any outcome that wraps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from volatilis._compiler.registry import python_only
from volatilis._core.fields import Real, Vector, derived
from volatilis.families._base import AcceptedNumbers, Beliefs
from volatilis.families._circular import (
    GAP,
    LENGTH,
    SHARE,
    SQUARE,
    C,
    Concentration,
    Period,
    PriorConcentration,
    S,
    angle,
    aside,
    cdf_from_antipode,
    chord_variance,
    constants_of,
    invalid_vectors,
    merge_vectors,
    pooled_gap,
    pooled_vector,
    reach,
    set_vector,
    unit_vector,
    vectors_apart,
)
from volatilis.families._circular_step import take_in_all, taken_in_by, weigh_by_vectors
from volatilis.families._kinds import FamilyRecord, FamilyTuple, family
from volatilis.families._laws import CircularLaw
from volatilis.families._observations import noise_scale, real_observations
from volatilis.special import (
    ROUNDING,
    TURN,
    bessel_divergence,
    exp_in_range,
    fma,
    largest,
    log,
    not_faint,
    total,
)

MOST_PERIODS = 2.0**40  # an observation further out is wrapped when it comes in, exactly; others where they are used


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
        ratio, exponent = taken_in_by(beliefs, i, c, s, self.kappa)
        return 0.5 * log(ratio) + exponent + self.log_unit

    def predictives(self, beliefs: Beliefs, w: np.ndarray, n: int, y: float, out: np.ndarray) -> tuple[float, float]:
        c, s = unit_vector(y, self.period)
        weigh_by_vectors(beliefs, w, n, c, s, self.kappa, out)
        evidence, scale = total(out, n), self.log_unit
        if evidence < 1e-6:  # nobody expected y: again, in units of the likeliest
            for i in range(n):
                ratio, exponent = taken_in_by(beliefs, i, c, s, self.kappa)
                out[i] = 0.5 * log(ratio) + exponent if w[i] > 0.0 else -np.inf
            top = largest(out, n)
            for i in range(n):
                out[i] = w[i] * exp_in_range(out[i] - top)
            return not_faint(out, n, top + self.log_unit)
        return evidence, scale

    def predictive_cdf(self, beliefs: Beliefs, i: int, y: float, k: int, v: float, around: float) -> float:
        """From the antipode of `around` upwards, as the belief's own middle sees both."""
        return cdf_from_antipode(self, beliefs, i, y, around)

    def absorb(self, beliefs: Beliefs, i: int, y: float) -> None:
        c, s = unit_vector(y, self.period)
        set_vector(beliefs, i, fma(self.kappa, c, beliefs.chi[C, i]), fma(self.kappa, s, beliefs.chi[S, i]))
        beliefs.nu[i] += 1.0

    def absorb_all(self, beliefs: Beliefs, n: int, y: float) -> None:
        """The shorter way for those that are concentrated, as older beliefs, which come first, mostly are."""
        c, s = unit_vector(y, self.period)
        take_in_all(beliefs, n, c, s, self.kappa)

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

    def pooled_mean(self, means: np.ndarray, variances: np.ndarray, w: np.ndarray, n: int) -> float:
        """The direction of the sum of the mean vectors, whose lengths the variances tell."""
        x, z = pooled_vector(means, variances, w, n, self.period)
        return angle(x, z, self.period, self.start)

    def pooled_variance(self, means: np.ndarray, variances: np.ndarray, w: np.ndarray, n: int, mean: float) -> float:
        return chord_variance(pooled_gap(self, means, variances, w, n, mean), self.period)

    def difference(self, a: float, b: float) -> float:
        """The short way from b to a: from half a period back to half a period ahead."""
        apart = a - b
        return apart - self.period * (apart / self.period + ROUNDING - ROUNDING)

    def circumference(self) -> float:
        return self.period

    def estimate(self, beliefs: Beliefs, i: int, k: int) -> float:
        return angle(beliefs.chi[C, i], beliefs.chi[S, i], self.period, self.start)

    def merge(self, beliefs: Beliefs, i: int, j: int, a: float, b: float) -> None:
        """Keeps the pair's mean vector. What its length lacks of 1 is computed apart: near 1 the length holds no digits of it."""
        merge_vectors(beliefs, i, j, a, b)

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
        return constants_of(kappa, mu_0, kappa_0, period)

    def log_broad(self, spread: float, y: float) -> float:
        """Uniform."""
        return -log(self.period)

    def broad_cdf(self, spread: float, y: float, v: float, around: float) -> float:
        return 0.5 + self.difference(y, around) / self.period

    @python_only
    def sample_broad(self, spread: float, n: int, rng: np.random.Generator) -> np.ndarray:
        return rng.random(n) * self.period

    @python_only
    def broad_has_spread(self) -> bool:
        return False

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
        return invalid_vectors(chi, nu)

    @python_only
    def distribution(self, beliefs: Beliefs, i: int) -> CircularLaw:
        return CircularLaw(self.mean(beliefs, i, 0), float(beliefs.chi[LENGTH, i]), self.period)

    @python_only
    def plausible(self, sequences: Sequence[np.ndarray]) -> VonMises:
        apart = np.concatenate([np.diff(y) for y in sequences])
        spread = noise_scale(apart - self.period * np.round(apart / self.period)) * TURN / self.period
        return VonMises(1.0 / max(spread * spread, 1e-8), self.mu_0, 0.0, self.period)

    @python_only
    def sample_parameter(self, rng: np.random.Generator) -> np.ndarray:
        return CircularLaw(self.start, self.kappa_0, self.period).rvs(1, rng)

    @python_only
    def sample_observations(self, theta: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
        return CircularLaw(float(theta[0]), self.kappa, self.period).rvs(n, rng)
