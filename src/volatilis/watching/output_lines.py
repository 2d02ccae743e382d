"""What is written: a line per observation, JSON or CSV. Numbers are as short as they can be and read back to the same bits.

Few lines are written with Python, many with Arrow, which is several times as fast; the text is the same.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
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
