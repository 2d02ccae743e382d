"""What is written: a line per observation, JSON or CSV.

Numbers are as short as they can be and read back to the same bits. Few lines are written with Python, many with Arrow, which is
several times as fast; the text is the same.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from json.encoder import encode_basestring_ascii
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
MEASURES = (
    *("mean", "variance", "bayes_factor_surprise", "shannon_surprise", "adaptation_rate", "run_length"),
    "outlier_probability",  # where the family has outliers
)
RECENT = ("recent_change", "onset", "onset_low", "onset_high")  # of a calibrated rule; how many observations ago it changed
FEW = 64  # lines
NOT_PLAIN = re.compile(r'[",\r\n\ud800-\udfff]').search  # what a CSV puts into quotes, and what is no text
Column = np.ndarray | list[str]  # numbers, or texts as they are written


class Written(NamedTuple):
    """A block that was dealt with: line numbers, texts of keys, fields that are passed on, observations, steps of time that
    passed before (empty without times), what learners made of them, alarms."""

    lines: np.ndarray
    keys: list[str]
    kept: Sequence[Sequence[object]]
    observed: np.ndarray
    absent: np.ndarray
    elapsed: np.ndarray
    out: Outputs
    alarms: np.ndarray

    def only(self, chosen: np.ndarray) -> Written:
        """Some of the lines."""
        places, count = np.flatnonzero(chosen).tolist(), len(self.lines)
        keys = [self.keys[i] for i in places] if self.keys else []
        kept = [[column[i] for i in places] for column in self.kept]
        arrays = (self.observed, self.absent, self.elapsed)
        observed, absent, elapsed = (array[chosen] if len(array) else array for array in arrays)
        out = Outputs(*(array.reshape(count, array.size // count)[chosen].ravel() for array in self.out))
        return Written(self.lines[chosen], keys, kept, observed, absent, elapsed, out, self.alarms[chosen])


class Format:
    """The columns of the output, and their text."""

    def __init__(
        self, learner: Learner, fields: Fields, kind: str, measures: Sequence[str] | None, has_alarm: bool, recent: bool = False
    ) -> None:
        if kind not in FORMATS:
            raise ValueError(f"--format {kind}: {', '.join(FORMATS)} are accepted")
        self._learner, self._kind, self._size = learner, kind, learner.family.size()
        self._keys, self._categories, self._has_alarm = len(fields.key), list(fields.categories), has_alarm
        self._whole = learner.family.observations([])[0].dtype == np.int64
        self._measures = (*_chosen(learner, measures), *(RECENT if recent else ()))
        observed = fields.values
        if fields.width is not None and len(observed) == 1:
            observed = tuple(f"{observed[0]}_{i}" for i in range(fields.width))
        computed = [name for measure in self._measures for name in self._names(measure)]
        times = ["elapsed"] if fields.time else []
        self.names = ["line", *fields.key, *fields.keep, *observed, *times, *computed, *(["alarm"] if has_alarm else [])]
        twice = sorted({name for name in self.names if self.names.count(name) > 1})
        if twice:
            raise ValueError(f"{twice[0]!r} would be the name of two columns of the output; rename the field of the input")
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
        kept = [self._kept_texts(column) for column in written.kept]
        columns: list[Column] = [written.lines, *([written.keys] if self._keys else []), *kept, *self._observed(written)]
        columns += [written.elapsed] if len(written.elapsed) else []
        columns += [column for measure in self._measures for column in self._computed(measure, written.out)]
        columns += [written.alarms] if self._has_alarm else []
        return self._by_python(columns) if len(written.lines) < FEW else self._by_arrow(columns)

    # --- columns ---------------------------------------------------------------------------------------------------------

    def _names(self, measure: str) -> list[str]:
        several = self._size > 1 and measure in ("mean", "variance")
        return [f"{measure}_{k}" for k in range(self._size)] if several else [measure]

    def _observed(self, written: Written) -> list[Column]:
        columns = [written.observed] if written.observed.ndim == 1 else list(np.ascontiguousarray(written.observed.T))
        if not self._categories and not self._whole:
            return [*columns]
        return [self._codes(column, written.absent | np.isnan(column)) for column in columns]

    def _codes(self, observed: np.ndarray, missing: np.ndarray) -> Column:
        """Whole numbers, or the names of categories."""
        gone, whole = self._number(math.nan), np.where(missing, -1, observed).astype(np.int64)
        if self._categories:
            names = [_csv_text(n) if self._kind == "csv" else json.dumps(n) for n in self._categories]
            names.append(gone)
            return [names[code] for code in whole.tolist()]
        if not missing.any():
            return whole
        return [gone if absent else text for text, absent in zip(map(str, whole.tolist()), missing.tolist(), strict=True)]

    def _computed(self, measure: str, out: Outputs) -> list[np.ndarray]:
        if measure in ("mean", "variance"):
            values = out.means if measure == "mean" else out.variances
            return [np.ascontiguousarray(values[k :: self._size]) for k in range(self._size)]
        if measure in RECENT:
            place = RECENT.index(measure)
            return [out.recent if place == 0 else np.ascontiguousarray(out.onset[place - 1 :: 3])]
        if measure == "run_length":
            return [out.run_length]
        if measure == "adaptation_rate":
            return [out.gamma]
        if measure == "bayes_factor_surprise":
            return [surprise.bayes_factor_surprise(out.log_p, out.log_p_0)]
        if measure == "log_bayes_factor_surprise":
            return [surprise.log_bayes_factor_surprise(out.log_p, out.log_p_0)]
        if measure == "change_probability":
            return [out.p_c]
        p_c = out.p_c if self._learner.learns_change_probability() else self._learner.change_probability()
        log_predictive = surprise.log_predictive(out.log_p, out.log_p_0, p_c)
        if measure == "outlier_probability":
            return [np.exp(out.log_outliers - log_predictive)]
        return [log_predictive if measure == "log_predictive" else -log_predictive]

    def _kept_texts(self, column: Sequence[object]) -> list[str]:
        """Fields that are passed on. Each text, such as the name of a host, is made once; most columns are all of one kind."""
        kinds = set(map(type, column))
        if kinds == {str}:
            texts = {value: self._kept_text(value) for value in set(column)}
            return [texts[value] for value in column]
        if kinds == {int} or (kinds == {float} and all(map(math.isfinite, column))):  # type: ignore[arg-type]
            return list(map(repr, column))
        return list(map(self._kept_text, column))

    def _kept_text(self, value: object) -> str:
        """A field that is passed on, as it came."""
        if self._kind == "csv":
            text = value if isinstance(value, str) else "" if value is None else _json_text(value)
            return _csv_text(text) if NOT_PLAIN(text) else text
        return encode_basestring_ascii(value) if isinstance(value, str) else _json_text(value)

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
        return column if isinstance(column, list) else list(map(self._number, column.tolist()))

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
        if column.dtype != np.float64:
            return pa.array(column).cast(pa.string())
        # Arrow has 1 for 1.0 and other limits to where an exponent is used, and numbers may be missing or infinite
        with np.errstate(invalid="ignore"):
            size, whole = np.abs(column), column == np.floor(column)
            if size.min() >= 1e-4 and size.max() < 1e10 and not whole.any():
                return pa.array(column).cast(pa.string())
            missing = np.isnan(column)
            whole &= (size < 1e15) & ((column != 0.0) | ~np.signbit(column))
            other = ~(missing | whole | ((size >= 1e-4) & (size < 1e10)))
        texts = pa.array(column, mask=missing).cast(pa.string())
        if whole.any():
            integers = pa.array(column[whole].astype(np.int64)).cast(pa.string())
            texts = pc.replace_with_mask(texts, pa.array(whole), pc.binary_join_element_wise(integers, ".0", ""))
        if other.any():
            numbers = column[other]
            texts_of_others = map(repr if np.isfinite(numbers).all() else self._number, numbers.tolist())
            texts = pc.replace_with_mask(texts, pa.array(other), pa.array(list(texts_of_others), pa.string()))
        return pc.fill_null(texts, self._number(math.nan)) if missing.any() else texts


class KeyTexts:
    """Keys as they are written, by their numbers; each text is made once, when it is needed."""

    def __init__(self, form: Format) -> None:
        self._format = form
        self._texts: list[str] = []

    def of(self, numbers: np.ndarray, keys: Sequence[Key]) -> list[str]:
        """The texts of these keys; none where lines have no key."""
        texts = self._texts
        if not keys or keys[0] == ():
            return []
        texts += [""] * (int(numbers.max()) + 1 - len(texts))
        result = [texts[number] for number in numbers.tolist()]
        if "" in result:
            for i, (number, key) in enumerate(zip(numbers.tolist(), keys, strict=True)):
                result[i] = texts[number] = texts[number] or self._format.key_text(key)
        return result

    def renew(self, numbers: list[int]) -> None:
        """These numbers belong to other keys now."""
        for number in numbers:
            if number < len(self._texts):
                self._texts[number] = ""

    def renumber(self, numbers: np.ndarray) -> None:
        """The keys with these numbers have the numbers 0, 1, ... from now on."""
        count = len(self._texts)  # keys that came with a state have none yet
        self._texts = [self._texts[number] if number < count else "" for number in numbers.tolist()]


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


def _json_text(value: object) -> str:
    try:
        return json.dumps(value, allow_nan=False)
    except ValueError:
        return json.dumps(_without_nan(value))


def _without_nan(value: object) -> object:
    """JSON has no NaN and no infinity, but lines may."""
    if isinstance(value, dict):
        return {name: _without_nan(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _csv_text(text: str) -> str:
    quoted = '"' + text.replace('"', '""') + '"' if NOT_PLAIN(text) else text
    return quoted.encode("utf-8", "replace").decode()
