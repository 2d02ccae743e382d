"""Which recent changes are in which hypothesis, where observations may be outliers and hypotheses merge.

A hypothesis becomes two, "it took y in" and "it did not", with the same changes: so a change is in several hypotheses, and each
has a row of its own with the shares of all changes that count. The numbers:

    those of `_ledger`, but -1 for the hypothesis of the oldest change
    per hypothesis its row (the rows of those that do not live are free); per hypothesis the sum of its shares
    per change its stamp, n before its first observation; then the rows
"""

from __future__ import annotations

import numpy as np

from volatilis._compiler.registry import compiled_function
from volatilis.learners._ledger import (
    FIRSTS,
    KNOWN,
    OLD,
    PADDING,
    ROOM,
    SPARE,
    Hypotheses,
    move_up,
    room_of,
    shares_of,
    stamps_are_possible,
    sums_of,
)
from volatilis.learners._recent_kept import NOTED, LedgerOfRows, N, W


def ledger_of_rows(within: int, capacity: int, most: int) -> LedgerOfRows:
    """For a state with room for so many hypotheses, of which so many live at most."""
    room = within + within // 2 + SPARE
    head = [0.0, float(within), 0.0, 0.0, -1.0, 1.0, float(room)]
    places = np.concatenate([np.arange(float(most)), np.zeros(2 * (capacity + PADDING) - most)])
    return LedgerOfRows(np.concatenate([head, places, np.zeros(room * (1 + most))]))


def check_rows(read: np.ndarray, live: np.ndarray, capacity: int) -> bool:
    """Whether what was read, one state per row, is about so many live hypotheses: compiled code trusts it."""
    room, shares = int(read[0, ROOM]), FIRSTS + 2 * (capacity + PADDING)
    most = (read.shape[1] - shares) // room - 1
    noted, old, known = read[:, NOTED], read[:, OLD], read[:, KNOWN]
    rows = np.sort(read[:, FIRSTS : FIRSTS + most], axis=1)
    head = (old <= noted) & (noted <= room) & (known == live) & (live <= most)
    stamps = read[:, shares : shares + room]
    possible = stamps_are_possible(stamps, old[:, None], noted[:, None], read[:, [N]], 1)
    positive = (read[:, FIRSTS + capacity + PADDING :] >= 0.0).all()
    return bool((rows == np.arange(most)).all() and head.all() and positive and possible)


@compiled_function
def row_start(state: Hypotheses, i: int) -> int:
    """Where the shares of all changes in hypothesis i begin, by their numbers.

    With a function that returned a view of them, all that calls it would be compiled twice: first without counting references.
    """
    return shares_of(state) + room_of(state) * (1 + int(state.recent.numbers[FIRSTS + i]))


@compiled_function
def note_new_row(state: Hypotheses, stamp: float) -> None:
    """The newest hypothesis: a change, unless it was noted before. Changes at the same place, in a gap, are one."""
    recent, count, stamps = state.recent.numbers, state.count[0], shares_of(state)
    if count <= recent[KNOWN]:
        return
    recent[KNOWN] = count
    if recent[NOTED] == recent[OLD] or recent[stamps + int(recent[NOTED]) - 1] != stamp:
        if recent[NOTED] >= recent[ROOM]:
            make_room_in_rows(state)
        recent[stamps + int(recent[NOTED])] = stamp
        for i in range(count - 1):
            recent[row_start(state, i) + int(recent[NOTED])] = 0.0
        recent[NOTED] += 1.0
    newest, last = recent[row_start(state, count - 1) :], int(recent[NOTED]) - 1
    for e in range(last):
        newest[e] = 0.0
    newest[last] = 1.0
    recent[sums_of(state) + count - 1] = 1.0


@compiled_function
def make_room_in_rows(state: Hypotheses) -> None:
    """The changes that count go to the front. Their sums anew: what was taken off them leaves rounding errors."""
    recent, old, stamps, sums = state.recent.numbers, int(state.recent.numbers[OLD]), shares_of(state), sums_of(state)
    counted = int(recent[NOTED]) - old
    for e in range(stamps, stamps + counted):
        recent[e] = recent[e + old]
    for i in range(state.count[0] - 1):  # the newest has none yet
        row, shares = recent[row_start(state, i) :], 0.0
        for e in range(counted):
            row[e] = row[e + old]
            shares += row[e]
        recent[sums + i] = shares
    recent[NOTED] = counted
    recent[OLD] = 0.0


@compiled_function
def leave_out_old(state: Hypotheses) -> None:
    """Changes that lie further back do not count any more."""
    recent, stamps, sums = state.recent.numbers, shares_of(state), sums_of(state)
    while recent[OLD] < recent[NOTED] and recent[stamps + int(recent[OLD])] < recent[N] - recent[W]:
        old = int(recent[OLD])
        recent[OLD] += 1.0
        for i in range(state.count[0]):
            rest = max(recent[sums + i] - recent[row_start(state, i) + old], 0.0)
            recent[sums + i] = rest if recent[OLD] < recent[NOTED] else 0.0


@compiled_function
def note_split(state: Hypotheses, i: int, place: int, apart: bool) -> None:
    """Hypothesis i moves to this place; where it is two, the second is behind it.

    From the last hypothesis to the first: so the places between the two, and that behind, are free.
    """
    recent, sums = state.recent.numbers, sums_of(state)
    if not state.recent.has_ledger():
        return
    if apart:
        source, target = recent[row_start(state, i) :], recent[row_start(state, place + 1) :]
        for e in range(int(recent[OLD]), int(recent[NOTED])):
            target[e] = source[e]
        recent[sums + place + 1] = recent[sums + i]
    row = recent[FIRSTS + place]
    recent[FIRSTS + place] = recent[FIRSTS + i]
    recent[FIRSTS + i] = row
    recent[sums + place] = recent[sums + i]


@compiled_function
def note_all(state: Hypotheses) -> None:
    """The second ones are no changes of their own."""
    if state.recent.has_ledger():
        state.recent.numbers[KNOWN] = state.count[0]


@compiled_function
def note_merge_of_rows(state: Hypotheses, i: int, a: float, b: float) -> None:
    """Hypotheses i and i + 1 become one, to which they bring the shares a and b."""
    recent, count = state.recent.numbers, state.count[0]
    sums, free = sums_of(state), recent[FIRSTS + i + 1]
    row, other = recent[row_start(state, i) :], recent[row_start(state, i + 1) :]
    for e in range(int(recent[OLD]), int(recent[NOTED])):
        row[e] = a * row[e] + b * other[e]
    recent[sums + i] = a * recent[sums + i] + b * recent[sums + i + 1]
    for k in range(i + 1, count - 1):
        recent[FIRSTS + k] = recent[FIRSTS + k + 1]
    recent[FIRSTS + count - 1] = free
    move_up(recent, sums, i, count)
    recent[KNOWN] = count - 1


@compiled_function
def note_drop_of_rows(state: Hypotheses, threshold: float) -> None:
    """Hypotheses lighter than the threshold go."""
    recent, sums, kept = state.recent.numbers, sums_of(state), 0
    for i in range(state.count[0]):
        if state.weights[i] >= threshold:
            row = recent[FIRSTS + kept]
            recent[FIRSTS + kept] = recent[FIRSTS + i]
            recent[FIRSTS + i] = row
            recent[sums + kept] = recent[sums + i]
            kept += 1
    recent[KNOWN] = kept
