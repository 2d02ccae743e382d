"""The state of a learner with one belief."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from volatilis._compiler.registry import compiled_function, compiled_methods, python_only
from volatilis.families._base import Beliefs, Family, copy_column, prior_beliefs, zeros
from volatilis.learners._base import NO_MEMORY, kept_memory, rooms


@compiled_methods
class OneBelief(NamedTuple):
    """The state of a learner with one belief: column i of a bank. Many sequences in lock-step are many columns."""

    beliefs: Beliefs
    run_lengths: np.ndarray  # expected number of observations since the last change
    work: Beliefs  # room for the learner, three columns
    pi_0: Beliefs  # the prior, a bank of one
    i: int
    memory: np.ndarray = NO_MEMORY  # what the family keeps of past observations

    def belief_mean(self, family: Family, k: int) -> float:
        return family.mean(self.beliefs, self.i, k)

    def belief_variance(self, family: Family, k: int, mean: float) -> float:
        return family.variance(self.beliefs, self.i, k)

    def belief_moments(self, family: Family, means: np.ndarray, variances: np.ndarray) -> None:
        for k in range(family.size()):
            means[k] = family.mean(self.beliefs, self.i, k)
            if variances.size > 0:
                variances[k] = family.variance(self.beliefs, self.i, k)

    def belief_log_density(self, family: Family, x: float) -> float:
        return family.log_density(self.beliefs, self.i, x)

    def expected_run_length(self) -> float:
        return self.run_lengths[self.i]

    def at(self, i: int) -> OneBelief:
        """The state of sequence i among many in lock-step."""
        return OneBelief(self.beliefs, self.run_lengths, self.work, self.pi_0, i, self.memory)

    def column_weights(self, room: np.ndarray) -> tuple[int, int]:
        room[0] = 1.0
        return self.i, 1

    def copy_from(self, other: OneBelief) -> None:
        copy_column(other.beliefs, other.i, self.beliefs, self.i)
        self.run_lengths[self.i] = other.run_lengths[other.i]
        for k in range(self.memory.size):
            self.memory[k] = other.memory[k]

    @python_only
    def generator(self) -> None:
        """None: nothing here is random."""

    @python_only
    def live(self) -> tuple[np.ndarray, np.ndarray, Beliefs]:
        one = slice(self.i, self.i + 1)
        beliefs = Beliefs(self.beliefs.chi[:, one].copy(), self.beliefs.nu[one].copy())
        return np.ones(1), self.run_lengths[one].copy(), beliefs

    @python_only
    def draw_column(self, rng: np.random.Generator) -> int:
        return self.i

    @python_only
    def kept_arrays(self) -> dict[str, np.ndarray]:
        return {"chi": self.beliefs.chi, "nu": self.beliefs.nu, "run_lengths": self.run_lengths} | kept_memory(self.memory)

    @python_only
    def many(self, count: int) -> ManyOneBelief:
        return ManyOneBelief(**rooms(self, count), work=self.work, pi_0=self.pi_0)


@compiled_methods
class ManyOneBelief(NamedTuple):
    """The states of one learner for many independent sequences: the first axis of every array goes over sequences."""

    chi: np.ndarray
    nu: np.ndarray
    run_lengths: np.ndarray
    memory: np.ndarray
    work: Beliefs
    pi_0: Beliefs

    def at(self, i: int) -> OneBelief:
        return OneBelief(Beliefs(self.chi[i], self.nu[i]), self.run_lengths[i], self.work, self.pi_0, 0, self.memory[i])

    @python_only
    def generators(self) -> None:
        """None: nothing here is random."""

    @python_only
    def kept_arrays(self) -> dict[str, np.ndarray]:
        return {"chi": self.chi, "nu": self.nu, "run_lengths": self.run_lengths} | kept_memory(self.memory)


def one_belief(family: Family, columns: int = 1) -> OneBelief:
    beliefs, memory = prior_beliefs(family, columns), np.zeros(family.memory_size())
    return OneBelief(beliefs, np.zeros(columns), prior_beliefs(family, 3), prior_beliefs(family), 0, memory)


def side_by_side(state: OneBelief, columns: int) -> OneBelief:
    """This state for many sequences in lock-step: as many columns like its own."""
    beliefs = Beliefs(zeros(state.beliefs.chi.shape[0], columns), zeros(columns))
    beliefs.chi[:], beliefs.nu[:] = state.beliefs.chi[:, state.i : state.i + 1], state.beliefs.nu[state.i]
    return state._replace(beliefs=beliefs, run_lengths=np.full(columns, state.run_lengths[state.i]), i=0)


@compiled_function
def relax(family: Family, state: OneBelief, gamma: float) -> None:
    """A step of time without an observation, for a learner that averages logarithms: towards the prior by gamma."""
    family.blend(state.beliefs, state.i, state.pi_0, 0, 1.0 - gamma, gamma)
    state.run_lengths[state.i] *= 1.0 - gamma
