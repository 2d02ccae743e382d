"""Observations in k categories with unknown probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from volatilis._compiler.registry import python_only
from volatilis._core.fields import Categories, Positive
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
    mixture_share_variance,
    plausible_count,
    set_total,
    share,
    share_variance,
    weighted_shares,
)
from volatilis.families._kinds import FamilyRecord, FamilyTuple, family
from volatilis.families._observations import whole_observations
from volatilis.special import log

SymbolCount = Annotated[Positive, Range(LOG, 1e-3, 1e3, 0.2, 5.0)]  # a pseudo-count of each symbol


@family(
    FamilyRecord(
        name="categorical",
        place=50,
        observes="a whole number from 0 to k - 1",
        likelihood=r"$y = j$ with probability $p_j$, $j = 0 \dots k - 1$",
        theta="p (`p[0]`, ..., `p[k-1]`)",
        prior=r"$p \sim \mathrm{Dirichlet}(s, \dots, s)$",
    )
)
class Categorical(FamilyTuple):
    """y is one of 0 ... k - 1 with probabilities p, and p ~ Dirichlet(s, ..., s) at each change; theta = p.

    chi = counts of each category with the prior's share s, nu their sum: the belief is Dirichlet(chi).

        k   how many categories there are
        s   the prior's pseudo-count of each: small values make probabilities near 0 and 1 likely

    >>> import volatilis as vl
    >>> vl.run(vl.VarSMiLe(vl.Categorical(k=3), m=0.1), [0, 0, 2]).mean.round(3)
    array([[0.5  , 0.25 , 0.25 ],
           [0.595, 0.203, 0.203],
           [0.47 , 0.177, 0.353]])
    """

    k: Categories
    s: SymbolCount = 1.0

    def rows(self) -> int:
        return self.k + 2

    def size(self) -> int:
        return self.k

    def prior(self, beliefs: Beliefs, i: int) -> None:
        for row in range(self.k):
            beliefs.chi[row, i] = self.s
        set_total(beliefs, i, self.k * self.s)

    def log_predictive(self, beliefs: Beliefs, i: int, y: int) -> float:
        return log(share(beliefs, i, y))

    def log_prior_predictive(self, pi_0: Beliefs, y: int) -> float:
        return log(share(pi_0, 0, 0))  # all categories alike: a constant, where the loop over observations need not compute it

    def predictives(self, beliefs: Beliefs, w: np.ndarray, n: int, y: int, out: np.ndarray) -> tuple[float, float]:
        return weighted_shares(beliefs, w, n, y, out)

    def predictive_cdf(self, beliefs: Beliefs, i: int, y: int, k: int, v: float, around: float) -> float:
        below = 0.0
        for row in range(y):
            below += share(beliefs, i, row)
        return min(below + v * share(beliefs, i, y), 1.0)

    def bayes_factor(self, beliefs: Beliefs, i: int, others: Beliefs, j: int, y: int) -> float:
        return share(others, j, y) / share(beliefs, i, y)

    def absorb(self, beliefs: Beliefs, i: int, y: int) -> None:
        count_one(beliefs, i, y)

    def blend(self, beliefs: Beliefs, i: int, others: Beliefs, j: int, a: float, b: float) -> None:
        blend_dirichlets(beliefs, i, others, j, a, b)

    def mean(self, beliefs: Beliefs, i: int, k: int) -> float:
        return share(beliefs, i, k)

    def variance(self, beliefs: Beliefs, i: int, k: int) -> float:
        return share_variance(beliefs, i, k)

    def estimate(self, beliefs: Beliefs, i: int, k: int) -> float:
        return share(beliefs, i, k)

    def mixture_mean(self, beliefs: Beliefs, w: np.ndarray, n: int, k: int, room: np.ndarray) -> float:
        return mixture_share(beliefs, w, n, k, room)

    def mixture_variance(self, beliefs: Beliefs, w: np.ndarray, n: int, k: int, mean: float, room: np.ndarray) -> float:
        return mixture_share_variance(beliefs, w, n, k, mean, room)

    def merge(self, beliefs: Beliefs, i: int, j: int, a: float, b: float) -> None:
        """Keeps the pair's mean and its total variance, the sum over categories."""
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
        """Dirichlet(1, ..., 2 at y, ..., 1)."""
        for row in range(self.k):
            beliefs.chi[row, i] = 1.0
        beliefs.chi[y, i] = 2.0
        set_total(beliefs, i, self.k + 1.0)

    def in_row(self, row: np.ndarray, start: int) -> int:
        return int(row[start])

    @python_only
    def categories(self) -> int:
        return self.k

    def log_broad(self, spread: float, y: int) -> float:
        """Uniform."""
        return -log(self.k)

    def broad_cdf(self, spread: float, y: int, v: float, around: float) -> float:
        return (y + v) / self.k

    @python_only
    def sample_broad(self, spread: float, n: int, rng: np.random.Generator) -> np.ndarray:
        return rng.integers(0, self.k, n)

    @python_only
    def broad_has_spread(self) -> bool:
        return False

    @python_only
    def parameter_names(self) -> tuple[str, ...]:
        return tuple(f"p[{k}]" for k in range(self.k))

    @python_only
    def observations(self, ys: object) -> tuple[np.ndarray, np.ndarray]:
        return whole_observations("Categorical", ys, lambda v: (v >= 0) & (v < self.k), f"a category from 0 to {self.k - 1}")

    @python_only
    def plausible(self, sequences: Sequence[np.ndarray]) -> Categorical:
        return Categorical(self.k, plausible_count(self.k, sequences))

    @python_only
    def accepted_numbers(self) -> AcceptedNumbers:
        return AcceptedNumbers(0.0, self.k - 1.0, whole=True)

    @python_only
    def distribution(self, beliefs: Beliefs, i: int) -> Any:
        return _Dirichlet(beliefs.chi[: self.k, i])

    @python_only
    def sample_parameter(self, rng: np.random.Generator) -> np.ndarray:
        # gamma variates of a small shape underflow; log G(s) = log G(s + 1) + log(U) / s does not
        logs = np.log(rng.standard_gamma(self.s + 1.0, self.k)) + np.log1p(-rng.random(self.k)) / self.s
        shares_ = np.exp(logs - logs.max())
        return shares_ / shares_.sum()

    @python_only
    def sample_observations(self, theta: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
        return np.minimum(np.searchsorted(np.cumsum(theta), rng.random(n), side="right"), self.k - 1).astype(np.int64)


class _Dirichlet:
    """The belief about p, with the methods of a SciPy distribution; the last axis goes over categories."""

    def __init__(self, concentration: np.ndarray) -> None:
        from scipy import stats

        self._dirichlet = stats.dirichlet(concentration)

    def pdf(self, theta: npt.ArrayLike) -> np.ndarray:
        points = np.asarray(theta, dtype=float)
        values = self._dirichlet.pdf(points.reshape(-1, points.shape[-1]).T)
        return np.reshape(values, points.shape[:-1])[()]

    def rvs(self, size: int, random_state: np.random.Generator) -> np.ndarray:
        return self._dirichlet.rvs(size, random_state=random_state)
