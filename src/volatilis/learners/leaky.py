"""The leaky integrator."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from volatilis._compiler.registry import python_only
from volatilis._core.fields import Retention
from volatilis._core.records import LOGIT, Range
from volatilis.families._base import Beliefs, Observation, empty_beliefs
from volatilis.families._kinds import AnyFamily
from volatilis.learners._base import Info
from volatilis.learners._kinds import LearnerRecord, LearnerTuple, Style, learner
from volatilis.learners._one_belief import OneBelief, one_belief


@learner(
    LearnerRecord(
        name="leaky",
        title="Leaky",
        place=100,
        keeps="weighted statistics, no prior",
        style=Style("#8a8a8a", "X"),
        tuned="omega",
        readouts=("mean", "run_length"),
        samples=False,
    )
)
class Leaky(LearnerTuple):
    """The leaky integrator (paper, Methods): theta-hat from observations weighted by omega^age.

        chi <- omega chi + phi(y),   nu <- omega nu + 1,   theta-hat = chi / nu for the Gaussian and the Categorical

    and the maximum-likelihood estimate from the weighted statistics for other families. It has no prior and no belief, so no
    variance, no surprise and no adaptation rate; the effective number of observations is `run_length`.

        family   how observations arise, such as vl.Gaussian(sigma=1)
        omega    how much weight an observation keeps from one step to the next: 0 only the newest counts, 1 all count alike

    >>> import volatilis as vl
    >>> vl.run(vl.Leaky(vl.Gaussian(sigma=0.5, sigma_0=2.0), omega=0.8), [0.2, -0.1, 3.0, 3.2]).mean.round(3)
    array([0.2  , 0.033, 1.249, 1.91 ])
    """

    family: AnyFamily
    omega: Annotated[Retention, Range(LOGIT, 1e-3, 1 - 1e-5, 0.3, 0.95)]

    @python_only
    def init(self, seed: int = 0, columns: int = 1) -> OneBelief:
        state = one_belief(self.family, columns)
        nothing: Beliefs = empty_beliefs(self.family, columns)
        return state._replace(beliefs=nothing)

    def restart(self, state: OneBelief) -> None:
        for row in range(state.beliefs.chi.shape[0]):
            state.beliefs.chi[row, state.i] = 0.0
        state.beliefs.nu[state.i] = 0.0
        state.run_lengths[state.i] = 0.0

    def update(self, state: OneBelief, y: Observation) -> Info:
        self.elapse(state)
        self.family.absorb(state.beliefs, state.i, y)
        state.run_lengths[state.i] += 1.0
        return Info(np.nan, np.nan, np.nan)

    def elapse(self, state: OneBelief) -> None:
        self.family.blend(state.beliefs, state.i, state.beliefs, state.i, self.omega, 0.0)
        state.run_lengths[state.i] *= self.omega

    def read_mean(self, state: OneBelief, k: int) -> float:
        seen = state.run_lengths[state.i] > 0.0
        return self.family.estimate(state.beliefs, state.i, k) if seen else np.nan

    def read_moments(self, state: OneBelief, means: np.ndarray, variances: np.ndarray) -> None:
        for k in range(self.family.size()):
            means[k] = self.read_mean(state, k)

    def read_variance(self, state: OneBelief, k: int, mean: float) -> float:
        return np.nan

    @python_only
    def change_probability(self) -> float:
        return np.nan  # it has no model of changes
