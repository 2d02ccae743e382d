"""Families and learners by name: what there is, and how to write one as text.

gaussian:sigma=10,mu_0=150,sigma_0=87        a family
merge:n=20,p_c=0.1                           a learner, without its family
slow=merge:n=20,p_c=0.01                     the same under a label of its own
gaussian:sigma=column:noise                  a parameter that stands in a column of the table
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from volatilis import families, learners
from volatilis._core.records import Parameter
from volatilis.families._base import Family
from volatilis.families._kinds import FamilyRecord
from volatilis.learners._base import Learner
from volatilis.learners._kinds import LearnerRecord

FAMILY_RECORDS: Mapping[str, FamilyRecord] = {record.name: record for record in families.records()}
LEARNER_RECORDS: Mapping[str, LearnerRecord] = {record.name: record for record in learners.records()}
FAMILIES: Mapping[str, type] = {name: record.cls for name, record in FAMILY_RECORDS.items()}
LEARNERS: Mapping[str, type] = {name: record.cls for name, record in LEARNER_RECORDS.items()}
ALIASES: Mapping[str, str] = {alias: name for name, record in LEARNER_RECORDS.items() for alias in record.aliases}
LABEL = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
COLUMN = "column:"


class FromColumn(NamedTuple):
    """A parameter's value that stands in a column, the same in all rows of a group."""

    column: str


class Free(NamedTuple):
    """A parameter's value that is to be found."""

    word: str = "free"


FREE = Free()


class Recipe(NamedTuple):
    """A family or learner as it was written, its columns not yet looked up."""

    label: str
    name: str
    fields: tuple[tuple[str, object], ...]
    text: str

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
    try:
        return FAMILIES[recipe.name](**recipe.values(row))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{recipe.text!r}: {error}") from None


def make_learner(recipe: Recipe, family: Family, row: Mapping[str, object]) -> Learner:
    """The learner for a family. Nas10 and Nas12 take their noise and prior mean from it, as far as they are not given."""
    try:
        return LEARNER_RECORDS[recipe.name].make(family, recipe.values(row))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{recipe.text!r}: {error}") from None


def parse(text: str, known: Mapping[str, type], kind: str, described: Callable[[str], Sequence[Parameter]]) -> Recipe:
    """A recipe for one of the classes known; `described` tells the parameters of each."""
    head, _, tail = text.partition(":")
    label, equals, name = head.rpartition("=")
    key = name.strip().lower().replace("_", "-")
    key = ALIASES.get(key, key)
    plain = {entry.replace("-", ""): entry for entry in known}
    key = plain.get(key.replace("-", ""), key)
    if key not in known:
        close = difflib.get_close_matches(key, known, 1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise ValueError(f"{text!r}: there is no {kind} {name.strip()!r}; there are {', '.join(known)}{hint}")
    label = label.strip() if equals else key.replace("-", "_")
    if not LABEL.fullmatch(label):
        raise ValueError(f"{text!r}: the label {label!r} is not accepted; letters, digits and _ are, a letter first")
    return Recipe(label, key, tuple(_fields(text, tail, key, described(key))), text)


def _fields(text: str, tail: str, name: str, described: Sequence[Parameter]) -> Iterable[tuple[str, object]]:
    accepted, seen = {p.name: p for p in described}, set()
    for item in _split(tail):
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
        yield field, _value(text, field, value)
    for parameter in accepted.values():
        if parameter.default is None and parameter.name not in seen and not parameter.from_family:
            raise ValueError(f"{text!r}: {parameter.name} is missing; it must be {parameter.accepts}")


def _value(text: str, field: str, value: str) -> object:
    if value.lower() == FREE.word:
        return FREE
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


def _split(text: str) -> list[str]:
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
