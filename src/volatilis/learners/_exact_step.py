"""The step of exact inference, which learners with hypotheses take before they approximate."""

from __future__ import annotations

from volatilis._compiler.registry import compiled_function
from volatilis.families._base import Family, Observation
from volatilis.learners._base import Info, change_and_stay
from volatilis.learners._hypotheses import NOTHING, Hypotheses, add_prior, knows_nothing
from volatilis.learners._outliers import take_in_or_not
from volatilis.special import log


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
