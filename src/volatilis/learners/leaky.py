"""The leaky integrator."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from volatilis._compiler.registry import python_only
from volatilis._core.fields import AnyFamily, Retention
from volatilis.families._base import Beliefs, empty_beliefs
from volatilis.learners._base import learner
from volatilis.learners._one_belief import OneBelief, one_belief
from volatilis.learners._step import Info


@learner
class Leaky(NamedTuple):
    """The leaky integrator (paper, Methods): theta-hat from observations weighted by omega^age.

        chi <- omega chi + phi(y),   nu <- omega nu + 1,   theta-hat = chi / nu for the Gaussian and the Categorical

    and the maximum-likelihood estimate from the weighted statistics for other families. It has no prior and no belief, so no
    variance, no surprise and no adaptation rate; the effective number of observations is `run_length`.
    """

    family: AnyFamily
    omega: Retention

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

    def update(self, state: OneBelief, y: Any) -> Info:
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


Leaky._readouts = ("mean", "run_length")  # type: ignore[attr-defined]
