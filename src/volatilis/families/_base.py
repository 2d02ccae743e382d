"""What a family is: a likelihood with its conjugate prior, and what every learner asks of it.

A bank of n beliefs is two arrays of columns, `chi` (d, n) and `nu` (n,). A family's methods work on column i of a bank, so
that a learner's loop over hypotheses is flat and vectorises. `nu` counts observations, the prior's worth included; `chi`
holds the sums of sufficient statistics (or, where sums would cancel, the same in centred form).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from volatilis._compiler.registry import compiled_function, compiled_methods


@compiled_methods
class Beliefs(NamedTuple):
    """A bank of beliefs, one per column."""

    chi: np.ndarray
    nu: np.ndarray


class AcceptedNumbers(NamedTuple):
    """Which single numbers are observations: those from low to high; only whole ones, encoded as integers, if `whole`."""

    low: float = -np.inf
    high: float = np.inf
    whole: bool = False


Observation = Any  # one observation as the family encodes it: a float, an int, or a row of floats


class Family(Protocol):
    """What learners, runs and figures ask of a family. `beliefs` is a bank, `i` its column.

    A class marked with `family` gives some of these methods itself; the decorator fills in those that follow from the others.
    Not every family can do everything: `lacks` tells which of the methods marked "may be absent" it does not have.
    """

    # --- compiled, called by learners ---

    def whole(self, n: int) -> int:
        """How far a loop over n columns runs: to the next multiple of eight, or just to n."""

    def rows(self) -> int:
        """d, the number of rows of chi."""

    def size(self) -> int:
        """How many numbers the estimated parameter theta has."""

    def prior(self, beliefs: Beliefs, i: int) -> None:
        """Column i becomes pi^(0)."""

    def log_predictive(self, beliefs: Beliefs, i: int, y: Observation) -> float:
        """log P(y; pi_i)."""

    def log_prior_predictive(self, pi_0: Beliefs, y: Observation) -> float:
        """The same of the prior, a bank of one."""

    def predictives(self, beliefs: Beliefs, w: np.ndarray, n: int, y: Observation, out: np.ndarray) -> tuple[float, float]:
        """out[i] = w[i] P(y; pi_i) / e^scale for i < n; returns their sum, which is not FAINT, and scale."""

    def coordinates(self) -> int:
        """How many numbers an observation has."""

    def predictive_cdf(self, beliefs: Beliefs, i: int, y: Observation, k: int, v: float, around: float) -> float:
        """P(Y_k < y_k) + v P(Y_k = y_k) under pi_i, given the coordinates before k; may be absent.

        With a uniform v it is uniform for observations of the model, discrete ones too. On a circle it counts from the antipode
        of `around`, the mean of the mixture, which other families ignore: so a mixture's is the weighted sum of its parts'.
        """

    def log_predictive_part(self, beliefs: Beliefs, i: int, y: Observation, k: int) -> float:
        """log density of coordinate k under pi_i, given those before it; their sum is `log_predictive`. May be absent."""

    def bayes_factor(self, beliefs: Beliefs, i: int, others: Beliefs, j: int, y: Observation) -> float:
        """P(y; pi_j) / P(y; pi_i), infinite where it overflows."""

    def absorb(self, beliefs: Beliefs, i: int, y: Observation) -> None:
        """chi += phi(y), nu += 1."""

    def absorb_all(self, beliefs: Beliefs, n: int, y: Observation) -> None:
        """The same of columns 0 to n - 1."""

    def blend(self, beliefs: Beliefs, i: int, others: Beliefs, j: int, a: float, b: float) -> None:
        """Natural parameters: pi_i <- a pi_i + b pi_j."""

    def mean(self, beliefs: Beliefs, i: int, k: int) -> float:
        """E[theta_k]."""

    def variance(self, beliefs: Beliefs, i: int, k: int) -> float:
        """Var[theta_k]."""

    def mixture_mean(self, beliefs: Beliefs, w: np.ndarray, n: int, k: int, room: np.ndarray) -> float:
        """E[theta_k] of the mixture of columns 0 to n - 1 with the weights w; `room` is n numbers to work in."""

    def mixture_variance(self, beliefs: Beliefs, w: np.ndarray, n: int, k: int, mean: float, room: np.ndarray) -> float:
        """Var[theta_k] of that mixture, given its mean: within and between the columns."""

    def pooled_mean(self, means: np.ndarray, variances: np.ndarray, w: np.ndarray, n: int) -> float:
        """The mean of a mixture with the weights w, from means and variances of its n parts, whose families may differ."""

    def pooled_variance(self, means: np.ndarray, variances: np.ndarray, w: np.ndarray, n: int, mean: float) -> float:
        """The variance of that mixture, given its mean."""

    def difference(self, a: float, b: float) -> float:
        """a - b, of two values of an observation or of theta; on a circle the short way round. In Python arrays too."""

    def circumference(self) -> float:
        """Once around, where observations and theta are places on a circle; infinite where they are not."""

    def estimate(self, beliefs: Beliefs, i: int, k: int) -> float:
        """theta_k from the observations alone, of a column that never had a prior; may be absent."""

    def merge(self, beliefs: Beliefs, i: int, j: int, a: float, b: float) -> None:
        """pi_i becomes the family's member nearest to a pi_i + b pi_j, with a + b = 1; may be absent."""

    def dissimilarity(self, beliefs: Beliefs, i: int, j: int, a: float, b: float) -> float:
        """How far apart two beliefs are, in the likelihood's Fisher metric; may be absent."""

    def dissimilarities(self, beliefs: Beliefs, w: np.ndarray, n: int, out: np.ndarray) -> None:
        """The same of columns i and i + 1 by their shares of weight, for i < n - 1; some may not live."""

    def divergence(self, beliefs: Beliefs, i: int, others: Beliefs, j: int) -> float:
        """Kullback-Leibler divergence KL[pi_i || pi_j]; may be absent."""

    def divergence_parts(self, beliefs: Beliefs, i: int, others: Beliefs, j: int) -> tuple[float, float]:
        """(a_i, rest) such that the divergence is a_j - a_i + rest; a_i depends on pi_i alone."""

    def scaled_likelihood(self, beliefs: Beliefs, i: int, y: Observation) -> None:
        """Column i becomes P_Y(y | theta) / integral of P_Y(y | theta') d theta'; may be absent."""

    def log_density(self, beliefs: Beliefs, i: int, x: float) -> float:
        """Of the unconstrained coordinate x of a one-dimensional theta; may be absent."""

    def lower(self, beliefs: Beliefs, i: int) -> float:
        """An x that leaves out less than 1e-16 of the belief below it; may be absent."""

    def upper(self, beliefs: Beliefs, i: int) -> float:
        """An x that leaves out less than 1e-16 of the belief above it; may be absent."""

    def range_ends(self, cuts: np.ndarray) -> int:
        """Writes the two ends of a bounded range of x into cuts, and returns 2; 0 where x has no bounds."""

    def within_range(self, x: float) -> float:
        """x itself; on a circle the same place within the range."""

    def row_width(self) -> int:
        """How many numbers of a row one encoded observation takes."""

    def in_row(self, row: np.ndarray, start: int) -> Observation:
        """The observation that begins at this place of a row, as the other methods take it."""

    def encoded_in(self, row: np.ndarray, start: int) -> Observation:
        """The same, as `observations` encodes it: it differs where the past is the context, which is then not in the row."""

    def memory_size(self) -> int:
        """How many numbers of past observations a state keeps: 0 but where the past is the context of what comes."""

    def take_in(self, learner: Any, state: Any, y: Observation) -> Any:
        """`learner.update` with the observation, in its context where that is the past; returns what the update knew.

        Where that past is not known yet, `learner.pass_unscored`.
        """

    def take_in_context(self, contexts: int, learner: Any, state: Any, row: np.ndarray) -> Any:
        """The same for a row that begins with one of so many contexts, each of which has a past of its own."""

    def forget_past(self, state: Any) -> None:
        """What comes next has no past: a sequence begins, or there was a gap."""

    def splits(self) -> bool:
        """Whether an observation may be an outlier: then one belief becomes two by it, it took y in or it did not."""

    def log_outlier(self, y: Observation) -> float:
        """log of the probability that y comes as an outlier, p_o Q(y); -infinity where there are no outliers."""

    def log_outlier_of(self, state: Any, y: Observation) -> float:
        """The same of the observation that a learner just took in, whose past its state knows; NaN where it was not scored."""

    def taken(self, state: Any, y: Observation) -> Observation:
        """The observation that a learner just took in, as `update` had it: with its past, where that is its context."""

    def log_inlier(self, beliefs: Beliefs, i: int, y: Observation) -> float:
        """log of the rest of P(y; pi_i), (1 - p_o) times the predictive of what is no outlier."""

    def broad_cdf(self, spread: float, y: Observation, v: float, around: float) -> float:
        """The cdf of that law, as `predictive_cdf`; may be absent."""

    def log_broad(self, spread: float, y: Observation) -> float:
        """log Q(y), the law of outliers, `spread` times as wide as observations under the prior; may be absent."""

    # --- Python only ---

    def sample_broad(self, spread: float, n: int, rng: np.random.Generator) -> np.ndarray:
        """n outliers; may be absent."""

    def sample_broad_in(
        self, spread: float, n: int, rng: np.random.Generator, given: np.ndarray | None, past: np.ndarray
    ) -> np.ndarray:
        """The same in their contexts, as `sample_segment`."""

    def broad_has_spread(self) -> bool:
        """Whether `spread` means anything for outliers: not where they are uniform."""

    def invalid_state(self, chi: np.ndarray, nu: np.ndarray) -> str | None:
        """Why columns that were read, chi (..., d, n) and nu (..., n), cannot be beliefs; None where they can."""

    def observations(self, ys: object, given: object = None) -> tuple[np.ndarray, np.ndarray]:
        """A user's sequence, each in its context where that is `given`, checked and encoded; and which are missing."""

    def context_width(self) -> int:
        """How many numbers the context of an observation has: 0 where there is none."""

    def invalid_memory(self, memory: np.ndarray) -> str | None:
        """Why what was read, (..., memory_size), cannot be what a state keeps of the past; None where it can."""

    def accepted_numbers(self) -> AcceptedNumbers | None:
        """What `observations` accepts, where that is an interval of finite numbers; None where only `observations` can tell."""

    def accepted_in_contexts(self) -> tuple[int, AcceptedNumbers] | None:
        """How many contexts there are, and which single numbers it takes in each; None where it has none, or takes others."""

    def as_observed(self, values: np.ndarray) -> np.ndarray:
        """Encoded observations as the user gave them."""

    def parameter_names(self) -> tuple[str, ...]:
        """The elements of theta."""

    def categories(self) -> int | None:
        """How many categories are observed; None where observations are numbers."""

    def improper_scaled_likelihood(self, values: np.ndarray) -> str | None:
        """Why one of these (encoded) observations, or every observation, has no scaled likelihood; None where all have one."""

    def always_proper(self) -> bool:
        """Whether every observation has a scaled likelihood."""

    def lacks(self, *methods: str) -> list[str]:
        """Which of these methods the family does not have."""

    def distribution(self, beliefs: Beliefs, i: int) -> Any:
        """The belief as a frozen SciPy distribution; raises UndefinedError where absent."""

    def plausible(self, sequences: Sequence[np.ndarray]) -> Any:
        """The same family with parameters as these (encoded) observations suggest, roughly; itself where it cannot tell."""

    def without_past(self, values: np.ndarray, events: np.ndarray) -> tuple[Family, np.ndarray, np.ndarray]:
        """Where the past is the context: the family of rows, the rows, and events in which what is only conditioned on passes."""

    def sample_parameter(self, rng: np.random.Generator) -> np.ndarray:
        """theta from the prior; raises UndefinedError where absent."""

    def sample_observations(self, theta: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
        """n observations given theta; raises UndefinedError where absent."""

    def sample_segment(
        self, theta: np.ndarray, n: int, rng: np.random.Generator, given: np.ndarray | None, past: np.ndarray
    ) -> np.ndarray:
        """The same in their contexts: what was given for each, and the observations before them, the newest last."""


def zeros(*shape: int) -> np.ndarray:
    """Like `np.zeros`, and no vector register of eight numbers that a row holds lies across two lines of the cache."""
    size = math.prod(shape)
    room = np.zeros(size + 7)
    start = -room.__array_interface__["data"][0] % 64 // 8
    return room[start : start + size].reshape(shape)


def empty_beliefs(family: Family, n: int) -> Beliefs:
    """n columns that hold nothing: no prior, no observation."""
    return Beliefs(zeros(family.rows(), n), zeros(n))


@compiled_function
def copy_column(source: Beliefs, i: int, target: Beliefs, j: int) -> None:
    for row in range(source.chi.shape[0]):
        target.chi[row, j] = source.chi[row, i]
    target.nu[j] = source.nu[i]


def prior_beliefs(family: Family, n: int = 1) -> Beliefs:
    """n columns that hold the prior."""
    beliefs = empty_beliefs(family, n)
    family.prior(beliefs, 0)
    beliefs.chi[:] = beliefs.chi[:, :1]
    beliefs.nu[:] = beliefs.nu[0]
    return beliefs


@compiled_function
def in_eights(n: int) -> int:
    """n or the next multiple of eight: a loop that takes eight at a time has nothing left to do one by one."""
    return (n + 7) & -8
