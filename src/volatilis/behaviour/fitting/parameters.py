"""Free parameters: their natural ranges, and the scale on which a search for them moves in equal steps.

Ranges of what is measured in the outcome's unit (sigma, sd, mu_0 ...) follow the data, so that data in other units give the
same fit in other units.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from volatilis._core.fields import Rule


class Scale(NamedTuple):
    """From a parameter's natural range to the real line and back."""

    name: str
    to: Callable[[float], float]
    back: Callable[[float], float]


LINEAR = Scale("linear", float, float)
LOG = Scale("log", math.log, lambda x: math.exp(min(x, 700.0)))
LOGIT = Scale("logit", lambda p: math.log(p / (1.0 - p)), lambda x: 1.0 / (1.0 + math.exp(-x)) if x > -700.0 else 0.0)


class Range(NamedTuple):
    """Where a parameter may lie (low, high), where searches start (first, last), and on which scale; `unit` is the outcome's."""

    scale: Scale
    low: float
    high: float
    first: float
    last: float
    unit: bool = False


RANGES = {
    "p_c": Range(LOGIT, 1e-5, 1 - 1e-5, 0.01, 0.5),
    "m": Range(LOG, 1e-5, 1e4, 0.01, 1.0),
    "omega": Range(LOGIT, 1e-3, 1 - 1e-5, 0.3, 0.95),
    "sigma": Range(LOG, 1e-3, 1e2, 0.1, 1.0, True),
    "sigma_0": Range(LOG, 1e-2, 1e3, 0.5, 5.0, True),
    "mu_0": Range(LINEAR, -5.0, 5.0, -1.0, 1.0, True),
    "s": Range(LOG, 1e-3, 1e3, 0.2, 5.0),
    "a": Range(LOG, 1e-3, 1e3, 0.5, 5.0),
    "b": Range(LOG, 1e-3, 1e3, 0.5, 5.0),
    "shape": Range(LOG, 1e-3, 1e3, 0.5, 5.0),
    "rate": Range(LOG, 1e-4, 1e4, 0.1, 10.0),
    "kappa_0": Range(LOG, 1e-4, 1e3, 0.05, 2.0),
    "alpha_0": Range(LOG, 1e-2, 1e3, 1.0, 10.0),
    "sd": Range(LOG, 1e-4, 1e2, 0.05, 1.0, True),
    "motor": Range(LOG, 1e-4, 1e2, 0.01, 0.3, True),
    "bias": Range(LINEAR, -5.0, 5.0, -0.3, 0.3, True),
    "per_uncertainty": Range(LOG, 1e-4, 1e3, 0.1, 2.0),
    "per_update": Range(LOG, 1e-4, 1e2, 0.05, 1.0),
    "beta": Range(LOG, 1e-3, 1e3, 0.3, 5.0),
    "level": Range(LINEAR, -1e3, 1e3, -2.0, 2.0),
    "slope": Range(LOG, 1e-4, 1e4, 0.1, 3.0),
    "lapse": Range(LOGIT, 1e-5, 0.99, 0.005, 0.1),
    "stay": Range(LOGIT, 1e-5, 1 - 1e-5, 0.02, 0.3),
}
# for a parameter of a user's own, by what its field accepts: the first that may have both ends
USUAL = (
    Range(LINEAR, -1e3, 1e3, -2.0, 2.0),
    Range(LOG, 1e-4, 1e4, 0.1, 10.0),
    Range(LOGIT, 1e-5, 1 - 1e-5, 0.05, 0.95),
)
WHOLE = {"n": (1, 2, 3, 5, 10, 20)}  # whole numbers are tried one by one


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
    found = RANGES[name]
    ends = (found.low, found.high, found.first, found.last)
    if found.unit:
        shift = unit.middle if found.scale is LINEAR else 0.0
        ends = tuple(shift * (name == "mu_0") + unit.spread * end for end in ends)  # type: ignore[assignment]
    return Searched(name, found.scale, *(found.scale.to(end) for end in ends))
