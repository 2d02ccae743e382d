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


def check_arrays(learner: Any, example: dict[str, np.ndarray], found: dict[str, np.ndarray]) -> None:
    """Native code trusts the states of a pool, so they must be such as the learner could have made."""
    count = len(found["nu"])
    for name, array in example.items():
        if found[name].shape != (count, *array.shape) or found[name].dtype != array.dtype:
            raise ValueError(f"{name} has shape {found[name].shape}, where {(count, *array.shape)} belongs")
        if array.dtype == np.float64 and not np.isfinite(found[name]).all():
            raise ValueError(f"numbers in {name} that are not finite")
    if (found["nu"] < 0.0).any():
        raise ValueError("beliefs from fewer than no observations")
    if "count" in example:
        _check_hypotheses(learner, found["weights"], found["count"][:, 0])


def _check_hypotheses(learner: Any, weights: np.ndarray, live: np.ndarray) -> None:
    most = learner.most_hypotheses()
    if ((live < learner.fewest_hypotheses()) | (live > (weights.shape[1] if most is None else most))).any():
        raise ValueError("a number of hypotheses that its room does not have")
    alive = np.arange(weights.shape[1]) < live[:, None]
    if (weights < 0.0).any() or weights[~alive].any() or (np.abs(weights.sum(axis=1) - 1.0) > 1e-6).any():
        raise ValueError("weights that are not probabilities")
