"""The whole analysis of people's trials: both predictions, both estimators, verdicts, and notes on what is missing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from volatilis.predictions.estimators import (
    ADJUSTED,
    DIFFERENCE,
    SLOPE,
    First,
    Second,
    estimate_first,
    estimate_second,
    sums_first,
    sums_second,
)
from volatilis.predictions.hypotheses import (
    CANNOT_BE_TOLD,
    CONFIRMED,
    CONTRADICTED,
    LEVEL,
    MEASURES,
    NO_PRIOR,
    SHANNON,
    MeanTest,
    Row,
    check_level,
    judge,
    mean_test,
    pooled_test,
)
from volatilis.predictions.pooling import Need, need
from volatilis.predictions.windows import FirstWindow, SecondWindow, SubjectTrials, check_windows

ROUNDING = 1e-9  # of the largest average in a window


class Analysis(NamedTuple):
    """Both predictions on people's trials. `first` and `second` go by estimator; `second` is empty without a learner.

    needs   (prediction, hypothesis) -> how much data each of its quantities takes, where a hypothesis cannot be told (adjusted)
    """

    people: tuple[SubjectTrials, ...]
    first_window: FirstWindow
    second_window: SecondWindow
    first: Mapping[str, First]
    second: Mapping[str, Second]
    rows: tuple[Row, ...]
    level: float
    notes: tuple[str, ...]
    needs: Mapping[tuple[int, str], tuple[Need, ...]]

    def verdicts(self, prediction: int, estimator: str = ADJUSTED) -> dict[str, str]:
        """Hypothesis -> verdict."""
        chosen = [row for row in self.rows if row.prediction == prediction and row.estimator == estimator]
        return {row.hypothesis: row.hypothesis_verdict for row in chosen}

    def alike_without_prior(self) -> bool:
        """Whether prediction 2 speaks for S_Sh, while prediction 1 leaves open that the prior is not used.

        Prediction 2 alone cannot tell S_Sh from an indicator that follows |error| and ignores the prior.
        """
        if not self.second or self.verdicts(2).get(SHANNON) != CONFIRMED:
            return False
        return self.verdicts(1)[NO_PRIOR] != CONTRADICTED


def analyse(
    people: Sequence[SubjectTrials],
    first_window: FirstWindow | None = None,
    second_window: SecondWindow | None = None,
    level: float = LEVEL,
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
    for name, one in first.items():
        rows += judge(1, name, _tests(one, {DIFFERENCE: one.difference, SLOPE: one.slope}, level, seed), level)
    for name, two in second.items():
        rows += judge(2, name, _tests(two, {SLOPE: two.slope}, level, seed), level)
    notes = (*_notes_on_all(people, with_learner), *_notes_first(people, first[ADJUSTED]), *_notes_second(people, second))
    needs = _needs(people, rows, {1: first[ADJUSTED], **({2: second[ADJUSTED]} if second else {})}, level)
    return Analysis(tuple(people), first_window, second_window, first, second, tuple(rows), level, notes, needs)


def _tests(estimates: First | Second, values: Mapping[str, np.ndarray], level: float, seed: int) -> dict[str, MeanTest]:
    """Quantity -> its test over people."""
    floor = _floor(estimates.means)
    if not estimates.pooled:
        return {quantity: mean_test(of_people, level, seed, floor) for quantity, of_people in values.items()}
    return {
        quantity: pooled_test(estimates.pooled[quantity], _known(of_people), level, seed, floor)
        for quantity, of_people in values.items()
    }


def _known(values: np.ndarray) -> int:
    return int(np.sum(~np.isnan(values)))


def _needs(
    people: Sequence[SubjectTrials], rows: Sequence[Row], estimates: Mapping[int, First | Second], level: float
) -> dict[tuple[int, str], tuple[Need, ...]]:
    """What cannot be told, and how much it takes. A predicted zero can be told where another hypothesis would be seen."""
    trials, needs = [person.indicator.size for person in people], dict[tuple[int, str], tuple[Need, ...]]()
    for row in rows:
        if row.estimator == ADJUSTED and row.hypothesis_verdict == row.verdict == CANNOT_BE_TOLD:
            one, key = estimates[row.prediction], (row.prediction, row.hypothesis)
            pooled, counts = one.pooled[row.quantity], (one.trials, row.test.people, trials)
            measures = [MEASURES[row.hypothesis]] if row.predicted else [*pooled.expected]
            each = [need(pooled, row.quantity, measure, *counts, level) for measure in measures]
            needs[key] = (*needs.get(key, ()), min(each, key=lambda one: one.people or math.inf))
    return needs


def _floor(means: np.ndarray) -> float:
    """Below it a difference of such averages is a rounding error."""
    known = means[~np.isnan(means)]
    return ROUNDING * float(np.abs(known).max()) if known.size else 0.0


def _standardised(trials: SubjectTrials) -> SubjectTrials:
    known = trials.indicator[~np.isnan(trials.indicator)]
    deviation = known.std() if known.size else 0.0
    if not deviation > 0.0:
        raise ValueError(f"{trials.name}: the indicator has the same value in all trials; it cannot be brought to variance 1")
    return trials._replace(indicator=(trials.indicator - known.mean()) / deviation)


# --- what is missing -----------------------------------------------------------------------------------------------------


def _notes_on_all(people: Sequence[SubjectTrials], with_learner: bool) -> list[str]:
    notes = []
    missing, trials = sum(person.missing for person in people), sum(person.indicator.size for person in people)
    if missing:
        number = sum(person.missing > 0 for person in people)
        who = "1 person" if number == 1 else f"{number} people"
        notes.append(f"the indicator is missing in {missing:,} of {trials:,} trials, of {who}: left out")
    if len(people) == 1:
        notes.append("one person only: there is no spread over people, so no interval, no test and no verdict")
    if not with_learner:
        notes.append("prediction 2 needs a learner, which gives the probability of each outcome: name one")
    return notes


def _notes_first(people: Sequence[SubjectTrials], first: First) -> list[str]:
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


def _notes_second(people: Sequence[SubjectTrials], second: Mapping[str, Second]) -> list[str]:
    if not second:
        return []
    estimates = second[ADJUSTED]
    return [
        f"{trials.name}: prediction 2: {int(counts.sum())} trials; values of p with enough of them: "
        f"{int((~np.isnan(means)).sum())}; a slope needs two: left out"
        for trials, counts, means, slope in zip(people, estimates.counts, estimates.means, estimates.slope, strict=True)
        if np.isnan(slope)
    ]
