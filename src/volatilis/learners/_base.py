"""What a learner is, what its state is, and the decorators that fill in what learners of a kind share.

A learner is a NamedTuple of hyper-parameters; its state is arrays that its compiled methods change in place.
"""

from __future__ import annotations

from typing import Any, Protocol, Self, TypeVar

import numpy as np

from volatilis._compiler.registry import compiled_methods, python_only
from volatilis._core.fields import validated
from volatilis.families._base import Beliefs, Family, Observation, UndefinedError
from volatilis.learners._hypotheses import NOTHING, Hypotheses, exact_elapse, exact_step, hypotheses, set_count
from volatilis.learners._one_belief import OneBelief, one_belief
from volatilis.learners._step import Info

C = TypeVar("C", bound=type)
FIRST_ROOM = 128  # for hypotheses whose number is not fixed; it doubles as needed
READOUTS = ("mean", "variance", "log_p", "log_p_0", "gamma", "run_length")


class State(Protocol):
    """What a learner knows between two steps: beliefs, and how many observations each rests on."""

    @property
    def beliefs(self) -> Beliefs: ...
    @property
    def run_lengths(self) -> np.ndarray: ...
    @property
    def pi_0(self) -> Beliefs:
        """The prior, a bank of one."""

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

    def copy_from(self, other: Self) -> None:
        """Become the same as another state with no more room."""

    def generator(self) -> np.ndarray | None:
        """The state of the random generator, one whole number; None where there is no generator."""


S = TypeVar("S", bound=State)


class Learner(Protocol):
    """What runs, streams and figures ask of a learner. Compiled methods change the state in place."""

    @property
    def family(self) -> Family: ...

    def init(self, seed: int = 0) -> Any:
        """A new state, before the first observation; Python only."""

    # --- compiled ---

    def restart(self, state: Any) -> None:
        """The state becomes that before the first observation."""

    def update(self, state: Any, y: Observation) -> Info:
        """One observation."""

    def elapse(self, state: Any) -> None:
        """One step of time without an observation."""

    def has_room(self, state: Any) -> bool:
        """Whether the state can take one more step as it is; where not, `grow` it first."""

    def read_mean(self, state: Any, k: int) -> float:
        """The estimate of theta_k; NaN where nothing is known."""

    def read_variance(self, state: Any, k: int, mean: float) -> float:
        """The variance of theta_k, given its mean."""

    def read_moments(self, state: Any, means: np.ndarray, variances: np.ndarray) -> None:
        """Mean and, where there is room for it, variance of every element of theta."""

    def read_run_length(self, state: Any) -> float:
        """The expected number of observations since the last change."""

    # --- Python only ---

    def grow(self, state: Any) -> Any:
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
        """p_c of the whole model, change included: the Shannon surprise needs it."""

    def check_observations(self, values: np.ndarray) -> None:
        """Raises ValueError for an (encoded) observation of its family that it cannot take."""

    def refuses_observations(self) -> bool:
        """Whether `check_observations` may refuse any."""


def learner(cls: C) -> C:
    """Make a NamedTuple class a learner: validate its fields, fill in the common readouts, let it be compiled."""
    _fill_in(cls, _Readouts)
    if not hasattr(cls, "_readouts"):
        cls._readouts = READOUTS  # type: ignore[attr-defined]
    if not hasattr(cls, "_samples"):
        cls._samples = True  # type: ignore[attr-defined]  # as far as is known: it may draw from its state's generator
    cls._is_learner = True  # type: ignore[attr-defined]
    return compiled_methods(validated(cls))


def learner_with_one_belief(cls: C) -> C:
    """A learner whose state is one belief that starts as the prior; the class gives `update` and `elapse`."""
    _fill_in(cls, _OneBeliefStart)
    cls._samples = False  # type: ignore[attr-defined]  # its state has no generator
    return learner(cls)


def learner_with_hypotheses(cls: C) -> C:
    """Exact inference and then an approximation; the class gives the latter, `approximate(state)`."""
    _fill_in(cls, _ExactThenApproximate)
    return learner(cls)


def _fill_in(cls: type, defaults: type) -> None:
    for name, method in vars(defaults).items():
        if callable(method) and not hasattr(cls, name):
            setattr(cls, name, method)


class _Readouts:
    def read_mean(self: Any, state: Any, k: int) -> float:
        return state.belief_mean(self.family, k)

    def read_variance(self: Any, state: Any, k: int, mean: float) -> float:
        return state.belief_variance(self.family, k, mean)

    def read_moments(self: Any, state: Any, means: np.ndarray, variances: np.ndarray) -> None:
        state.belief_moments(self.family, means, variances)

    def read_run_length(self: Any, state: Any) -> float:
        return state.expected_run_length()

    def has_room(self: Any, state: Any) -> bool:
        return True

    @python_only
    def grow(self: Any, state: Any) -> Any:
        raise UndefinedError(f"{type(self).__name__} does not define grow(state), which a state without room needs")

    @python_only
    def grows(self: Any) -> bool:
        return False

    @python_only
    def readouts(self: Any) -> tuple[str, ...]:
        return type(self)._readouts

    @python_only
    def samples(self: Any) -> bool:
        return type(self)._samples

    @python_only
    def most_hypotheses(self: Any) -> int | None:
        return 1

    @python_only
    def fewest_hypotheses(self: Any) -> int:
        return 1

    @python_only
    def is_mixture(self: Any) -> bool:
        return self.most_hypotheses() != 1

    @python_only
    def change_probability(self: Any) -> float:
        return self.p_c if hasattr(self, "p_c") else self.m / (1.0 + self.m)

    @python_only
    def check_observations(self: Any, values: np.ndarray) -> None:
        """Takes all."""

    @python_only
    def refuses_observations(self: Any) -> bool:
        return type(self).check_observations is not _Readouts.check_observations


class _OneBeliefStart:
    @python_only
    def init(self: Any, seed: int = 0, columns: int = 1) -> OneBelief:
        return one_belief(self.family, columns)

    def restart(self: Any, state: OneBelief) -> None:
        self.family.prior(state.beliefs, state.i)
        state.run_lengths[state.i] = 0.0


class _ExactThenApproximate:
    @python_only
    def init(self: Any, seed: int = 0) -> Hypotheses:
        most = self.most_hypotheses()
        state = hypotheses(self.family, FIRST_ROOM if most is None else most + 1, seed)
        self.restart(state)
        return state

    @python_only
    def most_hypotheses(self: Any) -> int | None:
        return self.n

    def restart(self: Any, state: Hypotheses) -> None:
        """One hypothesis: nothing observed since the change that begins every sequence."""
        set_count(state, 1)
        state.weights[0] = 1.0
        state.run_lengths[0] = 0.0
        self.family.prior(state.beliefs, 0)

    def update(self: Any, state: Hypotheses, y: Any) -> Info:
        info = exact_step(self.family, self.p_c, state, y, NOTHING)
        self.approximate(state)
        return info

    def elapse(self: Any, state: Hypotheses) -> None:
        exact_elapse(self.family, self.p_c, state)
        self.approximate(state)
