"""Worlds with contexts, from textbook formulas: the evidence of a stretch without a change, and sums over all histories."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

RNG = np.random.default_rng(3)
BITS, ARMS, NUMBERS = RNG.integers(0, 2, 8), RNG.integers(0, 3, 8), RNG.normal(size=8)
REGRESSORS = np.stack([np.ones(8), RNG.normal(size=8)], axis=1)
PAST = np.stack([np.ones(7), NUMBERS[:-1] - 0.2], axis=1)
KAPPA, ALPHA, BETA, CENTRE = 0.5, 2.5, 1.5, 0.2


class World(NamedTuple):
    """What is observed, in which context; `skipped` observations are conditioned on. Times count those that are scored."""

    y: Any
    given: Any
    skipped: int
    evidence: Callable[[Sequence[int]], float]  # log probability of the observations at these times, without a change
    log_broad: Callable[[int], float]  # of the observation at a time as an outlier


def log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def of_bits(bits: NDArray[Any], contexts: NDArray[Any], a: float, b: float) -> Callable[[Sequence[int]], float]:
    """Zeros and ones, each context with a probability of one of its own that is Beta(a, b)."""

    def evidence(times: Sequence[int]) -> float:
        total = 0.0
        for context in np.unique(contexts):
            mine = [int(bits[t]) for t in times if contexts[t] == context]
            total += log_beta(a + sum(mine), b + len(mine) - sum(mine)) - log_beta(a, b)
        return total

    return evidence


def of_regression(y: NDArray[Any], x: NDArray[Any]) -> Callable[[Sequence[int]], float]:
    """A multivariate Student's t with 2 alpha degrees of freedom."""

    def evidence(times: Sequence[int]) -> float:
        rows, here, n = x[list(times)], y[list(times)] - CENTRE, len(times)
        scale = BETA / ALPHA * (np.eye(n) + rows @ rows.T / KAPPA)
        z, dof = float(here @ np.linalg.solve(scale, here)) if n else 0.0, 2 * ALPHA
        result = math.lgamma((dof + n) / 2) - math.lgamma(dof / 2) - n / 2 * math.log(dof * math.pi)
        return float(result - np.linalg.slogdet(scale)[1] / 2 - (dof + n) / 2 * math.log1p(z / dof))

    return evidence


def cauchy(y: NDArray[Any], x: NDArray[Any]) -> Callable[[int], float]:
    """Around the prior's mean, as wide as the prior expects with these regressors."""

    def log_density(t: int) -> float:
        scale = math.sqrt(BETA / ALPHA * (1 + float(x[t] @ x[t]) / KAPPA))
        return -math.log(math.pi * scale * (1 + ((y[t] - CENTRE) / scale) ** 2))

    return log_density


def log_half(t: int) -> float:
    return math.log(0.5)


WORLDS = {
    "given": World(BITS, ARMS, 0, of_bits(BITS, ARMS, 1.5, 0.5), log_half),
    "transitions": World(BITS, None, 1, of_bits(BITS[1:], BITS[:-1], 1.2, 1.2), log_half),
    "regression": World(NUMBERS, REGRESSORS, 0, of_regression(NUMBERS, REGRESSORS), cauchy(NUMBERS, REGRESSORS)),
    "autoregression": World(NUMBERS, None, 1, of_regression(NUMBERS[1:], PAST), cauchy(NUMBERS[1:], PAST)),
}


def stretches(changes: Sequence[int]) -> list[list[int]]:
    """The times between changes; the first observation follows one with certainty."""
    found = [[0]]
    for t, changed in enumerate(changes, start=1):
        if changed:
            found.append([])
        found[-1].append(t)
    return found


def log_evidence(world: World, count: int, p_c: float, p_o: float = 0.0) -> float:
    """Of the first `count` scored observations, over all histories of changes and, with p_o above 0, of outliers."""

    def of_stretch(times: Sequence[int]) -> float:
        if p_o == 0.0:
            return world.evidence(times)
        logs = []
        for strange in itertools.product((False, True), repeat=len(times)):
            taken = [t for t, out in zip(times, strange, strict=True) if not out]
            outliers = math.fsum(math.log(p_o) + world.log_broad(t) for t, out in zip(times, strange, strict=True) if out)
            logs.append(world.evidence(taken) + len(taken) * math.log1p(-p_o) + outliers)
        return float(np.logaddexp.reduce(logs))

    logs = []
    for changes in itertools.product((0, 1), repeat=count - 1):
        prior = math.fsum(math.log(p_c if changed else 1 - p_c) for changed in changes)
        logs.append(prior + math.fsum(of_stretch(times) for times in stretches(changes)))
    return float(np.logaddexp.reduce(logs))
