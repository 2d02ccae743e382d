"""The whole analysis of people's trials: both predictions, both estimators, verdicts, and what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from volatilis.behaviour.indicators.observed import Observed
from volatilis.predictions.estimators import ADJUSTED, First, Second, estimate_first, estimate_second, sums_first, sums_second
from volatilis.predictions.hypotheses import Row, rows_of
from volatilis.predictions.statistics import group_of
from volatilis.predictions.windows import FirstWindow, SecondWindow, check_windows

ROUNDING = 1e-9  # of the largest average in a window


class Analysis(NamedTuple):
    """What was found. `second` is empty without a learner; `refused` says what is wrong with people who were left out."""

    people: tuple[Observed, ...]
    first_window: FirstWindow
    second_window: SecondWindow
    first: Mapping[str, First]
    second: Mapping[str, Second]
    rows: tuple[Row, ...]
    level: float
    notes: tuple[str, ...]
    refused: Mapping[str, str] = {}
    values: Mapping[str, Mapping[str, float]] = {}  # person -> what was fitted
    warnings: Mapping[str, tuple[str, ...]] = {}  # person -> what must be known before these values are used

    def verdicts(self, prediction: int, estimator: str = ADJUSTED) -> dict[str, str]:
        """Hypothesis -> verdict."""
        chosen = [row for row in self.rows if row.prediction == prediction and row.estimator == estimator]
        return {row.hypothesis: row.hypothesis_verdict for row in chosen}


def analyse(
    people: Sequence[Observed],
    first_window: FirstWindow | None = None,
    second_window: SecondWindow | None = None,
    level: float = 0.95,
    zscore: bool = False,
    seed: int = 0,
) -> Analysis:
    """Put both predictions to the test.

    level    of the confidence intervals, on which the verdicts rest
    zscore   bring each person's indicator to mean 0 and variance 1 first, where people differ in scale
    seed     of the permutation test
    """
    first_window, second_window = first_window or FirstWindow(), second_window or SecondWindow()
    check_windows(first_window, second_window)
    if not people:
        raise ValueError("there is nobody to analyse")
    check_level(level)
    if zscore:
        people = [_standardised(trials) for trials in people]
    first = estimate_first([sums_first(trials, first_window) for trials in people], first_window)
    with_learner = not all(np.isnan(trials.p).all() for trials in people)
    second: Mapping[str, Second] = {}
    if with_learner:
        second = estimate_second([sums_second(trials, second_window) for trials in people], second_window)
    rows: list[Row] = []
    for name, found in first.items():
        floor = _floor(found.means)
        groups = {quantity: group_of(getattr(found, quantity), level, seed, floor) for quantity in ("difference", "slope")}
        rows += rows_of(1, name, groups, level)
    for name, own in second.items():
        rows += rows_of(2, name, {"slope": group_of(own.slope, level, seed, _floor(own.means))}, level)
    notes = (*_notes_on_all(people, with_learner), *_notes_first(people, first[ADJUSTED]), *_notes_second(people, second))
    return Analysis(tuple(people), first_window, second_window, first, second, tuple(rows), level, notes)


def check_level(level: float) -> None:
    if not 0.0 < level < 1.0:
        raise ValueError(f"level = {level!r} is not accepted; it must be a number between 0 and 1")


def _floor(means: np.ndarray) -> float:
    """Below it a difference of such averages is a rounding error."""
    there = means[~np.isnan(means)]
    return ROUNDING * float(np.abs(there).max()) if there.size else 0.0


def _standardised(trials: Observed) -> Observed:
    own = trials.indicator[~np.isnan(trials.indicator)]
    deviation = own.std() if own.size else 0.0
    if not deviation > 0.0:
        raise ValueError(f"{trials.name}: the indicator has the same value in all trials; it cannot be brought to variance 1")
    return trials._replace(indicator=(trials.indicator - own.mean()) / deviation)


# --- what is missing -----------------------------------------------------------------------------------------------------


def _notes_on_all(people: Sequence[Observed], with_learner: bool) -> list[str]:
    notes = []
    absent, trials = sum(person.missing for person in people), sum(person.indicator.size for person in people)
    if absent:
        whose = sum(person.missing > 0 for person in people)
        who = "1 person" if whose == 1 else f"{whose} people"
        notes.append(f"the indicator is missing in {absent:,} of {trials:,} trials, of {who}: left out")
    if len(people) == 1:
        notes.append("one person only: there is no spread over people, so no interval, no test and no verdict")
    if not with_learner:
        notes.append("prediction 2 needs a learner, which tells how probable an outcome was: give one")
    return notes


def _notes_first(people: Sequence[Observed], first: First) -> list[str]:
    notes = []
    for trials, counts, difference, slope in zip(people, first.counts, first.difference, first.slope, strict=True):
        plus, minus = (int(n) for n in counts.max(axis=1))
        if np.isnan(difference):
            notes.append(
                f"{trials.name}: prediction 1: no absolute error has enough trials of both signs (the fullest windows have "
                f"{plus} of s = +1 and {minus} of s = -1): left out"
            )
        elif np.isnan(slope):
            notes.append(f"{trials.name}: prediction 1: trials of both signs at one absolute error only: no slope")
    return notes


def _notes_second(people: Sequence[Observed], second: Mapping[str, Second]) -> list[str]:
    if not second:
        return []
    own = second[ADJUSTED]
    return [
        f"{trials.name}: prediction 2: {int(counts.sum())} trials; values of p with enough of them: "
        f"{int((~np.isnan(means)).sum())}; a slope needs two: left out"
        for trials, counts, means, slope in zip(people, own.counts, own.means, own.slope, strict=True)
        if np.isnan(slope)
    ]
