"""Free parameters as a search sees them. Their ranges stand in the records of families, learners and response models.

Ranges of what is measured in the outcome's unit (sigma, sd, mu_0 ...) follow the data, so that data in other units give the
same fit in other units.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from volatilis import families, learners
from volatilis._core.fields import Rule
from volatilis._core.records import LINEAR, LOG, LOGIT, Choices, Parameter, Range, Scale

# by name: a name that a family, a learner and a response model share is one parameter. Those of response models are added where
# the models are made known (`responses.registry`)
RANGES: dict[str, Range] = {}
WHOLE: dict[str, tuple[int, ...]] = {}  # whole numbers are tried one by one


def add_ranges(parameters: Iterable[Parameter]) -> None:
    """Make parameters known to searches, with the ranges that their records give."""
    for parameter in parameters:
        if isinstance(parameter.search, Range):
            RANGES[parameter.name] = parameter.search
        elif isinstance(parameter.search, Choices):
            WHOLE[parameter.name] = parameter.search.values


for learner_record in learners.records():
    add_ranges(learner_record.parameters)
for family_record in families.records():
    add_ranges(family_record.parameters)

# for a parameter of a user's own, by what its field accepts: the first that may have both ends
USUAL = (
    Range(LINEAR, -1e3, 1e3, -2.0, 2.0),
    Range(LOG, 1e-4, 1e4, 0.1, 10.0),
    Range(LOGIT, 1e-5, 1 - 1e-5, 0.05, 0.95),
)


class Unit(NamedTuple):
    """The outcome's own unit: a typical outcome, and how far outcomes lie apart."""

    middle: float
    spread: float


def unit_of(outcomes: np.ndarray) -> Unit:
    """From the median, so that a few wild outcomes do not matter. Outcomes that are all alike have the unit 1."""
    finite = outcomes[np.isfinite(outcomes)]
    if finite.size == 0:
        return Unit(0.0, 1.0)
    middle = float(np.median(finite))
    spread = float(np.median(np.abs(finite - middle))) * 1.4826 or float(np.std(finite))
    return Unit(middle, spread or 1.0)


def usual_range(rule: Rule) -> Range:
    return next((one for one in USUAL if rule.accepts(one.low) and rule.accepts(one.high)), USUAL[-1])


class Searched(NamedTuple):
    """A free parameter as a search sees it: an interval of the real line."""

    name: str
    scale: Scale
    low: float
    high: float
    first: float
    last: float

    def natural(self, x: float) -> float:
        return self.scale.back(x)

    def to_line(self, value: float) -> float:
        return self.scale.to(value)


def searched(name: str, unit: Unit) -> Searched:
    """A parameter's interval for data in these units."""
    if name not in RANGES:
        raise ValueError(f"{name} cannot be fitted; {', '.join((*RANGES, *WHOLE))} can")
    known = RANGES[name]
    ends = (known.low, known.high, known.first, known.last)
    if known.unit:
        shift = unit.middle if known.scale is LINEAR else 0.0
        ends = tuple(shift * (name == "mu_0") + unit.spread * end for end in ends)  # type: ignore[assignment]
    return Searched(name, known.scale, *(known.scale.to(end) for end in ends))
