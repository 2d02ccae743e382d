"""What `volatilis predict` does: read people from a table, fit a learner to each, put both predictions to the test."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from volatilis.behaviour.doubts import with_doubts
from volatilis.behaviour.fitting.fit import Fit
from volatilis.behaviour.fitting.jobs import Failure, FitOptions, fitter
from volatilis.behaviour.indicators.trials import Measurements, observe
from volatilis.behaviour.models import Model, models_of
from volatilis.behaviour.people import People, Person, Source, read_people
from volatilis.behaviour.situations import ALL
from volatilis.predictions.analysis import Analysis, analyse
from volatilis.predictions.estimators import ADJUSTED
from volatilis.predictions.hypotheses import LEVEL, check_level
from volatilis.predictions.windows import FirstWindow, SecondWindow, SubjectTrials, check_belief, check_windows, gaussian_within
from volatilis.tables import TableError, column_named, marks, numbers, open_table

NO_LEARNER = "merge:n=1,p_c=0.5"  # stands in a model whose learner is not used

Progress = Callable[[str, float], None]


class PredictRequest(NamedTuple):
    """What to analyse, by the table's own column names.

    family       what is observed, such as gaussian:sigma=10
    indicator    the column of what was measured, such as a pupil's diameter
    first_window, second_window   which trials are compared
    source       people's trials. Its responses are their predictions; None: they were not asked for, and the learner must have no
                 free parameters. They are not read where nothing is fitted to them and no confidence is about them
    confidence   how sure they were; with it prediction 1 needs no learner
    learner      None: prediction 1 only
    response     how predictions arise from the learner's belief, for the fit
    level        of the confidence intervals
    zscore       bring each person's indicator to mean 0 and variance 1 first
    options      starts, seed, where fits are made, and a folder that keeps finished ones
    own          Python files with families, learners and response models of the user's own
    """

    source: Source
    family: str
    indicator: str
    confidence: str | None = None
    learner: str | None = None
    response: str = "gaussian:sd=free"
    first_window: FirstWindow = FirstWindow()
    second_window: SecondWindow = SecondWindow()
    level: float = LEVEL
    zscore: bool = False
    options: FitOptions = FitOptions()
    own: tuple[str, ...] = ()


class PredictResult(NamedTuple):
    """The analysis of the people who could be analysed, and what must be known about it. `predict` returns it.

    request    what was asked
    analysis   estimates and verdicts of both predictions
    notes      on catch trials, fits and what is missing
    refused    person -> why they were left out
    values     person -> what was fitted
    warnings   person -> what must be known before these values are used
    """

    request: PredictRequest
    analysis: Analysis
    notes: tuple[str, ...]
    refused: Mapping[str, str]
    values: Mapping[str, Mapping[str, float]]
    warnings: Mapping[str, tuple[str, ...]]

    def verdicts(self, prediction: int, estimator: str = ADJUSTED) -> dict[str, str]:
        """Hypothesis -> verdict, of prediction 1 or 2."""
        return self.analysis.verdicts(prediction, estimator)


def predict(request: PredictRequest, progress: Progress = lambda what, share: None) -> PredictResult:
    """Test the paper's two predictions on an indicator: read, fit and analyse.

    request    the table, the family, the learner, the indicator's column, windows and level
    progress   called with what is done and its share

    Returns a PredictResult. A person who cannot be fitted is left out and named in its `refused`. Raises TableError for a table
    that cannot be used, ValueError for windows and levels that are not accepted.

    >>> from volatilis.behaviour import FirstWindow, PredictRequest, SecondWindow, Source, predict
    >>> family, learner = "gaussian:sigma=10,mu_0=150,sigma_0=50", "varsmile:m=0.1"
    >>> windows = {"first_window": FirstWindow(least=2), "second_window": SecondWindow(least=2)}
    >>> request = PredictRequest(Source("people.csv"), family, indicator="outcome", learner=learner, **windows)
    >>> len(predict(request).refused)  # "outcome" stands here for what was measured, such as a pupil's diameter
    0
    """
    check_windows(request.first_window, request.second_window)
    check_level(request.level)
    model = _model(request)
    measured = _columns(request)
    free = _searched(request, model)
    with_responses = request.confidence is not None or bool(free) or model.chooses_contexts()
    source = request.source if with_responses else request.source._replace(response=None)
    people = with_doubts(read_people(source, model), [model], source)
    of_person = {person.name: measured.at(_rows(person)) for person in people.persons}
    refused = dict(people.refused)
    for name, columns in of_person.items():
        if np.isnan(columns.indicator).all():
            refused[name] = "the indicator is missing in all trials"
        elif np.nanmin(columns.indicator) == np.nanmax(columns.indicator):
            refused[name] = f"the indicator is {np.nanmin(columns.indicator):g} in all trials, so it tells nothing"
    fits = _fits(request, model, [person for person in people.persons if person.name not in refused], progress)
    observed = _observe_all(request, model, people, fits, of_person, refused, progress)
    windows = (request.first_window, request.second_window)
    analysis = analyse(observed, *windows, request.level, request.zscore, request.options.seed)
    fitted = {person.name: fit for person in observed if isinstance(fit := fits.get(person.name), Fit)}
    return PredictResult(
        request,
        analysis,
        notes=(*_notes(of_person, fitted, observed), *analysis.notes, *_notes_on_people(people, fitted)),
        refused=refused,
        values={name: {parameter: fit.values[parameter] for parameter in free} for name, fit in fitted.items()},
        warnings={name: fit.warnings for name, fit in fitted.items() if fit.warnings},
    )


def _model(request: PredictRequest) -> Model:
    (model,) = models_of(request.family, [request.learner or NO_LEARNER], request.response, request.own)
    learner, _ = model.example(dict.fromkeys(model.columns(), 0.5))
    gaussian_within(learner.family)
    _check_arms(request, model)
    if request.confidence is not None and request.source.response is None:
        raise ValueError("a confidence is about a prediction: name the column of predictions too")
    if request.learner is None:
        if request.confidence is None:
            raise ValueError(
                "prediction 1 needs people's predictions and confidence, prediction 2 a learner: name the columns, or a learner"
            )
        if model.family.free():
            raise ValueError(f"{request.family!r}: {', '.join(model.family.free())} can only be fitted with a learner; name one")
    elif request.source.response is None and (model.learner.free() or model.family.free()):
        free = ", ".join((*model.learner.free(), *model.family.free()))
        raise ValueError(f"{free} cannot be fitted without people's predictions; give numbers, or the column of predictions")
    else:
        check_belief(learner)
    return model


def _check_arms(request: PredictRequest, model: Model) -> None:
    """Of choices among arms the outcome is that of the chosen one, and nobody has said what it would be."""
    if not model.chooses_contexts():
        return
    if request.confidence is not None:
        raise ValueError(
            "--confidence is about a prediction of the outcome, and choices among arms are not predictions: leave it out"
        )
    if request.source.learn == ALL:
        raise ValueError(
            "the predictions are about one outcome at a time, and with --learn all there is one of every arm: "
            "--learn chosen looks at that of the chosen arm"
        )


def _searched(request: PredictRequest, model: Model) -> tuple[str, ...]:
    """The learner's and the family's free parameters; nothing is fitted where they have none."""
    return () if request.learner is None else (*model.learner.free(), *model.family.free())


# --- the table -----------------------------------------------------------------------------------------------------------


def _columns(request: PredictRequest) -> Measurements:
    """The indicator, the confidence and the catch trials of every row of the table."""
    source = request.source
    table = open_table(source.table)
    wanted = [(request.indicator, "the indicator"), (request.confidence, "confidence"), (source.catch, "catch trials")]
    uses = {name: use for name, use in wanted if name is not None}
    named = {} if source.response in (None, Source._field_defaults["response"]) else {str(source.response): "the prediction"}
    for name, use in {**uses, **named}.items():
        column_named(table.columns, name, table.path, use)
    parts: dict[str, list[np.ndarray]] = {name: [] for name in uses}
    row = 1
    for batch in table.batches():
        for name in uses:
            read = marks if name == source.catch else numbers
            parts[name].append(read(batch.column(name), table.path, row, name))
        row += batch.num_rows
    arrays = {name: np.concatenate(pieces) if pieces else np.zeros(0) for name, pieces in parts.items()}
    for name, values in arrays.items():
        if np.isinf(values).any():
            raise TableError(f"{table.path}: row {int(np.argmax(np.isinf(values))) + 1}, column {name!r} is infinite")
        if np.isnan(values).all() and values.size:
            raise TableError(f"{table.path}: column {name!r} has no value in any row")
    shown = None if source.catch is None else arrays[source.catch]
    return Measurements(arrays[request.indicator], None if request.confidence is None else arrays[request.confidence], shown)


def _rows(person: Person) -> np.ndarray:
    rows = [part.rows for part in person.parts if part.rows is not None]
    if len(rows) < len(person.parts):
        raise ValueError("people who do not come from a table have no rows in it")
    return np.concatenate(rows)


# --- fits ----------------------------------------------------------------------------------------------------------------


def _fits(request: PredictRequest, model: Model, persons: Sequence[Person], progress: Progress) -> dict[str, Fit | Failure]:
    if not _searched(request, model) or not persons:
        return {}
    with fitter(request.options, len(persons)) as pool:
        fits = pool.fit_people([model], persons, progress=lambda share: progress("fits", share))
    return {person.name: of_models[0] for person, of_models in zip(persons, fits, strict=True)}


def _observe_all(
    request: PredictRequest,
    model: Model,
    people: People,
    fits: Mapping[str, Fit | Failure],
    measured: Mapping[str, Measurements],
    refused: dict[str, str],
    progress: Progress,
) -> list[SubjectTrials]:
    """The trials of everybody who can be analysed; the others get their reason in `refused`."""
    observed = []
    for done, person in enumerate(people.persons):
        progress("people", done / len(people.persons))
        if person.name not in refused:
            try:
                observed.append(_observed(request, model, person, fits.get(person.name), measured[person.name]))
            except ValueError as error:
                refused[person.name] = str(error)
    progress("people", 1.0)
    if not observed:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in list(refused.items())[:3])
        raise TableError(f"{os.fspath(request.source.table)}: nobody can be analysed: {reasons}")
    return observed


def _observed(
    request: PredictRequest, model: Model, person: Person, fit: Fit | Failure | None, measured: Measurements
) -> SubjectTrials:
    if isinstance(fit, Failure):
        raise ValueError(fit.message.removeprefix(f"{person.name}: "))
    values = {} if fit is None else {name: fit.values[name] for name in _searched(request, model)}
    return observe(model, person, values, measured, request.learner is not None, request.source.missing, request.options.seed)


# --- what must be known --------------------------------------------------------------------------------------------------


def _notes(measured: Mapping[str, Measurements], fits: Mapping[str, Fit], observed: Sequence[SubjectTrials]) -> list[str]:
    """On all people: catch trials, and how many fits have which warnings."""
    notes = []
    marked = [int(np.sum(shown)) for person in observed if (shown := measured[person.name].shown) is not None]
    if any(marked):
        who = _people(sum(count > 0 for count in marked))
        notes.append(f"{sum(marked):,} catch trials, of {who}: learned from, but neither fitted nor compared")
    warned = [fit for fit in fits.values() if fit.warnings]
    if warned:
        counts = Counter(warning for fit in warned for warning in fit.warnings)
        listed = ", ".join(f"{warning}: {_people(count)}" for warning, count in counts.most_common())
        what = "the learner's beliefs about their trials rest on such values"
        notes.append(f"the fits of {len(warned)} of {_people(len(fits))} have warnings ({listed}): {what}")
    if fits:
        notes.append(
            "these verdicts assume that people learn as this learner does; volatilis compare says whether another describes "
            "their predictions better"
        )
    return notes


def _notes_on_people(people: People, fits: Mapping[str, Fit]) -> list[str]:
    fitted = [f"{name}: fit: {'; '.join(fit.warnings)}" for name, fit in fits.items() if fit.warnings]
    doubts = [f"warning: {doubt.message}" for doubt in people.doubts]
    return [*doubts, *fitted, *(f"{name}: {note}" for name, note in people.notes.items())]


def _people(count: int) -> str:
    return "1 person" if count == 1 else f"{count} people"
