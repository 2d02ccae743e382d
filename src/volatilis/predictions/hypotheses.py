"""Tables 1 and 2 of the paper: what each hypothesis predicts, what people's values show, and the verdicts.

A predicted sign is "confirmed" or "contradicted" where the confidence interval over people excludes zero, else "undecided". A
predicted zero is "consistent" where zero is not rejected, else "contradicted": not rejecting zero is no proof of zero, so
nothing confirms it. A hypothesis gets the worst verdict of its quantities.

Where a hypothesis predicts several zeros, one wrong rejection is enough to contradict it; Holm's correction keeps the rate of
that at 1 - level. Signs need none: to be confirmed all must be right, and each is contradicted on one side only, (1 - level) / 2.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

BAYES_FACTOR, SHANNON, NO_PRIOR = "the indicator reflects S_BF", "the indicator reflects S_Sh", "the prior is not used"
DIFFERENCE, SLOPE = "difference", "slope"
# hypothesis -> the predicted sign of each quantity
TABLE_1: Mapping[str, Mapping[str, int]] = {
    BAYES_FACTOR: {DIFFERENCE: -1, SLOPE: -1},
    SHANNON: {DIFFERENCE: 1, SLOPE: 1},
    NO_PRIOR: {DIFFERENCE: 0, SLOPE: 0},
}
TABLE_2: Mapping[str, Mapping[str, int]] = {BAYES_FACTOR: {SLOPE: 0}, SHANNON: {SLOPE: -1}}
TABLES = {1: TABLE_1, 2: TABLE_2}

CONFIRMED, CONSISTENT, UNDECIDED, CONTRADICTED = "confirmed", "consistent", "undecided", "contradicted"
WORST_FIRST = (CONTRADICTED, UNDECIDED, CONSISTENT, CONFIRMED)

LEVEL = 0.95
FLIPS = 9_999  # random ones where there are too many to try them all
ALL_UP_TO = 12  # people: 4,096 ways


# --- one quantity over people --------------------------------------------------------------------------------------------


class MeanTest(NamedTuple):
    """A mean over people tested against zero.

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

    @property
    def degrees_of_freedom(self) -> int:
        return max(self.people - 1, 0)


def mean_test(values: np.ndarray, level: float = LEVEL, seed: int = 0, floor: float = 0.0) -> MeanTest:
    """Of one value per person, NaN aside. Fewer than two values, or values that are all equal, have no standard error: NaN.

    Values that are all within `floor` of zero are rounding errors, and count as zero.
    """
    from scipy import stats

    known = values[~np.isnan(values)]
    n, nothing = known.size, math.nan
    if n == 0:
        return MeanTest(*(nothing,) * 7, 0)
    if n > 1 and np.abs(known).max() <= floor:
        return MeanTest(0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, n)
    value = float(known.mean())
    error = float(known.std(ddof=1) / math.sqrt(n)) if n > 1 else nothing
    if not error > 0.0:
        return MeanTest(value, error, nothing, nothing, nothing, nothing, nothing, n)
    t = value / error
    reach = error * float(stats.t.ppf(0.5 + 0.5 * level, n - 1))
    return MeanTest(value, error, value - reach, value + reach, t, float(2.0 * stats.t.sf(abs(t), n - 1)), flip_p(known, seed), n)


def decide(values: np.ndarray, level: float = LEVEL) -> int:
    """The sign of the mean over people where its interval (that of `mean_test`) excludes zero, else 0."""
    from scipy import stats

    known = values[~np.isnan(values)]
    if known.size < 2:
        return 0
    reach = float(known.std(ddof=1)) / math.sqrt(known.size) * float(stats.t.ppf(0.5 + 0.5 * level, known.size - 1))
    value = float(known.mean())
    return int(np.sign(value)) if reach > 0.0 and abs(value) > reach else 0


def flip_p(values: np.ndarray, seed: int = 0) -> float:
    """How often signs at random give a sum at least as far from zero: all ways up to 12 people, else 9,999 and the given one."""
    given = abs(values.sum()) * (1.0 - 1e-12)
    if values.size <= ALL_UP_TO:
        signs = np.array(list(itertools.product((1.0, -1.0), repeat=values.size)))
        return float(np.mean(np.abs(signs @ values) >= given))
    signs = 1.0 - 2.0 * np.random.default_rng(seed).integers(0, 2, (FLIPS, values.size), dtype=np.int8)
    return float((1 + np.sum(np.abs(signs @ values) >= given)) / (FLIPS + 1))


def check_level(level: float) -> None:
    """Refuse a confidence level that is none."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"level = {level!r} is not accepted; it must be a number between 0 and 1")


# --- verdicts ------------------------------------------------------------------------------------------------------------


class Row(NamedTuple):
    """One quantity of one hypothesis: its predicted sign, its test over people, its verdict and the hypothesis' verdict."""

    prediction: int
    hypothesis: str
    estimator: str
    quantity: str
    predicted: int
    test: MeanTest
    verdict: str
    hypothesis_verdict: str


def judge(prediction: int, estimator: str, tests: Mapping[str, MeanTest], level: float = LEVEL) -> list[Row]:
    """The verdicts of one table (1 or 2) for one estimator's quantities, whose intervals have this level."""
    rows = []
    for hypothesis, signs in TABLES[prediction].items():
        rejected = holm({quantity: tests[quantity].p for quantity, sign in signs.items() if sign == 0}, 1.0 - level)
        verdicts = {quantity: verdict(sign, tests[quantity], quantity in rejected) for quantity, sign in signs.items()}
        worst = next(word for word in WORST_FIRST if word in verdicts.values())
        for quantity, sign in signs.items():
            rows.append(Row(prediction, hypothesis, estimator, quantity, sign, tests[quantity], verdicts[quantity], worst))
    return rows


def verdict(sign: int, test: MeanTest, rejected: bool = False) -> str:
    """On one predicted sign (-1, 0 or 1).

    rejected   whether zero is rejected, with all zeros of the hypothesis tested together
    """
    if math.isnan(test.low):
        return UNDECIDED
    if sign == 0:
        return CONTRADICTED if rejected else CONSISTENT
    if test.low <= 0.0 <= test.high:
        return UNDECIDED
    return CONFIRMED if sign * test.value > 0.0 else CONTRADICTED


def holm(p: Mapping[str, float], alpha: float) -> set[str]:
    """What is rejected: the least of k p-values below alpha / k, the next below alpha / (k - 1), until one is not."""
    rejected: set[str] = set()
    tested = sorted((value, name) for name, value in p.items() if not math.isnan(value))
    for place, (value, name) in enumerate(tested):
        if value >= alpha / (len(tested) - place):
            break
        rejected.add(name)
    return rejected
