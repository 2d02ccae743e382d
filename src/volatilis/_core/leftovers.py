"""Hidden files and folders that are not finished yet: those of a process that was killed are taken away by the next one.

Whoever writes one holds a lock on it, and the kernel lets go of it when the process ends in any way. So what can be locked was
left behind. Where there are no locks (Windows, some network file systems) nothing is taken away.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import shutil
import tempfile
from types import ModuleType

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:
    fcntl = None

RANDOM = "[a-z0-9_]+"  # what tempfile puts between prefix and suffix


def unfinished_file(folder: pathlib.Path, prefix: str, suffix: str) -> tuple[int, str]:
    """A new file that is this process's own: its descriptor, which holds the lock, and its name."""
    _take_away(folder, prefix, suffix)
    while True:
        descriptor, path = tempfile.mkstemp(dir=folder, prefix=prefix, suffix=suffix)
        if _hold(descriptor, path):
            return descriptor, path
        os.close(descriptor)


def unfinished_folder(folder: pathlib.Path, prefix: str) -> tuple[int | None, str]:
    """The same for a folder. The descriptor is to be closed when it is done with; None where there are no locks."""
    _take_away(folder, prefix, "")
    while True:
        path = tempfile.mkdtemp(dir=folder, prefix=prefix)
        if fcntl is None:
            return None, path
        descriptor = os.open(path, os.O_RDONLY)
        if _hold(descriptor, path):
            return descriptor, path
        os.close(descriptor)


def _hold(descriptor: int, path: str) -> bool:
    """Lock it; False where another process took it for left behind before it was locked."""
    if fcntl is None:
        return True
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _take_away(folder: pathlib.Path, prefix: str, suffix: str) -> None:
    """What a process that is no more has left under such names; what cannot be taken away stays, and does no harm."""
    named = re.compile(re.escape(prefix) + RANDOM + re.escape(suffix))
    with contextlib.suppress(OSError):
        for path in [path for path in folder.iterdir() if named.fullmatch(path.name)]:
            with contextlib.suppress(OSError):
                _take_away_one(path)


def _take_away_one(path: pathlib.Path) -> None:
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
