"""One block of a sequence, up to a reset, looked back over: its segmentation, where its changes may lie, how many there were."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from volatilis._compiler import Call
from volatilis._compiler.registry import compiled_function
from volatilis.changepoints.evidence import Collected
from volatilis.changepoints.passes import Passes
from volatilis.learners._base import Learner
from volatilis.learners._recent_kept import N
from volatilis.running.drivers import SKIP, Array, advance


class Change(NamedTuple):
    """One change of the most probable segmentation. Positions count steps of time from 0.

    position      the first observation after it
    earliest      before `position` where observations are missing: the change is somewhere from here on
    low, high     the ends of its credible set, gaps included
    times         the credible set: positions of first observations after the change, most probable first
    probability   that it is there: of one change between its neighbours against none
    """

    position: int
    earliest: int
    low: int
    high: int
    times: np.ndarray
    probability: float


class Block(NamedTuple):
    """What is known of one block, up to a reset: positions, probabilities and segments. `gaps[o]` steps led to observation o."""

    first: int
    length: int
    passes: Passes
    starts: np.ndarray
    a: np.ndarray
    collected: Collected
    means: np.ndarray
    variances: np.ndarray
    gaps: np.ndarray
    trailing: int


def look_at(learner: Learner, values: np.ndarray, events: np.ndarray, first: int) -> Block:
    passes = Passes(learner, values, events)
    starts = passes.best()
    a, collected, levels = passes.probabilities(starts)
    ends = np.append(starts[1:], passes.seen) if passes.seen else np.zeros(0, dtype=np.int64)
    counts = np.cumsum(events != SKIP)  # steps of time up to each
    at = counts[passes.steps] if passes.seen else np.zeros(0, dtype=np.int64)
    gaps = np.diff(at, prepend=1)  # the first step begins the block: no change is counted there
    total = int(counts[-1]) if len(counts) else 0
    trailing = total - (int(at[-1]) if passes.seen else min(total, 1))
    return Block(first, len(values), passes, starts, a, collected, levels.means[ends], levels.variances[ends], gaps, trailing)


def found_changes(block: Block, level: float) -> list[Change]:
    """The changes of the most probable segmentation of a block, each with the smallest set of times of this probability.

    Given changes at l and r and one between, that one is just before observation s with a probability proportional to
    w_s(l) w_r(s); the odds of one between against none are the sum of these over w_r(l).
    """
    edges, collected, result = [*block.starts.tolist(), block.passes.seen], block.collected, []
    steps = block.first + block.passes.steps
    for left, here, right in zip(edges, edges[1:], edges[2:], strict=False):
        before = collected.current[left + 1 : here + 1] * np.append(collected.far[left + 1 : here], collected.near[here])
        after = collected.older[here + 1 : right] * collected.near[here + 1 : right]
        law = np.concatenate([before, after])  # over left + 1 .. right - 1
        total = float(law.sum())
        order = np.argsort(-law, kind="stable")
        enough = int(np.searchsorted(np.cumsum(law[order]), level * total * (1.0 - 1e-12))) + 1
        chosen = left + 1 + order[:enough]
        ends = int(steps[chosen.min() - 1]) + 1, int(steps[chosen.max()])
        probability = total / (total + float(collected.far[left]))
        result.append(Change(int(steps[here]), int(steps[here - 1]) + 1, *ends, steps[chosen], probability))
    return result


# --- how many changes there were: the law of their number, from the filter alone -----------------------------------------


def numbers(passes: Passes, gaps: np.ndarray, p_c: float, most: int) -> np.ndarray:
    """P(k changes | all) for k = 0 .. most; gaps[o] is how many steps of time lie between observations o - 1 and o."""
    laws, room = np.zeros((passes.seen + 1, most + 1)), np.zeros(most + 1)
    laws[0, 0] = 1.0
    learner, state, progress = passes.learner, passes.fresh(), np.zeros(1, dtype=np.int64)
    while progress[0] < len(passes.values):
        if not learner.has_room(state):
            state = learner.grow(state)
        arguments = (passes.values, passes.events, progress, gaps, p_c, laws, room)
        Call(run_numbers, learner, state, *arguments, release_gil=True)()
    return laws[passes.seen]


def binomial(n: int, p: float) -> np.ndarray:
    from scipy import stats

    return np.asarray(stats.binom.pmf(np.arange(n + 1), n, p))


def run_numbers(
    learner: Any, state: Any, ys: Array, events: Array, progress: Array, gaps: Array, p_c: float, laws: Array, room: Array
) -> None:
    """laws[n, k] = P(k changes before observation n | the first n, a change just before n): for n = N all that is asked for.

    laws(n) = sum over o of w_n(o) laws(o), and the changes between observations n - 1 and n, of which there is at least one:
    Binomial(gaps[n], p_c) given that it is not 0.
    """
    most = laws.shape[1]
    for t in range(progress[0], events.size):
        if not learner.has_room(state):
            progress[0] = t
            return
        before = state.recent.numbers[N]
        advance(learner, state, ys[t], events[t])
        if state.recent.numbers[N] > before:
            n = int(state.recent.numbers[N])
            for i in range(state.count[0]):
                start, weight = n - int(state.run_lengths[i]), state.weights[i]
                for k in range(most):
                    laws[n, k] += weight * laws[start, k]
            add_changes(laws[n], gaps[n], p_c, room)
    progress[0] = events.size


@compiled_function
def add_changes(law: Array, gap: int, p_c: float, room: Array) -> None:
    """One law of a number, plus Binomial(gap, p_c) given that it is not 0; gap = 0: nothing is added."""
    if gap == 0:
        return
    most = law.size
    for k in range(most):
        room[k] = law[k]
        law[k] = 0.0
    whole, term = 0.0, 1.0  # terms in units of (1 - p_c)^gap
    for j in range(1, min(gap, most - 1) + 1):
        term *= (gap - j + 1) / j * (p_c / (1.0 - p_c))
        whole += term
        for k in range(j, most):
            law[k] += term * room[k - j]
    for k in range(most):
        law[k] /= whole
