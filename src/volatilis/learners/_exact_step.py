"""The step of exact inference, which learners with hypotheses take before they approximate.

Where an observation may be an outlier, one hypothesis becomes two neighbours: it took y in, or y told it nothing.
"""

from __future__ import annotations

from volatilis._compiler.registry import compiled_function
from volatilis.families._base import Beliefs, Family, Observation, copy_column, in_eights
from volatilis.learners._base import Info, change_and_stay
from volatilis.learners._hypotheses import NOTHING, Hypotheses, add_prior, knows_nothing, move
from volatilis.learners._ledger_of_rows import note_all, note_new_row, note_split
from volatilis.learners._recent_kept import N
from volatilis.special import PLACES, exp, log

UNSEEN = 1e-4  # where one of the two would weigh less than this, the other stands for both
FEW = 64  # hypotheses, of which looking for those that wait would cost more than it saves
NEAR = 1e-3  # where merging the two would cost less than this (see Merge), they are merged at once: it loses nothing


@compiled_function
def exact_step(family: Family, p_c: float, state: Hypotheses, y: Observation, nothing: float) -> Info:
    """The recursion of exact inference (paper, Proposition and Eq. 9-10): n hypotheses become n + 1.

    The old ones take the observation in, w_i <- (1 - gamma) w_i P(y; pi_i) / P(y; pi); the new one, "it changed just now",
    takes it as its first, w <- gamma. A hypothesis that has observed nothing is the prior, so there a change is no news and
    the two are one: thus the first observation comes from a change with certainty (c_1 = 1). Weights below `nothing` become 0.
    """
    if family.splits():
        return step_with_outliers(family, p_c, state, y, nothing)
    n, w, p, beliefs = family.whole(state.count[0]), state.weights, state.scratch, state.beliefs
    # Surprise: p_i = w_i P(y; pi_i) / e^scale
    evidence, scale = family.predictives(beliefs, w, n, y, p)
    log_p_0 = family.log_prior_predictive(state.pi_0, y)
    # Modulation factor: gamma = p_c P(y; pi_0) / (p_c P(y; pi_0) + (1 - p_c) P(y; pi))
    change, stay = change_and_stay(p_c, log_p_0, scale)
    norm = 1.0 / (change + stay * evidence)
    gamma, factor = change * norm, stay * norm
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
def step_with_outliers(family: Family, p_c: float, state: Hypotheses, y: Observation, nothing: float) -> Info:
    """The same where y may be an outlier: of the weight factor p_i the share of "outlier" is factor w_i p_o Q(y) / e^scale."""
    w, p = state.weights, state.scratch
    evidence, scale = family.predictives(state.beliefs, w, family.whole(state.count[0]), y, p)
    # The prior's two ways to y in units of the largest of these three; log P(y; pi_0) is only read, so nothing waits for it
    log_inlier, log_outlier = family.log_inlier(state.pi_0, 0, y), family.log_outlier(y)
    top = max(scale, max(log_inlier, log_outlier))
    inlier, outlier = exp(log_inlier - top), exp(log_outlier - top)
    unit = 1.0 if p_c > 1e-280 else 2.0**930  # as in `change_and_stay`
    change, stay = unit * p_c * (inlier + outlier), unit * (1.0 - p_c) * exp(scale - top)
    norm = 1.0 / (change + stay * evidence)
    gamma, factor, strange = change * norm, stay * norm, norm * outlier
    if not knows_nothing(state):
        p[add_prior(family, state, 0.0)] = 0.0
    n = state.count[0] & PLACES
    for i in range(in_eights(n)):
        p[i] *= factor  # the weight of both
        w[i] *= unit * (1.0 - p_c) * strange  # that of "outlier"
        state.run_lengths[i] += 1.0
    p[n - 1] += gamma  # the newest hypothesis holds what a change explains
    w[n - 1] += unit * p_c * strange
    take_in_or_not(family, state, y, n, nothing)
    return Info(scale + log(evidence), family.log_prior_predictive(state.pi_0, y), gamma)


@compiled_function
def take_in_or_not(family: Family, state: Hypotheses, y: Observation, n: int, nothing: float) -> None:
    """All n hypotheses take y in, in one flat loop. What it tells nothing waits behind them meanwhile, as it was."""
    set_aside(family, state, n)
    family.absorb_all(state.beliefs, family.whole(n), y)
    if state.recent.has_ledger():
        note_new_row(state, state.recent.numbers[N])  # this observation is not counted yet
    settled = spread(state, n, merge_near(family, state, n))
    w, p = state.weights, state.scratch
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


# The belief of hypothesis i without y is kept in column in_eights(2 n) + i. Beside the weights of both, `scratch` has rows for
# which hypotheses are left beside what they come from, for the share to be merged, and for whether it is too far away for that.
# Of a few hypotheses all are compared, in one flat loop: no processor guesses which wait. Of many only the runs that do.


@compiled_function
def are_few(family: Family, n: int) -> bool:
    return family.whole(1) > 1 and n <= FEW


@compiled_function
def next_run(family: Family, state: Hypotheses, n: int, start: int) -> tuple[int, int]:
    """The next hypotheses from `start` on of which some wait, in eights: from the first to before the second."""
    step, many = family.whole(1), family.whole(n)
    while start < many and not some_wait(state, start, start + step):
        start += step
    end = start
    while end < many and some_wait(state, end, end + step):
        end += step
    return start & PLACES, end & PLACES


@compiled_function
def some_wait(state: Hypotheses, start: int, end: int) -> bool:
    count = 0
    for i in range(start, end):
        count += 1 if waits(state.weights[i], state.scratch[i]) else 0
    return count > 0


@compiled_function
def set_aside(family: Family, state: Hypotheses, n: int) -> None:
    """Keep the beliefs that are needed as they were before y."""
    if are_few(family, n):
        copy_beliefs(family, state.beliefs, 0, family.whole(n), in_eights(2 * n))
        return
    start, end = next_run(family, state, n, 0)
    while start < end:
        copy_beliefs(family, state.beliefs, start, end, in_eights(2 * n))
        start, end = next_run(family, state, n, end)


@compiled_function
def copy_beliefs(family: Family, beliefs: Beliefs, start: int, end: int, further: int) -> None:
    for row in range(family.rows()):
        for i in range(start, end):
            beliefs.chi[row, further + i] = beliefs.chi[row, i]
    for i in range(start, end):
        beliefs.nu[further + i] = beliefs.nu[i]


@compiled_function
def merge_near(family: Family, state: Hypotheses, n: int) -> int:
    """Merge each hypothesis with what waits of it where the two are near; returns how many wait on: in the second row, which."""
    if are_few(family, n):
        return merge_run(family, state, n, 0, family.whole(n), 0)
    kept = 0
    start, end = next_run(family, state, n, 0)
    while start < end:
        kept = merge_run(family, state, n, start, end, kept)
        start, end = next_run(family, state, n, end)
    return kept


@compiled_function
def merge_run(family: Family, state: Hypotheses, n: int, start: int, end: int, kept: int) -> int:
    w, p, beliefs, size, without = state.weights, state.scratch, state.beliefs, state.weights.size, in_eights(2 * n)
    which, share, far = p[size:], p[2 * size :], p[3 * size :]
    for i in range(start, end):
        b = w[i] / (p[i] if p[i] > 0.0 else 1.0)
        apart = family.dissimilarity(beliefs, i, without + i, 1.0 - b, b)
        near = (p[i] - w[i]) * w[i] * (apart * apart) < NEAR * NEAR
        share[i] = b if near and splits(w[i], p[i]) else 0.0
        far[i] = 1.0 if waits(w[i], p[i]) and share[i] == 0.0 else 0.0
    for i in range(start, end):
        if share[i] > 0.0:
            family.merge(beliefs, i, without + i, 1.0 - share[i], share[i])
    left = 0
    for i in range(start, end):
        left += 1 if far[i] > 0.0 else 0
    if left > 0:
        for i in range(start, min(end, n)):
            which[kept] = i
            kept += 1 if far[i] > 0.0 else 0
    return kept


@compiled_function
def spread(state: Hypotheses, n: int, waiting: int) -> int:
    """Put what waits on beside the hypothesis it comes from, or in its place; returns how many of the first were left alone.

    Behind it and before it in turn: so neighbours that come from different hypotheses both took y in, or both did not, and are
    more alike. Merge, which merges neighbours, is nearer to exact for it.
    """
    w, p, beliefs, size, without = state.weights, state.scratch, state.beliefs, state.weights.size, in_eights(2 * n)
    which, place, i = p[size:], n - 1, n - 1
    for k in range(waiting):
        source = int(which[k])
        place += 1 if splits(w[source], p[source]) else 0
    state.count[0] = place + 1
    for k in range(waiting - 1, -1, -1):
        source = int(which[k])
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
            copy_column(beliefs, without + source, beliefs, other)
            state.run_lengths[other] = state.run_lengths[split]
            w[split], w[other] = both - strange, strange
        else:  # y told it nothing
            note_split(state, i, place, False)
            move(state, i, place)
            w[place] = both
            copy_column(beliefs, without + source, beliefs, place)
        i, place = i - 1, place - 1
    note_all(state)
    return i + 1
