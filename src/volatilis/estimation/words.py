"""What the data cannot tell about an environment, in plain words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from volatilis.estimation.coordinates import Point
from volatilis.estimation.evidence import Evidence
from volatilis.estimation.search import DROP, STEEP, Peak
from volatilis.families import AutoRegression, Contaminated, Given
from volatilis.families._regression import far_for_noise

TOGETHER = 0.97  # a correlation that leaves only a combination of two known
PRIOR_SHARE = 0.75  # of a prior's standard deviation: an error above it comes from the prior
OFTEN = 0.5


def notes_of(point: Point, peak: Peak, evidence: Evidence, method: str) -> Iterator[str]:
    names = [one.name for one in point.coordinates]
    changes = "p_c" in names
    no_change = _without_change(point, peak, evidence) if changes else None
    if no_change is not None:
        yield no_change
    elif changes and point.values(peak.u)["p_c"] > OFTEN and not list(warnings_of(point, peak)):
        yield _often(point, peak)
    yield from _poorly_known(point, peak, method)
    yield from _together(names, peak)


def warnings_of(point: Point, peak: Peak) -> Iterator[str]:
    """Where even the lower end of p_c's interval is more than every second observation."""
    for i, one in enumerate(point.coordinates):
        if one.name == "p_c" and one.natural(float(peak.low[i])) > OFTEN:
            yield f"changes: {_often(point, peak)}"


def without_digits(family: Any, sequences: Sequence[np.ndarray]) -> Iterator[str]:
    """Where an autoregression grew so far that its noise is rounded away: then no estimate is right."""
    while isinstance(family, (Contaminated, Given)):
        family = family.family
    values = [one for one in sequences if one.dtype.kind == "f" and one.ndim == 1]
    if not isinstance(family, AutoRegression) or not values:
        return
    noise, most = far_for_noise(values, family.order)
    largest = max(float(np.abs(one).max(initial=0.0)) for one in values)
    if largest > most:
        yield (
            f"growth: observations reach {largest:.3g}, where neighbouring numbers are {np.spacing(largest):.2g} apart, while "
            f"the noise is about {noise:.2g}: it is rounded away, and the estimates are not right. Take observations beyond "
            f"{10.0 ** math.floor(math.log10(most)):g} as missing, or leave out the stretches that grow without end"
        )


def _often(point: Point, peak: Peak) -> str:
    return (
        f"p_c = {point.values(peak.u)['p_c']:.2g}: a change at more than every second observation, so that one says little "
        "about the next; rather a sign that the family is wrong (outliers, autocorrelation, noise of another form: take "
        "logarithms of positive numbers that are skewed) than of a volatile environment"
    )


def _without_change(point: Point, peak: Peak, evidence: Evidence) -> str | None:
    """Where the evidence without any change is as good: how large p_c may be."""
    i, seen = [one.name for one in point.coordinates].index("p_c"), f"{evidence.data.observations:,} observations"
    without, best = evidence.of([_with(peak.u, i, point.coordinates[i].low), peak.u])
    if best - without > DROP:
        return None
    bound = _bound(point, peak.u, i, evidence)
    if bound < OFTEN:
        return f"no change in {seen}: p_c is below {_rounded_up(bound)}"
    bound = _bound(point, np.zeros(peak.u.size), i, evidence)  # with what the data suggested at first: changes as large as noise
    if bound < OFTEN:
        return (
            f"no change is visible in {seen}: changes as large as the noise, or larger, come with p_c below "
            f"{_rounded_up(bound)}; p_c of smaller ones cannot be known"
        )
    return f"{seen} do not tell changes from noise: p_c cannot be known"


def _bound(point: Point, u: np.ndarray, i: int, evidence: Evidence) -> float:
    """The p_c, all else as it is, at which the evidence is a twentieth of that without a change."""
    low, high = point.coordinates[i].low, point.coordinates[i].high
    base = float(evidence.of([_with(u, i, low)])[0])
    while high - low > 1e-3:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if float(evidence.of([_with(u, i, middle)])[0]) > base - STEEP else (low, middle)
    return point.coordinates[i].natural(high)


def _with(u: np.ndarray, i: int, value: float) -> np.ndarray:
    moved = u.copy()
    moved[i] = value
    return moved


def _rounded_up(value: float) -> str:
    """Two digits, never less."""
    power = 10.0 ** (math.floor(math.log10(value)) - 1)
    return f"{math.ceil(value / power - 1e-9) * power:.2g}"


def _poorly_known(point: Point, peak: Peak, method: str) -> Iterator[str]:
    for i, one in enumerate(point.coordinates):
        if peak.at_end[i] and one.name != "p_c":
            yield f"{one.name} is not identified: the evidence still rises where the search ends, at {one.natural(peak.u[i]):.3g}"
        elif method == "map" and peak.covariance[i, i] > (PRIOR_SHARE * one.prior_sd) ** 2:
            yield f"{one.name} is not identified: the data say next to nothing about it, and this value is the prior's"
        elif not np.isfinite(peak.covariance[i, i]) and not peak.at_end[i]:
            yield f"{one.name} has no standard error: the evidence does not fall off like a parabola there; use the interval"


def _together(names: list[str], peak: Peak) -> Iterator[str]:
    deviations = np.sqrt(np.diag(peak.covariance))
    for i in range(len(names)):
        for j in range(i):
            correlation = peak.covariance[i, j] / (deviations[i] * deviations[j])
            if abs(correlation) > TOGETHER:
                yield (
                    f"{names[j]} and {names[i]} cannot be told apart (correlation {correlation:.3f}): only a combination of them "
                    "is known; fix one of them"
                )
