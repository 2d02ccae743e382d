"""How sure a fit is: the curvature at the optimum, standard errors, intervals, and what must be known before a value is used."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from volatilis.behaviour.fitting.parameters import Searched

ALIKE = 0.98  # a correlation beyond this says that two parameters do the same
AT_BOUND = 1e-3  # of the range
STEPS = (1e-6, 0.1)  # the smallest and the widest, of the range
RISE = 1.0  # of minus the log likelihood, 1.4 standard errors from its least
CLOSE = 1.3  # a step within this factor will do


def inverse_hessian(objective: Callable[[np.ndarray], float], x: np.ndarray, free: Sequence[Searched]) -> np.ndarray:
    """From the surface 1.4 and 2.8 standard errors away. NaN for a parameter at its bound, or where the surface is flat; all NaN
    where the rest is no bowl.

    Nearer, where a second derivative would look, absolute errors have edges and merged or sampled hypotheses jump; and the
    least value itself is the deepest of many dents.
    """
    covariance = np.full((x.size, x.size), np.nan)
    inner = [i for i, one in enumerate(free) if not at_bound(one, x[i])]
    if not inner:
        return covariance
    here = objective(x)

    def at(*moves: tuple[int, float]) -> float:
        there = x.copy()
        for i, move in moves:
            there[i] += move
        return objective(there)

    def rise(i: int, step: float) -> float:
        return 0.5 * (at((i, step)) + at((i, -step))) - here

    steps = {i: _step(lambda step, i=i: rise(i, step), abs(free[i].high - free[i].low)) for i in inner}  # type: ignore[misc]
    hessian = np.diag([2.0 * (rise(i, 2.0 * steps[i]) - rise(i, steps[i])) / (3.0 * steps[i] ** 2) for i in inner])
    for k, i in enumerate(inner):
        for m, j in enumerate(inner[:k]):
            a, b = steps[i], steps[j]
            corners = at((i, a), (j, b)) - at((i, a), (j, -b)) - at((i, -a), (j, b)) + at((i, -a), (j, -b))
            hessian[k, m] = hessian[m, k] = corners / (4.0 * a * b)
    told = np.flatnonzero(np.isfinite(hessian).all(axis=1) & (np.diag(hessian) > 0.0))  # flat in one, it may tell the others
    bent, among = hessian[np.ix_(told, told)], np.array(inner)[told]
    if told.size and np.linalg.eigvalsh(bent).min() > 0.0:
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
    told = []
    for i, one in enumerate(free):
        if at_bound(one, x[i]):
            told.append(f"{one.name} is at its bound")
        elif not covariance[i, i] > 0.0 or np.sqrt(covariance[i, i]) > 0.5 * abs(one.last - one.first):
            # less sure than the weak prior, which knows only what is usual
            told.append(f"{one.name} is not identified")
    spread = np.sqrt(np.diag(covariance))
    for i in range(len(free)):
        for j in range(i):
            if abs(covariance[i, j]) > ALIKE * spread[i] * spread[j]:
                told.append(f"{free[j].name} and {free[i].name} cannot be told apart")
    return tuple(told)
