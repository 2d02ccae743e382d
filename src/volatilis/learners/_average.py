"""The state of a learner that weighs parameters, and what its steps share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

import numpy as np

from volatilis._compiler.registry import compiled_function, compiled_methods, python_only
from volatilis._core.fields import Matrix, Rule, Vector, derived
from volatilis._core.records import LOG, LOGIT, Range
from volatilis.families._base import Beliefs, Family
from volatilis.learners._bank import BankOfStates, member, stacked, with_room
from volatilis.learners._base import NO_MEMORY, Learner, Live, kept_memory
from volatilis.learners._kinds import AnyLearner
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


Places = Annotated[Any, Rule(lambda v: np.array(v, dtype=np.int64), lambda v: v.ndim == 1, "places of parameters")]


Share = Annotated[float, Rule(float, lambda v: 0.0 <= v < 1.0, "a number from 0 up to, not including, 1")]


Forgetting = Annotated[Share, Range(LOGIT, 1e-6, 0.5, 0.001, 0.1)]


PriorCount = Annotated[
    float, Rule(float, lambda v: 0.0 <= v < np.inf, "a finite number, 0 or more"), Range(LOG, 0.01, 1e4, 0.3, 30.0)
]


P_C, STAY, LOG_P_C, LOG_STAY = range(4)  # rows of `chances`


class OnGrid(NamedTuple):
    learner: AnyLearner
    places: Places
    values: Matrix
    weights: Vector
    forget: Share
    family: Any = derived()
    bank: Any = derived()
    chances: Matrix = derived()  # rows: p_c of each point, 1 - p_c, and the logarithms of both


def member_states(
    family: Family, bank: Any, count: int, arrays: Mapping[str, np.ndarray]
) -> list[tuple[Learner, dict[str, np.ndarray]]]:
    """Of kept arrays those of each member; raises ValueError where what is kept of the past is none."""
    reason = family.invalid_memory(arrays["memory"]) if "memory" in arrays else None
    if reason is not None:
        raise ValueError(reason)
    names = [name for name in arrays if name.startswith("member_")]
    return [
        (
            member(bank, k),
            {name.removeprefix("member_"): arrays[name][:, k if arrays[name].shape[1] > 1 else 0] for name in names},
        )
        for k in range(count)
    ]


def member_parts(bank: Any, state: Average) -> list[tuple[float, Family, Live]]:
    """Of every member its weight, its family and its live hypotheses."""
    members = [(member(bank, k), member(state.members, k)) for k in range(state.shares.size)]
    return [
        (share * inner, family, live)
        for share, (learner, one) in zip(state.shares.tolist(), members, strict=True)
        for inner, family, live in learner.parts(one)
    ]


def bank_of(states: list[Any]) -> Any:
    """The states of all members; they have one random generator."""
    random = states[0].generator()
    return stacked(states, [] if random is None else [random])
