"""How probable it is that a change lies within the newest w observations: what a state keeps for that, and how it is read.

    P(a change within the newest w) = sum of w_i over the hypotheses i that began at a change, with a run length of at most w

The start of a sequence is no change: it is the hypothesis whose run length is the number n of observations since the start. So a
state that is asked keeps n. A merged hypothesis has no single run length. Its parts share every later likelihood, so their
shares of its weight stay as they are: where hypotheses merge, each change among the newest w is kept with its share of its
hypothesis' weight, in a `_ledger`, or where observations may be outliers in a `_ledger_of_rows`.

What `state.recent` is, its type says (`_recent_kept`); its numbers are n, w, how many changes were noted; then, where hypotheses
merge, the ledger.
"""

from __future__ import annotations

import numpy as np

from volatilis._compiler.registry import compiled_function, rarely_called
from volatilis.families._base import in_eights
from volatilis.learners._ledger import (
    FIRSTS,
    HOLDER,
    KNOWN,
    OLD,
    ROOM,
    Hypotheses,
    check_ledger,
    end_of,
    room_of,
    shares_of,
    sums_of,
)
from volatilis.learners._ledger_of_rows import check_rows, row_start
from volatilis.learners._recent_kept import HEAD, NOTED, Counter, N, W
from volatilis.special import total

FAINT = 0.05  # below this probability no time is estimated
LEVELS = (0.5, 0.05, 0.95)  # of the time of a recent change: its median and a 90 % interval


def kept_recent(recent: np.ndarray) -> dict[str, np.ndarray]:
    """Among what must be kept, if there is any."""
    return {"recent": recent} if recent.size else {}


def counter(within: int) -> Counter:
    """For hypotheses that each have one run length."""
    return Counter(np.array([0.0, float(within), 0.0]))


def check_recent(example: np.ndarray, read: np.ndarray, live: np.ndarray, capacity: int) -> None:
    """Of states that were read, one per row, with room for so many hypotheses: compiled code trusts the places in it."""
    head, merges = read[:, : min(FIRSTS, read.shape[1])], example.size > HEAD
    rows = merges and example[HOLDER] < 0.0
    fixed = [W, ROOM] if merges else [W]
    numbers = np.delete(head, HOLDER, axis=1) if rows else head
    whole = (numbers >= 0.0) & (numbers == np.floor(numbers)) & (numbers < 2.0**53)
    if not whole.all() or (head[:, fixed] != example[fixed]).any() or (rows and (head[:, HOLDER] != -1.0).any()):
        raise ValueError(f"what it keeps for recent_change is not for within={example[W]:.0f}")
    if merges and not (check_rows if rows else check_ledger)(read, live, capacity):
        raise ValueError("what it keeps for recent_change is not about its hypotheses")


# --- what a state keeps ---------------------------------------------------------------------------------------------------


@compiled_function
def begin_anew(state: Hypotheses) -> None:
    recent = state.recent.numbers
    if state.recent.is_kept():
        recent[N] = 0.0
        recent[NOTED] = 0.0
    if state.recent.has_ledger():
        recent[OLD] = 0.0
        recent[KNOWN] = 1.0
        if not state.recent.in_rows():
            recent[HOLDER] = 0.0
            recent[FIRSTS] = 0.0
        recent[sums_of(state)] = 0.0


@compiled_function
def count_observation(state: Hypotheses) -> None:
    if state.recent.is_kept():
        state.recent.numbers[N] += 1.0


# --- how it is read -------------------------------------------------------------------------------------------------------


@compiled_function
def recent_weight(state: Hypotheses, within: float) -> float:
    """The weight of changes within the newest so many observations, where hypotheses have one run length each."""
    most, n = min(within, state.recent.numbers[N] - 1.0), state.count[0]
    for i in range(n):
        state.scratch[i] = state.weights[i] if state.run_lengths[i] <= most else 0.0
    return total(state.scratch, n)


@compiled_function
def stamp_of(state: Hypotheses, e: int) -> float:
    """How many observations there were before change e."""
    stamps = shares_of(state) + (0 if state.recent.in_rows() else room_of(state))
    return float(state.recent.numbers[stamps + e])


@compiled_function
def weight_of(state: Hypotheses, e: int) -> float:
    """That of change e, where hypotheses merge."""
    weight = 0.0
    if state.recent.in_rows():
        for i in range(state.count[0]):
            weight += state.weights[i] * state.recent.numbers[row_start(state, i) + e]
        return weight
    i = 0
    while end_of(state, i) <= e:
        i += 1
    return float(state.weights[i] * state.recent.numbers[shares_of(state) + e])


@compiled_function
def recent_share(state: Hypotheses, within: float) -> float:
    """The same where hypotheses merge."""
    recent, n, result = state.recent.numbers, in_eights(state.count[0]), 0.0
    if within >= recent[W]:
        sums = recent[sums_of(state) :]
        for i in range(n):  # the weights of those that do not live are 0
            state.scratch[i] = state.weights[i] * sums[i]
        return total(state.scratch, n)
    for e in range(int(recent[OLD]), int(recent[NOTED])):
        if stamp_of(state, e) >= recent[N] - within:
            result += weight_of(state, e)
    return result


@compiled_function
def recent_change(state: Hypotheses, within: float) -> float:
    if state.recent.has_ledger():
        return min(recent_share(state, within), 1.0)
    return min(recent_weight(state, within), 1.0)


@compiled_function
def read_recent_change(state: Hypotheses) -> float:
    """NaN where the state was not asked to keep what it takes."""
    if state.recent.is_kept():
        return recent_change(state, state.recent.numbers[W])
    return np.nan


@rarely_called
def read_onset(state: Hypotheses, level: float) -> float:
    """How many observations there have been since the recent change, the first included: of its law, the quantile at a level.

    By bisection. NaN where a recent change is hardly probable.
    """
    low, high = -1.0, state.recent.numbers[W]
    needed = level * recent_change(state, high)
    if not needed > level * FAINT:
        return np.nan
    while high - low > 1.0:
        middle = low + np.floor((high - low) / 2.0)
        if recent_change(state, middle) >= needed:
            high = middle
        else:
            low = middle
    return high
