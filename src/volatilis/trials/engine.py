"""Run learners over a table, batch by batch: groups are independent, keep their state between batches, and run on all cores.

The same numbers whatever the number of workers and however the rows of different groups are interleaved.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from volatilis._core.jobs import worker_count
from volatilis.catalogue import Recipe
from volatilis.running.arguments import missing_policy
from volatilis.tables import Table, arrow, column_named, kind_of, open_table, writer
from volatilis.trials.groups import Group, Key, split
from volatilis.trials.inputs import Inputs, Roles, Rows
from volatilis.trials.measures import Column, check_chosen, columns_for, left_out
from volatilis.trials.register import Register, Work
from volatilis.trials.watching import Seen, Watcher

GROUPING = ("subject", "session", "block")  # the groups of a table where nobody says otherwise


class Order(NamedTuple):
    """What to compute. Columns are given by the file's own names; subject, session and block also by `named`.

    by          the columns whose values make the groups; None: subject, session and block, as far as they are there
    outcome     the outcome's column, or several for a vector
    trial       the column that numbers the trials, to check their order; None: trial, if it is there; "none": do not check
    reset       a column that is not 0 where a learner starts anew
    measures    None: all but those that take long; or names, or ("all",)
    missing     what a missing outcome means: error, elapse (time passes), skip
    categories  the names of the categories in their order, where outcomes are texts
    named       the file's names of subject, session and block, in pairs: (("subject", "subj_num"),)
    """

    table: str | os.PathLike[str]
    family: Recipe
    learners: tuple[Recipe, ...]
    by: tuple[str, ...] | None = None
    outcome: tuple[str, ...] = ("outcome",)
    trial: str | None = None
    reset: str | None = None
    measures: tuple[str, ...] | None = None
    missing: str = "error"
    categories: tuple[str, ...] = ()
    seed: int = 0
    workers: int | None = None
    named: tuple[tuple[str, str], ...] = ()


class Summary(NamedTuple):
    """What a run did: rows, groups, and per computed column the number of rows where it is not a finite number.

    left_out: per learner the measures that take long and were not asked for.
    """

    rows: int
    groups: int
    missing_outcomes: int
    not_finite: dict[str, int]
    left_out: dict[str, list[str]]


class Result(NamedTuple):
    """A whole table in memory: the input's columns and the computed ones, and what the latter are.

    frame       as a pandas DataFrame, with texts that are all numbers as numbers
    rows        as one pyarrow RecordBatch, with the input's columns as they stand in the file
    """

    frame: Any
    columns: list[Column]
    by: tuple[str, ...]
    learners: dict[tuple[str, Key], Any]
    summary: Summary
    rows: Any


Progress = Callable[[float], None]


def run_table(
    order: Order,
    out: str | os.PathLike[str] | None,
    progress: Progress = lambda share: None,
    watchers: Sequence[Watcher] = (),
) -> Summary:
    """Write the table with its computed columns; memory does not grow with the number of rows. None: only watchers get it."""
    typed = out is not None and _keeps_types(out, order)  # also says at once whether the name is accepted
    engine = Engine(order, watchers)
    schema = engine.schema(typed)
    put = contextlib.nullcontext(_nowhere) if out is None else writer(out, schema)
    with engine, put as write, ThreadPoolExecutor(1) as writing:
        written: Future[None] = writing.submit(lambda: None)
        for batch in engine.batches():  # the next batch is computed while this one is written
            written.result()
            written = writing.submit(write, _cast(batch, schema))
            progress(engine.table.share)
        written.result()
        engine.end()
    progress(1.0)
    return engine.summary()


def compute(
    order: Order,
    progress: Progress = lambda share: None,
    out: str | os.PathLike[str] | None = None,
    check: Callable[[Result], None] = lambda result: None,
    watchers: Sequence[Watcher] = (),
) -> Result:
    """The same in memory. With `out` the table is written too; it gets its name after `check`, which may raise."""
    import pyarrow as pa

    typed = out is not None and _keeps_types(out, order)
    engine = Engine(order, watchers)
    batches = []
    with contextlib.ExitStack() as stack:
        stack.enter_context(engine)
        shown = engine.schema(typed)
        write = None if out is None else stack.enter_context(writer(out, shown))
        for batch in engine.batches():
            batches.append(batch)
            if write is not None:
                write(_cast(batch, shown))
            progress(engine.table.share)
        columns = zip(*(batch.columns for batch in batches), strict=True)
        rows = pa.RecordBatch.from_arrays([pa.concat_arrays(parts) for parts in columns], schema=engine.schema(typed=False))
        frame = _cast(rows, engine.schema(typed=True)).to_pandas()
        result = Result(frame, engine.columns, engine.inputs.by, engine.learners(), engine.summary(), rows)
        progress(1.0)
        check(result)
        engine.end()
    return result


class Engine:
    """The state of a run: for every group and learner a session that goes on from batch to batch."""

    def __init__(self, order: Order, watchers: Sequence[Watcher] = ()) -> None:
        if not order.learners:
            raise ValueError("no learner is given; one at least is needed, such as --learner merge:n=20,p_c=0.01")
        missing_policy(order.missing)
        for recipe in (order.family, *order.learners):
            if recipe.free():
                raise ValueError(
                    f"{recipe.text!r}: {recipe.free()[0]} is free; a number is needed here, or a fit to people's responses"
                )
        self.order, self.table = order, open_table(order.table)
        self.inputs = Inputs(self.table.path, self._roles(self.table), order)
        self.columns = self._computed_columns()
        wanted = [tuple(dict.fromkeys(c.measure for c in self.columns if c.label == r.label)) for r in order.learners]
        self._register = Register(self.inputs, order.seed, wanted)
        self._stop = threading.Event()
        self._rows = self._missing = 0
        self._not_finite = {column.name: 0 for column in self.columns}
        self._watchers = watchers
        for watcher in watchers:
            watcher.begin(self)

    def __enter__(self) -> Engine:
        self._pool = ThreadPoolExecutor(worker_count(self.order.workers))
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def schema(self, typed: bool) -> Any:
        """The input's columns, then the computed ones."""
        import pyarrow as pa

        kept = self.table.typed_schema() if typed else self.table.schema
        return pa.schema([*kept, *(pa.field(column.name, pa.float64()) for column in self.columns)])

    def batches(self) -> Iterator[Any]:
        """The table's batches with the computed columns, the others as they stand in the file."""
        import pyarrow as pa

        schema = self.schema(typed=False)
        for batch in self.table.batches():
            computed = self._process(batch)
            yield pa.RecordBatch.from_arrays([*batch.columns, *map(arrow, computed.values())], schema=schema)

    def end(self) -> None:
        """All batches are done."""
        for watcher in self._watchers:
            watcher.end()

    def summary(self) -> Summary:
        return Summary(self._rows, len(self._register), self._missing, self._not_finite, self._left_out)

    def learners(self) -> dict[tuple[str, Key], Any]:
        """Every learner that ran, by label and group."""
        labels = [recipe.label for recipe in self.order.learners]
        return {
            (label, key): learner
            for key, learners in self._register.learners().items()
            for label, learner in zip(labels, learners, strict=True)
        }

    def _roles(self, table: Table) -> Roles:
        order, there = self.order, table.columns
        named = dict(order.named)
        by = order.by if order.by is not None else tuple(name for name in GROUPING if name in named or name in there)
        trial = order.trial if order.trial is not None else "trial" if "trial" in there else "none"

        def find(name: str, use: str) -> str:
            return column_named(there, name, table.path, use)

        return Roles(
            tuple(find(name, "the outcome") for name in order.outcome),
            tuple(find(named.get(name, name), "a group") for name in by),
            None if trial == "none" else find(trial, "the trial"),
            None if order.reset is None else find(order.reset, "where learners start anew"),
            tuple(
                dict.fromkeys(find(c, f"a parameter of {r.text}") for r in (order.family, *order.learners) for c in r.columns())
            ),
        )

    def _computed_columns(self) -> list[Column]:
        """From the first row: which learners there are decides which columns there are."""
        first = next((batch for batch in self.table.batches() if batch.num_rows), None)
        if first is None:
            raise ValueError(f"{self.table.path} has a header and no rows; at least one is needed")
        self.examples = self.inputs.learners(self.inputs.read(first.slice(0, 1), 1), Group((), slice(0, 1)))
        labelled = {recipe.label: learner for recipe, learner in zip(self.order.learners, self.examples, strict=True)}
        columns = [column for label, learner in labelled.items() for column in columns_for(label, learner, self.order.measures)]
        self._left_out = {label: left_out(columns, label, learner) for label, learner in labelled.items()}
        if self.order.measures is not None:
            self._left_out = {}
        check_chosen(self.order.measures, columns)
        for column in columns:
            if column.name in self.table.columns:
                raise ValueError(
                    f"{self.table.path} has a column {column.name!r} already; give the learner another label, "
                    f"such as --learner my{column.label}=..."
                )
        return columns

    def _process(self, batch: Any) -> dict[str, np.ndarray]:
        first = self._rows + 1
        rows = self.inputs.read(batch, first)
        groups = split(batch, self.inputs.by, self.table.path, first)
        computed = {column.name: np.full(batch.num_rows, np.nan) for column in self.columns}
        # sessions are made here, one after the other, and used on all cores
        work = [self._pool.submit(self._advance, rows, part, computed) for part in self._register.work(rows, groups)]
        try:
            self._missing += sum(future.result() for future in work)
        finally:
            for future in work:
                future.cancel()
        self._rows += batch.num_rows
        for name, values in computed.items():
            self._not_finite[name] += int(np.count_nonzero(~np.isfinite(values)))
        for watcher in self._watchers:
            watcher.see(Seen(batch, rows, groups, computed))
        return computed

    def _advance(self, rows: Rows, work: Work, computed: dict[str, np.ndarray]) -> int:
        """All learners on the next rows of a group, or of several; returns how many outcomes are missing."""
        found = {}
        for recipe, learner, session in zip(self.order.learners, work.learners, work.sessions, strict=True):
            values, events, absent = self.inputs.steps(rows, work.group, learner)
            found[recipe.label] = session.advance(values, events, absent, self._stop.is_set, *work.places)
        for column in self.columns:
            values = found[column.label][column.measure]
            computed[column.name][work.group.rows] = values if column.element is None else values[:, column.element]
        return int(absent.sum())


def _nowhere(batch: Any) -> None:
    """Where a table goes that nobody wants written."""


def _keeps_types(out: str | os.PathLike[str], order: Order) -> bool:
    """Whether a file has types; what cannot be an output is refused here."""
    if os.fspath(out) == "-":
        return False
    if os.path.exists(out) and os.path.exists(order.table) and os.path.samefile(out, order.table):
        raise ValueError(f"{os.fspath(out)} is the table itself; give --out another name")
    return kind_of(out)[0] in ("parquet", "jsonl")


def _cast(batch: Any, schema: Any) -> Any:
    """The same columns with the types of a schema."""
    import pyarrow as pa

    columns = [_cast_column(batch.column(i), field.type) for i, field in enumerate(schema)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _cast_column(values: Any, kind: Any) -> Any:
    import pyarrow as pa

    from volatilis.tables import empty_as_missing

    if values.type == kind:
        return values
    return empty_as_missing(values).cast(kind) if pa.types.is_string(values.type) else values.cast(kind)
