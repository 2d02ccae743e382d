"""Tables 1 and 2 of the paper: what each hypothesis predicts, what people's values show, and the verdicts.

confirmed        every predicted sign is seen: its interval over people excludes zero, and all zeros together are rejected
contradicted     the opposite of a predicted sign is seen, or something where zero was predicted
undecided        a sign was predicted and is not seen, in data that would probably have shown it
consistent       zero was predicted and is not rejected, in data that would probably have shown something else. No proof of zero
cannot be told   nothing is seen, and the data are too few for that to mean anything; or people are so few that the permutation
                 test cannot reach the level

A hypothesis gets the worst verdict of its quantities. All quantities of a table are tested together (Holm), and only what is
rejected contradicts. So on an indicator that is noise a table has "confirmed" or "contradicted" at a rate of 1 - level at most.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from volatilis.predictions.estimators import DIFFERENCE, S_BF, S_SH, SLOPE
from volatilis.predictions.pooling import ENOUGH, Pooled, can_be_tested, least_people, power

BAYES_FACTOR, SHANNON, NO_PRIOR = "the indicator reflects S_BF", "the indicator reflects S_Sh", "the prior is not used"
# hypothesis -> the predicted sign of each quantity
TABLE_1: Mapping[str, Mapping[str, int]] = {
    BAYES_FACTOR: {DIFFERENCE: -1, SLOPE: -1},
    SHANNON: {DIFFERENCE: 1, SLOPE: 1},
    NO_PRIOR: {DIFFERENCE: 0, SLOPE: 0},
}
TABLE_2: Mapping[str, Mapping[str, int]] = {BAYES_FACTOR: {SLOPE: 0}, SHANNON: {SLOPE: -1}}
TABLES = {1: TABLE_1, 2: TABLE_2}
MEASURES = {BAYES_FACTOR: S_BF, SHANNON: S_SH}

CONFIRMED, CONSISTENT, UNDECIDED, CONTRADICTED = "confirmed", "consistent", "undecided", "contradicted"
CANNOT_BE_TOLD = "cannot be told"
WORST_FIRST = (CONTRADICTED, CANNOT_BE_TOLD, UNDECIDED, CONSISTENT, CONFIRMED)

LEVEL = 0.95
FLIPS = 9_999  # random ones where there are too many to try them all
ALL_UP_TO = 12  # people: 4,096 ways


# --- one quantity over people --------------------------------------------------------------------------------------------


class MeanTest(NamedTuple):
    """A mean over people tested against zero.

    low, high   the confidence interval (Student's t)
    p, p_flip   two-sided: of Student's t; of the permutation test that flips the sign of each person's value
    people      those with a value
    freedom     degrees of freedom of t; None: one less than people
    powers      measure -> the power of this test, were the indicator that measure and as much noise; empty: not known
    """

    value: float
    error: float
    low: float
    high: float
    t: float
    p: float
    p_flip: float
    people: int
    freedom: float | None = None
    powers: Mapping[str, float] = MappingProxyType({})

    @property
    def degrees_of_freedom(self) -> float:
        return max(self.people - 1, 0) if self.freedom is None else self.freedom


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


def pooled_test(
    pooled: Pooled, people: int, level: float = LEVEL, seed: int | None = 0, floor: float = 0.0, with_powers: bool = True
) -> MeanTest:
    """Of an effect over all people. Where the data are too few for a test there is a value and no more.

    people        those with a value
    seed          of the permutation test; None: without it
    with_powers   whether the powers are needed, for verdicts where nothing is rejected
    """
    from scipy import stats

    nothing, scaled = math.nan, people * pooled.shares
    if people == 0:
        return MeanTest(*(nothing,) * 7, 0)
    powers = {measure: power(pooled, measure, level) for measure in pooled.expected} if with_powers else {}
    if not can_be_tested(pooled, people):
        return MeanTest(pooled.value, *(nothing,) * 6, people, pooled.freedom, dict.fromkeys(powers, 0.0))
    if np.abs(scaled).max() <= floor:
        return MeanTest(0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, people, pooled.freedom, powers)
    if not pooled.error > 0.0:
        return MeanTest(pooled.value, pooled.error, *(nothing,) * 5, people, pooled.freedom, powers)
    t, reach = pooled.value / pooled.error, pooled.error * float(stats.t.ppf(0.5 + 0.5 * level, pooled.freedom))
    p = float(2.0 * stats.t.sf(abs(t), pooled.freedom))
    flips = nothing if seed is None else flip_p(scaled, seed)
    interval = (pooled.value - reach, pooled.value + reach)
    return MeanTest(pooled.value, pooled.error, *interval, t, p, flips, people, pooled.freedom, powers)


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
    enough = {quantity for quantity, test in tests.items() if test.people >= least_people(level)}
    rows, rejected = [], holm({quantity: tests[quantity].p for quantity in enough}, 1.0 - level)
    for hypothesis, signs in TABLES[prediction].items():
        verdicts = {
            quantity: verdict(sign, tests[quantity], quantity in rejected, _would_show(tests[quantity], hypothesis))
            if quantity in enough
            else CANNOT_BE_TOLD
            for quantity, sign in signs.items()
        }
        worst = next(word for word in WORST_FIRST if word in verdicts.values())
        if worst == CONFIRMED and not rejected.issuperset(signs):  # then the other hypotheses are not ruled out
            worst = UNDECIDED
        for quantity, sign in signs.items():
            rows.append(Row(prediction, hypothesis, estimator, quantity, sign, tests[quantity], verdicts[quantity], worst))
    return rows


def _would_show(test: MeanTest, hypothesis: str) -> bool:
    """Whether these data would probably show what the hypothesis predicts or, where that is zero, what another does."""
    measure = MEASURES.get(hypothesis, "")
    powers = [test.powers[measure]] if measure in test.powers else [*test.powers.values()]
    return not powers or any(math.isnan(value) or value >= ENOUGH for value in powers)


def verdict(sign: int, test: MeanTest, rejected: bool | None = None, would_show: bool = True) -> str:
    """On one predicted sign (-1, 0 or 1).

    rejected     whether zero is rejected, with all quantities of the table tested together; None: this one alone
    would_show   whether the data would probably show what is there
    """
    if math.isnan(test.low):
        return CANNOT_BE_TOLD
    excluded = not test.low <= 0.0 <= test.high
    rejected = excluded if rejected is None else rejected
    if sign == 0:
        return CONTRADICTED if rejected else CONSISTENT if would_show else CANNOT_BE_TOLD
    if sign * test.value > 0.0 and excluded:
        return CONFIRMED
    if rejected and sign * test.value < 0.0:
        return CONTRADICTED
    return UNDECIDED if would_show else CANNOT_BE_TOLD


def holm(p: Mapping[str, float], alpha: float) -> set[str]:
    """What is rejected: the least of k p-values below alpha / k, the next below alpha / (k - 1), until one is not."""
    rejected: set[str] = set()
    tested = sorted((value, name) for name, value in p.items() if not math.isnan(value))
    for place, (value, name) in enumerate(tested):
        if value >= alpha / (len(tested) - place):
            break
        rejected.add(name)
    return rejected
