"""What a set of trials could tell, whatever its indicator shows: the minimum for a test, its power, and how much more it takes.

All of it comes from the trials' design (which trials are in which windows, and what a learner believes about them) and none from
the indicator's values. So a verdict that is withheld for want of data is not a choice among results.

The power is for an indicator that is the measure plus noise of the measure's own standard deviation within people, over the
trials in the windows: what `volatilis design --noise 1` simulates for prediction 1. More noise, or people who differ in the
strength of the effect, need more data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from volatilis.predictions.pooling import Pooled

# What a test needs: people with a value, degrees of freedom of its error, and trials beyond the levels and coefficients. With
# fewer its error is not known, and Satterthwaite's approximation fails
LEAST_PEOPLE, LEAST_FREEDOM, LEAST_SPARE = 3, 2.0, 5
ENOUGH = 0.8  # power
CERTAIN = 30.0  # standard errors: an effect that is always seen
MOST = 100.0  # times the present data


class Need(NamedTuple):
    """How much data one quantity takes, all else being as it is; None: more of that alone does not help.

    people    like these, with as many trials each
    trials    for each of these people
    minimum   whether the numbers are only those that make a test possible: from so few trials its power cannot be foreseen
    """

    quantity: str
    people: int | None
    trials: int | None
    minimum: bool = False


def can_be_tested(pooled: Pooled, people: int) -> bool:
    """Whether the effect has enough people, trials and degrees of freedom for a test."""
    return people >= LEAST_PEOPLE and pooled.freedom >= LEAST_FREEDOM and pooled.spare >= LEAST_SPARE


def power(pooled: Pooled, measure: str, level: float, times: float = 1.0, freedom: float | None = None) -> float:
    """Of the two-sided test, for an indicator that reflects the measure with as much noise; NaN where that is not known.

    times     as many trials in all
    freedom   the degrees of freedom that they have; None: the present ones
    """
    from scipy import special

    if measure not in pooled.expected or not pooled.per_noise > 0.0:
        return math.nan
    freedom = pooled.freedom if freedom is None else freedom
    expected = abs(pooled.expected[measure]) / pooled.per_noise * math.sqrt(times)
    return 1.0 - float(special.nctdtr(freedom, min(expected, CERTAIN), special.stdtrit(freedom, 0.5 + 0.5 * level)))


def need(
    pooled: Pooled, quantity: str, measure: str, usable: np.ndarray, with_value: int, trials: Sequence[int], level: float
) -> Need:
    """How many people, or trials each, have a power of 80 %.

    usable       trials of each person in the windows
    with_value   people with a value
    trials       of everybody, in the windows or not
    """
    present, total, within = len(trials), int(usable.sum()), int(np.maximum(usable - 1, 0).sum())
    coefficients = within - pooled.spare
    foreseen = pooled.freedom > 0.0 and pooled.spare > 0 and power(pooled, measure, level) > 0.0

    def enough(more_people: float, more_trials: float) -> bool:
        times, everybody = more_people * more_trials, present * more_people
        one_each = present if more_trials > 1.0 else total - within  # people with a trial, who each take a level
        spare = total * times - one_each * more_people - coefficients
        freedom = min(pooled.freedom * times if foreseen else 0.5 * spare, everybody - 1.0)
        people = min(max(with_value, 1) * times, everybody)
        if people < LEAST_PEOPLE or freedom < LEAST_FREEDOM or spare < LEAST_SPARE:
            return False
        return not foreseen or power(pooled, measure, level, times, freedom) >= ENOUGH

    of_people, of_trials = _first(lambda times: enough(times, 1.0)), _first(lambda times: enough(1.0, times))
    return Need(
        quantity,
        None if of_people is None else math.ceil(present * of_people),
        None if of_trials is None else rounded(float(np.mean(trials)) * of_trials),
        not foreseen,
    )


def _first(enough: Callable[[float], bool]) -> float | None:
    """The smallest number of times the present data, to 1 %, that is enough; None beyond MOST. More is never worse."""
    low, high = 1.0, MOST
    if enough(low):
        return low
    if not enough(high):
        return None
    while high > 1.01 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def rounded(number: float) -> int:
    """Up, to two digits: an estimate has no more."""
    digit = 10 ** max(math.floor(math.log10(number)) - 1, 0)
    return math.ceil(number / digit) * digit


def sentence(needs: Sequence[Need], people: int) -> str:
    """In words, the largest of several needs."""
    of_people, of_trials = [one.people for one in needs], [one.trials for one in needs]
    about = "more than" if any(one.minimum for one in needs) else "about"
    ways = []
    if None not in of_people:
        most = rounded(max(number for number in of_people if number is not None))
        ways.append(f"{about} {most:,} people like these {people}")
    if None not in of_trials:
        ways.append(f"{about} {max(number for number in of_trials if number is not None):,} trials each")
    return "; or ".join(ways) or f"more than {MOST:g} times these data: better another task (volatilis design)"
