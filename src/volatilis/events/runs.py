"""The runs of a table: what happened when in each, times in seconds, checked; and how the files of a run are called."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from volatilis.events.request import EventsRequest, Regressor, Scopes, chosen, scaled
from volatilis.tables import TableError, column_named, numbers, texts
from volatilis.trials import Result
from volatilis.trials.groups import Key, shown, split

if TYPE_CHECKING:
    import pyarrow as pa


KNOWN = {  # what columns are called, without marks and capitals, and the entity that each stands for
    **dict.fromkeys(("sub", "subj", "subject", "subjectid", "subjnum", "participant", "participantid"), "sub"),
    **dict.fromkeys(("ses", "session", "sessionid"), "ses"),
    **dict.fromkeys(("run", "block"), "run"),
}
TASK = "task"
ORDER = ("sub", "ses", TASK, "acq", "ce", "rec", "dir", "run")  # what BIDS has in the names of event files, in its order


class Entity(NamedTuple):
    """A part of a file's name, and the column that its value comes from."""

    name: str
    column: str


def entities(texts: Sequence[str], columns: Sequence[str], path: str) -> list[Entity]:
    """From COLUMN or ENTITY=COLUMN, in the order of BIDS; columns that BIDS has no name for come last."""
    parts: list[Entity] = []
    for text in texts:
        given, equals, column = text.partition("=")
        if not equals or text in columns:
            given, column = "", text
        column = column_named(columns, column.strip(), path, "a run")
        taken = {entity.name for entity in parts}
        plain = _plain(column).lower()
        name = given.strip() or KNOWN.get(plain, plain)
        if name in taken and not given:
            name = plain  # both run and block: run-1_block-2
        if name in taken or not re.fullmatch("[a-z][a-z0-9]*", name) or name == TASK:
            raise ValueError(
                f"the column {column!r} cannot be {name!r} in a file's name; name it with --run-by, such as sub={column}"
            )
        parts.append(Entity(name, column))
    return sorted(parts, key=lambda entity: _place(entity.name))


def run_names(parts: Sequence[Entity], keys: Sequence[Key], task: str) -> list[str]:
    """One name per run; an error where two would share one."""
    names = [_run_name(parts, key, task) for key in keys]
    seen: dict[str, Key] = {}
    for name, key in zip(names, keys, strict=True):
        folded = name.casefold()  # some file systems know no capitals
        if folded in seen:
            columns = [part.column for part in parts]
            raise ValueError(
                f"two runs would be written as {name}: {shown(columns, seen[folded])} and {shown(columns, key)}; names hold "
                "letters and digits only, and capitals do not count: rename one in the table"
            )
        seen[folded] = key
    return names


def _run_name(parts: Sequence[Entity], key: Key, task: str) -> str:
    labels = []
    for part, value in zip(parts, key, strict=True):
        label = _plain(value.removeprefix(f"{part.name}-"))  # participant_id holds sub-01
        if not label:
            raise ValueError(
                f"{part.column} = {value!r} has no letter from a to z and no digit, so no file can be named after it"
            )
        labels.append((part.name, f"{part.name}-{label}"))
    labels.append((TASK, f"{TASK}-{task}"))
    return "_".join(label for _, label in sorted(labels, key=lambda part: _place(part[0])))


def _place(entity: str) -> int:
    """Entities that BIDS does not have come last, as they were given."""
    return ORDER.index(entity) if entity in ORDER else len(ORDER)


def name_notes(parts: Sequence[Entity], labels: Sequence[Mapping[str, str]]) -> list[str]:
    """Where names are not valid in BIDS, so that its validator would refuse the files."""
    notes = []
    if all(part.name != "sub" for part in parts):
        notes.append("no column holds the subject, which BIDS needs in a file's name: name it with --run-by, such as sub=COLUMN")
    for part in parts:
        values = (label[part.column] for label in labels)
        if part.name not in ORDER:
            notes.append(
                f"BIDS has no entity {part.name!r} in the names of event files; --run-by acq={part.column} makes the names valid"
            )
        elif part.name == "run" and not all(re.fullmatch("[0-9]+", _plain(value.removeprefix("run-"))) for value in values):
            notes.append(
                f"BIDS needs whole numbers as runs, and {part.column!r} has other values; --run-by acq={part.column} accepts them"
            )
    return notes


def _plain(text: str) -> str:
    """Letters and digits as BIDS has them in names: é is e there."""
    return re.sub("[^A-Za-z0-9]+", "", unicodedata.normalize("NFKD", text))


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


def parts_of(result: Result, request: EventsRequest) -> list[Entity]:
    """The columns that make a run, and what each is in a file's name."""
    roles = {column: KNOWN[role] for role, column in request.run.named}
    groups_as_runs = [f"{roles[column]}={column}" if column in roles else column for column in result.by]
    named = groups_as_runs if request.run_by is None else request.run_by
    return entities(named, result.rows.schema.names, str(request.run.table))


def runs_of(result: Result, request: EventsRequest) -> list[Run]:
    """The runs in the order of their first rows."""
    path, rows, outcome = str(request.run.table), result.rows, request.run.outcome
    parts = parts_of(result, request)
    split_rows = [(group.key, group.positions()) for group in split(rows, [part.column for part in parts], path, 1)]
    _check_names([*outcome, *(part.column for part in parts)], request, path)
    names = run_names(parts, [key for key, _ in split_rows], request.task)
    onset, duration = _onsets(rows, request, path), _durations(rows, request, path)
    for name, (_, places) in zip(names, split_rows, strict=True):
        _check_order(onset[places], places, name, path, request.onset)
    kinds = texts(rows.column(TRIAL_TYPE)) if TRIAL_TYPE in rows.schema.names else None
    outcomes = {column: texts(rows.column(column)) for column in outcome}
    happened = np.array([all(value is not None for value in values) for values in zip(*outcomes.values(), strict=True)])
    regressors = _regressors(result, request, parts, split_rows, happened)
    groups = split(rows, result.by, path, 1)
    group_of = _codes([group.positions() for group in groups], rows.num_rows)
    return [
        Run(
            name,
            dict(zip((part.column for part in parts), key, strict=True)),
            [groups[code].key for code in dict.fromkeys(group_of[places].tolist())],
            places,
            onset[places],
            duration[places],
            None if kinds is None else [kinds[i] for i in places],
            {column: [values[i] for i in places] for column, values in outcomes.items()},
            happened[places],
            [regressor.at(places) for regressor in regressors],
        )
        for name, (key, places) in zip(names, split_rows, strict=True)
    ]


def _regressors(
    result: Result,
    request: EventsRequest,
    parts: list[Entity],
    split_rows: list[tuple[Key, np.ndarray]],
    happened: np.ndarray,
) -> list[Regressor]:
    """Missing where the outcome is, also where a learner has an estimate: a regressor belongs to an outcome."""
    run_of = _codes([places for _, places in split_rows], result.rows.num_rows)
    subject = next((i for i, part in enumerate(parts) if part.name == "sub"), None)
    subject_of = None
    if subject is not None:
        number = {name: i for i, name in enumerate(dict.fromkeys(key[subject] for key, _ in split_rows))}
        subject_of = np.array([number[key[subject]] for key, _ in split_rows])[run_of]
    scopes = Scopes(run_of, subject_of)
    columns = chosen(result.columns, request.regressors)
    computed = (np.asarray(result.rows.column(c.name).to_numpy(zero_copy_only=False), dtype=float) for c in columns)
    return [
        scaled(column, np.where(happened, values, np.nan), scopes, centre=request.centred, zscore=request.zscore)
        for column, values in zip(columns, computed, strict=True)
    ]


def _check_names(columns: list[str], request: EventsRequest, path: str) -> None:
    for column, meant in (("onset", request.onset), ("duration", request.duration)):
        if column in columns and column != meant:
            raise TableError(
                f"{path}: {column!r} has a fixed meaning in event files, and here it is another column; rename it in the table"
            )


def _codes(parts: list[np.ndarray], rows: int) -> np.ndarray:
    """For every row the number of its part."""
    codes = np.zeros(rows, dtype=np.int64)
    for code, places in enumerate(parts):
        codes[places] = code
    return codes


# --- times ----------------------------------------------------------------------------------------------------------------


def check_columns(columns: list[str], request: EventsRequest, path: str) -> None:
    """Refuse a table without onsets or durations, before anything is computed."""
    column_named(columns, request.onset, path, "the onset of the outcome, in seconds; --onset names it")
    if request.duration not in columns and _seconds(request.duration) is None:
        column_named(columns, request.duration, path, "the duration in seconds; --duration names it, or is a number")


def _onsets(rows: pa.RecordBatch, request: EventsRequest, path: str) -> np.ndarray:
    """A finite number in every row. It may be negative, as in BIDS: before the first volume."""
    accepted = "a time in seconds"
    onset = numbers(rows.column(request.onset), path, 1, request.onset, accepted)
    _check_seconds(np.isfinite(onset), onset, path, request.onset, accepted, rows)
    return onset


def _durations(rows: pa.RecordBatch, request: EventsRequest, path: str) -> np.ndarray:
    """From a column, or the same number in every row; 0 or more."""
    accepted = "a duration in seconds, 0 or more"
    seconds = _seconds(request.duration)
    if request.duration in rows.schema.names:
        duration = numbers(rows.column(request.duration), path, 1, request.duration, accepted)
        _check_seconds(np.isfinite(duration) & (duration >= 0.0), duration, path, request.duration, accepted, rows)
        return duration
    if seconds is None or not (math.isfinite(seconds) and seconds >= 0.0):
        raise ValueError(f"--duration {request.duration} is not {accepted}")
    return np.full(rows.num_rows, seconds)


def _check_order(onset: np.ndarray, rows: np.ndarray, run: str, path: str, column: str) -> None:
    """Outcomes of a run come one after the other. Two at once would be added up as one event by nilearn."""
    steps = np.diff(onset)
    if (steps > 0.0).all():
        return
    i = int(np.argmax(~(steps > 0.0)))
    problem = f"row {rows[i + 1] + 1}, column {column!r}: {onset[i + 1]:g} comes after {onset[i]:g} in row {rows[i] + 1}"
    if steps[i] == 0.0:
        problem = f"rows {rows[i] + 1} and {rows[i + 1] + 1}, column {column!r} are both {onset[i]:g}"
    raise TableError(
        f"{path}: {problem}, in the same run ({run}); onsets must increase within a run: sort the table, or name the columns "
        "that make a run with --run-by"
    )


def _seconds(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _check_seconds(good: np.ndarray, values: np.ndarray, path: str, column: str, accepted: str, rows: pa.RecordBatch) -> None:
    if not good.all():
        i = int(np.argmax(~good))
        problem = "is missing" if np.isnan(values[i]) else f"is {rows.column(column)[i]}"
        raise TableError(f"{path}: row {i + 1}, column {column!r} {problem}; {accepted} is accepted")
