"""Families whose context is the past: the observations just before decide how the next one arises.

A sequence is of plain observations. A learner's state keeps the last `order` of them, `learner.observe` makes a row of them and
the new one (`take_in`), and all beliefs are those of the family of such rows. After a start, a reset or a gap the first `order`
observations are conditioned on, not scored: time passes.

`state.memory` is, for each context where there are several: how many are known; the last ones, the newest first; room for a
context; the row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from volatilis._compiler.registry import python_only
from volatilis.families._base import Beliefs, Family, Observation
from volatilis.families._kinds import FamilyRecord, FamilyTuple, family

C = TypeVar("C", bound=type)


class Chain(Family, Protocol):
    """What a class gives: a field `family`, of rows, a field `order`, and `write_row`."""

    @property
    def family(self) -> Family: ...
    @property
    def order(self) -> int: ...
    def write_row(self, memory: np.ndarray, past: int, at: int, y: float) -> None:
        """The row of y at `at`, from the past observations at `past`, the newest first."""

    def recall(self, memory: np.ndarray, start: int, y: float) -> bool:
        """Whether the past of y is known; then its row is in its place. y is part of the past from now on."""


def chain(record: FamilyRecord) -> Callable[[C], C]:
    """Make a class a family whose context is the past."""

    def mark(cls: C) -> C:
        given_methods = vars(cls)
        for name, method in vars(_FromRows).items():
            if callable(method) and name not in given_methods:
                setattr(cls, name, method)
        return family(record)(cls)

    return mark


class _FromRows:
    """Beliefs are those of the family of rows."""

    def memory_size(self: Chain) -> int:
        return 2 + self.order + self.family.row_width()

    def recall(self: Chain, memory: np.ndarray, start: int, y: float) -> bool:
        known = memory[start] >= self.order
        if known:
            self.write_row(memory, start + 1, start + 2 + self.order, y)
        for k in range(self.order - 1, 0, -1):
            memory[start + 1 + k] = memory[start + k]
        memory[start + 1] = y
        memory[start] = min(memory[start] + 1.0, self.order)
        return known

    def take_in(self: Chain, learner: Any, state: Any, y: Observation) -> Any:
        if self.recall(state.memory, 0, y):
            return learner.update(state, self.family.in_row(state.memory, 2 + self.order))
        return learner.pass_unscored(state)

    def take_in_context(self: Chain, contexts: int, learner: Any, state: Any, row: np.ndarray) -> Any:
        start = int(row[0]) * self.memory_size()
        if self.recall(state.memory, start, row[1]):
            first = start + 1 + self.order
            state.memory[first] = row[0]
            return learner.update(state, state.memory[first : first + 1 + self.family.row_width()])
        return learner.pass_unscored(state)

    def taken(self: Chain, state: Any, y: Observation) -> Observation:
        return self.family.in_row(state.memory, 2 + self.order)

    def log_broad(self: Chain, spread: float, y: np.ndarray) -> float:
        return self.family.log_broad(spread, y)

    def broad_cdf(self: Chain, spread: float, y: np.ndarray, v: float, around: float) -> float:
        return self.family.broad_cdf(spread, y, v, around)

    @python_only
    def broad_has_spread(self: Chain) -> bool:
        return self.family.broad_has_spread()

    def forget_past(self: Chain, state: Any) -> None:
        for start in range(0, state.memory.size, self.memory_size()):
            state.memory[start] = 0.0

    @python_only
    def without_past(self: Chain, values: np.ndarray, events: np.ndarray) -> tuple[Family, np.ndarray, np.ndarray]:
        """Events: 4 is added where a block begins; of the rest 0 is an observation, 1 time that passes, 2 nothing."""
        memory, start = np.zeros(self.memory_size()), 2 + self.order
        rows, steps = np.zeros((len(values), self.family.row_width())), events.copy()
        for t, (y, event) in enumerate(zip(values, events.tolist(), strict=True)):
            memory[0] = 0.0 if event >= 4 or event == 1 else memory[0]
            if event % 4 == 0 and self.recall(memory, 0, float(y)):
                rows[t] = memory[start:]
            elif event % 4 == 0:
                steps[t] = event + 1
        return self.family, rows, steps

    def row_width(self: Chain) -> int:
        return self.family.row_width()

    def encoded_in(self: Chain, row: np.ndarray, start: int) -> float:
        return row[start]

    def in_row(self: Chain, row: np.ndarray, start: int) -> Observation:
        return self.family.in_row(row, start)

    def whole(self: Chain, n: int) -> int:
        return self.family.whole(n)

    def rows(self: Chain) -> int:
        return self.family.rows()

    def size(self: Chain) -> int:
        return self.family.size()

    def prior(self: Chain, beliefs: Beliefs, i: int) -> None:
        self.family.prior(beliefs, i)

    def log_predictive(self: Chain, beliefs: Beliefs, i: int, y: np.ndarray) -> float:
        return self.family.log_predictive(beliefs, i, y)

    def predictive_cdf(self: Chain, beliefs: Beliefs, i: int, y: np.ndarray, k: int, v: float, around: float) -> float:
        return self.family.predictive_cdf(beliefs, i, y, k, v, around)

    def predictives(self: Chain, beliefs: Beliefs, w: np.ndarray, n: int, y: np.ndarray, out: np.ndarray) -> tuple[float, float]:
        return self.family.predictives(beliefs, w, n, y, out)

    def bayes_factor(self: Chain, beliefs: Beliefs, i: int, others: Beliefs, j: int, y: np.ndarray) -> float:
        return self.family.bayes_factor(beliefs, i, others, j, y)

    def absorb(self: Chain, beliefs: Beliefs, i: int, y: np.ndarray) -> None:
        self.family.absorb(beliefs, i, y)

    def absorb_all(self: Chain, beliefs: Beliefs, n: int, y: np.ndarray) -> None:
        self.family.absorb_all(beliefs, n, y)

    def blend(self: Chain, beliefs: Beliefs, i: int, others: Beliefs, j: int, a: float, b: float) -> None:
        self.family.blend(beliefs, i, others, j, a, b)

    def mean(self: Chain, beliefs: Beliefs, i: int, k: int) -> float:
        return self.family.mean(beliefs, i, k)

    def variance(self: Chain, beliefs: Beliefs, i: int, k: int) -> float:
        return self.family.variance(beliefs, i, k)

    def mixture_mean(self: Chain, beliefs: Beliefs, w: np.ndarray, n: int, k: int, room: np.ndarray) -> float:
        return self.family.mixture_mean(beliefs, w, n, k, room)

    def mixture_variance(self: Chain, beliefs: Beliefs, w: np.ndarray, n: int, k: int, mean: float, room: np.ndarray) -> float:
        return self.family.mixture_variance(beliefs, w, n, k, mean, room)

    def estimate(self: Chain, beliefs: Beliefs, i: int, k: int) -> float:
        return self.family.estimate(beliefs, i, k)

    def merge(self: Chain, beliefs: Beliefs, i: int, j: int, a: float, b: float) -> None:
        self.family.merge(beliefs, i, j, a, b)

    def dissimilarity(self: Chain, beliefs: Beliefs, i: int, j: int, a: float, b: float) -> float:
        return self.family.dissimilarity(beliefs, i, j, a, b)

    def dissimilarities(self: Chain, beliefs: Beliefs, w: np.ndarray, n: int, out: np.ndarray) -> None:
        self.family.dissimilarities(beliefs, w, n, out)

    def divergence(self: Chain, beliefs: Beliefs, i: int, others: Beliefs, j: int) -> float:
        return self.family.divergence(beliefs, i, others, j)

    def divergence_parts(self: Chain, beliefs: Beliefs, i: int, others: Beliefs, j: int) -> tuple[float, float]:
        return self.family.divergence_parts(beliefs, i, others, j)

    @python_only
    def invalid_state(self: Chain, chi: np.ndarray, nu: np.ndarray) -> str | None:
        return self.family.invalid_state(chi, nu)

    @python_only
    def invalid_memory(self: Chain, memory: np.ndarray) -> str | None:
        """Why what was read, (..., memory_size), is no past."""
        known = memory[..., 0]
        if ((known < 0.0) | (known > self.order) | (known != np.floor(known))).any():
            return "it does not know how many observations came before"
        return None

    @python_only
    def improper_scaled_likelihood(self: Chain, values: np.ndarray) -> str | None:
        return self.family.improper_scaled_likelihood(values)

    @python_only
    def distribution(self: Chain, beliefs: Beliefs, i: int) -> Any:
        return self.family.distribution(beliefs, i)

    @python_only
    def sample_parameter(self: Chain, rng: np.random.Generator) -> np.ndarray:
        return self.family.sample_parameter(rng)


if TYPE_CHECKING:

    class ChainTuple(_FromRows, FamilyTuple): ...

else:
    ChainTuple = FamilyTuple
