"""What a state keeps about recent changes. Its type says what, so kernels have no code for what their state does not keep."""

from __future__ import annotations

from typing import NamedTuple, Protocol, Self

import numpy as np

from volatilis._compiler.registry import compiled_methods

# The first numbers: n, w, how many changes were noted; then, where hypotheses merge, those of `_ledger`
N, W, NOTED, HEAD = range(4)


class Recent(Protocol):
    """One flat array of numbers, which `_recent`, `_ledger` and `_ledger_of_rows` describe, and what is in it."""

    @property
    def numbers(self) -> np.ndarray: ...

    def is_kept(self) -> bool:
        """Whether anything is."""

    def has_ledger(self) -> bool:
        """Whether hypotheses merge: then there is a ledger."""

    def in_rows(self) -> bool:
        """Whether the ledger has a row for each hypothesis."""

    def of_sequence(self, i: int) -> Recent:
        """Where the numbers are of many sequences: those of one."""

    def _replace(self, *, numbers: np.ndarray) -> Self: ...


@compiled_methods
class NotKept(NamedTuple):
    """Nobody asked."""

    numbers: np.ndarray

    def is_kept(self) -> bool:
        return False

    def has_ledger(self) -> bool:
        return False

    def in_rows(self) -> bool:
        return False

    def of_sequence(self, i: int) -> NotKept:
        return NotKept(self.numbers[i])


@compiled_methods
class Counter(NamedTuple):
    """Hypotheses have one run length each: the number of observations is all that it takes."""

    numbers: np.ndarray

    def is_kept(self) -> bool:
        return True

    def has_ledger(self) -> bool:
        return False

    def in_rows(self) -> bool:
        return False

    def of_sequence(self, i: int) -> Counter:
        return Counter(self.numbers[i])


@compiled_methods
class Ledger(NamedTuple):
    """Hypotheses merge, and each change is in one of them."""

    numbers: np.ndarray

    def is_kept(self) -> bool:
        return True

    def has_ledger(self) -> bool:
        return True

    def in_rows(self) -> bool:
        return False

    def of_sequence(self, i: int) -> Ledger:
        return Ledger(self.numbers[i])


@compiled_methods
class LedgerOfRows(NamedTuple):
    """Hypotheses merge, and a change may be in several."""

    numbers: np.ndarray

    def is_kept(self) -> bool:
        return True

    def has_ledger(self) -> bool:
        return True

    def in_rows(self) -> bool:
        return True

    def of_sequence(self, i: int) -> LedgerOfRows:
        return LedgerOfRows(self.numbers[i])


NO_RECENT = NotKept(np.zeros(0))
