"""Hyper-parameters that validate themselves: a NamedTuple whose annotations say what each field accepts.

    @validated
    class Gaussian(NamedTuple):
        sigma: Positive
        mu_0: Real = 0.0

    Gaussian(sigma=-1)   ->   ValueError: Gaussian: sigma = -1 is not accepted; it must be a finite number above 0

A field is cast and checked once, at construction; kernels check nothing.
"""

from __future__ import annotations

import functools
import inspect
import numbers
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    SupportsFloat,
    SupportsIndex,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
import numpy.typing as npt

C = TypeVar("C", bound=type)
_EMPTY = inspect.Parameter.empty


class _Derived:
    """The default of a field that is computed from the others and never given."""

    def __repr__(self) -> str:
        return "derived"


DERIVED: Any = _Derived()


def derived(*, init: Literal[False] = False) -> Any:
    """The default of a field that is computed: `axes: Matrix = derived()`."""
    return DERIVED


class Rule(NamedTuple):
    """What a field accepts: a cast that may raise, a test, and both in words."""

    cast: Callable[[Any], Any]
    accepts: Callable[[Any], bool]
    words: str


def _float(value: object) -> float:
    if isinstance(value, (bool, np.bool_, str, bytes)) or not isinstance(value, (numbers.Real, np.number)):
        if not (isinstance(value, np.ndarray) and value.ndim == 0):
            raise TypeError
    return float(cast(SupportsFloat, value))


def whole_number(value: object) -> int:
    if isinstance(value, (bool, np.bool_)):
        raise TypeError
    return operator.index(cast(SupportsIndex, value))


def _array(value: object) -> np.ndarray:
    array = np.array(value)
    if array.dtype.kind not in "iuf":
        raise TypeError
    array = np.ascontiguousarray(array, dtype=np.float64)
    array.setflags(write=False)
    return array


def _finite(value: float | np.ndarray) -> bool:
    return bool(np.all(np.isfinite(value)))


Real = Annotated[float, Rule(_float, _finite, "a finite number")]
Positive = Annotated[float, Rule(_float, lambda v: 0.0 < v < np.inf, "a finite number above 0")]
Probability = Annotated[float, Rule(_float, lambda v: 0.0 < v < 1.0, "a number above 0 and below 1")]
Fraction = Annotated[float, Rule(_float, lambda v: 0.0 <= v <= 1.0, "a number from 0 to 1")]
Retention = Annotated[float, Rule(_float, lambda v: 0.0 <= v <= 1.0, "a number from 0 (only now) to 1 (never forget)")]
Cutoff = Annotated[float, Rule(_float, lambda v: 0.0 <= v < 0.5, "a number from 0 up to, not including, 0.5")]
Count = Annotated[int, Rule(whole_number, lambda v: 1 <= v <= 10**7, "a whole number from 1 to 10,000,000")]
Categories = Annotated[int, Rule(whole_number, lambda v: 2 <= v <= 10**6, "a whole number from 2 to 1,000,000")]
Vector = Annotated[np.ndarray, Rule(_array, lambda v: v.ndim == 1 and v.size > 0 and _finite(v), "a vector of finite numbers")]
Matrix = Annotated[
    np.ndarray,
    Rule(_array, lambda v: v.ndim == 2 and v.size > 0 and _finite(v), "a square matrix of finite numbers"),
]
_BY_TYPE: Mapping[Any, Rule] = {
    float: Rule(_float, _finite, "a finite number"),
    int: Rule(whole_number, lambda v: True, "a whole number"),
}


def validated(cls: C) -> C:
    """Check and cast the fields of a NamedTuple at construction.

    A class may add `_check(self) -> None` for what concerns several fields at once: it raises ValueError. Fields whose default is
    DERIVED are computed, by its static method `_derive(**fields)`: nobody gives them, and no signature shows them.
    """
    rules = {name: rule_of(hint) for name, hint in get_type_hints(cls, include_extras=True).items()}
    defaults = cls._field_defaults  # type: ignore[attr-defined]
    names: tuple[str, ...] = cls._fields  # type: ignore[attr-defined]
    computed = {name for name, value in defaults.items() if value is DERIVED}
    places = [place for place, name in enumerate(names) if name not in computed]
    plain_new, checks = cls.__new__, "_check" in dir(cls)

    @functools.wraps(plain_new)
    def validating_new(kind: Any, *args: object, **kwargs: object) -> Any:
        if computed and (len(args) > len(places) or not computed.isdisjoint(kwargs)):
            shown = ", ".join(names[place] for place in places)
            raise TypeError(f"{kind.__name__} takes {shown}, and nothing else")
        given = cast(NamedTuple, plain_new(kind, *args, **kwargs))._asdict()
        fields = {name: _checked(kind.__name__, name, rules.get(name), given[name]) for name in given if name not in computed}
        if computed:
            fields |= {name: _checked(kind.__name__, name, rules[name], v) for name, v in kind._derive(**fields).items()}
        instance: Any = tuple.__new__(kind, [fields[name] for name in kind._fields])
        if checks:
            instance._check()
        return instance

    cls.__new__ = validating_new  # type: ignore[assignment]
    cls._make = classmethod(lambda kind, values: kind(*values))  # type: ignore[attr-defined]
    _show_signature(cls, get_type_hints(cls), {names[place]: defaults.get(names[place], _EMPTY) for place in places})
    if computed:
        _hide(cls, computed, places)
    cls.__repr__ = _shown  # type: ignore[assignment,method-assign]
    if any(rule is not None and rule.cast is _array for rule in rules.values()):
        cls.__eq__ = _equal  # type: ignore[assignment,method-assign]
        cls.__ne__ = _unequal  # type: ignore[assignment,method-assign]
        cls.__hash__ = lambda self: hash((type(self), *map(_hashable, self)))  # type: ignore[assignment,method-assign,misc]
    return cls


def _show_signature(cls: Any, types: Mapping[str, object], defaults: Mapping[str, object]) -> None:
    """What a user gives, as plain types: that is what `help` and `inspect.signature` show."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    shown = [inspect.Parameter(name, kind, default=default, annotation=types[name]) for name, default in defaults.items()]
    cls.__signature__ = inspect.Signature(shown)
    cls.__new__.__signature__ = inspect.Signature([inspect.Parameter("cls", kind), *shown])
    cls.__new__.__doc__ = f"Create new instance of {cls.__name__}({', '.join(defaults)})"


def show_signature_of_new(cls: Any) -> None:
    """The same for a class whose `__new__` takes others than its fields."""
    taken = list(inspect.signature(cls.__new__).parameters.values())[1:]
    hints = get_type_hints(cls.__new__)
    cls.__signature__ = inspect.Signature([one.replace(annotation=hints[one.name]) for one in taken])


def _hide(cls: Any, computed: Collection[str], places: Sequence[int]) -> None:
    """Derived fields are not among what a copy or a pattern takes, and are said to be computed."""
    setattr(cls, "__match_args__", _at(cls._fields, places))  # noqa: B010 (a type checker forbids the assignment)
    cls._make = classmethod(lambda kind, values: kind(*_at(tuple(values), places)))
    cls.__getnewargs__ = lambda self: _at(self, places)
    for name in computed:
        vars(cls)[name].__doc__ = "Computed from the other fields; never given."


def _at(values: tuple[object, ...], places: Sequence[int]) -> tuple[object, ...]:
    return tuple(values[place] for place in places)


@functools.lru_cache(maxsize=256)
def rules_of(cls: type) -> Mapping[str, Rule]:
    """What each field of a validated class accepts."""
    rules = {name: rule_of(hint) for name, hint in get_type_hints(cls, include_extras=True).items()}
    return {name: rule for name, rule in rules.items() if rule is not None}


def given_fields(value: object) -> dict[str, Any]:
    """The fields of a validated NamedTuple that its maker gave: all but the derived ones."""
    record = cast(NamedTuple, value)
    defaults = record._field_defaults
    return {name: item for name, item in record._asdict().items() if defaults.get(name) is not DERIVED}


def positive_definite_root(owner: str, name: str, matrix: np.ndarray, p: int) -> np.ndarray:
    """The Cholesky factor of a p x p covariance; a clear error if it is none."""
    if matrix.shape != (p, p):
        raise ValueError(f"{owner}: {name} has shape {matrix.shape}; with {p} means it must have shape ({p}, {p})")
    if not np.allclose(matrix, matrix.T, rtol=1e-10, atol=0.0):
        raise ValueError(f"{owner}: {name} = {matrix.tolist()} is not symmetric; a covariance matrix is accepted")
    try:
        return np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        smallest = float(np.linalg.eigvalsh(matrix).min())
        raise ValueError(
            f"{owner}: {name} = {matrix.tolist()} is not positive definite (smallest eigenvalue {smallest:.3g}); "
            "a covariance matrix is accepted"
        ) from None


def _shown(self: object) -> str:
    fields = ", ".join(f"{name}={v.tolist() if isinstance(v, np.ndarray) else v!r}" for name, v in given_fields(self).items())
    return f"{type(self).__name__}({fields})"


def rule_of(hint: object) -> Rule | None:
    """What an annotation says that a field accepts."""
    for extra in extras_of(hint):
        if isinstance(extra, Rule):
            return extra
    return _BY_TYPE.get(get_args(hint)[0] if get_origin(hint) is Annotated else hint)


def extras_of(hint: object) -> tuple[object, ...]:
    """What stands behind the type in an Annotated."""
    return get_args(hint)[1:] if get_origin(hint) is Annotated else ()


def _checked(owner: str, name: str, rule: Rule | None, value: object) -> object:
    if rule is None:
        return value
    try:
        cast = rule.cast(value)
    except (TypeError, ValueError, OverflowError):
        message = f"{owner}: {name} = {value!r} ({type(value).__name__}) is not accepted; it must be {rule.words}"
        raise TypeError(message) from None
    if not rule.accepts(cast):
        raise ValueError(f"{owner}: {name} = {value!r} is not accepted; it must be {rule.words}")
    return cast


def _equal(self: tuple[npt.ArrayLike, ...], other: object) -> bool:
    return isinstance(other, type(self)) and type(self) is type(other) and all(map(np.array_equal, self, other))


def _unequal(self: tuple[npt.ArrayLike, ...], other: object) -> bool:
    return not _equal(self, other)


def _hashable(value: object) -> object:
    return (value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value
