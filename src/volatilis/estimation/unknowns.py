"""What is to be estimated: a learner whose predictions are the evidence, and which of its parameters are unknown."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from volatilis._core.records import Parameter
from volatilis.catalogue import AUTO, FromColumn, Recipe, make_learner, parameters, parse, parse_learner
from volatilis.catalogue import FAMILIES as CLASSES
from volatilis.estimation.coordinates import scale_name
from volatilis.families._base import Family
from volatilis.families._kinds import RECORDS as FAMILIES
from volatilis.learners._base import Learner
from volatilis.learners._grids import Unknown, parameter_places, unknown, value_of, with_values
from volatilis.learners._kinds import RECORDS as LEARNERS
from volatilis.learners.merge import Merge
from volatilis.learners.message_passing import MessagePassing

HYPOTHESES = 20
START, START_P_O = 0.03, 0.02  # p_c, and any other probability
WORD = "unknown"
FIXED = ("period",)  # the unit in which observations are counted, which nobody has to estimate


class Unknowns(NamedTuple):
    """A learner; the parameters that are unknown; those of its family that were given; and what there is to say about it."""

    template: Learner
    unknown: tuple[str, ...]
    given: tuple[tuple[str, float], ...] = ()
    notes: tuple[str, ...] = ()

    def from_data(self, sequences: Sequence[np.ndarray]) -> Learner:
        """The learner with what the data suggest for what is unknown."""
        suggested = self.template._replace(family=self.template.family.plausible(sequences))  # type: ignore[attr-defined]
        places = parameter_places(suggested)
        settable = {name: value for name, value in self.given if name in places}
        return with_values(suggested, settable)

    def predicted_by(self, text: str) -> Unknowns:
        """The same with the predictions of another learner, of which `unknown` may be parameters too."""
        recipe = parse_learner(text)
        marked = [name for name, value in recipe.fields if isinstance(value, Unknown)]
        places = {one.name: one for one in parameters(recipe.name)}
        fields = tuple((name, _middle(recipe.name, places[name]) * START if name in marked else v) for name, v in recipe.fields)
        learner = make_learner(recipe._replace(fields=fields), self.template.family, {})
        family = [name for name in self.unknown if name != "p_c"]
        given = dict(parameter_values(learner))
        return self._replace(
            template=learner,
            unknown=(*family, *marked),
            given=tuple((name, value) for name, value in given.items() if name not in {*family, *marked}),
        )


def unknowns_of(family: object, parameters: Mapping[str, object], ys: object, given: object = None) -> Unknowns:
    """From a class, a text, a family or a learner, and what was given by name; ys and given say how many categories there are."""
    for name, value in parameters.items():
        if isinstance(value, str) and value != WORD:
            raise ValueError(f"{name} = {value!r} is not accepted; a number is, or vl.unknown")
    marked = [name for name, value in parameters.items() if _is_unknown(value)]
    values = {name: value for name, value in parameters.items() if name not in marked}
    if isinstance(family, str):
        recipe = open_family(family)
        written = {name: value for name, value in recipe.fields if not _is_unknown(value) and name not in marked}
        levels = [CLASSES[one.name] for one in recipe.chain()]
        return _of_classes(levels, {**written, **values}, marked, _Counts(ys, given))
    if isinstance(family, type) and family in FAMILIES:
        return _of_classes([family], values, marked, _Counts(ys, given))
    if type(family) in FAMILIES:
        changes = [] if "p_c" in values else ["p_c"]
        return _of_instance(_predictor(cast(Family, family), values.get("p_c", START)), values, [*marked, *changes])
    if type(family) in LEARNERS:
        learner = cast(Learner, family)
        return _of_instance(learner, values, marked or _searchable(learner))
    raise TypeError(f"{family!r} is no family; a class such as vl.Gaussian is accepted, a text, a family or a learner")


def _is_unknown(value: object) -> bool:
    return isinstance(value, Unknown) or value == AUTO or (isinstance(value, str) and value == WORD)


# --- a class, or several of which each is made of the next -----------------------------------------------------------------


def _of_classes(levels: Sequence[type], values: dict[str, object], marked: Sequence[str], counts: _Counts) -> Unknowns:
    """Everything that is not given is unknown, if it can be searched. The outermost class comes first."""
    family, notes = _made(levels, values, counts)
    template = _predictor(family, values.get("p_c", START))
    places = parameter_places(template)
    names = [one.name for cls in levels for one in FAMILIES[cls].parameters]
    searched = [name for name in reversed(names) if name in places and name not in values and name not in FIXED]
    searched = [name for name in names if name in searched and _can_move(template, name)]
    return _checked(template, [*searched, *(["p_c"] if "p_c" not in values else []), *marked], values, notes)


def _made(levels: Sequence[type], values: Mapping[str, object], counts: _Counts) -> tuple[Family, list[str]]:
    family: Any = None
    notes: list[str] = []
    for cls in reversed(levels):
        if family is None and "family" in inspect.signature(cls).parameters:
            name = FAMILIES[cls].name
            raise ValueError(
                f"{cls.__name__} is made of another family: write it as a text, such as '{name}:gaussian', or give one with "
                f"numbers, such as vl.{cls.__name__}(vl.Gaussian(1.0), ...), and mark what is unknown of it"
            )
        fields: dict[str, Any] = {} if family is None else {"family": family}
        for one in FAMILIES[cls].parameters:
            if one.name in values:
                fields[one.name] = _one_value(one.name, values[one.name])
            elif one.default is None and one.accepts.startswith("a whole number"):
                fields[one.name], note = counts.of(cls, one)
                notes.append(note)
            elif one.default is None:
                fields[one.name] = _middle(cls.__name__, one)
        family = cls(**fields)
    return family, notes


def _one_value(name: str, value: object) -> object:
    if isinstance(value, FromColumn):
        raise ValueError(f"{name} stands in a column; estimates are of parameters that all rows share, so give a number")
    return value


def _can_move(template: Learner, name: str) -> bool:
    """Whether it is a number on a scale that may have another value than it has."""
    place = parameter_places(template)[name]
    if scale_name(place) is None:
        return False
    try:
        with_values(template, {name: value_of(template, name) * 1.01 + 1e-3})
    except ValueError:
        return False
    return True


class _Counts(NamedTuple):
    """Whole numbers that observations and contexts tell: of categories, contexts, regressors."""

    ys: Any
    contexts: Any

    def of(self, cls: type, one: Parameter) -> tuple[int, str]:
        if one.name == "k":
            k = max(2, int(max(self._largest(self.ys, "observation"), 0.0)) + 1)
            return k, f"k = {k}: as many categories as the largest number tells"
        if one.name == "order":
            return 1, "order = 1: each observation depends on the one before"
        if self.contexts is None:
            raise ValueError(f"{cls.__name__}: {one.name} must be given, or contexts (given=) that tell it; it is {one.accepts}")
        if one.name == "contexts":
            first = [np.asarray(x)[..., 0] if np.ndim(x) > 1 else x for x in _flat(self.contexts)]
            count = max(1, int(self._largest(first, "context")) + 1)
            return count, f"contexts = {count}: as many as the largest number tells"
        shape = np.shape(_flat(self.contexts)[0])
        count = shape[1] if len(shape) > 1 else 1
        return count, f"{one.name} = {count}: as many as there are columns"

    @staticmethod
    def _largest(entries: Any, what: str) -> float:
        flat = [value for one in _flat(entries) for value in np.ravel(np.asarray(one, dtype=object)).tolist()]
        numbers = [float(one) for one in flat if isinstance(one, (int, float, np.number)) and one == one]
        if not numbers:
            raise ValueError(f"there is no {what} that is a number")
        return max(numbers)


def _flat(entries: Any) -> list[Any]:
    """Sequences: one of numbers is a list of one."""
    if isinstance(entries, (list, tuple)) and len(entries) and np.ndim(entries[0]) > 0:
        return list(entries)
    return [entries]


# --- a family or a learner with numbers --------------------------------------------------------------------------------------


def _of_instance(template: Learner, values: Mapping[str, object], marked: Sequence[str]) -> Unknowns:
    """What is marked is unknown, all else is as it is."""
    places = parameter_places(template)
    named = {name: value for name, value in values.items() if name in places}
    given = {name: value for name, value in parameter_values(with_values(template, named)).items() if name not in marked}  # type: ignore[arg-type]
    return _checked(template, marked, {**given, **values}, [])


def _checked(template: Learner, unknown: Sequence[str], values: Mapping[str, object], notes: Sequence[str]) -> Unknowns:
    places = parameter_places(template)
    known = {*places, *_field_names(template.family)}
    for name in (*unknown, *values):
        if name not in known:
            raise TypeError(f"{type(template.family).__name__} has no parameter {name!r}; it has {', '.join(places)}")
    for name in unknown:
        if name not in places or scale_name(places[name]) is None:
            raise ValueError(f"{name} cannot be estimated, since it is not one number on a scale; give its value")
    given = {name: value for name, value in values.items() if name in places}
    template = with_values(template, given)  # type: ignore[arg-type]
    return Unknowns(template, tuple(dict.fromkeys(unknown)), tuple(given.items()), tuple(notes))  # type: ignore[arg-type]


def _field_names(family: Any) -> set[str]:
    inner = [getattr(family, name) for name in family._fields if type(getattr(family, name)) in FAMILIES]
    return {*family._fields}.union(*map(_field_names, inner))


def parameter_values(learner: Learner) -> dict[str, float]:
    """All that are single numbers."""
    return {name: value_of(learner, name) for name in parameter_places(learner)}


def _predictor(family: Family, p_c: Any) -> Learner:
    """The learner whose predictions are the evidence: next to exact, at a fixed cost per observation."""
    if family.lacks("merge", "dissimilarity"):
        return MessagePassing(family, p_c, n=5 * HYPOTHESES)
    return Merge(family, p_c, n=HYPOTHESES)


def _searchable(learner: Learner) -> list[str]:
    places = parameter_places(learner)
    return [name for name, place in places.items() if place.parameter.search is not None]


def _middle(owner: str, one: Parameter) -> float:
    """Some value of a parameter that must have one: what the data suggest takes its place."""
    if one.accepts.startswith(("a vector", "a square matrix")):
        raise ValueError(f"{owner}: {one.name} must be given; {one.accepts} is not estimated")
    if "below 1" in one.accepts:
        return START_P_O
    return 1.0 if "above 0" in one.accepts else 0.0


def open_family(text: str) -> Recipe:
    """A family of which not every parameter is given, as it is written."""
    return parse(text, CLASSES, "family", all_optional)


def all_optional(name: str) -> list[Parameter]:
    """The parameters of a family or learner, of which none must be given."""
    return [one._replace(default=one.default if one.default is not None else unknown) for one in parameters(name)]
