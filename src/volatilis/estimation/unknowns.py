"""What is to be estimated: a learner whose predictions are the evidence, and which of its parameters are unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from volatilis._core.records import Parameter
from volatilis.catalogue import AUTO, make_learner, parameters, parse, parse_learner
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
START = 0.03  # p_c
WORD = "unknown"


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
        own = {name: value for name, value in self.given if name in places}
        return with_values(suggested, own)

    def predicted_by(self, text: str) -> Unknowns:
        """The same with the predictions of another learner, of which `unknown` may be parameters too."""
        recipe = parse_learner(text)
        marked = [name for name, value in recipe.fields if isinstance(value, Unknown)]
        places = {one.name: one for one in parameters(recipe.name)}
        fields = tuple((name, _middle(type(self), places[name]) * START if name in marked else v) for name, v in recipe.fields)
        learner = make_learner(recipe._replace(fields=fields), self.template.family, {})
        family = [name for name in self.unknown if name != "p_c"]
        given = dict(parameter_values(learner))
        return self._replace(
            template=learner,
            unknown=(*family, *marked),
            given=tuple((name, value) for name, value in given.items() if name not in {*family, *marked}),
        )


def unknowns_of(family: object, parameters: Mapping[str, object], ys: object) -> Unknowns:
    """From a class, a text, a family or a learner, and what was given by name."""
    for name, value in parameters.items():
        if isinstance(value, str) and value != WORD:
            raise ValueError(f"{name} = {value!r} is not accepted; a number is, or vl.unknown")
    marked = [name for name, value in parameters.items() if isinstance(value, Unknown) or value == WORD]
    values = {name: value for name, value in parameters.items() if name not in marked}
    if isinstance(family, str):
        name, written = open_family(family)
        return unknowns_of(CLASSES[name], {**written, **parameters}, ys)
    if isinstance(family, type) and family in FAMILIES:
        return _of_class(family, values, marked, ys, FAMILIES[family].parameters)
    if type(family) in FAMILIES:
        changes = [] if "p_c" in values else ["p_c"]
        return _of_instance(_predictor(cast(Family, family), values.get("p_c", START)), values, [*marked, *changes])
    if type(family) in LEARNERS:
        learner = cast(Learner, family)
        return _of_instance(learner, values, marked or _searchable(learner))
    raise TypeError(f"{family!r} is no family; a class such as vl.Gaussian is accepted, a text, a family or a learner")


def _of_class(
    cls: type, values: dict[str, object], marked: Sequence[str], ys: object, parameters: Sequence[Parameter]
) -> Unknowns:
    """Everything that is not given is unknown, if it can be searched."""
    fields, notes = {name: value for name, value in values.items() if name != "p_c"}, []
    for one in parameters:
        if one.name in fields:
            continue
        if one.name == "k" and one.default is None:
            fields["k"] = _categories(ys)
            notes.append(f"k = {fields['k']}: as many categories as the largest number tells")
        elif one.default is None:
            fields[one.name] = _middle(cls, one)
    template = _predictor(cls(**fields), values.get("p_c", START))
    places = parameter_places(template)
    searched = [p.name for p in parameters if p.name not in values and (p.search is not None or p.default is None)]
    unknown = [name for name in searched if name in places and scale_name(places[name]) is not None]
    return _checked(template, [*unknown, *(["p_c"] if "p_c" not in values else []), *marked], values, notes)


def _of_instance(template: Learner, values: Mapping[str, object], marked: Sequence[str]) -> Unknowns:
    """What is marked is unknown, all else is as it is."""
    places = parameter_places(template)
    own = {name: value for name, value in values.items() if name in places}
    given = {name: value for name, value in parameter_values(with_values(template, own)).items() if name not in marked}  # type: ignore[arg-type]
    return _checked(template, marked, {**given, **values}, [])


def _checked(template: Learner, unknown: Sequence[str], values: Mapping[str, object], notes: Sequence[str]) -> Unknowns:
    places = parameter_places(template)
    for name in (*unknown, *values):
        if name not in places and name not in template.family._fields:  # type: ignore[attr-defined]
            raise TypeError(f"{type(template.family).__name__} has no parameter {name!r}; it has {', '.join(places)}")
    for name in unknown:
        if name not in places or scale_name(places[name]) is None:
            raise ValueError(f"{name} cannot be estimated, since it is not one number on a scale; give its value")
    given = {name: value for name, value in values.items() if name in places}
    template = with_values(template, given)  # type: ignore[arg-type]
    return Unknowns(template, tuple(dict.fromkeys(unknown)), tuple(given.items()), tuple(notes))  # type: ignore[arg-type]


def parameter_values(learner: Learner) -> dict[str, float]:
    return {name: value_of(learner, name) for name in parameter_places(learner)}


def _predictor(family: Family, p_c: Any) -> Learner:
    """The learner whose predictions are the evidence: next to exact, at a fixed cost per observation."""
    if family.lacks("merge", "dissimilarity"):
        return MessagePassing(family, p_c, n=5 * HYPOTHESES)
    return Merge(family, p_c, n=HYPOTHESES)


def _searchable(learner: Learner) -> list[str]:
    places = parameter_places(learner)
    return [name for name, place in places.items() if place.parameter.search is not None]


def _categories(ys: Any) -> int:
    flat = np.concatenate([np.ravel(one) for one in ys]) if isinstance(ys, (list, tuple)) and np.ndim(ys[0]) else np.ravel(ys)
    numbers = np.array([one for one in flat.tolist() if isinstance(one, (int, float)) and one == one])
    if numbers.size == 0:
        raise ValueError("there is no observation")
    return max(2, int(numbers.max()) + 1)


def _middle(cls: type, one: Parameter) -> float:
    """Some value of a parameter that must have one: what the data suggest takes its place."""
    if one.accepts.startswith(("a vector", "a square matrix")):
        raise ValueError(f"{cls.__name__}: {one.name} must be given; {one.accepts} is not estimated")
    return 1.0 if "above 0" in one.accepts else 0.0


def open_family(text: str) -> tuple[str, dict[str, object]]:
    """A family of which not every parameter is given: its name, and those that are; `auto` is unknown."""
    recipe = parse(text, CLASSES, "family", all_optional)
    return recipe.name, {name: unknown if v == AUTO else v for name, v in recipe.fields}


def all_optional(name: str) -> list[Parameter]:
    return [one._replace(default=one.default if one.default is not None else unknown) for one in parameters(name)]
