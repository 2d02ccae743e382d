"""Finished work in a file, so that a run that was stopped goes on where it was.

One line of JSON for each result, with the key of what was asked for and the digest of the sources that answered
(`_core.sources`). A result is used only where both agree. What other sources made stays in the file and is computed again.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import pathlib
import sys
from collections.abc import Callable, Collection
from typing import Any, Generic, TypeVar

import numpy as np

LONGEST_WORD = len("false")

Result = TypeVar("Result")
Entry = dict[str, Any]  # a JSON object


class Store(Generic[Result]):
    """Results by key; `with Store(...) as store`. Several runs may share a file: it is only ever added to.

    sources   the digest of all that makes these results
    encode    a result as a JSON object
    decode    the inverse

    A line that was cut off, when a run was killed while it wrote, is passed over. Any other line that cannot be read is an error:
    nothing is deleted without being asked.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        sources: str,
        encode: Callable[[Result], Entry],
        decode: Callable[[Entry], Result],
    ) -> None:
        self.path, self._sources, self._encode, self._decode = pathlib.Path(path), sources, encode, decode
        self._results: dict[str, Result] = {}
        self._others: set[str] = set()  # keys of what other sources made
        self._older = 0  # results of an older release, which knew keys of another kind
        if self.path.parent.is_file():
            raise NotADirectoryError(errno.ENOTDIR, "it is a file; finished work is kept in a folder", str(self.path.parent))
        self.path.parent.mkdir(parents=True, exist_ok=True)
        content = self.path.read_bytes() if self.path.exists() else b""
        for number, line in enumerate(content.splitlines(), 1):
            self._read(number, line)
        self._file = self.path.open("ab", buffering=0)  # one write for a line, or another run's might end up within it
        if content and not content.endswith(b"\n"):
            self._file.write(b"\n")

    def _read(self, number: int, line: bytes) -> None:
        try:
            entry = json.loads(line)
            key, sources = entry.pop("key"), entry.pop("sources", None)
            if sources is None or sources == self._sources:
                result = self._decode(entry)
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            if _cut_off(error):
                return
            advice = "delete that line, and only it is computed again; or name another folder"
            raise ValueError(f"{self.path}: line {number} is not what volatilis wrote there: {advice}") from None
        if sources == self._sources:
            self._results[key] = result
        elif sources is None:
            self._older += 1
        else:
            self._others.add(key)

    def get(self, key: str) -> Result | None:
        """The result with this key; None where these sources have not made it yet."""
        return self._results.get(key)

    def add(self, key: str, result: Result) -> None:
        """At once in the file, so that it is there whatever happens next."""
        self._results[key] = result
        self._file.write(json.dumps({"key": key, "sources": self._sources} | self._encode(result)).encode() + b"\n")

    def results(self) -> list[Result]:
        """All that these sources made."""
        return list(self._results.values())

    def warn_of_others(self, missing: Collection[str]) -> None:
        """One line on standard error, where results that are to be computed are there, but were made with other sources."""
        if missing:
            tell_of_others(len(self._others.intersection(missing)) + self._older, self.path.parent)

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Store[Result]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def tell_of_others(count: int, folder: pathlib.Path) -> None:
    """That so many results are not used, and why."""
    if count:
        results, they = ("1 result", "it is") if count == 1 else (f"{count:,} results", "they are")
        verb = "was" if count == 1 else "were"
        print(f"{results} in {folder} {verb} made with other sources; {they} computed again", file=sys.stderr, flush=True)


def digest(*values: object) -> str:
    """A key from all that decides a result: numbers, texts, arrays, and tuples, lists and dictionaries of these."""
    hashed = hashlib.sha256()
    for text in map(_bytes_of, values):
        hashed.update(text)
    return hashed.hexdigest()


def _bytes_of(value: object) -> bytes:
    if isinstance(value, np.ndarray):
        return f"{value.dtype.str}{value.shape}".encode() + np.ascontiguousarray(value).tobytes()
    if isinstance(value, tuple | list):
        return f"{type(value).__name__}{len(value)}".encode() + b"".join(map(_bytes_of, value))
    if isinstance(value, dict):
        return _bytes_of(sorted(value.items()))
    return f"{value!r}\0".encode()


def _cut_off(error: Exception) -> bool:
    """Whether the text was fine as far as it went: what is missing is missing at its end."""
    if not isinstance(error, json.JSONDecodeError) or not error.doc.startswith(("{", "[")):
        return False
    return error.msg.startswith("Unterminated string") or error.pos > len(error.doc) - LONGEST_WORD
