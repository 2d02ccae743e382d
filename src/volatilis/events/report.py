"""What is wrong with regressors: constant in a run, infinite, missing. Said before anything is written, never in silence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from volatilis.events.plan import Plan
from volatilis.events.regressors import is_constant
from volatilis.events.runs import TRIAL_TYPE, Run
from volatilis.tables import TableError

UNWRITABLE = '\t\n\r"'  # in a TSV of BIDS: some of its readers know quotes, others take them as they stand
CANNOT = "holds a tab, a line break or a double quote, which readers of TSV take differently; rename it in the table"
SHOWN = 3  # runs that are named; of more, their number


def problems(runs: Sequence[Run], plan: Plan) -> list[str]:
    """One line per regressor and kind of problem; a constant regressor is an error unless it is allowed."""
    said = _missing_outcomes(runs)
    for i, regressor in enumerate(runs[0].regressors):
        said += _not_finite(regressor.name, i, runs)
    constant = _constant(runs)
    if constant and not plan.allow_constant:
        raise ValueError(
            "; ".join(constant) + "; a GLM cannot tell such a regressor from the events themselves: leave it out with "
            "--regressors, or write it all the same with --allow-constant"
        )
    return said + constant


def check_conditions(runs: Sequence[Run], path: str) -> None:
    """nilearn and FSL need a name for every event, other than the regressors' names."""
    for run in runs:
        if run.trial_type is not None:
            nameless = [
                row for row, kind, there in zip(run.rows, run.trial_type, run.happened, strict=True) if there and not kind
            ]
            if nameless:
                raise TableError(
                    f"{path}: row {nameless[0] + 1}, column {TRIAL_TYPE!r} is missing; nilearn and FSL need one for every event"
                )
        for regressor in run.regressors:
            if regressor.name in run.conditions():
                raise TableError(f"{path}: {regressor.name!r} is a {TRIAL_TYPE} and a regressor; rename it in the table")


def check_texts(runs: Sequence[Run], path: str) -> None:
    """What every reader of a TSV takes for the same text: names of columns, kinds of event, outcomes that are texts."""
    for run in runs:
        texts = dict(run.outcomes) | ({} if run.trial_type is None else {TRIAL_TYPE: run.trial_type})
        for column, values in texts.items():
            if not set(UNWRITABLE).isdisjoint(column):
                raise TableError(f"{path}: the column's name {column!r} {CANNOT}")
            bad = next((i for i, value in enumerate(values) if value and not set(UNWRITABLE).isdisjoint(value)), None)
            if bad is not None:
                raise TableError(f"{path}: row {run.rows[bad] + 1}, column {column!r}: {values[bad]!r} {CANNOT}")


def _missing_outcomes(runs: Sequence[Run]) -> list[str]:
    where = {run.name: int((~run.happened).sum()) for run in runs}
    count = sum(where.values())
    if not count:
        return []
    outcomes = "1 outcome is" if count == 1 else f"{count:,} outcomes are"
    return [f"{outcomes} missing {_in(where)}: regressors are n/a there, and nilearn and FSL get no event"]


def _not_finite(name: str, i: int, runs: Sequence[Run]) -> list[str]:
    infinite = {run.name: int(run.regressors[i].infinite.sum()) for run in runs}
    absent = {run.name: int(np.isnan(run.regressors[i].values[run.happened]).sum()) - infinite[run.name] for run in runs}
    said = []
    if sum(infinite.values()):
        said.append(f"{name} is infinite at {_events(infinite)} {_in(infinite)}: written as n/a")
    if sum(absent.values()):
        said.append(f"{name} is missing at {_events(absent)} with an outcome {_in(absent)}: written as n/a")
    return said


def _constant(runs: Sequence[Run]) -> list[str]:
    said = []
    for i, regressor in enumerate(runs[0].regressors):
        found = [run.regressors[i] for run in runs]
        raw = [own.values * own.scale + own.shift for own in found]
        where = {run.name: 1 for run, values in zip(runs, raw, strict=True) if is_constant(values)}
        if where:
            said.append(f"{regressor.name} is constant, or missing at all events, {_in(where)}")
    return said


def _events(where: dict[str, int]) -> str:
    count = sum(where.values())
    return "1 event" if count == 1 else f"{count:,} events"


def _in(where: dict[str, int]) -> str:
    """in sub-1_task-a, sub-2_task-a and 3 more runs"""
    names = [name for name, count in where.items() if count]
    more = len(names) - SHOWN
    return f"in {', '.join(names[:SHOWN])}" + (f" and {more} more {'run' if more == 1 else 'runs'}" if more > 0 else "")
