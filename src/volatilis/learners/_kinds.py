"""What makes a class a learner: its record, and decorators that fill in what learners of a kind share.

@learner_with_hypotheses(name="merge", title="Merge", ...)
class Merge(HypothesesLearner):
    family: AnyFamily
    p_c: ChangeProbability
    n: HypothesisCount
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Protocol, Self, TypeVar, dataclass_transform, overload

from volatilis._compiler.registry import compiled_methods
from volatilis._core.fields import Count, Positive, Probability, Rule, show_signature_of_new, validated
from volatilis._core.records import (
    LOG,
    LOGIT,
    Choices,
    Range,
    dashed,
)
from volatilis.learners._defaults import RECORDS as RECORDS
from volatilis.learners._defaults import Common, ExactThenApproximate, OneBeliefStart
from volatilis.learners._defaults import LearnerRecord as LearnerRecord
from volatilis.learners._defaults import Style as Style
from volatilis.learners._defaults import record_of as record_of

C = TypeVar("C", bound=type)

ChangeProbability = Annotated[Probability, Range(LOGIT, 1e-5, 1 - 1e-5, 0.01, 0.5)]
Modulation = Annotated[Positive, Range(LOG, 1e-5, 1e4, 0.01, 1.0)]
HypothesisCount = Annotated[Count, Choices((1, 2, 3, 5, 10, 20))]


def _fill_in(cls: type, defaults: type) -> None:
    given_methods = dir(cls)
    for name, method in vars(defaults).items():
        if callable(method) and name not in given_methods:
            setattr(cls, name, method)


def _refuse_outliers(cls: Any) -> None:
    """A learner that takes every observation in would be wrong in silence where some are outliers: it refuses such a family."""
    others = vars(cls).get("_check")

    def _check(self: Any) -> None:
        if not RECORDS[cls].outliers and self.family.splits():
            able = ", ".join(record.cls.__name__ for record in RECORDS.values() if record.outliers)
            raise TypeError(f"{cls.__name__} cannot tell outliers, so it does not take volatilis.Contaminated; these do: {able}")
        if others is not None:
            others(self)

    if not RECORDS[cls].outliers:
        cls._check = _check


class _Decorator(Protocol):
    @overload
    def __call__(self, record: LearnerRecord, /) -> Callable[[C], C]: ...
    @overload
    def __call__(self, cls: C, /) -> C: ...


def _decorator(*defaults: type, draws: bool = True, outliers: bool = False, gives: tuple[str, ...] = ()) -> _Decorator:
    """A class decorator that fills in the methods of these classes; it stands alone or is given the record.

    draws      whether learners of the kind may draw random numbers
    outliers   whether all learners of the kind weigh that an observation may be an outlier
    gives      the methods that the class itself must have
    """

    def mark(cls: C, record: LearnerRecord) -> C:
        missing = [name for name in gives if name not in dir(cls)]
        if missing:
            raise TypeError(f"{cls.__name__} lacks {', '.join(missing)}; such a learner gives {', '.join(gives)}")
        for default in defaults:
            _fill_in(cls, default)
        RECORDS[cls] = record._replace(cls=cls, samples=draws and record.samples, outliers=outliers or record.outliers)
        _refuse_outliers(cls)
        return compiled_methods(validated(cls))

    @overload
    def decorate(given: LearnerRecord, /) -> Callable[[C], C]: ...
    @overload
    def decorate(given: C, /) -> C: ...
    def decorate(given: LearnerRecord | type, /) -> Callable[[type], type] | type:
        if isinstance(given, LearnerRecord):
            return lambda cls: mark(cls, given)
        return mark(given, LearnerRecord(dashed(given), given.__name__))

    return decorate


learner = _decorator(Common)
learner_with_one_belief = _decorator(OneBeliefStart, Common, draws=False, gives=("update", "elapse"))
# exact inference, then the class's `approximate(state)`
learner_with_hypotheses = _decorator(ExactThenApproximate, Common, outliers=True, gives=("approximate",))


def variant(record: LearnerRecord) -> Callable[[C], C]:
    """For a subclass of a learner whose `__new__` takes parameters of its own."""

    def mark(cls: C) -> C:
        RECORDS[cls] = record._replace(cls=cls)
        show_signature_of_new(cls)
        return compiled_methods(cls)

    return mark


def combinator(record: LearnerRecord, *defaults: type) -> Callable[[C], C]:
    """For a learner made of another one, whose class validates what it is given."""

    def mark(cls: C) -> C:
        for default in (*defaults, Common):
            _fill_in(cls, default)
        return variant(record)(cls)

    return mark


# Any: a user's own NamedTuple is a learner by its decorator, which a type checker does not see
AnyLearner = Annotated[Any, Rule(lambda v: v, lambda v: type(v) in RECORDS, "a learner, such as volatilis.Merge(family, p_c, n)")]

if TYPE_CHECKING:
    # A type checker cannot see what the decorators fill in, so to it a learner is a class with those methods

    @dataclass_transform(frozen_default=True)
    class LearnerTuple(Common):
        def _replace(self, **fields: object) -> Self: ...
        def _asdict(self) -> dict[str, Any]: ...

    class OneBeliefLearner(OneBeliefStart, LearnerTuple): ...

    class HypothesesLearner(ExactThenApproximate, LearnerTuple): ...

else:
    LearnerTuple = OneBeliefLearner = HypothesesLearner = NamedTuple
