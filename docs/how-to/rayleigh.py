"""A family that is not built in: Rayleigh-distributed amplitudes with an unknown rate.

Run it:  python docs/how-to/rayleigh.py
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import volatilis as vl
from volatilis.special import log, log_gamma


@vl.scalar_family
class Rayleigh(NamedTuple):
    """p(y | lambda) = 2 lambda y exp(-lambda y^2) for y > 0, and lambda ~ Gamma(shape, rate) at each change; theta = lambda.

    In the form h(y) exp(eta . phi(y) - A):  h = 2 y,  eta = -lambda,  phi = y^2,  A = -log lambda.
    The conjugate prior exp(eta . chi - nu A) = exp(-lambda chi) lambda^nu is Gamma(nu + 1, chi).
    """

    shape: float
    rate: float

    def _check(self) -> None:
        if not self.shape > 1.0:
            raise ValueError(f"Rayleigh: shape = {self.shape!r} is not accepted; it must be a number above 1")
        if not self.rate > 0.0:
            raise ValueError(f"Rayleigh: rate = {self.rate!r} is not accepted; it must be a number above 0")

    # --- required: one belief, scalars in, a scalar out ---

    def prior_chi(self, row: int) -> float:
        return self.rate

    def prior_nu(self) -> float:
        return self.shape - 1.0

    def sufficient_statistic(self, y: float, row: int) -> float:
        return y * y

    def log_normalizer(self, chi: np.ndarray, nu: float) -> float:
        if not (nu > -1.0 and chi[0] > 0.0):  # outside the domain: the numerical merge may try such a point
            return np.inf
        return log_gamma(nu + 1.0) - (nu + 1.0) * log(chi[0])

    def log_base_measure(self, y: float) -> float:
        return log(2.0 * y)

    def mean(self, chi: np.ndarray, nu: float, k: int) -> float:
        return (nu + 1.0) / chi[0]

    def variance(self, chi: np.ndarray, nu: float, k: int) -> float:
        return (nu + 1.0) / chi[0] / chi[0]

    # --- optional: a density that is constant in lambda has chi = 0, nu = 0; SMiLe needs it ---

    def flat_chi(self, row: int) -> float:
        return 0.0

    def flat_nu(self) -> float:
        return 0.0

    # --- optional, Python only: names, checks, sampling, the belief as a distribution ---

    @vl.python_only
    def parameter_names(self) -> tuple[str, ...]:
        return ("lambda",)

    @vl.python_only
    def observations(self, ys: object) -> tuple[np.ndarray, np.ndarray]:
        """The observations as float64, and which of them are missing."""
        values = np.array(ys, dtype=np.float64)
        missing = np.isnan(values)
        bad = ~missing & ~((values > 0.0) & np.isfinite(values))
        if bad.any():
            position = int(np.argmax(bad))
            raise ValueError(f"Rayleigh: observation {position} is {values[position]}; it must be a finite number above 0")
        return values, missing

    @vl.python_only
    def distribution(self, beliefs: object, i: int) -> object:
        from scipy import stats

        return stats.gamma(beliefs.nu[i] + 1.0, scale=1.0 / beliefs.chi[0, i])

    @vl.python_only
    def sample_parameter(self, rng: np.random.Generator) -> np.ndarray:
        return np.array([rng.gamma(self.shape, 1.0 / self.rate)])

    @vl.python_only
    def sample_observations(self, theta: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
        return np.sqrt(rng.standard_exponential(n) / theta[0])


def main() -> None:
    family = Rayleigh(shape=2.0, rate=1.0)
    y, theta, changed = vl.ChangingEnvironment(family, p_c=0.02).sample(2000, seed=3)
    exact = vl.run(vl.ExactBayes(family, p_c=0.02), y)
    learners = {
        "ExactBayes": vl.ExactBayes(family, p_c=0.02),
        "Merge n=1": vl.Merge(family, p_c=0.02, n=1),
        "Merge n=5": vl.Merge(family, p_c=0.02, n=5),
        "ParticleFilter n=50": vl.ParticleFilter(family, p_c=0.02, n=50),
        "VarSMiLe": vl.VarSMiLe(family, m=0.02),
        "SMiLe": vl.SMiLe(family, m=1e-4),
    }
    print(f"{changed.sum()} changes in {y.size} observations")
    print(f"{'learner':20s} {'error^2 against truth':>22s} {'against ExactBayes':>20s}")
    for name, learner in learners.items():
        trace = vl.run(learner, y)
        print(f"{name:20s} {np.mean((trace.mean - theta) ** 2):22.4f} {np.mean((trace.mean - exact.mean) ** 2):20.2e}")


if __name__ == "__main__":
    main()
