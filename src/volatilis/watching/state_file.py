"""The file of a watcher's state: a line of JSON, arrays as NumPy writes them, and a checksum. Data only; whole or not at all.

One watcher at a time has it: the kernel lets go of a lock when its process ends, in any way.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import pathlib
import stat
from collections.abc import Iterator, Mapping
from typing import IO, NamedTuple

import numpy as np

from volatilis._core.files import whole_file
from volatilis._core.store import Entry
from volatilis.running.state_files import StateFileError
from volatilis.watching.output import Report, lock
from volatilis.watching.request import LOCK_SUFFIX

FORMAT, VERSION = "volatilis-watch", 2
CHECKSUM = 32  # bytes, at the end
PIECE = 1 << 16  # rows, and bytes, at a time
LONGEST_HEADER = 1 << 26  # bytes


class Rows(NamedTuple):
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


def save(path: str | os.PathLike[str], header: Entry, arrays: Mapping[str, np.ndarray | Rows]) -> None:
    """Atomically: a crash at any moment leaves the old file whole."""
    text = json.dumps({"format": FORMAT, "version": VERSION, "arrays": list(arrays), **header})
    with whole_file(path) as file:
        hashed = _Hashed(file)
        hashed.write(text.encode() + b"\n")
        for array in arrays.values():
            if isinstance(array, Rows):
                _save_rows(hashed, array)
            else:
                np.save(hashed, array, allow_pickle=False)
        file.write(hashed.digest.digest())


def _save_rows(file: _Hashed, chosen: Rows) -> None:
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
    name = path + LOCK_SUFFIX
    while True:
        try:  # a link is not followed: who may write into the folder could make us take any file for our lock
            descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise ValueError(f"{name}, the lock of --state, is a link, and is not followed; remove it") from None
            raise OSError(error.errno, f"cannot write {name}: {error.strerror}") from None
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise ValueError(f"{name}, the lock of --state, is not a file; remove it")
            lock(descriptor, path, "--state", report)
        except ValueError:
            os.close(descriptor)
            raise
        if _is_at(name, descriptor):
            return descriptor
        os.close(descriptor)  # its last holder took it away between the two calls


def _is_at(path: str, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.lstat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False
