"""Nas12* and Nas12: the delta rule with an expected variance."""

from __future__ import annotations

from typing import Any, NamedTuple

from volatilis._compiler.registry import compiled_function, compiled_methods
from volatilis._core.fields import AnyFamily, Probability
from volatilis.families.gaussian import Gaussian
from volatilis.learners._base import learner_with_one_belief
from volatilis.learners._nassar import require_gaussian, set_gaussian
from volatilis.learners._one_belief import OneBelief
from volatilis.learners._step import Info, modulated


@learner_with_one_belief
class Nas12Star(NamedTuple):
    """Nas12* (paper, Supplementary Algorithm 2): Nassar et al. (2012) with a Gaussian prior.

        mu_stay = mu + (y - mu) / (rho + r + 1),   mu_change = mu_0 + (y - mu_0) / (rho + 1)
        mu <- (1 - gamma) mu_stay + gamma mu_change
        variance <- (1 - gamma) sigma^2 / (rho + r + 1) + gamma sigma^2 / (rho + 1)
                    + (1 - gamma) gamma (mu_stay - mu_change)^2
        r <- sigma^2 / variance - rho,   rho = sigma^2 / sigma_0^2

    r is negative where the belief is less certain than the prior. Starts with r = 0, the prior itself (errata 12).
    """

    family: AnyFamily
    p_c: Probability

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


@compiled_methods
class Nas12(Nas12Star):
    """Nas12, the original of Nassar et al. (2012): as in the paper, Nas12* with a broad prior (sigma_0 = 1000)."""

    def __new__(cls, sigma: float, p_c: float, mu_0: float = 0.0, sigma_0: float = 1000.0) -> Any:
        return Nas12Star.__new__(cls, Gaussian(sigma, mu_0, sigma_0), p_c)

    @classmethod
    def _make(cls, values: Any) -> Any:  # type: ignore[override]
        return Nas12Star.__new__(cls, *values)

    def __getnewargs__(self) -> tuple[float, ...]:
        """What `__new__` takes: a copy is made from it, also on its way to another process."""
        return (self.family.sigma, self.p_c, self.family.mu_0, self.family.sigma_0)

    def __repr__(self) -> str:
        family = self.family
        return f"Nas12(sigma={family.sigma}, p_c={self.p_c}, mu_0={family.mu_0}, sigma_0={family.sigma_0})"
