"""What makes a class a family: its record, and a decorator that fills in what follows from its other methods.

@family(FamilyRecord(name="gaussian", ...))
class Gaussian(FamilyTuple):
    sigma: Noise
    mu_0: Location = 0.0
    sigma_0: Spread = 1.0
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Self, TypeVar, dataclass_transform, overload

import numpy as np

from volatilis._compiler.registry import compiled_methods
from volatilis._core.fields import Rule, derived, validated
from volatilis._core.records import Parameter, dashed, first_sentence, parameters_of
from volatilis.families._base import Beliefs, Family, Observation
from volatilis.families._defaults import Defaults, without_context
from volatilis.families._defaults import UndefinedError as UndefinedError

C = TypeVar("C", bound=type)
LAST = 1000  # the place in lists of what has none


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
        for name, default in vars(Defaults).items():
            if callable(default) and name not in given_methods:
                setattr(cls, name, default)
        if "given" not in inspect.signature(cls.observations).parameters:  # type: ignore[attr-defined]
            cls.observations = without_context(cls.observations)  # type: ignore[attr-defined]
        RECORDS[cls] = record._replace(cls=cls)
        return compiled_methods(validated(cls))

    if isinstance(given, FamilyRecord):
        return lambda cls: mark(cls, given)
    return mark(given, FamilyRecord(dashed(given)))


def default_in_row(family: Family) -> bool:
    """Whether a family says nothing of how its observations stand in a row."""
    return type(family).in_row is Defaults.in_row


if TYPE_CHECKING:
    # A type checker cannot see what the decorator fills in, so to it a family is a class with those methods

    @dataclass_transform(frozen_default=True, field_specifiers=(derived,))
    class FamilyTuple(Defaults):
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
