"""Lines of CSV under a header: separated by commas, semicolons or tabs, each record on a line of its own."""

from __future__ import annotations

import csv
from typing import Any

import numpy as np

from volatilis.watching.records import BadLineError, Fields, Record, Records, keys_are_fine, no_field, one_key, one_number


class CsvLines:
    """Lines under one header."""

    def __init__(self, header: str, fields: Fields) -> None:
        self._header, self._fields = header, fields
        self._delimiter = "\t" if "\t" in header else ";" if ";" in header and "," not in header else ","
        columns = [column.strip() for column in self._header_columns(header)]
        for name in (*fields.values, *fields.key):
            if columns.count(name) != 1:
                said = f"there are two columns {name!r}" if name in columns else no_field(name, columns)
                option = "--value" if name in fields.values else "--key"
                raise ValueError(f"the first line, {header[:200]!r}, is the header: {said}; {option} says which column to take")
        if fields.width is not None and fields.width != len(fields.values):
            raise ValueError(f"an observation has {fields.width} numbers; --value must name {fields.width} columns")
        self._width = len(columns)
        self._values = [columns.index(name) for name in fields.values]
        self._key = [columns.index(name) for name in fields.key]

    def to_data(self) -> str:
        return self._header

    def all(self, lines: list[str]) -> Records | None:
        """None where some line is not as most are: then they are looked at one by one."""
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

    def _keys(self, rows: list[list[str]]) -> list[Any]:
        if not self._key:
            return []
        if len(self._key) == 1:
            i = self._key[0]
            keys: list[Any] = [row[i].strip() for row in rows]
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
            said = f"is not the header of a CSV ({error})"
            if "\r" in header:
                said = "has carriage returns in it: lines must end in line feeds; convert it, as tr '\\r' '\\n' does"
            raise ValueError(f"the first line, {header[:200]!r}, {said}") from None

    def _split(self, lines: list[str]) -> list[list[str]]:
        return list(csv.reader(lines, delimiter=self._delimiter, strict=True))
