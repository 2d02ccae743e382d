"""From lines to keys and observations: all lines of a block at once and, where that fails, one by one, to say which is wrong.

Lines are JSON, each an object or just a number, or CSV with a header. The first line decides, unless the request does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from volatilis.learners._base import Learner
from volatilis.watching.fields import BadLineError, Fields, Key, Record, shown
from volatilis.watching.line_formats import CsvLines, JsonLines

KINDS = ("auto", "jsonl", "csv")
BYTE_ORDER_MARK = "\ufeff"


class Bad(NamedTuple):
    """A line that cannot be used: its number and what is wrong with it."""

    line: int
    reason: str


class Parsed(NamedTuple):
    """The lines that can be used, in order: what was observed, NaN where missing, and the same as the family has it."""

    lines: np.ndarray
    keys: Sequence[Key]
    observed: np.ndarray
    values: np.ndarray
    absent: np.ndarray
    bad: list[Bad]


class Parser:
    """Reads the blocks of one input after the other."""

    def __init__(self, fields: Fields, kind: str, learner: Learner, missing_accepted: bool) -> None:
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
            if _is_binary(lines[first]):
                raise ValueError(
                    "it is binary, not lines of text in UTF-8; unpack it first if it is compressed, as zcat does, and convert "
                    "it if it is text in UTF-16 or Latin-1, as iconv does"
                )
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
        if "" in lines or "\r" in lines:
            numbers = numbers[[line not in ("", "\r") for line in lines]]
            lines = [line for line in lines if line not in ("", "\r")]
            if not lines:
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
        """The lines that are as they should be; of all others, what is wrong."""
        bad: list[Bad] = []
        good: list[tuple[int, Record]] = []
        for i, line in enumerate(lines):
            if not line.strip():
                continue
            try:
                if "\0" in line:
                    raise BadLineError("it is binary: it has bytes of value 0")
                if not line.isascii() and not _is_text(line):
                    raise BadLineError("it is not text in UTF-8")
                record = reader.one(line)
                if record is not None:
                    good.append((i, record))
            except BadLineError as error:
                bad.append(Bad(int(numbers[i]), f"{error}: {shown(line)}"))
        if good and self._check(np.array([record.value for _, record in good])) is None:
            good, refused = self._accepted(good)
            bad = sorted(bad + [Bad(int(numbers[i]), f"{reason}: {shown(lines[i])}") for i, reason in refused])
        if not good:
            return self._nothing()._replace(bad=bad)
        observed = np.array([record.value for _, record in good])
        encoded, absent = self._learner.family.observations(observed)
        keys = [record.key for _, record in good if record.key is not None]
        return Parsed(numbers[[i for i, _ in good]], keys, observed, encoded, absent, bad)

    def _accepted(self, records: list[tuple[int, Record]]) -> tuple[list[tuple[int, Record]], list[tuple[int, str]]]:
        """Those that the family and the learner accept, and why others are not."""
        good, refused = [], []
        names = ", ".join(map(repr, self._fields.values))
        for i, record in records:
            try:
                encoded, absent = self._learner.family.observations(np.array([record.value]))
                self._learner.check_observations(encoded)
            except (ValueError, TypeError) as error:
                refused.append((i, str(error).replace("observation 0", names)))
                continue
            if absent[0] and not self._missing_accepted:
                refused.append((i, f"{names} is missing; --missing elapse (time passes) or --missing skip accepts that"))
            else:
                good.append((i, record))
        return good, refused

    def _nothing(self) -> Parsed:
        values, absent = self._learner.family.observations([])
        return Parsed(np.zeros(0, dtype=np.int64), [], values, values, absent, [])


def _decoded(data: bytes) -> tuple[str, bool]:
    """The text, and whether all of it is text; bytes that are not are kept, to be shown."""
    try:
        return data.decode(), True
    except UnicodeDecodeError:
        return data.decode("utf-8", "surrogateescape"), False


def _is_binary(line: str) -> bool:
    """Whether an input that begins so is no text at all; an object with a byte that is wrong is just a bad line."""
    return "\0" in line or (not line.startswith(("{", "[")) and not _is_text(line))


def _is_text(line: str) -> bool:
    return not any("\udc80" <= character <= "\udcff" for character in line)
