"""The pass over a table, batch by batch: groups are independent, keep their state between batches, and run on all cores.

The numbers are the same whatever the number of workers and however the rows of different groups are interleaved.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from volatilis._compiler import for_threads
from volatilis._core.jobs import worker_count
from volatilis.learners._base import Learner
from volatilis.running.arguments import missing_policy
from volatilis.tables import Table, arrow, column_named, column_of_people, open_table
from volatilis.trials.fit_of_model import FitOfModel
from volatilis.trials.groups import GroupRows, Key, Rows, split
from volatilis.trials.inputs import Inputs, Roles
from volatilis.trials.measures import Column, check_chosen, columns_for, left_out
from volatilis.trials.sessions import Register, Work

if TYPE_CHECKING:
    import pyarrow as pa

    from volatilis.trials.run import RunRequest

GROUPING = ("subject", "session", "block")  # the columns that make the groups, if --by is not given


class RunSummary(NamedTuple):
    """What a run did.

    rows, groups       how many there are
    missing_outcomes   how many rows have none
    not_finite         by computed column, the number of rows where it is not a finite number
    left_out           by learner, the measures that take long and were not requested
    blocks             how many there are; 0 where no column names them
    blocks_again       how many of them have a label that a subject had before
    misfits            what speaks against the model, in words
    conditioned        whether the first outcomes after a start are only the past of those that come next, and not predicted
    """

    rows: int
    groups: int
    missing_outcomes: int
    not_finite: dict[str, int]
    left_out: dict[str, list[str]]
    blocks: int = 0
    blocks_again: int = 0
    misfits: tuple[str, ...] = ()
    conditioned: bool = False


class BatchResult(NamedTuple):
    """A batch after the learners went over it: the rows of the file, the rows as learners got them, and the results.

    computed: by the column's name, one number per row of the batch
    """

    batch: pa.RecordBatch
    rows: Rows
    groups: list[GroupRows]
    computed: dict[str, np.ndarray]


class Onlooker(Protocol):
    """Looks on while a table is run over, so that a report, say, comes from the same pass. It must not alter what it sees.

    `begin` is called once, then `see` for every batch, then `end` if all went well. When `end` is called no output has its
    name yet: if it fails, none gets one.
    """

    def begin(self, engine: Engine) -> None: ...

    def see(self, seen: BatchResult) -> None: ...

    def end(self) -> None: ...


class Engine:
    """The state of a run: for every group and learner a session that goes on from batch to batch."""

    def __init__(self, request: RunRequest, watchers: Sequence[Onlooker] = ()) -> None:
        if not request.learners:
            raise ValueError("no learner is given; at least one is needed, such as --learner merge:n=20,p_c=0.01")
        missing_policy(request.missing)
        for recipe in (request.family, *request.learners):
            if recipe.free():
                raise ValueError(
                    f"{recipe.text!r}: {recipe.free()[0]} is free; give it a number here, or fit it with volatilis fit"
                )
        self.request, self.table = request, open_table(request.table)
        self.inputs = Inputs(self.table.path, self._roles(self.table), request)
        self.columns = self._computed_columns()
        wanted = [tuple(dict.fromkeys(c.measure for c in self.columns if c.label == r.label)) for r in request.learners]
        self._register = Register(self.inputs, request.seed, wanted)
        self._stop = threading.Event()
        self._rows = self._missing_outcomes = 0
        self._not_finite = {column.name: 0 for column in self.columns}
        self._fit_of_model = FitOfModel(self.inputs, self._register.learners)
        self._watchers = watchers
        for watcher in watchers:
            watcher.begin(self)

    def __enter__(self) -> Engine:
        self._pool = ThreadPoolExecutor(worker_count(self.request.workers))
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def schema(self, typed: bool) -> pa.Schema:
        """The input's columns, then the computed ones."""
        import pyarrow as pa

        kept = self.table.typed_schema() if typed else self.table.schema
        return pa.schema([*kept, *(pa.field(column.name, pa.float64()) for column in self.columns)])

    def batches(self) -> Iterator[pa.RecordBatch]:
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

    def summary(self) -> RunSummary:
        """What was done so far."""
        blocks = self.inputs.blocks
        return RunSummary(
            *(self._rows, len(self._register), self._missing_outcomes, self._not_finite, self._left_out),
            *((0, 0) if blocks is None else (blocks.count, blocks.again)),
            self._fit_of_model.misfits(),
            any(learner.family.memory_size() > 0 for learner in self.examples),
        )

    def learners(self) -> dict[tuple[str, Key], Learner]:
        """Every learner that ran, by label and group."""
        labels = [recipe.label for recipe in self.request.learners]
        return {
            (label, key): learner
            for key, learners in self._register.learners().items()
            for label, learner in zip(labels, learners, strict=True)
        }

    def _roles(self, table: Table) -> Roles:
        request, columns = self.request, table.columns
        named = dict(request.named)
        grouping = [name for name in GROUPING if named.get(name) != "none" and (name in named or name in columns)]
        by = request.by if request.by is not None else tuple(name for name in grouping if "," not in named.get(name, ""))
        for name in ("subject", "session"):
            if name in named and not {name, named[name]} & set(by):
                raise ValueError(
                    f"--{name} {named[name]} has no effect beside --by {','.join(by) or 'none'}, "
                    "which does not separate by that column; "
                    f"write --by {','.join((name, *by))}, or leave --{name} out"
                )
        trial = request.trial if request.trial is not None else "trial" if "trial" in columns else "none"

        def find(name: str, use: str) -> str:
            return column_named(columns, name, table.path, use)

        return Roles(
            tuple(find(name, "the outcome") for name in request.outcome),
            tuple(find(named.get(name, name), "a group") for name in by),
            None if trial == "none" else find(trial, "the trial"),
            None if request.reset is None else find(request.reset, "where learners start anew"),
            tuple(
                dict.fromkeys(
                    find(c, f"a parameter of {r.text}") for r in (request.family, *request.learners) for c in r.columns()
                )
            ),
            tuple(find(name, "a block") for name in self._block_columns(columns, named, {named.get(name, name) for name in by})),
            tuple(find(name, "the context") for name in request.given),
            self._people(columns) if request.by is None and "subject" not in by and "subject" not in named else None,
        )

    def _people(self, columns: Sequence[str]) -> str | None:
        """A column that looks like people. An outcome, a context and the like are none."""
        request = self.request
        used = {*request.outcome, *request.given, *(name for _, name in request.named), request.trial, request.reset}
        return column_of_people(columns, used)

    def _block_columns(self, columns: Sequence[str], named: Mapping[str, str], by: Collection[str]) -> tuple[str, ...]:
        """Where one of them changes a block begins: as given, or by their names unless `reset` says where learners start."""
        if "block" in named:
            return () if named["block"] == "none" else tuple(name.strip() for name in named["block"].split(","))
        if self.request.reset is not None:
            return tuple(name for name in ("block",) if name in by)
        return tuple(name for name in ("session", "block") if name in columns and (name == "block" or name not in by))

    def _computed_columns(self) -> list[Column]:
        """From the first row: which learners there are decides which columns there are."""
        first = next((batch for batch in self.table.batches() if batch.num_rows), None)
        if first is None:
            raise ValueError(f"{self.table.path} has a header but no rows; at least one row is needed")
        self.examples = self.inputs.learners(self.inputs.read(first.slice(0, 1), 1), GroupRows((), slice(0, 1)))
        labelled = {recipe.label: learner for recipe, learner in zip(self.request.learners, self.examples, strict=True)}
        columns = [column for label, learner in labelled.items() for column in columns_for(label, learner, self.request.measures)]
        self._left_out = {label: left_out(columns, label, learner) for label, learner in labelled.items()}
        if self.request.measures is not None:
            self._left_out = {}
        check_chosen(self.request.measures, columns)
        for column in columns:
            if column.name in self.table.columns:
                raise ValueError(
                    f"{self.table.path} already has a column {column.name!r}; give the learner another label, "
                    f"such as --learner my{column.label}=..."
                )
        return columns

    def _process(self, batch: pa.RecordBatch) -> dict[str, np.ndarray]:
        first = self._rows + 1
        rows = self.inputs.read(batch, first)
        groups = split(batch, self.inputs.by, self.table.path, first)
        computed = {column.name: np.full(batch.num_rows, np.nan) for column in self.columns}
        # sessions are made here, one after the other, and used on all cores
        advance = for_threads(self._advance)
        work = [self._pool.submit(advance, rows, part, computed) for part in self._register.work(rows, groups)]
        try:
            self._missing_outcomes += sum(future.result() for future in work)
        finally:
            for future in work:
                future.cancel()
        self._rows += batch.num_rows
        for name, values in computed.items():
            self._not_finite[name] += int(np.count_nonzero(~np.isfinite(values)))
        self._fit_of_model.see(rows, groups)
        for watcher in self._watchers:
            watcher.see(BatchResult(batch, rows, groups, computed))
        return computed

    def _advance(self, rows: Rows, work: Work, computed: dict[str, np.ndarray]) -> int:
        """All learners on the next rows of a group, or of several; returns how many outcomes are missing."""
        results = {}
        for recipe, learner, session in zip(self.request.learners, work.learners, work.sessions, strict=True):
            values, events, absent = self.inputs.steps(rows, work.group, learner)
            results[recipe.label] = session.advance(values, events, absent, self._stop.is_set, *work.places)
        for column in self.columns:
            values = results[column.label][column.measure]
            computed[column.name][work.group.rows] = values if column.element is None else values[:, column.element]
        return int(absent.sum())
