"""The rows of a table with their runs, and the measures as regressors: which can be used, centred and ranked within runs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from volatilis.tables import column_named, numbers
from volatilis.trials import Column, Result, RunRequest
from volatilis.trials.engine import Engine
from volatilis.trials.groups import Key, split

if TYPE_CHECKING:
    import pandas as pd

# What is compared where nobody says otherwise. Not log_predictive, which is minus the Shannon surprise, and not what is learned
# (mean, variance, run_length): --measures names those.
COMPARED = (
    "bayes_factor_surprise",
    "log_bayes_factor_surprise",
    "shannon_surprise",
    "adaptation_rate",
    "bayesian_surprise",
    "confidence_corrected_surprise",
)
AFTER = ("mean", "variance", "run_length")  # defined also where an outcome is missing
SHORT = {
    "bayes_factor_surprise": "S_BF",
    "log_bayes_factor_surprise": "log S_BF",
    "shannon_surprise": "Shannon",
    "adaptation_rate": "adaptation rate",
    "bayesian_surprise": "Bayesian",
    "confidence_corrected_surprise": "confidence-corrected",
    "run_length": "run length",
    "log_predictive": "log predictive",
}
SAME_DIGITS = 36  # bits of a number that count for its rank: what differs beyond the eleventh digit differs by rounding
FEWEST_TRIALS = 3
CONSTANT = 1e-10  # what varies by less than this share of its size has no ranks left after rounding
LARGEST = 1e150


class Aside(NamedTuple):
    """A regressor that is not compared, and why."""

    name: str
    reason: str


class Regressors(NamedTuple):
    """trials x regressors. `rows` are the places of the trials in the table, `run` the group of each."""

    columns: list[Column]
    values: np.ndarray  # centred within runs
    ranks: np.ndarray  # within runs, as shares of the run, centred
    rows: np.ndarray
    run: np.ndarray
    aside: list[Aside]

    @property
    def names(self) -> list[str]:
        return [short(column) for column in self.columns]


def short(column: Column) -> str:
    """For tables and pictures: the learner's label and the measure in few letters."""
    element = "" if column.element is None else f" {column.element}"
    return f"{column.label} {SHORT.get(column.measure, column.measure)}{element}"


def chosen_columns(request: RunRequest, result: Result) -> list[Column]:
    """The columns to compare: those of the requested measures, or the surprises."""
    wanted = COMPARED if request.measures is None else request.measures
    columns = [column for column in result.columns if "all" in wanted or column.measure in wanted]
    if len(columns) < 2:
        present = f"only {columns[0].name}" if columns else "no surprise measure (Leaky defines none)"
        raise ValueError(
            f"at least two regressors are needed to compare, but there is {present}; name more with --measures, "
            "or add a --learner"
        )
    return columns


def make_regressors(frame: pd.DataFrame, columns: Sequence[Column], run: np.ndarray, around: Collection[str] = ()) -> Regressors:
    """Leave out the trials without an outcome; set aside what no linear model can use.

    around   labels of learners whose estimates are directions on a circle
    """
    values = np.stack([frame[column.name].to_numpy(dtype=float, na_value=np.nan) for column in columns], axis=1)
    surprises = [i for i, column in enumerate(columns) if column.measure not in AFTER]
    absent = np.isnan(values[:, surprises]).all(axis=1) if surprises else np.zeros(len(values), dtype=bool)
    rows = np.flatnonzero(~absent)
    values, run = values[rows], run[rows]
    _check_trials(run, len(absent))
    kept, aside = [], []
    for i, column in enumerate(columns):
        reason = _unusable(values[:, i], run, column.measure)
        if column.measure == "mean" and column.label in around:
            reason = "is a direction on a circle: a line would put its two ends far apart"
        if reason is None:
            kept.append(i)
        else:
            aside.append(Aside(column.name, reason))
    if len(kept) < 2:
        reasons = "; ".join(f"{name} {reason}" for name, reason in aside)
        raise ValueError(f"{len(kept)} of {len(columns)} regressors can be used, but a comparison needs two: {reasons}")
    usable = values[:, kept]
    ranks = within_runs_ranked(usable, run)
    return Regressors([columns[i] for i in kept], centred(usable, run), centred(ranks, run), rows, run, aside)


def _check_trials(run: np.ndarray, rows: int) -> None:
    longest = int(np.bincount(run).max()) if len(run) else 0
    if longest < FEWEST_TRIALS:
        raise ValueError(
            f"no run has {FEWEST_TRIALS} trials with an outcome (of {rows} rows in the table, the longest run has {longest}); "
            "measures are compared within runs: name fewer columns with --by"
        )


def _unusable(values: np.ndarray, run: np.ndarray, measure: str) -> str | None:
    """Why a linear model cannot use a regressor, or nothing."""
    logarithm = "; its logarithm never is" if measure == "bayes_factor_surprise" else ""
    infinite, missing = int(np.isinf(values).sum()), int(np.isnan(values).sum())
    if missing == len(values):
        return "is missing in all trials"
    if missing:
        return f"is missing in {missing:,} trials that have an outcome"
    if infinite:
        return f"is infinite in {infinite:,} trials{logarithm}"
    if np.abs(values).max() > LARGEST:
        return f"goes up to {np.abs(values).max():.0e}, too large to be squared{logarithm}"
    deviation = centred(values[:, None], run)[:, 0]
    if np.abs(deviation).max() <= CONSTANT * np.abs(values).max():
        return "is constant within every run"
    return None


def centred(values: np.ndarray, run: np.ndarray) -> np.ndarray:
    """Each column minus its mean within each run."""
    count = np.bincount(run)
    result = np.empty(values.shape)
    for i, column in enumerate(values.T):
        scale = np.abs(column).max() or 1.0  # so that a sum of large numbers does not overflow
        means = np.bincount(run, column / scale) / np.maximum(count, 1)
        result[:, i] = (column / scale - means[run]) * scale
    return result


def within_runs_ranked(values: np.ndarray, run: np.ndarray) -> np.ndarray:
    """Ranks within each run, equal ones averaged, divided by the run's length: so a trial of a long run does not weigh more."""
    import pandas as pd

    rounded = pd.DataFrame(_rounded(values))
    return np.asarray(rounded.groupby(run, sort=False).rank(pct=True).to_numpy(dtype=float))


def _rounded(values: np.ndarray) -> np.ndarray:
    """To the digits that are more than rounding, so that equal numbers tie however they were computed."""
    mantissa, exponent = np.frexp(values)
    rounded = np.ldexp(np.round(np.ldexp(mantissa, SAME_DIGITS)), exponent - SAME_DIGITS)
    return np.where(np.abs(values) < 1e-10 * np.median(np.abs(values), axis=0), 0.0, rounded)


# --- rows ------------------------------------------------------------------------------------------------------------------


class RowsOfRuns(NamedTuple):
    """`run` numbers the group of each row, in the order in which groups first appear; `keys` are their names.

    `step` counts the rows of a run since a learner last started, from 1; `columns` are the requested ones, `given` the contexts.
    """

    run: np.ndarray
    keys: list[Key]
    step: np.ndarray
    columns: dict[str, np.ndarray]
    given: np.ndarray | None = None

    def before(self, values: np.ndarray, at_start: np.ndarray) -> np.ndarray:
        """From after each row to before it: what the row before it in its run holds; `at_start` where a learner starts."""
        order = np.argsort(self.run, kind="stable")
        shifted = np.empty(len(values))
        shifted[order[1:]] = values[order[:-1]]
        return np.where(self.step == 1, at_start, shifted)


def read_rows(request: RunRequest, by: Sequence[str], columns: Sequence[str]) -> RowsOfRuns:
    """Read the table once more: learners need it in groups, this needs it by row."""
    engine = Engine(request)
    table = engine.table
    for name in columns:
        column_named(table.columns, name, table.path, "a number in each row")
    keys: dict[Key, int] = {}
    runs: list[np.ndarray] = []
    pieces: dict[str, list[np.ndarray]] = {name: [] for name in columns}
    first, starts, given = 1, list[np.ndarray](), list[np.ndarray]()
    for batch in table.batches():
        run = np.empty(batch.num_rows, dtype=np.int64)
        for group in split(batch, by, table.path, first):
            run[group.rows] = keys.setdefault(group.key, len(keys))
        runs.append(run)
        for name, parts in pieces.items():
            parts.append(numbers(batch.column(name), table.path, first, name))
        rows = engine.inputs.read(batch, first)  # where learners start is decided in one place
        starts.append(np.zeros(batch.num_rows, dtype=bool) if rows.resets is None else rows.resets)
        if len(request.given) == 1 and rows.given is not None:
            given.append(rows.given)
        first += batch.num_rows
    run = np.concatenate(runs)
    whole = {name: np.concatenate(parts) for name, parts in pieces.items()}
    return RowsOfRuns(run, list(keys), _steps(run, np.concatenate(starts)), whole, np.concatenate(given) if given else None)


def _steps(run: np.ndarray, reset: np.ndarray) -> np.ndarray:
    """1, 2, 3 ... within each run, and from 1 again at each reset."""
    order = np.argsort(run, kind="stable")
    starts = np.diff(run[order], prepend=-1) != 0
    starts |= reset[order]
    position = np.arange(len(run))
    last_start = np.maximum.accumulate(np.where(starts, position, 0))
    steps = np.empty(len(run), dtype=np.int64)
    steps[order] = position - last_start + 1
    return steps
