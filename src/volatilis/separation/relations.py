"""How alike regressors are: correlations, variance inflation, and how many trials carry the difference of two.

All regressors are centred within runs before (`regressors`), since a run has a constant of its own in the analysis.

Pearson, Spearman     over all trials, of the centred values and of the centred ranks
variance inflation    1 / (1 - R^2) of a regressor given others: by how much the variance of its coefficient grows because they
                      are there. Infinite where it is a sum of multiples of others; `depends_on` says of which.
carried by            of e, what is left of one regressor once the other has explained what it can (least squares):
                      (sum e^2)^2 / sum e^4, the number of trials, equal among each other, that would carry as much (1 where
                      one trial carries all, all where each carries the same), and the smallest number of trials that
                      hold 90 % of the sum of e^2
trials needed         to tell which of two an indicator reflects: where it correlates with the right one at `effect` in each
                      trial, the log likelihood of the right linear model is expected to be ahead of the wrong one's by
                      1/2 log((1 - effect^2 r^2) / (1 - effect^2)) per trial; needed is log 20, odds of 20 to 1.
                      Trials are taken for independent and the assumed shapes for true: real data need more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

EXACT = 1e-18  # a share of variance below this is rounding
LINKED = 1e-6  # in the projector on the null space: below this a regressor has no part in a dependence
MOST = 0.9  # of the sum of squares
ODDS = 20.0


class Carried(NamedTuple):
    """How many trials carry what one regressor has beside another; `at_starts` is the share that first trials of blocks hold."""

    effective: float
    most: int
    at_starts: float = 0.0


class RegressorPair(NamedTuple):
    """Two regressors by their places; `first_alone` is what the first has beside the second. `needed` is infinite where the
    two are the same but for scale."""

    first: int
    second: int
    pearson: float
    spearman: float
    first_alone: Carried
    second_alone: Carried
    needed: float

    @property
    def effective(self) -> float:
        """In the worse direction."""
        return min(self.first_alone.effective, self.second_alone.effective)

    @property
    def most(self) -> int:
        return min(self.first_alone.most, self.second_alone.most)


class Inflation(NamedTuple):
    """A regressor's variance inflation factor; where it is infinite, the places of those that it depends on."""

    factor: float
    depends_on: tuple[int, ...]


def correlations(centred: np.ndarray) -> np.ndarray:
    """Of columns that are centred already."""
    unit = _unit(centred)
    result = np.clip(unit.T @ unit, -1.0, 1.0)
    np.fill_diagonal(result, 1.0)
    return result


def inflations(centred: np.ndarray) -> list[Inflation]:
    """Of each column given all others. The triangle of a QR decomposition keeps all lengths and angles and is small."""
    triangle = np.asarray(np.linalg.qr(_unit(centred), mode="r"))
    _, sizes, axes = np.linalg.svd(triangle, full_matrices=True)
    sizes = np.concatenate([sizes, np.zeros(len(axes) - len(sizes))])
    null = axes[sizes < math.sqrt(EXACT) * sizes[0]]
    dependence = np.abs(null.T @ null) > LINKED
    result = []
    for j in range(triangle.shape[1]):
        others = [i for i in range(triangle.shape[1]) if i != j]
        if dependence[j, j]:
            result.append(Inflation(math.inf, tuple(i for i in others if dependence[i, j])))
            continue
        rest = triangle[:, others]
        left = triangle[:, j] - rest @ np.linalg.lstsq(rest, triangle[:, j], rcond=math.sqrt(EXACT))[0]
        result.append(Inflation(float(1.0 / (left @ left)), ()))
    return result


def pairs(
    centred: np.ndarray,
    centred_ranks: np.ndarray,
    effect: float,
    starts: np.ndarray | None = None,
    progress: Callable[[float], None] = lambda share: None,
) -> list[RegressorPair]:
    """Every pair of columns; `starts` marks the first trials of blocks."""
    if not 0.0 < effect < 1.0:
        raise ValueError(f"effect = {effect:g} is not accepted; it is a correlation between 0 and 1, such as 0.2")
    unit = _unit(centred)
    pearson, spearman = correlations(centred), correlations(centred_ranks)
    result: list[RegressorPair] = []
    for i in range(unit.shape[1]):
        progress(len(result) / (unit.shape[1] * (unit.shape[1] - 1) / 2))
        for j in range(i + 1, unit.shape[1]):
            left = residual(unit[:, i], unit[:, j])
            alone = (carried(left, starts), carried(residual(unit[:, j], unit[:, i]), starts))
            needed = trials_needed(float(left @ left), effect)
            result.append(RegressorPair(i, j, float(pearson[i, j]), float(spearman[i, j]), *alone, needed))
    return result


def residual(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """What is left of one once the other has explained what it can; exactly nothing where that is rounding."""
    left = one - (one @ other) / (other @ other) * other
    return left if left @ left > EXACT * (one @ one) else np.zeros(len(one))


def carried(left: np.ndarray, starts: np.ndarray | None = None) -> Carried:
    """By how many trials a residual is carried; by none where there is none."""
    largest = np.abs(left).max(initial=0.0)
    if largest == 0.0:
        return Carried(0.0, 0)
    shares = (left / largest) ** 2
    squares = np.sort(shares)[::-1]
    total = squares.sum()
    most = int(np.searchsorted(np.cumsum(squares), MOST * total * (1.0 - 1e-12))) + 1
    at_starts = 0.0 if starts is None else float(shares[starts].sum() / total)
    return Carried(float(total**2 / (squares @ squares)), most, at_starts)


def trials_needed(unshared: float, effect: float) -> float:
    """Until the right one of two measures is ahead by log 20 in expectation; unshared is 1 - r^2, which loses no digits so."""
    if unshared == 0.0:
        return math.inf
    per_trial = 0.5 * math.log1p(effect**2 * unshared / (1.0 - effect**2))
    return float(math.ceil(math.log(ODDS) / per_trial))


def _unit(centred: np.ndarray) -> np.ndarray:
    scaled = centred / np.abs(centred).max(axis=0)
    return np.asfortranarray(scaled / np.linalg.norm(scaled, axis=0))  # a column is read as a whole
