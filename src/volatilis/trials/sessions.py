"""Who learns for which group: groups with many rows have sessions of their own, small ones share a session, side by side.

A session costs most of a millisecond and some kilobytes; side by side a group costs a hundredth. The numbers are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from volatilis._core.seeds import generator_key, named_seed
from volatilis.experiments.tuning import TuningStopped
from volatilis.learners._base import Learner
from volatilis.running import pieces as _pieces
from volatilis.running.drivers import Outputs
from volatilis.running.traces import DIVERGENCES, Trace
from volatilis.trials.groups import GroupRows, Key, Rows
from volatilis.trials.inputs import Inputs

PIECE = 1 << 14  # steps between two looks at whether to stop
SLOW_PIECE = 1 << 7  # of a mixture's divergences, which take milliseconds a step
FEW = 64  # rows that a group has at most, in the batch where it first comes, to share a session
MANY = 64  # groups that share a session at least: the code for it is compiled once more
TOGETHER = 1 << 10  # groups that share a session at most: a session runs on one core


class Session:
    """One learner on one group, or on many small groups side by side. `advance` gives the measures of the next rows.

    key     seeds the generator; an array of keys means as many groups, and `advance` is given the group of each row
    """

    def __init__(self, learner: Learner, key: int | np.ndarray, measures: tuple[str, ...]) -> None:
        self._learner, self._measures = learner, measures
        direct = tuple(name for name in measures if name not in DIVERGENCES) or ("mean", "run_length")
        divergences = [name for name in measures if name in DIVERGENCES]
        self._readouts: Any
        self._divergences: dict[str, Any]
        if isinstance(key, np.ndarray):
            self._readouts = _pieces.ManyReadouts(learner, key, direct)
            self._divergences = {name: _pieces.ManyDivergences(learner, key, name) for name in divergences}
        else:
            self._readouts = _pieces.ReadoutPieces(learner, key, direct)
            self._divergences = {name: _pieces.Divergences(learner, key, name) for name in divergences}

    def advance(
        self, values: np.ndarray, events: np.ndarray, absent: np.ndarray, stop: Callable[[], bool], *places: np.ndarray
    ) -> dict[str, np.ndarray]:
        def in_pieces(step: Callable[..., Any], length: int) -> list[Any]:
            results = []
            for start in range(0, len(values), length):
                if stop():
                    raise TuningStopped
                results.append(step(*(part[start : start + length] for part in (values, events, *places))))
            return results

        def divergence(name: str) -> np.ndarray:
            measure = self._divergences[name]
            return np.concatenate(in_pieces(measure.advance, SLOW_PIECE if measure.mixture else PIECE))

        pieces = in_pieces(self._readouts.advance, PIECE)
        outputs = pieces[0] if len(pieces) == 1 else Outputs(*(np.concatenate(parts) for parts in zip(*pieces, strict=True)))
        trace = Trace(self._learner, outputs, values, absent, divergence)
        return {name: getattr(trace, name) for name in self._measures}


class Work(NamedTuple):
    """Rows of a batch that are taken in at one go: of one group, or of many, with the place of each row's group among them."""

    group: GroupRows
    learners: list[Learner]
    sessions: list[Session]
    places: tuple[np.ndarray, ...] = ()


class Register:
    """All groups so far, numbered as they come, and their sessions: one per learner."""

    def __init__(self, inputs: Inputs, seed: int, measures: Sequence[tuple[str, ...]]) -> None:
        self._inputs, self._seed, self._measures = inputs, seed, measures
        self._numbers: dict[Key, int] = {}
        self._learners: list[list[Learner]] = []
        self._alone: dict[int, list[Session]] = {}
        self._shared: list[tuple[list[Learner], list[Session]]] = []
        self._share_of = np.empty(0, dtype=np.int64)  # which shared session; -1: none
        self._place_of = np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._numbers)

    def learners(self) -> dict[Key, list[Learner]]:
        return dict(zip(self._numbers, self._learners, strict=True))

    def work(self, rows: Rows, groups: Sequence[GroupRows]) -> list[Work]:
        """The work for the next rows, in the order of the groups. New groups get their sessions."""
        numbers, before = self._numbered(groups), len(self._learners)
        self._inputs.trials.check(rows, groups, numbers)
        for group, number in zip(groups, numbers.tolist(), strict=True):
            if number >= before:
                self._learners.append(self._inputs.learners(rows, group))
            self._inputs.check_constant(rows, group)
        self._begin(groups, numbers, before)
        share = self._share_of[numbers]
        alone = [
            Work(groups[i], self._learners[number], self._alone[number])
            for i, number in zip(np.flatnonzero(share < 0).tolist(), numbers[share < 0].tolist(), strict=True)
        ]
        return alone + self._shared_work(groups, numbers, share)

    def _numbered(self, groups: Sequence[GroupRows]) -> np.ndarray:
        known = self._numbers
        return np.array([known.setdefault(group.key, len(known)) for group in groups], dtype=np.int64)

    # --- new groups ---------------------------------------------------------------------------------------------

    def _begin(self, groups: Sequence[GroupRows], numbers: np.ndarray, before: int) -> None:
        count = len(self._numbers) - before
        self._share_of = np.concatenate([self._share_of, np.full(count, -1)])
        self._place_of = np.concatenate([self._place_of, np.zeros(count, dtype=np.int64)])
        alike: dict[int, list[int]] = {}  # small ones by their learners
        for i in np.flatnonzero(numbers >= before).tolist():
            learners = self._learners[numbers[i]]
            if groups[i].length <= FEW and not any(learner.grows() for learner in learners):
                alike.setdefault(id(learners), []).append(i)
            else:
                self._begin_alone(groups[i], int(numbers[i]))
        for members in alike.values():
            for start in range(0, len(members), TOGETHER):
                self._begin_some(groups, numbers, members[start : start + TOGETHER])

    def _begin_some(self, groups: Sequence[GroupRows], numbers: np.ndarray, members: list[int]) -> None:
        if len(members) < MANY:
            for i in members:
                self._begin_alone(groups[i], int(numbers[i]))
            return
        learners = self._learners[numbers[members[0]]]
        keys = np.array([self._generator(groups[i].key, learners) for i in members], dtype=np.uint64)
        sharing = numbers[members]
        self._share_of[sharing], self._place_of[sharing] = len(self._shared), np.arange(len(members))
        self._shared.append((learners, self._sessions(learners, keys)))

    def _begin_alone(self, group: GroupRows, number: int) -> None:
        learners = self._learners[number]
        self._alone[number] = self._sessions(learners, self._generator(group.key, learners))

    def _sessions(self, learners: list[Learner], key: int | np.ndarray) -> list[Session]:
        return [Session(learner, key, measures) for learner, measures in zip(learners, self._measures, strict=True)]

    def _generator(self, key: Key, learners: list[Learner]) -> int:
        """A group's own random numbers, where some learner draws any."""
        return generator_key(named_seed(self._seed, key)) if any(learner.samples() for learner in learners) else 0

    # --- groups side by side ---------------------------------------------------------------------------------------------

    def _shared_work(self, groups: Sequence[GroupRows], numbers: np.ndarray, share: np.ndarray) -> list[Work]:
        some = np.flatnonzero(share >= 0)
        if not len(some):
            return []
        rows = np.concatenate([groups[i].positions() for i in some.tolist()])
        lengths = [groups[i].length for i in some.tolist()]
        places, shares = np.repeat(self._place_of[numbers[some]], lengths), np.repeat(share[some], lengths)
        order = np.lexsort((rows, shares))  # in the order of the table, so that the first mistake is the one reported
        rows, places, shares = rows[order], places[order], shares[order]
        starts = np.flatnonzero(np.diff(shares, prepend=-1))
        parts = zip(np.split(rows, starts[1:]), np.split(places, starts[1:]), shares[starts].tolist(), strict=True)
        return [
            Work(GroupRows((), positions), self._shared[which][0], self._shared[which][1], (place,))
            for positions, place, which in parts
        ]
