"""What Nas10* and Nas12* share: a Gaussian belief with mean mu-hat and r-hat observations' worth of certainty."""

from __future__ import annotations

from typing import Any

from volatilis._compiler.registry import compiled_function
from volatilis.families.gaussian import Gaussian
from volatilis.learners._one_belief import OneBelief


def require_gaussian(learner: Any) -> None:
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
