"""From a table of outcomes to what it can tell apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from volatilis.catalogue import LEARNERS
from volatilis.predictions.windows import FirstWindow, SecondWindow, check_selection
from volatilis.separation.equivalences import Equivalence, Flatness, equivalences
from volatilis.separation.flatness import change_probabilities, measure_flatness
from volatilis.separation.regressors import Regressors, chosen_columns, make_regressors
from volatilis.separation.relations import Carried, Inflation, Pair, carried, inflations, pairs
from volatilis.separation.rows import Rows, read_rows
from volatilis.separation.selections import MEASURES, Selected, Unselected, make_runs, select_first, select_second, why_not
from volatilis.trials import Order, Result, compute

NEEDED = ("mean", "variance", "log_bayes_factor_surprise", "shannon_surprise", "log_predictive")


class Question(NamedTuple):
    """What is asked beside the order: columns of a person's own, and how strong an indicator is.

    prediction   made before the row's outcome; or estimate, made after it
    confidence   stated after the row's outcome
    first_window, second_window   which trials the paper's predictions take for alike
    effect       how an indicator correlates with the measure that it reflects, trial by trial
    """

    prediction: str | None = None
    estimate: str | None = None
    confidence: str | None = None
    first_window: FirstWindow = FirstWindow()
    second_window: SecondWindow = SecondWindow()
    effect: float = 0.2


class Separation(NamedTuple):
    """What a sequence of outcomes can tell apart. Lists go by the regressors' places; `own_inflations` are within a learner."""

    regressors: Regressors
    pairs: list[Pair]
    inflations: list[Inflation]
    own_inflations: list[Inflation]
    tails: list[Carried]
    proven: dict[tuple[int, int], Equivalence]
    flatness: dict[str, Flatness]
    selected: list[Selected]
    unselected: list[Unselected]
    rows: int
    runs: int
    question: Question

    @property
    def trials(self) -> int:
        return len(self.regressors.rows)

    @property
    def selected_labels(self) -> list[str]:
        """The learners for which the paper's predictions are defined."""
        return list(dict.fromkeys(one.label for one in self.selected))

    @property
    def equivalences(self) -> list[Equivalence]:
        return list(self.proven.values())

    def equivalence(self, pair: Pair) -> Equivalence | None:
        return self.proven.get((pair.first, pair.second))


def separate(
    order: Order, question: Question | None = None, progress: Callable[[float], None] = lambda share: None
) -> Separation:
    """Run the learners over the table and compare their measures; running is the first half of the progress."""
    question = question or Question()
    own = (question.prediction, question.estimate, question.confidence)
    if question.prediction is not None and question.estimate is not None:
        raise ValueError("a prediction made before the outcome and an estimate made after it say the same: name one of them")
    check_selection(question.first_window, question.second_window)
    gaussian = order.family.name == "gaussian" or any(recipe.name in ("nas10", "nas12") for recipe in order.learners)
    if any(own) and not gaussian:
        raise ValueError(
            "--prediction, --estimate and --confidence are for the paper's predictions, which need the family gaussian"
        )
    result = compute(_with_needed(order), lambda share: progress(0.5 * share))
    rows = read_rows(order, result.by, [*(order.outcome if gaussian else ()), *(name for name in own if name is not None)])
    regressors = make_regressors(result.frame, chosen_columns(order, result), rows.run)
    flatness = _flatness(result, regressors, rows)
    longest, starts = int(rows.step.max()), rows.step[regressors.rows] == 1
    selected, unselected = _selections(order, result, rows, question)
    return Separation(
        regressors,
        pairs(regressors.values, regressors.ranks, question.effect, starts, lambda share: progress(0.5 + 0.5 * share)),
        inflations(regressors.values),
        _own_inflations(regressors),
        [carried(column, starts) for column in regressors.values.T],
        equivalences(regressors.columns, result.learners, flatness, longest),
        flatness,
        selected,
        unselected,
        len(rows.run),
        len(rows.keys),
        question,
    )


def _with_needed(order: Order) -> Order:
    """The measures that were asked for, and those that equivalences and selections look at."""
    believing = any("gamma" in LEARNERS[recipe.name]._readouts for recipe in order.learners)  # type: ignore[attr-defined]
    if order.measures is None or "all" in order.measures or not believing:
        return order
    return order._replace(measures=tuple(dict.fromkeys((*order.measures, *NEEDED))))


def _measures(result: Result, label: str, names: Sequence[str]) -> dict[str, np.ndarray] | None:
    """A learner's measures by name, where it has them all as single numbers."""
    there = {column.measure: column.name for column in result.columns if column.label == label and column.element is None}
    if not set(names) <= set(there):
        return None
    return {name: result.frame[there[name]].to_numpy(dtype=float, na_value=np.nan) for name in names}


def _flatness(result: Result, regressors: Regressors, rows: Rows) -> dict[str, Flatness]:
    found = {}
    for label in dict.fromkeys(column.label for column in regressors.columns):
        measures = _measures(result, label, ("log_predictive", "log_bayes_factor_surprise"))
        if measures is not None:
            p_c = change_probabilities(label, result.learners, rows.keys)
            kept = {name: values[regressors.rows] for name, values in measures.items()}
            found[label] = measure_flatness(kept, regressors.run, p_c)
    return found


def _own_inflations(regressors: Regressors) -> list[Inflation]:
    """Of each regressor given the others of its learner."""
    labels = [column.label for column in regressors.columns]
    result: list[Any] = [None] * len(labels)
    for label in dict.fromkeys(labels):
        places = [i for i, other in enumerate(labels) if other == label]
        for place, own in zip(places, inflations(regressors.values[:, places]), strict=True):
            result[place] = own._replace(depends_on=tuple(places[i] for i in own.depends_on))
    return result


def _selections(order: Order, result: Result, rows: Rows, question: Question) -> tuple[list[Selected], list[Unselected]]:
    # Figure 10 begins at an error of 0. There the sign means little, so that nothing is compared, but its trials are counted
    first_window = question.first_window._replace(errors=(0.0, *(error for error in question.first_window.errors if error > 0.0)))
    selected: list[Selected] = []
    unselected: list[Unselected] = []
    for label in (recipe.label for recipe in order.learners):
        learners = [result.learners[label, key] for key in rows.keys]
        reason = why_not(learners[0])
        measures = _measures(result, label, MEASURES)
        if reason is not None or measures is None:
            unselected.append(Unselected(label, reason or "its measures are not single numbers"))
            continue
        confidence = None if question.confidence is None else rows.columns[question.confidence]
        families = [learner.family for learner in learners]
        outcome, prediction = rows.columns[order.outcome[0]], _prediction(rows, question)
        runs = make_runs(measures, rows, outcome, families, prediction, confidence)
        selected += select_first(label, runs, first_window)
        selected += select_second(label, runs, question.second_window)
    return selected, unselected


def _prediction(rows: Rows, question: Question) -> np.ndarray | None:
    """A person's own, before the outcome of each row; on the first trial of a block nothing was estimated yet."""
    if question.estimate is not None:
        return rows.before(rows.columns[question.estimate], np.full(len(rows.run), np.nan))
    return None if question.prediction is None else rows.columns[question.prediction]
