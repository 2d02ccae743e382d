"""The state of a learner that weighs parameters, and what its steps share."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from volatilis._compiler.registry import compiled_function, compiled_methods, python_only
from volatilis.families._base import Beliefs
from volatilis.learners._bank import BankOfStates, with_room
from volatilis.learners._base import NO_MEMORY, kept_memory
from volatilis.special import exp, largest, log, log_1p

LEAST_LOG = -1e300  # the logarithm of the weight of a value that is refuted


@compiled_methods
class Average(NamedTuple):
    """The state of `Averaged`: a bank of states of its learner, one per point of the grid, and their weights."""

    shares: np.ndarray  # W: they sum to one
    log_shares: np.ndarray
    members: Any  # a bank of states of the learner
    last: np.ndarray  # one number: p, the p_c that the last update reckoned with
    scratch: np.ndarray  # two rows
    pi_0: Beliefs
    memory: np.ndarray = NO_MEMORY  # what the family keeps of the past

    @property
    def beliefs(self) -> Beliefs:
        return self.members.beliefs

    @property
    def run_lengths(self) -> np.ndarray:
        return self.members.run_lengths

    @python_only
    def generator(self) -> np.ndarray | None:
        """One for all members, which draw from it in turn."""
        random = self.members.generator()
        return None if random is None else random.reshape(-1)

    @python_only
    def kept_arrays(self) -> dict[str, np.ndarray]:
        inner = {f"member_{name}": array for name, array in self.members.kept_arrays().items()}
        return {"shares": self.shares, "log_shares": self.log_shares, "last": self.last, **inner, **kept_memory(self.memory)}

    @python_only
    def many(self, count: int) -> BankOfStates:
        return BankOfStates(with_room(self, list(self.kept_arrays().values()), count))


@compiled_function
def drift(state: Average, weights: np.ndarray, forget: float) -> None:
    """W <- (1 - forget) W + forget W_0."""
    if forget > 0.0:
        for k in range(state.shares.size):
            state.shares[k] = (1.0 - forget) * state.shares[k] + forget * weights[k]
            state.log_shares[k] = log(state.shares[k])


@compiled_function
def log_sum(x: np.ndarray, n: int) -> float:
    """log sum_i e^x_i."""
    top, result = largest(x, n), 0.0
    for i in range(n):
        result += exp(x[i] - top)
    return top + log(result)


@compiled_function
def log_joint(a: float, b: float) -> float:
    """log(e^a + e^b)."""
    return (a if a > b else b) + log_1p(exp(-abs(a - b)))
