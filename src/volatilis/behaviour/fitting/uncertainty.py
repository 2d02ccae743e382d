"""How sure a fit is: standard errors from the curvature at the optimum, intervals from the profile, and warnings.

An end of a profile interval is where the log likelihood (or posterior), at its best over all other parameters, is 1.92 below its
largest value: half the 95 % point of a chi-squared distribution with one degree of freedom. Unlike the curvature it follows a
surface that is no parabola; it costs some hundred evaluations more.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence

import numpy as np

from volatilis.behaviour.fitting.parameters import Searched
from volatilis.behaviour.fitting.search import Objective, descend

ALIKE = 0.98  # two parameters with a correlation beyond this do the same
AT_BOUND = 1e-3  # of the range
STEPS = (1e-6, 0.1)  # the smallest and the widest, of the range
RISE = 1.0  # of minus the log likelihood, 1.4 standard errors from its least
CLOSE = 1.3  # a step within this factor will do
DROP = 1.9207294103470625  # half of 1.96^2: how far the log likelihood falls to the end of a profile interval


def inverse_hessian(objective: Callable[[np.ndarray], float], x: np.ndarray, free: Sequence[Searched]) -> np.ndarray:
    """From the surface 1.4 and 2.8 standard errors away. NaN for a parameter at its bound, or where the surface is flat; all NaN
    where the Hessian of the rest is not positive definite.

    Closer to the optimum, where a second derivative is usually taken, the surface is rough: absolute errors have edges, merged
    or sampled hypotheses jump, and the smallest value is the lowest of many local dips.
    """
    covariance = np.full((x.size, x.size), np.nan)
    inner = [i for i, one in enumerate(free) if not at_bound(one, x[i])]
    if not inner:
        return covariance
    here = objective(x)

    def at(*moves: tuple[int, float]) -> float:
        moved = x.copy()
        for i, move in moves:
            moved[i] += move
        return objective(moved)

    def rise(i: int, step: float) -> float:
        return 0.5 * (at((i, step)) + at((i, -step))) - here

    steps = {i: _step(lambda step, i=i: rise(i, step), abs(free[i].high - free[i].low)) for i in inner}  # type: ignore[misc]
    hessian = np.diag([2.0 * (rise(i, 2.0 * steps[i]) - rise(i, steps[i])) / (3.0 * steps[i] ** 2) for i in inner])
    for k, i in enumerate(inner):
        for m, j in enumerate(inner[:k]):
            a, b = steps[i], steps[j]
            corners = at((i, a), (j, b)) - at((i, a), (j, -b)) - at((i, -a), (j, b)) + at((i, -a), (j, -b))
            hessian[k, m] = hessian[m, k] = corners / (4.0 * a * b)
    curved = np.flatnonzero(np.isfinite(hessian).all(axis=1) & (np.diag(hessian) > 0.0))  # one that is flat does not spoil others
    bent, among = hessian[np.ix_(curved, curved)], np.array(inner)[curved]
    if curved.size and np.linalg.eigvalsh(bent).min() > 0.0:
        covariance[np.ix_(among, among)] = np.linalg.inv(bent)
    return covariance


def _step(rise: Callable[[float], float], width: float) -> float:
    """About 1.4 standard errors, by bisection; the widest step where the surface never rises so far."""
    low, high = (share * width for share in STEPS)
    while high > CLOSE * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if rise(middle) > RISE else (middle, high)
    return high


def at_bound(one: Searched, x: float) -> bool:
    return min(abs(x - one.low), abs(x - one.high)) < AT_BOUND * abs(one.high - one.low)


def warnings_about(free: Sequence[Searched], x: np.ndarray, covariance: np.ndarray) -> tuple[str, ...]:
    """What must be known before a value is used."""
    warnings = []
    for i, one in enumerate(free):
        if at_bound(one, x[i]):
            warnings.append(f"{one.name} is at its bound")
        elif not covariance[i, i] > 0.0 or np.sqrt(covariance[i, i]) > 0.5 * abs(one.last - one.first):
            # less sure than the weak prior, which knows only what is usual
            warnings.append(f"{one.name} is not identified")
    spread = np.sqrt(np.diag(covariance))
    for i in range(len(free)):
        for j in range(i):
            if abs(covariance[i, j]) > ALIKE * spread[i] * spread[j]:
                warnings.append(f"{free[j].name} and {free[i].name} cannot be told apart")
    return tuple(warnings)


# --- from the profile ----------------------------------------------------------------------------------------------------


class _OneFixed:
    """The objective with one coordinate held."""

    def __init__(self, full: Objective, held: int) -> None:
        self._full, self._held, self.samples = full, held, full.samples
        self.free: Sequence[Searched] = [one for i, one in enumerate(full.free) if i != held]
        self.value = 0.0

    def __call__(self, x: np.ndarray) -> float:
        return self._full(np.insert(x, self._held, self.value))


def profile_intervals(objective: Objective, best: np.ndarray) -> dict[str, tuple[float, float]]:
    """For each continuous parameter, on its natural scale; the end of its range where the likelihood never falls that far."""
    intervals, least = {}, objective(best)
    for i, one in enumerate(objective.free):
        ends = [_end(objective, best, i, bound, least + DROP) for bound in (one.low, one.high)]
        low, high = sorted(one.natural(end) for end in ends)
        intervals[one.name] = (low, high)
    return intervals


def _end(objective: Objective, best: np.ndarray, i: int, bound: float, level: float) -> float:
    from scipy.optimize import brentq

    one_fixed, others = _OneFixed(objective, i), np.delete(best, i)

    @functools.cache  # a second search from elsewhere may end a little lower, and turn the sign at an end of the bracket
    def above(value: float) -> float:
        nonlocal others
        one_fixed.value = value
        point, worth = descend(one_fixed, others)
        others = point if math.isfinite(worth) else others  # the next search begins where this one ended
        return min(worth, 1e12) - level

    inner, step = float(best[i]), 0.02 * abs(bound - best[i]) + 1e-6
    while abs(inner - bound) > 1e-12:
        outer = bound if abs(bound - inner) <= step else inner + math.copysign(step, bound - inner)
        if above(outer) > 0.0:
            return float(brentq(above, inner, outer, xtol=1e-5))
        inner, step = outer, 2.0 * step
    return bound
