"""One watcher at a time for a state and for an output file. The kernel lets go of a lock when its process ends, in any way."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator

SUFFIX = ".lock"


@contextlib.contextmanager
def state_locked(path: str | None, report: Callable[[str], None]) -> Iterator[None]:
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
                os.unlink(path + SUFFIX)
        os.close(descriptor)


def lock(descriptor: int, path: str, option: str, report: Callable[[str], None]) -> None:
    """Refuses where another process has it; where locks cannot be had at all, that is reported."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ValueError(
            f"{path} is in use: another volatilis watch has it as {option}; stop that one first, or give {option} another name"
        ) from None
    except OSError as error:
        report(f"{path} cannot be locked ({error.strerror}): take care that no other volatilis watch has it as {option}")


def _locked_file(path: str, report: Callable[[str], None]) -> int:
    while True:
        try:
            descriptor = os.open(path + SUFFIX, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise OSError(error.errno, f"cannot write {path}{SUFFIX}: {error.strerror}") from None
        try:
            lock(descriptor, path, "--state", report)
        except ValueError:
            os.close(descriptor)
            raise
        if _is_at(path + SUFFIX, descriptor):
            return descriptor
        os.close(descriptor)  # its last holder took it away between the two calls


def _is_at(path: str, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False
