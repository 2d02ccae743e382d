"""Which fields of a line are the key and the observation, and how one is read."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import NamedTuple, cast

import numpy as np

from volatilis.tables.columns import MISSING

Key = str | tuple[str, ...]  # one text, or several where several fields make the key; () where lines have no key


class BadLineError(ValueError):
    """A line that cannot be used."""


class Fields(NamedTuple):
    """The names of the key's fields and of the observation's; `width` is the length of a vector, or None for one number."""

    key: tuple[str, ...]
    values: tuple[str, ...]
    width: int | None
    categories: dict[str, float]
    takes_booleans: bool


class Record(NamedTuple):
    """One line: its key or None, its observation as a number or a list of them."""

    key: Key | None
    value: float | list[float]


class Records(NamedTuple):
    """The keys, a text each or a tuple of several, and the observations as numbers, NaN where missing."""

    keys: Sequence[Key]
    values: np.ndarray


def one_number(value: object, name: str, fields: Fields) -> float:
    """A field's value as a number, NaN where it is missing."""
    if isinstance(value, str):
        text = value.strip()
        if text.lower() in MISSING:
            return np.nan
        if fields.categories:
            return _category(text, name, fields)
        try:
            if "_" in text:
                raise ValueError
            return float(text)
        except ValueError:
            comma = " (a decimal point, not a comma)" if "," in text else ""
            raise BadLineError(f"{name!r} is {text!r}, not a number{comma}") from None
    if value is None:
        return np.nan
    if not isinstance(value, (int, float)) or (isinstance(value, bool) and not fields.takes_booleans):
        raise BadLineError(f"{name!r} is not a number")
    if fields.categories:
        return _category(str(value), name, fields)
    try:
        return float(value)
    except OverflowError:
        raise BadLineError(f"{name!r} has too many digits for a number") from None


def _category(text: str, name: str, fields: Fields) -> float:
    if text not in fields.categories:
        raise BadLineError(f"{name!r} is {text!r}, a category that --categories does not name")
    return fields.categories[text]


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
        what = "an object" if isinstance(part, dict) else "a list"
        raise BadLineError(f"{name!r} is {what}; it is the key, so a text or a number is accepted")
    text = part.strip() if isinstance(part, str) else str(part) if isinstance(part, (int, float)) else ""
    if _is_missing(text):
        raise BadLineError(f"{name!r} is missing; it is the key, so every line needs it")
    if not _is_text(text):
        raise BadLineError(f"{name!r} is not valid text: it contains half a character of UTF-16")
    return text


def keys_are_fine(keys: Iterable[Key]) -> bool:
    """Whether `key_text` would take all of them, each a text or a tuple of texts, as they are."""
    different = set(keys)
    several = bool(different) and isinstance(next(iter(different)), tuple)
    texts = {text for key in different for text in key} if several else cast("set[str]", different)
    return not any(map(_is_missing, texts)) and _is_text("".join(texts))


def _is_missing(text: str) -> bool:
    return text.strip().lower() in MISSING


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def no_field(name: str, present: Iterable[str]) -> str:
    """For messages: what there is instead."""
    names = list(present)
    close = difflib.get_close_matches(name.lower(), [n.lower() for n in names], 1)
    hint = "".join(f"; did you mean {n!r}?" for n in names if close and n.lower() == close[0])
    return f"there is no field {name!r}; the fields are {', '.join(map(repr, names)) or 'none'}{hint}"


def shown(line: str) -> str:
    return repr(line if len(line) <= 80 else line[:77] + "...")
