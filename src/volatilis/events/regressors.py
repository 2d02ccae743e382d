"""Regressors: which columns, centred and scaled, and what is wrong with each: constant, infinite or missing values."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from volatilis.events.plan import Plan
from volatilis.trials import MEASURES, Column

USUAL = (
    "log_bayes_factor_surprise",
    "shannon_surprise",
    "adaptation_rate",
    "bayesian_surprise",
    "confidence_corrected_surprise",
)
ROUNDING = 1e-12  # of the largest value: what differs by less is the same


class Regressor(NamedTuple):
    """A regressor at all rows of a table: NaN where it is missing or infinite.

    shift, scale    per row what was taken away and what it was divided by: 0 and 1 where nothing was done
    """

    column: Column
    values: np.ndarray
    infinite: np.ndarray
    shift: np.ndarray
    scale: np.ndarray

    @property
    def name(self) -> str:
        return self.column.name

    def at(self, rows: np.ndarray) -> Regressor:
        """The same at some of the rows."""
        return Regressor(self.column, *(array[rows] for array in self[1:]))


class Scopes(NamedTuple):
    """For every row the number of its run, and of its subject where subjects are known."""

    run: np.ndarray
    subject: np.ndarray | None

    def codes(self, scope: str) -> np.ndarray:
        if scope == "subject" and self.subject is None:
            raise ValueError("no column of a run is known to be the subject; name it with --run-by, such as sub=COLUMN")
        return {"run": self.run, "subject": self.subject, "all": np.zeros_like(self.run)}[scope]  # type: ignore[return-value]


def chosen(columns: Sequence[Column], names: Sequence[str] | None) -> list[Column]:
    """The columns that are named, by their own names or by that of a measure, in the order of the table."""
    if names is None:
        found = [column for column in columns if column.measure in USUAL]
        if not found:
            raise ValueError("no surprise measure was computed; name regressors with --regressors, or others with --measures")
        return found
    wanted: set[str] = set()
    for name in names:
        fitting = {column.name for column in columns if name in (column.name, column.measure)}
        if not fitting:
            raise ValueError(_unknown(name, columns))
        wanted |= fitting
    if not wanted:
        raise ValueError("--regressors names none")
    return [column for column in columns if column.name in wanted]


def left_out(columns: Sequence[Column], labels: Sequence[str], names: Sequence[str]) -> list[str]:
    """Measures that were asked for by name, and the learners that have no such column."""
    said = []
    for name in names:
        without = [label for label in labels if name not in {column.measure for column in columns if column.label == label}]
        if name in MEASURES and without:
            said.append(f"{name} is no regressor of {', '.join(without)}: it was not computed (--measures) or is not defined")
    return said


def scaled(column: Column, values: np.ndarray, scopes: Scopes, plan: Plan) -> Regressor:
    """The mean of each run, subject or of all taken away, and the standard deviation (of all values, not n - 1) made 1."""
    infinite = np.isinf(values)
    values = np.where(infinite, np.nan, values)
    shift, scale = np.zeros(len(values)), np.ones(len(values))
    with np.errstate(over="ignore", invalid="ignore"):
        if plan.centred != "none":
            shift = _within(scopes.codes(plan.centred), values, np.mean)
        centred = values - shift
        if plan.zscore != "none":
            codes = scopes.codes(plan.zscore)
            scale = _within(codes, centred, np.std)
            largest = _within(codes, np.abs(values), np.max)
            scale = np.where(scale <= ROUNDING * largest, 1.0, scale)  # constant: 0 once centred
        made = centred / scale
    if (np.isfinite(values) & ~(np.isfinite(made) & np.isfinite(scale))).any():
        raise ValueError(
            f"{column.name} reaches {np.nanmax(np.abs(values)):.3g}, too large to be centred or z-scored; "
            "use log_bayes_factor_surprise in place of the ratio"
        )
    return Regressor(column, made, infinite, shift, scale)


def is_constant(values: np.ndarray) -> bool:
    """Whether a regressor has no two values that differ by more than rounding, at the events of a run."""
    finite = values[np.isfinite(values)]
    if len(finite) == 0:
        return True
    low, high = finite.min(), finite.max()
    return bool(high / 2.0 - low / 2.0 <= ROUNDING / 2.0 * max(abs(low), abs(high)))  # halves cannot overflow


def _within(codes: np.ndarray, values: np.ndarray, what: Callable[[np.ndarray], Any]) -> np.ndarray:
    """Per row, a statistic of the values that are there in the same run or subject; NaN where none is there."""
    found = np.full(len(values), np.nan)
    order = np.argsort(codes, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1):
        there = values[rows][~np.isnan(values[rows])]
        if len(there):
            found[rows] = what(there)
    return found


def _unknown(name: str, columns: Sequence[Column]) -> str:
    there = [column.name for column in columns]
    if name in MEASURES:
        return (
            f"the regressor {name} was not computed: --measures {name} computes it, where a learner defines it; "
            f"computed were {', '.join(dict.fromkeys(column.measure for column in columns))}"
        )
    close = difflib.get_close_matches(name, [*there, *MEASURES], 1)
    hint = f"; did you mean {close[0]}?" if close else ""
    return f"there is no regressor {name!r}; there are {', '.join(there)}, and the names of measures for all learners{hint}"
