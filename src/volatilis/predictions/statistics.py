"""What a quantity of each person says about all people: Student's t, its interval, and a permutation test of the signs."""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np

FLIPS = 9_999  # random ones where there are too many to try them all
ALL_UP_TO = 12  # people: 4,096 ways


class Group(NamedTuple):
    """A mean over people against zero.

    low, high   the confidence interval (Student's t)
    p, p_flip   two-sided: of Student's t; of the permutation test that flips the sign of each person's value
    people      those with a value
    """

    value: float
    error: float
    low: float
    high: float
    t: float
    p: float
    p_flip: float
    people: int


def group_of(values: np.ndarray, level: float = 0.95, seed: int = 0, floor: float = 0.0) -> Group:
    """Of one value per person, NaN aside. Of fewer than two, or of values that are all alike, no error can be told: NaN.

    Values that are all within `floor` of zero are rounding errors, and zero.
    """
    from scipy import stats

    own = values[~np.isnan(values)]
    n, nothing = own.size, math.nan
    if n == 0:
        return Group(*(nothing,) * 7, 0)
    if n > 1 and np.abs(own).max() <= floor:
        return Group(0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, n)
    value = float(own.mean())
    error = float(own.std(ddof=1) / math.sqrt(n)) if n > 1 else nothing
    if not error > 0.0:
        return Group(value, error, nothing, nothing, nothing, nothing, nothing, n)
    t = value / error
    reach = error * float(stats.t.ppf(0.5 + 0.5 * level, n - 1))
    return Group(value, error, value - reach, value + reach, t, float(2.0 * stats.t.sf(abs(t), n - 1)), flip_p(own, seed), n)


def decide(values: np.ndarray, level: float = 0.95) -> int:
    """The sign of the mean over people where its interval (of `group_of`) excludes zero, else 0."""
    from scipy import stats

    own = values[~np.isnan(values)]
    if own.size < 2:
        return 0
    reach = float(own.std(ddof=1)) / math.sqrt(own.size) * float(stats.t.ppf(0.5 + 0.5 * level, own.size - 1))
    value = float(own.mean())
    return int(np.sign(value)) if reach > 0.0 and abs(value) > reach else 0


def flip_p(values: np.ndarray, seed: int = 0) -> float:
    """How often signs at random give a sum at least as far from zero; all ways up to 12 people, else 9,999 and the one seen."""
    seen = abs(values.sum()) * (1.0 - 1e-12)
    if values.size <= ALL_UP_TO:
        signs = np.array(list(itertools.product((1.0, -1.0), repeat=values.size)))
        return float(np.mean(np.abs(signs @ values) >= seen))
    signs = 1.0 - 2.0 * np.random.default_rng(seed).integers(0, 2, (FLIPS, values.size), dtype=np.int8)
    return float((1 + np.sum(np.abs(signs @ values) >= seen)) / (FLIPS + 1))
