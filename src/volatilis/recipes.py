"""A family or a learner as it is written: its parameters, some of them to be looked up or found, and what it is made of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from volatilis.learners._grids import Unknown, unknown

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
    grids: tuple[tuple[str, object], ...] = ()  # parameters of what it is made of, with the values that it weighs

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


# --- values as text ------------------------------------------------------------------------------------------------------


def value_of_text(text: str, field: str, value: str) -> object:
    words = {FREE.word: FREE, AUTO.word: AUTO, "unknown": unknown}
    if value.lower() in words:
        return words[value.lower()]
    if value.startswith("unknown(") and value.endswith(")"):
        return _grid(text, field, value.removeprefix("unknown(").removesuffix(")"))
    if value.startswith(COLUMN):
        return FromColumn(value.removeprefix(COLUMN).strip())
    try:
        return number(value)
    except ValueError:
        pass
    try:
        return json.loads(value)
    except ValueError:
        raise ValueError(
            f"{text!r}: {field} = {value} is not a number; [a,b], [[a,b],[c,d]] and column:NAME are accepted too"
        ) from None


def _grid(text: str, field: str, inside: str) -> Unknown:
    """unknown(40,0.001,0.3) or unknown(high=0.3)"""
    given: dict[str, int | float] = {}
    for place, item in enumerate(split_items(inside)):
        name, equals, value = item.rpartition("=")
        name = name.strip() if equals else Unknown._fields[min(place, 2)]
        try:
            if name not in Unknown._fields or name in given:
                raise ValueError
            given[name] = number(value)
        except ValueError:
            raise ValueError(f"{text!r}: {field} = unknown({inside}) is not accepted; unknown(count,low,high) is") from None
    return Unknown(**given)  # type: ignore[arg-type]


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
