"""How probable it is that a change lies within the newest w observations: what a state keeps for that, and how it is read.

    P(a change within the newest w) = sum of w_i over the hypotheses i that began at a change, with a run length of at most w

The start of a sequence is no change: it is the hypothesis whose run length is the number n of observations since the start. So a
state that is asked keeps n. A merged hypothesis has no single run length. Its parts share every later likelihood, so their
shares of its weight stay as they are: where hypotheses merge, each change among the newest w is kept with the place of its
hypothesis and its share of that hypothesis' weight, and the sum is over changes.

`state.recent` is one flat array, empty where nobody asks: n, w, how many changes were noted; then room for the shares, the places
and the stamps of the newest changes, in turn, and as much to work in. The stamp is n before the change's first observation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from volatilis._compiler.registry import compiled_function
from volatilis.special import total

N, W, NOTED, HEAD = range(4)
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


def ledger(within: int) -> np.ndarray:
    """For hypotheses that merge."""
    return np.concatenate([counter(within), np.zeros(4 * (within + SPARE))])


def check_recent(example: np.ndarray, read: np.ndarray, live: np.ndarray) -> None:
    """Of states that were read, one per row: compiled code trusts the places of hypotheses in it."""
    room = (example.size - HEAD) // 4
    head, shares, places = read[:, :HEAD], read[:, HEAD : HEAD + room], read[:, HEAD + room : HEAD + 2 * room]
    whole = (head >= 0.0) & (head == np.floor(head)) & (head < 2.0**53)
    if not whole.all() or (head[:, W] != example[W]).any():
        raise ValueError(f"what it keeps for recent_change is not for within={example[W]:.0f}")
    if (shares < 0.0).any() or (places != np.floor(places)).any() or (places < 0.0).any() or (places >= live[:, None]).any():
        raise ValueError("what it keeps for recent_change is not about its hypotheses")


# --- what a state keeps ---------------------------------------------------------------------------------------------------


@compiled_function
def begin_anew(state: Hypotheses) -> None:
    if state.recent.size > 0:
        state.recent[N] = 0.0
        state.recent[NOTED] = 0.0


@compiled_function
def count_observation(state: Hypotheses) -> None:
    if state.recent.size > 0:
        state.recent[N] += 1.0


@compiled_function
def room_of(recent: np.ndarray) -> int:
    return (recent.size - HEAD) // 4


@compiled_function
def noted(recent: np.ndarray) -> int:
    """How many changes have a place; 0 where nobody asks."""
    if recent.size <= HEAD:
        return 0
    room = room_of(recent)
    return min(int(recent[NOTED]), room)


@compiled_function
def note_newest(state: Hypotheses) -> None:
    """The newest hypothesis of a state whose hypotheses merge: a change, unless it is the start or was noted before."""
    recent, newest = state.recent, state.count[0] - 1
    if recent.size <= HEAD:
        return
    stamp, room, so_far = recent[N] - state.run_lengths[newest], room_of(recent), int(recent[NOTED])
    if stamp <= 0.0 or state.run_lengths[newest] > 1.0:
        return
    last = HEAD + (so_far - 1) % room
    if so_far > 0 and recent[last + 2 * room] == stamp and recent[last + room] == newest:
        return  # its change was in a gap
    place = HEAD + so_far % room
    recent[place], recent[place + room], recent[place + 2 * room] = 1.0, float(newest), stamp
    recent[NOTED] += 1.0


@compiled_function
def note_merge(recent: np.ndarray, i: int, a: float, b: float) -> None:
    """Hypotheses i and i + 1 become one, to which they bring the shares a and b."""
    room, place = room_of(recent), float(i)
    for e in range(HEAD, HEAD + noted(recent)):
        owner = recent[e + room]
        factor = b if owner == place + 1.0 else 1.0
        recent[e] *= a if owner == place else factor
        recent[e + room] = owner - 1.0 if owner > place else owner


@compiled_function
def note_drop(state: Hypotheses, threshold: float) -> None:
    """Hypotheses lighter than the threshold go."""
    recent, room, light = state.recent, room_of(state.recent), 0
    for i in range(state.count[0]):
        light += 1 if state.weights[i] < threshold else 0
    if light == 0:
        return
    for e in range(HEAD, HEAD + noted(recent)):
        owner, before = int(recent[e + room]), 0
        for i in range(owner):
            before += 1 if state.weights[i] < threshold else 0
        recent[e] = 0.0 if state.weights[owner] < threshold else recent[e]
        recent[e + room] = float(max(owner - before, 0)) if recent[e] > 0.0 else 0.0


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
    recent, room, n, oldest = state.recent, room_of(state.recent), noted(state.recent), state.recent[N] - within
    work = recent[HEAD + 3 * room :]
    for e in range(n):
        place = HEAD + e
        part = recent[place] * state.weights[int(recent[place + room])]
        work[e] = part if recent[place + 2 * room] >= oldest else 0.0
    return total(work, n)


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
