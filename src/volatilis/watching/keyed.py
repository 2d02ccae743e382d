"""One small state per key, all side by side in a few arrays: a block of lines of any keys is one call of native code.

A learner whose state grows (Exact Bayes) has a pool of states for every size of room; a key moves on when its room is full.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from volatilis._compiler import Call
from volatilis._core.seeds import generator_key, named_seed
from volatilis.learners._base import Learner, State, put
from volatilis.running import drivers
from volatilis.running.drivers import Outputs, outputs
from volatilis.running.steps import defined_readouts
from volatilis.watching.fields import Key

ROWS = 1 << 12  # lines that native code takes at a time
FIRST_STATES = 16  # of a pool; it doubles as needed
MOMENT = 1.0  # seconds
COMPILING = "compiling this learner: this takes some seconds, once; later starts load it from the cache"


class Pool:
    """States with the same room. Rows of keys that moved on are used again."""

    def __init__(self, example: State, count: int = FIRST_STATES) -> None:
        self.states, self.used, self._example, self._room = example.many(count), 0, example, count
        self.free: list[int] = []

    def add(self, state: State) -> int:
        """Another state; returns its row."""
        row = self.free.pop() if self.free else self.used
        self.used = max(self.used, row + 1)
        if row >= self._room:
            self._enlarge()
        put(self.states, row, state)
        return row

    def arrays(self) -> dict[str, np.ndarray]:
        """All rows in use."""
        return {name: array[: self.used] for name, array in self.states.kept_arrays().items()}

    def set_arrays(self, arrays: dict[str, np.ndarray], free: list[int]) -> None:
        self.used, self.free = len(arrays["nu"]), free
        self._room = max(FIRST_STATES, self.used)
        self.states = self._example.many(self._room)
        for name, room in self.states.kept_arrays().items():
            room[: self.used] = arrays[name]

    def _enlarge(self) -> None:
        larger, count = self._example.many(2 * self._room), self._room
        for old, new in zip(self.states.kept_arrays().values(), larger.kept_arrays().values(), strict=True):
            new[:count] = old
        self.states, self._room = larger, 2 * count


class Keyed:
    """The states of all keys. `numbers_of` says which is whose, `advance` takes observations in."""

    def __init__(self, learner: Learner, seed: int, tell: Callable[[str], None] | None = None) -> None:
        self.learner, self._seed, self._tell = learner, seed, tell
        self._grows = learner.grows()
        self._fresh = learner.init(generator_key(seed))
        self.numbers: dict[Key, int] = {}
        self.pools = [Pool(self._fresh)]
        self.place_of = np.zeros((FIRST_STATES, 2), dtype=np.int64)  # a key's pool and row
        example, _ = learner.family.observations([])
        self._order = np.arange(ROWS)
        self._rows = np.zeros(ROWS, dtype=np.int64)
        self._ys = np.zeros((ROWS, *example.shape[1:]), dtype=example.dtype)
        self._events = np.zeros(ROWS, dtype=np.int64)
        self._progress = np.zeros(2, dtype=np.int64)
        self._out = outputs(ROWS, learner.family.size(), defined_readouts(learner))
        self._calls: list[tuple[object, Callable[[], None]]] = []

    def numbers_of(self, keys: Sequence[Key], count: int) -> np.ndarray:
        """The numbers of the keys of so many lines; new ones get a state. No keys at all are one key, the empty one."""
        if not keys:
            if not self.numbers:
                self._add((), self._fresh)
            return np.zeros(count, dtype=np.int64)
        numbers = self.numbers
        try:
            return np.array([numbers[key] for key in keys], dtype=np.int64)
        except KeyError:
            for key in keys:
                if key not in numbers:
                    self._add(key, self._fresh_state((key,) if isinstance(key, str) else key))
            return np.array([numbers[key] for key in keys], dtype=np.int64)

    def _fresh_state(self, name: tuple[str, ...]) -> State:
        generator = self._fresh.generator()
        if generator is not None:
            generator[0] = generator_key(named_seed(self._seed, name))
        return self._fresh

    def restore(self, keys: Sequence[Key], places: np.ndarray, pools: list[Pool]) -> None:
        """States that were saved: the keys in their order, the pool and the row of each."""
        self.numbers, self.pools = {key: number for number, key in enumerate(keys)}, pools
        self.place_of = np.concatenate([places, np.zeros((FIRST_STATES, 2), dtype=np.int64)])

    def _add(self, key: Key, state: State) -> None:
        number = self.numbers[key] = len(self.numbers)
        if number == len(self.place_of):
            self.place_of = np.concatenate([self.place_of, np.zeros_like(self.place_of)])
        self.place_of[number] = 0, self.pools[0].add(state)

    # --- observations ----------------------------------------------------------------------------------------------------

    def advance(self, numbers: np.ndarray, values: np.ndarray, events: np.ndarray) -> Outputs:
        """At most ROWS lines, those of a key in their order. What is returned is overwritten by the next call."""
        count = len(numbers)
        self._ys[:count], self._events[:count] = values, events
        if not self._grows:
            self._rows[:count] = self.place_of[numbers, 1]
            self._order[:count] = np.arange(count)
            self._run(0, count)
        else:
            self._advance_growing(numbers)
        size = self.learner.family.size()
        out = self._out
        widths = (size, size, 1, 1, 1, 1)
        return Outputs(*(array[: count * width] for array, width in zip(out, widths, strict=True)))

    def _advance_growing(self, numbers: np.ndarray) -> None:
        """Pool by pool, the smallest room first: keys only ever move on to the next."""
        todo, index = np.ones(len(numbers), dtype=bool), 0
        while todo.any():
            order = np.flatnonzero(todo & (self.place_of[numbers, 0] == index))
            if not len(order):
                index += 1
                continue
            self._rows[: len(numbers)] = self.place_of[numbers, 1]
            self._order[: len(order)] = order
            done = self._run(index, len(order))
            todo[order[:done]] = False
            if done < len(order):
                self._move_on(int(numbers[order[done]]), index)

    def _run(self, index: int, count: int) -> int:
        """Steps of one pool; returns how many were done before a state needed more room."""
        states = self.pools[index].states
        while len(self._calls) <= index:
            self._calls.append((None, lambda: None))
        if self._calls[index][0] is not states:  # bound to its memory
            arguments = (self._order, self._rows, self._ys, self._events, self._progress, self._out)
            with reported_if_slow(self._tell, COMPILING):
                self._calls[index] = (states, Call(drivers.run_keyed, self.learner, states, *arguments).run)
        self._progress[:] = 0, count
        self._calls[index][1]()
        return int(self._progress[0])

    def _move_on(self, number: int, index: int) -> None:
        """A key whose room is full gets twice the room."""
        row = int(self.place_of[number, 1])
        larger = self.learner.grow(self.pools[index].states.at(row))
        if len(self.pools) == index + 1:
            self.pools.append(Pool(larger, 1))
        self.place_of[number] = index + 1, self.pools[index + 1].add(larger)
        self.pools[index].free.append(row)


@contextlib.contextmanager
def reported_if_slow(tell: Callable[[str], None] | None, message: str, seconds: float = MOMENT) -> Iterator[None]:
    """Reports the message if what is done inside takes longer than that."""
    if tell is None:
        yield
        return
    timer = threading.Timer(seconds, tell, [message])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
