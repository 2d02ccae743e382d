"""What makes a NamedTuple a learner: decorators that fill in what learners of a kind share.

A learner is a NamedTuple of hyper-parameters with these compiled methods; its state is arrays that they change in place:

    restart(state)              the state becomes that before the first observation
    update(state, y) -> Info    one observation
    elapse(state)               one step of time without an observation
    has_room(state)             whether the state can take one more step as it is
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from volatilis._compiler.registry import compiled_methods, python_only
from volatilis._core.fields import validated
from volatilis.learners._hypotheses import NOTHING, Hypotheses, exact_elapse, exact_step, hypotheses, set_count
from volatilis.learners._one_belief import OneBelief, one_belief
from volatilis.learners._step import Info

C = TypeVar("C", bound=type)
FIRST_ROOM = 128  # for hypotheses whose number is not fixed; it doubles as needed
READOUTS = ("mean", "variance", "log_p", "log_p_0", "gamma", "run_length")


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
    def change_probability(self: Any) -> float:
        """p_c of the whole model, change included: the Shannon surprise needs it."""
        return self.p_c if hasattr(self, "p_c") else self.m / (1.0 + self.m)

    @python_only
    def check_observations(self: Any, values: np.ndarray) -> None:
        """A learner that cannot take some valid observation of its family says so here."""


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
        state = hypotheses(self.family, getattr(self, "n", FIRST_ROOM - 1) + 1, seed)
        self.restart(state)
        return state

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
