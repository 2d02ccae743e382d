"""A few numbers per group and learner, summed up as the rows come."""

from __future__ import annotations

from typing import Any

import numpy as np

from volatilis.families import Categorical
from volatilis.families._base import Family

CHANGE = 0.5  # an adaptation rate above it is high: the learner mostly forgot


class Person:
    """How far people's own predictions are from the outcomes; None without predictions."""

    def __init__(self) -> None:
        self._error = _Mean()

    @property
    def error(self) -> float | None:
        """The mean distance; for categories the share of wrong ones."""
        return self._error.value

    def add(self, predictions: np.ndarray, outcomes: np.ndarray, family: Family) -> None:
        if predictions.shape[1]:
            categorical = isinstance(family, Categorical)
            apart = distance(predictions, outcomes, family)
            self._error.add(np.minimum(apart, 1.0) if categorical else apart)


class Tally:
    """One learner on one group. What the learner does not define, or was not asked for, stays None."""

    def __init__(self) -> None:
        self.changes: int | None = None
        self._surprise, self._error = _Mean(), _Mean()
        self._last: np.ndarray | None = None

    @property
    def shannon(self) -> float | None:
        """The mean Shannon surprise, in nats."""
        return self._surprise.value

    @property
    def error(self) -> float | None:
        """The mean distance of an outcome from the estimate before it; what follows a start anew is not counted."""
        return self._error.value

    def add_rates(self, rates: np.ndarray) -> None:
        self.changes = (self.changes or 0) + int(np.count_nonzero(rates > CHANGE))

    def add_surprise(self, surprise: np.ndarray) -> None:
        self._surprise.add(surprise)

    def add_estimates(self, means: np.ndarray, outcomes: np.ndarray, resets: np.ndarray | None, family: Family) -> None:
        """means: (rows, elements); outcomes: (rows, columns). For a category the distance is 1 - its estimated probability."""
        last = np.full(means.shape[1], np.nan) if self._last is None else self._last
        before = np.vstack([last, means[:-1]])
        if resets is not None:
            before[resets] = np.nan
        self._last = means[-1]
        if isinstance(family, Categorical):
            seen = ~np.isnan(outcomes[:, 0])
            rows, category = np.flatnonzero(seen), outcomes[seen, 0].astype(np.intp)
            self._error.add(1.0 - before[rows, category])
        else:
            self._error.add(distance(outcomes, before, family))


def distance(a: np.ndarray, b: np.ndarray, family: Family) -> np.ndarray:
    """Of rows; on a circle the short way round."""
    apart: Any = family.difference  # takes arrays as it takes numbers
    return np.asarray(np.sqrt((apart(a, b) ** 2).sum(axis=1)))


class _Mean:
    """Of what is finite."""

    def __init__(self) -> None:
        self._sum, self._count = 0.0, 0

    def add(self, values: np.ndarray) -> None:
        finite = values[np.isfinite(values)]
        self._sum += float(finite.sum())
        self._count += len(finite)

    @property
    def value(self) -> float | None:
        return self._sum / self._count if self._count else None
