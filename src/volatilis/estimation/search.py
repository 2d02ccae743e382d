"""The highest point of the evidence, how sharp it is, and how far it reaches.

Quasi-Newton search from the best of a few points; there the curvature by differences, for errors and a last step of Newton's.
An interval is the quadratic one where the evidence falls as a parabola does; where not, its ends are searched (profile).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from volatilis._core.records import LOG, LOGIT
from volatilis.estimation.coordinates import Coordinate

Values = Callable[[Sequence[np.ndarray]], np.ndarray]  # minus the log evidence, less the log prior, of several points at once
STEP = 1e-3  # of differences, in a search
DROP = 1.9207  # nats below the highest point: the ends of a 95 % interval
STEEP = 2.995732  # nats, -log 0.05: beyond it a one-sided bound, where the highest point is at the end of the range
PARABOLA = (0.7, 1.45)  # what falls at the quadratic interval's ends, as a share of a parabola's: within this it is one
FEWEST_DRAWS = 3.0  # of a prior: with fewer an interval would have no end
CEILING = 1e12


class Peak(NamedTuple):
    """The highest point: its coordinates, minus its height, the covariance there (NaN where it is flat) and the intervals."""

    u: np.ndarray
    value: float
    covariance: np.ndarray
    low: np.ndarray
    high: np.ndarray
    at_end: np.ndarray  # whether the highest point is where the range ends


def highest(values: Values, coordinates: Sequence[Coordinate], starts: Sequence[np.ndarray], searches: int = 2) -> np.ndarray:
    """From the best of these starting points; as many searches."""
    from scipy.optimize import minimize

    low, high = np.array([c.low for c in coordinates]), np.array([c.high for c in coordinates])
    starts = [np.clip(start, low, high) for start in starts]
    order = np.argsort(values(starts), kind="stable")

    def with_slope(u: np.ndarray) -> tuple[float, np.ndarray]:
        steps = [sign * STEP * e for e in np.eye(u.size) for sign in (1.0, -1.0)]
        found = np.minimum(values([u, *(u + step for step in steps)]), CEILING)
        return float(found[0]), (found[1::2] - found[2::2]) / (2.0 * STEP)

    best, lowest = starts[order[0]], math.inf
    for start in [starts[i] for i in order[:searches]]:
        found = minimize(
            with_slope, start, jac=True, method="L-BFGS-B", bounds=list(zip(low, high, strict=True)),
            options={"maxiter": 200, "ftol": 1e-11, "gtol": 1e-4},
        )  # fmt: skip
        if found.fun < lowest:
            best, lowest = found.x, float(found.fun)
    return best


def described(values: Values, coordinates: Sequence[Coordinate], u: np.ndarray) -> Peak:
    """The highest point near u, with its errors; its intervals are not yet known."""
    low, high = np.array([c.low for c in coordinates]), np.array([c.high for c in coordinates])
    at_end = (u < low + 0.05) | (u > high - 0.05)
    inside = np.flatnonzero(~at_end)
    value = float(values([u])[0])
    covariance = np.full((u.size, u.size), np.nan)
    for _ in range(2):
        slope, curvature = _derivatives(values, u, value, inside)
        inverse = _inverse(curvature)
        if inverse is None:
            break
        covariance[np.ix_(inside, inside)] = inverse
        step = np.zeros(u.size)
        step[inside] = -inverse @ slope
        moved = np.clip(u + step, low, high)
        there = float(values([moved])[0])
        if not there < value - 1e-7:
            break
        u, value = moved, there
    return Peak(u, value, covariance, np.full(u.size, np.nan), np.full(u.size, np.nan), at_end)


def _derivatives(values: Values, u: np.ndarray, value: float, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slope and curvature by central differences, with steps over which the evidence falls by about a quarter nat."""
    steps = np.full(free.size, 0.05)
    for _ in range(2):
        moves = [_moved(u, {free[i]: sign * steps[i]}) for i in range(free.size) for sign in (1.0, -1.0)]
        found = values(moves)
        up, down = found[0::2], found[1::2]
        bend = (up + down - 2.0 * value) / steps**2
        steps = np.clip(np.where(bend > 0.0, 0.7 / np.sqrt(np.maximum(bend, 1e-12)), 0.5), 1e-3, 0.5)
    moves = [_moved(u, {free[i]: sign * steps[i]}) for i in range(free.size) for sign in (1.0, -1.0)]
    pairs = [(i, j) for i in range(free.size) for j in range(i)]
    signs = ((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0))
    moves += [_moved(u, {free[i]: a * steps[i], free[j]: b * steps[j]}) for i, j in pairs for a, b in signs]
    found = values(moves)
    up, down = found[0 : 2 * free.size : 2], found[1 : 2 * free.size : 2]
    curvature = np.diag((up + down - 2.0 * value) / steps**2)
    for number, (i, j) in enumerate(pairs):
        pp, pm, mp, mm = found[2 * free.size + 4 * number : 2 * free.size + 4 * number + 4]
        curvature[i, j] = curvature[j, i] = (pp - pm - mp + mm) / (4.0 * steps[i] * steps[j])
    return (up - down) / (2.0 * steps), curvature


def _moved(u: np.ndarray, by: dict[int, float]) -> np.ndarray:
    moved = u.copy()
    for i, step in by.items():
        moved[i] += step
    return moved


def _inverse(curvature: np.ndarray) -> np.ndarray | None:
    """None where the evidence does not fall in every direction."""
    if not np.isfinite(curvature).all() or curvature.size == 0:
        return None
    try:
        np.linalg.cholesky(curvature)
    except np.linalg.LinAlgError:
        return None
    return np.linalg.inv(curvature)


# --- intervals -----------------------------------------------------------------------------------------------------------


def with_intervals(values: Values, coordinates: Sequence[Coordinate], peak: Peak, draws: float, searched: Sequence[bool]) -> Peak:
    """`draws` says how many draws of the prior there were; the intervals that are not searched are quadratic."""
    low, high = peak.u.copy(), peak.u.copy()
    for i, one in enumerate(coordinates):
        drop = STEEP if peak.at_end[i] else drop_of(one, float(peak.covariance[i, i]), draws)
        if searched[i]:
            low[i], high[i] = (_end(values, coordinates, peak, i, sign, drop) for sign in (-1.0, 1.0))
        else:
            reach = math.sqrt(2.0 * drop * peak.covariance[i, i]) if peak.covariance[i, i] > 0.0 else math.inf
            low[i], high[i] = max(peak.u[i] - reach, one.low), min(peak.u[i] + reach, one.high)
    return peak._replace(low=low, high=high)


def drop_of(one: Coordinate, variance: float, draws: float) -> float:
    """How far the evidence falls at the ends of an interval: 1.92 nats where much is known.

    What is known of a prior rests on as many draws of it as there were changes and beginnings; with n of them the interval is
    that of Student's t with n - 1 degrees of freedom, sqrt(n / (n - 1)) times as wide. A size, such as that of the noise, whose
    logarithm has the variance 1 / (2 n), rests on n. Probabilities have the usual interval.
    """
    from scipy.stats import t

    if one.scale == LOGIT.name:
        return DROP
    told = 0.5 / variance if one.scale == LOG.name and variance > 0.0 else 0.0
    n = max(draws, told, FEWEST_DRAWS)
    return 0.5 * float(t.ppf(0.975, n - 1.0)) ** 2 * n / (n - 1.0)


def _end(values: Values, coordinates: Sequence[Coordinate], peak: Peak, i: int, sign: float, drop: float) -> float:
    """One end of an interval: of the parabola, if the evidence is one; else where the profile has fallen far enough."""
    bounds = coordinates[i].low, coordinates[i].high
    if peak.at_end[i] and (sign < 0.0) == (peak.u[i] - bounds[0] < bounds[1] - peak.u[i]):
        return bounds[0] if sign < 0.0 else bounds[1]
    variance = peak.covariance[i, i]
    if np.isfinite(variance) and not peak.at_end[i]:
        reach = math.sqrt(2.0 * drop * variance)
        along = peak.covariance[:, i] / variance * (sign * reach)  # the others follow as the parabola says
        end = peak.u + np.where(np.isfinite(along), along, 0.0)
        if bounds[0] < end[i] < bounds[1]:
            fallen = float(values([end])[0]) - peak.value
            if PARABOLA[0] < fallen / drop < PARABOLA[1]:
                return float(peak.u[i] + sign * reach * math.sqrt(drop / fallen))
    return profile_end(values, coordinates, peak, i, sign, drop)


def profile_end(values: Values, coordinates: Sequence[Coordinate], peak: Peak, i: int, sign: float, drop: float) -> float:
    """Where the profile of coordinate i has fallen by `drop`, in one direction; the range's end where it never does."""
    bound = coordinates[i].low if sign < 0.0 else coordinates[i].high
    inner, outer, u = 0.0, abs(bound - peak.u[i]), peak.u.copy()
    step = min(math.sqrt(2.0 * drop * peak.covariance[i, i]) if np.isfinite(peak.covariance[i, i]) else 0.5, 1.0)
    at, reached = min(step, outer), False
    for _ in range(40):
        value, u = lowest_given(values, coordinates, u, i, peak.u[i] + sign * at)
        if value - peak.value > drop:
            outer, reached = at, True
        else:
            inner = at
        if at >= abs(bound - peak.u[i]) and not reached:
            return bound
        if reached and outer - inner < 0.02 * outer + 1e-3:
            break
        at = 0.5 * (inner + outer) if reached else min(2.0 * at, abs(bound - peak.u[i]))
    return float(peak.u[i] + sign * 0.5 * (inner + outer))


def lowest_given(
    values: Values, coordinates: Sequence[Coordinate], u: np.ndarray, i: int, fixed: float
) -> tuple[float, np.ndarray]:
    """The lowest value with coordinate i fixed, and where it is."""
    u = _moved(u, {i: fixed - u[i]})
    if u.size == 1:
        return float(values([u])[0]), u
    others = [k for k in range(u.size) if k != i]

    def whole(point: np.ndarray) -> np.ndarray:
        full = u.copy()
        full[others] = point
        return full

    found = highest(lambda points: values([whole(p) for p in points]), [coordinates[k] for k in others], [u[others]], 1)
    best = whole(found)
    return float(values([best])[0]), best
