"""Which fields of a line are the key, the observation, its time and what is passed on, and how one is read."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from volatilis.tables.columns import MISSING

Key = str | tuple[str, ...]  # one text, or several where several fields make the key; () where lines have no key
MOST_NAMED = 20  # fields in a message
NOT_ACCEPTED = (ValueError, KeyError, TypeError, OverflowError, RecursionError)  # by what reads many lines at once


class BadLineError(ValueError):
    """A line that cannot be used."""


class Fields(NamedTuple):
    """The names of the key's fields, of the observation's, of its time, of those that are passed on, and of its context's.

    `width` is the length of a vector, or None for one number. `contexts` are the numbers of contexts that have names.
    """

    key: tuple[str, ...]
    values: tuple[str, ...]
    width: int | None
    categories: dict[str, float]
    takes_booleans: bool
    time: str | None = None
    keep: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    contexts: dict[str, float] = {}  # noqa: RUF012 (never changed)

    @property
    def needed(self) -> dict[str, str]:
        """What every line must have, each with the option that names it."""
        time = (self.time,) if self.time else ()
        options = {"--value": self.values, "--given": self.given, "--key": self.key, "--time": time}
        return {name: option for option, names in options.items() for name in names}


class Record(NamedTuple):
    """One line: its key or None, its observation as a number or a list of them, its time or None, what is passed on, and the
    numbers of its context."""

    key: Key | None
    value: float | list[float]
    time: float | None = None
    kept: tuple[object, ...] = ()
    given: tuple[float, ...] = ()


class Records(NamedTuple):
    """Several lines: the keys, the observations, NaN where missing, the times in seconds, of each field that is passed on the
    values, and the contexts, (lines, numbers). Keys and times are empty where lines have none."""

    keys: Sequence[Key]
    values: np.ndarray
    times: np.ndarray
    kept: Sequence[Sequence[object]]
    given: np.ndarray


# --- nested fields -----------------------------------------------------------------------------------------------------------


def getter(name: str) -> Callable[[Any], Any]:
    """Takes a field from an object: by its name or, where the object has no such field, along the dots in it (m.value, m.0.x).

    Raises KeyError where it is not there.
    """
    if "." not in name:
        return operator.itemgetter(name)
    parts = name.split(".")

    def get(row: Any) -> Any:
        if name in row:
            return row[name]
        value = row
        for part in parts:
            if isinstance(value, dict):
                value = value[part]
            elif isinstance(value, list) and part.isdecimal() and len(part) < 10 and int(part) < len(value):
                value = value[int(part)]
            else:
                raise KeyError(name)
        return value

    return get


def optional_getter(name: str) -> Callable[[Any], Any]:
    """The same for a field that may be missing: None then."""
    get = getter(name)

    def get_or_none(row: Any) -> Any:
        try:
            return get(row)
        except KeyError:
            return None

    return get_or_none


# --- observations ------------------------------------------------------------------------------------------------------------


def one_number(value: object, what: str, fields: Fields) -> float:
    """A value as a number, NaN where it is missing; `what` it is, for messages."""
    if isinstance(value, str):
        text = value.strip()
        if text.lower() in MISSING:
            return np.nan
        if fields.categories:
            return _category(text, what, fields)
        try:
            if "_" in text:
                raise ValueError
            return float(text)
        except ValueError:
            comma = " (a decimal point, not a comma)" if "," in text else ""
            raise BadLineError(f"{what} is {shown(text)}, not a number{comma}") from None
    if value is None:
        return np.nan
    if not isinstance(value, (int, float)) or (isinstance(value, bool) and not fields.takes_booleans):
        raise BadLineError(f"{what} is {_kind(value)}, not a number")
    if fields.categories:
        return _category(str(value), what, fields)
    try:
        return float(value)
    except OverflowError:
        raise BadLineError(f"{what} has too many digits for a number") from None


def _kind(value: object) -> str:
    return "true or false" if isinstance(value, bool) else "an object" if isinstance(value, dict) else "a list"


def _category(text: str, what: str, fields: Fields) -> float:
    if text not in fields.categories:
        raise BadLineError(f"{what} is {shown(text)}, a category that --categories does not name")
    return fields.categories[text]


# --- contexts ----------------------------------------------------------------------------------------------------------------


def one_context(values: Iterable[object], fields: Fields) -> tuple[float, ...]:
    """The numbers of a context, NaN where one is missing. The first may be a name."""
    return tuple(_context(value, k, fields) for k, value in enumerate(values))


def _context(value: object, k: int, fields: Fields) -> float:
    name = fields.given[k]
    if k == 0 and fields.contexts:
        text = "" if value is None or (isinstance(value, str) and is_missing(value)) else key_text(value, name)
        if not text:
            return np.nan
        if text not in fields.contexts:
            raise BadLineError(f"{name!r} is {shown(text)}, a context that --contexts does not name")
        return fields.contexts[text]
    try:
        return one_number(value, repr(name), fields._replace(categories={}, takes_booleans=True))
    except BadLineError as error:
        hint = "; name the contexts with --contexts where they are texts" if k == 0 and isinstance(value, str) else ""
        raise BadLineError(f"{error}{hint}") from None


def contexts_of(columns: Sequence[Sequence[Any]], count: int, fields: Fields) -> np.ndarray:
    """All at once, (count, numbers); raises where one needs a closer look."""
    numbers = np.empty((count, len(columns)))
    for k, column in enumerate(columns):
        if k == 0 and fields.contexts:
            codes = {value: _context(value, 0, fields) for value in dict.fromkeys(column)}
            numbers[:, 0] = [codes[value] for value in column]
        elif {int, float} >= set(map(type, column)):
            numbers[:, k] = column
        else:
            numbers[:, k] = [_context(value, k, fields) for value in column]
    return numbers


# --- keys --------------------------------------------------------------------------------------------------------------------


def one_key(parts: Iterable[object], names: Iterable[str]) -> Key:
    """The key's text, or a tuple of texts where several fields make it."""
    texts = tuple(key_text(part, name) for part, name in zip(parts, names, strict=True))
    return texts[0] if len(texts) == 1 else texts


def key_text(part: object, name: str) -> str:
    """3, 3.0, "3" and " 3" are the same key, as for the groups of `volatilis run`."""
    if isinstance(part, bool):
        part = "true" if part else "false"
    if isinstance(part, float) and part.is_integer():
        part = int(part)
    if isinstance(part, (dict, list)):
        raise BadLineError(f"{name!r} is {_kind(part)}; it is the key, so a text or a number is accepted")
    text = part.strip() if isinstance(part, str) else str(part) if isinstance(part, (int, float)) else ""
    if is_missing(text):
        raise BadLineError(f"{name!r} is missing; it is the key, so every line needs it")
    if not _is_text(text):
        raise BadLineError(f"{name!r} is not valid text: it contains half a character of UTF-16")
    return text


def keys_are_fine(keys: Iterable[Key]) -> bool:
    """Whether `key_text` would take all of them, each a text or a tuple of texts, as they are."""
    different = set(keys)
    several = bool(different) and isinstance(next(iter(different)), tuple)
    texts = {text for key in different for text in key} if several else cast("set[str]", different)
    return not any(map(is_missing, texts)) and _is_text("".join(texts))


def is_missing(text: str) -> bool:
    return text.strip().lower() in MISSING


def _is_text(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text) if not text.isascii() else True


# --- messages ----------------------------------------------------------------------------------------------------------------


def no_field(name: str, present: Iterable[str]) -> str:
    """For messages: what there is instead."""
    names = list(present)
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    listed = ", ".join(map(repr, names[:MOST_NAMED])) + more
    close = difflib.get_close_matches(name.lower(), [n.lower() for n in names], 1)
    hint = "".join(f"; did you mean {n!r}?" for n in names if close and n.lower() == close[0])
    return f"there is no field {name!r}; the fields are {listed or 'none'}{hint}"


def shown(line: str) -> str:
    return repr(line if len(line) <= 80 else line[:77] + "...")
