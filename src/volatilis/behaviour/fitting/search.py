"""Searches from several starts: what they share, and which one is for what.

One parameter: a scan over its whole range, then Brent's method around every valley of the scan. Several: a quasi-Newton search
with slopes by differences from every start. A likelihood that is itself random: a simplex search from every start.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from volatilis.behaviour.fitting.parameters import Searched

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

SCAN, FEWEST = 3, 10  # points of the scan, per start and at least
CLOSE = 1e-5  # on the real line, where a standard error is rarely below 1e-2
CEILING = 1e12  # in place of infinity, from which no slope leads back


class Searchable(Protocol):
    """A function of a point, the range of each coordinate, and whether its values are random."""

    @property
    def free(self) -> Sequence[Searched]: ...
    @property
    def samples(self) -> bool: ...
    def __call__(self, x: np.ndarray, /) -> float: ...


def least(objective: Searchable, starts: int, seed: int) -> tuple[np.ndarray, float]:
    """The best point found, and its value: infinite if none is finite."""
    if not objective.free:
        return np.zeros(0), objective(np.zeros(0))
    if len(objective.free) == 1 and not objective.samples:
        return _scan(objective, max(SCAN * starts, FEWEST) + 1)
    ends = [descend(objective, start) for start in starting_points(objective.free, starts, seed)]
    return min(ends, key=lambda one: one[1])


def descend(objective: Searchable, start: np.ndarray) -> tuple[np.ndarray, float]:
    """From one start to the nearest optimum."""
    if not objective.free:
        return start, objective(start)
    return _simplex(objective, start) if objective.samples else _quasi_newton(objective, start)


def starting_points(free: Sequence[Searched], starts: int, seed: int) -> np.ndarray:
    """Spread evenly (a scrambled Sobol sequence) over where parameters usually lie; the middle first."""
    from scipy.stats import qmc

    low, high = np.array([min(one.first, one.last) for one in free]), np.array([max(one.first, one.last) for one in free])
    points = qmc.Sobol(len(free), seed=np.random.default_rng(seed)).random_base2(max(math.ceil(math.log2(max(starts, 2))), 1))
    return low + (high - low) * np.vstack([np.full(len(free), 0.5), points])[:starts]


def bounds_of(free: Sequence[Searched]) -> list[tuple[float, float]]:
    return [(min(one.low, one.high), max(one.low, one.high)) for one in free]


def _scan(objective: Searchable, points: int) -> tuple[np.ndarray, float]:
    from scipy.optimize import minimize_scalar

    at = np.linspace(*bounds_of(objective.free)[0], points)
    values = [objective(x) for x in at.reshape(-1, 1)]
    lowest = int(np.argmin(values))
    best, worth = float(at[lowest]), values[lowest]
    padded = [math.inf, *values, math.inf]
    for i in range(points):
        if math.isfinite(values[i]) and padded[i] >= values[i] <= padded[i + 2]:
            ends = (at[max(i - 1, 0)], at[min(i + 1, points - 1)])
            done = minimize_scalar(
                lambda x: min(objective(np.array([x])), CEILING), bounds=ends, method="bounded", options={"xatol": CLOSE}
            )
            if done.fun < worth:
                best, worth = float(done.x), float(done.fun)
    return np.array([best]), worth


def _quasi_newton(objective: Searchable, start: np.ndarray) -> tuple[np.ndarray, float]:
    from scipy.optimize import minimize

    bounds = bounds_of(objective.free)
    steps = [1e-6 * (high - low) for low, high in bounds]
    best, least_value = start, math.inf  # on a surface that jumps, the last point of a search need not be its lowest

    def with_slope(x: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal best, least_value
        here, slope = min(objective(x), CEILING), np.empty(x.size)
        if here < least_value:
            best, least_value = x.copy(), here
        for i, (_, high) in enumerate(bounds):
            moved, step = x.copy(), steps[i] if x[i] + steps[i] <= high else -steps[i]
            moved[i] += step
            slope[i] = (min(objective(moved), CEILING) - here) / step
        return here, slope

    with one_thread():
        minimize(with_slope, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 200})
    return best, least_value if least_value < CEILING else math.inf


def _simplex(objective: Searchable, start: np.ndarray) -> tuple[np.ndarray, float]:
    from scipy.optimize import minimize

    bounds = bounds_of(objective.free)
    enough = {"xatol": 1e-3, "fatol": 1e-3, "maxiter": 400}
    done = minimize(lambda x: min(objective(x), CEILING), start, method="Nelder-Mead", bounds=bounds, options=enough)
    return done.x, float(done.fun) if done.fun < CEILING else math.inf


def one_thread() -> contextlib.AbstractContextManager[object]:
    """One thread for the linear algebra of a handful of parameters: starting more takes longer than the work."""
    return _controller().limit(limits=1, user_api="blas")


@functools.cache
def _controller() -> ThreadpoolController:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
