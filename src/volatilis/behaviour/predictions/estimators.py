"""The paper's estimators, for each person: averages in windows, their difference between the sign biases, their slopes.

Trials in one window are alike, not equal. What an indicator that follows only the size of the error (prediction 1) or only the
Bayes Factor Surprise (prediction 2) shows between such trials is a remainder of the windows, not an effect. So each estimator
comes twice:

paper      as the paper has it
adjusted   the same on the indicator less its remainder: a regression over all selected trials, each person with a level of their
           own, that has both the effect and what differs within a window; only the latter is taken away

A person's trials enter through sums alone, so that many groups of the same people cost little.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from volatilis.behaviour.predictions.observed import Observed
from volatilis.behaviour.predictions.windows import FirstWindow, SecondWindow

PAPER, ADJUSTED = "paper", "adjusted"
ESTIMATORS = (PAPER, ADJUSTED)


class Sums(NamedTuple):
    """Of one person's selected trials.

    counts      trials in each window
    indicator   its sum in each window
    nuisance    sums of what differs within a window, nuisance x window
    products    of nuisances and effects with each other and with the indicator, about the person's own means
    trials      how many were selected
    middle      the sums of the nuisances over them
    """

    counts: np.ndarray
    indicator: np.ndarray
    nuisance: np.ndarray
    products: np.ndarray
    trials: int
    middle: np.ndarray


class First(NamedTuple):
    """Prediction 1: arrays of people x sign x error, and of people."""

    counts: np.ndarray
    means: np.ndarray
    difference: np.ndarray  # between the signs, over errors with trials of both
    slope: np.ndarray  # of that difference over errors


class Second(NamedTuple):
    """Prediction 2: arrays of people x p, and of people."""

    counts: np.ndarray
    means: np.ndarray
    slope: np.ndarray


# --- one person ----------------------------------------------------------------------------------------------------------


def sums_first(trials: Observed, window: FirstWindow) -> Sums:
    """What differs within a window, whatever the sign bias: the size of the error and of the prediction, and confidence."""
    masks = window.masks(trials)
    own = masks.any(axis=(0, 1))
    error, prediction, unsure = trials.error[own], trials.prediction[own], window.uncertainty(trials)[own]
    size, bias = np.abs(error), np.sign(error * prediction)
    return _sums(masks[:, :, own], trials.indicator[own], [size, size**2, np.abs(prediction), unsure], [bias, bias * size])


def sums_second(trials: Observed, window: SecondWindow) -> Sums:
    """What differs within a window: the Bayes Factor Surprise, which there is near 1 but not 1, and its logarithm."""
    masks = window.masks(trials)
    own = masks.any(axis=0)
    p, p_0 = trials.p[own], trials.p_0[own]
    return _sums(masks[:, own], trials.indicator[own], [np.log(p_0 / p), p_0 / p - 1.0], [0.5 * (p + p_0)])


def _sums(masks: np.ndarray, indicator: np.ndarray, nuisances: list[np.ndarray], effects: list[np.ndarray]) -> Sums:
    nuisance, terms = np.array(nuisances), np.array([*nuisances, *effects, indicator])
    if indicator.size:
        terms = terms - terms.mean(axis=1, keepdims=True)
    in_windows = np.moveaxis(masks @ nuisance.T, -1, 0)
    products, middle = terms @ terms.T, nuisance.sum(axis=1)
    return Sums(masks.sum(axis=-1), masks @ indicator, in_windows, products, indicator.size, middle)


# --- people --------------------------------------------------------------------------------------------------------------


def estimate_first(people: Sequence[Sums], window: FirstWindow) -> dict[str, First]:
    found = {}
    for name, (counts, means) in _averages(people, window.least, 2, True).items():
        differences = means[:, 0] - means[:, 1]
        found[name] = First(counts, means, mean_of(differences), slopes(np.array(window.errors), differences))
    return found


def estimate_second(people: Sequence[Sums], window: SecondWindow) -> dict[str, Second]:
    found = {}
    for name, (counts, means) in _averages(people, window.least, 1, False).items():
        found[name] = Second(counts, means, slopes(np.array(window.p), means))
    return found


def _averages(people: Sequence[Sums], least: int, effects: int, centred: bool) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Counts and averages in windows: as they are, and less the remainder, which is 0 at 0 or, `centred`, in the middle."""
    counts = np.array([own.counts for own in people])
    nuisance = np.array([own.nuisance for own in people])
    coefficients = _coefficients(sum((own.products for own in people), np.zeros(())), effects)
    if centred:
        middle = np.sum([own.middle for own in people], axis=0) / max(sum(own.trials for own in people), 1)
        nuisance = nuisance - counts[:, None] * middle.reshape(1, -1, *[1] * (counts.ndim - 1))
    plain = np.array([own.indicator for own in people])
    sums = {PAPER: plain, ADJUSTED: plain - np.einsum("k,ik...->i...", coefficients, nuisance)}
    nothing = np.full(counts.shape, np.nan)
    return {n: (counts, np.divide(s, counts, out=nothing.copy(), where=counts >= least)) for n, s in sums.items()}


def _coefficients(products: np.ndarray, effects: int) -> np.ndarray:
    """Of the nuisances, in the regression of the indicator on nuisances and effects. What does not vary has none."""
    terms, aim = products[:-1, :-1], products[:-1, -1]
    scale = np.sqrt(np.diagonal(terms))
    scale = np.where(scale > 0.0, scale, 1.0)
    solution = np.linalg.lstsq(terms / np.outer(scale, scale), aim / scale, rcond=1e-12)[0] / scale
    return solution[: aim.size - effects]


def slopes(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The least-squares slope of each row over the points where y is there; NaN where they are fewer than two."""
    there = ~np.isnan(y)
    count = there.sum(axis=1, keepdims=True)
    from_middle = np.where(there, x - np.where(there, x, 0.0).sum(axis=1, keepdims=True) / np.maximum(count, 1), 0.0)
    squares = (from_middle**2).sum(axis=1)
    with_y = (from_middle * np.where(there, y, 0.0)).sum(axis=1)
    return np.divide(with_y, squares, out=np.full(len(y), np.nan), where=count[:, 0] > 1)


def mean_of(values: np.ndarray) -> np.ndarray:
    """Over the last axis, NaN aside."""
    there = ~np.isnan(values)
    count = there.sum(axis=-1)
    return np.divide(np.where(there, values, 0.0).sum(axis=-1), count, out=np.full(count.shape, np.nan), where=count > 0)
