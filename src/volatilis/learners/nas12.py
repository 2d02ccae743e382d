"""Nas12* and Nas12: the delta rule with an expected variance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from volatilis._compiler.registry import compiled_function
from volatilis.families._kinds import AnyFamily
from volatilis.families.gaussian import Gaussian
from volatilis.learners._base import Info, modulated
from volatilis.learners._kinds import ChangeProbability, LearnerRecord, OneBeliefLearner, Style, learner_with_one_belief, variant
from volatilis.learners._one_belief import OneBelief
from volatilis.learners.nas10 import BroadPrior, require_gaussian, set_gaussian


@learner_with_one_belief(
    LearnerRecord(
        name="nas12-star",
        title="Nas12*",
        aliases=("nas12*",),
        place=70,
        keeps="one belief",
        style=Style("#776600", "<"),
        tuned="p_c",
    )
)
class Nas12Star(OneBeliefLearner):
    """Nas12* (paper, Supplementary Algorithm 2): Nassar et al. (2012) with a Gaussian prior.

        mu_stay = mu + (y - mu) / (rho + r + 1),   mu_change = mu_0 + (y - mu_0) / (rho + 1)
        mu <- (1 - gamma) mu_stay + gamma mu_change
        variance <- (1 - gamma) sigma^2 / (rho + r + 1) + gamma sigma^2 / (rho + 1)
                    + (1 - gamma) gamma (mu_stay - mu_change)^2
        r <- sigma^2 / variance - rho,   rho = sigma^2 / sigma_0^2

    r is negative where the belief is less certain than the prior. Starts with r = 0, the prior itself (errata 12).

        family   a vl.Gaussian
        p_c      the probability of a change before an observation

    >>> import volatilis as vl
    >>> vl.run(vl.Nas12Star(vl.Gaussian(sigma=0.5, sigma_0=2.0), p_c=0.1), [0.2, -0.1, 3.0, 3.2]).mean.round(3)
    array([0.188, 0.043, 2.822, 3.006])
    """

    family: AnyFamily
    p_c: ChangeProbability

    def update(self, state: OneBelief, y: float) -> Info:
        family, mu_0, rho = self.family, self.family.mu_0, state.pi_0.nu[0]
        nu = state.beliefs.nu[state.i]  # rho + r
        mu = state.beliefs.chi[0, state.i]
        # Surprise
        log_p, log_p_0 = family.log_predictive(state.beliefs, state.i, y), family.log_prior_predictive(state.pi_0, y)
        # Modulation factor
        gamma, stay = modulated(self.p_c / (1.0 - self.p_c), family.bayes_factor(state.beliefs, state.i, state.pi_0, 0, y))
        # Expected mean, expected variance, expected time interval
        mu_stay, mu_change = mu + (y - mu) / (nu + 1.0), mu_0 + (y - mu_0) / (rho + 1.0)
        settle(state, family.sigma, rho, stay, mu_stay, nu + 1.0, gamma, mu_change, rho + 1.0)
        return Info(log_p, log_p_0, gamma)

    def elapse(self, state: OneBelief) -> None:
        rho, nu = state.pi_0.nu[0], state.beliefs.nu[state.i]
        mu = state.beliefs.chi[0, state.i]
        settle(state, self.family.sigma, rho, 1.0 - self.p_c, mu, nu, self.p_c, self.family.mu_0, rho)

    def _check(self) -> None:
        require_gaussian(self)


@compiled_function
def settle(
    state: OneBelief,
    sigma: float,
    rho: float,
    stay: float,
    mu_stay: float,
    nu_stay: float,
    gamma: float,
    mu_change: float,
    nu_change: float,
) -> None:
    """One Gaussian with the mean and the variance of both possibilities; lengths in units of sigma."""
    apart = (mu_stay - mu_change) / sigma
    nu = 1.0 / (stay / nu_stay + gamma / nu_change + (stay * apart) * (gamma * apart))
    set_gaussian(state, stay * mu_stay + gamma * mu_change, nu, nu - rho)


@variant(
    LearnerRecord(
        name="nas12",
        title="Nas12",
        original=True,
        place=110,
        keeps="one belief",
        style=Style("#6f3516", "p", "dash-dotted"),
        tuned="p_c",
        samples=False,
        made_for=Gaussian,
        from_family=("sigma", "mu_0"),
    )
)
class Nas12(BroadPrior, Nas12Star):
    """Nas12, the original of Nassar et al. (2012): as in the paper, Nas12* with a broad prior (sigma_0 = 1000).

        sigma     the standard deviation of an observation
        p_c       the probability of a change before an observation
        mu_0      the prior mean of mu
        sigma_0   the prior standard deviation of mu, which is broad

    >>> import volatilis as vl
    >>> vl.run(vl.Nas12(sigma=0.5, p_c=0.1), [0.2, -0.1, 3.0, 3.2]).mean.round(3)
    array([0.2  , 0.05 , 2.767, 3.078])
    """

    if TYPE_CHECKING:

        def __init__(self, sigma: float, p_c: float, mu_0: float = 0.0, sigma_0: float = 1000.0) -> None: ...
