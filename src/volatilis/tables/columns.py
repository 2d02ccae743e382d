"""Columns: looked up by name, read as numbers or texts. An error names file, row, column and value.

Rows are counted from 1, after the header.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

MISSING = ("", "n/a", "na", "nan", "null", "none", ".")  # in lower case; what BIDS, pandas, R, SQL and SPSS write
PEOPLE = ("sub", "subj", "subjectid", "subjnum", "participant", "participantid", "person", "personid")  # other names of `subject`


class TableError(ValueError):
    """Something in a table that cannot be used: where it is, and what would be accepted."""


def column_named(columns: Sequence[str], name: str, path: str, use: str) -> str:
    """The column, or an error with the nearest name."""
    if name in columns:
        return name
    folded = {column.lower(): column for column in columns}
    close = difflib.get_close_matches(name.lower(), folded, 1)
    hint = f"; did you mean {folded[close[0]]!r}?" if close else ""
    people = column_of_people(columns) if name == "subject" else None
    hint = hint if people is None else f"; if {people!r} names people, give --by {people}"
    raise TableError(f"{path}: there is no column {name!r} ({use}); the columns are {', '.join(map(repr, columns))}{hint}")


def column_of_people(columns: Sequence[str], used: Collection[str | None] = ()) -> str | None:
    """A column that looks like people, if none is called `subject`. Those that are used for something else are none."""
    return next((name for name in columns if name not in used and re.sub("[^a-z]", "", name.lower()) in PEOPLE), None)


def numbers(values: pa.Array, path: str, first_row: int, column: str, accepted: str = "a number") -> np.ndarray:
    """An Arrow column as float64, NaN where it is missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = values.type
    if pa.types.is_dictionary(kind):
        values, kind = values.cast(kind.value_type), kind.value_type
    if pa.types.is_boolean(kind):
        values = values.cast(pa.int8())
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        cleaned = empty_as_missing(values)
        try:
            values = pc.cast(cleaned, pa.float64())
        except pa.ArrowInvalid:
            values = pa.array(_one_by_one(cleaned, path, first_row, column, accepted), pa.float64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind)):
        raise TableError(f"{path}: column {column!r} holds values of type {kind}; {accepted} is accepted")
    values = values.cast(pa.float64(), safe=False)
    return np.where(_is_there(values), plain(values), np.nan) if values.null_count else plain(values)


def _is_there(values: pa.Array) -> np.ndarray:
    """Where an Arrow array has a value and no null."""
    bits = np.unpackbits(np.frombuffer(values.buffers()[0], dtype=np.uint8), bitorder="little")
    return bits[values.offset : values.offset + len(values)].astype(bool)


def marks(values: pa.Array, path: str, first_row: int, column: str) -> np.ndarray:
    """Where a column is not 0, or true; a missing value is 0."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        values = values.cast(pa.string())
        lower = pc.utf8_lower(pc.utf8_trim_whitespace(values))
        for word, digit in (("true", "1"), ("false", "0")):
            values = pc.if_else(pc.fill_null(pc.equal(lower, word), False), digit, values)
    return np.nan_to_num(numbers(values, path, first_row, column, "0 or 1, true or false")) != 0.0


def plain(values: pa.Array) -> np.ndarray:
    """An Arrow array of numbers as NumPy has it, anything for a null; by its memory, since Arrow's own way imports pandas."""
    start, kind = values.offset, np.dtype(str(values.type).replace("double", "float64"))
    return np.frombuffer(values.buffers()[1], dtype=kind)[start : start + len(values)] if len(values) else np.empty(0, dtype=kind)


def arrow(values: np.ndarray) -> pa.Array:
    """The reverse for computed numbers: NaN is a null."""
    import pyarrow as pa

    absent = np.isnan(values)
    valid = pa.py_buffer(np.packbits(~absent, bitorder="little")) if absent.any() else None
    return pa.Array.from_buffers(pa.float64(), len(values), [valid, pa.py_buffer(np.ascontiguousarray(values))])


def texts(values: pa.Array) -> list[str | None]:
    """An Arrow column as texts, None where it is missing."""
    import pyarrow as pa

    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_floating(values.type):  # 3.0 is the same category, and the same subject, as 3
        return [None if v is None or v != v else str(int(v)) if v.is_integer() else repr(v) for v in values.to_pylist()]
    trimmed = (None if text is None else text.strip() for text in values.cast(pa.string()).to_pylist())
    return [None if text is None or text.lower() in MISSING else text for text in trimmed]


def empty_as_missing(values: pa.Array) -> pa.Array:
    """Texts without spaces around them; those that mean "missing" as nulls."""
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim_whitespace(values.cast(pa.string()))
    return pc.if_else(pc.is_in(pc.utf8_lower(trimmed), arrow_texts(MISSING)), no_value(pa.string()), trimmed)


def arrow_texts(values: Sequence[str]) -> pa.Array:
    """Texts as an Arrow array; by its memory, as in `plain`: `pa.array` and `pa.scalar` import pandas."""
    import pyarrow as pa

    encoded = [value.encode() for value in values]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(encoded), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded)))


def no_value(kind: pa.DataType) -> pa.Scalar:
    """A null of a type."""
    import pyarrow as pa

    return pa.nulls(1, kind)[0]


def codes_of(values: Iterable[str | None], names: Sequence[str]) -> np.ndarray:
    """The places of texts among the names of categories or contexts: NaN where there is no text, -1 where it is no name."""
    codes = {name: float(code) for code, name in enumerate(names)}
    if len(codes) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!r} is named twice among {', '.join(names)}; each category or context has one name")
    for name in names:
        if name.lower() in MISSING:
            raise ValueError(f"{name!r} means in a table that a value is missing, so no category or context can be called that")
    return np.array([np.nan if text is None else codes.get(text, -1.0) for text in values])


def counted(number: int, noun: str) -> str:
    """For messages: 1 row, 2,000 rows."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _one_by_one(cleaned: pa.Array, path: str, first_row: int, column: str, accepted: str) -> list[float | None]:
    """What Arrow could not read: numbers in a form that it does not know (+1), or an error for the first value that is none."""
    parsed: list[float | None] = []
    for i, text in enumerate(cleaned.to_pylist()):
        try:
            if text is not None and "_" in text:
                raise ValueError
            parsed.append(None if text is None else float(text))
        except ValueError:
            comma = " (a decimal point, not a comma)" if "," in text else ""
            raise TableError(f"{path}: row {first_row + i}, column {column!r}: {text!r} is not {accepted}{comma}") from None
    return parsed
