"""What a learner is, what its state is, and what one observation tells it.

A learner is a NamedTuple of hyper-parameters; its state is arrays that its compiled methods change in place. `_kinds` has the
decorators that make a class a learner.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from volatilis._compiler.registry import compiled_function, compiled_methods
from volatilis.families._base import Beliefs, Family, Observation
from volatilis.learners._recent_kept import Recent
from volatilis.special import exp

READOUTS = ("mean", "variance", "log_p", "log_p_0", "gamma", "run_length")


@compiled_methods
class Info(NamedTuple):
    """What an update knew: log P(y; pi^(t)), log P(y; pi^(0)) and the adaptation rate gamma."""

    log_p: float
    log_p_0: float
    gamma: float


Live = tuple[np.ndarray, np.ndarray, Beliefs]  # of hypotheses: their weights, run lengths and beliefs


class State(Protocol):
    """What a learner knows between two steps: beliefs, and how many observations each rests on."""

    @property
    def beliefs(self) -> Beliefs: ...
    @property
    def run_lengths(self) -> np.ndarray: ...
    @property
    def pi_0(self) -> Beliefs:
        """The prior, a bank of one."""

    @property
    def memory(self) -> np.ndarray:
        """What its family keeps of the past (`memory_size`); empty for most."""

    def belief_mean(self, family: Family, k: int) -> float:
        """E[theta_k]."""

    def belief_variance(self, family: Family, k: int, mean: float) -> float:
        """Var[theta_k], given its mean."""

    def belief_moments(self, family: Family, means: np.ndarray, variances: np.ndarray) -> None:
        """Mean and, where there is room for it, variance of every element of theta."""

    def belief_log_density(self, family: Family, x: float) -> float:
        """Of the unconstrained coordinate x of a one-dimensional theta."""

    def expected_run_length(self) -> float:
        """The expected number of observations since the last change."""

    def column_weights(self, room: np.ndarray) -> tuple[int, int]:
        """The weights of the hypotheses into `room`; returns the first one's column, and how many columns there are."""

    def copy_from(self, other: Self) -> None:
        """Become the same as another state with no more room."""

    def generator(self) -> np.ndarray | None:
        """The state of the random generator, one whole number; None where there is no generator."""

    def live(self) -> Live:
        """The hypotheses that it weighs, the oldest first: copies of their weights, run lengths and beliefs."""

    def draw_column(self, rng: np.random.Generator) -> int:
        """The column of one belief, drawn by its weight."""

    def kept_arrays(self) -> dict[str, np.ndarray]:
        """What must be kept between two steps."""

    def many(self, count: int) -> ManyStates[Self]:
        """Room for `count` states like this; `put` fills it. Memory that is never filled is never used."""


S = TypeVar("S", bound=State)
S_co = TypeVar("S_co", bound=State, covariant=True)


class ManyStates(Protocol[S_co]):
    """The states of one learner for many independent sequences, side by side.

    The first axis of every array goes over sequences. What means nothing between two steps, and the prior, is there once.
    """

    def at(self, i: int) -> S_co:
        """The state of sequence i, in place; compiled."""

    def generators(self) -> np.ndarray | None:
        """The states of the random generators, one row each; None where there are none."""

    def kept_arrays(self) -> dict[str, np.ndarray]:
        """What must be kept between two steps, in the order of the states' own."""


NO_MEMORY = np.zeros(0)


def kept_memory(memory: np.ndarray) -> dict[str, np.ndarray]:
    """Among what must be kept, if there is any."""
    return {"memory": memory} if memory.size else {}


def rooms(state: State, count: int) -> dict[str, np.ndarray]:
    """Arrays for `count` states like this one."""
    arrays = {"memory": state.memory, **state.kept_arrays()}
    return {name: np.zeros((count, *array.shape), dtype=array.dtype) for name, array in arrays.items()}


def put(states: ManyStates[S], rows: int | slice | np.ndarray, state: S) -> None:
    """Rows of many states become this state; others stay as they are."""
    for room, array in zip(states.kept_arrays().values(), state.kept_arrays().values(), strict=True):
        room[rows] = array


class LearnerOf(Protocol[S]):
    """What runs, streams and figures ask of a learner with states of kind S. Compiled methods change the state in place."""

    @property
    def family(self) -> Family: ...

    def init(self, seed: int = 0) -> S:
        """A new state, before the first observation; Python only."""

    # --- compiled ---

    def restart(self, state: S) -> None:
        """The state becomes that before the first observation."""

    def update(self, state: S, y: Observation) -> Info:
        """One observation."""

    def elapse(self, state: S) -> None:
        """One step of time without an observation."""

    def begin(self, state: S) -> None:
        """A sequence begins: `restart`, and the past is forgotten. Loops call this, `observe` and `pass_time`."""

    def observe(self, state: S, y: Observation) -> Info:
        """One observation as a sequence has it: `update`, in the context of the past where the family has one.

        Where that past is not known yet, time passes and the info is NaN.
        """

    def pass_unscored(self, state: S) -> Info:
        """`elapse`, where an observation is only conditioned on; the info is NaN."""

    def pass_time(self, state: S, y: Observation) -> None:
        """One step of a sequence without an observation: `elapse`, and a gap in the past. y may hold a context."""

    def let_pass(self, state: S) -> None:
        """The same where no context is known: time passes between two observations."""

    def has_room(self, state: S) -> bool:
        """Whether the state can take one more step as it is; where not, `grow` it first."""

    def read_mean(self, state: S, k: int) -> float:
        """The estimate of theta_k; NaN where nothing is known."""

    def read_variance(self, state: S, k: int, mean: float) -> float:
        """The variance of theta_k, given its mean."""

    def read_moments(self, state: S, means: np.ndarray, variances: np.ndarray) -> None:
        """Mean and, where there is room for it, variance of every element of theta."""

    def read_run_length(self, state: S) -> float:
        """The expected number of observations since the last change."""

    def read_recent(self, state: S) -> float:
        """The probability that a change lies within the newest observations; NaN where the state does not keep it."""

    def read_onset(self, state: S, level: float) -> float:
        """How many observations there have been since that change: the quantile at a level; NaN where it is not probable."""

    def read_change_probability(self, state: S) -> float:
        """The p_c that the last update reckoned with, of a learner that learns it; NaN of others."""

    # --- Python only ---

    def keep_recent(self, within: int) -> Recent:
        """What a state keeps in `recent` for `read_recent`; raises UndefinedError where that is not defined."""

    def grow(self, state: S) -> S:
        """The same state with more room."""

    def grows(self) -> bool:
        """Whether a state may run out of room."""

    def readouts(self) -> tuple[str, ...]:
        """Those of READOUTS that it defines."""

    def samples(self) -> bool:
        """Whether it draws random numbers."""

    def most_hypotheses(self) -> int | None:
        """How many hypotheses its state holds at most; None where that is not fixed."""

    def fewest_hypotheses(self) -> int:
        """How many hypotheses its state holds at least."""

    def is_mixture(self) -> bool:
        """Whether what it believes is a mixture, that is, of more than one hypothesis."""

    def change_probability(self) -> float:
        """p_c of the whole model, change included: the Shannon surprise needs it. Where it is learned, p_c at the start."""

    def learns_change_probability(self) -> bool:
        """Whether p_c is another one at every step: `read_change_probability` tells."""

    def parts(self, state: S) -> list[tuple[float, Family, Live]]:
        """What a belief is made of: weights, and families with their live hypotheses."""

    def states_within(self, arrays: Mapping[str, np.ndarray]) -> list[tuple[Learner, dict[str, np.ndarray]]]:
        """The learners whose states these kept arrays of many states hold, each with its own arrays."""

    def check_observations(self, values: np.ndarray) -> None:
        """Raises ValueError for an (encoded) observation of its family that it cannot take."""

    def refuses_observations(self) -> bool:
        """Whether `check_observations` may refuse any."""


Learner = LearnerOf[Any]  # whose states are of whatever kind: they are only handed back to the learner that made them


@compiled_function
def modulated(m: float, surprise: float) -> tuple[float, float]:
    """gamma(S_BF, m) and 1 - gamma from S_BF itself, which may be 0 or infinite."""
    if surprise <= 1.0:
        return m * surprise / (1.0 + m * surprise), 1.0 / (1.0 + m * surprise)
    inverse = 1.0 / surprise
    return m / (m + inverse), inverse / (m + inverse)


@compiled_function
def change_and_stay(p_c: float, log_p_0: float, scale: float) -> tuple[float, float]:
    """p_c P(y; pi_0) and (1 - p_c) e^scale in one unit, the larger of P(y; pi_0) and e^scale: neither overflows.

    With a p_c so small that its inverse would overflow, both in a smaller unit.
    """
    unit = 1.0 if p_c > 1e-280 else 2.0**930
    log_ratio = log_p_0 - scale
    smaller = exp(-abs(log_ratio))
    change, stay = unit * p_c, unit * (1.0 - p_c)
    return change * (smaller if log_ratio < 0.0 else 1.0), stay * (1.0 if log_ratio < 0.0 else smaller)
