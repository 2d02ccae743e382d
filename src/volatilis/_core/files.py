"""Files and folders that are whole or not there: every file that volatilis writes gets its name through this module.

Until it is whole, a file is hidden beside its final place (`.NAME.xxxxxxxx.partial`). An error, Ctrl-C, SIGTERM or SIGHUP
removes it (`_core.signals`); what a killed process left behind is removed by the next one that writes the same name. Whoever
writes a hidden file holds a lock on it, and the kernel releases the lock when the process ends in any way: so what can be
locked was left behind. Where there are no locks (Windows, some network file systems) nothing is removed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import pathlib
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import IO

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:
    fcntl = None

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # error numbers of a full disk
PARTIAL = ".partial"
RANDOM = "[a-z0-9_]+"  # between prefix and suffix of a hidden name; earlier releases left the choice to tempfile
_unfinished: set[str] = set()  # hidden files and folders of this process, from before they are made until they are gone

Path = str | os.PathLike[str]


@contextlib.contextmanager
def whole_file(path: Path, *, private: bool = False) -> Iterator[IO[bytes]]:
    """A file that gets its name when it is whole: a crash or an error leaves what was there before.

    private   only the user may read it; otherwise the process's umask decides

    Raises OSError "cannot write PATH: ..." where the path cannot be written or the disk is full.
    """
    place = _final_place(pathlib.Path(path))
    try:
        handle, partial = _unfinished_file(place.parent, f".{place.name}.", PARTIAL)
    except OSError as error:
        raise OSError(error.errno, f"cannot write {path}: {error.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            if not private:
                os.chmod(partial, 0o666 & ~_umask())
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, place)
    except OSError as error:
        if error.errno not in NO_ROOM:  # of something else inside the context, such as reading the input
            raise
        raise OSError(error.errno, f"cannot write {path}: {error.strerror or error}") from None
    finally:
        _remove(partial)


def write_text(path: Path, text: str) -> None:
    """A whole file of UTF-8 text."""
    with whole_file(path) as file:
        file.write(text.encode())


@contextlib.contextmanager
def hidden_folder(folder: pathlib.Path, prefix: str) -> Iterator[pathlib.Path]:
    """A new hidden folder inside `folder`, to prepare files in; whatever is still in it at the end is removed."""
    lock, path = _unfinished_folder(folder, prefix)
    try:
        yield pathlib.Path(path)
    finally:
        _remove(path)
        if lock is not None:
            os.close(lock)


@contextlib.contextmanager
def standard_output(instead: str = "") -> Iterator[IO[bytes]]:
    """The bytes of standard output, flushed at the end.

    Raises OSError with a clear message where it is closed or its disk is full; a reader that went away is a BrokenPipeError.
    """
    if sys.stdout is None:
        raise OSError(f"standard output is closed; give it a reader or a file{instead}")
    try:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        raise OSError(error.errno, f"cannot write standard output: {error.strerror}") from None


# --- hidden until it is whole --------------------------------------------------------------------------------------------


def _final_place(path: pathlib.Path) -> pathlib.Path:
    """Where a link leads; what cannot be replaced by a file is refused before the work."""
    place = pathlib.Path(os.path.realpath(path))
    if place.is_symlink():
        raise OSError(errno.ELOOP, f"cannot write {path}: {os.strerror(errno.ELOOP)}")
    if place.is_dir():
        raise OSError(errno.EISDIR, f"cannot write {path}: it is a folder")
    if place.exists() and not place.is_file():
        raise OSError(errno.EINVAL, f"cannot write {path}: it is a device or a pipe, not a file; --out - is standard output")
    return place


def _unfinished_file(folder: pathlib.Path, prefix: str, suffix: str) -> tuple[int, str]:
    """A new file of this process: its descriptor, which holds the lock, and its name."""
    _remove_leftovers(folder, prefix, suffix)
    while True:
        path = _new_name(folder, prefix, suffix)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        if _lock(descriptor, path):
            return descriptor, path
        os.close(descriptor)


def _unfinished_folder(folder: pathlib.Path, prefix: str) -> tuple[int | None, str]:
    """The same for a folder; the descriptor is None where there are no locks."""
    _remove_leftovers(folder, prefix, "")
    while True:
        path = _new_name(folder, prefix, "")
        os.mkdir(path, 0o700)
        if fcntl is None:
            return None, path
        descriptor = os.open(path, os.O_RDONLY)
        if _lock(descriptor, path):
            return descriptor, path
        os.close(descriptor)


def _new_name(folder: pathlib.Path, prefix: str, suffix: str) -> str:
    """A name that nobody has, noted before anything is there: a signal may come at any moment."""
    path = os.path.abspath(folder / f"{prefix}{secrets.token_hex(8)}{suffix}")
    _unfinished.add(path)
    return path


def _remove(path: str) -> None:
    """A hidden file or folder, where it is still there."""
    with contextlib.suppress(OSError):
        if os.path.isdir(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            os.unlink(path)
    _unfinished.discard(path)


def remove_unfinished() -> None:
    """All hidden files and folders of this process; for a program that is about to end."""
    for path in list(_unfinished):
        _remove(path)


def _lock(descriptor: int, path: str) -> bool:
    """Lock it; False where another process took it for a leftover before it was locked."""
    if fcntl is None:
        return True
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _remove_leftovers(folder: pathlib.Path, prefix: str, suffix: str) -> None:
    """Remove what a process that has ended left under such names; what cannot be removed stays, and does no harm."""
    named = re.compile(re.escape(prefix) + RANDOM + re.escape(suffix))
    with contextlib.suppress(OSError):
        for path in [path for path in folder.iterdir() if named.fullmatch(path.name)]:
            with contextlib.suppress(OSError):
                _remove_if_unlocked(path)


def _remove_if_unlocked(path: pathlib.Path) -> None:
    if fcntl is None or path.is_symlink():
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    finally:
        os.close(descriptor)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


# --- many files at once: each gets its name when all of them are whole -------------------------------------------------

PREFIX = ".volatilis."
WRITERS = 16  # threads: each waits for the disk, and the disk takes many files as fast as one


class Staged:
    """Files in a hidden folder beside their final places."""

    def __init__(self, folder: pathlib.Path, overwrite: bool) -> None:
        self._folder, self._overwrite = folder, overwrite
        self._hidden: pathlib.Path | None = None
        self._open = contextlib.ExitStack()  # holds the hidden folder
        self._made: list[pathlib.Path] = []

    def add(self, files: Mapping[str, str], progress: Callable[[float], None] = lambda share: None) -> None:
        """Write them where nobody sees them; an error if one is there already and may not be replaced."""
        existing = [name for name in files if (self._folder / name).exists()]
        if existing and not self._overwrite:
            more = f" and {len(existing) - 1} more of these files" if len(existing) > 1 else ""
            raise ValueError(
                f"{self._folder} already holds {existing[0]}{more}; --overwrite replaces them, or name another folder; "
                "nothing was written"
            )
        try:
            self._made = [path for path in (self._folder, *self._folder.parents) if not path.exists()]
            self._folder.mkdir(parents=True, exist_ok=True)
            self._hidden = self._open.enter_context(hidden_folder(self._folder, PREFIX))
        except OSError as error:
            raise OSError(error.errno, f"cannot write into {self._folder}: {error.strerror}") from None
        with ThreadPoolExecutor(WRITERS) as pool:
            work = [pool.submit(self._write, self._hidden / name, text) for name, text in files.items()]
            try:
                for done, future in enumerate(work, 1):
                    future.result()
                    progress(done / len(work))
            finally:
                pool.shutdown(cancel_futures=True)

    def _write(self, path: pathlib.Path, text: str) -> None:
        try:
            with path.open("w", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            why = os.strerror(error.errno) if error.errno else str(error)
            raise OSError(error.errno, f"cannot write {self._folder / path.name}: {why}; nothing was written") from None

    def commit(self) -> None:
        """Give every file its name."""
        if self._hidden is not None:
            for file in sorted(self._hidden.iterdir()):
                os.replace(file, self._folder / file.name)
            self._made = []

    def discard(self) -> None:
        """Remove what did not get its name, and the folders that were made for it."""
        self._open.close()
        for path in self._made:
            with contextlib.suppress(OSError):
                path.rmdir()


@contextlib.contextmanager
def staged(folder: str, overwrite: bool) -> Iterator[Staged]:
    """`with staged(...) as files: files.add({name: text}); files.commit()`"""
    files = Staged(pathlib.Path(folder), overwrite)
    try:
        yield files
    finally:
        files.discard()
