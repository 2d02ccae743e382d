"""Tables 1 and 2 of the paper: what each hypothesis predicts, and what the data say about it.

A predicted sign is "confirmed" or "contradicted" where the confidence interval over people excludes zero, else "undecided". A
predicted zero is "consistent" where the interval holds zero, else "contradicted": an interval that holds zero is no proof of
zero, so nothing confirms it. A hypothesis gets the worst verdict of its quantities.

Where a hypothesis predicts several zeros, one wrong refusal is enough to contradict it; Holm's correction keeps the rate of that
at 1 - level. Signs need none: to be confirmed all must be right, and each is contradicted on one side only, (1 - level) / 2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from volatilis.predictions.statistics import Group

BAYES_FACTOR, SHANNON, NO_PRIOR = "the indicator reflects S_BF", "the indicator reflects S_Sh", "the prior is not used"
# hypothesis -> the predicted sign of each quantity
TABLE_1: Mapping[str, Mapping[str, int]] = {
    BAYES_FACTOR: {"difference": -1, "slope": -1},
    SHANNON: {"difference": 1, "slope": 1},
    NO_PRIOR: {"difference": 0, "slope": 0},
}
TABLE_2: Mapping[str, Mapping[str, int]] = {BAYES_FACTOR: {"slope": 0}, SHANNON: {"slope": -1}}
TABLES = {1: TABLE_1, 2: TABLE_2}
WORST_FIRST = ("contradicted", "undecided", "consistent", "confirmed")


class Row(NamedTuple):
    """One quantity of one hypothesis."""

    prediction: int
    hypothesis: str
    estimator: str
    quantity: str
    predicted: int
    group: Group
    verdict: str
    hypothesis_verdict: str


def rows_of(prediction: int, estimator: str, groups: Mapping[str, Group], level: float = 0.95) -> list[Row]:
    """The verdicts of one table for one estimator's quantities, whose intervals have this level."""
    rows = []
    for hypothesis, signs in TABLES[prediction].items():
        refused = holm({quantity: groups[quantity].p for quantity, sign in signs.items() if sign == 0}, 1.0 - level)
        verdicts = {quantity: verdict(sign, groups[quantity], quantity in refused) for quantity, sign in signs.items()}
        whole = next(word for word in WORST_FIRST if word in verdicts.values())
        for quantity, sign in signs.items():
            rows.append(Row(prediction, hypothesis, estimator, quantity, sign, groups[quantity], verdicts[quantity], whole))
    return rows


def verdict(sign: int, group: Group, refused: bool = False) -> str:
    """refused: whether zero is, by all tests of zeros together."""
    if math.isnan(group.low):
        return "undecided"
    if sign == 0:
        return "contradicted" if refused else "consistent"
    if group.low <= 0.0 <= group.high:
        return "undecided"
    return "confirmed" if sign * group.value > 0.0 else "contradicted"


def holm(p: Mapping[str, float], alpha: float) -> set[str]:
    """Which hypotheses are refused: the least of k p-values below alpha / k, the next below alpha / (k - 1), until one is not."""
    refused: set[str] = set()
    tested = sorted((value, name) for name, value in p.items() if not math.isnan(value))
    for place, (value, name) in enumerate(tested):
        if value >= alpha / (len(tested) - place):
            break
        refused.add(name)
    return refused
