"""What a family has without saying so: methods that follow from those that its class gives."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from volatilis._compiler.registry import compiled_function, python_only
from volatilis.families._base import AcceptedNumbers, Beliefs, Family, Observation, in_eights, prior_beliefs
from volatilis.families._observations import real_observations
from volatilis.special import exp, fma, largest, not_faint, total

Method = TypeVar("Method", bound=Callable[..., Any])


def without_context(method: Method) -> Method:
    """The method `observations` of a family without contexts: it takes `given` too, and refuses one."""

    @functools.wraps(method)
    def observations(self: Family, ys: object, given: object = None) -> object:
        if given is not None:
            name = type(self).__name__
            raise TypeError(
                f"{name} has no contexts, so it takes no given; volatilis.Given({name}(...), contexts) learns one belief for "
                "each context, and volatilis.PerContext(learner, contexts) lets each change by itself"
            )
        return method(self, ys)

    del observations.__wrapped__  # so that its signature shows `given`
    return observations  # type: ignore[return-value]


class UndefinedError(TypeError):
    """A family does not have what was asked of it."""


@compiled_function
def general_predictives(
    family: Family, beliefs: Beliefs, w: np.ndarray, n: int, y: Observation, out: np.ndarray
) -> tuple[float, float]:
    """`predictives` of a family that has nothing better than `log_predictive`."""
    for i in range(n):
        out[i] = family.log_predictive(beliefs, i, y) if w[i] > 0.0 else -np.inf
    scale = largest(out, n)
    for i in range(n):
        out[i] = w[i] * exp(out[i] - scale)
    return not_faint(out, n, scale)


class Defaults:
    """Methods that follow from a family's other methods."""

    def whole(self: Family, n: int) -> int:
        return in_eights(n)

    def predictives(
        self: Family, beliefs: Beliefs, w: np.ndarray, n: int, y: Observation, out: np.ndarray
    ) -> tuple[float, float]:
        return general_predictives(self, beliefs, w, n, y, out)

    def coordinates(self: Family) -> int:
        return 1

    def log_predictive_part(self: Family, beliefs: Beliefs, i: int, y: Observation, k: int) -> float:
        return self.log_predictive(beliefs, i, y)

    def log_prior_predictive(self: Family, pi_0: Beliefs, y: Observation) -> float:
        return self.log_predictive(pi_0, 0, y)

    def dissimilarities(self: Family, beliefs: Beliefs, w: np.ndarray, n: int, out: np.ndarray) -> None:
        for i in range(n - 1):
            both = w[i] + w[i + 1]  # 0 of columns that do not live
            a = w[i] / both if both > 0.0 else 0.5
            out[i] = self.dissimilarity(beliefs, i, i + 1, a, w[i + 1] / both if both > 0.0 else 0.5)

    def bayes_factor(self: Family, beliefs: Beliefs, i: int, others: Beliefs, j: int, y: Observation) -> float:
        return exp(self.log_predictive(others, j, y) - self.log_predictive(beliefs, i, y))

    def absorb_all(self: Family, beliefs: Beliefs, n: int, y: Observation) -> None:
        for i in range(n):
            self.absorb(beliefs, i, y)

    def blend(self: Family, beliefs: Beliefs, i: int, others: Beliefs, j: int, a: float, b: float) -> None:
        for row in range(beliefs.chi.shape[0]):
            beliefs.chi[row, i] = a * beliefs.chi[row, i] + b * others.chi[row, j]
        beliefs.nu[i] = a * beliefs.nu[i] + b * others.nu[j]

    def mixture_mean(self: Family, beliefs: Beliefs, w: np.ndarray, n: int, k: int, room: np.ndarray) -> float:
        for i in range(n):  # a moment may be infinite, which a weight of nothing must not make NaN
            room[i] = w[i] * self.mean(beliefs, i, k) if w[i] > 0.0 else 0.0
        return total(room, n)

    def mixture_variance(self: Family, beliefs: Beliefs, w: np.ndarray, n: int, k: int, mean: float, room: np.ndarray) -> float:
        if abs(mean) == np.inf:
            return np.inf
        for i in range(n):
            apart = self.mean(beliefs, i, k) - mean
            variance = fma(w[i] * apart, apart, w[i] * self.variance(beliefs, i, k))
            room[i] = variance if w[i] > 0.0 else 0.0
        return total(room, n)

    def pooled_mean(self: Family, means: np.ndarray, variances: np.ndarray, w: np.ndarray, n: int) -> float:
        result = 0.0
        for i in range(n):
            result += w[i] * means[i] if w[i] > 0.0 else 0.0
        return result

    def pooled_variance(self: Family, means: np.ndarray, variances: np.ndarray, w: np.ndarray, n: int, mean: float) -> float:
        if abs(mean) == np.inf:
            return np.inf
        result = 0.0
        for i in range(n):
            apart = means[i] - mean
            result += w[i] * fma(apart, apart, variances[i]) if w[i] > 0.0 else 0.0
        return result

    def difference(self: Family, a: float, b: float) -> float:
        return a - b

    def circumference(self: Family) -> float:
        return np.inf

    def range_ends(self: Family, cuts: np.ndarray) -> int:
        return 0

    def within_range(self: Family, x: float) -> float:
        return x

    def splits(self: Family) -> bool:
        return False

    def log_outlier(self: Family, y: Observation) -> float:
        return -np.inf

    def log_outlier_of(self: Family, state: Any, y: Observation) -> float:
        return -np.inf

    def log_inlier(self: Family, beliefs: Beliefs, i: int, y: Observation) -> float:
        return self.log_predictive(beliefs, i, y)

    @python_only
    def broad_has_spread(self: Family) -> bool:
        return True

    def divergence_parts(self: Family, beliefs: Beliefs, i: int, others: Beliefs, j: int) -> tuple[float, float]:
        return 0.0, self.divergence(beliefs, i, others, j)

    def row_width(self: Family) -> int:
        return 1

    def in_row(self: Family, row: np.ndarray, start: int) -> Observation:
        return row[start]

    def encoded_in(self: Family, row: np.ndarray, start: int) -> Observation:
        return self.in_row(row, start)

    def memory_size(self: Family) -> int:
        return 0

    def taken(self: Family, state: Any, y: Observation) -> Observation:
        return y

    def take_in(self: Family, learner: Any, state: Any, y: Observation) -> Any:
        return learner.update(state, y)

    def take_in_context(self: Family, contexts: int, learner: Any, state: Any, row: np.ndarray) -> Any:
        return learner.update(state, row)

    def forget_past(self: Family, state: Any) -> None:
        """Nothing is kept."""

    @python_only
    def invalid_state(self: Family, chi: np.ndarray, nu: np.ndarray) -> str | None:
        """A belief has at least the observations that the prior counts for, or none at all (Leaky has no prior)."""
        least = min(0.0, float(prior_beliefs(self).nu[0]))
        return "a belief has a negative number of observations" if (nu < least).any() else None

    @python_only
    def parameter_names(self: Family) -> tuple[str, ...]:
        return ("theta",) if self.size() == 1 else tuple(f"theta[{k}]" for k in range(self.size()))

    @without_context
    @python_only
    def observations(self: Family, ys: object) -> tuple[np.ndarray, np.ndarray]:
        return real_observations(type(self).__name__, ys)

    @python_only
    def context_width(self: Family) -> int:
        return 0

    @python_only
    def invalid_memory(self: Family, memory: np.ndarray) -> str | None:
        return None

    @python_only
    def accepted_numbers(self: Family) -> AcceptedNumbers | None:
        return AcceptedNumbers() if type(self).observations is Defaults.observations else None

    @python_only
    def accepted_in_contexts(self: Family) -> tuple[int, AcceptedNumbers] | None:
        return None

    @python_only
    def as_observed(self: Family, values: np.ndarray) -> np.ndarray:
        return values

    @python_only
    def categories(self: Family) -> int | None:
        return None

    @python_only
    def improper_scaled_likelihood(self: Family, values: np.ndarray) -> str | None:
        return "it does not define scaled_likelihood" if self.lacks("scaled_likelihood") else None

    @python_only
    def always_proper(self: Family) -> bool:
        filled_in = type(self).improper_scaled_likelihood is Defaults.improper_scaled_likelihood
        return filled_in and not self.lacks("scaled_likelihood")

    @python_only
    def lacks(self: Family, *methods: str) -> list[str]:
        return [name for name in methods if name not in dir(type(self))]

    @python_only
    def plausible(self: Family, sequences: Sequence[np.ndarray]) -> Any:  # Self: a protocol that names itself costs mypy minutes
        return self

    @python_only
    def without_past(self: Family, values: np.ndarray, events: np.ndarray) -> tuple[Family, np.ndarray, np.ndarray]:
        return self, values, events

    @python_only
    def sample_parameter(self: Family, rng: np.random.Generator) -> np.ndarray:
        raise UndefinedError(f"{type(self).__name__} does not define sample_parameter(rng), which this needs")

    @python_only
    def sample_observations(self: Family, theta: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
        raise UndefinedError(f"{type(self).__name__} does not define sample_observations(theta, n, rng), which this needs")

    @python_only
    def sample_segment(
        self: Family, theta: np.ndarray, n: int, rng: np.random.Generator, given: np.ndarray | None, past: np.ndarray
    ) -> np.ndarray:
        if given is not None:
            raise TypeError(f"{type(self).__name__} has no contexts, so it takes no given")
        return self.sample_observations(theta, n, rng)

    @python_only
    def sample_broad_in(
        self: Family, spread: float, n: int, rng: np.random.Generator, given: np.ndarray | None, past: np.ndarray
    ) -> np.ndarray:
        return self.sample_broad(spread, n, rng)

    @python_only
    def distribution(self: Family, beliefs: Beliefs, i: int) -> Any:
        raise UndefinedError(f"{type(self).__name__} does not define distribution(beliefs, i), which this needs")
