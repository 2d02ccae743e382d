"""From lines to keys and observations: all lines of a block at once and, where that fails, one by one, to say which is wrong.

Lines are JSON, each an object or just a number, or CSV with a header. The first line decides, unless told.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from volatilis.watching.csv_lines import CsvLines
from volatilis.watching.json_lines import JsonLines
from volatilis.watching.records import BadLineError, Fields, Records, shown

KINDS = ("auto", "jsonl", "csv")
BYTE_ORDER_MARK = "\ufeff"


class Bad(NamedTuple):
    """A line that cannot be used: its number and what is wrong with it."""

    line: int
    reason: str


class Parsed(NamedTuple):
    """The lines that can be used, in order: what was observed, NaN where missing, and the same as the family has it."""

    lines: np.ndarray
    keys: Sequence[Any]
    observed: np.ndarray
    values: np.ndarray
    absent: np.ndarray
    bad: list[Bad]


class Parser:
    """Reads the blocks of one input after the other."""

    def __init__(self, fields: Fields, kind: str, learner: Any, missing_accepted: bool) -> None:
        if kind not in KINDS:
            raise ValueError(f"--input-format {kind}: {', '.join(KINDS)} are accepted")
        self._fields, self._kind, self._learner, self._missing_accepted = fields, kind, learner, missing_accepted
        self._read: JsonLines | CsvLines | None = None

    # --- which kind ------------------------------------------------------------------------------------------------------

    def to_data(self) -> str | None:
        """What the lines of the input are like: the header of a CSV, or what kind of JSON it is."""
        return None if self._read is None else self._read.to_data()

    def set_from(self, data: str | None) -> None:
        """As `to_data` said of the same input."""
        if data is not None:
            self._read = JsonLines.from_data(data, self._fields) or CsvLines(data, self._fields)

    def parse(self, data: bytes, lines_before: int, begins: bool, goes_on: bool) -> Parsed:
        """`begins`: with the first line of an input; `goes_on`: one that needs no header, since an earlier one had it."""
        text, is_text = _decoded(data)
        lines = text.removeprefix(BYTE_ORDER_MARK).split("\n") if begins else text.split("\n")
        if lines[-1] == "":
            lines.pop()
        if begins and not (goes_on and isinstance(self._read, CsvLines)):
            self._read = None
        first = 0
        if self._read is None:
            first = next((i for i, line in enumerate(lines) if line.strip()), len(lines))
            if first == len(lines):
                return self._nothing()
            self._read = self._reader(lines[first].strip(" \r"))
            first += isinstance(self._read, CsvLines)
        numbers = np.arange(lines_before + first + 1, lines_before + len(lines) + 1)
        return self._parse(lines[first:] if first else lines, numbers, is_text)

    def _reader(self, line: str) -> JsonLines | CsvLines:
        if self._kind != "csv":
            reader = JsonLines.for_line(line, self._fields, self._kind == "jsonl")
            if reader is not None:
                return reader
        return CsvLines(line, self._fields)

    # --- all at once, or one by one --------------------------------------------------------------------------------------

    def _parse(self, lines: list[str], numbers: np.ndarray, is_text: bool) -> Parsed:
        reader = self._read
        if reader is None or not lines:
            return self._nothing()
        records = reader.all(lines) if is_text else None
        if records is not None:
            checked = self._check(records.values)
            if checked is not None:
                return Parsed(numbers, records.keys, records.values, *checked, [])
        return self._one_by_one(reader, lines, numbers)

    def _check(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """As the family has them, and which are missing; None where one is not accepted."""
        try:
            encoded, absent = self._learner.family.observations(values)
            self._learner.check_observations(encoded)
        except (ValueError, TypeError):
            return None
        return None if absent.any() and not self._missing_accepted else (encoded, absent)

    def _one_by_one(self, reader: JsonLines | CsvLines, lines: list[str], numbers: np.ndarray) -> Parsed:
        bad: list[Bad] = []
        kept: list[int] = []
        keys: list[Any] = []
        values: list[Any] = []
        for number, line in zip(numbers.tolist(), lines, strict=True):
            if not line.strip():
                continue
            try:
                if not line.isascii() and not _is_text(line):
                    raise BadLineError("it is not text in UTF-8")
                records = reader.one(line)
                if records is None:
                    continue
                self._check_one(records)
            except BadLineError as error:
                bad.append(Bad(number, f"{error}: {shown(line)}"))
                continue
            kept.append(number)
            keys += records.keys
            values.append(records.values[0])
        if not kept:
            return self._nothing()._replace(bad=bad)
        observed = np.array(values)
        encoded, absent = self._learner.family.observations(observed)
        return Parsed(np.array(kept), keys, observed, encoded, absent, bad)

    def _check_one(self, records: Records) -> None:
        names = ", ".join(map(repr, self._fields.values))
        try:
            encoded, absent = self._learner.family.observations(records.values)
            self._learner.check_observations(encoded)
        except (ValueError, TypeError) as error:
            raise BadLineError(str(error).replace("observation 0", names)) from None
        if absent[0] and not self._missing_accepted:
            raise BadLineError(f"{names} is missing; --missing elapse (time passes) or --missing skip accepts that")

    def _nothing(self) -> Parsed:
        values, absent = self._learner.family.observations([])
        return Parsed(np.zeros(0, dtype=np.int64), [], values, values, absent, [])


def _decoded(data: bytes) -> tuple[str, bool]:
    """The text, and whether all of it is text; bytes that are not are kept, to be shown."""
    try:
        return data.decode(), True
    except UnicodeDecodeError:
        return data.decode("utf-8", "surrogateescape"), False


def _is_text(line: str) -> bool:
    return not any("\udc80" <= character <= "\udcff" for character in line)
