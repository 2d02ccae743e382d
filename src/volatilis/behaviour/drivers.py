"""The loops over a person's trials: a learner learns, a response model says how probable each response is. Compiled."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from volatilis._compiler.registry import compiled_function
from volatilis.families._base import Observation
from volatilis.learners._base import LearnerOf, S
from volatilis.learners._hypotheses import Hypotheses, ManyHypotheses
from volatilis.running.drivers import ELAPSE, OBSERVE, RESET, Array
from volatilis.special import exp, largest, log, uniform

if TYPE_CHECKING:
    from volatilis.behaviour.responses._base import ResponseModel
    from volatilis.behaviour.situations import Situation


def score_responses(
    learner: LearnerOf[S],
    model: ResponseModel,
    state: S,
    situation: Situation,
    ys: Array,
    events: Array,
    given: Array,
    scored: Array,
    after: bool,
    progress: Array,
    last: Array,
    out: Array,
) -> None:
    """log P(response_t) in out[t], 0 where it does not count, from trial progress[0]; the first starts the learner anew.

    last[0] is the last response; a block begins without one. A response that is missing is no response: the learner goes on
    learning, and the last one stays the last. Stops early, and says where, when the state needs more room.
    """
    if progress[0] == 0:
        learner.family.prior(state.pi_0, 0)  # its parameters may have changed since the last run
        learner.begin(state)
        last[0] = np.nan
    for t in range(progress[0], events.size):
        if not learner.has_room(state):
            progress[0] = t
            return
        event = events[t]
        if event >= RESET:
            learner.begin(state)
            last[0] = np.nan
            event -= RESET
        out[t] = respond_and_learn(learner, model, state, situation, t, ys[t], event, given[t], scored[t], after, last[0])
        if given[t] == given[t]:
            last[0] = given[t]
    progress[0] = events.size


def score_with_copies(
    learner: LearnerOf[Hypotheses],
    model: ResponseModel,
    states: ManyHypotheses,
    situation: Situation,
    ys: Array,
    events: Array,
    given: Array,
    scored: Array,
    after: bool,
    random: Array,
    last: Array,
    weights: Array,
    chances: Array,
    out: Array,
) -> None:
    """The same for a learner that samples, whose own random numbers nobody knows: many copies of it learn side by side.

    A particle filter over copies: each has the weight that its predictions of the responses so far have earned, and out[t] is the
    logarithm of the weighted mean of P(response_t). Where few copies hold most of the weight, those give way to copies of them.
    The product over trials has the likelihood as its expectation.
    """
    copies = weights.size
    learner.family.prior(states.pi_0, 0)
    for t in range(events.size):
        event = events[t]
        if t == 0 or event >= RESET:
            last[0] = np.nan
            for r in range(copies):
                learner.begin(states.at(r))
                weights[r] = 1.0 / copies
        event = event - RESET if event >= RESET else event
        for r in range(copies):
            state = states.at(r)
            chances[r] = respond_and_learn(learner, model, state, situation, t, ys[t], event, given[t], scored[t], after, last[0])
        out[t] = 0.0
        if scored[t]:
            out[t] = reweigh(weights, chances)
            if effective(weights) < 0.5 * copies:
                resample_copies(states, weights, chances, uniform(random))
        if given[t] == given[t]:
            last[0] = given[t]


@compiled_function
def respond_and_learn(
    learner: LearnerOf[S],
    model: ResponseModel,
    state: S,
    situation: Situation,
    t: int,
    y: Observation,
    event: int,
    given: float,
    counts: bool,
    after: bool,
    before: float,
) -> float:
    """One trial: the log probability of its response, 0 where it does not count; the learner learns after it, or before."""
    chance = 0.0
    if counts and not after:
        chance = situation.respond(model, learner, state, t, given, before)
    if event == OBSERVE:
        learner.observe(state, y)
    elif event == ELAPSE:
        learner.pass_time(state, y)
    if counts and after:
        chance = situation.respond(model, learner, state, t, given, before)
    return chance


@compiled_function
def reweigh(weights: Array, chances: Array) -> float:
    """The log of sum_r w_r e^chance_r, which the new weights are each a share of; -inf, and the old weights, where it is 0."""
    top = largest(chances, chances.size)
    if not top > -np.inf:
        return top
    mean = 0.0
    for r in range(weights.size):
        mean += weights[r] * exp(chances[r] - top)
    for r in range(weights.size):
        weights[r] *= exp(chances[r] - top) / mean
    return top + log(mean)


@compiled_function
def effective(weights: Array) -> float:
    """How many copies of equal weight would be as many."""
    squares = 0.0
    for r in range(weights.size):
        squares += weights[r] * weights[r]
    return 1.0 / squares


@compiled_function
def resample_copies(states: ManyHypotheses, weights: Array, room: Array, u: float) -> None:
    """Systematic resampling: copy r lives on about w_r R times, in its own place first and then in places of those that do not.

    What a copy takes over is what another one knows, not its random numbers.
    """
    copies, below, kept = weights.size, 0.0, 0
    for r in range(copies):
        below += weights[r] * copies
        room[r] = max(math.ceil(below - u), kept) - kept if r < copies - 1 else copies - kept
        kept += int(room[r])
    free = 0
    for r in range(copies):
        while room[r] > 1.0:
            while room[free] > 0.0:
                free += 1
            states.take_over(free, r)
            room[free] = 1.0
            room[r] -= 1.0
        weights[r] = 1.0 / copies
