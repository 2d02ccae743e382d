"""`volatilis separate`: from a table of outcomes to the measures that it can tell apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from volatilis.catalogue import LEARNER_RECORDS
from volatilis.families import Given
from volatilis.predictions.windows import FirstWindow, SecondWindow, check_selection, gaussian_within
from volatilis.separation.equivalences import Equivalence, Flatness, change_probabilities, equivalences, measure_flatness
from volatilis.separation.regressors import Regressors, RowsOfRuns, chosen_columns, make_regressors, read_rows
from volatilis.separation.relations import Carried, Inflation, RegressorPair, carried, inflations, pairs
from volatilis.separation.selections import MEASURES, Selected, Unselected, make_runs, select_first, select_second, why_not
from volatilis.trials import Result, RunRequest, compute

NEEDED = ("mean", "variance", "log_bayes_factor_surprise", "shannon_surprise", "log_predictive")


class SeparateRequest(NamedTuple):
    """What to compare: learners over a table, columns with a person's answers, and how strong an indicator is.

    run             what to compute; its measures are those to compare, or the surprises if it names none
    prediction      a column with a person's prediction, made before the row's outcome
    estimate        or a column with the prediction that was made after it
    confidence      a column with a person's confidence, stated after the row's outcome
    first_window    which trials the paper's first prediction takes for alike
    second_window   the same of the second prediction
    effect          how an indicator correlates with the measure that it reflects, trial by trial
    """

    run: RunRequest
    prediction: str | None = None
    estimate: str | None = None
    confidence: str | None = None
    first_window: FirstWindow = FirstWindow()
    second_window: SecondWindow = SecondWindow()
    effect: float = 0.2


class Separation(NamedTuple):
    """What a sequence of outcomes can tell apart. Lists go by the regressors' places.

    regressors       the measures that are compared, trial by trial
    pairs            every two of them: how they correlate, and how many trials tell them apart
    inflations       by how much each one's variance grows beside all others in one regression
    own_inflations   the same beside those of its own learner
    tails            on how few trials each rests
    proven           pairs that are the same, or rise together, for every sequence of outcomes
    flatness         by regressor, where it does not vary
    selected         trials that the paper's predictions compare, by learner
    unselected       why there are none, where there are none
    rows, runs       how many there are in the table
    request          what was asked for
    """

    regressors: Regressors
    pairs: list[RegressorPair]
    inflations: list[Inflation]
    own_inflations: list[Inflation]
    tails: list[Carried]
    proven: dict[tuple[int, int], Equivalence]
    flatness: dict[str, Flatness]
    selected: list[Selected]
    unselected: list[Unselected]
    rows: int
    runs: int
    request: SeparateRequest

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

    def equivalence(self, pair: RegressorPair) -> Equivalence | None:
        return self.proven.get((pair.first, pair.second))


def separate(request: SeparateRequest, progress: Callable[[float], None] = lambda share: None) -> Separation:
    """Run the learners over the table and compare their measures: what `volatilis separate` does.

    request    the table, its learners, and what to compare
    progress   called with the share of the work that is done; running is its first half

    Returns a `Separation`. Raises TableError for a table that cannot be used, and ValueError for a request that does not fit it.

    >>> import pandas as pd, volatilis as vl
    >>> from volatilis.catalogue import parse_family, parse_learners
    >>> from volatilis.separation import SeparateRequest, advice, separate, verdict
    >>> from volatilis.trials import RunRequest
    >>> y = vl.ChangingEnvironment(vl.Gaussian(sigma=0.5), p_c=0.05).sample(120, seed=1).y
    >>> pd.DataFrame({"outcome": y}).to_csv("trials.csv", index=False)
    >>> learners = tuple(parse_learners(["varsmile:m=0.05"]))
    >>> result = separate(SeparateRequest(RunRequest("trials.csv", parse_family("gaussian:sigma=0.5"), learners)))
    >>> result.trials, len(advice(result)) > 0
    (120, True)
    >>> verdict(result, result.pairs[0])
    'by shape only'
    """
    run = request.run
    columns = [name for name in (request.prediction, request.estimate, request.confidence) if name is not None]
    if request.prediction is not None and request.estimate is not None:
        raise ValueError("--prediction (made before the outcome) and --estimate (made after it) exclude each other: name one")
    check_selection(request.first_window, request.second_window)
    gaussian = run.family.chain()[-1].name == "gaussian" or any(recipe.name in ("nas10", "nas12") for recipe in run.learners)
    if columns and not gaussian:
        raise ValueError(
            "--prediction, --estimate and --confidence are for the paper's predictions, which need the family gaussian"
        )
    result = compute(_with_needed(run), lambda share: progress(0.5 * share))
    rows = read_rows(run, result.by, [*(run.outcome if gaussian else ()), *columns])
    around = {label for (label, _), learner in result.learners.items() if learner.family.circumference() < np.inf}
    regressors = make_regressors(result.frame, chosen_columns(run, result), rows.run, around)
    flatness = _flatness(result, regressors, rows)
    longest, starts = int(rows.step.max()), rows.step[regressors.rows] == 1
    selected, unselected = _selections(request, result, rows)
    return Separation(
        regressors,
        pairs(regressors.values, regressors.ranks, request.effect, starts, lambda share: progress(0.5 + 0.5 * share)),
        inflations(regressors.values),
        _own_inflations(regressors),
        [carried(column, starts) for column in regressors.values.T],
        equivalences(regressors.columns, result.learners, flatness, longest),
        flatness,
        selected,
        unselected,
        len(rows.run),
        len(rows.keys),
        request,
    )


def _with_needed(run: RunRequest) -> RunRequest:
    """The requested measures, and those that equivalences and selections look at."""
    believing = any("gamma" in LEARNER_RECORDS[recipe.name].readouts for recipe in run.learners)
    if run.measures is None or "all" in run.measures or not believing:
        return run
    return run._replace(measures=tuple(dict.fromkeys((*run.measures, *NEEDED))))


def _measures(result: Result, label: str, names: Sequence[str], contexts: int = 1) -> dict[str, np.ndarray] | None:
    """A learner's measures by name, where it has them all as single numbers or, of mean and variance, one for each context."""
    present: dict[str, list[str]] = {}
    for column in result.columns:
        if column.label == label:
            present.setdefault(column.measure, []).append(column.name)
    if not all(len(present.get(name, ())) in (1, contexts) for name in names):
        return None
    frames = {name: result.frame[present[name]].to_numpy(dtype=float, na_value=np.nan) for name in names}
    return {name: values[:, 0] if values.shape[1] == 1 else values for name, values in frames.items()}


def _flatness(result: Result, regressors: Regressors, rows: RowsOfRuns) -> dict[str, Flatness]:
    flatness = {}
    for label in dict.fromkeys(column.label for column in regressors.columns):
        measures = _measures(result, label, ("log_predictive", "log_bayes_factor_surprise"))
        if measures is not None:
            p_c = change_probabilities(label, result.learners, rows.keys)
            kept = {name: values[regressors.rows] for name, values in measures.items()}
            flatness[label] = measure_flatness(kept, regressors.run, p_c)
    return flatness


def _own_inflations(regressors: Regressors) -> list[Inflation]:
    """Of each regressor given the others of its learner."""
    labels = [column.label for column in regressors.columns]
    by_place: dict[int, Inflation] = {}
    for label in dict.fromkeys(labels):
        places = [i for i, other in enumerate(labels) if other == label]
        for place, inflation in zip(places, inflations(regressors.values[:, places]), strict=True):
            by_place[place] = inflation._replace(depends_on=tuple(places[i] for i in inflation.depends_on))
    return [by_place[i] for i in range(len(labels))]


def _selections(request: SeparateRequest, result: Result, rows: RowsOfRuns) -> tuple[list[Selected], list[Unselected]]:
    # Figure 10 begins at an error of 0. There the sign means little, so that nothing is compared, but its trials are counted
    first_window = request.first_window._replace(errors=(0.0, *(error for error in request.first_window.errors if error > 0.0)))
    selected: list[Selected] = []
    unselected: list[Unselected] = []
    for label in (recipe.label for recipe in request.run.learners):
        learners = [result.learners[label, key] for key in rows.keys]
        reason, family = why_not(learners[0]), learners[0].family
        contexts = family.contexts if isinstance(family, Given) else 1
        measures = _measures(result, label, MEASURES, contexts)
        if reason is not None or measures is None:
            unselected.append(Unselected(label, reason or "its measures are not single numbers"))
            continue
        confidence = None if request.confidence is None else rows.columns[request.confidence]
        families = [gaussian_within(learner.family) for learner in learners]
        given = rows.given if isinstance(family, Given) else None
        outcome, prediction = rows.columns[request.run.outcome[0]], _prediction(rows, request)
        runs = make_runs(measures, rows, outcome, families, prediction, confidence, given)
        selected += select_first(label, runs, first_window)
        selected += select_second(label, runs, request.second_window)
    return selected, unselected


def _prediction(rows: RowsOfRuns, request: SeparateRequest) -> np.ndarray | None:
    """A person's prediction, before the outcome of each row; on the first trial of a block nothing was estimated yet."""
    if request.estimate is not None:
        return rows.before(rows.columns[request.estimate], np.full(len(rows.run), np.nan))
    return None if request.prediction is None else rows.columns[request.prediction]
