"""The rows of a table, each with its run and its place there, and columns as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from volatilis.tables import column_named, numbers, open_table
from volatilis.trials import Order
from volatilis.trials.groups import Key, split


class Rows(NamedTuple):
    """`run` numbers the group of each row, in the order in which groups first appear; `keys` are their names.

    `step` counts the rows of a run since a learner last started, from 1; `columns` are those asked for, missing ones NaN.
    """

    run: np.ndarray
    keys: list[Key]
    step: np.ndarray
    columns: dict[str, np.ndarray]

    def before(self, values: np.ndarray, at_start: np.ndarray) -> np.ndarray:
        """From after each row to before it: what the row before it in its run holds; `at_start` where a learner starts."""
        order = np.argsort(self.run, kind="stable")
        shifted = np.empty(len(values))
        shifted[order[1:]] = values[order[:-1]]
        return np.where(self.step == 1, at_start, shifted)


def read_rows(order: Order, by: Sequence[str], columns: Sequence[str]) -> Rows:
    """Read the table once more: learners need it in groups, this needs it by row."""
    table = open_table(order.table)
    wanted = [*columns, *([] if order.reset is None else [order.reset])]
    for name in wanted:
        column_named(table.columns, name, table.path, "a number in each row")
    keys: dict[Key, int] = {}
    runs: list[np.ndarray] = []
    found: dict[str, list[np.ndarray]] = {name: [] for name in wanted}
    first = 1
    for batch in table.batches():
        run = np.empty(batch.num_rows, dtype=np.int64)
        for group in split(batch, by, table.path, first):
            run[group.rows] = keys.setdefault(group.key, len(keys))
        runs.append(run)
        for name, parts in found.items():
            parts.append(numbers(batch.column(name), table.path, first, name))
        first += batch.num_rows
    run = np.concatenate(runs)
    whole = {name: np.concatenate(parts) for name, parts in found.items()}
    marks = np.zeros(len(run)) if order.reset is None else whole[order.reset]
    return Rows(run, list(keys), _steps(run, (marks != 0.0) & ~np.isnan(marks)), whole)


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
