"""The compiled loops of looking back: what the filter notes on its way, and what is collected from its weights.

Hypotheses are known by their run lengths: after n observations, one with run length r began just before observation o = n - r.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from volatilis._compiler.registry import compiled_function, compiled_methods
from volatilis.changepoints.evidence import Collected, Levels, step_evidence
from volatilis.learners._recent_kept import N
from volatilis.running.drivers import ELAPSE, OBSERVE, Array, advance
from volatilis.special import log, uniform

NEARLY = 1e-5  # where the largest product of weights falls below it, all are scaled anew


@compiled_methods
class Way(NamedTuple):
    """What the filter notes on its way, for n = 0 .. N observations; of `unit` and `log_map` there is one number."""

    steps: Array  # the step of time of observation n
    live: Array  # how many numbers the row of weights after n takes
    back: Array  # where the last segment begins in the most probable segmentation of the first n
    scaled: Array  # D(n) in a common unit
    log_unit: Array
    memo: Array
    evidence: Array  # the log of the predictive of observation n
    logs: Array  # log p_c, log (1 - p_c)
    log_p_0: Array  # the log of what the prior predicts of observation n


@compiled_methods
class Rows(NamedTuple):
    """The weights after n observations: entries ends[n - 1] to ends[n].

    They belong to o = bases[n], bases[n] + 1, ... where many of these live; elsewhere the base is -1 and `starts` says which.
    """

    ends: Array
    bases: Array
    starts: Array
    weights: Array
    memo: Array


# --- compiled ---------------------------------------------------------------------------------------------------------------


def run_forward(learner: Any, state: Any, ys: Array, events: Array, progress: Array, way: Way) -> None:
    """From step progress[0] until the weights that went by are progress[1]; stops early where the state needs room."""
    for t in range(progress[0], events.size):
        if progress[1] <= 0 or not learner.has_room(state):
            progress[0] = t
            return
        if events[t] == OBSERVE:
            before = state.recent.numbers[N]
            info = learner.observe(state, ys[t])
            n = int(state.recent.numbers[N])
            if n == before:  # what a chain begins with is conditioned on
                continue
            way.steps[n - 1] = t
            way.evidence[n - 1] = step_evidence(info, way.logs[0], way.logs[1])
            way.log_p_0[n - 1] = info.log_p_0
            way.live[n] = extend_best(state, n, way)
            progress[1] -= way.live[n]
        elif events[t] == ELAPSE:
            learner.pass_time(state, ys[t])
    progress[0] = events.size


@compiled_function
def is_ordered(state: Any, memo: Array) -> bool:
    """Whether the hypotheses are different times of the last change, the oldest first.

    memo: how many there were after the last observation, and whether they were. One more is one that just began.
    """
    count, wrong = state.count[0], 0
    if count != memo[0] + 1 or memo[1] == 0:
        for i in range(count - 1):
            wrong += 1 if state.run_lengths[i] - state.run_lengths[i + 1] < 1.0 else 0
    memo[0] = count
    memo[1] = 1 if wrong == 0 else 0
    return wrong == 0


@compiled_function
def end_of_run(state: Any, i: int) -> int:
    """Hypotheses i, i + 1, ... until there are neighbouring times; where all are, that is seen at once."""
    count, lengths = state.count[0], state.run_lengths
    if lengths[i] - lengths[count - 1] == count - 1.0 - i:
        return count
    i += 1
    while i < count and lengths[i - 1] - lengths[i] == 1.0:
        i += 1
    return i


@compiled_function
def extent(state: Any) -> int:
    """How many times of the last change there are from the oldest that lives on."""
    return int(state.run_lengths[greatest(state.run_lengths, state.count[0])])


@compiled_function
def entries(count: int, whole: int) -> int:
    """How many numbers a row of weights takes: all times from the oldest on, if a quarter of them lives."""
    return whole if whole <= 4 * count else count


@compiled_function
def extend_best(state: Any, n: int, way: Way) -> int:
    """D(n) = max over o of D(o) w_n(o); returns how many numbers the row takes."""
    count, products = state.count[0], state.scratch
    if is_ordered(state, way.memo):
        whole, i = int(state.run_lengths[0]), 0
        while i < count:
            end, shift = end_of_run(state, i), n - int(state.run_lengths[i]) - i
            for k in range(i, end):
                products[k] = state.weights[k] * way.scaled[shift + k]
            i = end
        best = greatest(products, count)
        top, best = products[best], n - int(state.run_lengths[best])
    else:
        whole = extent(state)
        top, best = best_of_some(state, n, way)
    way.back[n] = best
    way.scaled[n] = top
    if top < NEARLY:
        for o in range(n - whole, n):
            way.scaled[o] /= top
        way.scaled[n] = 1.0
        way.log_unit[0] += log(top)
    return entries(count, whole)


@compiled_function
def best_of_some(state: Any, n: int, way: Way) -> tuple[float, int]:
    """Several hypotheses of one run length stand side by side, and count together."""
    top, best, i, count = -1.0, 0, 0, state.count[0]
    while i < count:
        length, weight = state.run_lengths[i], state.weights[i]
        i += 1
        while i < count and state.run_lengths[i] == length:
            weight += state.weights[i]
            i += 1
        value = weight * way.scaled[n - int(length)]
        if value > top:
            top, best = value, n - int(length)
    return top, best


@compiled_function
def greatest(x: Array, n: int) -> int:
    """Where the largest of n >= 1 numbers that are not negative first stands; as whole numbers of the same bits (`least`)."""
    top = np.float64(x[0]).view(np.int64)
    for i in range(n):
        bits = np.float64(x[i]).view(np.int64)
        top = bits if bits > top else top
    first = n
    for i in range(n):
        place = i if np.float64(x[i]).view(np.int64) == top else n
        first = place if place < first else first
    return first


def run_again(learner: Any, state: Any, ys: Array, events: Array, progress: Array, rows: Rows, levels: Levels) -> None:
    """From step progress[0] to progress[1], after progress[2] observations; the weights go into the rows.

    Stops early where the state needs room; progress[3] is how many weights there are so far.
    """
    for t in range(progress[0], progress[1]):
        if not learner.has_room(state):
            progress[0] = t
            return
        before = state.recent.numbers[N]
        advance(learner, state, ys[t], events[t])
        if state.recent.numbers[N] > before:
            n = int(state.recent.numbers[N])
            base, size = write_row(state, n, progress[3], rows)
            progress[3] += size
            rows.bases[n - progress[2]] = base
            rows.ends[n - progress[2]] = progress[3]
            if levels.firsts.size > 0 and levels.firsts[n] >= 0:
                read_level(learner, state, n, levels)
    progress[0] = progress[1]


@compiled_function
def write_row(state: Any, n: int, entry: int, rows: Rows) -> tuple[int, int]:
    """The weights after n observations; returns the first o (-1 where the row says which they are), and the size of the row."""
    count, ordered = state.count[0], is_ordered(state, rows.memo)
    whole = int(state.run_lengths[0]) if ordered else extent(state)
    size = entries(count, whole)
    if size < whole:
        for i in range(count):
            rows.starts[entry + i] = n - int(state.run_lengths[i])
            rows.weights[entry + i] = state.weights[i]
        return -1, size
    if whole > count or not ordered:
        for k in range(entry, entry + size):
            rows.weights[k] = 0.0
    i = 0
    while i < count:
        end = end_of_run(state, i) if ordered else i + 1
        shift = entry + whole - int(state.run_lengths[i]) - i
        for k in range(i, end):
            rows.weights[shift + k] = state.weights[k] if ordered else rows.weights[shift + k] + state.weights[k]
        i = end
    return n - whole, size


@compiled_function
def read_level(learner: Any, state: Any, n: int, levels: Levels) -> None:
    """The belief of the hypothesis (or hypotheses) that began where the segment did."""
    family, first, share, weight = learner.family, levels.firsts[n], levels.share, 0.0
    whole = family.whole(state.count[0])
    for i in range(whole):
        share[i] = state.weights[i] if n - int(state.run_lengths[i]) == first else 0.0
    for i in range(state.count[0]):
        weight += share[i]
    for i in range(whole):
        share[i] /= weight
    for k in range(family.size()):
        mean = family.mixture_mean(state.beliefs, share, whole, k, state.scratch)
        levels.means[n, k] = mean
        levels.variances[n, k] = family.mixture_variance(state.beliefs, share, whole, k, mean, state.scratch)


def look_back(rows: Rows, span: Array, a: Array, collected: Collected) -> None:
    """a(o) for one piece, n from span[1] down to span[0] + 1."""
    for n in range(span[1], span[0], -1):
        begin, end, base = rows.ends[n - span[0] - 1], rows.ends[n - span[0]], rows.bases[n - span[0]]
        first, before, here = collected.first[n], collected.before[n], a[n]
        if base >= 0:
            for k in range(end - begin):
                a[base + k] += here * rows.weights[begin + k]
            collected.current[n] = rows.weights[begin + first - base] if first >= base else 0.0
            collected.older[n] = rows.weights[begin + before - base] if before >= base else 0.0
        else:
            for e in range(begin, end):
                a[rows.starts[e]] += here * rows.weights[e]
                collected.current[n] += rows.weights[e] if rows.starts[e] == first else 0.0
                collected.older[n] += rows.weights[e] if rows.starts[e] == before else 0.0
        if collected.ends[n] != 0:
            for e in range(begin, end):
                start = base + e - begin if base >= 0 else rows.starts[e]
                if start >= first:
                    collected.near[start] += rows.weights[e]
                elif start >= before:
                    collected.far[start] += rows.weights[e]


def draw_back(rows: Rows, span: Array, heads: Array, links: Array, random: Array, changed: Array) -> None:
    """Draws whose next change is n, a list heads[n], links[...]: from w_n each gets the change before; changed (draws, N)."""
    for n in range(span[1], span[0], -1):
        draw = heads[n]
        while draw >= 0:
            following = links[draw]
            u, e = uniform(random), rows.ends[n - span[0] - 1]
            last = rows.ends[n - span[0]] - 1
            while e < last and u >= rows.weights[e]:
                u -= rows.weights[e]
                e += 1
            base = rows.bases[n - span[0]]
            start = base + e - rows.ends[n - span[0] - 1] if base >= 0 else rows.starts[e]
            changed[draw, start] = 1
            if start > 0:
                links[draw] = heads[start]
                heads[start] = draw
            draw = following
