"""A sensor that sticks: numbers that vary, and then one number many times in a row."""

from __future__ import annotations

import numpy as np

from volatilis.estimation import laws
from volatilis.estimation.models import Sequences
from volatilis.estimation.remedies import NO_PARAMETERS, Misfit
from volatilis.families._base import Family

LEAST = 10  # in a row, and
OTHERS = 30  # numbers beside them that say how often neighbours are equal, as they are where numbers are rounded
COARSE = 0.1  # if more of the others are equal, numbers are so coarse that a calm hour looks like this


def stuck(family: Family, data: Sequences, alpha: float) -> Misfit | None:
    """One number so many times in a row as rounding makes it with a probability below alpha.

    Rounded numbers repeat themselves too: as often as those outside of the longest row do, so that a row of L begins at one of n
    observations with probability n r^(L - 1) at most.
    """
    accepted = family.accepted_numbers()
    observed = data.observed()
    if accepted is None or accepted.whole or observed[0].ndim > 1:
        return None
    length, value = max((_longest(values) for values in observed), default=(0, 0.0))
    pairs = sum(max(len(values) - 1, 0) for values in observed)
    total, others = sum(map(len, observed)), pairs - length
    if total >= OTHERS and all((values == value).all() for values in observed):
        remedy = f"{NO_PARAMETERS}; nothing varies: look at the sensor, or whether this is the right column"
        return Misfit(laws.STUCK, f"all {total:,} observations are exactly {value:g}", remedy, float(total), 1.0, 0.0)
    if length < LEAST or others < OTHERS:
        return None
    repeats = sum(int((values[1:] == values[:-1]).sum()) for values in observed) - (length - 1)
    share = (repeats + 1.0) / (others + 2.0)
    p_value = min(1.0, pairs * share ** (length - 1))
    if share > COARSE or p_value >= alpha:
        return None
    words = (
        f"{length:,} observations in a row are exactly {value:g}, where {100.0 * repeats / others:.2g} % of the others equal the "
        "one before"
    )
    remedy = f"{NO_PARAMETERS}; if a sensor stuck there, or gaps were filled with the last number, take these as missing"
    return Misfit(laws.STUCK, words, remedy, float(length), 1.0, p_value)


def _longest(values: np.ndarray) -> tuple[int, float]:
    """The longest row of equal numbers, and the number."""
    if not len(values):
        return 0, 0.0
    begins = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    lengths = np.diff(np.append(begins, len(values)))
    place = int(np.argmax(lengths))
    return int(lengths[place]), float(values[begins[place]])
