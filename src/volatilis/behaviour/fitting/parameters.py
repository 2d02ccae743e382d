"""Free parameters as a search sees them, and their priors.

Their ranges stand in the records of families, learners and response models. Ranges of what is measured in the outcome's unit
(sigma, sd, mu_0 ...) follow the data, so that data in other units give the same fit in other units.

A prior is normal on the real line on which a search moves:

weak                             one for every parameter: the range where searches start is one standard deviation either side
Stated({"p_c": (0.01, 0.5)})     the range that holds 95 % of the prior, on the parameter's own scale; weak for all others
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
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


def unit_of(outcomes: np.ndarray, around: float = np.inf) -> Unit:
    """From the median, so that a few wild outcomes do not matter. Outcomes that are all alike have the unit 1.

    around    once around, where outcomes are places on a circle: the middle is then their direction, and the rest the short way
    """
    finite = outcomes[np.isfinite(outcomes)]
    if finite.size == 0:
        return Unit(0.0, 1.0)
    if around < np.inf:
        turns = 2.0 * np.pi * finite / around
        middle = float(np.arctan2(np.sin(turns).sum(), np.cos(turns).sum()) * around / (2.0 * np.pi)) % around
        apart = (finite - middle + 0.5 * around) % around - 0.5 * around
    else:
        middle = float(np.median(finite))
        apart = finite - middle
    spread = float(np.median(np.abs(apart))) * 1.4826 or float(np.std(apart))
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


def usual_value(name: str, unit: Unit = Unit(0.0, 1.0)) -> float:  # noqa: B008
    """In the middle of where searches start."""
    if name in WHOLE:
        return WHOLE[name][0]
    one = searched(name, unit)
    return one.natural(0.5 * (one.first + one.last))


# --- priors --------------------------------------------------------------------------------------------------------------


CENTRAL = 1.959963984540054  # standard deviations either side of the mean that hold 95 %


class Prior(NamedTuple):
    """Normal on the real line, one mean and standard deviation per free parameter (of the scales in `parameters`)."""

    mean: np.ndarray
    sd: np.ndarray

    def log_density(self, x: np.ndarray) -> float:
        return float(np.sum(-0.5 * ((x - self.mean) / self.sd) ** 2 - np.log(self.sd) - 0.5 * np.log(2.0 * np.pi)))


AnyPrior = Callable[[Sequence[Searched]], Prior] | Prior | None


def weak(free: Sequence[Searched]) -> Prior:
    """Where nothing is known but what is usual."""
    first, last = np.array([one.first for one in free]), np.array([one.last for one in free])
    return Prior(0.5 * (first + last), 0.5 * np.abs(last - first))


@dataclasses.dataclass(frozen=True)
class Stated:
    """A prior by the ranges that hold 95 % of it."""

    ranges: Mapping[str, tuple[float, float]]

    def __call__(self, free: Sequence[Searched]) -> Prior:
        mean, sd = weak(free)
        for i, one in enumerate(free):
            if one.name in self.ranges:
                low, high = (one.to_line(end) for end in self.ranges[one.name])
                mean[i], sd[i] = 0.5 * (low + high), 0.5 * abs(high - low) / CENTRAL
        return Prior(mean, sd)


def parse_priors(texts: Sequence[str]) -> Stated:
    """From texts such as p_c=0.01:0.5."""
    ranges = {}
    for text in texts:
        name, _, ends = text.partition("=")
        low, colon, high = ends.partition(":")
        try:
            ranges[name.strip()] = (float(low), float(high))
        except ValueError:
            colon = ""
        if not colon or not ranges[name.strip()][0] < ranges[name.strip()][1]:
            raise ValueError(f"prior {text!r} is not accepted; write NAME=LOW:HIGH, the range that holds 95 % of it")
        _check_ends(text, name.strip(), ranges[name.strip()])
    return Stated(ranges)


def _check_ends(text: str, name: str, ends: tuple[float, float]) -> None:
    scale = RANGES[name].scale if name in RANGES else LINEAR
    top = 1.0 if scale is LOGIT else np.inf
    if scale is not LINEAR and not (ends[0] > 0.0 and ends[1] < top):
        between = "between 0 and 1, both left out" if scale is LOGIT else "above 0"
        raise ValueError(f"prior {text!r} is not accepted; {name} lies {between}")


def resolved(prior: AnyPrior, free: Sequence[Searched]) -> Prior | None:
    return prior(free) if callable(prior) else prior
