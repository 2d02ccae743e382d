"""The step of exact inference, which learners with hypotheses take before they approximate.

Where an observation may be an outlier, one hypothesis becomes two neighbours: it took y in, or y told it nothing.
"""

from __future__ import annotations

import math

import numpy as np

from volatilis._compiler.registry import compiled_function
from volatilis.families._base import Beliefs, Family, Observation, copy_column, in_eights
from volatilis.learners._base import Info, change_and_stay
from volatilis.learners._hypotheses import NOTHING, Hypotheses, add_prior, knows_nothing, move
from volatilis.learners._ledger_of_rows import note_all, note_new_row, note_split
from volatilis.learners._recent_kept import N
from volatilis.special import exp, log

UNSEEN = 1e-4  # where one of the two would weigh less than this, the other stands for both
NEAR = 1e-3  # where merging the two would cost less than this (see Merge), they are merged at once: it loses nothing


@compiled_function
def exact_step(family: Family, p_c: float, state: Hypotheses, y: Observation, nothing: float) -> Info:
    """The recursion of exact inference (paper, Proposition and Eq. 9-10): n hypotheses become n + 1.

    The old ones take the observation in, w_i <- (1 - gamma) w_i P(y; pi_i) / P(y; pi); the new one, "it changed just now",
    takes it as its first, w <- gamma. A hypothesis that has observed nothing is the prior, so there a change is no news and
    the two are one: thus the first observation comes from a change with certainty (c_1 = 1). Weights below `nothing` become 0.
    """
    n, w, p, beliefs = family.whole(state.count[0]), state.weights, state.scratch, state.beliefs
    # Surprise: p_i = w_i P(y; pi_i) / e^scale
    evidence, scale = family.predictives(beliefs, w, n, y, p)
    log_p_0 = family.log_prior_predictive(state.pi_0, y)
    # Modulation factor: gamma = p_c P(y; pi_0) / (p_c P(y; pi_0) + (1 - p_c) P(y; pi))
    change, stay = change_and_stay(p_c, log_p_0, scale)
    norm = 1.0 / (change + stay * evidence)
    gamma, factor = change * norm, stay * norm
    if family.splits():
        take_in_or_not(family, state, y, factor, gamma, scale, log_p_0, nothing)
        return Info(scale + log(evidence), log_p_0, gamma)
    # Weights
    for i in range(n):
        weight = factor * p[i]
        w[i] = weight if weight >= nothing else 0.0
    # Updated beliefs
    no_news = knows_nothing(state)
    family.absorb_all(beliefs, n, y)
    for i in range(n):
        state.run_lengths[i] += 1.0
    if no_news:
        w[state.count[0] - 1] += gamma
    else:
        new = add_prior(family, state, gamma)
        family.absorb(beliefs, new, y)
        state.run_lengths[new] = 1.0
    return Info(scale + log(evidence), log_p_0, gamma)


@compiled_function
def exact_elapse(family: Family, p_c: float, state: Hypotheses) -> None:
    """A step of time without an observation: a change has probability p_c, and nothing is learned."""
    for i in range(state.count[0]):
        weight = (1.0 - p_c) * state.weights[i]
        state.weights[i] = weight if weight >= NOTHING else 0.0
    if knows_nothing(state):
        state.weights[state.count[0] - 1] += p_c
    else:
        add_prior(family, state, p_c)


# --- outliers ----------------------------------------------------------------------------------------------------------


@compiled_function
def room_after_step(family: Family, count: int) -> int:
    """How much room a step of exact inference needs with so many hypotheses."""
    return in_eights(2 * (count + 1)) + count + 1 if family.splits() else count + 1


@compiled_function
def take_in_or_not(
    family: Family, state: Hypotheses, y: Observation, factor: float, gamma: float, scale: float, log_p_0: float, nothing: float
) -> None:
    """The rest of a step of exact inference: of weight factor p_i the share of "outlier" is factor w_i p_o Q(y) / e^scale.

    All take y in, in one flat loop. What it tells nothing waits behind them meanwhile, as it was.
    """
    w, p, log_outlier = state.weights, state.scratch, family.log_outlier(y)
    if not knows_nothing(state):
        new = add_prior(family, state, 0.0)
        p[new] = 0.0
    n, outlier = state.count[0], factor * exp(log_outlier - scale)
    for i in range(in_eights(n)):
        p[i] *= factor  # the weight of both
        w[i] *= outlier  # that of "outlier"
        state.run_lengths[i] += 1.0
    p[n - 1] += gamma  # the newest hypothesis holds what a change explains
    w[n - 1] += gamma * exp(log_outlier - log_p_0)
    waiting = set_aside(family, state, n)
    family.absorb_all(state.beliefs, family.whole(n), y)
    if state.recent.has_ledger():
        note_new_row(state, state.recent.numbers[N])  # this observation is not counted yet
    settled = spread(state, n, merge_near(family, state, n, waiting))
    for i in range(settled):
        w[i] = p[i] if p[i] >= nothing else 0.0


@compiled_function
def splits(strange: float, both: float) -> bool:
    """Whether "outlier" and "no outlier" both have a weight that counts."""
    return min(strange, both - strange) >= UNSEEN


@compiled_function
def waits(strange: float, both: float) -> bool:
    """Whether what y tells nothing is needed: beside what took y in, or in its place."""
    return splits(strange, both) or 2.0 * strange > both


# Hypothesis which[j] is the j-th to wait. Its belief without y is column in_eights(2 n) + j; the one with y is copied to n + j,
# so that all are compared in one flat loop. No loop branches by which ones wait, since no processor guesses that. Beside the
# weights, `scratch` has rows for what belongs to those that wait.


@compiled_function
def set_aside(family: Family, state: Hypotheses, n: int) -> int:
    """Keep the beliefs that are needed as they were before y; returns how many wait."""
    w, p, beliefs, size, first = state.weights, state.scratch, state.beliefs, state.weights.size, in_eights(2 * n)
    which, both, strange = p[size:], p[2 * size :], p[3 * size :]
    count, start = 0, n
    for i in range(n):
        place = i if waits(w[i], p[i]) else n
        start = place if place < start else start
    for i in range(start, n):
        which[count], both[count], strange[count] = i, p[i], w[i]
        copy_belief(family, beliefs, i, first + count)
        count += 1 if waits(w[i], p[i]) else 0
    return count


@compiled_function
def copy_belief(family: Family, beliefs: Beliefs, i: int, j: int) -> None:
    """`copy_column` within a bank, in a loop of fixed length."""
    for row in range(family.rows()):
        beliefs.chi[row, j] = beliefs.chi[row, i]
    beliefs.nu[j] = beliefs.nu[i]


@compiled_function
def merge_near(family: Family, state: Hypotheses, n: int, waiting: int) -> int:
    """Merge each hypothesis with what waits of it where the two are near; returns how many wait on: in the sixth row, which."""
    p, beliefs, size, first = state.scratch, state.beliefs, state.weights.size, in_eights(2 * n)
    which, both, strange, cost, others = p[size:], p[2 * size :], p[3 * size :], p[4 * size :], p[5 * size :]
    for j in range(waiting):
        copy_belief(family, beliefs, int(which[j]), n + j)
    for j in range(family.whole(waiting)):
        a, b = (both[j] - strange[j]) / both[j], strange[j] / both[j]
        root = math.sqrt(abs((both[j] - strange[j]) * strange[j]))
        apart = root * family.dissimilarity(beliefs, n + j, first + j, a, b)
        cost[j] = apart if splits(strange[j], both[j]) else np.inf
    near, kept = 0, 0
    for j in range(waiting):
        is_near = 1 if cost[j] < NEAR else 0
        cost[near], others[kept] = j, j
        near, kept = near + is_near, kept + 1 - is_near
    for k in range(near):
        j, i = int(cost[k]), int(which[int(cost[k])])
        family.merge(beliefs, i, first + j, (both[j] - strange[j]) / both[j], strange[j] / both[j])
    return kept


@compiled_function
def spread(state: Hypotheses, n: int, waiting: int) -> int:
    """Put what waits on beside the hypothesis it comes from, or in its place; returns how many of the first were left alone.

    Behind it and before it in turn: so neighbours that come from different hypotheses both took y in, or both did not, and are
    more alike. Merge, which merges neighbours, is nearer to exact for it.
    """
    w, p, beliefs, size, first = state.weights, state.scratch, state.beliefs, state.weights.size, in_eights(2 * n)
    which, others, place, i = p[size:], p[5 * size :], n - 1, n - 1
    for k in range(waiting):
        source = int(which[int(others[k])])
        place += 1 if splits(w[source], p[source]) else 0
    state.count[0] = place + 1
    for k in range(waiting - 1, -1, -1):
        j = int(others[k])
        source = int(which[j])
        while i > source:
            note_split(state, i, place, False)
            move(state, i, place)
            w[place] = p[i]
            i, place = i - 1, place - 1
        strange, both = w[i], p[i]
        if splits(strange, both):
            place -= 1
            split, other = (place + 1, place) if i & 1 else (place, place + 1)
            note_split(state, i, place, True)
            move(state, i, split)
            copy_column(beliefs, first + j, beliefs, other)
            state.run_lengths[other] = state.run_lengths[split]
            w[split], w[other] = both - strange, strange
        else:  # y told it nothing
            note_split(state, i, place, False)
            move(state, i, place)
            w[place] = both
            copy_column(beliefs, first + j, beliefs, place)
        i, place = i - 1, place - 1
    note_all(state)
    return i + 1
