"""What is written, and where: a line per observation, JSON or CSV, on standard output or in a file.

Numbers are as short as they can be and read back to the same bits. Few lines are written with Python, many with Arrow, which is
several times as fast; the text is the same. In a file every line stands once, also after kill -9: what was written after the
last saved state is cut off.
"""

from __future__ import annotations

import csv
import fcntl
import io
import json
import math
import os
import select
import stat
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from volatilis import surprise
from volatilis.learners._base import Learner
from volatilis.running.drivers import Outputs
from volatilis.running.steps import defined_readouts
from volatilis.watching.fields import Fields, Key

if TYPE_CHECKING:
    import pyarrow as pa


FORMATS = ("jsonl", "csv")
MEASURES = ("mean", "variance", "bayes_factor_surprise", "shannon_surprise", "adaptation_rate", "run_length")
FEW = 64  # lines
Column = np.ndarray | list[str]  # numbers, or texts as they are written


class Written(NamedTuple):
    """A block that was dealt with: line numbers, texts of keys, observations, what learners made of them, alarms."""

    lines: np.ndarray
    keys: list[str]
    observed: np.ndarray
    absent: np.ndarray
    out: Outputs
    alarms: np.ndarray

    def only(self, chosen: np.ndarray) -> Written:
        """Some of the lines."""
        keys = [text for text, is_chosen in zip(self.keys, chosen.tolist(), strict=True) if is_chosen] if self.keys else []
        count, arrays = len(self.lines), (self.lines, self.observed, self.absent, self.alarms)
        lines, observed, absent, alarms = (array[chosen] for array in arrays)
        out = Outputs(*(array.reshape(count, array.size // count)[chosen].ravel() for array in self.out))
        return Written(lines, keys, observed, absent, out, alarms)


class Format:
    """The columns of the output, and their text."""

    def __init__(self, learner: Learner, fields: Fields, kind: str, measures: Sequence[str] | None, has_alarm: bool) -> None:
        if kind not in FORMATS:
            raise ValueError(f"--format {kind}: {', '.join(FORMATS)} are accepted")
        self._learner, self._kind, self._size = learner, kind, learner.family.size()
        self._keys, self._categories, self._has_alarm = len(fields.key), list(fields.categories), has_alarm
        self._whole = learner.family.observations([])[0].dtype == np.int64
        self._measures = _chosen(learner, measures)
        observed = fields.values
        if fields.width is not None and len(observed) == 1:
            observed = tuple(f"{observed[0]}_{i}" for i in range(fields.width))
        computed = [name for measure in self._measures for name in self._names(measure)]
        self.names = ["line", *fields.key, *observed, *computed, *(["alarm"] if has_alarm else [])]
        twice = sorted({name for name in self.names if self.names.count(name) > 1})
        if twice:
            raise ValueError(f"{twice[0]!r} would come twice in the output; rename the field of the input")
        self._before = self._texts_between()

    def header(self) -> bytes:
        return (",".join(map(_csv_text, self.names)) + "\n").encode() if self._kind == "csv" else b""

    def key_text(self, key: Key) -> str:
        """A key as it stands in a line, its own names included; made once per key."""
        parts = (key,) if isinstance(key, str) else key
        if self._kind == "csv":
            return ",".join(map(_csv_text, parts))
        first, *others = map(json.dumps, parts)
        names = self.names[2 : 1 + len(parts)]
        return first + "".join(f",{json.dumps(name)}:{text}" for name, text in zip(names, others, strict=True))

    def text(self, written: Written) -> bytes:
        if not len(written.lines):
            return b""
        columns: list[Column] = [written.lines, *([written.keys] if self._keys else []), *self._observed(written)]
        columns += [column for measure in self._measures for column in self._computed(measure, written.out)]
        if self._has_alarm:
            columns.append(written.alarms)
        return self._by_python(columns) if len(written.lines) < FEW else self._by_arrow(columns)

    # --- columns ---------------------------------------------------------------------------------------------------------

    def _names(self, measure: str) -> list[str]:
        several = self._size > 1 and measure in ("mean", "variance")
        return [f"{measure}_{k}" for k in range(self._size)] if several else [measure]

    def _observed(self, written: Written) -> list[Column]:
        observed, missing = written.observed, written.absent
        if self._categories:
            names = [_csv_text(n) if self._kind == "csv" else json.dumps(n) for n in self._categories]
            names.append(self._number(math.nan))
            return [[names[code] for code in np.where(missing, -1, observed).astype(np.int64).tolist()]]
        if self._whole:
            whole = np.where(missing, 0, observed).astype(np.int64)
            if not missing.any():
                return [whole]
            gone, texts = self._number(math.nan), map(str, whole.tolist())
            return [[gone if absent else text for text, absent in zip(texts, missing.tolist(), strict=True)]]
        return [observed] if observed.ndim == 1 else [np.ascontiguousarray(column) for column in observed.T]

    def _computed(self, measure: str, out: Outputs) -> list[np.ndarray]:
        if measure in ("mean", "variance"):
            values = out.means if measure == "mean" else out.variances
            return [np.ascontiguousarray(values[k :: self._size]) for k in range(self._size)]
        if measure == "run_length":
            return [out.run_length]
        if measure == "adaptation_rate":
            return [out.gamma]
        if measure == "bayes_factor_surprise":
            return [surprise.bayes_factor_surprise(out.log_p, out.log_p_0)]
        if measure == "log_bayes_factor_surprise":
            return [surprise.log_bayes_factor_surprise(out.log_p, out.log_p_0)]
        log_predictive = surprise.log_predictive(out.log_p, out.log_p_0, self._learner.change_probability())
        return [log_predictive if measure == "log_predictive" else -log_predictive]

    # --- text ------------------------------------------------------------------------------------------------------------

    def _texts_between(self) -> list[str]:
        """What stands before every column, and after the last. All fields of a key are one column."""
        names = [*self.names[: 1 + (self._keys > 0)], *self.names[1 + self._keys :]]
        if self._kind == "csv":
            return ["", *[","] * (len(names) - 1), "\n"]
        first, *others = [f"{json.dumps(name)}:" for name in names]
        return ["{" + first, *("," + name for name in others), "}\n"]

    def _by_python(self, columns: list[Column]) -> bytes:
        texts = [self._texts(column) for column in columns]
        rows = zip(*texts, strict=True)
        before = self._before
        return "".join("".join(b + t for b, t in zip(before, row, strict=False)) + before[-1] for row in rows).encode()

    def _texts(self, column: Column) -> list[str]:
        if isinstance(column, list):
            return column
        values = column.tolist()
        return [self._number(value) for value in values]

    def _number(self, value: float) -> str:
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int) or math.isfinite(value):
            return repr(value)
        if self._kind == "csv":
            return "" if value != value else repr(value)
        return "null" if value != value else "1e999" if value > 0.0 else "-1e999"

    def _by_arrow(self, columns: list[Column]) -> bytes:
        import pyarrow.compute as pc

        parts: list[str | pa.Array] = []
        for before, column in zip(self._before, columns, strict=False):
            parts += [before, self._arrow_texts(column)]
        joined = pc.binary_join_element_wise(*parts, self._before[-1], "")
        start, end = np.frombuffer(joined.buffers()[1], dtype=np.int32)[[joined.offset, joined.offset + len(joined)]]
        return bytes(memoryview(joined.buffers()[2])[int(start) : int(end)])

    def _arrow_texts(self, column: Column) -> pa.Array:
        import pyarrow as pa
        import pyarrow.compute as pc

        if isinstance(column, list):
            return pa.array(column, pa.string())
        texts = pa.array(column).cast(pa.string())
        if column.dtype != np.float64:
            return texts
        # Arrow has 1 for 1.0 and other limits to where an exponent is used, and numbers may be missing or infinite
        with np.errstate(invalid="ignore"):
            size = np.abs(column)
            other = ~((size >= 1e-4) & (size < 1e10)) | (column == np.floor(column))
        if not other.any():
            return texts
        texts_of_others = [self._number(value) for value in column[other].tolist()]
        return pc.replace_with_mask(texts, pa.array(other), pa.array(texts_of_others, pa.string()))


def _chosen(learner: Learner, measures: Sequence[str] | None) -> tuple[str, ...]:
    defined = defined_readouts(learner)
    if measures is None:
        return tuple(name for name in MEASURES if name in defined)
    if "all" in measures:
        return defined
    for name in measures:
        if name not in defined:
            raise ValueError(
                f"--measures: {name!r} is not accepted; {type(learner).__name__} has {', '.join(defined)}; all names them all"
            )
    return tuple(dict.fromkeys(measures))


def _csv_text(text: str) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="").writerow([text])
    return buffer.getvalue()


STANDARD_OUTPUT = "-"

Report = Callable[[str], None]


class Output:
    """Writes whole lines at once."""

    def __init__(self, path: str, saved: int | None, report: Report) -> None:
        """`saved` is the length that the file had when the state was saved."""
        self.path = path
        self._is_standard = path == STANDARD_OUTPUT
        if self._is_standard:
            if sys.stdout is None:
                raise ValueError("standard output is closed; give it a reader or a file, or name a file with --out")
            sys.stdout.flush()
            self.descriptor = sys.stdout.fileno()
        else:
            self.descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
            try:
                self._begin(saved, report)
            except BaseException:
                os.close(self.descriptor)
                raise

    @property
    def is_empty(self) -> bool:
        """Whether a header belongs at its beginning: nothing is known of a pipe, so it is new."""
        status = os.fstat(self.descriptor)
        return not stat.S_ISREG(status.st_mode) or status.st_size == 0

    def length(self) -> int | None:
        """To be saved with the state."""
        return None if self._is_standard else os.fstat(self.descriptor).st_size

    def write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(self.descriptor, rest) :]
            except BlockingIOError:  # whoever shares the other end does not want to wait; we do
                poll = select.poll()
                poll.register(self.descriptor, select.POLLOUT)
                poll.poll()
            except OSError as error:
                name = "standard output" if self._is_standard else self.path
                raise OSError(error.errno, f"cannot write {name}: {error.strerror}") from None

    def close(self) -> None:
        if not self._is_standard:
            os.close(self.descriptor)

    def _begin(self, saved: int | None, report: Report) -> None:
        if stat.S_ISREG(os.fstat(self.descriptor).st_mode):  # two may well write to one pipe or to /dev/null
            lock(self.descriptor, self.path, "--out", report)
        if saved is not None:
            self._cut(saved, report)

    def _cut(self, saved: int, report: Report) -> None:
        size = os.fstat(self.descriptor).st_size
        if size > saved:
            os.ftruncate(self.descriptor, saved)
        elif size < saved:
            report(f"{self.path} is shorter than it was when the state was saved: lines are added at its end")


def lock(descriptor: int, path: str, option: str, report: Report) -> None:
    """Refuses where another process has it; where locks cannot be had at all, that is reported."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ValueError(
            f"{path} is in use: another volatilis watch has it as {option}; stop that one first, or give {option} another name"
        ) from None
    except OSError as error:
        report(f"{path} cannot be locked ({error.strerror}): take care that no other volatilis watch has it as {option}")
