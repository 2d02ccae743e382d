"""Which event files to write: the request, checked before anything is computed, and the regressors that it names.

Of regressors: which columns, centred and scaled, and what is wrong with each: constant, infinite or missing values.
"""

from __future__ import annotations

import difflib
import pathlib
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from volatilis.trials import MEASURES, Column, RunRequest

FORMATS = ("bids", "nilearn", "fsl", "mne")
SCOPES = ("none", "run", "subject", "all")  # from the narrowest to the widest


class EventsRequest(NamedTuple):
    """Learners over a table, and which event files to write. Columns are given by their names in the table.

    run             what to compute
    folder          where the files go; it is made if it does not exist
    formats         some of FORMATS
    onset           the column with the time of the outcome, in seconds from the start of the run
    duration        a column, or a number: seconds
    regressors      computed columns or measures; None: the surprise measures that were computed, with the logarithm of the
                    Bayes Factor Surprise in place of the ratio, and without the predictive, which is minus the Shannon surprise
    centre          within what the mean is subtracted: one of SCOPES; None: as zscore
    zscore          within what the standard deviation becomes 1: one of SCOPES
    run_by          the columns whose values make a run, each as COLUMN or ENTITY=COLUMN; None: those that make the groups
    task            the task's name in the names of the files
    allow_constant  write a regressor that is the same at all events of a run, rather than refuse it
    overwrite       replace files that exist already
    """

    run: RunRequest
    folder: str
    formats: tuple[str, ...] = ("bids",)
    onset: str = "onset"
    duration: str = "duration"
    regressors: tuple[str, ...] | None = None
    centre: str | None = None
    zscore: str = "none"
    run_by: tuple[str, ...] | None = None
    task: str = "volatile"
    allow_constant: bool = False
    overwrite: bool = False

    @property
    def centred(self) -> str:
        """Within what the mean is subtracted: for a z-score within the same scope, unless a narrower one is given."""
        return self.zscore if self.centre is None else self.centre


def check_request(request: EventsRequest) -> None:
    """Refuse what cannot be done."""
    for name in request.formats:
        _one_of("--events-format", name, FORMATS)
    _one_of("--zscore", request.zscore, SCOPES)
    _one_of("--centre", request.centred, SCOPES)
    if not request.formats:
        raise ValueError(f"--events-format names no format; accepted are {', '.join(FORMATS)}")
    if request.zscore != "none" and (request.centred == "none" or SCOPES.index(request.centred) > SCOPES.index(request.zscore)):
        raise ValueError(
            f"--centre {request.centred} contradicts --zscore {request.zscore}, which makes the mean 0 within each "
            f"{request.zscore}; leave --centre out, or name a narrower scope"
        )
    if not re.fullmatch("[A-Za-z0-9]+", request.task):
        raise ValueError(f"--task {request.task!r} is not accepted; BIDS names hold letters and digits only")
    folder = pathlib.Path(request.folder)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"--events {request.folder} is a file; a folder is accepted, and made if it does not exist")


def _one_of(option: str, value: str, accepted: tuple[str, ...]) -> None:
    if value not in accepted:
        close = difflib.get_close_matches(value, accepted, 1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise ValueError(f"{option} {value!r} is not accepted; accepted are {', '.join(accepted)}{hint}")


# --- regressors ------------------------------------------------------------------------------------------------------------


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

    shift, scale    per row what was subtracted and what it was divided by: 0 and 1 where nothing was done
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
            raise ValueError("no column is known to hold the subject; name it with --run-by, such as sub=COLUMN")
        return {"run": self.run, "subject": self.subject, "all": np.zeros_like(self.run)}[scope]  # type: ignore[return-value]


def chosen(columns: Sequence[Column], names: Sequence[str] | None) -> list[Column]:
    """The columns that are named, by their own names or by that of a measure, in the order of the table."""
    if names is None:
        usual = [column for column in columns if column.measure in USUAL]
        if not usual:
            raise ValueError(
                "no surprise measure was computed; name other regressors with --regressors, or compute one with --measures"
            )
        return usual
    wanted: set[str] = set()
    for name in names:
        matching = {column.name for column in columns if name in (column.name, column.measure)}
        if not matching:
            raise ValueError(_unknown(name, columns))
        wanted |= matching
    if not wanted:
        raise ValueError("--regressors names no regressor")
    return [column for column in columns if column.name in wanted]


def left_out(columns: Sequence[Column], labels: Sequence[str], names: Sequence[str]) -> list[str]:
    """Notes on measures that were named, and the learners that have no such column."""
    notes = []
    for name in names:
        without = [label for label in labels if name not in {column.measure for column in columns if column.label == label}]
        if name in MEASURES and without:
            notes.append(f"{name} is no regressor of {', '.join(without)}: it was not computed (--measures) or is not defined")
    return notes


def scaled(column: Column, values: np.ndarray, scopes: Scopes, *, centre: str = "none", zscore: str = "none") -> Regressor:
    """Subtract the mean of each run, subject or of all; divide by the standard deviation (over n, not n - 1)."""
    infinite = np.isinf(values)
    values = np.where(infinite, np.nan, values)
    shift, scale = np.zeros(len(values)), np.ones(len(values))
    with np.errstate(over="ignore", invalid="ignore"):
        if centre != "none":
            shift = _within(scopes.codes(centre), values, np.mean)
        centred = values - shift
        if zscore != "none":
            codes = scopes.codes(zscore)
            scale = _within(codes, centred, np.std)
            largest = _within(codes, np.abs(values), np.max)
            scale = np.where(scale <= ROUNDING * largest, 1.0, scale)  # constant: 0 once centred
        result = centred / scale
    if (np.isfinite(values) & ~(np.isfinite(result) & np.isfinite(scale))).any():
        raise ValueError(
            f"{column.name} reaches {np.nanmax(np.abs(values)):.3g}, too large to be centred or z-scored; "
            "use log_bayes_factor_surprise in place of the ratio"
        )
    return Regressor(column, result, infinite, shift, scale)


def is_constant(values: np.ndarray) -> bool:
    """Whether a regressor has no two values that differ by more than rounding, at the events of a run."""
    finite = values[np.isfinite(values)]
    if len(finite) == 0:
        return True
    low, high = finite.min(), finite.max()
    return bool(high / 2.0 - low / 2.0 <= ROUNDING / 2.0 * max(abs(low), abs(high)))  # halves cannot overflow


def _within(codes: np.ndarray, values: np.ndarray, statistic: Callable[[np.ndarray], np.floating]) -> np.ndarray:
    """Per row, a statistic of the values present in the same run or subject; NaN where none is present."""
    statistics = np.full(len(values), np.nan)
    order = np.argsort(codes, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1):
        present = values[rows][~np.isnan(values[rows])]
        if len(present):
            statistics[rows] = statistic(present)
    return statistics


def _unknown(name: str, columns: Sequence[Column]) -> str:
    names = [column.name for column in columns]
    if name in MEASURES:
        return (
            f"the regressor {name} was not computed: --measures {name} computes it, if a learner defines it; "
            f"computed were {', '.join(dict.fromkeys(column.measure for column in columns))}"
        )
    close = difflib.get_close_matches(name, [*names, *MEASURES], 1)
    hint = f"; did you mean {close[0]}?" if close else ""
    return f"there is no regressor {name!r}; there are {', '.join(names)}, and a measure's name stands for all learners{hint}"
