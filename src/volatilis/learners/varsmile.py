"""Variational SMiLe."""

from __future__ import annotations

from volatilis._compiler.registry import python_only
from volatilis.families._base import Observation, copy_column
from volatilis.families._kinds import AnyFamily
from volatilis.learners._base import Info, modulated
from volatilis.learners._kinds import LearnerRecord, Modulation, OneBeliefLearner, Style, learner_with_one_belief
from volatilis.learners._one_belief import OneBelief, relax
from volatilis.special import exp, log


@learner_with_one_belief(
    LearnerRecord(
        name="varsmile",
        title="VarSMiLe",
        place=60,
        keeps="one belief",
        style=Style("#a038c8", "v"),
        outliers=True,
        tuned="m",
    )
)
class VarSMiLe(OneBeliefLearner):
    """Variational SMiLe (paper, Algorithm 1): averages the logarithms of "integrate" and "reset" with weight gamma.

        gamma = m S_BF / (1 + m S_BF)
        chi  <-  (1 - gamma) chi + gamma chi_0 + phi(y)
        nu   <-  (1 - gamma) nu + gamma nu_0 + 1

    m says how strongly surprise modulates learning; p_c / (1 - p_c) is a good start. Where a change probability is needed
    (Shannon surprise, elapsed time) it is m / (1 + m).

        family   how observations arise, such as vl.Gaussian(sigma=1)
        m        how strongly surprise modulates learning

    >>> import volatilis as vl
    >>> vl.run(vl.VarSMiLe(vl.Gaussian(sigma=0.5, sigma_0=2.0), m=0.1), [0.2, -0.1, 3.0, 3.2]).mean.round(3)
    array([0.188, 0.046, 2.819, 3.004])
    """

    family: AnyFamily
    m: Modulation

    def update(self, state: OneBelief, y: Observation) -> Info:
        family, pi, i, pi_0 = self.family, state.beliefs, state.i, state.pi_0
        if family.splits():
            return self.update_or_not(state, y)
        # Surprise
        log_p, log_p_0 = family.log_predictive(pi, i, y), family.log_prior_predictive(pi_0, y)
        # Modulation factor
        gamma, stay = modulated(self.m, family.bayes_factor(pi, i, pi_0, 0, y))
        # Updated belief
        family.blend(pi, i, pi_0, 0, stay, gamma)
        family.absorb(pi, i, y)
        state.run_lengths[i] = stay * state.run_lengths[i] + 1.0
        return Info(log_p, log_p_0, gamma)

    def update_or_not(self, state: OneBelief, y: Observation) -> Info:
        """Where y may be an outlier: the rule if it is none, time that passes if it is one, merged by their probabilities."""
        family, pi, i, work = self.family, state.beliefs, state.i, state.work
        # Surprise of what is no outlier, and of all
        log_in, log_in_0, log_out = family.log_inlier(pi, i, y), family.log_inlier(state.pi_0, 0, y), family.log_outlier(y)
        unit = max(log_in, log_in_0, log_out)
        p, p_0, outlier = exp(log_in - unit), exp(log_in_0 - unit), exp(log_out - unit)
        # Modulation factors: of the whole model, and if y is no outlier
        norm = 1.0 / (p + outlier + self.m * (p_0 + outlier))
        gamma, outlier_share = self.m * (p_0 + outlier) * norm, (1.0 + self.m) * outlier * norm
        gamma_in, stay_in = modulated(self.m, exp(log_in_0 - log_in))
        # Updated belief
        copy_column(pi, i, work, 0)
        family.blend(work, 0, state.pi_0, 0, stay_in, gamma_in)
        family.absorb(work, 0, y)
        taken = (1.0 - outlier_share) * stay_in * state.run_lengths[i]
        self.elapse(state)
        copy_column(pi, i, work, 1)
        family.merge(work, 0, 1, 1.0 - outlier_share, outlier_share)
        copy_column(work, 0, pi, i)
        state.run_lengths[i] = taken + outlier_share * state.run_lengths[i] + 1.0
        return Info(unit + log(p + outlier), unit + log(p_0 + outlier), gamma)

    def elapse(self, state: OneBelief) -> None:
        relax(self.family, state, self.m / (1.0 + self.m))

    @python_only
    def change_probability(self) -> float:
        return self.m / (1.0 + self.m)
