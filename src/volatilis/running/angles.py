"""Do numbers look like angles that wrap? A jump across nearly all of a circle whose ends meet again within the noise says so."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from volatilis._core.counts import at_least
from volatilis.families._observations import noise_scale

PERIODS = (360.0, 2.0 * math.pi, 180.0, math.pi, 24.0)
NAMES = {360.0: "degrees", 2.0 * math.pi: "radians", 24.0: "hours", 180.0: "orientations in degrees", math.pi: "orientations"}
SECTORS = 12
LEAST = 8  # sectors with a number in them: few changes leave some empty, and a signal of two or three levels fills few
REACH = 0.9  # of the period: from one end of the circle nearly to the other


class Wrapping(NamedTuple):
    """What looks like angles: the period, how many jumps go more than halfway round, how many of these end near their start."""

    period: float
    far: int
    wrapped: int
    p_value: float


def wrapping(sequences: Sequence[np.ndarray]) -> Wrapping | None:
    """The period on which neighbouring numbers would be close that are far apart on a line; None where there is none.

    Of jumps that go more than halfway, between uniform places on a line, a share of 4 w^2 ends within w periods of where a circle
    would close. The test takes 6 w^2 + 1 %, since places may be uneven.
    """
    values = np.concatenate(sequences)
    differences = np.concatenate([np.diff(y) for y in sequences])
    if values.ndim != 1 or values.dtype.kind != "f" or values.size < 30:
        return None
    for period in PERIODS:
        result = _test(differences, period) if _fill(values, period) else None
        if result is not None:
            return result
    return None


def filled(values: np.ndarray) -> float | None:
    """The period of a circle that these numbers nearly fill, such as 360; None where there is none."""
    return next((period for period in PERIODS if values.size and _fill(values, period)), None)


def may_wrap(lowest: float, highest: float) -> bool:
    """Whether numbers from the lowest to the highest reach nearly round a circle, and no further."""
    return any(_starts(lowest, highest, period) for period in PERIODS)


def _starts(lowest: float, highest: float, period: float) -> list[float]:
    """Where a circle may begin that they reach nearly round."""
    starts = [start for start in (0.0, -0.5 * period) if lowest >= start and highest <= start + period]
    return starts if highest - lowest >= REACH * period else []


def _fill(values: np.ndarray, period: float) -> bool:
    starts = _starts(float(values.min()), float(values.max()), period)
    return any(np.unique(_sector(values, start, period)).size >= LEAST for start in starts)


def _sector(values: np.ndarray, start: float, period: float) -> np.ndarray:
    return np.minimum(((values - start) / period * SECTORS).astype(np.int64), SECTORS - 1)


def _test(differences: np.ndarray, period: float) -> Wrapping | None:
    apart = np.abs(differences)
    noise = noise_scale(np.minimum(apart, period - apart))
    near = min(1.5 * math.sqrt(2.0) * noise / period, 0.15)
    far = apart > 0.5 * period
    wrapped = far & (period - apart < near * period)
    p_value = at_least(int(wrapped.sum()), int(far.sum()), min(6.0 * near * near + 0.01, 1.0))
    if wrapped.sum() < 5 or p_value > 1e-3:
        return None
    return Wrapping(period, int(far.sum()), int(wrapped.sum()), p_value)
