"""State files of a watcher: a line of JSON, arrays as NumPy writes them, and a checksum. Data only; whole or not at all."""

from __future__ import annotations

import hashlib
import io
import json
import os
import pathlib
from typing import IO, Any

import numpy as np

from volatilis._core.files import whole_file
from volatilis.running.state_files import StateFileError

FORMAT, VERSION = "volatilis-watch", 1
CHECKSUM = 32  # bytes, at the end


class _Hashed:
    """Writes to a file and digests what it writes."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.digest = file, hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.digest.update(data)
        return self._file.write(data)


def save(path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Atomically: a crash at any moment leaves the old file whole."""
    text = json.dumps({"format": FORMAT, "version": VERSION, "arrays": list(arrays), **header})
    with whole_file(path) as file:
        hashed = _Hashed(file)
        hashed.write(text.encode() + b"\n")
        for array in arrays.values():
            np.save(hashed, array, allow_pickle=False)
        file.write(hashed.digest.digest())


def load(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The header and the arrays of a state file, its checksum tested."""
    begin = b'{"format": "' + FORMAT.encode() + b'"'
    if not pathlib.Path(path).is_file() or not (data := _content(path, begin)):
        raise StateFileError(f"{path} is not a state file of volatilis watch; it is left as it is: give --state another name")
    if hashlib.sha256(data[:-CHECKSUM]).digest() != data[-CHECKSUM:]:
        raise StateFileError(f"{path} is damaged or cut short: its checksum does not fit; it is left as it is")
    try:
        start, _, rest = data[:-CHECKSUM].partition(b"\n")
        header = json.loads(start)
        if header["version"] != VERSION:
            raise StateFileError(f"{path} has version {header['version']!r}; this release reads version {VERSION}")
        stream = io.BytesIO(rest)
        return header, {name: np.load(stream, allow_pickle=False) for name in header["arrays"]}
    except StateFileError:
        raise
    except (ValueError, KeyError, TypeError, EOFError, MemoryError, RecursionError) as error:
        raise StateFileError(f"{path} does not hold the state of a watcher: {error}") from None


def _content(path: str | os.PathLike[str], begin: bytes) -> bytes:
    """Nothing where the file does not begin so: it may be large, and is not ours."""
    with open(path, "rb") as file:
        return begin + file.read() if file.read(len(begin)) == begin else b""
