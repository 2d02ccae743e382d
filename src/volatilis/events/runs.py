"""The runs of a table: what happened when in each, for all formats to write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from volatilis.events import timing
from volatilis.events.names import KNOWN, Entity, entities, run_names
from volatilis.events.plan import Plan
from volatilis.events.regressors import Regressor, Scopes, chosen, scaled
from volatilis.tables import TableError, texts
from volatilis.trials import Order, Result
from volatilis.trials.groups import Group, Key, split

TRIAL_TYPE = "trial_type"  # as BIDS calls it
EVENT = "outcome"  # the event itself, where the table has no trial_type


class Run(NamedTuple):
    """One scan or recording: its file's name, and one entry per row.

    labels      the columns that make a run, with their values
    groups      the groups of the table that have rows in it: each has learners of its own
    rows        which rows of the table, from 0
    happened    whether there is an outcome: where it is missing there is no event, and regressors are NaN
    """

    name: str
    labels: Mapping[str, str]
    groups: list[Key]
    rows: np.ndarray
    onset: np.ndarray
    duration: np.ndarray
    trial_type: list[str | None] | None
    outcomes: Mapping[str, list[str | None]]
    happened: np.ndarray
    regressors: list[Regressor]

    def conditions(self) -> dict[str, np.ndarray]:
        """The events themselves by their kind: which rows are of each."""
        if self.trial_type is None:
            return {EVENT: self.happened}
        kinds = np.array([kind or "" for kind in self.trial_type], dtype=object)
        return {kind: self.happened & (kinds == kind) for kind in dict.fromkeys(kinds[self.happened])}


def parts_of(result: Result, order: Order, plan: Plan) -> list[Entity]:
    """The columns that make a run, and what each is in a file's name."""
    roles = {column: KNOWN[role] for role, column in order.named}
    groups_as_runs = [f"{roles[column]}={column}" if column in roles else column for column in result.by]
    return entities(groups_as_runs if plan.run_by is None else plan.run_by, result.rows.schema.names, str(order.table))


def runs_of(result: Result, order: Order, plan: Plan) -> list[Run]:
    """The runs in the order of their first rows."""
    path, rows = str(order.table), result.rows
    parts = parts_of(result, order, plan)
    found = [(group.key, _positions(group)) for group in split(rows, [part.column for part in parts], path, 1)]
    _check_names([*order.outcome, *(part.column for part in parts)], plan, path)
    names = run_names(parts, [key for key, _ in found], plan.task)
    onset, duration = timing.onsets(rows, plan, path), timing.durations(rows, plan, path)
    for name, (_, own) in zip(names, found, strict=True):
        timing.check_order(onset[own], own, name, path, plan.onset)
    kinds = texts(rows.column(TRIAL_TYPE)) if TRIAL_TYPE in rows.schema.names else None
    outcomes = {column: texts(rows.column(column)) for column in order.outcome}
    happened = np.array([all(value is not None for value in values) for values in zip(*outcomes.values(), strict=True)])
    regressors = _regressors(result, plan, parts, found, happened)
    groups = [(group.key, _positions(group)) for group in split(rows, result.by, path, 1)]
    group_of = _codes([own for _, own in groups], rows.num_rows)
    return [
        Run(
            name,
            dict(zip((part.column for part in parts), key, strict=True)),
            [groups[code][0] for code in dict.fromkeys(group_of[own].tolist())],
            own,
            onset[own],
            duration[own],
            None if kinds is None else [kinds[i] for i in own],
            {column: [values[i] for i in own] for column, values in outcomes.items()},
            happened[own],
            [regressor.at(own) for regressor in regressors],
        )
        for name, (key, own) in zip(names, found, strict=True)
    ]


def _regressors(
    result: Result, plan: Plan, parts: list[Entity], found: list[tuple[Key, np.ndarray]], happened: np.ndarray
) -> list[Regressor]:
    """Missing where the outcome is, also where a learner has an estimate: a regressor belongs to an outcome."""
    run_of = _codes([own for _, own in found], result.rows.num_rows)
    subject = next((i for i, part in enumerate(parts) if part.name == "sub"), None)
    subject_of = None
    if subject is not None:
        number = {name: i for i, name in enumerate(dict.fromkeys(key[subject] for key, _ in found))}
        subject_of = np.array([number[key[subject]] for key, _ in found])[run_of]
    scopes = Scopes(run_of, subject_of)
    columns = chosen(result.columns, plan.regressors)
    values = (np.asarray(result.rows.column(c.name).to_numpy(zero_copy_only=False), dtype=float) for c in columns)
    return [scaled(column, np.where(happened, own, np.nan), scopes, plan) for column, own in zip(columns, values, strict=True)]


def _check_names(columns: list[str], plan: Plan, path: str) -> None:
    for column, meant in (("onset", plan.onset), ("duration", plan.duration)):
        if column in columns and column != meant:
            raise TableError(f"{path}: {column!r} is something else than what event files call so; rename it in the table")


def _positions(group: Group) -> np.ndarray:
    rows: Any = group.rows
    return np.arange(rows.start, rows.stop) if isinstance(rows, slice) else np.asarray(rows)


def _codes(parts: list[np.ndarray], rows: int) -> np.ndarray:
    """For every row the number of its part."""
    codes = np.zeros(rows, dtype=np.int64)
    for code, own in enumerate(parts):
        codes[own] = code
    return codes
