"""Priors of free parameters: normal on the real line on which a search moves (the scales in `parameters`).

weak                             one for every parameter: the range where searches start is one standard deviation either side
Stated({"p_c": (0.01, 0.5)})     the range that holds 95 % of the prior, on the parameter's own scale; weak for all others
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from volatilis._core.records import LINEAR, LOGIT
from volatilis.behaviour.fitting.parameters import RANGES, Searched

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
