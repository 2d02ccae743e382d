"""Do the probabilities of a family of one's own sum to one? A forgotten factor is seen in no estimate, but in every surprise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from volatilis.families._base import Beliefs, Family, prior_beliefs

TOLERANCE = 0.03  # a sum from 0.97 to 1.03 is one
ABSORBED = (0, 3, 30)  # observations after which it is looked at: a wrong normaliser may be right for the prior alone
MOST_COUNTS, BLOCK, LEFT = 2_000, 100, 2e-4  # whole numbers that are added up, so many at a time, until so little is added
REACH, STEP = 18.0, 0.02  # of real numbers: middle + spread sinh(t), |t| at most 18, so that heavy tails are in
RESOLVED = 6  # numbers within half of the highest density: fewer, and its peak lies between them


def improper(family: Family, values: np.ndarray) -> str | None:
    """What is wrong with the predictive probabilities of a user's own family of single numbers; None where nothing can be said.

    values   observations, as the family encodes them
    """
    if type(family).__module__.partition(".")[0] == "volatilis" or np.ndim(values) != 1 or not len(values):
        return None
    if family.coordinates() != 1 or family.memory_size() or family.context_width():
        return None
    with np.errstate(all="ignore"):
        for beliefs, count in _beliefs(family, values):
            total = _total(family, beliefs, values)
            if total is not None and abs(total - 1.0) > TOLERANCE:
                when = f"after {count} observations" if count else "under its prior"
                return (
                    f"the probabilities that {type(family).__name__} gives to what comes next sum to {total:.3g} {when}, not to "
                    "1, so that surprises and evidence are wrong: check its log_normalizer and log_base_measure (or its "
                    "log_predictive), and the prior that they stand for"
                )
    return None


def _beliefs(family: Family, values: np.ndarray) -> Iterator[tuple[Beliefs, int]]:
    beliefs, absorbed = prior_beliefs(family), 0
    for count in ABSORBED:
        for y in values[absorbed:count]:
            family.absorb(beliefs, 0, y.item())
        absorbed = min(count, len(values))
        if count <= len(values):
            yield beliefs, count


def _total(family: Family, beliefs: Beliefs, values: np.ndarray) -> float | None:
    """Whole numbers in a family of real ones may be counts, or rounded: what is right for one of the two is right."""
    if values.dtype.kind in "iu":
        return _sum_of_counts(family, beliefs)
    if np.all(values == np.floor(values)):
        total = _sum_of_counts(family, beliefs)
        if total is None or abs(total - 1.0) <= TOLERANCE:
            return total
    return _integral(family, beliefs, values)


def _density(family: Family, beliefs: Beliefs) -> Callable[[Any], float]:
    """Of one number; 0 where the family does not take it, and where it cannot tell."""

    def density(y: Any) -> float:
        try:
            family.observations([y])
            value = float(np.exp(family.log_predictive(beliefs, 0, y)))
        except (ValueError, TypeError, ArithmeticError):
            return 0.0
        return value if value == value else 0.0

    return density


def _sum_of_counts(family: Family, beliefs: Beliefs) -> float | None:
    density, k, total = _density(family, beliefs), family.categories(), 0.0
    if k is not None:
        return sum(density(y) for y in range(k))
    for sign in (1, -1):
        for first in range(0 if sign > 0 else 1, MOST_COUNTS, BLOCK):
            more = sum(density(sign * y) for y in range(first, first + BLOCK))
            total += more
            if more < LEFT and (total > 0.5 or sign < 0):
                break
        else:
            return None  # tails that are too heavy to add up
    return total


def _integral(family: Family, beliefs: Beliefs, values: np.ndarray) -> float | None:
    """None where the grid does not resolve the peak, or tails reach beyond it."""
    middle = float(np.median(values))
    spread = float(np.median(np.abs(values - middle))) or abs(middle) or 1.0
    t = np.arange(-REACH, REACH, STEP)
    places, density = middle + spread * np.sinh(t), _density(family, beliefs)
    p = np.array([density(float(y)) for y in places])
    if np.count_nonzero(np.isinf(p)) > 1:
        return np.inf
    per_step = np.where(np.isinf(p), 0.0, p) * spread * np.cosh(t)
    total, resolved = float(per_step.sum() * STEP), np.count_nonzero(p > 0.5 * p.max()) >= RESOLVED
    ends = max(per_step[0], per_step[-1]) < 0.1 * TOLERANCE
    return total if resolved and (ends or total > 1.0) else None
