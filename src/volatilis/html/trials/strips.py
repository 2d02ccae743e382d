"""What a picture shows above surprise and adaptation rate: a strip per outcome, category or parameter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from volatilis import families

MOST = 12  # strips; a family with more categories or parameters shows the first


class Strip(NamedTuple):
    """One pair of axes, over the trials.

    outcome   which of the outcomes is dots in it; None: none
    category  dots only where the outcome is this category, at 1, and the estimate is its probability; None: dots at the outcome
    element   which element of the parameter is the line in it; None: none
    low, high the range, where the family fixes it
    names     what 0, 1, ... mean, where they have names
    """

    title: str
    outcome: int | None
    category: int | None
    element: int | None
    low: float | None = None
    high: float | None = None
    names: tuple[str, ...] = ()


def strips_for(family: Any, outcomes: Sequence[str], categories: Sequence[str]) -> list[Strip]:
    """All strips of a family; those whose parameter is the outcome's mean show both."""
    parameters = family.parameter_names()
    if isinstance(family, families.Categorical):
        names = categories or [str(k) for k in range(family.k)]
        return [Strip(f"{outcomes[0]}: {name}", 0, k, k, 0.0, 1.0) for k, name in enumerate(names)]
    if isinstance(family, families.Bernoulli):
        return [Strip(outcomes[0], 0, None, 0, 0.0, 1.0, tuple(categories))]
    shared = 0 if isinstance(family, families.Exponential) else len(outcomes)
    both = [Strip(name, i, None, i if shared else None) for i, name in enumerate(outcomes)]
    return both + [Strip(f"parameter {parameters[i]}", None, None, i) for i in range(shared, len(parameters))]


def expects_outcome(strips: Sequence[Strip]) -> bool:
    """Whether the estimate can be held against the outcome."""
    return all(strip.element is not None for strip in strips if strip.outcome is not None)
