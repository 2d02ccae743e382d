"""Trials of a group go up, and none stands twice: all groups of a batch are looked at together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from volatilis.tables import TableError
from volatilis.trials.groups import Group, shown

if TYPE_CHECKING:
    from volatilis.trials.inputs import Rows


class TrialOrder:
    """Remembers the last trial of every group, and the row where it stands."""

    def __init__(self, path: str, column: str | None, by: Sequence[str]) -> None:
        self._path, self._column, self._by = path, column, by
        self._last, self._row = np.empty(0), np.empty(0, dtype=np.int64)

    def check(self, rows: Rows, groups: Sequence[Group], numbers: np.ndarray) -> None:
        """The groups of the next rows; `numbers` says which each is, counted from 0 as they first come."""
        if rows.trials is None or not groups:
            return
        self._enlarge(int(numbers.max()) + 1)
        together = isinstance(groups[0].rows, slice)
        order = np.arange(len(rows.trials)) if together else np.concatenate([group.rows for group in groups])
        lengths = [group.rows.stop - group.rows.start if together else len(group.rows) for group in groups]
        ends = np.cumsum(lengths) - 1
        trials = rows.trials[order]
        before = np.concatenate([[0.0], trials[:-1]])
        before[np.concatenate([[0], ends[:-1] + 1])] = self._last[numbers]
        if not (trials > before).all():
            for group, number in zip(groups, numbers.tolist(), strict=True):
                self._check_one(rows, group, number)
        self._last[numbers], self._row[numbers] = trials[ends], rows.first + order[ends]

    def _enlarge(self, count: int) -> None:
        more = max(count - len(self._last), 0)
        if more:
            more = max(more, len(self._last))
            self._last = np.concatenate([self._last, np.full(more, -np.inf)])
            self._row = np.concatenate([self._row, np.zeros(more, dtype=np.int64)])

    def _check_one(self, rows: Rows, group: Group, number: int) -> None:
        trials = rows.trials[group.rows]  # type: ignore[index]  # there are some, or nothing is checked
        before = np.concatenate([self._last[number : number + 1], trials[:-1]])
        if (trials > before).all():
            return
        i = int(np.argmax(~(trials > before)))
        row, where = rows.number_of(group, i), shown(self._by, group.key)
        earlier = rows.number_of(group, i - 1) if i > 0 else int(self._row[number])
        if np.isnan(trials[i]):
            raise TableError(f"{self._path}: row {row}, column {self._column!r} is missing; --trial none does not look at it")
        said = f"row {row}: trial {trials[i]:g} of {where} comes after trial {before[i]:g} in row {earlier}"
        if trials[i] == before[i]:
            said = f"rows {earlier} and {row} are both trial {trials[i]:g} of {where}"
        raise TableError(
            f"{self._path}: {said}; rows of a group must be in the order of trials: sort the table, or name the columns "
            "that make a group with --by, or use --trial none"
        )
