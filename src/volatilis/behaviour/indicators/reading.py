"""From a table to the analysis: people's trials, a learner fitted to each, their indicator and confidence."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from volatilis.behaviour.fitting.cluster import How, fit_people
from volatilis.behaviour.fitting.fit import Fit
from volatilis.behaviour.fitting.jobs import Failure
from volatilis.behaviour.indicators.analysis import Analysis, analyse, check_level
from volatilis.behaviour.indicators.observed import Measured, Observed, check_belief, observe, why_gaussian
from volatilis.behaviour.models import Model, models_of
from volatilis.behaviour.people import People, Person, Source, read_people
from volatilis.predictions.windows import FirstWindow, SecondWindow, check_windows
from volatilis.tables import TableError, column_named, numbers, open_table

NO_LEARNER = "merge:n=1,p_c=0.5"  # stands in a model whose learner is not used

Progress = Callable[[str, float], None]


class Order(NamedTuple):
    """What to analyse, by the table's own column names.

    source       people's trials. Its responses are their predictions; None: they were not asked for, and the learner must have no
                 free parameters. They are not read where nothing is fitted to them and no confidence is about them
    confidence   how sure they were; with it prediction 1 needs no learner
    learner      None: prediction 1 only
    response     how predictions arise from the learner's belief, for the fit
    how          starts, seed, where fits are made, and a folder that keeps finished ones
    own          Python files with response models of one's own
    """

    source: Source
    family: str
    indicator: str
    confidence: str | None = None
    learner: str | None = None
    response: str = "gaussian:sd=free"
    first_window: FirstWindow = FirstWindow()
    second_window: SecondWindow = SecondWindow()
    level: float = 0.95
    zscore: bool = False
    how: How = How()
    own: tuple[str, ...] = ()


def predict(order: Order, progress: Progress = lambda what, share: None) -> Analysis:
    """Read, fit and analyse. A person who cannot be fitted is left out and named in `refused`."""
    check_windows(order.first_window, order.second_window)
    check_level(order.level)
    model = _model(order)
    measured = _columns(order)
    asked = order.confidence is not None or _searched(order, model)
    read = read_people(order.source if asked else order.source._replace(response=None), model)
    refused, own = dict(read.refused), {person.name: measured.at(_rows(person)) for person in read.persons}
    refused |= {name: "the indicator is missing in all trials" for name, its in own.items() if np.isnan(its.indicator).all()}
    fits = _fits(order, model, [person for person in read.persons if person.name not in refused], progress)
    observed: list[Observed] = []
    for done, person in enumerate(read.persons):
        progress("people", done / len(read.persons))
        if person.name not in refused:
            try:
                observed.append(_observed(order, model, person, fits.get(person.name), own[person.name]))
            except ValueError as error:
                refused[person.name] = str(error)
    progress("people", 1.0)
    if not observed:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in list(refused.items())[:3])
        raise TableError(f"{os.fspath(order.source.table)}: nobody can be analysed: {reasons}")
    found = analyse(observed, order.first_window, order.second_window, order.level, order.zscore, order.how.seed)
    kept = {person.name: fit for person in observed if isinstance(fit := fits.get(person.name), Fit)}
    free = _searched(order, model)
    return found._replace(
        refused=refused,
        values={name: {parameter: fit.values[parameter] for parameter in free} for name, fit in kept.items()},
        warnings={name: fit.warnings for name, fit in kept.items() if fit.warnings},
        notes=(*_notes(own, kept, observed), *found.notes, *_notes_on_people(read, kept)),
    )


def _model(order: Order) -> Model:
    (model,) = models_of(order.family, [order.learner or NO_LEARNER], order.response, order.own)
    if model.family.name != "gaussian":
        raise ValueError(why_gaussian(model.family.name))
    if order.confidence is not None and order.source.response is None:
        raise ValueError("a confidence is about a prediction: name the column of predictions too")
    if order.learner is None:
        if order.confidence is None:
            raise ValueError(
                "prediction 1 needs people's predictions and confidence, prediction 2 a learner: name the columns, or a learner"
            )
        if model.family.free():
            raise ValueError(f"{order.family!r}: {', '.join(model.family.free())} can only be found with a learner; give one")
    elif order.source.response is None and (model.learner.free() or model.family.free()):
        free = ", ".join((*model.learner.free(), *model.family.free()))
        raise ValueError(f"{free} cannot be fitted without people's predictions; give numbers, or the column of predictions")
    else:
        placeholders = dict.fromkeys((*model.free(), *model.columns()), 0.5)
        check_belief(model.make(placeholders | {"n": 1} if "n" in placeholders else placeholders)[0])
    return model


def _searched(order: Order, model: Model) -> tuple[str, ...]:
    """The learner's and the family's free parameters; nothing is fitted where they have none."""
    return () if order.learner is None else (*model.learner.free(), *model.family.free())


# --- the table -----------------------------------------------------------------------------------------------------------


def _columns(order: Order) -> Measured:
    """The indicator, the confidence and the catch trials of every row of the table."""
    source = order.source
    table = open_table(source.table)
    wanted = [(order.indicator, "the indicator"), (order.confidence, "confidence"), (source.catch, "catch trials")]
    uses = {name: use for name, use in wanted if name is not None}
    named = {} if source.response in (None, Source._field_defaults["response"]) else {str(source.response): "the prediction"}
    for name, use in {**uses, **named}.items():
        column_named(table.columns, name, table.path, use)
    found: dict[str, list[np.ndarray]] = {name: [] for name in uses}
    row = 1
    for batch in table.batches():
        for name in uses:
            found[name].append(numbers(batch.column(name), table.path, row, name))
        row += batch.num_rows
    arrays = {name: np.concatenate(parts) if parts else np.zeros(0) for name, parts in found.items()}
    for name, values in arrays.items():
        if np.isinf(values).any():
            raise TableError(f"{table.path}: row {int(np.argmax(np.isinf(values))) + 1}, column {name!r} is infinite")
        if np.isnan(values).all() and values.size:
            raise TableError(f"{table.path}: column {name!r} has no value in any row")
    shown = None if source.catch is None else np.nan_to_num(arrays[source.catch]) != 0.0
    return Measured(arrays[order.indicator], None if order.confidence is None else arrays[order.confidence], shown)


def _rows(person: Person) -> np.ndarray:
    rows = [part.rows for part in person.parts if part.rows is not None]
    if len(rows) < len(person.parts):
        raise ValueError("people who do not come from a table have no rows in it")
    return np.concatenate(rows)


# --- fits ----------------------------------------------------------------------------------------------------------------


def _fits(order: Order, model: Model, persons: Sequence[Person], progress: Progress) -> dict[str, Fit | Failure]:
    if not _searched(order, model) or not persons:
        return {}
    with order.how.pool(len(persons)) as pool:
        found = fit_people(pool, order.how, [model], persons, None, None, lambda share: progress("fits", share))
    return {person.name: own[0] for person, own in zip(persons, found, strict=True)}


def _observed(order: Order, model: Model, person: Person, fit: Fit | Failure | None, measured: Measured) -> Observed:
    if isinstance(fit, Failure):
        raise ValueError(fit.message.removeprefix(f"{person.name}: "))
    values = {} if fit is None else {name: fit.values[name] for name in _searched(order, model)}
    return observe(model, person, values, measured, order.learner is not None, order.source.missing, order.how.seed)


# --- what must be known --------------------------------------------------------------------------------------------------


def _notes(own: Mapping[str, Measured], fits: Mapping[str, Fit], observed: Sequence[Observed]) -> list[str]:
    """On all people: catch trials, and how many fits have which warnings."""
    notes = []
    marked = [int(np.sum(shown)) for person in observed if (shown := own[person.name].shown) is not None]
    if any(marked):
        who = _people(sum(count > 0 for count in marked))
        notes.append(f"{sum(marked):,} catch trials, of {who}: learned from, but neither fitted nor compared")
    warned = [fit for fit in fits.values() if fit.warnings]
    if warned:
        counts = Counter(warning for fit in warned for warning in fit.warnings)
        listed = ", ".join(f"{warning}: {_people(count)}" for warning, count in counts.most_common())
        what = "what the learner says of their trials rests on such values"
        notes.append(f"the fits of {len(warned)} of {_people(len(fits))} have warnings ({listed}): {what}")
    return notes


def _notes_on_people(read: People, fits: Mapping[str, Fit]) -> list[str]:
    fitted = [f"{name}: fit: {'; '.join(fit.warnings)}" for name, fit in fits.items() if fit.warnings]
    return [*fitted, *(f"{name}: {note}" for name, note in read.notes.items())]


def _people(count: int) -> str:
    return "1 person" if count == 1 else f"{count} people"
