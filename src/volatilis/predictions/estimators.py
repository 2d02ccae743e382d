"""The paper's estimators, for each person: averages in windows, their difference between the sign biases, their slopes.

Trials in one window are alike, not equal. What an indicator that follows only the size of the error (prediction 1) or only the
Bayes Factor Surprise (prediction 2) shows between such trials is a remainder of the windows, not an effect. So each estimator
comes twice:

paper      as the paper has it
adjusted   the same on the indicator less its remainder: a regression over all selected trials, each person with a level of their
           own, that has both the effect and what differs within a window; only the latter is taken away

Only sums over a person's trials are kept, so many groups of the same people cost little.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from volatilis.predictions.windows import FirstWindow, SecondWindow, SubjectTrials

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
    """Prediction 1: arrays of people x sign x error, and of people. Windows overlap; `trials` counts a trial once."""

    trials: np.ndarray
    counts: np.ndarray
    means: np.ndarray
    difference: np.ndarray  # between the signs, over errors with trials of both
    slope: np.ndarray  # of that difference over errors


class Second(NamedTuple):
    """Prediction 2: arrays of people x p, and of people."""

    trials: np.ndarray
    counts: np.ndarray
    means: np.ndarray
    slope: np.ndarray


# --- one person ----------------------------------------------------------------------------------------------------------


def sums_first(trials: SubjectTrials, window: FirstWindow) -> Sums:
    """What differs within a window, whatever the sign bias: the size of the error and of the prediction, and confidence."""
    masks = window.masks(trials)
    chosen = masks.any(axis=(0, 1))
    error, prediction, unsure = trials.error[chosen], trials.prediction[chosen], window.uncertainty(trials)[chosen]
    size, bias = np.abs(error), np.sign(error * prediction)
    nuisances, effects = [size, size**2, np.abs(prediction), unsure], [bias, bias * size]
    return _sums(masks[:, :, chosen], trials.indicator[chosen], nuisances, effects)


def sums_second(trials: SubjectTrials, window: SecondWindow) -> Sums:
    """What differs within a window: the Bayes Factor Surprise, which there is near 1 but not 1, and its logarithm."""
    masks = window.masks(trials)
    chosen = masks.any(axis=0)
    p, p_0 = trials.p[chosen], trials.p_0[chosen]
    return _sums(masks[:, chosen], trials.indicator[chosen], [np.log(p_0 / p), p_0 / p - 1.0], [0.5 * (p + p_0)])


def _sums(masks: np.ndarray, indicator: np.ndarray, nuisances: list[np.ndarray], effects: list[np.ndarray]) -> Sums:
    nuisance, terms = np.array(nuisances), np.array([*nuisances, *effects, indicator])
    if indicator.size:
        terms = terms - terms.mean(axis=1, keepdims=True)
    in_windows = np.moveaxis(masks @ nuisance.T, -1, 0)
    products, middle = terms @ terms.T, nuisance.sum(axis=1)
    return Sums(masks.sum(axis=-1), masks @ indicator, in_windows, products, indicator.size, middle)


# --- people --------------------------------------------------------------------------------------------------------------

Functional = Callable[[np.ndarray], np.ndarray]  # from people x windows to a value per person; linear


def estimate_first(people: Sequence[Sums], window: FirstWindow) -> dict[str, First]:
    """Estimator -> prediction 1 of every person."""
    errors = np.array(window.errors)

    def difference(means: np.ndarray) -> np.ndarray:
        return mean_of(sign_differences(errors, means)[1])

    def slope(means: np.ndarray) -> np.ndarray:
        return slopes(*sign_differences(errors, means))

    windows, trials = _Windows(people, window.least), _trials(people)
    return {
        name: First(
            trials,
            windows.counts,
            windows.means(name, centred=True),
            windows.values(name, difference),
            windows.values(name, slope),
        )
        for name in ESTIMATORS
    }


def estimate_second(people: Sequence[Sums], window: SecondWindow) -> dict[str, Second]:
    """Estimator -> prediction 2 of every person."""
    p = np.array(window.p)
    windows, trials = _Windows(people, window.least), _trials(people)
    return {
        name: Second(
            trials,
            windows.counts,
            windows.means(name, centred=False),
            windows.values(name, lambda means: slopes(p, means)),
        )
        for name in ESTIMATORS
    }


def _trials(people: Sequence[Sums]) -> np.ndarray:
    return np.array([person.trials for person in people])


class _Windows:
    """Averages of people in windows, and what is estimated from them."""

    def __init__(self, people: Sequence[Sums], least: int) -> None:
        self.counts = np.array([person.counts for person in people])
        self._people, self._enough = people, self.counts >= least
        self._plain = self._divided(np.array([person.indicator for person in people]))
        sums = np.array([person.nuisance for person in people])
        self._nuisance = np.array([self._divided(sums[:, k]) for k in range(sums.shape[1])])
        self._products = np.array([person.products for person in people])

    def means(self, name: str, centred: bool) -> np.ndarray:
        """In each window; adjusted, the remainder is 0 where the nuisances are 0 or, `centred`, where they have their mean."""
        if name == PAPER:
            return self._plain
        coefficients, _ = _regression(self._products.sum(axis=0))
        middle = np.zeros(len(self._nuisance))
        if centred:
            trials = sum(person.trials for person in self._people)
            middle = np.sum([person.middle for person in self._people], axis=0) / max(trials, 1)
        from_middle = self._nuisance - middle.reshape(-1, *[1] * self._plain.ndim)
        return self._plain - np.tensordot(coefficients[: len(middle)], from_middle, 1)

    def values(self, name: str, functional: Functional) -> np.ndarray:
        """A value per person, NaN where there is none.

        The adjusted values rest on coefficients that all people share. So that their spread is that of their mean, each person's
        value also has what the person did to the coefficients, times what that did to the mean (the influence, as in errors that
        are robust to clusters). These parts sum to 0. Without them people who saw the same outcomes would seem to agree too well.
        """
        plain = functional(self._plain)
        known = ~np.isnan(plain)
        if name == PAPER or not known.any():
            return plain
        products = self._products[known]
        coefficients, inverse = _regression(products.sum(axis=0))
        remainders = np.array([functional(nuisance) for nuisance in self._nuisance])[:, known]
        count = len(remainders)
        scores = products[:, :-1, -1] - products[:, :-1, :-1] @ coefficients
        influence = len(scores) * scores @ inverse[:, :count] @ remainders.mean(axis=1)
        adjusted = np.full(plain.shape, np.nan)
        adjusted[known] = plain[known] - coefficients[:count] @ remainders - influence
        return adjusted

    def _divided(self, sums: np.ndarray) -> np.ndarray:
        return np.divide(sums, self.counts, out=np.full(self.counts.shape, np.nan), where=self._enough)


def _regression(products: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients of nuisances and effects, and the inverse of their products. What does not vary has none."""
    terms, aim = products[:-1, :-1], products[:-1, -1]
    scale = np.sqrt(np.diagonal(terms))
    scale = np.where(scale > 0.0, scale, 1.0)
    inverse = np.linalg.pinv(terms / np.outer(scale, scale), rcond=1e-12, hermitian=True) / np.outer(scale, scale)
    return inverse @ aim, inverse


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
