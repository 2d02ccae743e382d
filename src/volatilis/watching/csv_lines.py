"""CSV lines: under a header, separated by commas, semicolons or tabs; a quoted field may go over several lines.

All lines of a block are read at once (`all`), which is fast, or one by one (`one`), which says what is wrong with a line.
"""

from __future__ import annotations

import csv

import numpy as np

from volatilis.watching.fields import (
    NOT_ACCEPTED,
    BadLineError,
    Fields,
    Key,
    Record,
    Records,
    contexts_of,
    keys_are_fine,
    no_field,
    one_context,
    one_key,
    one_number,
)
from volatilis.watching.times import NO_TIMES, one_time, seconds_of

MOST_LINES = 100  # of one record


class CsvLines:
    """Lines under one header."""

    def __init__(self, header: str, fields: Fields) -> None:
        self._header, self._fields = header, fields
        self._delimiter = "\t" if "\t" in header else ";" if ";" in header and "," not in header else ","
        columns = [column.strip() for column in self._header_columns(header)]
        for name, option in {**dict.fromkeys(fields.keep, "--keep"), **fields.needed}.items():
            if columns.count(name) != 1:
                problem = f"{no_field(name, columns)}; name the column with {option}"
                if name in columns:
                    problem = f"two columns are named {name!r}; rename one of them"
                raise ValueError(f"the first line, {header[:200]!r}, is the header: {problem}")
        if fields.width is not None and fields.width != len(fields.values):
            raise ValueError(f"an observation has {fields.width} numbers; --value must name {fields.width} columns")
        self._width = len(columns)
        self._values = [columns.index(name) for name in fields.values]
        self._key = [columns.index(name) for name in fields.key]
        self._time = columns.index(fields.time) if fields.time else None
        self._kept = [columns.index(name) for name in fields.keep]
        self._given = [columns.index(name) for name in fields.given]

    def to_data(self) -> str:
        return self._header

    def joined(self, lines: list[str], numbers: np.ndarray, ended: bool) -> tuple[list[str], np.ndarray, int]:
        """Lines whose quoted fields go on in the next are put together, under the number of the first.

        Also says how many lines at the end wait for more; none if the input ended. A quote that is never closed makes one bad
        line, not many: those after it are read by themselves.
        """
        texts: list[str] = []
        firsts: list[int] = []
        i = 0
        while i < len(lines):
            text, end = lines[i], i + 1
            while self._is_open(text) and end < len(lines) and end - i < MOST_LINES:
                text, end = f"{text}\n{lines[end]}", end + 1
            if self._is_open(text):
                if end - i < MOST_LINES and not ended:
                    return texts, numbers[firsts], len(lines) - i
                text, end = lines[i], i + 1
            texts.append(text)
            firsts.append(i)
            i = end
        return texts, numbers[firsts], 0

    def _is_open(self, text: str) -> bool:
        if text.count('"') % 2 == 0:
            return False
        try:
            self._split([text])
        except csv.Error as error:
            return str(error) == "unexpected end of data"
        return False

    def all(self, lines: list[str]) -> Records | None:
        """None where some line needs a closer look: then they are read one by one."""
        try:
            rows = self._split(lines)
            if len(rows) != len(lines) or set(map(len, rows)) != {self._width}:
                return None
            times = NO_TIMES if self._time is None else seconds_of([row[self._time] for row in rows])
            given = contexts_of([[row[i] for row in rows] for i in self._given], len(rows), self._fields)
            kept = [[row[i] for row in rows] for i in self._kept]
            return Records(self._keys(rows), self._numbers(rows), times, kept, given)
        except (*NOT_ACCEPTED, csv.Error):
            return None

    def _numbers(self, rows: list[list[str]]) -> np.ndarray:
        numbers = [self._column([row[i] for row in rows]) for i in self._values]
        return np.array(numbers[0]) if self._fields.width is None else np.array(numbers).T.copy()

    def _column(self, column: list[str]) -> list[float]:
        if self._fields.categories:
            return [one_number(text, "", self._fields) for text in column]
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
            problem = f"a quote is not closed within {MOST_LINES} lines" if str(error) == "unexpected end of data" else str(error)
            raise BadLineError(f"it is not CSV ({problem})") from None
        row, fields = rows[0], self._fields
        if len(row) != self._width:
            raise BadLineError(f"it has {len(row)} columns, and the header {self._header[:200]!r} has {self._width}")
        numbers = [one_number(row[i], repr(name), fields) for i, name in zip(self._values, fields.values, strict=True)]
        key = one_key([row[i].strip() for i in self._key], fields.key) if fields.key else None
        time = None if self._time is None else one_time(row[self._time], fields.time or "")
        given = one_context([row[i] for i in self._given], fields)
        return Record(key, numbers[0] if fields.width is None else numbers, time, tuple(row[i] for i in self._kept), given)

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
