"""The highest point of the evidence, how sharp it is, and how far it reaches.

Quasi-Newton search from the best of a few points; there the curvature by differences, for errors and last steps of Newton's.
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
ROUGHLY, CLOSELY = 0.05, 1e-5  # nats: where a search ends that only tells which start is best; and one that tells the point
APART, FLATTEST = 0.1, 0.1  # at a start: of differences for the curvature; the least that is believed
SHARE, STEPS = 0.005, (1e-5, 1e-2)  # of an error: differences for a slope; and their limits
WITHIN, DISTORTED = 0.7, 0.5  # of an error: differences for the curvature; how much of a unit it may differ from what was known
SEARCHES = 2
LONGEST, MOST_STEPS = 3.0, 200  # of a search's steps: in one coordinate; how many
DROP = 1.9207  # nats below the highest point: the ends of a 95 % interval
STEEP = 2.995732  # nats, -log 0.05: beyond it a one-sided bound, where the highest point is at the end of the range
PARABOLA = (0.75, 1.35)  # what falls at the quadratic interval's ends, as a share of a parabola's: within this it is one
SMALL = 0.2  # an error with which the evidence may be a parabola
PROFILE, NEAR = 5e-3, 0.03  # nats that a profile may be too low; how near to the fall an end of an interval is, as a share of it
FEWEST_DRAWS = 3.0  # of a prior: with fewer an interval would have no end
CEILING = 1e100  # of what is infinite; what a single number far away costs is below


class Peak(NamedTuple):
    """The highest point: its coordinates, minus its height, the covariance there (NaN where it is flat) and the intervals."""

    u: np.ndarray
    value: float
    covariance: np.ndarray
    low: np.ndarray
    high: np.ndarray
    at_end: np.ndarray  # whether the highest point is where the range ends


def highest(
    values: Values, coordinates: Sequence[Coordinate], starts: Sequence[np.ndarray], rough: Values | None = None
) -> SearchPoint:
    """From the best two of these starting points roughly, and from the better of where that leads to its end.

    rough    values that are nearly the same and cost less, for the beginning
    """
    ends = _ends(coordinates)
    first, starts = rough or values, [np.clip(start, *ends) for start in starts]
    order = np.argsort(first(starts), kind="stable")[:SEARCHES]
    ends_reached = [_descended(first, ends, SearchPoint(starts[i], np.inf, _shape(first, starts[i])), ROUGHLY) for i in order]
    return _descended(values, ends, min(ends_reached, key=lambda one: one.value), CLOSELY)


class SearchPoint(NamedTuple):
    """Where a search is: its coordinates, minus the height, and what is known of the inverse of the curvature."""

    u: np.ndarray
    value: float
    inverse: np.ndarray


def _shape(values: Values, u: np.ndarray) -> np.ndarray:
    """The inverse of the curvature in each direction alone."""
    heights = np.minimum(values([u, *(u + sign * APART * e for e in np.eye(u.size) for sign in (1.0, -1.0))]), CEILING)
    bends = np.abs(heights[1::2] + heights[2::2] - 2.0 * heights[0]) / APART**2
    return np.diag(1.0 / np.maximum(bends, FLATTEST))


def _descended(values: Values, ends: tuple[np.ndarray, np.ndarray], place: SearchPoint, enough: float) -> SearchPoint:
    """Quasi-Newton steps (BFGS) within the ends, until the next one promises, or the last two gained, less than `enough` nats."""
    u, _, inverse = place
    value, slope = _slope(values, u, inverse)
    gains = [math.inf, math.inf]
    for _ in range(MOST_STEPS):
        free = np.flatnonzero(~((u <= ends[0]) & (slope > 0.0) | (u >= ends[1]) & (slope < 0.0)))
        step = np.zeros(u.size)
        step[free] = -inverse[np.ix_(free, free)] @ slope[free]
        if not -0.5 * float(slope @ step) > enough or max(gains[-2:]) < enough:
            break
        moved = _shorter_until_lower(values, ends, u, value, slope, step * min(1.0, LONGEST / float(np.abs(step).max())))
        if moved is None:
            break
        new_value, new_slope = _slope(values, moved, inverse)
        inverse = _updated(inverse, moved - u, new_slope - slope)
        gains.append(value - new_value)
        u, value, slope = moved, new_value, new_slope
    return SearchPoint(u, value, inverse)


def _slope(values: Values, u: np.ndarray, inverse: np.ndarray) -> tuple[float, np.ndarray]:
    """Value and slope, by differences along the axes of what is known of the curvature, over a small share of an error."""
    axes = SHARE * np.linalg.cholesky(inverse)
    axes = axes * (np.clip(np.abs(axes).max(axis=0), *STEPS) / np.abs(axes).max(axis=0))
    heights = np.minimum(values([u, *(u + axis for axis in axes.T)]), CEILING)
    return float(heights[0]), np.linalg.solve(axes.T, heights[1:] - heights[0])


def _shorter_until_lower(
    values: Values, ends: tuple[np.ndarray, np.ndarray], u: np.ndarray, value: float, slope: np.ndarray, step: np.ndarray
) -> np.ndarray | None:
    """Where the step leads, shortened until the value falls as the slope promises; None where it never does."""
    share = 1.0
    for _ in range(12):
        moved = np.clip(u + share * step, *ends)
        promised = float(slope @ (moved - u))
        new_value = float(np.minimum(values([moved])[0], CEILING))
        if new_value <= value + 1e-4 * promised and promised < 0.0:
            return moved
        excess = new_value - value - promised
        share *= min(max(-0.5 * promised / excess if excess > 0.0 else 0.5, 0.1), 0.5)
    return None


def _updated(inverse: np.ndarray, moved: np.ndarray, change: np.ndarray) -> np.ndarray:
    """The formula of Broyden, Fletcher, Goldfarb and Shanno; as it was where the curvature along the step is not positive."""
    along = float(moved @ change)
    if along <= 1e-10 * float(np.linalg.norm(moved) * np.linalg.norm(change)):
        return inverse
    left = np.eye(moved.size) - np.outer(moved, change) / along
    updated = left @ inverse @ left.T + np.outer(moved, moved) / along
    return updated if _root_of_inverse(updated) is not None else inverse  # by rounding


def described(values: Values, coordinates: Sequence[Coordinate], place: SearchPoint) -> Peak:
    """The highest point near there, with its errors; its intervals are not yet known."""
    ends = _ends(coordinates)
    u, value, _ = place  # what a search knows of the curvature is of a way, not of its end
    at_end = (u < ends[0] + 0.05) | (u > ends[1] - 0.05)
    inside = np.ix_(~at_end, ~at_end)
    covariance = np.full((u.size, u.size), np.nan)
    axes = np.zeros((u.size, int(np.sum(~at_end))))
    axes[~at_end] = np.sqrt(_shape(values, u)[inside])
    longest = 1.0
    for _ in range(6):
        shares = np.minimum(1.0, longest / np.abs(axes).max(axis=0, initial=1e-300))
        slope, curvature = _derivatives(values, u, value, axes * shares)
        root = _root_of_inverse(curvature)
        if root is None:
            longest *= 0.5
            continue
        as_known = np.abs(curvature / np.outer(shares, shares) - np.eye(shares.size)).max() < DISTORTED
        axes = (axes * shares) @ root
        covariance[inside] = (axes @ axes.T)[inside]
        moved = np.clip(u - axes @ root.T @ slope, *ends)
        new_value = float(values([moved])[0])
        gain = value - new_value
        if gain > 0.0:
            u, value = moved, new_value
        if gain < CLOSELY and as_known:
            break
    return Peak(u, value, covariance, np.full(u.size, np.nan), np.full(u.size, np.nan), at_end)


def _derivatives(values: Values, u: np.ndarray, value: float, axes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slope and curvature along axes, each of about one error's length, over which the evidence falls by about a quarter nat."""
    n, steps = axes.shape[1], WITHIN * axes.T
    heights = values([u + sign * step for step in steps for sign in (1.0, -1.0)])
    up, down = heights[0::2], heights[1::2]
    pairs = [(i, j) for i in range(n) for j in range(i)]
    both = values([u + sign * (steps[i] + steps[j]) for i, j in pairs for sign in (1.0, -1.0)])
    curvature = np.diag((up + down - 2.0 * value) / WITHIN**2)
    for number, (i, j) in enumerate(pairs):
        alone = up[i] + down[i] + up[j] + down[j] - 2.0 * value
        curvature[i, j] = curvature[j, i] = (both[2 * number] + both[2 * number + 1] - alone) / (2.0 * WITHIN**2)
    return (up - down) / (2.0 * WITHIN), curvature


def _root_of_inverse(curvature: np.ndarray) -> np.ndarray | None:
    """A with A A' the inverse; None where the evidence does not fall in every direction."""
    if not np.isfinite(curvature).all() or curvature.size == 0:
        return None
    try:
        return np.asarray(np.linalg.inv(np.linalg.cholesky(curvature)).T)
    except np.linalg.LinAlgError:
        return None


def _ends(coordinates: Sequence[Coordinate]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([one.low for one in coordinates]), np.array([one.high for one in coordinates])


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
    observations_worth = 0.5 / variance if one.scale == LOG.name and variance > 0.0 else 0.0
    n = max(draws, observations_worth, FEWEST_DRAWS)
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
        if variance < SMALL**2 and bounds[0] < end[i] < bounds[1]:
            fallen = float(values([end])[0]) - peak.value
            if PARABOLA[0] < fallen / drop < PARABOLA[1]:
                return float(peak.u[i] + sign * reach * math.sqrt(drop / fallen))
    return profile_end(values, coordinates, peak, i, sign, drop)


def profile_end(values: Values, coordinates: Sequence[Coordinate], peak: Peak, i: int, sign: float, drop: float) -> float:
    """Where the profile of coordinate i has fallen by `drop`, in one direction; the range's end where it never does.

    The square root of the fall is nearly a line, on which the next place to try is looked up.
    """
    farthest = abs((coordinates[i].low if sign < 0.0 else coordinates[i].high) - peak.u[i])
    inner, outer, fallen, u = 0.0, math.inf, 0.0, peak.u
    at = min(math.sqrt(2.0 * drop * peak.covariance[i, i]) if np.isfinite(peak.covariance[i, i]) else 0.5, 1.0, farthest)
    for _ in range(40):
        value, u = lowest_given(values, coordinates, peak, u, i, peak.u[i] + sign * at)
        fallen = max(value - peak.value, 0.0)
        if abs(fallen - drop) < NEAR * drop:
            break
        inner, outer = (inner, at) if fallen > drop else (at, outer)
        if inner >= farthest:
            return float(peak.u[i] + sign * farthest)
        if outer - inner < 0.02 * outer + 1e-3:
            at = 0.5 * (inner + outer)
            break
        guess = at * math.sqrt(drop / fallen) if fallen > 0.0 else math.inf
        between = inner + 0.1 * (outer - inner), outer - 0.1 * (outer - inner)
        least, most = between if outer < math.inf else (min(1.1 * at, farthest), min(2.0 * at, farthest))
        at = min(max(guess, least), most)
    return float(peak.u[i] + sign * at)


def lowest_given(
    values: Values, coordinates: Sequence[Coordinate], peak: Peak, u: np.ndarray, i: int, fixed: float
) -> tuple[float, np.ndarray]:
    """The lowest value with coordinate i fixed, and where it is; searched from u."""
    along = peak.covariance[:, i] / peak.covariance[i, i]  # how the others follow, as the parabola says
    u = np.clip(u + np.where(np.isfinite(along), along, 0.0) * (fixed - u[i]), *_ends(coordinates))
    u[i] = fixed
    if u.size == 1:
        return float(values([u])[0]), u
    others = [k for k in range(u.size) if k != i]

    def whole(point: np.ndarray) -> np.ndarray:
        full = u.copy()
        full[others] = point
        return full

    def of(points: Sequence[np.ndarray]) -> np.ndarray:
        return values([whole(point) for point in points])

    shape = _shape_without(peak.covariance, i)
    shape = _shape(of, u[others]) if shape is None else shape
    lowest = _descended(of, _ends([coordinates[k] for k in others]), SearchPoint(u[others], math.inf, shape), PROFILE)
    return lowest.value, whole(lowest.u)


def _shape_without(covariance: np.ndarray, i: int) -> np.ndarray | None:
    """The covariance of the others where coordinate i is fixed; None where it is not known."""
    if _root_of_inverse(covariance) is None:
        return None
    rest = np.delete(np.delete(covariance, i, axis=0), i, axis=1)
    along = np.delete(covariance[:, i], i)
    fixed = rest - np.outer(along, along) / covariance[i, i]
    return fixed if _root_of_inverse(fixed) is not None else None
