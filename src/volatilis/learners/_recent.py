"""How probable it is that a change lies within the newest w observations: what a state keeps for that, and how it is read.

    P(a change within the newest w) = sum of w_i over the hypotheses i that began at a change, with a run length of at most w

The start of a sequence is no change: it is the hypothesis whose run length is the number n of observations since the start. So a
state that is asked keeps n. A merged hypothesis has no single run length. Its parts share every later likelihood, so their
shares of its weight stay as they are: where hypotheses merge, each change among the newest w is kept with its share of its
hypothesis' weight. Neighbours merge, so the changes of a hypothesis are neighbours too: it is known by the first of them. And the
sum of its shares is kept, so that a step costs the same whatever w is, but for the changes of the two that merge.

`state.recent` is one flat array, empty where nobody asks: n, w, how many changes were noted; then, where hypotheses merge, the
number of the oldest change that counts, room for the shares and the stamps of changes, in turn by their numbers, and per
hypothesis the number of its first change (-1: not there) and the sum of its shares. The stamp is n before a change's first
observation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from volatilis._compiler.registry import compiled_function
from volatilis.special import total

N, W, NOTED, HEAD = range(4)
OLD, ROOM, SHARES = HEAD, HEAD + 1, HEAD + 2  # where hypotheses merge; the room is a power of 2
SPARE = 8  # changes in a gap whose hypothesis was merged at once have a place of their own
FAINT = 0.05  # below this probability no time is estimated
LEVELS = (0.5, 0.05, 0.95)  # of the time of a recent change: its median and a 90 % interval
NO_RECENT = np.zeros(0)
Hypotheses = Any  # of _hypotheses, which imports this


def kept_recent(recent: np.ndarray) -> dict[str, np.ndarray]:
    """Among what must be kept, if there is any."""
    return {"recent": recent} if recent.size else {}


def counter(within: int) -> np.ndarray:
    """For hypotheses that each have one run length."""
    return np.array([0.0, float(within), 0.0])


def ledger(within: int, most: int) -> np.ndarray:
    """For hypotheses that merge, of which there are so many at most."""
    firsts, room = np.append(0.0, np.full(most + 1, -1.0)), 1 << (within + SPARE - 1).bit_length()
    return np.concatenate([counter(within), [0.0, float(room)], np.zeros(2 * room), firsts, np.zeros(most + 2)])


def check_recent(example: np.ndarray, read: np.ndarray, live: np.ndarray) -> None:
    """Of states that were read, one per row: compiled code trusts the places of hypotheses in it."""
    head = read[:, :SHARES] if example.size > HEAD else read
    whole = (head >= 0.0) & (head == np.floor(head)) & (head < 2.0**53)
    if not whole.all() or (head[:, W] != example[W]).any() or (head[:, HEAD + 1 :] != example[HEAD + 1 : SHARES]).any():
        raise ValueError(f"what it keeps for recent_change is not for within={example[W]:.0f}")
    if example.size == HEAD:
        return
    room, most = room_of(example), places_of(example)
    shares, firsts, sums = read[:, SHARES : SHARES + room], read[:, -2 * most : -most], read[:, -most:]
    there = np.arange(most) < live[:, None]
    in_order = (np.diff(firsts, axis=1) >= 0.0) | ~there[:, 1:]
    good = (shares >= 0.0).all() and (sums >= 0.0).all() and in_order.all() and (firsts == np.floor(firsts)).all()
    good = good and (np.where(there, (firsts >= 0.0) & (firsts <= head[:, [NOTED]]), firsts == -1.0)).all()
    counted = head[:, NOTED] - head[:, OLD]
    if not good or not ((counted >= 0.0) & (counted <= room)).all():
        raise ValueError("what it keeps for recent_change is not about its hypotheses")


# --- what a state keeps ---------------------------------------------------------------------------------------------------


@compiled_function
def begin_anew(state: Hypotheses) -> None:
    recent = state.recent
    if recent.size > 0:
        recent[N] = 0.0
        recent[NOTED] = 0.0
    if recent.size > HEAD:
        recent[OLD] = 0.0
        forget_places(recent, 0)
        recent[recent.size - 2 * places_of(recent)] = 0.0


@compiled_function
def count_observation(state: Hypotheses) -> None:
    if state.recent.size > 0:
        state.recent[N] += 1.0


@compiled_function
def room_of(recent: np.ndarray) -> int:
    """How many changes there is room for."""
    return int(recent[ROOM])


@compiled_function
def places_of(recent: np.ndarray) -> int:
    """How many hypotheses there is room for."""
    return (recent.size - SHARES) // 2 - room_of(recent)


@compiled_function
def forget_places(recent: np.ndarray, count: int) -> None:
    """Hypotheses from this one on are not there."""
    most = places_of(recent)
    firsts = recent.size - 2 * most
    for i in range(count, most):
        recent[firsts + i] = -1.0
        recent[firsts + most + i] = 0.0


@compiled_function
def end_of(recent: np.ndarray, i: int, count: int) -> int:
    """The number after the last change of hypothesis i."""
    return int(recent[NOTED] if i + 1 >= count else recent[recent.size - 2 * places_of(recent) + i + 1])


@compiled_function
def note_newest(state: Hypotheses) -> None:
    """The newest hypothesis of a state whose hypotheses merge: a change, unless it is the start or was noted before."""
    recent, newest = state.recent, state.count[0] - 1
    if recent.size <= HEAD:
        return
    room, most = room_of(recent), places_of(recent)
    first, stamp = recent.size - 2 * most + newest, recent[N] - state.run_lengths[newest]
    is_new = recent[first] < 0.0
    if is_new:
        recent[first] = recent[NOTED]
    count = newest + 1
    while recent[OLD] < recent[NOTED] and recent[SHARES + room + (int(recent[OLD]) & (room - 1))] < recent[N] - recent[W]:
        leave_out_oldest(recent, count)
    if not is_new or stamp <= 0.0:
        return
    if recent[NOTED] - recent[OLD] >= room:
        leave_out_oldest(recent, count)
    slot = int(recent[NOTED]) & (room - 1)
    recent[SHARES + slot], recent[SHARES + room + slot], recent[first + most] = 1.0, stamp, 1.0
    recent[NOTED] += 1.0
    if slot == 0:
        add_up(recent, count)


@compiled_function
def leave_out_oldest(recent: np.ndarray, count: int) -> None:
    """The oldest change does not count any more."""
    old, i = int(recent[OLD]), 0
    while i + 1 < count and end_of(recent, i, count) <= old:
        i += 1
    place = recent.size - places_of(recent) + i
    rest = max(recent[place] - recent[SHARES + (old & (room_of(recent) - 1))], 0.0)
    recent[place] = rest if end_of(recent, i, count) > old + 1 else 0.0
    recent[OLD] += 1.0


@compiled_function
def add_up(recent: np.ndarray, count: int) -> None:
    """The sums anew, now and then: what was taken off them leaves rounding errors."""
    room, sums, i = room_of(recent), recent.size - places_of(recent), 0
    for k in range(count):
        recent[sums + k] = 0.0
    for e in range(int(recent[OLD]), int(recent[NOTED])):
        while i + 1 < count and end_of(recent, i, count) <= e:
            i += 1
        recent[sums + i] += recent[SHARES + (e & (room - 1))]


@compiled_function
def note_merge(state: Hypotheses, i: int, a: float, b: float) -> None:
    """Hypotheses i and i + 1 become one, to which they bring the shares a and b."""
    recent, count = state.recent, state.count[0]
    if recent.size <= HEAD:
        return
    most = places_of(recent)
    firsts = recent.size - 2 * most
    sums, middle = firsts + most, end_of(recent, i, count)
    scale_shares(recent, int(recent[firsts + i]), middle, a)
    scale_shares(recent, middle, end_of(recent, i + 1, count), b)
    recent[sums + i] = a * recent[sums + i] + b * recent[sums + i + 1]
    for k in range(i + 1, count - 1):
        recent[firsts + k] = recent[firsts + k + 1]
        recent[sums + k] = recent[sums + k + 1]
    recent[firsts + count - 1] = -1.0
    recent[sums + count - 1] = 0.0
    if i + 2 == count and middle == int(recent[NOTED]) - 1:
        join_newest(recent, max(int(recent[firsts + i]), int(recent[OLD])))


@compiled_function
def join_newest(recent: np.ndarray, first: int) -> None:
    """The newest two changes of a hypothesis whose changes begin with this one: in a gap they are at the same place, and one."""
    room, last = room_of(recent), int(recent[NOTED]) - 1
    newest, before = SHARES + (last & (room - 1)), SHARES + ((last - 1) & (room - 1))
    if last - 1 >= first and recent[newest + room] == recent[before + room]:
        recent[before] += recent[newest]
        recent[NOTED] -= 1.0


@compiled_function
def scale_shares(recent: np.ndarray, first: int, end: int, factor: float) -> None:
    """Those of changes from the first to before the end, as far as they count; their room is a ring."""
    room, first = room_of(recent), max(first, int(recent[OLD]))
    if first >= end:
        return
    begin = first & (room - 1)
    stop = begin + end - first
    for e in range(SHARES + begin, SHARES + min(stop, room)):
        recent[e] *= factor
    for e in range(SHARES, SHARES + stop - room):
        recent[e] *= factor


@compiled_function
def note_drop(state: Hypotheses, threshold: float) -> None:
    """Hypotheses lighter than the threshold go; their changes are left to those before them, with no share."""
    recent, count, kept = state.recent, state.count[0], 0
    if recent.size <= HEAD:
        return
    most = places_of(recent)
    firsts = recent.size - 2 * most
    for i in range(count):
        if state.weights[i] < threshold:
            scale_shares(recent, int(recent[firsts + i]), end_of(recent, i, count), 0.0)
    for i in range(count):
        if state.weights[i] >= threshold:
            recent[firsts + kept] = recent[firsts + i]
            recent[firsts + most + kept] = recent[firsts + most + i]
            kept += 1
    if kept < count:
        forget_places(recent, kept)


# --- how it is read -------------------------------------------------------------------------------------------------------


@compiled_function
def recent_weight(state: Hypotheses, within: float) -> float:
    """The weight of changes within the newest so many observations, where hypotheses have one run length each."""
    most, n = min(within, state.recent[N] - 1.0), state.count[0]
    for i in range(n):
        state.scratch[i] = state.weights[i] if state.run_lengths[i] <= most else 0.0
    return total(state.scratch, n)


@compiled_function
def recent_share(state: Hypotheses, within: float) -> float:
    """The same where hypotheses merge."""
    recent, count, result = state.recent, state.count[0], 0.0
    room, sums, i = room_of(recent), recent.size - places_of(recent), 0
    if within >= recent[W]:
        for k in range(count):
            result += state.weights[k] * recent[sums + k]
        return result
    for e in range(int(recent[OLD]), int(recent[NOTED])):
        while i + 1 < count and end_of(recent, i, count) <= e:
            i += 1
        if recent[SHARES + room + (e & (room - 1))] >= recent[N] - within:
            result += state.weights[i] * recent[SHARES + (e & (room - 1))]
    return result


@compiled_function
def recent_change(state: Hypotheses, within: float) -> float:
    if state.recent.size > HEAD:
        return min(recent_share(state, within), 1.0)
    return min(recent_weight(state, within), 1.0)


@compiled_function
def read_recent_change(state: Hypotheses) -> float:
    """NaN where the state was not asked to keep what it takes."""
    return recent_change(state, state.recent[W]) if state.recent.size > 0 else np.nan


@compiled_function
def read_onset(state: Hypotheses, level: float) -> float:
    """How many observations there have been since the recent change, the first included: of its law, the quantile at a level.

    By bisection. NaN where a recent change is hardly probable.
    """
    if state.recent.size == 0:
        return np.nan
    low, high = -1.0, state.recent[W]
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
