"""Intervals from the profile of the likelihood: how far a parameter can go until even the best values of the others fall behind.

An end of the interval is where the log likelihood (or posterior), at its best over all other parameters, is 1.92 below its
largest value: half the 95 % point of a chi-squared distribution with one degree of freedom. Unlike the curvature it follows a
surface that is no parabola; it costs some hundred evaluations more.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np

from volatilis.behaviour.fitting.objective import Objective
from volatilis.behaviour.fitting.parameters import Searched
from volatilis.behaviour.fitting.search import descend

DROP = 1.9207294103470625  # half of 1.96^2


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
    found, least = {}, objective(best)
    for i, one in enumerate(objective.free):
        ends = [_end(objective, best, i, bound, least + DROP) for bound in (one.low, one.high)]
        low, high = sorted(one.natural(end) for end in ends)
        found[one.name] = (low, high)
    return found


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
