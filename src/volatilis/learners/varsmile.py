"""Variational SMiLe."""

from __future__ import annotations

from volatilis._compiler.registry import python_only
from volatilis.families._base import Observation
from volatilis.families._kinds import AnyFamily
from volatilis.learners._base import Info, modulated
from volatilis.learners._kinds import LearnerRecord, Modulation, OneBeliefLearner, Style, learner_with_one_belief
from volatilis.learners._one_belief import OneBelief, relax


@learner_with_one_belief(
    LearnerRecord(
        name="varsmile",
        title="VarSMiLe",
        place=60,
        keeps="one belief",
        style=Style("#a038c8", "v"),
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
        # Surprise
        log_p, log_p_0 = family.log_predictive(pi, i, y), family.log_prior_predictive(pi_0, y)
        # Modulation factor
        gamma, stay = modulated(self.m, family.bayes_factor(pi, i, pi_0, 0, y))
        # Updated belief
        family.blend(pi, i, pi_0, 0, stay, gamma)
        family.absorb(pi, i, y)
        state.run_lengths[i] = stay * state.run_lengths[i] + 1.0
        return Info(log_p, log_p_0, gamma)

    def elapse(self, state: OneBelief) -> None:
        relax(self.family, state, self.m / (1.0 + self.m))

    @python_only
    def change_probability(self) -> float:
        return self.m / (1.0 + self.m)
