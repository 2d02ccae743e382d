"""From a table to the analysis: people's trials, a learner fitted to each, their indicator and confidence."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from volatilis.behaviour.fitting import fit
from volatilis.behaviour.models import Model
from volatilis.behaviour.people import Source, read_people
from volatilis.behaviour.predictions.analysis import Analysis, analyse, check_level
from volatilis.behaviour.predictions.observed import Observed, check_belief, observe, why_gaussian
from volatilis.behaviour.predictions.windows import FirstWindow, SecondWindow, check_windows
from volatilis.behaviour.scoring import Person
from volatilis.tables import TableError, column_named, numbers, open_table

NO_LEARNER = "merge:n=1,p_c=0.5"  # stands in a model whose learner is not used


class Order(NamedTuple):
    """What to analyse, by the table's own column names.

    prediction   people's predictions; None: they were not asked for, and the learner must have no free parameters. They are not
                 read where nothing is fitted to them and no confidence is about them
    confidence   how sure they were; with it prediction 1 needs no learner
    learner      None: prediction 1 only
    response     how predictions arise from the learner's belief, for the fit
    when         whether predictions (and confidence) were given before or after the outcome of their row
    """

    table: str | os.PathLike[str]
    family: str
    indicator: str
    prediction: str | None = "prediction"
    confidence: str | None = None
    learner: str | None = None
    response: str = "gaussian:sd=free"
    by: tuple[str, ...] = ("subject",)
    outcome: str = "outcome"
    when: str = "before"
    block: str | None = None
    reset: str | None = None
    missing: str = "error"
    first_window: FirstWindow = FirstWindow()
    second_window: SecondWindow = SecondWindow()
    level: float = 0.95
    zscore: bool = False
    starts: int = 5
    seed: int = 0


def predict(order: Order, progress: Callable[[float], None] = lambda share: None) -> Analysis:
    """Read, fit and analyse. A person who cannot be fitted is left out and named in `refused`."""
    check_windows(order.first_window, order.second_window)
    check_level(order.level)
    model = _model(order)
    indicator, confidence = _columns(order)
    response = order.prediction if order.confidence is not None or _searched(order, model) else None
    places = {"block": order.block, "reset": order.reset, "missing": order.missing}
    source = Source(order.table, order.by, order.outcome, response, when=order.when, **places)  # type: ignore[arg-type]
    read = read_people(source, model)
    observed, refused, values = [], dict(read.refused), {}
    for done, person in enumerate(read.persons):
        progress(done / len(read.persons))
        try:
            values[person.name] = _fitted(order, model, person)
            observed.append(_observed(order, model, person, values[person.name], indicator, confidence))
        except ValueError as error:
            refused[person.name] = str(error)
    progress(1.0)
    if not observed:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in list(refused.items())[:3])
        raise TableError(f"{os.fspath(order.table)}: nobody can be analysed: {reasons}")
    found = analyse(observed, order.first_window, order.second_window, order.level, order.zscore, order.seed)
    return found._replace(refused=refused, values={name: own for name, own in values.items() if own})


def _model(order: Order) -> Model:
    model = Model.parse(order.family, order.learner or NO_LEARNER, order.response)
    if model.family.name != "gaussian":
        raise ValueError(why_gaussian(model.family.name))
    if order.confidence is not None and order.prediction is None:
        raise ValueError("a confidence is about a prediction: name the column of predictions too")
    if order.learner is None:
        if order.confidence is None:
            raise ValueError(
                "prediction 1 needs people's predictions and confidence, prediction 2 a learner: name the columns, or a learner"
            )
        if model.family.free():
            raise ValueError(f"{order.family!r}: {', '.join(model.family.free())} can only be found with a learner; give one")
    elif order.prediction is None and (model.learner.free() or model.family.free()):
        free = ", ".join((*model.learner.free(), *model.family.free()))
        raise ValueError(f"{free} cannot be fitted without people's predictions; give numbers, or the column of predictions")
    else:
        placeholders = dict.fromkeys((*model.free(), *model.columns()), 0.5)
        check_belief(model.make(placeholders | {"n": 1} if "n" in placeholders else placeholders)[0])
    return model


def _columns(order: Order) -> tuple[np.ndarray, np.ndarray | None]:
    """The indicator and the confidence of every row of the table."""
    table = open_table(order.table)
    wanted = [(order.indicator, "the indicator")] + ([] if order.confidence is None else [(order.confidence, "confidence")])
    named = [] if order.prediction in (None, Order._field_defaults["prediction"]) else [(order.prediction, "the prediction")]
    for name, use in (*wanted, *named):
        column_named(table.columns, str(name), table.path, use)
    found: dict[str, list[np.ndarray]] = {name: [] for name, _ in wanted}
    row = 1
    for batch in table.batches():
        for name, _ in wanted:
            found[name].append(numbers(batch.column(name), table.path, row, name))
        row += batch.num_rows
    arrays = {name: np.concatenate(parts) if parts else np.zeros(0) for name, parts in found.items()}
    for name, values in arrays.items():
        if np.isinf(values).any():
            raise TableError(f"{table.path}: row {int(np.argmax(np.isinf(values))) + 1}, column {name!r} is infinite")
        if np.isnan(values).all() and values.size:
            raise TableError(f"{table.path}: column {name!r} has no value in any row")
    return arrays[order.indicator], None if order.confidence is None else arrays[order.confidence]


def _fitted(order: Order, model: Model, person: Person) -> dict[str, Any]:
    """Values of the learner's and the family's free parameters; nothing is fitted where they have none."""
    free = _searched(order, model)
    found = fit(model, person, order.starts, order.seed).values if free else {}
    return {name: found[name] for name in free}


def _searched(order: Order, model: Model) -> tuple[str, ...]:
    return () if order.learner is None else (*model.learner.free(), *model.family.free())


def _observed(
    order: Order,
    model: Model,
    person: Person,
    values: dict[str, Any],
    indicator: np.ndarray,
    confidence: np.ndarray | None,
) -> Observed:
    rows = np.concatenate([_rows(part.rows) for part in person.parts])
    if np.isnan(indicator[rows]).all():
        raise ValueError("the indicator is missing in all trials")
    sure = None if confidence is None else confidence[rows]
    return observe(model, person, values, indicator[rows], sure, order.learner is not None, order.missing, order.seed)


def _rows(rows: np.ndarray | None) -> np.ndarray:
    if rows is None:
        raise ValueError("people who do not come from a table have no rows in it")
    return rows
