"""Unknown parameters as coordinates in which data of any unit look alike, and weak priors in them.

A positive parameter is counted in logarithms from what the data suggest (`family.plausible`), a location in units of the data's
spread from there, a probability in log-odds. Multiply the data by anything, and only the origin moves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from volatilis._core.records import LINEAR, LOG, LOGIT, Range
from volatilis.families._observations import level_and_spread
from volatilis.learners._base import Learner
from volatilis.learners._grids import FieldPath, parameter_places, value_of, with_values
from volatilis.learners.merge import Merge
from volatilis.learners.message_passing import MessagePassing

FARTHEST = {LOG.name: 14.0, LINEAR.name: 20.0, LOGIT.name: 0.0}
LOWEST_P, HIGHEST_P = 1e-8, 1.0 - 1e-3
STEADY = 5.0  # times the spread that the prior has: more is growth
FEW_FAR = 3.0  # times as large as without its outermost hundredth: then a standard deviation tells of few numbers
NARROWEST = {"spread": 0.5}  # outliers lie wider than what is expected: narrower ones would be numbers that come twice
FEW = 4  # hypotheses that find roughly where the evidence is highest
P_C_PRIOR = (math.log(0.03 / 0.97), 2.5)
PRIOR_SD = {LOG.name: 2.0, LINEAR.name: 2.0}


class Coordinate(NamedTuple):
    """One unknown parameter: its value is back(origin + unit * u)."""

    name: str
    scale: str
    origin: float
    unit: float
    low: float
    high: float
    prior_mean: float
    prior_sd: float

    def natural(self, u: float) -> float:
        """The parameter's value."""
        x = self.origin + self.unit * u
        if self.scale == LINEAR.name:
            return x
        if self.scale == LOG.name:
            return math.exp(min(max(x, -690.0), 690.0))
        return 1.0 / (1.0 + math.exp(-x))

    def slope(self, u: float) -> float:
        """d value / d u."""
        value = self.natural(u)
        factor = {LINEAR.name: 1.0, LOG.name: value}.get(self.scale, value * (1.0 - value))
        return self.unit * factor

    def of(self, value: float) -> float:
        """u of a value."""
        x = value if self.scale == LINEAR.name else math.log(value) if self.scale == LOG.name else math.log(value / (1 - value))
        return (x - self.origin) / self.unit

    def prior_text(self) -> str:
        """The weak prior, in words."""
        middle = self.natural(self.prior_mean)
        low, high = (self.natural(self.prior_mean + sign * 1.96 * self.prior_sd) for sign in (-1, 1))
        kind = {LINEAR.name: "normal", LOG.name: "log-normal"}.get(self.scale, "logit-normal")
        return f"{self.name}: {kind}, median {middle:.3g}, 95 % from {low:.3g} to {high:.3g}"


def coordinates_of(template: Learner, names: Sequence[str], spread: float) -> tuple[Coordinate, ...]:
    """Of these parameters of a learner or its family, whose own values are what the data suggest."""
    places = parameter_places(template)
    return tuple(_coordinate(places[name], name, value_of(template, name), spread) for name in names)


def scale_name(place: FieldPath) -> str | None:
    """On which scale a parameter is searched: its record's, or what its rule allows; None where it is no number to search."""
    search, words = place.parameter.search, place.rule.words
    if isinstance(search, Range):
        return search.scale.name
    if words.startswith("a finite number above 0") or words.startswith("a number above 0, at most"):
        return LOG.name
    if words.startswith("a number above 0 and below 1"):
        return LOGIT.name
    return LINEAR.name if words == "a finite number" else None


def _coordinate(place: FieldPath, name: str, value: float, spread: float) -> Coordinate:
    scale = scale_name(place)
    if scale == LOGIT.name:
        low, high = (math.log(p / (1.0 - p)) for p in (LOWEST_P, HIGHEST_P))
        return Coordinate(name, scale, 0.0, 1.0, low, high, *P_C_PRIOR)
    if scale == LINEAR.name:
        return Coordinate(name, scale, value, spread, -FARTHEST[scale], FARTHEST[scale], 0.0, PRIOR_SD[scale])
    if scale != LOG.name:
        raise ValueError(f"{name} cannot be estimated: it must be {place.rule.words}; give its value")
    origin = math.log(value) if value > 0.0 else math.log(0.3)  # a concentration of 0 has no logarithm
    low = math.log(NARROWEST[name]) - origin if name in NARROWEST else -FARTHEST[scale]
    return Coordinate(name, scale, origin, 1.0, low, FARTHEST[scale], 0.0, PRIOR_SD[scale])


class Point(NamedTuple):
    """Where a search stands, and the environment there."""

    coordinates: tuple[Coordinate, ...]
    template: Learner

    def learner(self, u: np.ndarray) -> Learner | None:
        """None where rounding took a parameter out of its range."""
        try:
            return with_values(self.template, self.values(u))
        except (ValueError, OverflowError):
            return None

    def roughly(self) -> Point:
        """With fewer hypotheses, where the learner merges or drops them: nearly the same evidence at a fraction of the cost."""
        several = isinstance(self.template, (Merge, MessagePassing)) and self.template.n > 4 * FEW
        return self._replace(template=self.template._replace(n=self.template.n // 4)) if several else self  # type: ignore[attr-defined]

    def values(self, u: np.ndarray) -> dict[str, float]:
        return {one.name: one.natural(x) for one, x in zip(self.coordinates, u.tolist(), strict=True)}

    def log_prior(self, u: np.ndarray) -> float:
        """But for a constant: 0 at the priors' middle."""
        return -0.5 * sum(((x - c.prior_mean) / c.prior_sd) ** 2 for c, x in zip(self.coordinates, u.tolist(), strict=True))


def unit_of(template: Learner, spread: float) -> float:
    """The unit of locations: the data's spread, but where a series grew without end for a while that of its prior."""
    if not template.family.memory_size() or not {"kappa_0", "alpha_0", "beta_0"} <= set(parameter_places(template)):
        return spread
    kappa_0, alpha_0, beta_0 = (value_of(template, name) for name in ("kappa_0", "alpha_0", "beta_0"))
    return min(spread, STEADY * math.sqrt(beta_0 / max(alpha_0 - 1.0, 0.1) / kappa_0)) if kappa_0 > 0.0 else spread


def spread_of(sequences: Sequence[np.ndarray]) -> float:
    """The standard deviation of all observations, the unit of locations; 1 where that means nothing.

    A few numbers far away, which would make all others look alike, do not count.
    """
    values = np.concatenate([np.ravel(np.asarray(one, dtype=float)) for one in sequences])
    values = values[~np.isnan(values)]
    inner = level_and_spread(values)[1] if values.size else 0.0
    spread = float(np.std(values)) if values.size else 0.0
    return (min(spread, FEW_FAR * inner) if inner > 0.0 else spread) or 1.0
