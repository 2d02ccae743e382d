"""What is known of a family, a learner or a response model beside its code: its parameters, and where a search looks for them.

A parameter is a field of the class. Its annotation says what it accepts (a `Rule` of `fields`) and, where it can be searched, its
`Range` or its `Choices`:

    sigma: Annotated[Positive, Range(LOG, 1e-3, 1e2, 0.1, 1.0, unit=True)]

That is the one definition: lists, fits, tuning and the reference pages read it here.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import math
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar, get_type_hints

from volatilis._core.fields import DERIVED, extras_of, rule_of

T = TypeVar("T")


class Scale(NamedTuple):
    """From a parameter's natural range to the real line, where equal steps matter equally, and back."""

    name: str
    to: Callable[[float], float]
    back: Callable[[float], float]


LINEAR = Scale("linear", float, float)
LOG = Scale("log", math.log, lambda x: math.exp(min(x, 700.0)))
LOGIT = Scale("logit", lambda p: math.log(p / (1.0 - p)), lambda x: 1.0 / (1.0 + math.exp(-x)) if x > -700.0 else 0.0)


class Range(NamedTuple):
    """Where a parameter is searched: from low to high, on a scale; searches start between first and last.

    unit    whether the four are in units of the outcomes' spread (data in other units then give the same fit in other units)
    """

    scale: Scale
    low: float
    high: float
    first: float
    last: float
    unit: bool = False


class Choices(NamedTuple):
    """Whole numbers that a search tries one by one."""

    values: tuple[int, ...]


class Parameter(NamedTuple):
    """A parameter: what it accepts in words; `default` is None where one must be given; `search` where it can be searched.

    from_family    whether a learner takes it from its family where it is not given
    """

    name: str
    default: object
    accepts: str
    search: Range | Choices | None = None
    from_family: bool = False


@functools.lru_cache(maxsize=256)
def parameters_of(cls: type) -> tuple[Parameter, ...]:
    """The parameters of a validated NamedTuple class: its fields, but for `family`, `learner` and those that are derived."""
    defaults = {name: cls._field_defaults.get(name) for name in cls._fields}  # type: ignore[attr-defined]
    return _described(get_type_hints(cls, include_extras=True), defaults)


def parameters_of_new(cls: type, from_family: Iterable[str]) -> tuple[Parameter, ...]:
    """The parameters of a class whose `__new__` takes others than its fields."""
    taken = list(inspect.signature(cls.__new__).parameters.values())[1:]
    defaults = {one.name: None if one.default is one.empty else one.default for one in taken}
    described = _described(get_type_hints(cls.__new__, include_extras=True), defaults)
    return tuple(one._replace(from_family=one.name in from_family) for one in described)


def first_sentence(cls: type) -> str:
    """The first paragraph of a class's description, on one line."""
    return " ".join((inspect.getdoc(cls) or "").split("\n\n")[0].split())


class Known(Mapping[str, T]):
    """All of a kind by name: those of this package in their order, then those of the user's own, which come as they are defined.

    A name of this package is not given away.
    """

    def __init__(self, built_in: Mapping[str, T], users: Callable[[], Mapping[str, T]]) -> None:
        self.built_in, self._own = built_in, users

    def __getitem__(self, name: str) -> T:
        return self.built_in[name] if name in self.built_in else self._own()[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**self.built_in, **self._own()})

    def __len__(self) -> int:
        return len({**self.built_in, **self._own()})


def is_own(cls: type) -> bool:
    """Whether a class is the user's own, and not of this package."""
    return not cls.__module__.startswith(f"{__name__.partition('.')[0]}.")


def dashed(cls: type) -> str:
    """A class's name on the command line: NearTheEdge is near-the-edge."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()


def import_all(package: str, path: Iterable[str]) -> None:
    """Import the public modules of a package, so that what they record is known: a file that is put there is found."""
    for module in pkgutil.iter_modules(path):
        if not module.name.startswith("_"):
            importlib.import_module(f"{package}.{module.name}")


def _described(hints: Mapping[str, object], defaults: Mapping[str, object]) -> tuple[Parameter, ...]:
    described = []
    for name, default in defaults.items():
        rule = rule_of(hints[name])
        if name not in ("family", "learner") and default is not DERIVED and rule is not None:
            described.append(Parameter(name, default, rule.words, _search_of(hints[name])))
    return tuple(described)


def _search_of(hint: object) -> Range | Choices | None:
    return next((one for one in extras_of(hint) if isinstance(one, (Range, Choices))), None)
