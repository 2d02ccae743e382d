"""A bank: many tuples of one class side by side, as one tuple whose every number is a column.

Learners that differ in their parameters, or states: `stacked` puts them side by side, `member(bank, i)` is the i-th, in place. An
array whose first axis has length 1 is shared by all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from volatilis._compiler.registry import compiled_methods, instruction, python_only
from volatilis.families._base import zeros

T = TypeVar("T")


@instruction
def member(bank: T, i: int) -> T:
    """The i-th of a bank; its arrays are views."""
    row: Any = bank
    if isinstance(bank, tuple):
        row = tuple.__new__(type(bank), [member(item, i) for item in bank])
    elif isinstance(bank, np.ndarray):
        row = bank[i if len(bank) > 1 else 0]
        row = row.item() if bank.ndim == 1 else row
    return row


def stacked(items: Sequence[T], shared: Sequence[np.ndarray] = ()) -> T:
    """The bank of these items. Of arrays among `shared`, by identity in the first item, the bank has one for all."""
    bank: Any = items[0]
    if isinstance(bank, tuple):
        columns = zip(*(cast(tuple[Any, ...], item) for item in items), strict=True)
        bank = tuple.__new__(type(bank), [stacked(column, shared) for column in columns])
    elif any(bank is one for one in shared):
        bank = bank[None]
    elif isinstance(bank, (np.ndarray, float)):
        bank = np.array(items)
        bank = _in_place(bank) if bank.dtype == np.float64 else bank
    elif any(item != bank for item in items):
        bank = np.array(items, dtype=np.int64)
    return cast(T, bank)


def with_room(value: T, kept: Sequence[np.ndarray], count: int) -> T:
    """Room for `count` tuples like this, empty where an array is among `kept`; of other arrays there is this one for all."""
    room: Any = value
    if isinstance(value, tuple):
        room = tuple.__new__(type(value), [with_room(item, kept, count) for item in value])
    elif isinstance(value, np.ndarray):
        mine = any(value is one for one in kept)
        room = np.zeros((count, *value.shape), dtype=value.dtype) if mine else value[None]
    return cast(T, room)


def _in_place(columns: np.ndarray) -> np.ndarray:
    """The same numbers where vector registers like them."""
    room = zeros(*columns.shape)
    room[...] = columns
    return room


@compiled_methods
class BankOfStates(NamedTuple):
    """`ManyStates` for states of any class."""

    bank: Any

    def at(self, i: int) -> Any:
        return member(self.bank, i)

    @property
    def run_lengths(self) -> np.ndarray:
        return self.bank.run_lengths

    @python_only
    def generators(self) -> np.ndarray | None:
        random = self.bank.generator()
        return None if random is None else random.reshape(len(random), -1)

    @python_only
    def kept_arrays(self) -> dict[str, np.ndarray]:
        return self.bank.kept_arrays()
