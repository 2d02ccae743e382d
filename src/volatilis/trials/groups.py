"""Rows of a batch by group (subject, block or whatever the table is split by), where blocks begin, and the order of trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from volatilis.tables import TableError, plain, texts

if TYPE_CHECKING:
    import pyarrow as pa

Key = tuple[str, ...]


class GroupRows(NamedTuple):
    """The rows of one group within a batch, in their order: a slice where they stand together, else positions."""

    key: Key
    rows: slice | np.ndarray

    @property
    def length(self) -> int:
        return self.rows.stop - self.rows.start if isinstance(self.rows, slice) else len(self.rows)

    def positions(self) -> np.ndarray:
        return np.arange(self.rows.start, self.rows.stop) if isinstance(self.rows, slice) else self.rows


class Rows(NamedTuple):
    """What learners need of a batch; `first` is the number of its first row. Rows are counted from 1."""

    first: int
    outcomes: np.ndarray
    trials: np.ndarray | None
    resets: np.ndarray | None  # where learners start anew
    parameters: dict[str, np.ndarray]
    given: np.ndarray | None = None  # the contexts of the outcomes

    def number_of(self, group: GroupRows, i: int) -> int:
        """The number of the i-th row of a group."""
        return self.first + (group.rows.start + i if isinstance(group.rows, slice) else int(group.rows[i]))


def split(batch: pa.RecordBatch, columns: Sequence[str], path: str, first_row: int) -> list[GroupRows]:
    """The groups of a batch in the order of their first rows."""
    if not batch.num_rows:
        return []
    encoded = [_encoded(batch.column(column), path, first_row, column) for column in columns]
    begins = np.zeros(batch.num_rows, dtype=bool)
    begins[0] = True
    for codes, _ in encoded:
        begins[1:] |= codes[1:] != codes[:-1]
    starts = np.flatnonzero(begins)  # of stretches of rows of one group
    keys, group_of = _numbered([(codes[starts], labels) for codes, labels in encoded], len(starts))
    if len(keys) == len(starts):  # every group stands together
        ends = [*starts[1:].tolist(), batch.num_rows]
        return [GroupRows(key, slice(start, end)) for key, start, end in zip(keys, starts.tolist(), ends, strict=True)]
    of_rows = np.repeat(group_of, np.diff(starts, append=batch.num_rows))
    positions = np.split(np.argsort(of_rows, kind="stable"), np.cumsum(np.bincount(of_rows))[:-1])
    return [GroupRows(key, rows) for key, rows in zip(keys, positions, strict=True)]


def _numbered(encoded: Sequence[tuple[np.ndarray, list[str]]], count: int) -> tuple[list[Key], np.ndarray]:
    """The different keys in the order in which they come, and the number of each row's key. Only combinations that occur."""
    codes = np.zeros(count, dtype=np.int64)
    names: list[Key] = [()]
    for column_codes, labels in encoded:
        present, codes = np.unique(codes * len(labels) + column_codes, return_inverse=True)
        names = [(*names[code // len(labels)], labels[code % len(labels)]) for code in present.tolist()]
    _, first = np.unique(codes, return_index=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return [names[code] for code in order.tolist()], rank[codes]


def shown(columns: Sequence[str], key: Key) -> str:
    """For messages: subject=3, block=1."""
    return ", ".join(f"{column}={value}" for column, value in zip(columns, key, strict=True)) or "the table"


def _encoded(values: pa.Array, path: str, first_row: int, column: str) -> tuple[np.ndarray, list[str]]:
    """A number per row and the text that each stands for."""
    import pyarrow as pa
    import pyarrow.compute as pc

    encoded = values if pa.types.is_dictionary(values.type) else pc.dictionary_encode(values)
    labels = texts(encoded.dictionary)
    indices = encoded.indices.cast(pa.int64())
    codes = plain(pc.fill_null(indices, -1) if indices.null_count else indices)
    absent = np.array([label is None for label in labels] + [True])[codes]  # -1 is the last: null
    if absent.any():
        row = first_row + int(np.argmax(absent))
        raise TableError(
            f"{path}: row {row}, column {column!r} is missing; groups are made by this column, so every row needs it "
            "(--by and --block name others; --block none: no blocks)"
        )
    different = list(dict.fromkeys(label for label in labels if label is not None))
    number = {label: i for i, label in enumerate(different)}
    return np.array([number.get(label, -1) if label is not None else -1 for label in labels], dtype=np.int64)[codes], different


class Blocks:
    """Where blocks begin: where the label of a block (in one column or several) changes within the rows of a subject. So a label
    may come again.

    Remembers the last label of every subject (or whatever the other columns of --by are), and counts the blocks.
    """

    def __init__(self, path: str, others: Sequence[str], columns: Sequence[str]) -> None:
        self._path, self._others, self._columns = path, others, columns
        self._last: dict[Key, Key] = {}
        self._seen: set[Key] = set()
        self.count = self.again = 0

    def begins(self, batch: pa.RecordBatch, first_row: int) -> np.ndarray:
        """Which of the next rows begin a block."""
        labels, codes = self._read(batch, first_row, self._columns)
        keys, outer = self._read(batch, first_row, self._others)
        order = np.argsort(outer, kind="stable")  # subject after subject, each in the order of the table
        new = np.diff(outer[order], prepend=-1) != 0
        changes = new | (np.diff(codes[order], prepend=-1) != 0)
        for place in np.flatnonzero(new).tolist():
            changes[place] = labels[codes[order[place]]] != self._last.get(keys[outer[order[place]]])
        ends = np.append(np.flatnonzero(new)[1:] - 1, len(order) - 1)[: len(keys)]
        self._last |= {keys[outer[row]]: labels[codes[row]] for row in order[ends].tolist()}
        self._count([(*keys[outer[row]], *labels[codes[row]]) for row in order[changes].tolist()])
        begins = np.zeros(batch.num_rows, dtype=bool)
        begins[order[changes]] = True
        return begins

    def _read(self, batch: pa.RecordBatch, first_row: int, columns: Sequence[str]) -> tuple[list[Key], np.ndarray]:
        return _numbered([_encoded(batch.column(name), self._path, first_row, name) for name in columns], batch.num_rows)

    def _count(self, blocks: list[Key]) -> None:
        self.count += len(blocks)
        before = len(self._seen)
        self._seen.update(blocks)
        self.again += len(blocks) - (len(self._seen) - before)


class TrialOrder:
    """Checks that trial numbers increase within each group. Remembers the last trial of every group, and its row."""

    def __init__(self, path: str, column: str | None, by: Sequence[str]) -> None:
        self._path, self._column, self._by = path, column, by
        self._last, self._row = np.empty(0), np.empty(0, dtype=np.int64)

    def check(self, rows: Rows, groups: Sequence[GroupRows], numbers: np.ndarray) -> None:
        """The groups of the next rows, all together; `numbers` says which each is, counted from 0 as they first come."""
        if rows.trials is None or not groups:
            return
        self._enlarge(int(numbers.max()) + 1)
        together = isinstance(groups[0].rows, slice)
        order = np.arange(len(rows.trials)) if together else np.concatenate([group.rows for group in groups])
        ends = np.cumsum([group.length for group in groups]) - 1
        trials = rows.trials[order]
        before = np.concatenate([[0.0], trials[:-1]])
        before[np.concatenate([[0], ends[:-1] + 1])] = self._last[numbers]
        if rows.resets is not None:  # numbers may start again where a block begins
            before[rows.resets[order]] = -np.inf
        if not (trials > before).all():
            for group, number in zip(groups, numbers.tolist(), strict=True):
                self._check_one(rows, rows.trials[group.rows], group, number)
        self._last[numbers], self._row[numbers] = trials[ends], rows.first + order[ends]

    def _enlarge(self, count: int) -> None:
        more = max(count - len(self._last), 0)
        if more:
            more = max(more, len(self._last))
            self._last = np.concatenate([self._last, np.full(more, -np.inf)])
            self._row = np.concatenate([self._row, np.zeros(more, dtype=np.int64)])

    def _check_one(self, rows: Rows, trials: np.ndarray, group: GroupRows, number: int) -> None:
        before = np.concatenate([self._last[number : number + 1], trials[:-1]])
        if rows.resets is not None:
            before[rows.resets[group.rows]] = -np.inf
        if (trials > before).all():
            return
        i = int(np.argmax(~(trials > before)))
        row, where = rows.number_of(group, i), shown(self._by, group.key)
        earlier = rows.number_of(group, i - 1) if i > 0 else int(self._row[number])
        if np.isnan(trials[i]):
            raise TableError(f"{self._path}: row {row}, column {self._column!r} is missing; --trial none ignores this column")
        problem = f"row {row}: trial {trials[i]:g} of {where} comes after trial {before[i]:g} in row {earlier}"
        if trials[i] == before[i]:
            problem = f"rows {earlier} and {row} are both trial {trials[i]:g} of {where}"
        raise TableError(
            f"{self._path}: {problem}; rows of a group must be in the order of trials: sort the table, or name the columns "
            "that make a group with --by, or use --trial none"
        )
