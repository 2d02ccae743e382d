"""Nas10* and Nas10: the delta rule with an expected run length."""

from __future__ import annotations

from typing import Any, NamedTuple

from volatilis._compiler.registry import compiled_methods
from volatilis._core.fields import AnyFamily, Probability
from volatilis.families.gaussian import Gaussian
from volatilis.learners._base import learner_with_one_belief
from volatilis.learners._nassar import require_gaussian, set_gaussian
from volatilis.learners._one_belief import OneBelief
from volatilis.learners._step import Info, modulated


@learner_with_one_belief
class Nas10Star(NamedTuple):
    """Nas10* (paper, Supplementary Algorithm 1): Nassar et al. (2010) with a Gaussian prior.

        mu <- (1 - gamma) (mu + (y - mu) / (rho + r + 1)) + gamma (mu_0 + (y - mu_0) / (rho + 1))
        r  <- (1 - gamma) (r + 1) + gamma
        variance <- sigma^2 / (rho + r),   rho = sigma^2 / sigma_0^2

    Starts with r = 0, where the belief is the prior itself (errata 12); the variance is a variance (errata 4).
    """

    family: AnyFamily
    p_c: Probability

    def update(self, state: OneBelief, y: float) -> Info:
        family, mu_0, rho, r = self.family, self.family.mu_0, state.pi_0.nu[0], state.run_lengths[state.i]
        mu = state.beliefs.chi[0, state.i]
        # Surprise
        log_p, log_p_0 = family.log_predictive(state.beliefs, state.i, y), family.log_prior_predictive(state.pi_0, y)
        # Modulation factor
        gamma, stay = modulated(self.p_c / (1.0 - self.p_c), family.bayes_factor(state.beliefs, state.i, state.pi_0, 0, y))
        # Expected mean, expected time interval, expected variance
        mu = stay * (mu + (y - mu) / (rho + r + 1.0)) + gamma * (mu_0 + (y - mu_0) / (rho + 1.0))
        r = stay * (r + 1.0) + gamma
        set_gaussian(state, mu, rho + r, r)
        return Info(log_p, log_p_0, gamma)

    def elapse(self, state: OneBelief) -> None:
        rho, r, stay = state.pi_0.nu[0], state.run_lengths[state.i], 1.0 - self.p_c
        mu = stay * state.beliefs.chi[0, state.i] + self.p_c * self.family.mu_0
        set_gaussian(state, mu, rho + stay * r, stay * r)

    def _check(self) -> None:
        require_gaussian(self)


@compiled_methods
class Nas10(Nas10Star):
    """Nas10, the original of Nassar et al. (2010): as in the paper, Nas10* with a broad prior (sigma_0 = 1000)."""

    def __new__(cls, sigma: float, p_c: float, mu_0: float = 0.0, sigma_0: float = 1000.0) -> Any:
        return Nas10Star.__new__(cls, Gaussian(sigma, mu_0, sigma_0), p_c)

    @classmethod
    def _make(cls, values: Any) -> Any:  # type: ignore[override]
        return Nas10Star.__new__(cls, *values)

    def __getnewargs__(self) -> tuple[float, ...]:
        """What `__new__` takes: a copy is made from it, also on its way to another process."""
        return (self.family.sigma, self.p_c, self.family.mu_0, self.family.sigma_0)

    def __repr__(self) -> str:
        family = self.family
        return f"Nas10(sigma={family.sigma}, p_c={self.p_c}, mu_0={family.mu_0}, sigma_0={family.sigma_0})"
