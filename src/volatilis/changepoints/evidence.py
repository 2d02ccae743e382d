"""Looking back without weights: the filter from both ends.

Given a change before observation o, what came before it is independent of what comes after. Within a segment the order of
observations does not matter, so the filter that runs from the end backwards knows the evidence of what comes after. With f and b
the logarithms of the one-step predictives of the two filters, and q(o) the prior probability of a change before o,

    a(o) = q(o) exp(d(o)),   d(o) = sum over i < o of f(i) - b(i),   d(N) = 0,

since both have the same evidence of all. That costs two filters and no memory, and d(N) checks it. For exact inference with
families that do not remember the past; for all others `Passes.probabilities` goes back over weights.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from volatilis._compiler import Call
from volatilis._compiler.registry import compiled_function, compiled_methods
from volatilis.learners import ExactBayes
from volatilis.learners._base import Learner
from volatilis.learners._hypotheses import hypotheses
from volatilis.running.drivers import ELAPSE, OBSERVE, SKIP, Array
from volatilis.special import exp, log

SMALL = 1e-12  # hypotheses are dropped below at most this: what both ends drop must not matter
AGREE = 1e-9  # nats by which the evidence from both ends may differ


@compiled_methods
class Steps(NamedTuple):
    """Of each observation: the log of its predictive in the filter, of no change before it, and of at least one."""

    evidence: Array
    stay: Array
    change: Array


@compiled_methods
class Collected(NamedTuple):
    """What looking back collects beside a(o), for the segmentation that was found; index n or o.

    current, older   w_n of the start of the segment that observation n - 1 is in, and of the segment before
    near, far        w_m(o), with m the end of the segment of o, and the end of the next one
    """

    first: Array  # where the segment of observation n - 1 begins, for n >= 1
    before: Array  # where the one before it begins; -1 where there is none
    ends: Array  # whether a segment ends at n
    current: Array
    older: Array
    near: Array
    far: Array


@compiled_methods
class Levels(NamedTuple):
    """What is believed where a segment ends, n, that began at firsts[n] >= 0: means and variances (N + 1, size)."""

    firsts: Array
    share: Array
    means: Array
    variances: Array


def is_reversible(learner: Learner) -> bool:
    """Whether the filter may run from the end, and drops next to nothing."""
    family = learner.family
    return isinstance(learner, ExactBayes) and learner.cutoff <= SMALL and family.memory_size() == 0 and not family.splits()


def from_both_ends(
    learner: Learner,
    values: np.ndarray,
    events: np.ndarray,
    steps: np.ndarray,
    forth: np.ndarray,
    collected: Collected,
    levels: Levels,
) -> np.ndarray | None:
    """a(o) for o = 0 .. N, with what is found of a segmentation; None where the two ends do not agree."""
    p_c, seen = learner.change_probability(), len(steps)
    back = _evidence(learner, np.ascontiguousarray(values[::-1]), np.ascontiguousarray(events[::-1]), p_c, seen)[::-1]
    d = np.append(0.0, np.cumsum(forth - back))
    if not abs(d[-1]) < AGREE:
        return None
    gaps = np.diff(np.cumsum(events != SKIP)[steps], prepend=0)
    with np.errstate(divide="ignore"):
        stay = gaps * np.log1p(-p_c)
        change = np.log(-np.expm1(stay))
    change[:1] = 0.0  # the start is no change: the first segment begins with certainty
    walk(learner, values, steps, Steps(forth, stay, change), collected, levels)
    return np.append(np.exp(np.minimum(d[:-1] + change, 0.0)), 1.0)


def log_chances(p_c: float) -> np.ndarray:
    """log p_c and log (1 - p_c)."""
    with np.errstate(divide="ignore"):
        return np.array([np.log(p_c), np.log1p(-p_c)])


def _evidence(learner: Learner, values: np.ndarray, events: np.ndarray, p_c: float, seen: int) -> np.ndarray:
    state, progress, out = learner.init(0), np.zeros(2, dtype=np.int64), np.zeros(seen)
    logs = log_chances(p_c)
    while progress[0] < len(values):
        if not learner.has_room(state):
            state = learner.grow(state)
        Call(run_evidence, learner, state, values, events, progress, logs, out, release_gil=True)()
    return out


def walk(learner: Learner, values: np.ndarray, steps: np.ndarray, logs: Steps, collected: Collected, levels: Levels) -> None:
    """Fill what is found of a segmentation and the levels, from single beliefs that go along its segments both ways."""
    state = hypotheses(learner.family, 8, 0)
    state.weights[0] = 1.0
    here = levels._replace(share=np.zeros(state.weights.size))
    Call(walk_forth, learner, state, values, steps, logs, collected, here, release_gil=True)()
    Call(walk_back, learner, state, values, steps, logs, collected, release_gil=True)()


# --- compiled ---------------------------------------------------------------------------------------------------------------


@compiled_function
def step_evidence(info: Any, log_change: float, log_stay: float) -> float:
    """log (p_c P(y; pi_0) + (1 - p_c) P(y; pi)), from the adaptation rate: without losing the smaller of the two."""
    if info.gamma < 0.5:
        return log_stay + info.log_p - log(1.0 - info.gamma)
    return log_change + info.log_p_0 - log(info.gamma)


def run_evidence(learner: Any, state: Any, ys: Array, events: Array, progress: Array, logs: Array, out: Array) -> None:
    """The filter alone, from step progress[0], after progress[1] observations; stops early where the state needs room."""
    for t in range(progress[0], events.size):
        if not learner.has_room(state):
            progress[0] = t
            return
        if events[t] == OBSERVE:
            out[progress[1]] = step_evidence(learner.observe(state, ys[t]), logs[0], logs[1])
            progress[1] += 1
        elif events[t] == ELAPSE:
            learner.pass_time(state, ys[t])
    progress[0] = events.size


@compiled_function
def take(family: Any, state: Any, column: int, y: Any) -> float:
    """The log predictive of an observation, which a belief then takes in."""
    value = family.log_predictive(state.beliefs, column, y)
    family.absorb(state.beliefs, column, y)
    return value


@compiled_function
def begin(family: Any, state: Any) -> None:
    """The belief in column 0 goes on in column 1; column 0 is the prior."""
    beliefs = state.beliefs
    beliefs.nu[1] = beliefs.nu[0]
    for row in range(beliefs.chi.shape[0]):
        beliefs.chi[row, 1] = beliefs.chi[row, 0]
    family.prior(beliefs, 0)


def walk_forth(learner: Any, state: Any, ys: Array, steps: Array, logs: Steps, collected: Collected, levels: Levels) -> None:
    """current(n), older(n): the weights of the segment of observation n - 1 and of the one before; and levels at ends."""
    family, current, older, segments = learner.family, 0.0, 0.0, 0
    for i in range(steps.size):
        y, f = ys[steps[i]], logs.evidence[i]
        older += logs.stay[i] - f
        if collected.first[i + 1] == i:
            begin(family, state)
            older = current + logs.stay[i] - f
            current = logs.change[i] - f
            segments += 1
        else:
            current += logs.stay[i] - f
        current += take(family, state, 0, y)
        collected.current[i + 1] = exp(current)
        if segments > 1:
            older += take(family, state, 1, y)
            collected.older[i + 1] = exp(older)
        if collected.ends[i + 1] != 0:
            read_belief(family, state, i + 1, levels)


@compiled_function
def read_belief(family: Any, state: Any, n: int, levels: Levels) -> None:
    """Of column 0, whose weight is 1 among eight."""
    share = levels.share
    share[0] = 1.0
    for k in range(family.size()):
        mean = family.mixture_mean(state.beliefs, share, 1, k, state.scratch)
        levels.means[n, k] = mean
        levels.variances[n, k] = family.mixture_variance(state.beliefs, share, 1, k, mean, state.scratch)


def walk_back(learner: Any, state: Any, ys: Array, steps: Array, logs: Steps, collected: Collected) -> None:
    """near(o) and far(o): the weights of a change before o, at the end of its segment and at the end of the next one."""
    family, near, far, segments = learner.family, 0.0, 0.0, 0
    for i in range(steps.size - 1, -1, -1):
        y, f = ys[steps[i]], logs.evidence[i]
        stay = logs.stay[i + 1] if i + 1 < steps.size else 0.0
        far += stay - f
        if collected.ends[i + 1] != 0:
            begin(family, state)
            far = near + stay - f
            near = -f
            segments += 1
        else:
            near += stay - f
        near += take(family, state, 0, y)
        collected.near[i] = exp(near + logs.change[i])
        if segments > 1:
            far += take(family, state, 1, y)
            collected.far[i] = exp(far + logs.change[i])
