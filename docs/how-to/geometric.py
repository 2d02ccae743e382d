"""A family and a learner of one's own, for `--own docs/how-to/geometric.py` and for Python."""

from typing import Annotated, Any, NamedTuple

import numpy as np

from volatilis.own import LOGIT, AnyFamily, Info, Positive, Probability, Range, learner_with_one_belief, relax, scalar_family
from volatilis.special import log_beta


@scalar_family
class Geometric(NamedTuple):
    """y failures before a success that has probability p, and p ~ Beta(a, b) at each change; theta = p."""

    a: Positive = 1.0
    b: Positive = 1.0

    def prior_chi(self, row: int) -> float:
        return self.b - 1.0

    def prior_nu(self) -> float:
        return self.a - 1.0

    def sufficient_statistic(self, y: float, row: int) -> float:
        return y

    def log_normalizer(self, chi: np.ndarray, nu: float) -> float:
        return log_beta(nu + 1.0, chi[0] + 1.0) if nu > -1.0 and chi[0] > -1.0 else np.inf

    def log_base_measure(self, y: float) -> float:
        return 0.0

    def mean(self, chi: np.ndarray, nu: float, k: int) -> float:
        return (nu + 1.0) / (nu + chi[0] + 2.0)

    def variance(self, chi: np.ndarray, nu: float, k: int) -> float:
        p = (nu + 1.0) / (nu + chi[0] + 2.0)
        return p * (1.0 - p) / (nu + chi[0] + 3.0)


@learner_with_one_belief
class Forgetful(NamedTuple):
    """Forgets a fixed share of what it knows before every observation, however surprising that is."""

    family: AnyFamily
    share: Annotated[Probability, Range(LOGIT, 1e-4, 1 - 1e-4, 0.01, 0.5)]

    def update(self, state: Any, y: Any) -> Info:
        family, i = self.family, state.i
        log_p, log_p_0 = family.log_predictive(state.beliefs, i, y), family.log_prior_predictive(state.pi_0, y)
        self.elapse(state)
        family.absorb(state.beliefs, i, y)
        state.run_lengths[i] += 1.0
        return Info(log_p, log_p_0, self.share)

    def elapse(self, state: Any) -> None:
        relax(self.family, state, self.share)

    def change_probability(self) -> float:
        return self.share
