"""Binary observations with an unknown probability."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from volatilis._compiler.registry import compiled_function, python_only
from volatilis._core.fields import Positive
from volatilis._core.records import LOG, Range
from volatilis.families._base import AcceptedNumbers, Beliefs
from volatilis.families._dirichlet import (
    blend_dirichlets,
    count_one,
    dirichlet_dissimilarities,
    dirichlet_dissimilarity,
    dirichlet_divergence,
    dirichlet_divergence_parts,
    merge_dirichlets,
    mixture_share,
    plausible_count,
    set_total,
    share,
    weighted_shares,
)
from volatilis.families._kinds import FamilyRecord, FamilyTuple, family
from volatilis.families._observations import whole_observations
from volatilis.special import LOG_2, exp, log, log_1p, log_beta

Pseudocount = Annotated[Positive, Range(LOG, 1e-3, 1e3, 0.5, 5.0)]


@compiled_function
def _logit_tail(a: float, b: float) -> float:
    """A bound x on logit p with P(p < logistic(x)) < 1e-16 under Beta(a, b)."""
    if a > 200.0 and b > 200.0:
        return log(a / b) - 10.0 * math.sqrt(1.0 / a + 1.0 / b)
    return min((log(a) + log_beta(a, b) - 38.0) / a, -LOG_2)  # P(p < e) < 2 e^a / (a B(a, b)) for e <= 1/2


@family(
    FamilyRecord(
        name="bernoulli",
        place=60,
        observes="0 or 1",
        likelihood="$y = 1$ with probability p, else 0",
        theta="p (`p`)",
        prior=r"$p \sim \mathrm{Beta}(a, b)$",
    )
)
class Bernoulli(FamilyTuple):
    """y is 1 with probability p, else 0, and p ~ Beta(a, b) at each change; theta = p.

    chi = (number of ones, number of zeros) with the prior's share, nu their sum: the belief is Beta(chi_0, chi_1).

        a   the prior's pseudo-count of ones
        b   the prior's pseudo-count of zeros

    >>> import volatilis as vl
    >>> vl.run(vl.VarSMiLe(vl.Bernoulli(), m=0.1), [1, 1, 0]).mean.round(3)
    array([0.667, 0.746, 0.566])
    """

    a: Pseudocount = 1.0
    b: Pseudocount = 1.0

    def rows(self) -> int:
        return 4

    def size(self) -> int:
        return 1

    def prior(self, beliefs: Beliefs, i: int) -> None:
        beliefs.chi[0, i] = self.a
        beliefs.chi[1, i] = self.b
        set_total(beliefs, i, self.a + self.b)

    def log_predictive(self, beliefs: Beliefs, i: int, y: int) -> float:
        return log(share(beliefs, i, 1 - y))

    def predictives(self, beliefs: Beliefs, w: np.ndarray, n: int, y: int, out: np.ndarray) -> tuple[float, float]:
        return weighted_shares(beliefs, w, n, 1 - y, out)

    def predictive_cdf(self, beliefs: Beliefs, i: int, y: int, k: int, v: float, around: float) -> float:
        return share(beliefs, i, 1) + v * share(beliefs, i, 0) if y == 1 else v * share(beliefs, i, 1)

    def bayes_factor(self, beliefs: Beliefs, i: int, others: Beliefs, j: int, y: int) -> float:
        return share(others, j, 1 - y) / share(beliefs, i, 1 - y)

    def absorb(self, beliefs: Beliefs, i: int, y: int) -> None:
        count_one(beliefs, i, 1 - y)

    def blend(self, beliefs: Beliefs, i: int, others: Beliefs, j: int, a: float, b: float) -> None:
        blend_dirichlets(beliefs, i, others, j, a, b)

    def mean(self, beliefs: Beliefs, i: int, k: int) -> float:
        return share(beliefs, i, 0)

    def variance(self, beliefs: Beliefs, i: int, k: int) -> float:
        return share(beliefs, i, 0) * share(beliefs, i, 1) * beliefs.chi[3, i]

    def estimate(self, beliefs: Beliefs, i: int, k: int) -> float:
        return share(beliefs, i, 0)

    def mixture_mean(self, beliefs: Beliefs, w: np.ndarray, n: int, k: int, room: np.ndarray) -> float:
        return mixture_share(beliefs, w, n, k, room)

    def merge(self, beliefs: Beliefs, i: int, j: int, a: float, b: float) -> None:
        """Keeps the pair's mean and variance."""
        merge_dirichlets(beliefs, i, j, a, b)

    def dissimilarity(self, beliefs: Beliefs, i: int, j: int, a: float, b: float) -> float:
        return dirichlet_dissimilarity(beliefs, i, j, a, b)

    def dissimilarities(self, beliefs: Beliefs, w: np.ndarray, n: int, out: np.ndarray) -> None:
        dirichlet_dissimilarities(beliefs, w, n, out)

    def divergence(self, beliefs: Beliefs, i: int, others: Beliefs, j: int) -> float:
        return dirichlet_divergence(beliefs, i, others, j)

    def divergence_parts(self, beliefs: Beliefs, i: int, others: Beliefs, j: int) -> tuple[float, float]:
        return dirichlet_divergence_parts(beliefs, i, others, j)

    def scaled_likelihood(self, beliefs: Beliefs, i: int, y: int) -> None:
        """Beta(1 + y, 2 - y)."""
        beliefs.chi[y, i] = 1.0
        beliefs.chi[1 - y, i] = 2.0
        set_total(beliefs, i, 3.0)

    def log_density(self, beliefs: Beliefs, i: int, x: float) -> float:
        """Of x = logit p."""
        a, b = beliefs.chi[0, i], beliefs.chi[1, i]
        softplus = max(x, 0.0) + log_1p(exp(-abs(x)))
        return a * x - (a + b) * softplus - log_beta(a, b)

    def lower(self, beliefs: Beliefs, i: int) -> float:
        return _logit_tail(beliefs.chi[0, i], beliefs.chi[1, i])

    def upper(self, beliefs: Beliefs, i: int) -> float:
        return -_logit_tail(beliefs.chi[1, i], beliefs.chi[0, i])

    def in_row(self, row: np.ndarray, start: int) -> int:
        return int(row[start])

    @python_only
    def categories(self) -> int:
        return 2

    def log_broad(self, spread: float, y: int) -> float:
        """Uniform."""
        return -LOG_2

    def broad_cdf(self, spread: float, y: int, v: float, around: float) -> float:
        return 0.5 * (y + v)

    @python_only
    def sample_broad(self, spread: float, n: int, rng: np.random.Generator) -> np.ndarray:
        return rng.integers(0, 2, n)

    @python_only
    def broad_has_spread(self) -> bool:
        return False

    @python_only
    def parameter_names(self) -> tuple[str, ...]:
        return ("p",)

    @python_only
    def observations(self, ys: object) -> tuple[np.ndarray, np.ndarray]:
        return whole_observations("Bernoulli", ys, lambda v: (v == 0) | (v == 1), "0 or 1")

    @python_only
    def plausible(self, sequences: Sequence[np.ndarray]) -> Bernoulli:
        """With the mean of all, and as much weight as how often two are alike suggests."""
        mean, weight = float(np.concatenate(sequences).mean()), 2.0 * plausible_count(2, sequences)
        return Bernoulli(weight * float(np.clip(mean, 0.01, 0.99)), weight * float(np.clip(1.0 - mean, 0.01, 0.99)))

    @python_only
    def accepted_numbers(self) -> AcceptedNumbers:
        return AcceptedNumbers(0.0, 1.0, whole=True)

    @python_only
    def distribution(self, beliefs: Beliefs, i: int) -> Any:
        from scipy import stats

        return stats.beta(beliefs.chi[0, i], beliefs.chi[1, i])

    @python_only
    def sample_parameter(self, rng: np.random.Generator) -> np.ndarray:
        return np.array([rng.beta(self.a, self.b)])

    @python_only
    def sample_observations(self, theta: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
        return (rng.random(n) < theta[0]).astype(np.int64)
