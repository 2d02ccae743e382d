"""How probable observations are under an environment: the sum of log P(y_t | y_1 ... y_t-1), in one compiled loop.

All sequences lie one after the other in one array; where one begins the learner starts anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from volatilis._compiler import Call, for_threads
from volatilis._core.jobs import worker_count
from volatilis.learners._average import log_joint
from volatilis.learners._base import Learner, LearnerOf, S, State
from volatilis.running.drivers import ELAPSE, OBSERVE, RESET, Array
from volatilis.special import log, log_1p

WORTH_THREADS = 20_000  # steps: with fewer, threads cost more than they save
ENOUGH = 12_000  # observations that show roughly where the evidence is highest


class Data(NamedTuple):
    """Observations as a family encodes them; what happens at each step; whether a step counts for the evidence."""

    values: np.ndarray
    events: np.ndarray
    scored: np.ndarray

    @property
    def observations(self) -> int:
        """How many count."""
        return int(np.sum((self.events % RESET == OBSERVE) & (self.scored != 0)))

    @property
    def begins(self) -> int:
        """How many sequences and blocks there are."""
        return int(np.sum(self.events >= RESET))

    def sequences(self) -> list[np.ndarray]:
        """What was observed in each, without what is missing."""
        starts = np.flatnonzero(self.events >= RESET)
        seen = self.events % RESET == OBSERVE
        pieces = zip(np.split(self.values, starts[1:]), np.split(seen, starts[1:]), strict=True)
        return [values[present] for values, present in pieces if present.any()]

    def first(self, enough: int = ENOUGH) -> Data:
        """The first sequences, as many as hold enough observations; or what is enough of the first."""
        starts = np.append(np.flatnonzero(self.events >= RESET), self.events.size)
        stop = int(starts[min(int(np.searchsorted(starts, enough)), starts.size - 1)])
        stop = stop if stop < 2 * enough else enough
        return Data(self.values[:stop], self.events[:stop], self.scored[:stop])


def joined(sequences: Sequence[np.ndarray], events: Sequence[np.ndarray]) -> Data:
    """Sequences, one after the other."""
    steps = [np.array(one, dtype=np.uint8) for one in events if one.size]
    for one in steps:
        one[0] = one[0] % RESET + RESET
    everything = np.concatenate(steps) if steps else np.zeros(0, dtype=np.uint8)
    values = np.concatenate([one for one in sequences if len(one)]) if steps else sequences[0]
    return Data(np.ascontiguousarray(values), everything, np.ones(everything.size, dtype=np.uint8))


def log_evidence(learner: Learner, data: Data, key: int = 0) -> float:
    """log P(all that counts) under a learner's predictions."""
    return taken_in(learner, learner.init(key), data)[1]


def taken_in(learner: Learner, state: State, data: Data) -> tuple[State, float]:
    """The state after these observations, and their log evidence."""
    progress, out = np.zeros(1, dtype=np.int64), np.zeros(1)
    while progress[0] < data.events.size:
        if not learner.has_room(state):
            state = learner.grow(state)
        arguments = (learner.change_probability(), *data, progress, out)
        Call(sum_log_predictives, learner, state, *arguments, release_gil=True)()
    return state, float(out[0])


class Evidence:
    """The log evidence of many environments at once, on threads. `make` gives the learner for a point, or None for none."""

    def __init__(self, make: Callable[[np.ndarray], Learner | None], data: Data, workers: int | None = None) -> None:
        self._make, self.data, self._workers = make, data, worker_count(workers)
        self.evaluations = 0

    def of(self, points: Sequence[np.ndarray]) -> np.ndarray:
        """Of each point; -inf where there is no environment."""
        self.evaluations += len(points)
        if self._workers == 1 or len(points) == 1 or len(points) * self.data.events.size < WORTH_THREADS:
            return np.array([self._one(point) for point in points])
        with ThreadPoolExecutor(self._workers) as pool:
            return np.array(list(pool.map(for_threads(self._one), points)))

    def _one(self, point: np.ndarray) -> float:
        learner = self._make(point)
        result = -np.inf if learner is None else log_evidence(learner, self.data)
        return result if np.isfinite(result) else -np.inf


def sum_log_predictives(
    learner: LearnerOf[S], state: S, p_c: float, ys: Array, events: Array, scored: Array, progress: Array, out: Array
) -> None:
    """Adds log P(y_t | y_1 ... y_t-1) of every step that counts, from step progress[0]; stops early where room is needed."""
    log_change, log_stay, result = log(p_c), log_1p(-p_c), 0.0
    for t in range(progress[0], events.size):
        if not learner.has_room(state):
            progress[0] = t
            out[0] += result
            return
        event = events[t]
        if event >= RESET:
            learner.begin(state)
            event -= RESET
        if event == OBSERVE:
            info = learner.observe(state, ys[t])
            if scored[t] != 0 and info.log_p == info.log_p:
                result += log_joint(log_stay + info.log_p, log_change + info.log_p_0)
        elif event == ELAPSE:
            learner.pass_time(state, ys[t])
    progress[0] = events.size
    out[0] += result
