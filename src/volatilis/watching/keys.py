"""Which key has which number, and which keys are forgotten: those silent for long, and the most silent where there are too many.

Numbers are small and used again, so that what is remembered of keys lies in arrays.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from volatilis.watching.fields import Key

SPARSE = 4  # times as many numbers as keys, and
ROUNDS = 4  # of all keys
MANY = 1024  # numbers at least, before all get new ones


class Keys:
    """Numbers of keys. Those that are forgotten keep their number until `released`: their last lines may not be dealt with yet.

    most   so many keys at most; None: any number
    after  a key is forgotten when more than this passed since its last line, in the units of the ticks; None: never
    """

    def __init__(self, most: int | None = None, after: float | None = None) -> None:
        self._most, self._after = most, after
        self.forgets = most is not None or after is not None
        self.numbers: dict[Key, int] = OrderedDict() if self.forgets else {}  # the most silent first, if keys are forgotten
        self.count = 0  # numbers that were ever given
        self._free: list[int] = []
        self._leaving: list[int] = []
        self._last: list[float] = []  # by number: the tick of its last line
        self._lines = 0  # that came
        self._line: list[int] = []  # by number: its last one
        self.soonest: int | None = None  # after so few lines without it, a key was forgotten since there were too many

    def numbers_of(self, keys: Sequence[Key], ticks: np.ndarray | None) -> tuple[np.ndarray, list[tuple[int, Key]]]:
        """The numbers of these keys, and the new ones among them."""
        new: list[tuple[int, Key]] = []
        if self.forgets:
            return np.array(self._in_order(keys, ticks, new), dtype=np.int64), new
        numbers = self.numbers
        try:
            return np.array([numbers[key] for key in keys], dtype=np.int64), new
        except KeyError:
            for key in keys:
                if key not in numbers:
                    new.append((self._give(key), key))
            return np.array([numbers[key] for key in keys], dtype=np.int64), new

    def _in_order(self, keys: Sequence[Key], ticks: np.ndarray | None, new: list[tuple[int, Key]]) -> list[int]:
        """Line by line, since a key that is forgotten before a line is a new one there."""
        numbers, last, result = self.numbers, self._last, []
        assert isinstance(numbers, OrderedDict)
        for key, tick in zip(keys, [0.0] * len(keys) if ticks is None else ticks.tolist(), strict=True):
            if self._after is not None:
                while numbers and tick - last[next(iter(numbers.values()))] > self._after:
                    self._leaving.append(numbers.popitem(last=False)[1])
            number = numbers.get(key)
            if number is None:
                if len(numbers) == self._most:
                    self._make_room(numbers.popitem(last=False)[1])
                number = self._give(key)
                new.append((number, key))
            else:
                numbers.move_to_end(key)
            self._lines += 1
            last[number], self._line[number] = tick, self._lines
            result.append(number)
        return result

    def _make_room(self, number: int) -> None:
        age = self._lines - self._line[number]
        self.soonest = age if self.soonest is None else min(age, self.soonest)
        self._leaving.append(number)

    def are_too_many(self) -> bool:
        """Whether keys are forgotten that are still in use, as far as one can tell: a few rounds after their last line."""
        return self._most is not None and self.soonest is not None and self.soonest < ROUNDS * self._most

    def _give(self, key: Key) -> int:
        if self._free:
            number = self._free.pop()
        else:
            number, self.count = self.count, self.count + 1
            if self.forgets:
                self._last.append(0.0)
                self._line.append(0)
        self.numbers[key] = number
        return number

    def released(self) -> list[int]:
        """The numbers of keys that were forgotten since the last call; they are free now."""
        gone, self._leaving = self._leaving, []
        self._free += gone
        return gone

    def is_sparse(self) -> bool:
        return self.count > MANY and self.count > SPARSE * len(self.numbers)

    def renumber(self) -> None:
        """Numbers from 0 in the order of the keys."""
        last = self.last()
        self.set_keys(list(self.numbers), last)

    def last(self) -> np.ndarray:
        """The tick of each key's last line, in the order of the keys; empty if keys are never forgotten."""
        return np.array([self._last[number] for number in self.numbers.values()] if self.forgets else [], dtype=np.float64)

    def set_keys(self, keys: Sequence[Key], last: np.ndarray) -> None:
        """All keys in their order, as they were saved. Raises ValueError if they are no such keys."""
        numbers = zip(keys, range(len(keys)), strict=True)
        self.numbers = OrderedDict(numbers) if self.forgets else dict(numbers)
        if len(self.numbers) != len(keys):
            raise ValueError("a key that comes twice")
        if last.shape != ((len(keys),) if self.forgets else (0,)) or last.dtype != np.float64 or np.isnan(last).any():
            raise ValueError("the times of the keys' last lines are not valid")
        self.count, self._free, self._leaving, self._last = len(keys), [], [], last.tolist()
        self._line = [self._lines] * len(keys)
