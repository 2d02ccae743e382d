"""How many changes there were: the law of their number, from the filter alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from volatilis._compiler import Call
from volatilis._compiler.registry import compiled_function
from volatilis.changepoints.passes import Passes
from volatilis.learners._recent import N
from volatilis.running.drivers import Array, advance


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
        before = state.recent[N]
        advance(learner, state, ys[t], events[t])
        if state.recent[N] > before:
            n = int(state.recent[N])
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
