"""Particle filtering."""

from __future__ import annotations

import numpy as np

from volatilis._compiler.registry import compiled_function, python_only
from volatilis._core.fields import Fraction
from volatilis.families._base import Observation, copy_column
from volatilis.families._kinds import AnyFamily
from volatilis.learners._base import Info, change_and_stay
from volatilis.learners._hypotheses import Hypotheses, hypotheses
from volatilis.learners._kinds import ChangeProbability, HypothesisCount, LearnerRecord, LearnerTuple, Style, learner
from volatilis.learners._recent import begin_anew, count_observation, counter, read_onset, read_recent_change
from volatilis.learners._recent_kept import Recent
from volatilis.special import exp, log, skip, total, uniform, uniform_ahead


@learner(
    LearnerRecord(
        name="particle-filter",
        title="pf",
        aliases=("pf",),
        place=20,
        keeps="n particles",
        style=Style("#86c5f7", "o", many="#06397a"),
        outliers=True,
    )
)
class ParticleFilter(LearnerTuple):
    """pfN (paper, Algorithm 3): n sampled histories of changes, from the optimal proposal.

    Resampling, with replacement, when N_eff <= resample_below * n. The particles are resampled after their beliefs are
    updated rather than before, which is the same in distribution.

        family           how observations arise, such as vl.Gaussian(sigma=1)
        p_c              the probability of a change before an observation
        n                how many particles there are
        resample_below   the share of n at which the effective number of particles leads to resampling: 0 never, 1 always

    >>> import volatilis as vl
    >>> vl.run(vl.ParticleFilter(vl.Gaussian(sigma=0.5, sigma_0=2.0), p_c=0.1, n=20), [0.2, -0.1, 3.0, 3.2]).mean.round(3)
    array([0.188, 0.041, 2.824, 3.006])
    """

    family: AnyFamily
    p_c: ChangeProbability
    n: HypothesisCount
    resample_below: Fraction = 0.5

    @python_only
    def init(self, seed: int = 0) -> Hypotheses:
        state = hypotheses(self.family, self.n, seed)
        self.restart(state)
        return state

    @python_only
    def most_hypotheses(self) -> int:
        return self.n

    @python_only
    def fewest_hypotheses(self) -> int:
        return self.n

    @python_only
    def keep_recent(self, within: int) -> Recent:
        return counter(within)

    def read_recent(self, state: Hypotheses) -> float:
        return read_recent_change(state)

    def read_onset(self, state: Hypotheses, level: float) -> float:
        return read_onset(state, level) if state.recent.is_kept() else np.nan

    def restart(self, state: Hypotheses) -> None:
        begin_anew(state)
        state.count[0] = self.n
        for i in range(self.n):
            state.weights[i] = 1.0 / self.n
            state.run_lengths[i] = 0.0
            self.family.prior(state.beliefs, i)

    def update(self, state: Hypotheses, y: Observation) -> Info:
        family = self.family
        n, w, p = family.whole(self.n), state.weights, state.scratch
        c = p  # in the same room: c_i is drawn when p_i is no longer needed
        # Surprise per particle, global surprise: p_i = w_i P(y; pi_i) / e^scale
        evidence, scale = family.predictives(state.beliefs, w, n, y, p)
        log_p_0 = family.log_prior_predictive(state.pi_0, y)
        # Modulation factor
        change, stay = change_and_stay(self.p_c, log_p_0, scale)
        gamma = change / (change + stay * evidence)
        # Weight per particle: (1 - gamma) w_B + gamma w = w ((1 - p_c) P(y; pi_i) + p_c P(y; pi_0)) / Z
        if family.splits():
            draw_changes_and_outliers(family, state, y, change, stay, scale, log_p_0)
            count_observation(state)
            normalise_and_resample(state, self.resample_below)
            return Info(scale + log(evidence), log_p_0, gamma)
        for i in range(n):
            stayed = stay * p[i]
            w[i] = stayed + change * w[i]
            # Hidden state: c_i ~ Bernoulli(gamma(S_BF(y; pi_i), m)), which is the share of change in the weight
            c[i] = 1.0 if uniform_ahead(state.random, i) * w[i] >= stayed else 0.0
        skip(state.random, self.n)
        for i in range(self.n):
            if c[i] == 1.0:
                family.prior(state.beliefs, i)
                state.run_lengths[i] = 0.0
        # Updated belief
        family.absorb_all(state.beliefs, n, y)
        for i in range(n):
            state.run_lengths[i] += 1.0
        count_observation(state)
        normalise_and_resample(state, self.resample_below)
        return Info(scale + log(evidence), log_p_0, gamma)

    def elapse(self, state: Hypotheses) -> None:
        for i in range(self.n):
            if uniform(state.random) < self.p_c:
                self.family.prior(state.beliefs, i)
                state.run_lengths[i] = 0.0


@compiled_function
def draw_changes_and_outliers(
    family: Observation, state: Hypotheses, y: Observation, change: float, stay: float, scale: float, log_p_0: float
) -> None:
    """The same where y may be an outlier, which tells a particle nothing: each draws both, by their shares in its weight.

    On a line of length w_i: y is an outlier, or not, without a change; then both after one.
    """
    w, p = state.weights, state.scratch
    outlier, outlier_after_change = stay * exp(family.log_outlier(y) - scale), change * exp(family.log_outlier(y) - log_p_0)
    for i in range(state.count[0]):
        strange, stayed = outlier * w[i], stay * p[i]
        strange_after_change = stayed + outlier_after_change * w[i]
        w[i] = stayed + change * w[i]
        point = uniform(state.random) * w[i]
        if point >= stayed:
            family.prior(state.beliefs, i)
            state.run_lengths[i] = 0.0
            strange = strange_after_change
        if point >= strange:
            family.absorb(state.beliefs, i, y)
        state.run_lengths[i] += 1.0


@compiled_function
def normalise_and_resample(state: Hypotheses, resample_below: float) -> None:
    n, w, squares = state.count[0], state.weights, state.scratch
    factor = 1.0 / total(w, n)
    for i in range(n):
        w[i] *= factor
        squares[i] = w[i] * w[i]
    if resample_below * n * total(squares, n) >= 1.0:  # N_eff = 1 / sum of squares
        resample(state)


@compiled_function
def resample(state: Hypotheses) -> None:
    """n draws with replacement, each particle in proportion to its weight; all weights become 1/n."""
    n, w, draws = state.count[0], state.weights, state.scratch
    for i in range(n):
        draws[i] = 0.0
    for i in range(1, n):
        w[i] += w[i - 1]
    for _ in range(n):
        draws[first_above(w, n, uniform(state.random) * w[n - 1])] += 1.0
    empty = 0
    for i in range(n):
        while draws[i] > 1.0:  # a particle drawn twice takes the place of one that was not
            while draws[empty] > 0.0:
                empty += 1
            copy_column(state.beliefs, i, state.beliefs, empty)
            state.run_lengths[empty] = state.run_lengths[i]
            draws[empty] = 1.0
            draws[i] -= 1.0
    for i in range(n):
        w[i] = 1.0 / n


@compiled_function
def first_above(cumulative: np.ndarray, n: int, x: float) -> int:
    """The first i with cumulative[i] > x, by bisection."""
    low, high = 0, n - 1
    while low < high:
        middle = (low + high) // 2
        if cumulative[middle] > x:
            high = middle
        else:
            low = middle + 1
    return low
