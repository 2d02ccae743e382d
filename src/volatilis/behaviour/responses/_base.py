"""What response models share: the decorator, and what a learner believes.

A response model is a NamedTuple of parameters with one compiled method, and may have three more:

    log_response(learner, state, given, before)    log probability (or density) of the response
    log_mass(learner, state, given, before)        where a density is mixed with single responses that have a probability (the
                                                   ends of a slider): the log probability of `given` if it is one, else -inf
    check_learner(learner)                         Python only: raises TypeError for a learner that it cannot go with
    check_responses(family, given)                 Python only: raises ValueError for responses that it does not know
"""

from __future__ import annotations

import math
from typing import Annotated, Any, TypeVar

import numpy as np

from volatilis._compiler.registry import compiled_function, compiled_methods, python_only
from volatilis._core.fields import Rule, _float, validated

C = TypeVar("C", bound=type)
NonNegative = Annotated[float, Rule(_float, lambda v: 0.0 <= v < np.inf, "a finite number, 0 or more")]
Share = Annotated[float, Rule(_float, lambda v: 0.0 <= v < 1.0, "a number from 0 up to, not including, 1")]


def response(cls: C) -> C:
    """Make a NamedTuple class with `log_response(self, learner, state, given, before)` a response model."""
    if not hasattr(cls, "log_response"):
        raise TypeError(f"{cls.__name__} has no method log_response(self, learner, state, given, before)")
    for name in ("log_mass", "check_learner", "check_responses"):
        if not hasattr(cls, name):
            setattr(cls, name, vars(_Defaults)[name])
    cls._is_response = True  # type: ignore[attr-defined]
    return compiled_methods(validated(cls))


class _Defaults:
    def log_mass(self: Any, learner: Any, state: Any, given: float, before: float) -> float:
        return -np.inf

    @python_only
    def check_learner(self: Any, learner: Any) -> None:
        """Any."""

    @python_only
    def check_responses(self: Any, family: Any, given: np.ndarray) -> None:
        """Any."""


@compiled_function
def estimate(learner: Any, state: Any, k: int) -> float:
    """E[theta_k]; before a learner without a belief has seen anything, the prior's."""
    mean = learner.read_mean(state, k)
    return mean if mean == mean else learner.family.mean(state.pi_0, 0, k)


@compiled_function
def uncertainty(learner: Any, state: Any, k: int) -> float:
    """The standard deviation of theta_k."""
    return math.sqrt(learner.read_variance(state, k, learner.read_mean(state, k)))


def needs_variance(model: Any, learner: Any) -> None:
    if "variance" not in learner._readouts:
        raise TypeError(f"{type(model).__name__} needs the uncertainty of the belief, and {type(learner).__name__} has none")
