"""One group of a table: its rows as far as they are drawn, a few sums per learner, and its changes, found by looking back."""

from __future__ import annotations

import base64
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from volatilis.changepoints import Change
from volatilis.changepoints.looking_back import look_back_over
from volatilis.families import Categorical
from volatilis.families._base import Family
from volatilis.html import Json
from volatilis.learners import ExactBayes, PerContext
from volatilis.learners._base import Learner
from volatilis.trials.groups import Key

Steps = tuple[np.ndarray, np.ndarray, np.ndarray]  # observations as their family has them, events, which are missing


class Looked(NamedTuple):
    """What looking back over a group found with one family and one p_c, and the learners that have these.

    Positions count the drawn rows from 0.
    """

    labels: list[str]
    p_c: float
    probability: np.ndarray
    found: list[Change]


def looks_back(learner: Learner) -> Learner | None:
    """Exact inference with a learner's family and p_c, which finds the changes; None where it has not one p_c for all."""
    if isinstance(learner, ExactBayes):
        return learner
    p_c = learner.change_probability()
    if isinstance(learner, PerContext) or learner.learns_change_probability() or not 0.0 < p_c < 1.0:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about outliers: the page says it
        return ExactBayes(learner.family, p_c)


class GroupPicture:
    """One group: its first rows, as many as there is room for, and what is summed up over all of them."""

    def __init__(self, key: Key, learners: dict[str, Learner]) -> None:
        self.key = key
        self.rows = self.drawn = self.missing = 0
        self.person, self.tallies = PredictionErrors(), {label: Tally() for label in learners}
        self.changes: list[Looked] = []
        self._lookers: dict[str, tuple[Learner, list[str]]] = {}
        for label, learner in learners.items():
            looker = looks_back(learner)
            if looker is not None:
                self._lookers.setdefault(repr(looker), (looker, []))[1].append(label)
        self._pieces: list[np.ndarray] = []
        self._resets: list[np.ndarray] = []
        self._steps: list[Steps] = []

    @property
    def looker(self) -> Learner | None:
        """One of those that look back, if there is one: all have the same family."""
        return next((looker for looker, _ in self._lookers.values()), None)

    def add(self, numbers: np.ndarray, resets: np.ndarray | None, steps: Steps | None) -> None:
        """numbers: (rows, columns); steps: the same rows as the family has them."""
        self._pieces.append(numbers)
        self._resets.append(np.zeros(len(numbers), dtype=bool) if resets is None else resets)
        if steps is not None:
            self._steps.append(steps)
        self.drawn += len(numbers)

    def numbers(self) -> np.ndarray:
        return np.concatenate(self._pieces)

    def resets(self) -> np.ndarray:
        """Where the learners start anew."""
        return np.flatnonzero(np.concatenate(self._resets))

    def look_back(self) -> None:
        """Find the changes among the drawn rows. What that takes is forgotten then."""
        if self._steps:
            values, events, absent = (np.concatenate([part[k] for part in self._steps]) for k in range(3))
            for looker, labels in self._lookers.values():
                result = look_back_over(looker, values, absent, events)
                self.changes.append(Looked(labels, looker.change_probability(), result.probability, result.found))
                for label in labels:
                    self.tallies[label].changes = len(result.found)
        self._steps = []


class Numbers(NamedTuple):
    """The drawn numbers of a group by what they are; the computed columns in their order."""

    trial: np.ndarray
    outcomes: list[np.ndarray]
    predictions: list[np.ndarray]
    computed: list[np.ndarray]


def numbers_of(picture: GroupPicture, outcomes: Sequence[str], predictions: Sequence[str]) -> Numbers:
    """What is drawn of a group, for so many outcomes and predictions."""
    columns = list(picture.numbers().T)
    first, last = 1 + len(outcomes), 1 + len(outcomes) + len(predictions)
    return Numbers(columns[0], columns[1:first], columns[first:last], columns[last:])


class PredictionErrors:
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
        self.changes: int | None = None  # found by looking back
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


# --- as the script gets it -----------------------------------------------------------------------------------------------------
#
# An array is {"type": "f4" or "f8", "data": base64 of little-endian floats}: single precision where that is within a millionth of
# the array's range, double precision where it is not.

PRECISION = 1e-6  # of an array's range


def encoded(values: np.ndarray) -> dict[str, str]:
    """An array in as few bytes as its precision allows."""
    with np.errstate(over="ignore"):
        single = values.astype("<f4")
        finite = np.isfinite(values)
        kept, meant = single[finite].astype(float), values[finite]
        size = (meant.max() - meant.min() or abs(meant[0])) if len(meant) else 0.0
        enough = bool(np.isfinite(kept).all() and (np.abs(kept - meant) <= PRECISION * size).all())
    data = single if enough else values.astype("<f8")
    return {"type": "f4" if enough else "f8", "data": base64.b64encode(data.tobytes()).decode()}


def group_data(picture: GroupPicture, outcomes: Sequence[str], predictions: Sequence[str]) -> dict[str, Json]:
    """All that the script needs of a group."""
    numbers = numbers_of(picture, outcomes, predictions)
    return {
        "key": list(picture.key),
        "rows": picture.rows,
        "missing": picture.missing,
        "resets": picture.resets().tolist(),
        "sums": {label: [t.changes, t.shannon, t.error] for label, t in picture.tallies.items()},
        "person": picture.person.error,
        "trial": _numbered(numbers.trial),
        "outcomes": [encoded(values) for values in numbers.outcomes],
        "predictions": [encoded(values) for values in numbers.predictions],
        "computed": [encoded(values) for values in numbers.computed],
        "changes": [_looked(looked) for looked in picture.changes],
    }


def _looked(looked: Looked) -> dict[str, Json]:
    """found: position, the earliest it can be, the ends of its credible set, and its probability."""
    rows: list[Json] = [[c.position, c.earliest, c.low, c.high, c.probability] for c in looked.found]
    expected = float(looked.probability.sum())
    return {"labels": looked.labels, "expected": expected, "found": rows, "probability": encoded(looked.probability)}


def _numbered(trials: np.ndarray) -> Json:
    """Trials that count up one by one are their first number and how many there are."""
    if (np.diff(trials) == 1.0).all():
        return {"first": float(trials[0]), "count": len(trials)}
    return encoded(trials)
