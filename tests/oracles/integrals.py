"""Integrals and sums by plain numerical quadrature."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence

from scipy.integrate import quad

Function = Callable[[float], float]


def integral(f: Function, lower: float, upper: float, points: Sequence[float] = ()) -> float:
    """The integral of f from lower to upper (both may be infinite), split at the break points."""
    edges = [lower, *sorted({float(p) for p in points if lower < p < upper}), upper]
    pieces = [quad(f, a, b, epsabs=1e-13, epsrel=1e-11, limit=500)[0] for a, b in itertools.pairwise(edges)]
    return math.fsum(pieces)


def expectation(f: Function, log_density: Function, lower: float, upper: float, points: Sequence[float] = ()) -> float:
    """E[f] = integral of f(x) p(x) dx."""

    def integrand(x: float) -> float:
        log_p = log_density(x)
        return math.exp(log_p) * f(x) if log_p > -math.inf else 0.0

    return integral(integrand, lower, upper, points)


def kl_divergence(log_p: Function, log_q: Function, lower: float, upper: float, points: Sequence[float] = ()) -> float:
    """KL[p || q] = integral of p(x) log(p(x) / q(x)) dx, where 0 log 0 = 0."""

    def log_ratio(x: float) -> float:
        return log_p(x) - log_q(x)

    return expectation(log_ratio, log_p, lower, upper, points)


def total_probability(log_density: Function, lower: float, upper: float, points: Sequence[float] = ()) -> float:
    """The integral of a density over its support: 1."""
    return expectation(lambda _: 1.0, log_density, lower, upper, points)


def total_mass(log_probability: Callable[[int], float], support: Iterable[int]) -> float:
    """The sum of a probability over its support (or the part of it that matters): 1."""
    return math.fsum(math.exp(log_probability(y)) for y in support)
