"""The states of one learner for many independent sequences, side by side: `at(i)` is the state of sequence i, in place.

The first axis of every array goes over sequences. What means nothing between two steps, and the prior, is there once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from volatilis._compiler.registry import compiled_methods
from volatilis.families._base import Beliefs
from volatilis.learners._hypotheses import Hypotheses
from volatilis.learners._one_belief import OneBelief


@compiled_methods
class ManyOneBelief(NamedTuple):
    """States of learners with one belief."""

    chi: np.ndarray
    nu: np.ndarray
    run_lengths: np.ndarray
    work: Beliefs
    pi_0: Beliefs

    def at(self, i: int) -> OneBelief:
        return OneBelief(Beliefs(self.chi[i], self.nu[i]), self.run_lengths[i], self.work, self.pi_0, 0)


@compiled_methods
class ManyHypotheses(NamedTuple):
    """States of learners that weigh hypotheses, each with the same room."""

    weights: np.ndarray
    chi: np.ndarray
    nu: np.ndarray
    run_lengths: np.ndarray
    count: np.ndarray  # type: ignore[assignment]
    random: np.ndarray
    scratch: np.ndarray
    pi_0: Beliefs

    def at(self, i: int) -> Hypotheses:
        beliefs = Beliefs(self.chi[i], self.nu[i])
        return Hypotheses(self.weights[i], beliefs, self.run_lengths[i], self.scratch, self.count[i], self.random[i], self.pi_0)

    def take_over(self, i: int, j: int) -> None:
        """State i becomes state j, but keeps its own random numbers."""
        self.count[i, 0] = self.count[j, 0]
        for k in range(self.weights.shape[1]):
            self.weights[i, k] = self.weights[j, k]
            self.run_lengths[i, k] = self.run_lengths[j, k]
            self.nu[i, k] = self.nu[j, k]
            for row in range(self.chi.shape[1]):
                self.chi[i, row, k] = self.chi[j, row, k]


def many_states(example: Any, count: int) -> Any:
    """Room for `count` states like the example; `put` fills it. Memory that is never filled is never used."""
    if isinstance(example, OneBelief):
        chi, nu, run_lengths = _rooms(example, count)
        return ManyOneBelief(chi, nu, run_lengths, example.work, example.pi_0)
    weights, chi, nu, run_lengths, live, random = _rooms(example, count)
    return ManyHypotheses(weights, chi, nu, run_lengths, live, random, example.scratch, example.pi_0)


def _rooms(example: Any, count: int) -> list[np.ndarray]:
    return [np.zeros((count, *array.shape), dtype=array.dtype) for array in kept_arrays(example).values()]


def kept_arrays(state: Any) -> dict[str, np.ndarray]:
    """What must be kept of a state between two steps; of many states, in the same order."""
    if isinstance(state, OneBelief):
        return {"chi": state.beliefs.chi, "nu": state.beliefs.nu, "run_lengths": state.run_lengths}
    if isinstance(state, Hypotheses):
        weights, beliefs = {"weights": state.weights}, {"chi": state.beliefs.chi, "nu": state.beliefs.nu}
        return weights | beliefs | {"run_lengths": state.run_lengths, "count": state.count, "random": state.random}
    return {name: value for name, value in state._asdict().items() if name not in ("work", "scratch", "pi_0")}


def put(states: Any, rows: Any, state: Any) -> None:
    """Rows of many states become this state; others stay as they are."""
    for room, array in zip(kept_arrays(states).values(), kept_arrays(state).values(), strict=True):
        room[rows] = array
