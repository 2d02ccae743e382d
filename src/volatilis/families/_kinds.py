"""What makes a class a family: its record, and a decorator that fills in what follows from its other methods.

@family(FamilyRecord(name="gaussian", ...))
class Gaussian(FamilyTuple):
    sigma: Noise
    mu_0: Location = 0.0
    sigma_0: Spread = 1.0
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Self, TypeVar, dataclass_transform, overload

import numpy as np

from volatilis._compiler.registry import compiled_methods, python_only
from volatilis._core.fields import Rule, derived, validated
from volatilis._core.records import Parameter, dashed, first_sentence, parameters_of
from volatilis.families._base import AcceptedNumbers, Beliefs, Family, Observation, in_eights, not_faint, prior_beliefs
from volatilis.families._observations import real_observations
from volatilis.special import exp, fma, largest, total

C = TypeVar("C", bound=type)
Method = TypeVar("Method", bound=Callable[..., Any])
LAST = 1000  # the place in lists of what has none


class UndefinedError(TypeError):
    """A family does not have what was asked of it."""


class FamilyRecord(NamedTuple):
    """What is known of a family beside its code: lists, pages and the command line read it.

    name                      on the command line: gaussian-unknown-variance
    place                     in lists, the lowest first; families without one come last
    aliases                   other names on the command line
    unnamed                   the parameter that may be given there without its name: ar:1
    observes                  what one observation is, in words
    likelihood, theta, prior  for the reference page, in Markdown
    cls                       the class; the decorator puts it here
    """

    name: str
    place: int = LAST
    aliases: tuple[str, ...] = ()
    unnamed: str | None = None
    observes: str = "a finite number"
    likelihood: str = ""
    theta: str = ""
    prior: str = ""
    cls: type = object

    @property
    def sentence(self) -> str:
        return first_sentence(self.cls)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return parameters_of(self.cls)


RECORDS: dict[type, FamilyRecord] = {}


@overload
def family(record: FamilyRecord, /) -> Callable[[C], C]: ...
@overload
def family(cls: C, /) -> C: ...
def family(given: FamilyRecord | type, /) -> Callable[[type], type] | type:
    """Make a NamedTuple class a family: validate its fields, fill in what follows from the rest, let it be compiled.

    It stands above the class alone, or is given the record. docs/how-to/own-family.md says which methods a family has.

    given   the class, or a FamilyRecord (what lists and tables say about it)

    Returns the class, or with a record the decorator of the class. Raises TypeError for methods that cannot be compiled, and for
    fields with the name of a method.

    >>> import typing, volatilis as vl
    >>> class Narrow(typing.NamedTuple):
    ...     mean: float
    >>> vl.family(Narrow)
    Traceback (most recent call last):
    TypeError: Narrow: a field may not be called 'mean', which is the name of a compiled method
    """

    def mark(cls: C, record: FamilyRecord) -> C:
        given_methods = dir(cls)
        for name, default in vars(_Defaults).items():
            if callable(default) and name not in given_methods:
                setattr(cls, name, default)
        if "given" not in inspect.signature(cls.observations).parameters:  # type: ignore[attr-defined]
            cls.observations = without_context(cls.observations)  # type: ignore[attr-defined]
        RECORDS[cls] = record._replace(cls=cls)
        return compiled_methods(validated(cls))

    if isinstance(given, FamilyRecord):
        return lambda cls: mark(cls, given)
    return mark(given, FamilyRecord(dashed(given)))


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


class _Defaults:
    """Methods that follow from a family's other methods."""

    def whole(self: Family, n: int) -> int:
        return in_eights(n)

    def predictives(
        self: Family, beliefs: Beliefs, w: np.ndarray, n: int, y: Observation, out: np.ndarray
    ) -> tuple[float, float]:
        for i in range(n):
            out[i] = self.log_predictive(beliefs, i, y) if w[i] > 0.0 else -np.inf
        scale = largest(out, n)
        for i in range(n):
            out[i] = w[i] * exp(out[i] - scale)
        return not_faint(out, n, scale)

    def coordinates(self: Family) -> int:
        return 1

    def log_predictive_part(self: Family, beliefs: Beliefs, i: int, y: Observation, k: int) -> float:
        return self.log_predictive(beliefs, i, y)

    def log_prior_predictive(self: Family, pi_0: Beliefs, y: Observation) -> float:
        return self.log_predictive(pi_0, 0, y)

    def dissimilarities(self: Family, beliefs: Beliefs, w: np.ndarray, n: int, out: np.ndarray) -> None:
        for i in range(n - 1):
            both = w[i] + w[i + 1]
            out[i] = self.dissimilarity(beliefs, i, i + 1, w[i] / both, w[i + 1] / both)

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
        return AcceptedNumbers() if type(self).observations is _Defaults.observations else None

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
        filled_in = type(self).improper_scaled_likelihood is _Defaults.improper_scaled_likelihood
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


def default_in_row(family: Family) -> bool:
    """Whether a family says nothing of how its observations stand in a row."""
    return type(family).in_row is _Defaults.in_row


if TYPE_CHECKING:
    # A type checker cannot see what the decorator fills in, so to it a family is a class with those methods

    @dataclass_transform(frozen_default=True, field_specifiers=(derived,))
    class FamilyTuple(_Defaults):
        def _replace(self, **fields: object) -> Self: ...
        def _asdict(self) -> dict[str, Any]: ...

        # what may be absent (`lacks`)
        def predictive_cdf(self, beliefs: Beliefs, i: int, y: Observation, k: int, v: float, around: float) -> float: ...
        def log_broad(self, spread: float, y: Observation) -> float: ...
        def broad_cdf(self, spread: float, y: Observation, v: float, around: float) -> float: ...
        def sample_broad(self, spread: float, n: int, rng: np.random.Generator) -> np.ndarray: ...
        def scaled_likelihood(self, beliefs: Beliefs, i: int, y: Observation) -> None: ...
        def log_density(self, beliefs: Beliefs, i: int, x: float) -> float: ...
        def lower(self, beliefs: Beliefs, i: int) -> float: ...
        def upper(self, beliefs: Beliefs, i: int) -> float: ...

else:
    FamilyTuple = NamedTuple

# Any: a user's own NamedTuple is a family by its decorator, which a type checker does not see
AnyFamily = Annotated[Any, Rule(lambda v: v, lambda v: type(v) in RECORDS, "a family, such as volatilis.Gaussian(sigma=1)")]
