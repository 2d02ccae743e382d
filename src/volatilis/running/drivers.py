"""The loops around a learner's update: compiled, allocation-free, the same for every learner and family."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from volatilis._compiler.registry import compiled_function, compiled_methods
from volatilis.families._base import Observation
from volatilis.learners._base import LearnerOf, ManyStates, S
from volatilis.learners._one_belief import OneBelief
from volatilis.learners._recent import LEVELS

Array = np.ndarray
OBSERVE, ELAPSE, SKIP = 0, 1, 2  # what happens at a step of time
RESET = 4  # added to it: the learner starts anew before the step
NOT_ASKED = np.zeros(0)
PASSED = 8  # added so many times as steps passed before it, in a stream of keys


@compiled_methods
class Outputs(NamedTuple):
    """What a run writes: one number per step of time; of means and variances one per element of theta.

    p_c is there only where a learner learns it.
    """

    means: Array
    variances: Array
    log_p: Array
    log_p_0: Array
    gamma: Array
    run_length: Array
    recent: Array = NOT_ASKED  # the probability of a recent change
    onset: Array = NOT_ASKED  # three numbers per step: how many observations ago that was, and an interval
    log_outliers: Array = NOT_ASKED  # log p_o Q(y)
    p_c: Array = NOT_ASKED


def outputs(length: int, size: int, readouts: tuple[str, ...], recent: bool = False, onset: bool = False) -> Outputs:
    """Room for a sequence; a readout that nobody asked for gets none and is not computed.

    All in one allocation: fresh memory comes in pages, and a large piece comes in larger ones.
    """
    surprise = length if readouts != ("mean", "run_length") else 0
    learned = ("mean" in readouts or "variance" in readouts, "variance" in readouts, "run_length" in readouts)
    rooms = [length * asked for asked in learned]
    learned_p_c = length if "change_probability" in readouts else 0
    sizes = [rooms[0] * size, rooms[1] * size, surprise, surprise, surprise, rooms[2], learned_p_c]
    means, variances, log_p, log_p_0, gamma, run_length, p_c = np.split(np.empty(sum(sizes)), np.cumsum(sizes)[:-1])
    changes = (np.empty(length) if recent else NOT_ASKED, np.empty(3 * length) if onset else NOT_ASKED)
    outliers = np.empty(length) if "outlier_probability" in readouts else NOT_ASKED
    return Outputs(means, variances, log_p, log_p_0, gamma, run_length, *changes, outliers, p_c)


def lock_step_outputs(length: int, columns: int, size: int, blocks: int) -> list[Outputs]:
    """For blocks of sequences side by side. All in one allocation: large enough for large pages, which costs far less."""
    memory = np.empty((blocks, 2 * size + 4, length, columns))
    return [Outputs(m[:size], m[size : 2 * size], *m[2 * size :]) for m in memory]


def run_observations(learner: LearnerOf[S], state: S, ys: Array, progress: Array, out: Outputs) -> None:
    """A whole sequence where every step is an observation, from step progress[0].

    Stops early, and says where, when the state needs more room. Apart from `run_sequence`, since a loop in which nothing else can
    happen compiles sooner and keeps a learner's state in registers.
    """
    for t in range(progress[0], ys.shape[0]):
        if not learner.has_room(state):
            progress[0] = t
            return
        info = learner.observe(state, ys[t])
        if out.gamma.size > 0:
            out.log_p[t] = info.log_p
            out.log_p_0[t] = info.log_p_0
            out.gamma[t] = info.gamma
        if out.log_outliers.size > 0:
            out.log_outliers[t] = learner.family.log_outlier_of(state, ys[t])
        if out.p_c.size > 0:
            out.p_c[t] = learner.read_change_probability(state)
        read_learned(learner, state, t, out)
    progress[0] = ys.shape[0]


def run_sequence(learner: LearnerOf[S], state: S, ys: Array, events: Array, progress: Array, out: Outputs) -> None:
    """The same where time may pass without an observation and blocks begin."""
    for t in range(progress[0], events.size):
        if not learner.has_room(state):
            progress[0] = t
            return
        take_step(learner, state, ys[t], events[t], t, out)
    progress[0] = events.size


def run_keyed(
    learner: LearnerOf[S],
    states: ManyStates[S],
    order: Array,
    rows: Array,
    ys: Array,
    events: Array,
    progress: Array,
    out: Outputs,
) -> None:
    """Interleaved sequences: step t = order[j] belongs to the sequence whose state is states.at(rows[t]).

    From j = progress[0] to progress[1]; stops early, and says where, when that state needs more room. An event may begin with
    time that passes: so many steps of it as stand in its higher bits (`PASSED`), of which those that were done are taken away.
    """
    for j in range(progress[0], progress[1]):
        t = order[j]
        state = states.at(rows[t])
        while events[t] >= PASSED and learner.has_room(state):
            learner.let_pass(state)
            events[t] -= PASSED
        if not learner.has_room(state):
            progress[0] = j
            return
        take_step(learner, state, ys[t], events[t], t, out)
    progress[0] = progress[1]


@compiled_function
def take_step(learner: LearnerOf[S], state: S, y: Observation, event: int, t: int, out: Outputs) -> None:
    """Step t, an observation or time that passes without one, maybe the first of a block, with its readouts."""
    if event >= RESET:
        learner.begin(state)
        event -= RESET
    if event == OBSERVE:
        info = learner.observe(state, y)
        if out.gamma.size > 0:
            out.log_p[t] = info.log_p
            out.log_p_0[t] = info.log_p_0
            out.gamma[t] = info.gamma
        if out.p_c.size > 0:
            out.p_c[t] = learner.read_change_probability(state)
    else:
        if event == ELAPSE:
            learner.pass_time(state, y)
        if out.gamma.size > 0:
            out.log_p[t] = np.nan
            out.log_p_0[t] = np.nan
            out.gamma[t] = np.nan
        if out.p_c.size > 0:
            out.p_c[t] = np.nan
    if out.log_outliers.size > 0:
        out.log_outliers[t] = learner.family.log_outlier_of(state, y) if event == OBSERVE else np.nan
    read_learned(learner, state, t, out)


@compiled_function
def read_learned(learner: LearnerOf[S], state: S, t: int, out: Outputs) -> None:
    """What is learned after step t, as far as it was asked for."""
    if out.means.size > 0:
        size = learner.family.size()
        width = size if out.variances.size > 0 else 0
        learner.read_moments(state, out.means[t * size : (t + 1) * size], out.variances[t * width : (t + 1) * width])
    if out.run_length.size > 0:
        out.run_length[t] = learner.read_run_length(state)
    if out.recent.size > 0:
        out.recent[t] = learner.read_recent(state)
    if out.onset.size > 0:
        out.onset[3 * t] = learner.read_onset(state, LEVELS[0])  # not in a loop: an index that may be wrong needs Python's errors
        out.onset[3 * t + 1] = learner.read_onset(state, LEVELS[1])
        out.onset[3 * t + 2] = learner.read_onset(state, LEVELS[2])


def estimate_all(learner: LearnerOf[S], state: S, ys: Array, progress: Array, estimates: Array) -> None:
    """The estimates alone, (T, size), from step progress[0] to progress[1]; stops early when the state needs more room."""
    for t in range(progress[0], progress[1]):
        if not learner.has_room(state):
            progress[0] = t
            return
        learner.observe(state, ys[t])
        for k in range(learner.family.size()):
            estimates[t, k] = learner.read_mean(state, k)
    progress[0] = progress[1]


def accumulate_errors(
    learner: LearnerOf[S],
    state: S,
    ys: Array,
    theta: Array,
    reference: Array,
    since: Array,
    progress: Array,
    sums: Array,
    after: Array,
) -> None:
    """Squared errors of the estimate, summed while the learner runs: nothing is kept per step.

    From step progress[0] to progress[1]; stops early, and says where, when the state needs more room. sums[0] grows by the
    squared distance to theta (T, size), sums[1] by that to the reference (T, size); after[0, n] and after[1, n] by the error
    and its square n steps after a change, since[t] = n.
    """
    size = learner.family.size()
    for t in range(progress[0], progress[1]):
        if not learner.has_room(state):
            progress[0] = t
            return
        learner.observe(state, ys[t])
        error, apart = 0.0, 0.0
        for k in range(size):
            estimate = learner.read_mean(state, k)
            error += (estimate - theta[t, k]) * (estimate - theta[t, k])
            apart += (estimate - reference[t, k]) * (estimate - reference[t, k])
        sums[0] += error
        sums[1] += apart
        if since[t] < after.shape[1]:
            after[0, since[t]] += error
            after[1, since[t]] += error * error
    progress[0] = progress[1]


@compiled_function
def advance(learner: LearnerOf[S], state: S, y: Observation, event: int) -> bool:
    """One step of time, whatever happens at it, without readouts; says whether there was an observation."""
    if event >= RESET:
        learner.begin(state)
        event -= RESET
    if event == OBSERVE:
        learner.observe(state, y)
    elif event == ELAPSE:
        learner.pass_time(state, y)
    return event == OBSERVE


def run_lock_step(learner: LearnerOf[OneBelief], state: OneBelief, ys: Array, out: Outputs) -> None:
    """Many sequences of one length side by side, each a column: ys (T, S), one belief per sequence; means (size, T, S).

    The inner loop over sequences is free of branches and calls once compiled, so it runs eight at a time.
    """
    for t in range(ys.shape[0]):
        for s in range(ys.shape[1]):
            here = state.at(s)
            info = learner.observe(here, ys[t, s])
            out.log_p[t, s] = info.log_p
            out.log_p_0[t, s] = info.log_p_0
            out.gamma[t, s] = info.gamma
            out.run_length[t, s] = learner.read_run_length(here)
            for k in range(learner.family.size()):
                mean = learner.read_mean(here, k)
                out.means[k, t, s] = mean
                out.variances[k, t, s] = learner.read_variance(here, k, mean)


# What a step of a stream writes: the means and the variances of theta's elements, and after them these numbers
RUN_LENGTH, GAMMA, LOG_P, LOG_P_0, RECENT, LOG_OUTLIER, P_C, SEEN, FULL = range(9)
# How many they are; a `Step` has the first four, RECENT where it is asked for, LOG_OUTLIER where there are outliers, P_C where it
# is learned, and what stands between
STEP_TAIL = 9


def step(learner: LearnerOf[S], state: S, ys: Array, out: Array) -> None:
    """One observation, ys[0]; or nothing, and a mark, where the state needs more room."""
    tail = 2 * learner.family.size()
    if not learner.has_room(state):
        out[tail + FULL] = 1.0
        return
    info = learner.observe(state, ys[0])
    out[tail + GAMMA] = info.gamma
    out[tail + LOG_P] = info.log_p
    out[tail + LOG_P_0] = info.log_p_0
    out[tail + LOG_OUTLIER] = learner.family.log_outlier_of(state, ys[0])
    out[tail + P_C] = learner.read_change_probability(state)
    out[tail + SEEN] += 1.0
    read_step(learner, state, out)


def step_without_observation(learner: LearnerOf[S], state: S, ys: Array, event: Array, out: Array) -> None:
    """event[0] says what happens; time passes for event[1] steps, of which those that were done are taken away."""
    tail = 2 * learner.family.size()
    if event[0] == ELAPSE:
        while event[1] > 0:
            if not learner.has_room(state):
                out[tail + FULL] = 1.0
                return
            learner.pass_time(state, ys[0])
            event[1] -= 1
    elif event[0] == RESET:
        learner.begin(state)
    out[tail + GAMMA] = np.nan
    out[tail + LOG_P] = np.nan
    out[tail + LOG_P_0] = np.nan
    out[tail + LOG_OUTLIER] = np.nan
    out[tail + P_C] = np.nan
    read_step(learner, state, out)


@compiled_function
def read_step(learner: LearnerOf[S], state: S, out: Array) -> None:
    size = learner.family.size()
    learner.read_moments(state, out[:size], out[size : 2 * size])
    out[2 * size + RUN_LENGTH] = learner.read_run_length(state)
    recent = learner.read_recent(state)
    out[2 * size + RECENT] = recent if recent >= 0.0 else 0.0  # a step that holds NaN would not equal itself
    out[2 * size + FULL] = 0.0
