"""What a watcher keeps in its state file, whether a file belongs to this request, and the file itself.

The file is a line of JSON, arrays as NumPy writes them, and a checksum. Data only; whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import IO, NamedTuple

import numpy as np

from volatilis._core.files import whole_file
from volatilis._core.store import Entry
from volatilis.running.state_files import StateFileError, check_many_states
from volatilis.watching.fields import Key
from volatilis.watching.keyed import Keyed, Pool
from volatilis.watching.output import Output
from volatilis.watching.parsing import Parser
from volatilis.watching.per_key import PerKey
from volatilis.watching.places import SavedPlace
from volatilis.watching.request import Summary, WatchRequest

MOST_POOLS = 40  # each has twice the room of the one before
IDENTITY = ("key", "value", "categories", "seed", "time", "interval", "forget_after", "max_keys", "given", "contexts")


class Saved(NamedTuple):
    """What the watcher itself goes on with; keys, states and the parser are set already."""

    place: SavedPlace
    summary: Summary
    out: str
    output: int | None


class Memory:
    """Saves and loads for one request."""

    def __init__(self, request: WatchRequest, keyed: Keyed, per_key: Sequence[PerKey], parser: Parser, rule: str | None) -> None:
        self._request, self._keyed, self._per_key, self._parser, self._rule = request, keyed, per_key, parser, rule
        self._file: tuple[int, ...] | None = None  # as it was when it was last read or written here

    # --- saving ----------------------------------------------------------------------------------------------------------

    def save(self, place: dict[str, object], summary: Summary, output: Output) -> None:
        keyed = self._keyed
        numbers, pool_of, rows = keyed.packed()
        arrays: dict[str, np.ndarray | SelectedRows] = key_arrays(list(keyed.keys.numbers)) | {
            "last": keyed.keys.last(),
            "pool": pool_of,
        }
        for index, pool in enumerate(keyed.pools):
            kept = pool.states.kept_arrays()
            arrays |= {f"{index}.{name}": SelectedRows(array, rows[index]) for name, array in kept.items()}
        for memory in self._per_key:
            arrays |= memory.arrays(numbers)
        header = self._identity() | {
            "place": place,
            "lines": self._parser.to_data(),
            "summary": summary._asdict(),
            "out": self._request.out,
            "output": output.length(),
            "pools": len(keyed.pools),
        }
        if _file_at(self._path) not in (self._file, None):
            raise StateFileError(f"{self._path} was written by another process meanwhile; it is not changed")
        save(self._path, header, arrays)
        self._file = _file_at(self._path)

    @property
    def _path(self) -> str:
        return self._request.state or ""

    def _identity(self) -> Entry:
        """What must be the same for a state to be used again."""
        given = {name: getattr(self._request, name) for name in IDENTITY}
        options = {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}
        return {"learner": repr(self._keyed.learner), "alarm rule": self._rule} | options

    # --- loading ---------------------------------------------------------------------------------------------------------

    def load(self) -> Saved | None:
        """None where there is no file yet. A file of another learner, damaged, or something else is an error."""
        if self._request.state is None or not os.path.lexists(self._request.state):
            return None
        self._file = _file_at(self._path)
        header, arrays = load(self._path)
        self._check_identity(header)
        try:
            return self._set(header, arrays)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError, MemoryError) as error:
            raise StateFileError(f"{self._path} does not hold the state of a watcher: {error}") from None

    def _check_identity(self, header: Entry) -> None:
        for name, now in self._identity().items():
            if (header.get(name) or None) != (now or None):  # a file made before there was such an option has none
                raise StateFileError(
                    f"{self._path} was made with another {name}: {_shown(header.get(name))}, now {_shown(now)}; it is "
                    "not changed: use the same options, or give --state another name"
                )

    def _set(self, header: Entry, arrays: dict[str, np.ndarray]) -> Saved:
        keys = keys_from(arrays, len(self._request.key))
        pool_of, count = arrays["pool"], len(keys)
        if pool_of.shape != (count,) or pool_of.dtype != np.int64:
            raise ValueError("keys without a state, or states without a key")
        if type(header["pools"]) is not int or not 1 <= header["pools"] <= MOST_POOLS:
            raise ValueError("an impossible number of pools")
        if count and not 0 <= pool_of.min() <= pool_of.max() < header["pools"]:
            raise ValueError("a key in a pool that is not there")
        pools = [self._pool(index, arrays, int(np.count_nonzero(pool_of == index))) for index in range(header["pools"])]
        place, summary = SavedPlace.from_data(header["place"]), Summary(**header["summary"])
        if not all(type(count) is int and count >= 0 for count in summary):
            raise ValueError("counts that are not numbers")
        if not isinstance(header["out"], str) or type(header["output"]) not in (int, type(None)):
            raise ValueError("the saved output is not valid")
        self._parser.set_from(header["lines"])
        self._keyed.keys.set_keys(keys, arrays["last"])
        self._keyed.restore(pool_of, pools)
        for memory in self._per_key:
            memory.set_arrays(arrays, count)
        return Saved(place, summary, header["out"], header["output"])

    def _pool(self, index: int, arrays: dict[str, np.ndarray], count: int) -> Pool:
        learner, example = self._keyed.learner, self._keyed.example(index)
        states = {name: arrays.pop(f"{index}.{name}") for name in example.kept_arrays()}
        check_many_states(learner, example.kept_arrays(), states)
        if len(next(iter(states.values()))) != count:
            raise ValueError("its keys and states do not match")
        pool = Pool(example, 1)
        pool.set_arrays(states)
        return pool


def key_arrays(keys: Sequence[Key]) -> dict[str, np.ndarray | SelectedRows]:
    """The texts of all keys behind each other, and how many bytes each has. A key of no fields has none."""
    parts = [part.encode() for key in keys for part in ((key,) if isinstance(key, str) else key)]
    lengths = np.fromiter(map(len, parts), dtype=np.int64, count=len(parts))
    return {"keys": np.frombuffer(b"".join(parts), dtype=np.uint8), "lengths": lengths, "count": np.array([len(keys)])}


def keys_from(arrays: dict[str, np.ndarray], fields: int) -> list[Key]:
    """The inverse; `fields` make a key."""
    text, lengths, count = arrays["keys"], arrays["lengths"], arrays["count"]
    if text.dtype != np.uint8 or lengths.dtype != np.int64 or text.ndim != 1 or lengths.ndim != 1:
        raise ValueError("keys that are not texts")
    if (
        count.shape != (1,)
        or count.dtype != np.int64
        or not 0 <= int(count[0]) <= max(1, len(lengths))
        or len(lengths) != fields * int(count[0])
    ):
        raise ValueError("keys with too many or too few parts")
    if len(lengths) and (lengths.min() < 1 or lengths.sum() != len(text)):
        raise ValueError("keys that are not texts")
    data, ends = text.tobytes(), np.cumsum(lengths).tolist()
    parts = [data[start:end].decode() for start, end in zip([0, *ends], ends, strict=False)]
    if fields == 0:
        return [()] * int(count[0])
    return list(parts) if fields == 1 else list(zip(*(parts[k::fields] for k in range(fields)), strict=True))


def _file_at(path: str) -> tuple[int, ...] | None:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _shown(value: object) -> str:
    return (",".join(map(str, value)) or "none") if isinstance(value, list) else "none" if value is None else str(value)


# --- the file --------------------------------------------------------------------------------------------------------------


FORMAT, VERSION = "volatilis-watch", 2
CHECKSUM = 32  # bytes, at the end
PIECE = 1 << 16  # rows, and bytes, at a time
LONGEST_HEADER = 1 << 26  # bytes


class SelectedRows(NamedTuple):
    """Some rows of an array, in this order. They are written piece by piece, not copied all at once."""

    array: np.ndarray
    rows: np.ndarray


class _Hashed:
    """Writes to a file and digests what it writes."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.digest = file, hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.digest.update(data)
        return self._file.write(data)


def save(path: str | os.PathLike[str], header: Entry, arrays: Mapping[str, np.ndarray | SelectedRows]) -> None:
    """Atomically: a crash at any moment leaves the old file whole."""
    text = json.dumps({"format": FORMAT, "version": VERSION, "arrays": list(arrays), **header})
    with whole_file(path) as file:
        hashed = _Hashed(file)
        hashed.write(text.encode() + b"\n")
        for array in arrays.values():
            if isinstance(array, SelectedRows):
                _save_rows(hashed, array)
            else:
                np.save(hashed, array, allow_pickle=False)
        file.write(hashed.digest.digest())


def _save_rows(file: _Hashed, chosen: SelectedRows) -> None:
    """As `np.save` would write array[rows]."""
    array, rows = chosen
    shape = (len(rows), *array.shape[1:])
    description = {"descr": np.lib.format.dtype_to_descr(array.dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, description)
    for start in range(0, len(rows), PIECE):
        file.write(np.ascontiguousarray(array[rows[start : start + PIECE]]).tobytes())


def load(path: str | os.PathLike[str]) -> tuple[Entry, dict[str, np.ndarray]]:
    """The header and the arrays of a state file, its checksum tested."""
    if not pathlib.Path(path).is_file():
        raise StateFileError(_not_a_state(path))
    with open(path, "rb") as file:
        size = _intact_size(file, path)
        try:
            header = json.loads(file.readline(LONGEST_HEADER))
            if header["version"] != VERSION:
                raise StateFileError(f"{path} has version {header['version']!r}; this release reads version {VERSION}")
            arrays = {name: np.load(file, allow_pickle=False) for name in header["arrays"]}
            if file.tell() != size:
                raise ValueError("there is something behind its arrays")
            return header, arrays
        except StateFileError:
            raise
        except (ValueError, KeyError, TypeError, EOFError, MemoryError, RecursionError, OverflowError) as error:
            raise StateFileError(f"{path} does not hold the state of a watcher: {error}") from None


def _intact_size(file: IO[bytes], path: str | os.PathLike[str]) -> int:
    """The size without the checksum, which is tested; the file is at its beginning then."""
    begin = b'{"format": "' + FORMAT.encode() + b'"'
    size = os.fstat(file.fileno()).st_size - CHECKSUM
    if file.read(len(begin)) != begin:
        raise StateFileError(_not_a_state(path))
    digest, left = hashlib.sha256(begin), size - len(begin)
    while left > 0 and (data := file.read(min(PIECE, left))):
        digest.update(data)
        left -= len(data)
    if left != 0 or digest.digest() != file.read(CHECKSUM + 1):
        raise StateFileError(f"{path} is damaged or cut short: its checksum does not fit; it is not changed")
    file.seek(0)
    return size


def _not_a_state(path: str | os.PathLike[str]) -> str:
    return f"{path} is not a state file of volatilis watch; it is not changed: give --state another name"
