"""One belief for each context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from volatilis._compiler.registry import python_only
from volatilis._core.fields import Rule, whole_number
from volatilis.families import _observations
from volatilis.families._base import AcceptedNumbers, Beliefs, Family
from volatilis.families._defaults import general_predictives
from volatilis.families._kinds import AnyFamily, FamilyRecord, FamilyTuple, UndefinedError, default_in_row, family
from volatilis.families._laws import Independent
from volatilis.families._observations import beliefs_in, is_seen
from volatilis.special import exp

ContextCount = Annotated[int, Rule(whole_number, lambda v: 1 <= v <= 100_000, "a whole number from 1 to 100,000")]


@family(
    FamilyRecord(
        name="given",
        place=200,
        observes="what its family observes, with a context 0, 1, ...; or that of each context",
        likelihood=r"that of its family with $\theta_x$, where x is the context",
        theta="that of its family for each context (`p[0]`, `p[1]`, ...)",
        prior="its family's, for each context",
    )
)
class Given(FamilyTuple):
    """y ~ P(y | theta_x) with the context x of each observation; a change renews theta_x of all contexts at once.

    The belief about a context is learned from its observations alone. In chi it is the inner family's rows and its count, one
    context after another; the last row is room to work in, and nu is not used.
    Feedback from all arms in one step of time is y of shape (T, contexts), NaN where there is none, without `given`.

        family     how observations arise within a context, such as vl.Bernoulli()
        contexts   how many contexts there are

    >>> import volatilis as vl
    >>> learner = vl.VarSMiLe(vl.Given(vl.Bernoulli(), contexts=2), m=0.1)
    >>> vl.run(learner, [1, 1, 0], given=[0, 1, 0]).mean.round(3)
    array([[0.667, 0.5  ],
           [0.656, 0.667],
           [0.473, 0.652]])
    """

    family: AnyFamily
    contexts: ContextCount

    def whole(self, n: int) -> int:
        return self.family.whole(n)

    def rows(self) -> int:
        return self.contexts * (self.family.rows() + 1) + 1

    def size(self) -> int:
        return self.contexts * self.family.size()

    def prior(self, beliefs: Beliefs, i: int) -> None:
        for c in range(self.contexts):
            self.family.prior(beliefs_in(self.family, beliefs, c), i)

    # --- an observation: its context comes first in the row --------------------------------------------------------------

    def log_predictive(self, beliefs: Beliefs, i: int, y: np.ndarray) -> float:
        if y[0] >= 0.0:
            return self.family.log_predictive(beliefs_in(self.family, beliefs, int(y[0])), i, self.family.in_row(y, 1))
        result, width = 0.0, self.family.row_width()
        for c in range(self.contexts):
            if is_seen(y, self.contexts, c):
                result += self.family.log_predictive(beliefs_in(self.family, beliefs, c), i, self.family.in_row(y, 1 + c * width))
        return result

    def predictives(self, beliefs: Beliefs, w: np.ndarray, n: int, y: np.ndarray, out: np.ndarray) -> tuple[float, float]:
        if y[0] >= 0.0:
            return self.family.predictives(beliefs_in(self.family, beliefs, int(y[0])), w, n, self.family.in_row(y, 1), out)
        return general_predictives(self, beliefs, w, n, y, out)

    def bayes_factor(self, beliefs: Beliefs, i: int, others: Beliefs, j: int, y: np.ndarray) -> float:
        if y[0] >= 0.0:
            mine, other = beliefs_in(self.family, beliefs, int(y[0])), beliefs_in(self.family, others, int(y[0]))
            return self.family.bayes_factor(mine, i, other, j, self.family.in_row(y, 1))
        return exp(self.log_predictive(others, j, y) - self.log_predictive(beliefs, i, y))

    def absorb(self, beliefs: Beliefs, i: int, y: np.ndarray) -> None:
        if y[0] >= 0.0:
            self.family.absorb(beliefs_in(self.family, beliefs, int(y[0])), i, self.family.in_row(y, 1))
        else:
            width = self.family.row_width()
            for c in range(self.contexts):
                if is_seen(y, self.contexts, c):
                    self.family.absorb(beliefs_in(self.family, beliefs, c), i, self.family.in_row(y, 1 + c * width))

    def absorb_all(self, beliefs: Beliefs, n: int, y: np.ndarray) -> None:
        if y[0] >= 0.0:
            self.family.absorb_all(beliefs_in(self.family, beliefs, int(y[0])), n, self.family.in_row(y, 1))
        else:
            width = self.family.row_width()
            for c in range(self.contexts):
                if is_seen(y, self.contexts, c):
                    self.family.absorb_all(beliefs_in(self.family, beliefs, c), n, self.family.in_row(y, 1 + c * width))

    def predictive_cdf(self, beliefs: Beliefs, i: int, y: np.ndarray, k: int, v: float, around: float) -> float:
        """Of the context that y has; where it has several, v itself: they are not looked at."""
        if y[0] < 0.0:
            return v
        return self.family.predictive_cdf(beliefs_in(self.family, beliefs, int(y[0])), i, self.family.in_row(y, 1), k, v, around)

    def log_broad(self, spread: float, y: np.ndarray) -> float:
        if y[0] >= 0.0:
            return self.family.log_broad(spread, self.family.in_row(y, 1))
        result, width = 0.0, self.family.row_width()
        for c in range(self.contexts):
            if is_seen(y, self.contexts, c):
                result += self.family.log_broad(spread, self.family.in_row(y, 1 + c * width))
        return result

    def broad_cdf(self, spread: float, y: np.ndarray, v: float, around: float) -> float:
        return self.family.broad_cdf(spread, self.family.in_row(y, 1), v, around) if y[0] >= 0.0 else v

    def coordinates(self) -> int:
        return self.family.coordinates()

    def log_predictive_part(self, beliefs: Beliefs, i: int, y: np.ndarray, k: int) -> float:
        c = int(max(y[0], 0.0))
        return self.family.log_predictive_part(beliefs_in(self.family, beliefs, c), i, self.family.in_row(y, 1), k)

    # --- a belief: all contexts ------------------------------------------------------------------------------------------

    def blend(self, beliefs: Beliefs, i: int, others: Beliefs, j: int, a: float, b: float) -> None:
        for c in range(self.contexts):
            self.family.blend(beliefs_in(self.family, beliefs, c), i, beliefs_in(self.family, others, c), j, a, b)

    def mean(self, beliefs: Beliefs, i: int, k: int) -> float:
        size = self.family.size()
        return self.family.mean(beliefs_in(self.family, beliefs, k // size), i, k % size)

    def variance(self, beliefs: Beliefs, i: int, k: int) -> float:
        size = self.family.size()
        return self.family.variance(beliefs_in(self.family, beliefs, k // size), i, k % size)

    def mixture_mean(self, beliefs: Beliefs, w: np.ndarray, n: int, k: int, room: np.ndarray) -> float:
        size = self.family.size()
        return self.family.mixture_mean(beliefs_in(self.family, beliefs, k // size), w, n, k % size, room)

    def mixture_variance(self, beliefs: Beliefs, w: np.ndarray, n: int, k: int, mean: float, room: np.ndarray) -> float:
        size = self.family.size()
        return self.family.mixture_variance(beliefs_in(self.family, beliefs, k // size), w, n, k % size, mean, room)

    def estimate(self, beliefs: Beliefs, i: int, k: int) -> float:
        """NaN of a context that was never seen."""
        size = self.family.size()
        mine = beliefs_in(self.family, beliefs, k // size)
        return self.family.estimate(mine, i, k % size) if mine.nu[i] > 0.0 else np.nan

    def merge(self, beliefs: Beliefs, i: int, j: int, a: float, b: float) -> None:
        for c in range(self.contexts):
            self.family.merge(beliefs_in(self.family, beliefs, c), i, j, a, b)

    def dissimilarity(self, beliefs: Beliefs, i: int, j: int, a: float, b: float) -> float:
        result = 0.0
        for c in range(self.contexts):
            result += self.family.dissimilarity(beliefs_in(self.family, beliefs, c), i, j, a, b)
        return result

    def dissimilarities(self, beliefs: Beliefs, w: np.ndarray, n: int, out: np.ndarray) -> None:
        room = beliefs.chi[self.contexts * (self.family.rows() + 1)]
        self.family.dissimilarities(beliefs_in(self.family, beliefs, 0), w, n, out)
        for c in range(1, self.contexts):
            self.family.dissimilarities(beliefs_in(self.family, beliefs, c), w, n, room)
            for i in range(n - 1):
                out[i] += room[i]

    def divergence(self, beliefs: Beliefs, i: int, others: Beliefs, j: int) -> float:
        a_i, rest = self.divergence_parts(beliefs, i, others, j)
        a_j, _ = self.divergence_parts(others, j, beliefs, i)
        return a_j - a_i + rest

    def divergence_parts(self, beliefs: Beliefs, i: int, others: Beliefs, j: int) -> tuple[float, float]:
        a_i, rest = 0.0, 0.0
        for c in range(self.contexts):
            mine, other = beliefs_in(self.family, beliefs, c), beliefs_in(self.family, others, c)
            part, rest_of_it = self.family.divergence_parts(mine, i, other, j)
            a_i, rest = a_i + part, rest + rest_of_it
        return a_i, rest

    def difference(self, a: float, b: float) -> float:
        return self.family.difference(a, b)

    def circumference(self) -> float:
        return self.family.circumference()

    # --- rows, and contexts that have a past of their own ----------------------------------------------------------------

    def row_width(self) -> int:
        return 1 + self.family.row_width()

    def in_row(self, row: np.ndarray, start: int) -> np.ndarray:
        return row[start : start + 1 + self.family.row_width()]

    def memory_size(self) -> int:
        return self.contexts * self.family.memory_size()

    def take_in(self, learner: Any, state: Any, y: np.ndarray) -> Any:
        return self.family.take_in_context(self.contexts, learner, state, y)

    def forget_past(self, state: Any) -> None:
        self.family.forget_past(state)

    def within(self) -> Family:
        return self.family

    def _check(self) -> None:
        example, name = self.family.observations([])[0], type(self.family).__name__
        if example.ndim > 1 and default_in_row(self.family):
            raise TypeError(f"Given: {name} observes rows, so it must define row_width() and in_row(row, start)")
        if self.family.splits():
            raise TypeError("Given of Contaminated is not accepted; Contaminated(Given(...)) is")

    @python_only
    def broad_has_spread(self) -> bool:
        return self.family.broad_has_spread()

    @python_only
    def context_width(self) -> int:
        return 1 + self.family.context_width()

    @python_only
    def observations(self, ys: object, given: object = None) -> tuple[np.ndarray, np.ndarray]:
        if given is None:
            return _observations.rows_of_all("Given", self.family, self.contexts, ys)
        return _observations.rows_with_contexts("Given", self.family, self.contexts, ys, given)

    @python_only
    def accepted_in_contexts(self) -> tuple[int, AcceptedNumbers] | None:
        return _observations.accepted_in_contexts(self.family, self.contexts)

    @python_only
    def as_observed(self, values: np.ndarray) -> np.ndarray:
        return _observations.observed_of(self.family, self.contexts, values)

    @python_only
    def invalid_state(self, chi: np.ndarray, nu: np.ndarray) -> str | None:
        return _observations.invalid_contexts(self.family, self.contexts, chi)

    @python_only
    def invalid_memory(self, memory: np.ndarray) -> str | None:
        return self.family.invalid_memory(memory.reshape(*memory.shape[:-1], self.contexts, -1))

    @python_only
    def lacks(self, *methods: str) -> list[str]:
        by_itself = [name for name in methods if name not in dir(type(self))]
        return by_itself + [name for name in self.family.lacks(*methods) if name not in by_itself]

    @python_only
    def improper_scaled_likelihood(self, values: np.ndarray) -> str | None:
        return "the likelihood of an observation says nothing about other contexts, so over all of them it has no finite integral"

    @python_only
    def parameter_names(self) -> tuple[str, ...]:
        return tuple(f"{name}[{c}]" for c in range(self.contexts) for name in self.family.parameter_names())

    @python_only
    def categories(self) -> int | None:
        return self.family.categories()

    @python_only
    def distribution(self, beliefs: Beliefs, i: int) -> Any:
        parts = [self.family.distribution(beliefs_in(self.family, beliefs, c), i) for c in range(self.contexts)]
        return Independent(parts, self.family.size())

    @python_only
    def plausible(self, sequences: Sequence[np.ndarray]) -> Given:
        of_one = [rows[rows[:, 0] == c] for rows in sequences for c in np.unique(rows[:, 0])]
        inner = [_observations.inner_observations(self.family, self.contexts, one) for one in of_one]
        return self._replace(family=self.family.plausible(inner))

    @python_only
    def sample_parameter(self, rng: np.random.Generator) -> np.ndarray:
        return np.concatenate([self.family.sample_parameter(rng) for _ in range(self.contexts)])

    @python_only
    def sample_segment(
        self, theta: np.ndarray, n: int, rng: np.random.Generator, given: np.ndarray | None, past: np.ndarray
    ) -> np.ndarray:
        if self.memory_size():
            raise UndefinedError(f"Given does not draw sequences of {type(self.family).__name__}: draw one for each context")
        return _observations.sampled_in_contexts("Given", self.family, self.contexts, theta, rng, given)

    @python_only
    def sample_broad_in(
        self, spread: float, n: int, rng: np.random.Generator, given: np.ndarray | None, past: np.ndarray
    ) -> np.ndarray:
        if given is None:
            return np.stack([self.family.sample_broad(spread, n, rng) for _ in range(self.contexts)], axis=1)
        return self.family.sample_broad_in(spread, n, rng, given[:, 1:] if given.ndim > 1 else None, past)
