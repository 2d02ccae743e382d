"""What a learner that weighs parameters (`Averaged`) knows of one of them: after each observation, and now."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from volatilis._compiler import Call
from volatilis.learners._base import Learner, State
from volatilis.learners._grids import parameter_places, scale_of
from volatilis.learners.averaged import Averaged
from volatilis.running.drivers import Array, advance

LEVELS = (0.025, 0.975)
PIECE = 1 << 14  # steps whose weights are kept at a time


class LearnedParameter(NamedTuple):
    """The mean of a parameter and the ends of its 95 % interval: numbers, or one array each.

    Between the values of the grid the interval's ends are interpolated on the parameter's own scale, so they are as sharp as the
    grid is fine.
    """

    mean: float | np.ndarray
    low: float | np.ndarray
    high: float | np.ndarray


def run_parameter(learner: Learner, key: int, name: str, values: np.ndarray, events: np.ndarray) -> LearnedParameter:
    """One more run, for what is known of a parameter after each step."""
    grid = Marginal(learner, name)
    state, results = learner.init(key), []
    for start in range(0, len(values), PIECE):
        ys, what = values[start : start + PIECE], events[start : start + PIECE]
        shares, progress = np.zeros((len(ys), len(grid.values))), np.zeros(1, dtype=np.int64)
        while progress[0] < len(ys):
            if not learner.has_room(state):
                state = learner.grow(state)
            Call(run_shares, learner, state, ys, what, progress, grid.group, shares, release_gil=True)()
        results.append(grid.summary(shares))
    return LearnedParameter(*(np.concatenate(parts) for parts in zip(*results, strict=True))) if results else _nothing()


def parameter_now(learner: Learner, state: State, name: str) -> LearnedParameter:
    """What a state knows of a parameter."""
    grid = Marginal(learner, name)
    shares = np.bincount(grid.group, state.kept_arrays()["shares"], len(grid.values))
    return LearnedParameter(*(float(np.ravel(part)[0]) for part in grid.summary(shares[None])))


def _nothing() -> LearnedParameter:
    return LearnedParameter(np.empty(0), np.empty(0), np.empty(0))


class Marginal:
    """One parameter's values, and which of them each point of the grid has."""

    def __init__(self, learner: Learner, name: str) -> None:
        if not isinstance(learner, Averaged):
            raise ValueError(
                f"{type(learner).__name__} knows its parameters; volatilis.Averaged(learner, {name}=...) learns them"
            )
        self.values, self.group = np.unique(learner.points(name), return_inverse=True)
        scale = scale_of(parameter_places(learner.learner)[name])
        self._back = scale.back
        places = np.array([scale.to(value) for value in self.values])
        self._edges = np.concatenate([places[:1], 0.5 * (places[1:] + places[:-1]), places[-1:]])

    def summary(self, shares: np.ndarray) -> LearnedParameter:
        """From the weights of the values, (T, n). The weight of a value lies evenly half way to those beside it."""
        below = np.concatenate([np.zeros((len(shares), 1)), np.cumsum(shares, axis=1)], axis=1)
        below /= below[:, -1:]
        ends = [np.array([self._back(x) for x in self._quantiles(below, level)]) for level in LEVELS]
        return LearnedParameter(np.sum(shares * self.values, axis=1), *ends)  # a product of matrices rounds by their shape

    def _quantiles(self, below: np.ndarray, level: float) -> np.ndarray:
        rows, last = np.arange(len(below)), below.shape[1] - 1
        right = np.clip((below <= level).sum(axis=1), 1, last)
        low, high = below[rows, right - 1], below[rows, right]
        share = (level - low) / np.where(high > low, high - low, 1.0)
        return self._edges[right - 1] + np.clip(share, 0.0, 1.0) * (self._edges[right] - self._edges[right - 1])


def run_shares(learner: Learner, state: Any, ys: Array, events: Array, progress: Array, group: Array, shares: Array) -> None:
    """The weight of each value of one parameter after each step, from step progress[0]."""
    for t in range(progress[0], events.size):
        if not learner.has_room(state):
            progress[0] = t
            return
        advance(learner, state, ys[t], events[t])
        for k in range(group.size):
            shares[t, group[k]] += state.shares[k]
    progress[0] = events.size
