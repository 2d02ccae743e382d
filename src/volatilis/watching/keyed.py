"""One small state per key, all side by side in a few arrays: a block of lines of any keys is one call of native code.

A learner whose state grows (Exact Bayes) has a pool of states for every size of room; a key moves on when its room is full.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import cast

import numpy as np

from volatilis._compiler import Call
from volatilis._core.seeds import generator_key, named_seed
from volatilis.learners._base import Learner, State, put
from volatilis.running import drivers
from volatilis.running.arguments import with_recent
from volatilis.running.drivers import Outputs, outputs
from volatilis.running.steps import defined_readouts
from volatilis.watching.fields import Key
from volatilis.watching.keys import Keys
from volatilis.watching.warm_up import Warming, WarmUp

ROWS = 1 << 12  # lines that native code takes at a time
FIRST_STATES = 16  # of a pool; it doubles as needed
MOMENT = 1.0  # seconds
COMPILING = "compiling this learner: this takes some seconds, once; later starts load it from the cache"


class Pool:
    """States with the same room. Rows of keys that moved on or were forgotten are used again."""

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

    def set_arrays(self, arrays: dict[str, np.ndarray]) -> None:
        """The rows become these, which are taken away one by one: a million states should not be there twice."""
        self.used, self.free = len(next(iter(arrays.values()))), []
        self._room = max(FIRST_STATES, self.used)
        self.states = self._example.many(self._room)
        for name, room in self.states.kept_arrays().items():
            room[: self.used] = arrays.pop(name)

    def _enlarge(self) -> None:
        larger, count = self._example.many(2 * self._room), self._room
        for old, new in zip(self.states.kept_arrays().values(), larger.kept_arrays().values(), strict=True):
            new[:count] = old
        self.states, self._room = larger, 2 * count


class Keyed:
    """The states of all keys. `numbers_of` says which is whose, `advance` takes observations in."""

    def __init__(
        self,
        learner: Learner,
        seed: int,
        tell: Callable[[str], None] | None = None,
        keys: Keys | None = None,
        within: int | None = None,
        row: tuple[int, ...] | None = None,
    ) -> None:
        """`within`: states keep what the probability of a change within so many observations needs.

        `row`: the shape of an observation with its context, as the family encodes it; None: of one without.
        """
        self.learner, self._seed, self._tell, self._within = learner, seed, tell, within
        self._grows = learner.grows()
        self._fresh = self._new(generator_key(seed))
        self.keys = Keys() if keys is None else keys
        self.pools = [Pool(self._fresh)]
        self.place_of = np.zeros((FIRST_STATES, 2), dtype=np.int64)  # a key's pool and row
        example, _ = learner.family.observations([])
        self._order = np.arange(ROWS)
        self._rows = np.zeros(ROWS, dtype=np.int64)
        self._ys = np.zeros((ROWS, *(example.shape[1:] if row is None else row)), dtype=example.dtype)
        self._events = np.zeros(ROWS, dtype=np.int64)
        self._progress = np.zeros(2, dtype=np.int64)
        self._out = outputs(ROWS, learner.family.size(), defined_readouts(learner), within is not None, within is not None)
        self._calls: list[tuple[object, Callable[[], None]]] = []
        self.moved: list[tuple[int, State]] = []  # keys that got more room since somebody looked

    # --- keys ------------------------------------------------------------------------------------------------------------

    def numbers_of(self, keys: Sequence[Key], count: int, ticks: np.ndarray | None = None) -> tuple[np.ndarray, list[int]]:
        """The numbers of the keys of so many lines, and which of them are new: these got a fresh state.

        No keys at all are one key, the empty one. `ticks` is the time at each line, for keys that are forgotten after a while.
        """
        if not keys:
            keys = [()] * (count if not self.keys.numbers else 0)
            numbers, new = self.keys.numbers_of(keys, None) if keys else (np.zeros(count, dtype=np.int64), [])
        else:
            numbers, new = self.keys.numbers_of(keys, ticks)
        if self.keys.count > len(self.place_of):
            room = max(self.keys.count, 2 * len(self.place_of)) - len(self.place_of)
            self.place_of = np.concatenate([self.place_of, np.zeros((room, 2), dtype=np.int64)])
        for number, key in new:
            self.place_of[number] = 0, self.pools[0].add(self._fresh_state(key))
        return numbers, [number for number, _ in new]

    def _fresh_state(self, key: Key) -> State:
        generator = self._fresh.generator()
        if generator is not None and key != ():
            generator[...] = generator_key(named_seed(self._seed, (key,) if isinstance(key, str) else key))
        return self._fresh

    def forget(self) -> int:
        """Give back the states of keys that were forgotten meanwhile; says how many. Their numbers are free again."""
        gone = self.keys.released()
        for pool, row in self.place_of[gone].tolist():
            self.pools[pool].free.append(row)
        return len(gone)

    def packed(self) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """The numbers of all keys in their order, the pool of each, and for every pool its rows in that order."""
        numbers = np.fromiter(self.keys.numbers.values(), dtype=np.int64, count=len(self.keys.numbers))
        pool, row = self.place_of[numbers].T
        return numbers, pool, [row[pool == index] for index in range(len(self.pools))]

    def restore(self, pool_of: np.ndarray, pools: list[Pool]) -> None:
        """States in the order of the keys, whose numbers are 0, 1, ...: the pool of each, in which it has the next row."""
        self.pools, count = pools, len(pool_of)
        self.place_of = np.zeros((count + FIRST_STATES, 2), dtype=np.int64)
        self.place_of[:count, 0] = pool_of
        for index in range(len(pools)):
            keys = np.flatnonzero(pool_of == index)
            self.place_of[keys, 1] = np.arange(len(keys))

    def compact(self) -> np.ndarray | None:
        """Use less memory where most numbers are free: then all keys get new numbers, in their order. Returns the old ones."""
        if not self.keys.is_sparse():
            return None
        numbers, pool_of, rows = self.packed()
        pools = []
        for index, kept in enumerate(rows):
            example = self.example(index)
            arrays = self.pools[index].states.kept_arrays()
            pools.append(Pool(example))
            pools[-1].set_arrays({name: array[kept] for name, array in arrays.items()})
        self.keys.renumber()
        self.restore(pool_of, pools)
        return numbers

    def _new(self, seed: int) -> State:
        state = self.learner.init(seed)
        return state if self._within is None else with_recent(self.learner, state, self._within)

    def example(self, index: int) -> State:
        """A state with the room that those of a pool have."""
        if isinstance(self.learner, WarmUp):
            return cast(State, self.learner.example(index))
        state = self._new(0)
        for _ in range(index):
            state = self.learner.grow(state)
        return state

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
        return Outputs(*(array[: count * (array.size // ROWS)] for array in self._out))

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
        """A key whose room is full gets twice the room; one that has warmed up goes where those of its family are."""
        row = int(self.place_of[number, 1])
        larger = self.learner.grow(self.pools[index].states.at(row))
        target = int(larger.kind[0]) if isinstance(larger, Warming) else index + 1
        while len(self.pools) <= target:
            self.pools.append(Pool(self.example(len(self.pools)), 1))
        self.place_of[number] = target, self.pools[target].add(larger)
        self.pools[index].free.append(row)
        self.moved.append((number, larger))


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
