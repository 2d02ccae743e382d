"""What a watcher keeps in its state file, and whether a file belongs to this request.

A state file is a line of JSON, arrays as NumPy writes them, and a checksum: data only; whole or not at all. One watcher at a
time has it: the kernel lets go of a lock when its process ends, in any way.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import pathlib
from collections.abc import Iterator
from typing import IO, NamedTuple

import numpy as np

from volatilis._core.files import whole_file
from volatilis._core.store import Entry
from volatilis.running.state_files import StateFileError, check_many_states
from volatilis.watching.alarms import Alarms
from volatilis.watching.input import Place, SavedPlace
from volatilis.watching.keyed import Keyed, Pool
from volatilis.watching.output import Output, Report, lock
from volatilis.watching.parsing import Parser
from volatilis.watching.request import LOCK_SUFFIX, Summary, WatchRequest

FORMAT, VERSION = "volatilis-watch", 1
CHECKSUM = 32  # bytes, at the end


class Saved(NamedTuple):
    """What the watcher itself goes on with; states, alarms and the parser are set already."""

    place: SavedPlace
    summary: Summary
    out: str
    output: int | None


class Memory:
    """Saves and loads for one request."""

    def __init__(self, request: WatchRequest, keyed: Keyed, alarms: Alarms, parser: Parser) -> None:
        self._request, self._keyed, self._alarms, self._parser = request, keyed, alarms, parser
        self._file: tuple[int, ...] | None = None  # as it was when it was last read or written here

    def save(self, place: Place, summary: Summary, output: Output) -> None:
        keyed, arrays = self._keyed, {"place_of": self._keyed.place_of[: len(self._keyed.numbers)]}
        for index, pool in enumerate(keyed.pools):
            arrays |= {f"{index}.{name}": array for name, array in pool.arrays().items()}
        arrays["longest"] = np.array(self._alarms.longest)
        header = self._identity() | {
            "place": place.to_data(),
            "lines": self._parser.to_data(),
            "summary": summary._asdict(),
            "out": self._request.out,
            "output": output.length(),
            "pools": len(keyed.pools),
            "keys": list(keyed.numbers),
        }
        if _file_at(self._path) not in (self._file, None):
            raise StateFileError(f"{self._path} was written by another process meanwhile; it is not changed")
        save(self._path, header, arrays)
        self._file = _file_at(self._path)

    def load(self) -> Saved | None:
        """None where there is no file yet. A file of another learner, damaged, or something else is an error."""
        if self._request.state is None or not os.path.lexists(self._request.state):
            return None
        self._file = _file_at(self._path)
        header, arrays = load(self._path)
        self._check_identity(header)
        try:
            return self._set(header, arrays)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            raise StateFileError(f"{self._path} does not hold the state of a watcher: {error}") from None

    @property
    def _path(self) -> str:
        return self._request.state or ""

    def _identity(self) -> Entry:
        """What must be the same for a state to be used again."""
        request = self._request
        return {
            "learner": repr(self._keyed.learner),
            "key": list(request.key),
            "value": list(request.value),
            "categories": list(request.categories),
            "seed": request.seed,
        }

    def _check_identity(self, header: Entry) -> None:
        for name, now in self._identity().items():
            if header.get(name) != now:
                raise StateFileError(
                    f"{self._path} was made with another {name}: {_shown(header.get(name))}, now {_shown(now)}; it is "
                    "not changed: use the same options, or give --state another name"
                )

    def _set(self, header: Entry, arrays: dict[str, np.ndarray]) -> Saved:
        keys = [tuple(key) if isinstance(key, list) else key for key in header["keys"]]
        places = arrays["place_of"]
        if places.shape != (len(keys), 2) or places.dtype != np.int64 or len(set(keys)) != len(keys):
            raise ValueError("keys without a state, or states without a key")
        pools = [self._pool(index, arrays, places) for index in range(header["pools"])]
        if ((places[:, 0] < 0) | (places[:, 0] >= len(pools))).any():
            raise ValueError("a key in a pool that is not there")
        place, summary = SavedPlace.from_data(header["place"]), Summary(**header["summary"])
        if not all(type(count) is int and count >= 0 for count in summary):
            raise ValueError("counts that are not numbers")
        if not isinstance(header["out"], str) or not isinstance(header["output"], int | None):
            raise ValueError("the saved output is not valid")
        self._parser.set_from(header["lines"])
        self._keyed.restore(keys, places, pools)
        self._alarms.longest = [float(longest) for longest in arrays["longest"]]
        return Saved(place, summary, header["out"], header["output"])

    def _pool(self, index: int, arrays: dict[str, np.ndarray], places: np.ndarray) -> Pool:
        learner = self._keyed.learner
        example = learner.init(0)
        for _ in range(index):
            example = learner.grow(example)
        states = {name: arrays[f"{index}.{name}"] for name in example.kept_arrays()}
        check_many_states(learner, example.kept_arrays(), states)
        rows, used = places[places[:, 0] == index, 1], len(states["nu"])
        taken = np.zeros(used, dtype=bool)
        if ((rows < 0) | (rows >= used)).any() or len(np.unique(rows)) != len(rows):
            raise ValueError("two keys with one state, or a key without one")
        taken[rows] = True
        pool = Pool(example)
        pool.set_arrays(states, np.flatnonzero(~taken).tolist())
        return pool


def _file_at(path: str) -> tuple[int, ...] | None:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _shown(value: object) -> str:
    return (",".join(value) or "none") if isinstance(value, list) else str(value)


# --- the file --------------------------------------------------------------------------------------------------------------


class _Hashed:
    """Writes to a file and digests what it writes."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.digest = file, hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.digest.update(data)
        return self._file.write(data)


def save(path: str | os.PathLike[str], header: Entry, arrays: dict[str, np.ndarray]) -> None:
    """Atomically: a crash at any moment leaves the old file whole."""
    text = json.dumps({"format": FORMAT, "version": VERSION, "arrays": list(arrays), **header})
    with whole_file(path) as file:
        hashed = _Hashed(file)
        hashed.write(text.encode() + b"\n")
        for array in arrays.values():
            np.save(hashed, array, allow_pickle=False)
        file.write(hashed.digest.digest())


def load(path: str | os.PathLike[str]) -> tuple[Entry, dict[str, np.ndarray]]:
    """The header and the arrays of a state file, its checksum tested."""
    begin = b'{"format": "' + FORMAT.encode() + b'"'
    if not pathlib.Path(path).is_file() or not (data := _content(path, begin)):
        raise StateFileError(f"{path} is not a state file of volatilis watch; it is not changed: give --state another name")
    if hashlib.sha256(data[:-CHECKSUM]).digest() != data[-CHECKSUM:]:
        raise StateFileError(f"{path} is damaged or cut short: its checksum does not fit; it is not changed")
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


# --- its lock --------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def state_locked(path: str | None, report: Report) -> Iterator[None]:
    """Holds the lock of a state, an empty file beside it: the state itself is another file after each save."""
    if path is None:
        yield
        return
    descriptor = _locked_file(path, report)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            if os.fstat(descriptor).st_size == 0:  # what is not empty was not made here
                os.unlink(path + LOCK_SUFFIX)
        os.close(descriptor)


def _locked_file(path: str, report: Report) -> int:
    while True:
        try:
            descriptor = os.open(path + LOCK_SUFFIX, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise OSError(error.errno, f"cannot write {path}{LOCK_SUFFIX}: {error.strerror}") from None
        try:
            lock(descriptor, path, "--state", report)
        except ValueError:
            os.close(descriptor)
            raise
        if _is_at(path + LOCK_SUFFIX, descriptor):
            return descriptor
        os.close(descriptor)  # its last holder took it away between the two calls


def _is_at(path: str, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False
