"""Observations of which some are outliers that tell nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from volatilis._compiler.registry import python_only
from volatilis._core.fields import Positive, Probability, Real, derived
from volatilis._core.records import LOG, LOGIT, Range
from volatilis.families._base import AcceptedNumbers, Beliefs, Observation
from volatilis.families._kinds import AnyFamily, FamilyRecord, FamilyTuple, family
from volatilis.families.given import Given
from volatilis.special import exp, log_1p, not_faint

OutlierProbability = Annotated[Probability, Range(LOGIT, 1e-6, 0.5, 0.001, 0.1)]
OutlierSpread = Annotated[Positive, Range(LOG, 1e-2, 1e3, 0.5, 5.0)]


@family(
    FamilyRecord(
        name="contaminated",
        place=120,
        observes="what the inner family observes",
        likelihood=r"$y$ from the inner family with probability $1 - p_o$, else from $Q$, which tells nothing about $\theta$",
        theta="that of the inner family",
        prior="that of the inner family",
    )
)
class Contaminated(FamilyTuple):
    """P'(y; pi) = (1 - p_o) P(y; pi) + p_o Q(y): with probability p_o an observation is an outlier that tells nothing.

    Q is the same for all beliefs: on the real line a Cauchy law around the prior's mean, as wide as observations under the prior
    (`spread` times that; in a regression with the regressors that there are) and with heavier tails; for counts and waiting
    times likewise; on a circle and for symbols uniform.

    "It took y in" and "it did not" are two beliefs. Learners with several hypotheses keep both, as neighbours of one run length,
    and approximate as they do anyway; particles draw one of the two; VarSMiLe merges them by the inner family's moment match.
    ExactBayes, whose hypotheses would double at each observation, merges the two of each run length, and warns that it does.
    Where the past is the context (AutoRegression, transitions) it is what was observed, outlier or not: what comes next arises
    from that. So one wild value in an autoregression of order k is followed by up to k that count as outliers, too.
    Surprise speeds learning up to a point, gamma near p_c / (p_c + p_o), and beyond the prior's reach it lets go.

        family   how observations that are no outliers arise, such as vl.Gaussian(sigma=1)
        p_o      the probability that an observation is an outlier
        spread   how many times as wide as observations under the prior outliers lie; 1 where they are uniform

    >>> import volatilis as vl
    >>> robust = vl.Contaminated(vl.Gaussian(sigma=0.5, sigma_0=2.0), p_o=0.05)
    >>> trace = vl.run(vl.Merge(robust, p_c=0.01, n=20), [0.2, -0.1, 0.1, 9.0, 0.0])
    >>> trace.mean.round(2), trace.outlier_probability.round(2)
    (array([0.18, 0.05, 0.07, 0.07, 0.05]), array([0.04, 0.02, 0.01, 1.  , 0.01]))
    """

    family: AnyFamily
    p_o: OutlierProbability
    spread: OutlierSpread = 1.0
    log_p_o: Real = derived()
    log_rest: Real = derived()  # log(1 - p_o)

    # --- the mixture ---

    def splits(self) -> bool:
        return True

    def log_outlier(self, y: Observation) -> float:
        return self.log_p_o + self.family.log_broad(self.spread, y)

    def log_outlier_of(self, state: Any, y: Observation) -> float:
        return self.log_outlier(self.family.taken(state, y))

    def log_inlier(self, beliefs: Beliefs, i: int, y: Observation) -> float:
        return self.log_rest + self.family.log_predictive(beliefs, i, y)

    def log_predictive(self, beliefs: Beliefs, i: int, y: Observation) -> float:
        inlier, outlier = self.log_inlier(beliefs, i, y), self.log_outlier(y)
        larger, smaller = (inlier, outlier) if inlier > outlier else (outlier, inlier)
        return larger + log_1p(exp(smaller - larger))

    def predictives(self, beliefs: Beliefs, w: np.ndarray, n: int, y: Observation, out: np.ndarray) -> tuple[float, float]:
        _, scale = self.family.predictives(beliefs, w, n, y, out)
        log_q = self.log_outlier(y)
        smaller = exp(-abs(scale - log_q))  # of the two units, in the larger
        inlier, outlier = (1.0 - self.p_o) * (1.0 if scale > log_q else smaller), smaller if scale > log_q else 1.0
        for i in range(n):
            out[i] = inlier * out[i] + outlier * w[i]
        return not_faint(out, n, scale if scale > log_q else log_q)

    def predictive_cdf(self, beliefs: Beliefs, i: int, y: Observation, k: int, v: float, around: float) -> float:
        inlier = self.family.predictive_cdf(beliefs, i, y, k, v, around)
        return (1.0 - self.p_o) * inlier + self.p_o * self.family.broad_cdf(self.spread, y, v, around)

    def absorb(self, beliefs: Beliefs, i: int, y: Observation) -> None:
        """As no outlier; what follows from y being one or not is the learner's to weigh."""
        self.family.absorb(beliefs, i, y)

    # --- all else is the inner family's ---

    def coordinates(self) -> int:
        return self.family.coordinates()

    def row_width(self) -> int:
        return self.family.row_width()

    def in_row(self, row: np.ndarray, start: int) -> Observation:
        return self.family.in_row(row, start)

    def whole(self, n: int) -> int:
        return self.family.whole(n)

    def encoded_in(self, row: np.ndarray, start: int) -> Observation:
        return self.family.encoded_in(row, start)

    def memory_size(self) -> int:
        return self.family.memory_size()

    def take_in(self, learner: Any, state: Any, y: Observation) -> Any:
        return self.family.take_in(learner, state, y)

    def forget_past(self, state: Any) -> None:
        self.family.forget_past(state)

    def within(self) -> Any:
        return self.family.within()

    def rows(self) -> int:
        return self.family.rows()

    def size(self) -> int:
        return self.family.size()

    def prior(self, beliefs: Beliefs, i: int) -> None:
        self.family.prior(beliefs, i)

    def absorb_all(self, beliefs: Beliefs, n: int, y: Observation) -> None:
        self.family.absorb_all(beliefs, n, y)

    def blend(self, beliefs: Beliefs, i: int, others: Beliefs, j: int, a: float, b: float) -> None:
        self.family.blend(beliefs, i, others, j, a, b)

    def mean(self, beliefs: Beliefs, i: int, k: int) -> float:
        return self.family.mean(beliefs, i, k)

    def variance(self, beliefs: Beliefs, i: int, k: int) -> float:
        return self.family.variance(beliefs, i, k)

    def mixture_mean(self, beliefs: Beliefs, w: np.ndarray, n: int, k: int, room: np.ndarray) -> float:
        return self.family.mixture_mean(beliefs, w, n, k, room)

    def mixture_variance(self, beliefs: Beliefs, w: np.ndarray, n: int, k: int, mean: float, room: np.ndarray) -> float:
        return self.family.mixture_variance(beliefs, w, n, k, mean, room)

    def difference(self, a: float, b: float) -> float:
        return self.family.difference(a, b)

    def circumference(self) -> float:
        return self.family.circumference()

    def merge(self, beliefs: Beliefs, i: int, j: int, a: float, b: float) -> None:
        self.family.merge(beliefs, i, j, a, b)

    def dissimilarity(self, beliefs: Beliefs, i: int, j: int, a: float, b: float) -> float:
        return self.family.dissimilarity(beliefs, i, j, a, b)

    def dissimilarities(self, beliefs: Beliefs, w: np.ndarray, n: int, out: np.ndarray) -> None:
        self.family.dissimilarities(beliefs, w, n, out)

    def divergence(self, beliefs: Beliefs, i: int, others: Beliefs, j: int) -> float:
        return self.family.divergence(beliefs, i, others, j)

    def divergence_parts(self, beliefs: Beliefs, i: int, others: Beliefs, j: int) -> tuple[float, float]:
        return self.family.divergence_parts(beliefs, i, others, j)

    def log_density(self, beliefs: Beliefs, i: int, x: float) -> float:
        return self.family.log_density(beliefs, i, x)

    def lower(self, beliefs: Beliefs, i: int) -> float:
        return self.family.lower(beliefs, i)

    def upper(self, beliefs: Beliefs, i: int) -> float:
        return self.family.upper(beliefs, i)

    def range_ends(self, cuts: np.ndarray) -> int:
        return self.family.range_ends(cuts)

    def within_range(self, x: float) -> float:
        return self.family.within_range(x)

    @staticmethod
    def _derive(family: Any, p_o: float, spread: float) -> dict[str, float]:
        return {"log_p_o": math.log(p_o), "log_rest": math.log1p(-p_o)}

    def _check(self) -> None:
        inner = type(self.family).__name__
        if self.family.splits():
            raise ValueError(f"Contaminated: {inner} has outliers already; one Contaminated is accepted")
        if isinstance(self.family, Given) and self.family.memory_size() > 0:
            raise TypeError(
                f"Contaminated does not take {type(self.family.family).__name__} with contexts, each of which has a past of its "
                "own; run one sequence for each context"
            )
        missing = self.family.lacks("log_broad", "merge", "dissimilarity")
        if missing:
            raise TypeError(f"Contaminated needs {' and '.join(missing)}, which {inner} does not define")
        if self.spread != 1.0 and not self.family.broad_has_spread():
            raise ValueError(
                f"Contaminated: spread = {self.spread!r} has no effect, since outliers of {inner} are uniform; leave it out"
            )

    @python_only
    def lacks(self, *methods: str) -> list[str]:
        by_itself = ("scaled_likelihood", "estimate", "log_broad")
        needs = {"predictive_cdf": ("predictive_cdf", "broad_cdf")}
        return [name for name in methods if name in by_itself or self.family.lacks(*needs.get(name, (name,)))]

    @python_only
    def improper_scaled_likelihood(self, values: np.ndarray) -> str | None:
        return "an observation that may be an outlier has a likelihood without a finite integral over theta"

    @python_only
    def always_proper(self) -> bool:
        return False

    @python_only
    def invalid_state(self, chi: np.ndarray, nu: np.ndarray) -> str | None:
        return self.family.invalid_state(chi, nu)

    @python_only
    def invalid_memory(self, memory: np.ndarray) -> str | None:
        return self.family.invalid_memory(memory)

    @python_only
    def without_past(self, values: np.ndarray, events: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
        inner, rows, steps = self.family.without_past(values, events)
        return Contaminated(inner, self.p_o, self.spread), rows, steps

    @python_only
    def observations(self, ys: object, given: object = None) -> tuple[np.ndarray, np.ndarray]:
        return self.family.observations(ys) if given is None else self.family.observations(ys, given)

    @python_only
    def plausible(self, sequences: Sequence[np.ndarray]) -> Contaminated:
        return Contaminated(self.family.plausible(sequences), self.p_o, self.spread)

    @python_only
    def accepted_numbers(self) -> AcceptedNumbers | None:
        return self.family.accepted_numbers()

    @python_only
    def accepted_in_contexts(self) -> tuple[int, AcceptedNumbers] | None:
        return self.family.accepted_in_contexts()

    @python_only
    def as_observed(self, values: np.ndarray) -> np.ndarray:
        return self.family.as_observed(values)

    @python_only
    def parameter_names(self) -> tuple[str, ...]:
        return self.family.parameter_names()

    @python_only
    def categories(self) -> int | None:
        return self.family.categories()

    @python_only
    def distribution(self, beliefs: Beliefs, i: int) -> Any:
        return self.family.distribution(beliefs, i)

    @python_only
    def sample_parameter(self, rng: np.random.Generator) -> np.ndarray:
        return self.family.sample_parameter(rng)

    @python_only
    def context_width(self) -> int:
        return self.family.context_width()

    @python_only
    def sample_segment(
        self, theta: np.ndarray, n: int, rng: np.random.Generator, given: np.ndarray | None, past: np.ndarray
    ) -> np.ndarray:
        if self.family.memory_size():  # what comes after an outlier follows from it, so one by one
            seen = list(past)
            for strange in rng.random(n) < self.p_o:
                before = np.array(seen)
                if strange:
                    seen += list(self.family.sample_broad_in(self.spread, 1, rng, given, before))
                else:
                    seen += list(self.family.sample_segment(theta, 1, rng, given, before))
            return np.array(seen[len(past) :], dtype=self.family.observations([])[0].dtype)
        ys, strange = self.family.sample_segment(theta, n, rng, given, past), rng.random(n) < self.p_o
        here = None if given is None else np.asarray(given)[strange]
        ys[strange] = self.family.sample_broad_in(self.spread, int(strange.sum()), rng, here, past)
        return ys

    @python_only
    def sample_observations(self, theta: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
        return self.sample_segment(theta, n, rng, None, np.zeros(0))
