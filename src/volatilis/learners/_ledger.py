"""Which recent changes are in which hypothesis, where hypotheses merge and each change is in one of them.

Neighbours merge, so the changes of a hypothesis are neighbours too: it is known by the first of them. The sum of its shares is
kept, so that a step costs the same whatever w is, but for the changes of the two that merge. The numbers:

    n, w, how many changes were noted, the oldest that counts, its hypothesis, how many hypotheses are known, the room for changes
    per hypothesis the number of its first change; per hypothesis the sum of its shares
    per change its share of its hypothesis' weight; per change its stamp, n before its first observation

Loops that take eight at a time may run on into the padding behind hypotheses.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from volatilis._compiler.registry import compiled_function
from volatilis.families._base import in_eights
from volatilis.learners._recent_kept import HEAD, NOTED, Ledger, N, W

OLD, HOLDER, KNOWN, ROOM, FIRSTS = range(HEAD, HEAD + 5)  # where hypotheses merge
PADDING = SPARE = 8
Hypotheses = Any  # of _hypotheses, which imports this


def ledger(within: int, capacity: int) -> Ledger:
    """For a state with room for so many hypotheses.

    There is room for two changes for each observation (one in a gap whose hypothesis was merged at once, and one after it), and
    for more, so that those that count are seldom moved together.
    """
    room = 2 * within + within // 2 + SPARE
    head = [0.0, float(within), 0.0, 0.0, 0.0, 1.0, float(room)]
    return Ledger(np.concatenate([head, np.zeros(2 * (capacity + PADDING + room))]))


def check_ledger(read: np.ndarray, live: np.ndarray, capacity: int) -> bool:
    """Whether what was read, one state per row, is about so many live hypotheses: compiled code trusts it."""
    room, sums = int(read[0, ROOM]), FIRSTS + capacity + PADDING
    noted, old, holder, known = (read[:, [k]] for k in (NOTED, OLD, HOLDER, KNOWN))
    in_use, firsts = np.arange(capacity) < live[:, None], read[:, FIRSTS : FIRSTS + capacity]
    in_order = (np.diff(firsts, axis=1) >= 0.0) | ~in_use[:, 1:]
    good = (firsts == np.floor(firsts)) & (firsts >= 0.0) & (firsts <= noted) | ~in_use
    head = (old <= noted) & (noted <= room) & (holder < live[:, None]) & (known == live[:, None])
    stamps = read[:, FIRSTS + 2 * (capacity + PADDING) + room :]
    possible = stamps_are_possible(stamps[:, :room], old, noted, read[:, [N]], 2)
    return bool(good.all() and in_order.all() and head.all() and (read[:, sums:] >= 0.0).all() and possible)


def stamps_are_possible(stamps: np.ndarray, old: np.ndarray, noted: np.ndarray, seen: np.ndarray, most: int) -> bool:
    """Whether the changes that count came in order, not later than now, and not more at one place: else room would run out."""
    places = np.arange(stamps.shape[1])
    counts = (places >= old) & (places < noted)
    whole = (stamps == np.floor(stamps)) & (stamps >= 0.0) & (stamps <= seen) | ~counts
    apart = (stamps[:, most:] > stamps[:, :-most]) | ~(counts[:, most:] & counts[:, :-most])
    in_order = (np.diff(stamps, axis=1) >= 0.0) | ~(counts[:, 1:] & counts[:, :-1])
    return bool(whole.all() and apart.all() and in_order.all())


@compiled_function
def sums_of(state: Hypotheses) -> int:
    """Where the sums of shares begin."""
    return FIRSTS + state.weights.size + PADDING


@compiled_function
def room_of(state: Hypotheses) -> int:
    """How many changes there is room for."""
    return int(state.recent.numbers[ROOM])


@compiled_function
def shares_of(state: Hypotheses) -> int:
    """Where the shares of changes begin; their stamps begin `room_of` later."""
    return FIRSTS + 2 * (state.weights.size + PADDING)


@compiled_function
def end_of(state: Hypotheses, i: int) -> int:
    """The number after the last change of hypothesis i."""
    return int(state.recent.numbers[NOTED] if i + 1 >= state.count[0] else state.recent.numbers[FIRSTS + i + 1])


@compiled_function
def note_newest(state: Hypotheses) -> None:
    """The newest hypothesis of a state whose hypotheses merge: a change, unless it was noted before."""
    recent, count = state.recent.numbers, state.count[0]
    shares, room = shares_of(state), room_of(state)
    if count > recent[KNOWN]:
        recent[FIRSTS + count - 1] = recent[NOTED]
        if recent[NOTED] >= room:
            make_room(state)
        new = int(recent[NOTED])
        recent[sums_of(state) + count - 1] = 1.0
        recent[shares + new] = 1.0
        recent[shares + room + new] = recent[N] - state.run_lengths[count - 1]
        recent[NOTED] += 1.0
        recent[KNOWN] = count
    while recent[OLD] < recent[NOTED] and recent[shares + room + int(recent[OLD])] < recent[N] - recent[W]:
        leave_out_oldest(state)


@compiled_function
def leave_out_oldest(state: Hypotheses) -> None:
    """The oldest change does not count any more."""
    recent, old, i = state.recent.numbers, int(state.recent.numbers[OLD]), int(state.recent.numbers[HOLDER])
    while i + 1 < state.count[0] and recent[FIRSTS + i + 1] <= recent[OLD]:
        i += 1
    place = sums_of(state) + i
    rest = max(recent[place] - recent[shares_of(state) + old], 0.0)
    recent[place] = rest if end_of(state, i) > old + 1 else 0.0
    recent[HOLDER] = i
    recent[OLD] += 1.0


@compiled_function
def make_room(state: Hypotheses) -> None:
    """The changes that count go to the front. Their sums anew: what was taken off them leaves rounding errors."""
    recent, old, count = state.recent.numbers, int(state.recent.numbers[OLD]), state.count[0]
    shares, room, sums = shares_of(state), room_of(state), sums_of(state)
    counted = int(recent[NOTED]) - old
    for e in range(shares, shares + counted):
        recent[e] = recent[e + old]
        recent[e + room] = recent[e + old + room]
    recent[NOTED] = counted
    recent[OLD] = 0.0
    for i in range(count):
        recent[FIRSTS + i] = max(recent[FIRSTS + i] - old, 0.0)
    for i in range(count):
        recent[sums + i] = 0.0
        for e in range(int(recent[FIRSTS + i]), end_of(state, i)):
            recent[sums + i] += recent[shares + e]


@compiled_function
def note_merge(state: Hypotheses, i: int, a: float, b: float) -> None:
    """Hypotheses i and i + 1 become one, to which they bring the shares a and b."""
    recent, count = state.recent.numbers, state.count[0]
    first, middle, end = int(recent[FIRSTS + i]), int(recent[FIRSTS + i + 1]), end_of(state, i + 1)
    scale_shares(state, first, middle, end, a, b)
    sums = sums_of(state)
    recent[sums + i] = a * recent[sums + i] + b * recent[sums + i + 1]
    move_up(recent, FIRSTS, i, count)
    move_up(recent, sums, i, count)
    recent[KNOWN] -= 1.0
    if recent[HOLDER] > i:
        recent[HOLDER] -= 1.0
    if i + 2 == count and middle == end - 1:
        join_newest(state, max(first, int(recent[OLD])))


@compiled_function
def join_newest(state: Hypotheses, first: int) -> None:
    """The newest two changes of a hypothesis whose changes begin with this one: in a gap they are at the same place, and one."""
    recent, last = state.recent.numbers, int(state.recent.numbers[NOTED]) - 1
    newest = shares_of(state) + last
    if last - 1 >= first and recent[newest + room_of(state)] == recent[newest - 1 + room_of(state)]:
        recent[newest - 1] += recent[newest]
        recent[NOTED] -= 1.0


@compiled_function
def move_up(recent: np.ndarray, start: int, i: int, count: int) -> None:
    """Of count numbers from the start on, those after i + 1 move up; eight at a time, into the padding if need be."""
    here = recent[start + i + 1 :]
    for k in range(in_eights(count - i - 2)):
        here[k] = here[k + 1]


@compiled_function
def scale_shares(state: Hypotheses, first: int, middle: int, end: int, a: float, b: float) -> None:
    """Those of changes from the first on by a and from the middle to before the end by b, as far as they count; in eights."""
    first = max(first, int(state.recent.numbers[OLD]))
    shares = state.recent.numbers[shares_of(state) + first :]
    for e in range(in_eights(max(end - first, 0))):
        shares[e] *= a if e < middle - first else (b if e < end - first else 1.0)


@compiled_function
def note_drop(state: Hypotheses, threshold: float) -> None:
    """Hypotheses lighter than the threshold go; their changes are left to those before them, with no share."""
    recent, count, kept = state.recent.numbers, state.count[0], 0
    sums = sums_of(state)
    for i in range(count):
        if state.weights[i] < threshold:
            scale_shares(state, int(recent[FIRSTS + i]), end_of(state, i), end_of(state, i), 0.0, 0.0)
    for i in range(count):
        if state.weights[i] >= threshold:
            recent[FIRSTS + kept] = recent[FIRSTS + i]
            recent[sums + kept] = recent[sums + i]
            kept += 1
    recent[KNOWN] = kept
    recent[HOLDER] = 0.0
