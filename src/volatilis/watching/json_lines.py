"""JSON lines: an object a line, `{"sensor": "a", "value": 1.25}`, or just the observation, `1.25` or `[1.25, 0.5]`.

All lines of a block are read at once (`all`), which is fast, or one by one (`one`), which says what is wrong with a line.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from json.scanner import make_scanner
from typing import Any

import numpy as np

from volatilis.watching.fields import (
    NOT_ACCEPTED,
    BadLineError,
    Fields,
    Key,
    Record,
    Records,
    contexts_of,
    getter,
    is_missing,
    key_text,
    keys_are_fine,
    no_field,
    one_context,
    one_key,
    one_number,
    optional_getter,
)
from volatilis.watching.times import NO_TIMES, one_time, seconds_of

OBJECTS, BARE = "{}", "[]"  # how `to_data` tells them apart; no header of a CSV can be this


class JsonLines:
    """Lines of one kind: objects, or bare observations."""

    def __init__(self, fields: Fields, bare: bool) -> None:
        self._fields, self._bare = fields, bare
        # raises StopIteration where there is no JSON; it takes whatever has a decoder's options
        self._scan = make_scanner(json.JSONDecoder())  # type: ignore[arg-type]
        self._numbers = {float, int, bool, type(None)} if fields.takes_booleans else {float, int, type(None)}
        self._getters = {name: getter(name) for name in fields.needed}
        self._kept = [optional_getter(name) for name in fields.keep]

    @classmethod
    def for_line(cls, line: str, fields: Fields, surely: bool) -> tuple[JsonLines, bool] | None:
        """For an input that begins with this line, and whether the line tells the kind: null, say, does not.

        None where it is not JSON, unless it surely is.
        """
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict) or (value is None and line.startswith("{")):
            return cls(fields, bare=False), True
        if isinstance(value, str) and not surely:
            return None  # a header of a CSV
        bare = cls(fields._replace(key=(), time=None, keep=(), given=()), bare=True)
        try:
            has_values = not np.isnan(bare.one(line).value).all()
        except BadLineError:
            is_json = surely or value is not None or line.startswith("[") or line.lstrip("-").isdigit()
            return (cls(fields, bare=True), False) if is_json else None
        if has_values and (others := [*fields.key, *([fields.time] if fields.time else []), *fields.keep]):
            option = "--key" if fields.key else "--time" if fields.time else "--given" if fields.given else "--keep"
            raise ValueError(
                f"{option} {others[0]}: the lines are bare observations, such as {line[:40]!r}, without such a field"
            )
        return cls(fields, bare=True), has_values

    @classmethod
    def from_data(cls, data: str, fields: Fields) -> JsonLines | None:
        return cls(fields, data == BARE) if data in (OBJECTS, BARE) else None

    def to_data(self) -> str:
        return BARE if self._bare else OBJECTS

    def all(self, lines: list[str]) -> Records | None:
        """None where some line needs a closer look: then they are read one by one."""
        scan, fields = self._scan, self._fields
        try:
            rows, ends = zip(*[scan(line, 0) for line in lines], strict=True)
            if self._bare and fields.needed.keys() != set(fields.values):
                return None
            whole = ends == tuple(map(len, lines))
            if not whole and any(line[end:] not in ("", "\r") for line, end in zip(lines, ends, strict=True)):
                return None
            values = self._values(rows)
            keys = self._keys(rows)
            given = contexts_of([list(map(self._getters[name], rows)) for name in fields.given], len(rows), fields)
            times = NO_TIMES if fields.time is None else seconds_of(list(map(self._getters[fields.time], rows)))
        except (*NOT_ACCEPTED, StopIteration):
            return None
        if fields.width is not None and values.shape != (len(rows), fields.width):
            return None
        return Records(keys, values, times, [list(map(get, rows)) for get in self._kept], given)

    def _values(self, rows: Sequence[Any]) -> np.ndarray:
        names, fields = self._fields.values, self._fields
        if self._bare:
            values: Sequence[Any] = rows
        elif len(names) == 1:
            values = list(map(self._getters[names[0]], rows))
        else:
            getters = [self._getters[name] for name in names]
            values = [[get(row) for get in getters] for row in rows]
        if fields.categories:
            return np.array([fields.categories[value] for value in values])
        flat = values if fields.width is None else [number for vector in values for number in vector]
        if self._numbers.issuperset(map(type, flat)):
            return np.array(values, dtype=np.float64)
        if fields.width is None and not self._bare:  # numbers written as texts, perhaps
            return np.array([one_number(value, names[0], fields) for value in values])
        raise TypeError

    def _keys(self, rows: Sequence[Any]) -> list[Key]:
        names = self._fields.key
        if not names:
            return []
        if len(names) > 1:
            getters = [self._getters[name] for name in names]
            return [one_key([get(row) for get in getters], names) for row in rows]
        keys = list(map(self._getters[names[0]], rows))
        if set(map(type, keys)) == {str}:
            if not keys_are_fine(keys):
                raise ValueError
            return keys if all(key == key.strip() for key in set(keys)) else [key.strip() for key in keys]
        return [key_text(key, names[0]) for key in keys]

    def one(self, line: str) -> Record:
        row, fields = self._row(line), self._fields
        if self._bare:
            if isinstance(row, dict):
                raise BadLineError("the first lines are like 1.25, and this one is an object")
            if fields.key or fields.time or fields.given:
                raise BadLineError("it is only a number, so it has no key, no time or no context")
            return Record(None, self._vector(row, "it"), kept=(None,) * len(self._kept))
        if not isinstance(row, dict):
            raise BadLineError(f'the first lines are like {{"{fields.values[0]}": 1.25}}, and this one is not')
        read = {}
        for name, get in self._getters.items():
            try:
                read[name] = get(row)
            except KeyError:
                raise BadLineError(no_field(name, row)) from None
        values = [read[name] for name in fields.values]
        value = self._vector(values[0] if len(values) == 1 else values, repr(fields.values[0]))
        key = one_key([read[name] for name in fields.key], fields.key) if fields.key else None
        time = one_time(read[fields.time], fields.time) if fields.time else None
        given = one_context([read[name] for name in fields.given], fields)
        return Record(key, value, time, tuple(get(row) for get in self._kept), given)

    def _row(self, line: str) -> Any:
        try:
            return json.loads(line)
        except RecursionError:
            raise BadLineError("it is nested too deeply") from None
        except json.JSONDecodeError as error:
            if self._bare and not line.lstrip().startswith(("{", "[", '"')):
                return line.strip()  # a text: nan and the like are missing, others no number
            raise BadLineError(f"it is not JSON ({error.msg})") from None
        except ValueError:
            raise BadLineError("a number in it has too many digits") from None

    def _vector(self, vector: Any, what: str) -> float | list[float]:
        width = self._fields.width
        if width is None:
            return one_number(vector, what, self._fields)
        if vector is None or (isinstance(vector, str) and is_missing(vector)):
            return [np.nan] * width
        if not isinstance(vector, list) or len(vector) != width:
            raise BadLineError(f"{what} is not a list of {width} numbers")
        return [one_number(number, what, self._fields) for number in vector]
