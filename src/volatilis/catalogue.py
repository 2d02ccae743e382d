"""Families and learners by name: what there is, and how to write one as text.

gaussian:sigma=10,mu_0=150,sigma_0=87        a family
merge:n=20,p_c=0.1                           a learner, without its family
slow=merge:n=20,p_c=0.01                     the same under a label of its own
gaussian:sigma=column:noise                  a parameter that stands in a column of the table
given:bernoulli:a=2;contexts=3               a family made of another one: that one first, then ; and parameters of its own
per-context:merge:n=20,p_c=0.1;contexts=3    a learner made of another one
ar:1                                         autoregression:order=1
"""

from __future__ import annotations

import difflib
import inspect
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from volatilis import families, learners
from volatilis._core.records import Known, Parameter, is_own
from volatilis.families._base import Family
from volatilis.families._kinds import RECORDS as FAMILY_CLASSES
from volatilis.families._kinds import FamilyRecord
from volatilis.learners._base import Learner
from volatilis.learners._grids import unknown
from volatilis.learners._kinds import RECORDS as LEARNER_CLASSES
from volatilis.learners._kinds import LearnerRecord

FAMILY_RECORDS: Mapping[str, FamilyRecord] = Known(
    {record.name: record for record in families.records()},
    lambda: {record.name: record for record in FAMILY_CLASSES.values() if is_own(record.cls)},
)
LEARNER_RECORDS: Mapping[str, LearnerRecord] = Known(
    {record.name: record for record in learners.records() if not record.combines},
    lambda: {record.name: record for record in LEARNER_CLASSES.values() if is_own(record.cls)},
)
FAMILIES: Known[type] = Known(
    {record.name: record.cls for record in families.records()},
    lambda: {record.name: record.cls for record in FAMILY_CLASSES.values() if is_own(record.cls)},
)
LEARNERS: Known[type] = Known(
    {record.name: record.cls for record in learners.records() if not record.combines},
    lambda: {record.name: record.cls for record in LEARNER_CLASSES.values() if is_own(record.cls)},
)
ALIASES: Mapping[str, str] = Known(
    {alias: record.name for record in learners.records() for alias in record.aliases},
    lambda: {alias: record.name for record in LEARNER_CLASSES.values() for alias in record.aliases if is_own(record.cls)},
)
FAMILY_ALIASES: Mapping[str, str] = Known(
    {alias: record.name for record in families.records() for alias in record.aliases},
    lambda: {alias: record.name for record in FAMILY_CLASSES.values() for alias in record.aliases if is_own(record.cls)},
)
LABEL = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
COLUMN = "column:"


class FromColumn(NamedTuple):
    """A parameter's value that stands in a column, the same in all rows of a group."""

    column: str


class Free(NamedTuple):
    """A parameter's value that is to be found from what people do."""

    word: str = "free"


class Auto(NamedTuple):
    """A parameter's value that is to be estimated from the observations before anything else."""

    word: str = "auto"


FREE, AUTO = Free(), Auto()


class Recipe(NamedTuple):
    """A family or learner as it was written, its columns not yet looked up."""

    label: str
    name: str
    fields: tuple[tuple[str, object], ...]
    text: str
    inner: Recipe | None = None  # what it is made of, whose fields are among its own

    def columns(self) -> tuple[str, ...]:
        """The columns that it needs."""
        return tuple(value.column for _, value in self.fields if isinstance(value, FromColumn))

    def free(self) -> tuple[str, ...]:
        """The parameters that are to be found."""
        return tuple(name for name, value in self.fields if isinstance(value, Free))

    def values(self, row: Mapping[str, object]) -> dict[str, object]:
        """The parameters, those in columns and those that are free taken from a row."""
        key = {name: value.column if isinstance(value, FromColumn) else name for name, value in self.fields}
        return {n: row[key[n]] if isinstance(value, (FromColumn, Free)) else value for n, value in self.fields}

    def chain(self) -> tuple[Recipe, ...]:
        """Itself and what it is made of, the outermost first."""
        return (self,) if self.inner is None else (self, *self.inner.chain())

    def own_values(self, row: Mapping[str, object]) -> dict[str, object]:
        """Those that are not of what it is made of."""
        inner = dict(self.inner.fields) if self.inner is not None else {}
        return {name: value for name, value in self.values(row).items() if name not in inner}


# --- what there is -------------------------------------------------------------------------------------------------------


def parameters(name: str) -> Sequence[Parameter]:
    """The parameters of a family or learner, but for a learner's family."""
    return _record(name).parameters


def sentence(name: str) -> str:
    """The first sentence of its description."""
    return _record(name).sentence


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
            return LEARNERS[recipe.name](learner=inner, **recipe.own_values(row))
        return LEARNER_RECORDS[recipe.name].make(family, recipe.values(row))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{recipe.text!r}: {error}") from None


def _check_known(recipe: Recipe) -> None:
    for name, value in recipe.fields:
        if value == AUTO:
            raise ValueError(f"{recipe.text!r}: {name}=auto is estimated from a table of observations, and there is none here")


def parse(text: str, known: Mapping[str, type], kind: str, described: Callable[[str], Sequence[Parameter]]) -> Recipe:
    """A recipe for one of the classes known; `described` tells the parameters of each."""
    head, _, tail = text.partition(":")
    label, equals, name = head.rpartition("=")
    key = name.strip().lower().replace("_", "-")
    key = (FAMILY_ALIASES if known is FAMILIES else ALIASES).get(key, key)
    plain = {entry.replace("-", ""): entry for entry in known}
    key = plain.get(key.replace("-", ""), key)
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
    """What follows the last ; belongs to the outermost, unless it names none of its parameters: then to what it is made of."""
    inner, semicolon, own = tail.rpartition(";")
    names = {item.partition("=")[0].strip() for item in split_items(own)}
    if not semicolon or not names & {one.name for one in described(key)}:
        inner, own = tail, ""
    if not inner.strip():
        raise ValueError(f"{text!r}: {key} is made of another {kind}; write it first: {key}:{next(iter(known))}:...;...")
    within = parse(inner, known, kind, described)
    fields = tuple(_fields(text, own, key, described(key), None))
    twice = {name for name, _ in fields} & {name for name, _ in within.fields}
    if twice:
        raise ValueError(f"{text!r}: {min(twice)} is given twice")
    label = f"{label}_{within.label}" if label == key.replace("-", "_") else label
    return Recipe(label, key, (*within.fields, *fields), text, within)


def _fields(text: str, tail: str, name: str, described: Sequence[Parameter], unnamed: str | None) -> Iterable[tuple[str, object]]:
    accepted, seen = {p.name: p for p in described}, set()
    for place, item in enumerate(split_items(tail)):
        item = f"{unnamed}={item}" if unnamed is not None and place == 0 and "=" not in item else item
        field, equals, value = (part.strip() for part in item.partition("="))
        if not equals or not value:
            raise ValueError(f"{text!r}: {item!r} is not accepted; parameters are written name=value, with commas between")
        if field not in accepted:
            close = difflib.get_close_matches(field, accepted, 1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise ValueError(f"{text!r}: {name} has no parameter {field!r}; it has {', '.join(accepted) or 'none'}{hint}")
        if field in seen:
            raise ValueError(f"{text!r}: {field} is given twice")
        seen.add(field)
        yield field, value if repr(value) in accepted[field].accepts else _value(text, field, value)
    for parameter in accepted.values():
        if parameter.default is None and parameter.name not in seen and not parameter.from_family:
            raise ValueError(f"{text!r}: {parameter.name} is missing; it must be {parameter.accepts}")


def _value(text: str, field: str, value: str) -> object:
    words = {FREE.word: FREE, AUTO.word: AUTO, "unknown": unknown}
    if value.lower() in words:
        return words[value.lower()]
    if value.startswith(COLUMN):
        return FromColumn(value.removeprefix(COLUMN).strip())
    try:
        return number(value)
    except ValueError:
        pass
    try:
        return json.loads(value)
    except ValueError:
        raise ValueError(f"{text!r}: {field} = {value} is not a number; nor is it [a,b], [[a,b],[c,d]] or column:NAME") from None


def number(text: str) -> int | float:
    """A whole number as int, any other as float."""
    try:
        return int(text)
    except ValueError:
        return float(text)


def split_items(text: str) -> list[str]:
    """At commas that stand in no bracket."""
    parts, depth, start = [], 0, 0
    for i, character in enumerate(text):
        depth += (character in "[(") - (character in "])")
        if character == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [part.strip() for part in [*parts, text[start:]] if part.strip()]


def _longer_label(recipe: Recipe, alike: list[Recipe]) -> str:
    """With the parameters in which it differs from others of its kind: merge_n20."""
    differ = [(name, value) for name, value in recipe.fields if any(dict(other.fields).get(name) != value for other in alike)]
    shown = (f"{name}{value.column if isinstance(value, FromColumn) else value}" for name, value in differ)
    return re.sub(r"[^A-Za-z0-9_]", "_", "_".join((recipe.label, *shown)))
