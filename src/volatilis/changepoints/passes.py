"""Looking back over one block of a sequence: exact filtering, then from its end.

With w_n(o) the filter's weight, after n observations, of "the last change was just before observation o" (o = 0: the start), and
a(o) the probability of a change there given all N observations,

    a(o) = sum over n > o of a(n) w_n(o),   a(N) = 1,

since given a change before observation n, what came before it is independent of what comes after. Of the most probable
segmentation of the first n observations, D(n) = max over o of D(o) w_n(o) is the probability. Both go over the live hypotheses.

Weights are not kept: the filter leaves checkpoints on its way, and each piece between two of them runs once more, the last first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from volatilis._compiler import Call
from volatilis.changepoints.drivers import (
    Rows,
    Way,
    draw_back,
    look_back,
    run_again,
    run_forward,
)
from volatilis.changepoints.evidence import Collected, Levels, from_both_ends, is_reversible, log_chances
from volatilis.learners._base import Learner, State
from volatilis.learners._recent import counter
from volatilis.learners._recent_kept import N

PIECE = 1 << 20  # weights that are kept at a time
CHECKPOINTS = 1 << 26  # bytes of them; beyond, every other one is dropped and the pieces are twice as long


class Checkpoint(NamedTuple):
    """A state as it was before a step, after so many observations."""

    step: int
    seen: int
    arrays: dict[str, np.ndarray]


class Passes:
    """One block of a sequence, filtered; pieces of its weights on demand, the last first."""

    def __init__(self, learner: Learner, values: np.ndarray, events: np.ndarray) -> None:
        self.learner, self.values, self.events = learner, values, np.asarray(events, dtype=np.int64)
        length = len(values)
        self._checkpoints: list[Checkpoint] = []
        self._piece = PIECE
        way = Way(
            np.zeros(length, dtype=np.int64),
            np.zeros(length + 1, dtype=np.int64),
            np.zeros(length + 1, dtype=np.int64),
            np.zeros(length + 1),
            np.zeros(1),
            np.zeros(2, dtype=np.int64),
            np.zeros(length),
            log_chances(learner.change_probability()),
            np.zeros(length),
        )
        way.scaled[0] = 1.0
        state = self._forward(way)
        self.seen = int(state.recent.numbers[N])  # type: ignore[attr-defined]
        self.steps, self.live = way.steps[: self.seen], way.live[: self.seen + 1]
        self.back, self.evidence = way.back[: self.seen + 1], way.evidence[: self.seen]
        self.log_p_0 = way.log_p_0[: self.seen]
        self.log_map = float(np.log(way.scaled[self.seen]) + way.log_unit[0]) if self.seen else 0.0

    def fresh(self) -> Any:
        return self.learner.init(0)._replace(recent=counter(1))

    def _forward(self, way: Way) -> State:
        state, progress = self.fresh(), np.array([0, self._piece], dtype=np.int64)
        self._note(0, state)
        while progress[0] < len(self.values):
            if not self.learner.has_room(state):
                state = self.learner.grow(state)
            if progress[1] <= 0:
                self._note(int(progress[0]), state)
                progress[1] = self._piece
            Call(run_forward, self.learner, state, self.values, self.events, progress, way, release_gil=True)()
        return state

    def _note(self, step: int, state: Any) -> None:
        live = int(state.count[0])
        kept = {name: array.copy() for name, array in state.kept_arrays().items()}
        for name in ("weights", "run_lengths", "nu", "chi"):
            kept[name] = kept[name][..., :live].copy()
        self._checkpoints.append(Checkpoint(step, int(state.recent.numbers[N]), kept))
        size = sum(array.nbytes for checkpoint in self._checkpoints for array in checkpoint.arrays.values())
        if size > CHECKPOINTS and len(self._checkpoints) > 2:
            self._checkpoints, self._piece = self._checkpoints[::2], 2 * self._piece

    def _restored(self, checkpoint: Checkpoint) -> Any:
        state, live = self.fresh(), checkpoint.arrays["nu"].size
        while state.run_lengths.size < live:
            state = self.learner.grow(state)
        for name, array in state.kept_arrays().items():
            kept = checkpoint.arrays[name]
            array[..., : kept.shape[-1]] = kept
        return state

    def spans(self) -> Iterator[tuple[Checkpoint, int, int]]:
        """The pieces, the last first: a checkpoint, and the step and the number of observations where the next one is."""
        stop, seen = len(self.values), self.seen
        for checkpoint in reversed(self._checkpoints):
            yield checkpoint, stop, seen
            stop, seen = checkpoint.step, checkpoint.seen

    def pieces(self, levels: Levels | None = None) -> Iterator[tuple[Rows, np.ndarray]]:
        """The weights of each piece, and between which numbers of observations it lies."""
        if levels is None:
            levels = Levels(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros((0, 0)), np.zeros((0, 0)))
        room: Rows | None = None
        for checkpoint, stop, seen in self.spans():
            size = int(self.live[checkpoint.seen + 1 : seen + 1].sum())
            if room is None or room.weights.size < size or room.ends.size <= seen - checkpoint.seen:
                room = rows_for(max(size, self._piece), seen - checkpoint.seen + 1)
            rows = room
            rows.memo[:] = 0
            progress = np.array([checkpoint.step, stop, checkpoint.seen, 0], dtype=np.int64)
            state = self._restored(checkpoint)
            while progress[0] < stop:
                if not self.learner.has_room(state):
                    state = self.learner.grow(state)
                here = levels._replace(share=np.zeros(state.weights.size))
                arguments = (self.values, self.events, progress, rows, here)
                Call(run_again, self.learner, state, *arguments, release_gil=True)()
            yield rows, np.array([checkpoint.seen, seen], dtype=np.int64)

    # --- what is asked ---------------------------------------------------------------------------------------------------------

    def best(self) -> np.ndarray:
        """The most probable segmentation: where segments begin, 0 first, as numbers of observations."""
        starts, n = [], self.seen
        while n > 0:
            n = int(self.back[n])
            starts.append(n)
        return np.array(starts[::-1], dtype=np.int64)

    def probabilities(self, starts: np.ndarray) -> tuple[np.ndarray, Collected, Levels]:
        """a(o) for o = 0 .. N; and of a segmentation what is found on the way, with the levels at the ends of its segments."""
        seen, size = self.seen, self.learner.family.size()
        a, best = np.zeros(seen + 1), segmentation(starts, seen)
        a[seen] = 1.0
        levels = Levels(np.full(seen + 1, -1, dtype=np.int64), np.zeros(0), *(np.zeros((seen + 1, size)) for _ in range(2)))
        levels.firsts[np.append(starts[1:], seen)[: len(starts)]] = starts
        if is_reversible(self.learner):
            both = from_both_ends(self.learner, self.values, self.events, self.steps, self.evidence, best, levels)
            if both is not None:
                return both, best, levels
        for rows, span in self.pieces(levels):
            Call(look_back, rows, span, a, best, release_gil=True)()
        return a, best, levels

    def draws(self, count: int, key: int) -> np.ndarray:
        """Whether there is a change before each observation, (count, N); the start is not counted."""
        heads, links = np.full(self.seen + 1, -1, dtype=np.int64), np.arange(1, count + 1, dtype=np.int64)
        links[-1] = -1
        heads[self.seen] = 0
        changed, random = np.zeros((count, max(self.seen, 1)), dtype=np.uint8), np.array([key], dtype=np.uint64)
        for rows, span in self.pieces():
            Call(draw_back, rows, span, heads, links, random, changed, release_gil=True)()
        changed[:, 0] = 0
        return changed[:, : self.seen].astype(bool)


def rows_for(size: int, count: int) -> Rows:
    """Room for so many weights in so many rows, and some more."""
    count += count // 4
    ends, bases, memo = (np.zeros(n, dtype=np.int64) for n in (count, count, 2))
    return Rows(ends, bases, np.empty(size, dtype=np.int64), np.empty(size), memo)


def segmentation(starts: np.ndarray, seen: int) -> Collected:
    lengths = np.diff(np.append(starts, seen))
    first = np.append(0, np.repeat(starts, lengths))
    before = np.append(-1, np.repeat(np.append(-1, starts[:-1])[: len(starts)], lengths))
    ends = np.zeros(seen + 1, dtype=np.int64)
    ends[np.append(starts[1:], seen)] = 1
    return Collected(first, before, ends, *(np.zeros(seen + 1) for _ in range(4)))
