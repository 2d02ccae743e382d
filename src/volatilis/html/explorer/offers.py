"""What the explorer offers: worlds with their sliders, learners with their parameters, and which of them go together.

Nothing here knows how a learner computes: the records say which there are and what their parameters accept. A family is offered
where `WORLDS` says how its page looks, and worlds.js how it is sampled.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

from volatilis import learners
from volatilis._core.records import Parameter, Range
from volatilis.catalogue import FAMILY_RECORDS, LEARNER_RECORDS
from volatilis.families._base import Family
from volatilis.families._kinds import FamilyRecord
from volatilis.learners._base import Learner
from volatilis.learners._kinds import LearnerRecord
from volatilis.learners.averaged import Averaged

FEW, MANY = 3, 30  # numbers of hypotheses that tell which arrays grow with them


class Slider(NamedTuple):
    """A number that the page lets one move: where it starts, and how far it goes on which scale."""

    value: float
    low: float
    high: float
    scale: str = "log"  # or linear, logit, whole


# Families that the page offers, with the parameters of the first world that it shows of each
WORLDS: Mapping[str, Mapping[str, Slider]] = {
    "gaussian": {"sigma": Slider(0.5, 0.01, 500), "mu_0": Slider(0, -500, 500, "linear"), "sigma_0": Slider(1, 0.01, 1000)},
    "gaussian-unknown-variance": {
        "mu_0": Slider(0, -500, 500, "linear"),
        "kappa_0": Slider(0.1, 0.001, 10),
        "alpha_0": Slider(3, 0.6, 50),
        "beta_0": Slider(1, 0.001, 1000),
    },
    "bernoulli": {"a": Slider(1, 0.05, 20), "b": Slider(1, 0.05, 20)},
    "categorical": {"k": Slider(4, 2, 8, "whole"), "s": Slider(0.5, 0.02, 20)},
    "poisson": {"shape": Slider(2, 0.1, 50), "rate": Slider(0.2, 0.005, 20)},
    "exponential": {"shape": Slider(3, 0.1, 50), "rate": Slider(5, 0.005, 500)},
    "vonmises": {
        "kappa": Slider(8, 0.1, 500),
        "mu_0": Slider(0, -180, 360, "linear"),
        "kappa_0": Slider(0, 0, 20, "linear"),
        "period": Slider(360, 1, 360, "linear"),
    },
    "contaminated": {
        "sigma": Slider(0.3, 0.01, 500),
        "mu_0": Slider(0, -500, 500, "linear"),
        "sigma_0": Slider(1.5, 0.01, 1000),
        "p_o": Slider(0.05, 0.0005, 0.5),
    },
    "transitions": {"s": Slider(1, 0.02, 20)},
}
# What each is called in the list of worlds
TITLES: Mapping[str, str] = {
    "gaussian": "Numbers around a level",
    "gaussian-unknown-variance": "Numbers, the noise unknown too",
    "bernoulli": "Yes or no",
    "categorical": "One of several symbols",
    "poisson": "Counts",
    "exponential": "Waiting times",
    "vonmises": "Directions on a circle",
    "contaminated": "Numbers with outliers",
    "transitions": "A chain of two symbols",
}
# What is not moved: two symbols, so that what one reads stays the same four numbers
FIXED: Mapping[str, Mapping[str, int]] = {"transitions": {"k": 2}}
# A family that is made of another one, and which that is here
INNER = {"contaminated": "gaussian"}
# Other values of the same parameters, not those that layouts are read off: tests compare these too
OTHER_WORLDS: Mapping[str, Mapping[str, float]] = {
    "gaussian": {"sigma": 10.0, "mu_0": 150.0, "sigma_0": 87.0},
    "gaussian-unknown-variance": {"mu_0": -2.0, "kappa_0": 0.5, "alpha_0": 2.0, "beta_0": 4.0},
    "bernoulli": {"a": 0.4, "b": 2.0},
    "categorical": {"k": 3, "s": 2.0},
    "poisson": {"shape": 0.7, "rate": 0.05},
    "exponential": {"shape": 1.5, "rate": 0.3},
    "vonmises": {"kappa": 40.0, "mu_0": -1.0, "kappa_0": 0.7, "period": 24.0},
    "contaminated": {"sigma": 10.0, "mu_0": 150.0, "sigma_0": 87.0, "p_o": 0.02},
    "transitions": {"s": 0.3},
}
# Learners that are also offered without knowing p_c, as `Averaged` over its usual grid
UNKNOWN = ("merge",)


class Offer(NamedTuple):
    """A learner of the page: a record, and whether its p_c is unknown, so that it is averaged over a grid of values."""

    name: str
    record: LearnerRecord
    averaged: bool = False

    def shown(self) -> list[Parameter]:
        """The parameters that the page shows: those without a default that are not the family's and not learned."""
        parameters = [one for one in self.record.parameters if one.default is None and not one.from_family]
        return [one for one in parameters if not (self.averaged and one.name == "p_c")]

    def make(self, family: Family, values: Mapping[str, Any]) -> Learner:
        if not self.averaged:
            return self.record.make(family, dict(values))
        # its own p_c is not used: the grid goes over all probabilities
        inner = self.record.make(family, {**values, "p_c": 0.1})
        averaged: Learner = Averaged(inner, p_c="unknown")
        return averaged


class Pair(NamedTuple):
    """A learner with a family: the name of its function, an example, and what the page knows of it."""

    symbol: str
    learner: str
    family: str
    example: Learner
    more: Learner  # the same with more hypotheses


def family_records() -> list[FamilyRecord]:
    return [record for name, record in FAMILY_RECORDS.items() if name in WORLDS]


def offers() -> dict[str, Offer]:
    """By name, learners whose parameters are numbers that can be searched, are the family's, or have defaults."""
    built_in = (record for record in learners.records() if not record.combines)  # without those of a user of this process
    offered = [Offer(record.name, record) for record in built_in if all(_is_known(one) for one in record.parameters)]
    offered += [Offer(f"averaged-{name}", LEARNER_RECORDS[name], averaged=True) for name in UNKNOWN]
    return {one.name: one for one in offered}


def _is_known(one: Parameter) -> bool:
    return one.default is not None or one.from_family or one.search is not None


def example_family(name: str, values: Mapping[str, float] | None = None) -> Family:
    given = {one: slider.value for one, slider in WORLDS[name].items()} if values is None else values
    given = {**FIXED.get(name, {}), **given}
    if name not in INNER:
        return FAMILY_RECORDS[name].cls(**given)
    within = {one: given[one] for one in WORLDS[INNER[name]]}
    outer = {one: value for one, value in given.items() if one not in within}
    return FAMILY_RECORDS[name].cls(FAMILY_RECORDS[INNER[name]].cls(**within), **outer)


def example_learner(offer: Offer, family: Family, n: int = FEW) -> Learner | None:
    """The learner with values from the middle of where searches start; None where it is not defined for the family.

    Nor where it warns, as Exact Bayes does with outliers: the page would show as exact what is not.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return offer.make(family, {one.name: middle(one, n) for one in offer.shown()})
        except (TypeError, ValueError, UserWarning):
            return None


def middle(one: Parameter, n: int) -> float:
    if isinstance(one.search, Range):
        scale = one.search.scale
        return scale.back(0.5 * (scale.to(one.search.first) + scale.to(one.search.last)))
    return n


def pairs() -> list[Pair]:
    result = []
    for family_record in family_records():
        family = example_family(family_record.name)
        for offer in offers().values():
            example, more = (example_learner(offer, family, n) for n in (FEW, MANY))
            if example is not None and more is not None:
                symbol = f"{offer.name}__{family_record.name}".replace("-", "_")
                result.append(Pair(symbol, offer.name, family_record.name, example, more))
    return result
