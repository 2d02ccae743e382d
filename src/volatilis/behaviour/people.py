"""People from a table of trials: their outcomes and responses, checked; people without usable responses are reported.

Groups are people. Within a person the learner starts anew where a block begins; trials whose parameters in columns differ (the
noise of a block) make parts of their own.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from volatilis.behaviour.models import Model
from volatilis.behaviour.situations import CHOSEN, NO_NUMBERS, Feedback, context_column, needed_columns
from volatilis.catalogue import number
from volatilis.running.arguments import missing_policy, step_events
from volatilis.running.drivers import OBSERVE, RESET
from volatilis.tables import TableError, codes_of, column_named, marks, numbers, open_table, texts
from volatilis.trials.groups import GroupRows, shown, split

if TYPE_CHECKING:
    import pyarrow as pa

WHEN = ("before", "after")
ONE_NAME = "if two people have one name, add a column that distinguishes them to --by"
COUNTED_ANEW = "if trials are counted anew in each block, name its column with --block; --trial none skips this check"


class Trials(NamedTuple):
    """Trials of one person that share all parameters, as learners and response models take them; the learner starts anew.

    values     outcomes as their family has them
    events     what happens at each trial: an outcome, time passing, nothing; and where blocks begin
    given      responses, NaN where there is none
    scored     which responses count
    after      whether a response was given after the trial's outcome, or before it
    columns    the values of parameters that stand in columns
    rows       where the trials stand in the table, if they come from one
    contexts   the context of each trial's response; empty where there are no contexts, or the past is the context
    worth, rewards   trials x arms: what each arm pays if it pays 1, and would have paid; empty where nobody knows
    learn      from which arms: chosen or all
    """

    values: np.ndarray
    events: np.ndarray
    given: np.ndarray
    scored: np.ndarray
    after: bool = False
    columns: Mapping[str, float] = {}
    rows: np.ndarray | None = None
    contexts: np.ndarray = NO_NUMBERS
    worth: np.ndarray = NO_NUMBERS
    rewards: np.ndarray = NO_NUMBERS
    learn: str = CHOSEN

    def observed(self) -> np.ndarray:
        """The outcomes that are there, in one row."""
        if self.rewards.size:
            return self.rewards[np.isfinite(self.rewards)]
        values = np.asarray(self.values, dtype=float)[self.events % RESET == OBSERVE]
        return values[:, 1:].ravel() if self.contexts.size else values.ravel()


class Person(NamedTuple):
    """A person's name, and its trials in parts: where parameters that stand in columns (the noise of a block) differ."""

    name: str
    parts: tuple[Trials, ...]

    @property
    def responses(self) -> int:
        return sum(int(part.scored.sum()) for part in self.parts)


class Source(NamedTuple):
    """Where people's trials stand, by the file's own column names.

    table      the file: CSV, TSV, Parquet or JSON lines
    by         what makes a person
    outcome    what was observed; of choices among arms also a column for each arm, with commas between
    response   what the person said or chose; None: nobody was asked, and there is nothing to fit
    when       whether the response was given before or after the trial's outcome
    block      where its value changes a block begins, and the learner starts anew; a value may come again. Several columns with
               commas. None: session and block, if the table has them and `reset` is not given; "none": no blocks
    reset      not 0 where a block begins
    catch      not 0 where the hidden parameter was shown: learned from, but not scored
    missing    a missing outcome: error, elapse (time passes) or skip (no update)
    bounds     the ends of a slider: a response beyond them is an error
    categories, contexts   their names, in order, where outcomes and responses, or the context and the chosen arm, are texts
    trial      numbers a person's trials, which must go up. None: the column trial, if the table has it; "none": no check
    given      the context of the outcome: a cue; of choices among arms it is the response itself
    magnitudes  of choices among arms: what each arm pays if it pays 1
    learn      of choices among arms whose outcomes are all in columns: whether people learn from the chosen one or from all
    """

    table: str | os.PathLike[str]
    by: tuple[str, ...] = ("subject",)
    outcome: str = "outcome"
    response: str | None = "prediction"
    when: str = "before"
    block: str | None = None
    reset: str | None = None
    catch: str | None = None
    missing: str = "error"
    bounds: tuple[float, float] | None = None
    categories: tuple[str, ...] = ()
    trial: str | None = None
    given: str | None = None
    magnitudes: tuple[str, ...] = ()
    learn: str = CHOSEN
    contexts: tuple[str, ...] = ()

    def outcomes(self) -> tuple[str, ...]:
        return tuple(name.strip() for name in self.outcome.split(",")) if self.response else (self.outcome,)

    def blocks(self) -> tuple[str, ...]:
        return () if self.block is None else tuple(name.strip() for name in self.block.split(","))


class Doubt(NamedTuple):
    """A reason to doubt what fits will say: in words, in a word, and whom it concerns; nobody in particular: all."""

    message: str
    kind: str
    persons: tuple[str, ...] = ()


class People(NamedTuple):
    """Who can be fitted (`persons`), why others cannot and notes on some, by name; `doubts` are about the table or the model."""

    persons: tuple[Person, ...]
    refused: dict[str, str]
    notes: dict[str, str] = {}  # noqa: RUF012 (never changed)
    doubts: tuple[Doubt, ...] = ()


def read_people(source: Source, model: Model, *others: Model) -> People:
    """All people of a table, for models with one family. The table must fit in memory.

    source, model, others   the table, in which rows with one name are one person, and what will be fitted

    Returns a People. Raises TableError for a table that cannot be used, ValueError for models with several families.

    >>> from volatilis.behaviour import Model, Source, read_people
    >>> model = Model.parse("gaussian:sigma=10,mu_0=150,sigma_0=50", "varsmile:m=free", "gaussian:sd=free")
    >>> len(read_people(Source("people.csv"), model).persons)
    20
    """
    import pyarrow as pa

    if any(other.family != model.family for other in others):
        raise ValueError("people are read for one family; the models have several")

    missing_policy(source.missing)
    if source.when not in WHEN:
        raise ValueError(f"when = {source.when!r} is not accepted; write before or after (the outcome)")
    table = open_table(source.table)
    source = _with_defaults(source, table.columns)
    columns = tuple(dict.fromkeys(name for one in (model, *others) for name in one.columns()))
    for name, use in needed_columns(source, columns):
        column_named(table.columns, name, table.path, use)
    batches = list(table.batches())
    if not batches:
        raise TableError(f"{table.path} has a header and no rows")
    rows = pa.RecordBatch.from_arrays(
        [pa.concat_arrays([batch.column(i) for batch in batches]) for i in range(len(table.columns))], schema=table.schema
    )
    reader = _Reader(table.path, rows, source, model, columns)
    persons, refused, notes = [], {}, {}
    for group in split(rows, source.by, table.path, 1):
        name = "/".join(group.key)
        try:
            persons.append(reader.person(name, group))
        except TableError as error:
            refused[name] = str(error)
            continue
        places = 1 + int(np.sum(np.diff(np.arange(rows.num_rows)[group.rows]) != 1))
        if places > 1:
            notes[name] = f"rows in {places} places of the table, read as one person"
    return People(tuple(persons), refused, notes)


def _with_defaults(source: Source, columns: Sequence[str]) -> Source:
    """Columns called session and block (unless `reset` says where blocks begin) and trial are taken as such, unless "none"."""
    present = [name for name in ("session", "block", "trial") if name in columns and name not in source.by]
    begins = ",".join(name for name in present if name != "trial") if source.reset is None else ""
    block = source.block if source.block is not None else begins or "none"
    trial = source.trial if source.trial is not None else "trial" if "trial" in present else "none"
    return source._replace(block=None if block == "none" else block, trial=None if trial == "none" else trial)


class _Reader:
    """The columns of a table as people need them."""

    def __init__(self, path: str, rows: pa.RecordBatch, source: Source, model: Model, parameters: tuple[str, ...]) -> None:
        self._path, self._source, self._model = path, source, model

        def read(name: str) -> np.ndarray:
            named = source.contexts if name == context_column(source, model) else source.categories
            # a report, such as a probability, is a number also where outcomes have names
            report = name == source.response and not model.chooses() and not {*texts(rows.column(name))} & {*named}
            return self._named(rows, name, named) if named and not report else self._numbers(rows, name)

        self._feedback = Feedback(source, model, read)
        self._given = np.full(rows.num_rows, np.nan) if source.response is None else read(source.response)
        self._begins = self._marks(rows, source.reset)
        self._catch = self._marks(rows, source.catch)
        self._blocks = [np.array(texts(rows.column(name)), dtype=object) for name in source.blocks()]
        self._parameters = {name: np.array(texts(rows.column(name)), dtype=object) for name in parameters}
        self._trials = None if source.trial is None else self._numbers(rows, source.trial)

    def person(self, name: str, group: GroupRows) -> Person:
        rows = np.arange(len(self._given))[group.rows]
        given, scored = self._given[rows], ~np.isnan(self._given[rows]) & ~self._catch[rows]
        if self._source.response is not None and not scored.any():
            raise TableError(f"{shown(self._source.by, group.key)}: no response to fit")
        self._check_bounds(rows, given)
        begins = self._begins[rows].copy()
        for labels in self._blocks:
            begins[1:] |= labels[rows][1:] != labels[rows][:-1]
        self._check_trials(rows, begins, shown(self._source.by, group.key))
        return Person(name, tuple(self._part(rows[part], begins[part], given[part], scored[part]) for part in self._parts(rows)))

    def _check_bounds(self, rows: np.ndarray, given: np.ndarray) -> None:
        low, high = self._source.bounds or (-np.inf, np.inf)
        if np.isinf(given).any():
            row = rows[int(np.argmax(np.isinf(given)))] + 1
            raise TableError(f"{self._path}: row {row}, column {self._source.response!r} is infinite")
        beyond = ~np.isnan(given) & ((given < low) | (given > high))
        if beyond.any():
            i = int(np.argmax(beyond))
            where = f"row {rows[i] + 1}, column {self._source.response!r}"
            raise TableError(f"{self._path}: {where}: {given[i]:g} lies beyond the slider, {low:g} to {high:g}")

    def _check_trials(self, rows: np.ndarray, begins: np.ndarray, whose: str) -> None:
        """Learners learn in the order of the rows, so numbers go up; they may start again where a block begins."""
        if self._trials is None:
            return
        trials, column, first = self._trials[rows], self._source.trial, dict[Any, int]()
        if np.isnan(trials).any():
            row = rows[int(np.argmax(np.isnan(trials)))] + 1
            raise TableError(f"{self._path}: row {row}, column {column!r} is missing; --trial none ignores this column")
        for row, key in zip(rows, zip(np.cumsum(begins), trials, strict=True), strict=True):
            if first.setdefault(key, int(row)) != row:
                both = f"rows {first[key] + 1} and {row + 1} are both trial {key[-1]:g}"
                raise TableError(f"{self._path}: {whose}: {both}; {ONE_NAME}; {COUNTED_ANEW}")
        back = np.flatnonzero((np.diff(trials) < 0.0) & ~begins[1:])
        if back.size:
            before, row = back[0], back[0] + 1
            both = f"row {rows[row] + 1} is trial {trials[row]:g}, after trial {trials[before]:g} in row {rows[before] + 1}"
            raise TableError(f"{self._path}: {whose}: {both}; sort the table by {column}; {COUNTED_ANEW}")

    def _parts(self, rows: np.ndarray) -> list[np.ndarray]:
        """Positions that share all parameters in columns, in one run."""
        differ = np.zeros(len(rows), dtype=bool)
        for values in self._parameters.values():
            differ[1:] |= values[rows][1:] != values[rows][:-1]
        return np.split(np.arange(len(rows)), np.flatnonzero(differ))

    def _part(self, rows: np.ndarray, begins: np.ndarray, given: np.ndarray, scored: np.ndarray) -> Trials:
        columns = {name: self._parameter(name, values, rows) for name, values in self._parameters.items()}
        try:
            seen = self._feedback.of(rows, self._model, columns)
        except (ValueError, TypeError) as error:
            where = f"rows {rows[0] + 1} to {rows[-1] + 1}, column {self._source.outcome!r}"
            raise TableError(f"{self._path}: {where}: {error}") from None
        missing = "elapse" if self._source.missing == "error" and seen.worth.size else self._source.missing
        if seen.absent.any() and missing == "error":
            row = rows[int(np.argmax(seen.absent))] + 1
            where = f"row {row}, column {self._source.outcome!r}"
            raise TableError(f"{self._path}: {where} is missing; --missing elapse or skip accepts that")
        events, after = step_events(seen.absent, begins, missing), self._source.when == "after"
        if seen.contexts.size:
            seen = seen.about_coming(begins) if after else seen
            scored = scored & ~np.isnan(seen.contexts)
            seen = seen._replace(contexts=np.nan_to_num(seen.contexts))
        return Trials(seen.values, events, given, scored, after, columns, rows, *seen[2:], self._source.learn)

    def _parameter(self, name: str, values: np.ndarray, rows: np.ndarray) -> float:
        try:
            return number(values[rows[0]] or "")
        except ValueError:
            raise TableError(f"{self._path}: row {rows[0] + 1}, column {name!r}: {values[rows[0]]!r} is not a number") from None

    def _numbers(self, rows: pa.RecordBatch, name: str) -> np.ndarray:
        return numbers(rows.column(name), self._path, 1, name)

    def _marks(self, rows: pa.RecordBatch, name: str | None) -> np.ndarray:
        return np.zeros(rows.num_rows, dtype=bool) if name is None else marks(rows.column(name), self._path, 1, name)

    def _named(self, rows: pa.RecordBatch, name: str, names: Sequence[str]) -> np.ndarray:
        """The places of texts among names."""
        labels = texts(rows.column(name))
        values = codes_of(labels, names)
        if (values < 0.0).any():
            i, declared = int(np.argmax(values < 0.0)), ", ".join(map(repr, names))
            raise TableError(f"{self._path}: row {i + 1}, column {name!r}: {labels[i]!r} was not declared; {declared} were")
        return values
