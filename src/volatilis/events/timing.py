"""When each outcome came and how long it lasted, in seconds: read from the table and checked there."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from volatilis.events.plan import Plan
from volatilis.tables import TableError, column_named, numbers

LONG_APART = 120.0  # seconds: outcomes that are further apart on average may well be in milliseconds


def check_columns(columns: list[str], plan: Plan, path: str) -> None:
    """Before anything is computed: are there onsets and durations?"""
    column_named(columns, plan.onset, path, "the onset of the outcome, in seconds; --onset names it")
    if plan.duration not in columns and _seconds(plan.duration) is None:
        column_named(columns, plan.duration, path, "the duration in seconds; --duration names it, or is a number")


def onsets(rows: Any, plan: Plan, path: str) -> np.ndarray:
    """A finite number in every row. It may be negative, as in BIDS: before the first volume."""
    accepted = "a time in seconds"
    found = numbers(rows.column(plan.onset), path, 1, plan.onset, accepted)
    _check(np.isfinite(found), found, path, plan.onset, accepted, rows)
    return found


def durations(rows: Any, plan: Plan, path: str) -> np.ndarray:
    """From a column, or the same number in every row; 0 or more."""
    accepted = "a duration in seconds, 0 or more"
    seconds = _seconds(plan.duration)
    if plan.duration in rows.schema.names:
        found = numbers(rows.column(plan.duration), path, 1, plan.duration, accepted)
        _check(np.isfinite(found) & (found >= 0.0), found, path, plan.duration, accepted, rows)
        return found
    if seconds is None or not (math.isfinite(seconds) and seconds >= 0.0):
        raise ValueError(f"--duration {plan.duration} is not {accepted}")
    return np.full(rows.num_rows, seconds)


def check_order(onset: np.ndarray, rows: np.ndarray, run: str, path: str, column: str) -> None:
    """Outcomes of a run come one after the other. Two at once would be added up as one event by nilearn."""
    steps = np.diff(onset)
    if (steps > 0.0).all():
        return
    i = int(np.argmax(~(steps > 0.0)))
    said = f"row {rows[i + 1] + 1}, column {column!r}: {onset[i + 1]:g} comes after {onset[i]:g} in row {rows[i] + 1}"
    if steps[i] == 0.0:
        said = f"rows {rows[i] + 1} and {rows[i + 1] + 1}, column {column!r} are both {onset[i]:g}"
    raise TableError(
        f"{path}: {said}, in the same run ({run}); onsets must go up within a run: sort the table, or name the columns that "
        "make a run with --run-by"
    )


def notes(onset: np.ndarray, run_of: np.ndarray, column: str) -> list[str]:
    """What looks wrong with onsets, but may be right."""
    said = []
    before = int(np.count_nonzero(onset < 0.0))
    if before:
        said.append(f"{'1 onset is' if before == 1 else f'{before:,} onsets are'} negative: before the start of the run")
    steps = np.diff(onset)[np.diff(run_of) == 0]
    if len(steps) and steps.mean() > LONG_APART:
        said.append(f"onsets in {column!r} are {steps.mean():,.0f} s apart on average; are they in seconds?")
    return said


def _seconds(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _check(good: np.ndarray, found: np.ndarray, path: str, column: str, accepted: str, rows: Any) -> None:
    if not good.all():
        i = int(np.argmax(~good))
        said = "is missing" if np.isnan(found[i]) else f"is {rows.column(column)[i]}"
        raise TableError(f"{path}: row {i + 1}, column {column!r} {said}; {accepted} is accepted")
