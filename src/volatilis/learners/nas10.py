"""Nas10* and Nas10: the delta rule with an expected run length."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

from volatilis._compiler.registry import compiled_function
from volatilis.families._kinds import AnyFamily
from volatilis.families.gaussian import Gaussian, Location, Noise, Spread
from volatilis.learners._base import Info, Learner, modulated
from volatilis.learners._kinds import ChangeProbability, LearnerRecord, OneBeliefLearner, Style, learner_with_one_belief, variant
from volatilis.learners._one_belief import OneBelief


@learner_with_one_belief(
    LearnerRecord(
        name="nas10-star",
        title="Nas10*",
        aliases=("nas10*",),
        place=80,
        keeps="one belief",
        style=Style("#e0c030", ">"),
        tuned="p_c",
    )
)
class Nas10Star(OneBeliefLearner):
    """Nas10* (paper, Supplementary Algorithm 1): Nassar et al. (2010) with a Gaussian prior.

        mu <- (1 - gamma) (mu + (y - mu) / (rho + r + 1)) + gamma (mu_0 + (y - mu_0) / (rho + 1))
        r  <- (1 - gamma) (r + 1) + gamma
        variance <- sigma^2 / (rho + r),   rho = sigma^2 / sigma_0^2

    Starts with r = 0, where the belief is the prior itself (errata 12); the variance is a variance (errata 4).

        family   a vl.Gaussian
        p_c      the probability of a change before an observation

    >>> import volatilis as vl
    >>> vl.run(vl.Nas10Star(vl.Gaussian(sigma=0.5, sigma_0=2.0), p_c=0.1), [0.2, -0.1, 3.0, 3.2]).mean.round(3)
    array([0.188, 0.043, 2.822, 3.005])
    """

    family: AnyFamily
    p_c: ChangeProbability

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


def require_gaussian(learner: Learner) -> None:
    if not isinstance(learner.family, Gaussian):
        raise TypeError(
            f"{type(learner).__name__} is defined for volatilis.Gaussian only, not for {type(learner.family).__name__}; "
            "volatilis.Merge(family, p_c, n=1) is Nas12* for every family"
        )


@compiled_function
def set_gaussian(state: OneBelief, mu: float, nu: float, run_length: float) -> None:
    """The belief N(mu, sigma^2 / nu), nu = rho + r."""
    state.beliefs.nu[state.i] = nu
    state.beliefs.chi[0, state.i] = mu
    state.run_lengths[state.i] = run_length


class _GaussianLearner(Protocol):
    @property
    def family(self) -> Gaussian: ...
    @property
    def p_c(self) -> float: ...


class BroadPrior:
    """A starred learner that makes its family itself: the original, whose prior is broad."""

    def __new__(cls, sigma: Noise, p_c: ChangeProbability, mu_0: Location = 0.0, sigma_0: Spread = 1000.0) -> Any:
        return super().__new__(cls, Gaussian(sigma, mu_0, sigma_0), p_c)  # type: ignore[call-arg]

    @classmethod
    def _make(cls, values: Iterable[object]) -> Any:
        return super().__new__(cls, *values)

    def __getnewargs__(self: _GaussianLearner) -> tuple[float, ...]:
        """What `__new__` takes: a copy is made from it, also on its way to another process."""
        return (self.family.sigma, self.p_c, self.family.mu_0, self.family.sigma_0)

    def __repr__(self: _GaussianLearner) -> str:
        family = self.family
        return f"{type(self).__name__}(sigma={family.sigma}, p_c={self.p_c}, mu_0={family.mu_0}, sigma_0={family.sigma_0})"


@variant(
    LearnerRecord(
        name="nas10",
        title="Nas10",
        original=True,
        place=120,
        keeps="one belief",
        style=Style("#c48a68", "h", "dash-dotted"),
        tuned="p_c",
        samples=False,
        made_for=Gaussian,
        from_family=("sigma", "mu_0"),
    )
)
class Nas10(BroadPrior, Nas10Star):
    """Nas10, the original of Nassar et al. (2010): as in the paper, Nas10* with a broad prior (sigma_0 = 1000).

        sigma     the standard deviation of an observation
        p_c       the probability of a change before an observation
        mu_0      the prior mean of mu
        sigma_0   the prior standard deviation of mu, which is broad

    >>> import volatilis as vl
    >>> vl.run(vl.Nas10(sigma=0.5, p_c=0.1), [0.2, -0.1, 3.0, 3.2]).mean.round(3)
    array([0.2  , 0.05 , 2.767, 2.961])
    """

    if TYPE_CHECKING:

        def __init__(self, sigma: float, p_c: float, mu_0: float = 0.0, sigma_0: float = 1000.0) -> None: ...
