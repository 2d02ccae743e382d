"""One-step errors: where each observation falls in what was predicted for it.

    u_t = P(Y <= y_t | y_1 ... y_t-1),   for discrete observations P(Y < y_t | ...) + v P(Y = y_t | ...) with a uniform v.

For observations from the model, predicted by exact inference, all u are independent and uniform (Rosenblatt 1952; Dawid 1984): a
law without unknowns, the same for every family. A vector gives one u per element, given those before it. Any stretch of a
sequence has this law by itself, since whatever came before, its first parameter is a draw from the prior.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from volatilis._compiler import Call
from volatilis._compiler.registry import compiled_function
from volatilis.families._base import Beliefs, Family, Observation, prior_beliefs
from volatilis.learners._base import Learner, LearnerOf, S
from volatilis.running.drivers import ELAPSE, OBSERVE, RESET, Array
from volatilis.special import exp, largest, total, uniform

SEED = 20211102  # of the numbers that randomise discrete observations: the same data give the same errors

UNSEEN = 1e-9  # a hypothesis with less weight moves no error that could be seen


class Errors(NamedTuple):
    """Of one sequence: u of every step (T, elements of an observation), NaN where nothing was observed; then, (T,) each, the
    adaptation rate, log P(y; pi^(t)) and log P(y; pi^(0))."""

    u: np.ndarray
    gamma: np.ndarray
    log_p: np.ndarray
    log_p_0: np.ndarray


def one_step_errors(learner: Learner, values: np.ndarray, events: np.ndarray, key: int = 0) -> Errors:
    """Of a learner's own predictions: they have the law above as far as it predicts as exact inference does."""
    if "gamma" not in learner.readouts():
        raise TypeError(f"{type(learner).__name__} predicts no observations, so there are no one-step errors")
    family, length, numbers = learner.family, len(values), np.full((3, len(values)), np.nan)
    u = np.full((length, family.coordinates()), np.nan)
    state, progress = learner.init(key), np.zeros(1, dtype=np.int64)
    random, p_c = np.array([SEED], dtype=np.uint64), learner.change_probability()
    while progress[0] < length:
        if not learner.has_room(state):
            state = learner.grow(state)
        room = np.zeros((2, state.run_lengths.size + 9))
        Call(run_errors, learner, state, p_c, values, events, random, room, progress, u, numbers, release_gil=True)()
    return Errors(u, *numbers)


def prior_errors(family: Family, values: np.ndarray, events: np.ndarray) -> np.ndarray:
    """The same as if nothing were ever learned: where each observation falls in what the prior predicts."""
    u, random = np.full((len(values), family.coordinates()), np.nan), np.array([SEED], dtype=np.uint64)
    Call(run_prior_errors, family, prior_beliefs(family), values, events, random, u, release_gil=True)()
    return u


def run_errors(
    learner: LearnerOf[S],
    state: S,
    p_c: float,
    ys: Array,
    events: Array,
    random: Array,
    room: Array,
    progress: Array,
    u: Array,
    numbers: Array,
) -> None:
    """A whole sequence, from step progress[0]; stops early, and says where, when the state needs more room."""
    for t in range(progress[0], events.size):
        if not learner.has_room(state):
            progress[0] = t
            return
        event = events[t]
        if event >= RESET:
            learner.begin(state)
            event -= RESET
        if event == OBSERVE:
            write_errors(learner.family, state, p_c, ys[t], random, room, u[t])
            info = learner.observe(state, ys[t])
            numbers[0, t], numbers[1, t], numbers[2, t] = info.gamma, info.log_p, info.log_p_0
        elif event == ELAPSE:
            learner.pass_time(state, ys[t])
    progress[0] = events.size


def run_prior_errors(family: Family, pi_0: Beliefs, ys: Array, events: Array, random: Array, u: Array) -> None:
    for t in range(events.size):
        if events[t] % RESET == OBSERVE:
            for k in range(family.coordinates()):
                u[t, k] = family.predictive_cdf(pi_0, 0, ys[t], k, uniform(random), family.mean(pi_0, 0, 0))


@compiled_function
def write_errors(family: Family, state: S, p_c: float, y: Observation, random: Array, room: Array, out: Array) -> None:
    """The errors of one observation, one per element: of the mixture of all hypotheses and, with p_c, of a change.

    room[0] holds the weights, those of the prior last: after each element those that foresaw it weigh more.
    """
    weights, logs = room[0], room[1]
    first, n = state.column_weights(weights)
    for i in range(n):
        weights[i] *= 1.0 - p_c
        weights[i] = weights[i] if weights[i] > UNSEEN else 0.0
    weights[n] = p_c
    around = state.belief_mean(family, 0)
    for k in range(family.coordinates()):
        v = uniform(random)
        for i in range(n + 1):
            logs[i] = 0.0
            if weights[i] > 0.0:
                logs[i] = weights[i] * part_cdf(family, state.beliefs, first + i, state.pi_0, i == n, y, k, v, around)
        out[k] = total(logs, n + 1) / total(weights, n + 1)
        if k + 1 < family.coordinates():
            for i in range(n):
                logs[i] = family.log_predictive_part(state.beliefs, first + i, y, k)
            logs[n] = family.log_predictive_part(state.pi_0, 0, y, k)
            top = largest(logs, n + 1)
            for i in range(n + 1):
                weights[i] *= exp(logs[i] - top)


@compiled_function
def part_cdf(
    family: Family, beliefs: Beliefs, i: int, pi_0: Beliefs, is_change: bool, y: Observation, k: int, v: float, around: float
) -> float:
    if is_change:
        return family.predictive_cdf(pi_0, 0, y, k, v, around)
    return family.predictive_cdf(beliefs, i, y, k, v, around)
