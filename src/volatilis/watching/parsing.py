"""From lines to keys and observations: all lines of a block at once and, where that fails, one by one, to say which is wrong.

Lines are JSON, each an object or just a number, or CSV with a header. The first line decides, unless the request does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from volatilis.learners._base import Learner
from volatilis.watching.csv_lines import MOST_LINES, CsvLines
from volatilis.watching.fields import BadLineError, Fields, Key, Record, shown
from volatilis.watching.json_lines import JsonLines
from volatilis.watching.times import NO_TIMES

KINDS = ("auto", "jsonl", "csv")
BYTE_ORDER_MARK = "\ufeff"


class Bad(NamedTuple):
    """A line that cannot be used: its number and what is wrong with it."""

    line: int
    reason: str


class Parsed(NamedTuple):
    """The lines that can be used, in order: what was observed, NaN where missing, and the same as the family has it.

    times   in seconds; none without --time
    kept    of each field that is passed on, the values
    bad     lines that cannot be used
    held    lines at the end of the block that belong to a record that is not whole yet
    """

    lines: np.ndarray
    keys: Sequence[Key]
    observed: np.ndarray
    values: np.ndarray
    absent: np.ndarray
    times: np.ndarray = NO_TIMES
    kept: Sequence[Sequence[object]] = ()
    bad: Sequence[Bad] = ()
    held: int = 0

    def part(self, part: slice) -> Parsed:
        """Some of the lines that can be used."""
        arrays = (self.lines[part], self.keys[part], self.observed[part], self.values[part], self.absent[part], self.times[part])
        return Parsed(*arrays, [column[part] for column in self.kept])

    def before(self, line: int) -> Parsed:
        """Those before a line."""
        return self.part(slice(int(np.searchsorted(self.lines, line))))


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

    def parse(self, data: bytes, lines_before: int, begins: bool, goes_on: bool, ended: bool = True) -> Parsed:
        """`begins`: with the first line of an input; `goes_on`: one that needs no header, since an earlier one had it.

        `ended`: nothing will follow, so that what is not whole will never be.
        """
        text, is_text = _decoded(data)
        lines = text.removeprefix(BYTE_ORDER_MARK).split("\n") if begins else text.split("\n")
        if lines[-1] == "":
            lines.pop()
        if begins and not (goes_on and isinstance(self._read, CsvLines)):
            self._read = None
        reader, first = self._read, 0
        if reader is None:
            first = next((i for i, line in enumerate(lines) if line.strip()), len(lines))
            if first == len(lines):
                return self._nothing()
            if _is_binary(lines[first]):
                raise ValueError(
                    "it is binary, not lines of text in UTF-8; unpack it first if it is compressed, as zcat does, and convert "
                    "it if it is text in UTF-16 or Latin-1, as iconv does"
                )
            reader, taken = self._reader(lines[first:], ended)
            if reader is None:
                return self._nothing()._replace(held=len(lines))
            first += taken
        numbers = np.arange(lines_before + first + 1, lines_before + len(lines) + 1)
        return self._parse(reader, lines[first:] if first else lines, numbers, is_text, ended)

    def _reader(self, lines: list[str], ended: bool) -> tuple[JsonLines | CsvLines | None, int]:
        """For an input that begins with these lines, and how many of them are its header; None where that is not whole yet."""
        if self._kind != "csv":
            reader = JsonLines.for_line(lines[0].strip(), self._fields, self._kind == "jsonl")
            if reader is not None:
                return self._json_reader(*reader, lines), 0
        header, count = lines[0], 1
        while header.count('"') % 2 and count < min(len(lines), MOST_LINES):
            header, count = f"{header}\n{lines[count]}", count + 1
        if header.count('"') % 2 and count < MOST_LINES and not ended:
            return None, 0
        if header.count('"') % 2:
            header, count = lines[0], 1
        self._read = CsvLines(header.strip(" \r"), self._fields)
        return self._read, count

    def _json_reader(self, reader: JsonLines, has_values: bool, lines: list[str]) -> JsonLines:
        """The first line that tells objects from bare observations decides; null, say, does not."""
        for line in lines[1:]:
            if has_values:
                break
            result = JsonLines.for_line(line.strip(), self._fields, True) if line.strip() else None
            if result is not None and result[1]:
                reader, has_values = result
        if has_values:
            self._read = reader
        return reader

    # --- all at once, or one by one --------------------------------------------------------------------------------------

    def _parse(self, reader: JsonLines | CsvLines, lines: list[str], numbers: np.ndarray, is_text: bool, ended: bool) -> Parsed:
        held = 0
        if isinstance(reader, CsvLines) and any('"' in line for line in lines):
            lines, numbers, held = reader.joined(lines, numbers, ended)
        if "" in lines or "\r" in lines:
            numbers = numbers[[line not in ("", "\r") for line in lines]]
            lines = [line for line in lines if line not in ("", "\r")]
        if not lines:
            return self._nothing()._replace(held=held)
        records = reader.all(lines) if is_text else None
        if records is not None:
            checked = self._check(records.values, records.given)
            if checked is not None:
                return Parsed(numbers, records.keys, records.values, *checked, records.times, records.kept, held=held)
        return self._one_by_one(reader, lines, numbers)._replace(held=held)

    def _encoded(self, values: np.ndarray, given: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As the family has them, with their contexts, and which are missing; raises where one is not accepted."""
        context = None if not self._fields.given else given[:, 0] if given.shape[1] == 1 else given
        encoded, absent = self._learner.family.observations(values, given=context)
        self._learner.check_observations(encoded)
        return encoded, absent

    def _check(self, values: np.ndarray, given: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """The same; None where one is not accepted."""
        try:
            encoded, absent = self._encoded(values, given)
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
        if good and self._check(*_columns(good)) is None:
            good, refused = self._accepted(good)
            bad = sorted(bad + [Bad(int(numbers[i]), f"{reason}: {shown(lines[i])}") for i, reason in refused])
        if not good:
            return self._nothing()._replace(bad=bad)
        observed, given = _columns(good)
        encoded, absent = self._encoded(observed, given)
        keys = [record.key for _, record in good if record.key is not None]
        times = np.array([record.time for _, record in good if record.time is not None], dtype=np.float64)
        kept = [[record.kept[k] for _, record in good] for k in range(len(self._fields.keep))]
        return Parsed(numbers[[i for i, _ in good]], keys, observed, encoded, absent, times, kept, bad)

    def _accepted(self, records: list[tuple[int, Record]]) -> tuple[list[tuple[int, Record]], list[tuple[int, str]]]:
        """Those that the family and the learner accept, and why others are not."""
        good, refused = [], []
        names = ", ".join(map(repr, self._fields.values))
        for i, record in records:
            try:
                _, absent = self._encoded(*_columns([(i, record)]))
            except (ValueError, TypeError) as error:
                refused.append((i, self._reason(str(error), names)))
                continue
            if absent[0] and not self._missing_accepted:
                refused.append((i, f"{names} is missing; --missing elapse (time passes) or --missing skip accepts that"))
            else:
                good.append((i, record))
        return good, refused

    def _reason(self, error: str, names: str) -> str:
        """Why the family does not accept an observation, with the names of its fields."""
        contexts = ", ".join(map(repr, self._fields.given))
        for words in ("the context of observation 0", "the regressors of observation 0", "a regressor of observation 0"):
            error = error.replace(words, f"{words.removesuffix(' of observation 0')} {contexts}")
        return error.replace("observation 0", names)

    def _nothing(self) -> Parsed:
        values, absent = self._learner.family.observations([])
        return Parsed(np.zeros(0, dtype=np.int64), [], values, values, absent, kept=[[] for _ in self._fields.keep])


def _columns(records: Sequence[tuple[int, Record]]) -> tuple[np.ndarray, np.ndarray]:
    """The observations and the contexts of these."""
    given = [record.given for _, record in records]
    return np.array([record.value for _, record in records]), np.array(given, dtype=np.float64).reshape(len(given), -1)


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
