"""The two formats of lines. JSON: an object a line, `{"sensor": "a", "value": 1.25}`, or just the observation, `1.25` or
`[1.25, 0.5]`. CSV: under a header, separated by commas, semicolons or tabs, each record on a line of its own.

Both read all lines of a block at once (`all`), which is fast, and one by one (`one`), which says what is wrong with a line.
"""

from __future__ import annotations

import csv
import json
from typing import Any

import numpy as np

from volatilis.watching.fields import (
    BadLineError,
    Fields,
    Key,
    Record,
    Records,
    key_text,
    keys_are_fine,
    no_field,
    one_key,
    one_number,
)

OBJECTS, BARE = "{}", "[]"  # how `to_data` tells them apart; no header of a CSV can be this


class JsonLines:
    """Lines of one kind: objects, or bare observations."""

    def __init__(self, fields: Fields, bare: bool) -> None:
        self._fields, self._bare = fields, bare
        self._scan = json.JSONDecoder().raw_decode
        self._numbers = {float, int, bool, type(None)} if fields.takes_booleans else {float, int, type(None)}
        if bare and fields.key:
            raise ValueError(f"--key {','.join(fields.key)}: the lines are bare numbers, which have no key")

    @classmethod
    def for_line(cls, line: str, fields: Fields, surely: bool) -> JsonLines | None:
        """For an input that begins with this line; None where it is not JSON, unless it surely is."""
        try:
            value = json.loads(line)
        except ValueError:
            if not surely and not line.startswith(("{", "[")):
                return None
            value = {}  # it begins like an object: the line is bad, and those after it may be good
        if isinstance(value, str) and not surely:
            return None
        return cls(fields, bare=not isinstance(value, dict))

    @classmethod
    def from_data(cls, data: str, fields: Fields) -> JsonLines | None:
        return cls(fields, data == BARE) if data in (OBJECTS, BARE) else None

    def to_data(self) -> str:
        return BARE if self._bare else OBJECTS

    def all(self, lines: list[str]) -> Records | None:
        """None where some line needs a closer look: then they are read one by one."""
        scan, fields = self._scan, self._fields
        try:
            scanned = [scan(line, 0) for line in lines]
            rows = [row for (row, end), line in zip(scanned, lines, strict=True) if end == len(line) or line[end:] == "\r"]
            if len(rows) != len(lines):
                return None
            values = self._values(rows)
            keys = self._keys(rows)
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return None
        if fields.width is not None and values.shape != (len(rows), fields.width):
            return None
        return Records(keys, values)

    def _values(self, rows: list[Any]) -> np.ndarray:
        names, fields = self._fields.values, self._fields
        if self._bare:
            values: list[Any] = rows
        elif len(names) == 1:
            values = [row[names[0]] for row in rows]
        else:
            values = [[row[name] for name in names] for row in rows]
        if fields.categories:
            return np.array([fields.categories[value] for value in values])
        flat = values if fields.width is None else [number for vector in values for number in vector]
        if self._numbers.issuperset(map(type, flat)):
            return np.array(values, dtype=np.float64)
        if fields.width is None:  # numbers written as texts, perhaps
            return np.array([one_number(value, names[0], fields) for value in values])
        raise TypeError

    def _keys(self, rows: list[Any]) -> list[Key]:
        names = self._fields.key
        if not names:
            return []
        if len(names) > 1:
            return [one_key([row[name] for name in names], names) for row in rows]
        keys = [row[names[0]] for row in rows]
        if set(map(type, keys)) == {str}:
            if not keys_are_fine(keys):
                raise ValueError
            return keys if all(key == key.strip() for key in set(keys)) else [key.strip() for key in keys]
        return [key_text(key, names[0]) for key in keys]

    def one(self, line: str) -> Record:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply"
            raise BadLineError(f"it is not JSON ({reason})") from None
        fields = self._fields
        if self._bare != (not isinstance(row, dict)):
            example = "1.25" if self._bare else f'{{"{fields.values[0]}": 1.25}}'
            raise BadLineError(f"the first lines are like {example}, and this one is not")
        if not self._bare:
            for name in (*fields.key, *fields.values):
                if name not in row:
                    raise BadLineError(no_field(name, row))
        key = one_key([row[name] for name in fields.key], fields.key) if fields.key else None
        return Record(key, self._one_value(row))

    def _one_value(self, row: Any) -> float | list[float]:
        fields, name = self._fields, self._fields.values[0]
        if fields.width is None:
            return one_number(row if self._bare else row[name], name, fields)
        vector = row if self._bare else row[name] if len(fields.values) == 1 else [row[n] for n in fields.values]
        if vector is None:
            return [np.nan] * fields.width
        if not isinstance(vector, list) or len(vector) != fields.width:
            raise BadLineError(f"{name!r} is not a list of {fields.width} numbers")
        return [one_number(number, name, fields) for number in vector]


class CsvLines:
    """Lines under one header."""

    def __init__(self, header: str, fields: Fields) -> None:
        self._header, self._fields = header, fields
        self._delimiter = "\t" if "\t" in header else ";" if ";" in header and "," not in header else ","
        columns = [column.strip() for column in self._header_columns(header)]
        for name in (*fields.values, *fields.key):
            if columns.count(name) != 1:
                option = "--value" if name in fields.values else "--key"
                problem = f"{no_field(name, columns)}; name the column with {option}"
                if name in columns:
                    problem = f"two columns are named {name!r}; rename one of them"
                raise ValueError(f"the first line, {header[:200]!r}, is the header: {problem}")
        if fields.width is not None and fields.width != len(fields.values):
            raise ValueError(f"an observation has {fields.width} numbers; --value must name {fields.width} columns")
        self._width = len(columns)
        self._values = [columns.index(name) for name in fields.values]
        self._key = [columns.index(name) for name in fields.key]

    def to_data(self) -> str:
        return self._header

    def all(self, lines: list[str]) -> Records | None:
        """None where some line needs a closer look: then they are read one by one."""
        try:
            rows = self._split(lines)
            if len(rows) != len(lines) or set(map(len, rows)) != {self._width}:
                return None
            return Records(self._keys(rows), self._numbers(rows))
        except (ValueError, KeyError, csv.Error):
            return None

    def _numbers(self, rows: list[list[str]]) -> np.ndarray:
        columns = [[row[i] for row in rows] for i in self._values]
        if self._fields.categories:
            return np.array([one_number(text, "", self._fields) for text in columns[0]])
        numbers = [self._column(column) for column in columns]
        return np.array(numbers[0]) if self._fields.width is None else np.array(numbers).T.copy()

    def _column(self, column: list[str]) -> list[float]:
        if "_" in "".join(column):  # Python reads 1_000 as a number
            raise ValueError
        try:
            return list(map(float, column))
        except ValueError:  # some are missing, perhaps
            return [one_number(text, "", self._fields) for text in column]

    def _keys(self, rows: list[list[str]]) -> list[Key]:
        if not self._key:
            return []
        if len(self._key) == 1:
            i = self._key[0]
            keys: list[Key] = [row[i].strip() for row in rows]
        else:
            keys = [tuple([row[i].strip() for i in self._key]) for row in rows]
        if not keys_are_fine(keys):
            raise ValueError
        return keys

    def one(self, line: str) -> Record | None:
        """None for a header that comes again, as where files were put together."""
        if line.strip() == self._header:
            return None
        try:
            rows = self._split([line])
        except csv.Error as error:
            raise BadLineError(f"it is not CSV ({error})") from None
        if len(rows[0]) != self._width:
            raise BadLineError(f"it has {len(rows[0])} columns, and the header {self._header[:200]!r} has {self._width}")
        fields = self._fields
        numbers = [one_number(rows[0][i], name, fields) for i, name in zip(self._values, fields.values, strict=True)]
        key = one_key([rows[0][i].strip() for i in self._key], fields.key) if fields.key else None
        return Record(key, numbers[0] if fields.width is None else numbers)

    def _header_columns(self, header: str) -> list[str]:
        try:
            return self._split([header])[0]
        except csv.Error as error:
            problem = f"is not the header of a CSV ({error})"
            if "\r" in header:
                problem = "has carriage returns in it: lines must end in line feeds; convert it, as tr '\\r' '\\n' does"
            raise ValueError(f"the first line, {header[:200]!r}, {problem}") from None

    def _split(self, lines: list[str]) -> list[list[str]]:
        return list(csv.reader(lines, delimiter=self._delimiter, strict=True))
