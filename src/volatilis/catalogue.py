"""Families and learners by name: what there is, and how to write one as text.

gaussian:sigma=10,mu_0=150,sigma_0=87        a family
merge:n=20,p_c=0.1                           a learner, without its family
slow=merge:n=20,p_c=0.01                     the same under a label of its own
gaussian:sigma=column:noise                  a parameter that stands in a column of the table
given:bernoulli:a=2;contexts=3               a family made of another one: that one first, then ; and parameters of its own
per-context:merge:n=20,p_c=0.1;contexts=3    a learner made of another one
averaged:merge:n=10,p_c=unknown              one that learns p_c; p_c=[0.01,0.1] and p_c=unknown(40,0.001,0.3) are values to weigh
averaged:merge:n=10,p_c=unknown;sigma=[1,2]  and the noise of its family
ar:1                                         autoregression:order=1
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from volatilis import families, learners
from volatilis._core.records import Known, Parameter, Range, is_own
from volatilis.families._base import Family
from volatilis.families._kinds import RECORDS as FAMILY_CLASSES
from volatilis.families._kinds import FamilyRecord
from volatilis.learners._base import Learner
from volatilis.learners._grids import Unknown
from volatilis.learners._kinds import RECORDS as LEARNER_CLASSES
from volatilis.learners._kinds import LearnerRecord
from volatilis.recipes import AUTO as AUTO
from volatilis.recipes import FREE as FREE
from volatilis.recipes import Auto, Free, value_of_text
from volatilis.recipes import FromColumn as FromColumn
from volatilis.recipes import Recipe as Recipe
from volatilis.recipes import number as number
from volatilis.recipes import split_items as split_items

R = TypeVar("R", FamilyRecord, LearnerRecord)
T = TypeVar("T")


def _known(classes: Mapping[type, R], built_in: Iterable[R], entries: Callable[[R], Iterable[tuple[str, T]]]) -> Known[T]:
    """By name: what the records of this package have and, as they come, those of the user's own."""

    def named(records: Iterable[R]) -> dict[str, T]:
        return {name: value for record in records for name, value in entries(record)}

    return Known(named(built_in), lambda: named(record for record in classes.values() if is_own(record.cls)))


_FAMILIES, _LEARNERS = families.records(), learners.records()
FAMILY_RECORDS: Mapping[str, FamilyRecord] = _known(FAMILY_CLASSES, _FAMILIES, lambda one: [(one.name, one)])
LEARNER_RECORDS: Mapping[str, LearnerRecord] = _known(LEARNER_CLASSES, _LEARNERS, lambda one: [(one.name, one)])
FAMILIES: Known[type] = _known(FAMILY_CLASSES, _FAMILIES, lambda one: [(one.name, one.cls)])
LEARNERS: Known[type] = _known(LEARNER_CLASSES, _LEARNERS, lambda one: [(one.name, one.cls)])
FAMILY_ALIASES: Mapping[str, str] = _known(FAMILY_CLASSES, _FAMILIES, lambda one: [(alias, one.name) for alias in one.aliases])
ALIASES: Mapping[str, str] = _known(LEARNER_CLASSES, _LEARNERS, lambda one: [(alias, one.name) for alias in one.aliases])
LABEL = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


# --- what there is -------------------------------------------------------------------------------------------------------


def parameters(name: str) -> Sequence[Parameter]:
    """The parameters of a family or learner, but for a learner's family."""
    return _record(name).parameters


def sentence(name: str) -> str:
    """The first sentence of its description."""
    return _record(name).sentence


def other_names(name: str) -> tuple[str, ...]:
    return _record(name).aliases


def form(name: str) -> str | None:
    """How to write what is made of another one of its kind; None where name:parameters says it."""
    known, kind = (FAMILIES, "FAMILY") if name in FAMILIES else (LEARNERS, "LEARNER")
    if not _combines(known, name):
        return None
    needed = [f"{one.name}=..." for one in parameters(name) if one.default is None]
    return f"{name}:{kind}:...,p_c=unknown" if _weighs(known[name]) else f"{name}:{kind}:...;{','.join(needed)}"


def _record(name: str) -> FamilyRecord | LearnerRecord:
    return FAMILY_RECORDS.get(name) or LEARNER_RECORDS[name]


# --- from text -----------------------------------------------------------------------------------------------------------


def parse_family(text: str) -> Recipe:
    return parse(text, FAMILIES, "family", parameters)


def parse_learner(text: str) -> Recipe:
    return parse(text, LEARNERS, "learner", parameters)


def parse_learners(texts: Iterable[str]) -> list[Recipe]:
    """Several, with labels that differ: two of a kind get their parameters into the label, unless labelled by hand."""
    recipes = [parse_learner(text) for text in texts]
    alike = {r.label: [other for other in recipes if other.label == r.label] for r in recipes}
    named = [r if len(alike[r.label]) == 1 else r._replace(label=_longer_label(r, alike[r.label])) for r in recipes]
    seen: set[str] = set()
    for recipe in named:
        if recipe.label in seen:
            raise ValueError(f"two learners are called {recipe.label!r}; give one another label: other={recipe.text}")
        seen.add(recipe.label)
    return named


def make_family(recipe: Recipe, row: Mapping[str, object]) -> Family:
    _check_known(recipe)
    inner = {} if recipe.inner is None else {"family": make_family(recipe.inner, row)}
    try:
        return FAMILIES[recipe.name](**inner, **recipe.own_values(row))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{recipe.text!r}: {error}") from None


def make_learner(recipe: Recipe, family: Family, row: Mapping[str, object]) -> Learner:
    """The learner for a family. Nas10 and Nas12 take their noise and prior mean from it, as far as they are not given."""
    _check_known(recipe)
    inner = None if recipe.inner is None else make_learner(recipe.inner, family, row)
    try:
        if inner is not None:
            return LEARNERS[recipe.name](learner=inner, **recipe.own_values(row), **dict(recipe.grids))
        return LEARNER_RECORDS[recipe.name].make(family, recipe.values(row))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{recipe.text!r}: {error}") from None


def _check_known(recipe: Recipe) -> None:
    for name, value in recipe.fields:
        if value == AUTO:
            raise ValueError(f"{recipe.text!r}: {name}=auto is estimated from a table of observations, and there is none here")
        if isinstance(value, Unknown) and name not in _gridded(()):
            raise ValueError(f"{recipe.text!r}: {name} cannot be learned; give its value")
        if isinstance(value, Unknown):
            raise ValueError(
                f"{recipe.text!r}: {name}=unknown needs a learner that learns it, averaged:LEARNER:{name}=unknown; "
                f"{name}=auto estimates it beforehand, and so does volatilis environment"
            )


def parse(text: str, known: Mapping[str, type], kind: str, described: Callable[[str], Sequence[Parameter]]) -> Recipe:
    """A recipe for one of the classes known; `described` tells the parameters of each."""
    head, _, tail = text.partition(":")
    label, equals, name = head.rpartition("=")
    key = _key(text, known)
    if key not in known:
        close = difflib.get_close_matches(key, known, 1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise ValueError(f"{text!r}: there is no {kind} {name.strip()!r}; there are {', '.join(known)}{hint}")
    label = label.strip() if equals else key.replace("-", "_")
    if not LABEL.fullmatch(label):
        raise ValueError(f"{text!r}: the label {label!r} is not accepted; letters, digits and _ are, a letter first")
    if _combines(known, key):
        return _nested(text, label, key, tail, known, kind, described)
    return Recipe(label, key, tuple(_fields(text, tail, key, described(key), _unnamed(known, key))), text)


def _key(text: str, known: Mapping[str, type]) -> str:
    """The name that a text begins with, as it is known if it is."""
    key = text.partition(":")[0].rpartition("=")[2].strip().lower().replace("_", "-")
    key = (FAMILY_ALIASES if known is FAMILIES else ALIASES).get(key, key)
    return key if key in known else {entry.replace("-", ""): entry for entry in known}.get(key.replace("-", ""), key)


def _combines(known: Mapping[str, type], key: str) -> bool:
    """Whether it is made of another one of its kind."""
    given = [name for name in ("family", "learner") if name in inspect.signature(known[key]).parameters]
    return (known is FAMILIES and "family" in given) or (known is LEARNERS and "learner" in given)


def _unnamed(known: Mapping[str, type], key: str) -> str | None:
    return FAMILY_RECORDS[key].unnamed if known is FAMILIES else None


def _nested(
    text: str,
    label: str,
    key: str,
    tail: str,
    known: Mapping[str, type],
    kind: str,
    described: Callable[[str], Sequence[Parameter]],
) -> Recipe:
    """What follows the last ; belongs to the outermost, unless what it is made of is made of another and has these parameters."""
    inner, semicolon, outer = tail.rpartition(";")
    gridded = _gridded(described(key)) if _weighs(known[key]) else {}
    names = {item.partition("=")[0].strip() for item in split_items(outer)}
    deeper = _key(tail, known)
    if deeper in known and _combines(known, deeper) and not names & {*(one.name for one in described(key)), *gridded}:
        semicolon = ""
    inner, outer = (inner, outer) if semicolon else (tail, "")
    if not inner.strip():
        raise ValueError(f"{text!r}: {key} is made of another {kind}; write it first: {key}:{next(iter(known))}:...;...")
    try:
        written = dict(_fields(text, outer, key, [*described(key), *gridded.values()], None))
    except ValueError as error:
        raise ValueError(f"{error}; the form is {form(key)}") from None
    grids = {name: value for name, value in written.items() if name in gridded}
    within = parse(
        inner, known, kind, lambda of: [one._replace(default=0.0) if one.name in grids else one for one in described(of)]
    )
    if gridded:
        within, grids = _hoisted(text, within, grids, {one.name: one for one in described(within.name)})
    fields = tuple((name, value) for name, value in written.items() if name not in gridded)
    twice = {name for name, _ in fields} & {name for name, _ in within.fields}
    if twice:
        raise ValueError(f"{text!r}: {min(twice)} is given twice")
    label = f"{label}_{within.label}" if label == key.replace("-", "_") else label
    return Recipe(label, key, (*within.fields, *fields), text, within, tuple(grids.items()))


def _weighs(cls: type) -> bool:
    """Whether it takes values of any parameter of what it is made of, to weigh them."""
    return any(one.kind is one.VAR_KEYWORD for one in inspect.signature(cls).parameters.values())


def _gridded(own: Iterable[Parameter]) -> dict[str, Parameter]:
    """The parameters of any learner or family whose values can be weighed, but for its own."""
    described = (one for records in (LEARNER_RECORDS, FAMILY_RECORDS) for name in records for one in parameters(name))
    searchable = {one.name: one._replace(default=0.0) for one in described if isinstance(one.search, Range)}
    return {name: one for name, one in searchable.items() if name not in {mine.name for mine in own}}


def _hoisted(
    text: str, within: Recipe, grids: dict[str, object], described: Mapping[str, Parameter]
) -> tuple[Recipe, dict[str, object]]:
    """merge:n=10,p_c=unknown in two: the grid of p_c, and merge with a usual p_c in its place, which counts for nothing."""
    fields = dict(within.fields)
    ranges = {name: one.search for name, one in described.items() if isinstance(one.search, Range)}
    inside = {name: value for name, value in fields.items() if isinstance(value, (list, Unknown)) and name in ranges}
    if inside.keys() & grids.keys():
        raise ValueError(f"{text!r}: {min(inside.keys() & grids.keys())} is given twice")
    grids = {name: tuple(v) if isinstance(v, list) else v for name, v in {**inside, **grids}.items()}
    for name, value in grids.items():
        if isinstance(fields.get(name), (Free, FromColumn)):
            raise ValueError(f"{text!r}: {name} is to be weighed, so it cannot be free or in a column as well")
        if isinstance(value, (Free, FromColumn, Auto)) or not isinstance(value, (tuple, int, float)):
            raise ValueError(f"{text!r}: {name} is to be weighed; write {name}=unknown, or values of it: {name}=[a,b,c]")
        if name in ranges and (name in inside or name not in fields):
            scale, first, last = ranges[name].scale, ranges[name].first, ranges[name].last
            fields[name] = scale.back(0.5 * (scale.to(first) + scale.to(last)))
    return within._replace(fields=tuple(fields.items())), grids


def _fields(text: str, tail: str, name: str, described: Sequence[Parameter], unnamed: str | None) -> Iterable[tuple[str, object]]:
    accepted, seen = {p.name: p for p in described}, set()
    for place, item in enumerate(split_items(tail)):
        item = f"{unnamed}={item}" if unnamed is not None and place == 0 and "=" not in item else item
        field, equals, value = (part.strip() for part in item.partition("="))
        if not equals or not value:
            raise ValueError(f"{text!r}: {item!r} is not accepted; parameters are written name=value, with commas between")
        if ";" in value:
            why = "a semicolon is only for what is made of another one"
            raise ValueError(f"{text!r}: write commas between the parameters of {name}; {why}")
        if field not in accepted:
            close = difflib.get_close_matches(field, accepted, 1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise ValueError(f"{text!r}: {name} has no parameter {field!r}; it has {', '.join(accepted) or 'none'}{hint}")
        if field in seen:
            raise ValueError(f"{text!r}: {field} is given twice")
        seen.add(field)
        if "'" in accepted[field].accepts and repr(value) not in accepted[field].accepts:
            raise ValueError(f"{text!r}: {field} = {value} is not accepted; it must be {accepted[field].accepts}")
        yield field, value if repr(value) in accepted[field].accepts else value_of_text(text, field, value)
    for parameter in accepted.values():
        if parameter.default is None and parameter.name not in seen and not parameter.from_family:
            raise ValueError(f"{text!r}: {parameter.name} is missing; it must be {parameter.accepts}")


def _longer_label(recipe: Recipe, alike: list[Recipe]) -> str:
    """With the parameters in which it differs from others of its kind: merge_n20."""
    parts = [{**dict(one.fields), **dict(one.grids)} for one in (recipe, *alike)]
    differ = [(name, value) for name, value in parts[0].items() if any(other.get(name) != value for other in parts[1:])]
    shown = (f"{name}{_shown(value)}" for name, value in differ)
    return re.sub(r"[^A-Za-z0-9_]", "_", "_".join((recipe.label, *shown)))


def _shown(value: object) -> object:
    if isinstance(value, FromColumn):
        return value.column
    if isinstance(value, (Free, Auto)):
        return value.word
    if isinstance(value, Unknown):
        return "unknown"
    return "_".join(map(str, value)) if isinstance(value, tuple) else value
