"""The paper's estimators, for each person: averages in windows, their difference between the sign biases, their slopes.

Trials in one window are alike, not equal. What an indicator that follows only the size of the error (prediction 1) or only the
Bayes Factor Surprise (prediction 2) shows between such trials is a remainder of the windows, not an effect. So each estimator
comes twice:

paper      as the paper has it: a value per person, all people alike
adjusted   the same on the indicator less its remainder: a regression over all selected trials, each person with a level of their
           own, that has both the effect and what differs within a window; only the latter is taken away. People are weighed by
           what their trials tell (`volatilis.predictions.pooling`)

Only sums over a person's trials are kept, so many groups of the same people cost little.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from volatilis.predictions.pooling import ColumnOrder, Pooled, pool
from volatilis.predictions.windows import FirstWindow, SecondWindow, SubjectTrials

PAPER, ADJUSTED = "paper", "adjusted"
ESTIMATORS = (PAPER, ADJUSTED)
DIFFERENCE, SLOPE = "difference", "slope"
S_BF, S_SH = "S_BF", "S_Sh"  # the measures that an indicator may reflect
FIRST_LAYOUT = ColumnOrder(4, 2, {DIFFERENCE: (0, 2.0), SLOPE: (1, 2.0)}, (S_BF, S_SH))
SECOND_LAYOUT = ColumnOrder(2, 1, {SLOPE: (0, 1.0)}, (S_SH,))


class WindowSums(NamedTuple):
    """Of one person's selected trials.

    counts      trials in each window
    indicator   its sum in each window
    nuisance    sums of what differs within a window, nuisance x window
    products    of the columns of the prediction's layout with each other, about the person's own means
    trials      how many were selected
    middle      the sums of the nuisances over them
    defined     whether there is a value of each functional
    """

    counts: np.ndarray
    indicator: np.ndarray
    nuisance: np.ndarray
    products: np.ndarray
    trials: int
    middle: np.ndarray
    defined: np.ndarray


class First(NamedTuple):
    """Prediction 1: arrays of people x sign x error, and of people. Windows overlap; `trials` counts a trial once.

    pooled   quantity -> the effect over all people, of the adjusted estimator. Its `difference` and `slope` have people's shares
             of it, times the number of people with a value
    """

    trials: np.ndarray
    counts: np.ndarray
    means: np.ndarray
    difference: np.ndarray  # between the signs, over errors with trials of both
    slope: np.ndarray  # of that difference over errors
    pooled: Mapping[str, Pooled]


class Second(NamedTuple):
    """Prediction 2: arrays of people x p, and of people; see `First`."""

    trials: np.ndarray
    counts: np.ndarray
    means: np.ndarray
    slope: np.ndarray
    pooled: Mapping[str, Pooled]


# --- one person ----------------------------------------------------------------------------------------------------------


def sums_first(trials: SubjectTrials, window: FirstWindow) -> WindowSums:
    """What differs within a window, whatever the sign bias: the size of the error and of the prediction, and confidence."""
    masks = window.masks(trials)
    chosen = masks.any(axis=(0, 1))
    masks, error, prediction = masks[:, :, chosen], trials.error[chosen], trials.prediction[chosen]
    size, bias = np.abs(error), np.sign(error * prediction)
    both = (masks.sum(axis=-1) >= window.least).all(axis=0) & (np.array(window.errors) > 0.0)
    difference = _averaging(masks[0, both]) - _averaging(masks[1, both])
    slope = slope_weights(np.array(window.errors)[both]) @ difference
    return _sums(
        masks,
        trials.indicator[chosen],
        nuisances=[size, size**2, np.abs(prediction), window.uncertainty(trials)[chosen]],
        effects=[bias, bias * size],
        functionals=[difference.mean(axis=0) if both.any() else np.zeros(size.size), slope],
        references=[trials.bayes_factor()[chosen], trials.shannon_surprise()[chosen]],
        defined=[bool(both.any()), both.sum() > 1],
    )


def sums_second(trials: SubjectTrials, window: SecondWindow) -> WindowSums:
    """What differs within a window: the Bayes Factor Surprise, which there is near 1 but not 1, and its logarithm."""
    masks = window.masks(trials)
    chosen = masks.any(axis=0)
    masks, p, p_0 = masks[:, chosen], trials.p[chosen], trials.p_0[chosen]
    enough = masks.sum(axis=-1) >= window.least
    return _sums(
        masks,
        trials.indicator[chosen],
        nuisances=[np.log(p_0 / p), p_0 / p - 1.0],
        effects=[0.5 * (p + p_0)],
        functionals=[slope_weights(np.array(window.p)[enough]) @ _averaging(masks[enough])],
        references=[-np.log(0.5 * (p + p_0))],
        defined=[enough.sum() > 1],
    )


def _averaging(masks: np.ndarray) -> np.ndarray:
    """window x trial: what averages the trials of each window."""
    return masks / np.maximum(masks.sum(axis=-1, keepdims=True), 1)


def slope_weights(x: np.ndarray) -> np.ndarray:
    """Whose product with values at x is their least-squares slope; zeros where there are fewer than two."""
    from_middle = x - x.mean() if x.size else x
    return from_middle / np.sum(from_middle**2) if x.size > 1 else np.zeros(x.size)


def _sums(
    masks: np.ndarray,
    indicator: np.ndarray,
    *,
    nuisances: list[np.ndarray],
    effects: list[np.ndarray],
    functionals: list[np.ndarray],
    references: list[np.ndarray],
    defined: list[bool],
) -> WindowSums:
    nuisance, columns = np.array(nuisances), np.array([*nuisances, *effects, *functionals, *references, indicator])
    if indicator.size:
        columns = columns - columns.mean(axis=1, keepdims=True)
    in_windows = np.moveaxis(masks @ nuisance.T, -1, 0)
    products, middle = columns @ columns.T, nuisance.sum(axis=1)
    return WindowSums(masks.sum(axis=-1), masks @ indicator, in_windows, products, indicator.size, middle, np.array(defined))


# --- people --------------------------------------------------------------------------------------------------------------


def estimate_first(people: Sequence[WindowSums], window: FirstWindow) -> dict[str, First]:
    """Estimator -> prediction 1 of every person."""
    windows = _Windows(people, window.least, FIRST_LAYOUT)
    estimates = {}
    for name in ESTIMATORS:
        values, pooled = windows.values(name)
        estimates[name] = First(*windows.averages(name, centred=True), values[DIFFERENCE], values[SLOPE], pooled)
    return estimates


def estimate_second(people: Sequence[WindowSums], window: SecondWindow) -> dict[str, Second]:
    """Estimator -> prediction 2 of every person."""
    windows = _Windows(people, window.least, SECOND_LAYOUT)
    estimates = {}
    for name in ESTIMATORS:
        values, pooled = windows.values(name)
        estimates[name] = Second(*windows.averages(name, centred=False), values[SLOPE], pooled)
    return estimates


def pooled_effects(people: Sequence[WindowSums], layout: ColumnOrder) -> dict[str, Pooled]:
    """Quantity -> the adjusted effect over all people."""
    products, trials = np.array([person.products for person in people]), np.array([person.trials for person in people])
    return {quantity: pool(products, trials, layout, quantity) for quantity in layout.functionals}


class _Windows:
    """Averages of people in windows, and what is estimated from them."""

    def __init__(self, people: Sequence[WindowSums], least: int, layout: ColumnOrder) -> None:
        self._people, self._layout = people, layout
        self._counts = np.array([person.counts for person in people])
        self._enough = self._counts >= least
        self._trials = np.array([person.trials for person in people])
        self._plain = self._divided(np.array([person.indicator for person in people]))
        self._defined = np.array([person.defined for person in people])
        self._products = np.array([person.products for person in people])

    def averages(self, name: str, centred: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Trials, counts and means in each window.

        Adjusted, the remainder is 0 where the nuisances are 0 or, `centred`, where they have their mean.
        """
        if name == PAPER:
            return self._trials, self._counts, self._plain
        layout = self._layout
        coefficients = _regression(self._products.sum(axis=0), layout.terms)
        middle = np.zeros(layout.nuisances)
        if centred:
            middle = np.sum([person.middle for person in self._people], axis=0) / max(int(self._trials.sum()), 1)
        sums = np.array([person.nuisance for person in self._people])
        nuisance = np.array([self._divided(sums[:, k]) for k in range(layout.nuisances)])
        from_middle = nuisance - middle.reshape(-1, *[1] * self._plain.ndim)
        means = self._plain - np.tensordot(coefficients[: layout.nuisances], from_middle, 1)
        return self._trials, self._counts, means

    def values(self, name: str) -> tuple[dict[str, np.ndarray], dict[str, Pooled]]:
        """Quantity -> the value of every person, NaN where there is none; and -> the effect over all people, if adjusted."""
        functionals, known = self._layout.functionals, self._defined.T
        if name == PAPER:
            plain = {quantity: self._products[:, self._layout.functional(quantity), -1] for quantity in functionals}
            return {quantity: np.where(known[k], plain[quantity], np.nan) for k, quantity in enumerate(functionals)}, {}
        pooled = pooled_effects(self._people, self._layout)
        shares = {quantity: int(known[k].sum()) * pooled[quantity].shares for k, quantity in enumerate(functionals)}
        return {quantity: np.where(known[k], shares[quantity], np.nan) for k, quantity in enumerate(functionals)}, pooled

    def _divided(self, sums: np.ndarray) -> np.ndarray:
        return np.divide(sums, self._counts, out=np.full(self._counts.shape, np.nan), where=self._enough)


def _regression(products: np.ndarray, terms: int) -> np.ndarray:
    """Coefficients of nuisances and effects. What does not vary has none."""
    squares, aim = products[:terms, :terms], products[:terms, -1]
    scale = np.sqrt(np.diagonal(squares))
    scale = np.where(scale > 0.0, scale, 1.0)
    return np.asarray(np.linalg.pinv(squares / np.outer(scale, scale), rcond=1e-12, hermitian=True) @ (aim / scale) / scale)


def sign_differences(errors: np.ndarray, means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The errors above 0, and the averages at s = +1 less those at s = -1 there: people x error.

    means   people x sign x error. At an error of 0 the sign means nothing, so that it enters no difference and no slope
    """
    compared = errors > 0.0
    return errors[compared], np.ascontiguousarray((means[:, 0] - means[:, 1])[:, compared])


def slopes(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The least-squares slope of each row over the points where y is known; NaN where they are fewer than two."""
    known = ~np.isnan(y)
    count = known.sum(axis=1, keepdims=True)
    from_middle = np.where(known, x - np.where(known, x, 0.0).sum(axis=1, keepdims=True) / np.maximum(count, 1), 0.0)
    squares = (from_middle**2).sum(axis=1)
    with_y = (from_middle * np.where(known, y, 0.0)).sum(axis=1)
    return np.divide(with_y, squares, out=np.full(len(y), np.nan), where=count[:, 0] > 1)


def mean_of(values: np.ndarray) -> np.ndarray:
    """Over the last axis, NaN aside."""
    known = ~np.isnan(values)
    count = known.sum(axis=-1)
    return np.divide(np.where(known, values, 0.0).sum(axis=-1), count, out=np.full(count.shape, np.nan), where=count > 0)


def mean_and_error(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard error of the mean over the last axis, NaN aside; NaN where there are too few."""
    known, mean = ~np.isnan(values), mean_of(values)
    count = known.sum(axis=-1)
    squares = np.where(known, values - mean[..., None], 0.0) ** 2
    variance = np.divide(squares.sum(axis=-1), count * (count - 1.0), out=np.full(count.shape, np.nan), where=count > 1)
    return mean, np.sqrt(variance)
