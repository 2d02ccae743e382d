"""The trials that the paper's two predictions would compare in a sequence of outcomes, counted for each learner.

Which trials count as alike is defined in `volatilis.predictions.windows`, for all commands. Here nobody has an indicator yet: the
learner's belief stands for the person, unless their own predictions or confidence are in the table. Windows overlap, so that a
trial may count for two errors, as in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from volatilis.families import Gaussian, Given
from volatilis.learners._base import Learner
from volatilis.predictions.windows import (
    SIGNS,
    FirstWindow,
    SecondWindow,
    SubjectTrials,
    beliefs_from,
    first_encounters,
    previous,
)
from volatilis.running.steps import defined_readouts
from volatilis.separation.regressors import RowsOfRuns

MEASURES = ("mean", "variance", "log_bayes_factor_surprise", "shannon_surprise")  # that a learner must have


class Selected(NamedTuple):
    """The trials at one value `at`: of the absolute error (prediction 1, with the sign bias) or of p (prediction 2, sign 0).

    `runs` have enough of them for an average. The averages are over all trials, of the learner's surprise; NaN
    where there are none.
    """

    label: str
    prediction: int
    sign: int
    at: float
    trials: int
    runs: int
    bayes_factor: float
    shannon: float


class Unselected(NamedTuple):
    """A learner for which the predictions are not defined, and why."""

    label: str
    reason: str


class LearnerRun(NamedTuple):
    """One run of a learner: its trials, and the learner's surprises."""

    trials: SubjectTrials
    bayes_factor: np.ndarray
    shannon: np.ndarray


def why_not(learner: Learner) -> str | None:
    """Why the predictions are not defined for a learner, or nothing."""
    if "log_bayes_factor_surprise" not in defined_readouts(learner):
        return "it has no belief, so no surprise"
    inner = learner.family.family if isinstance(learner.family, Given) else learner.family
    if not isinstance(inner, Gaussian):
        name = type(inner).__name__
        return (
            "the predictions are about Gaussian outcomes: an outcome must be able to lie beyond the prediction or between it and "
            f"the prior mean, and outcomes must differ in their probability under the prior; the family is {name}"
        )
    return None


def make_runs(
    measures: Mapping[str, np.ndarray],
    rows: RowsOfRuns,
    outcome: np.ndarray,
    families: Sequence[Gaussian],
    prediction: np.ndarray | None = None,
    confidence: np.ndarray | None = None,
    given: np.ndarray | None = None,
) -> list[LearnerRun]:
    """The runs of one learner.

    measures     by name, at each row of the table, as are the other columns; mean and variance of all contexts
    families     of the outcomes in each run
    prediction   a person's own, made before the outcome, in place of the learner's
    confidence   a person's own, stated after the outcome, in place of the learner's uncertainty
    given        the context of each row
    """
    order = np.argsort(rows.run, kind="stable")
    ends = np.cumsum(np.bincount(rows.run, minlength=len(families)))
    runs = []
    for family, places in zip(families, np.split(order, ends[:-1]), strict=True):
        y, begins = outcome[places], rows.step[places] == 1
        mean, variance, log_factor, shannon = (measures[name][places] for name in MEASURES)
        contexts = None if given is None else given[places]
        beliefs = beliefs_from(family, y, mean, variance, log_factor, shannon, begins, contexts)
        firsts = first_encounters(y, begins, contexts)
        trials = beliefs.trials(y, family, beliefs.shannon, begins=firsts)  # a row without an outcome has no surprise
        if prediction is not None:
            trials = trials.with_predictions(prediction[places], y, family)
        if confidence is not None:
            stated = confidence[places]  # about the next outcome, and its context
            same = np.append(contexts[1:] == contexts[:-1], False) if contexts is not None else np.ones(y.size, dtype=bool)
            after = np.where(same, stated, np.nan)
            trials = trials._replace(before=previous(stated, begins, np.nan), after=after, reported=True)
        runs.append(LearnerRun(trials, beliefs.bayes_factor, beliefs.shannon))
    return runs


def select_first(label: str, runs: Sequence[LearnerRun], window: FirstWindow) -> list[Selected]:
    """Prediction 1, by absolute error and sign bias."""
    counted = _count(runs, [window.masks(run.trials) for run in runs], window.least)
    return [
        Selected(label, 1, sign, error, *counted.at(s, k))
        for k, error in enumerate(window.errors)
        for s, sign in enumerate(SIGNS)
    ]


def select_second(label: str, runs: Sequence[LearnerRun], window: SecondWindow) -> list[Selected]:
    """Prediction 2, by p."""
    counted = _count(runs, [window.masks(run.trials) for run in runs], window.least)
    return [Selected(label, 2, 0, p, *counted.at(k)) for k, p in enumerate(window.p)]


class _Counted(NamedTuple):
    """Arrays over windows."""

    trials: np.ndarray
    runs: np.ndarray
    bayes_factor: np.ndarray
    shannon: np.ndarray

    def at(self, *place: int) -> tuple[int, int, float, float]:
        means = (float(self.bayes_factor[place]), float(self.shannon[place]))
        return int(self.trials[place]), int(self.runs[place]), *means


def _count(runs: Sequence[LearnerRun], masks: Sequence[np.ndarray], least: int) -> _Counted:
    counts = np.array([mask.sum(axis=-1) for mask in masks])
    trials = counts.sum(axis=0)

    def mean(columns: Sequence[np.ndarray]) -> np.ndarray:
        sums = np.sum([np.where(mask, values, 0.0).sum(axis=-1) for mask, values in zip(masks, columns, strict=True)], axis=0)
        return np.divide(sums, trials, out=np.full(trials.shape, np.nan), where=trials > 0)

    means = (mean([run.bayes_factor for run in runs]), mean([run.shannon for run in runs]))
    return _Counted(trials, np.sum(counts >= least, axis=0), *means)
