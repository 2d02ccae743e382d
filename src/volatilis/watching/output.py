"""Where lines are written: on standard output or in a file.

In a file every line stands once, also after kill -9: what was written after the last saved state is cut off.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import stat
import sys
from collections.abc import Callable

STANDARD_OUTPUT = "-"

Report = Callable[[str], None]


class Output:
    """Writes whole lines at once."""

    def __init__(self, path: str, saved: int | None, report: Report) -> None:
        """`saved` is the length that the file had when the state was saved."""
        self.path = path
        self._is_standard = path == STANDARD_OUTPUT
        if self._is_standard:
            if sys.stdout is None:
                raise ValueError("standard output is closed; give it a reader or a file, or name a file with --out")
            sys.stdout.flush()
            self.descriptor = sys.stdout.fileno()
        else:
            self._is_new = not os.path.lexists(path)
            self.descriptor = _opened(path)
            try:
                self._begin(saved, report)
            except BaseException:
                os.close(self.descriptor)
                raise

    @property
    def is_empty(self) -> bool:
        """Whether a header belongs at its beginning: nothing is known of a pipe, so it is new."""
        status = os.fstat(self.descriptor)
        return not stat.S_ISREG(status.st_mode) or status.st_size == 0

    def length(self) -> int | None:
        """To be saved with the state."""
        return None if self._is_standard else os.fstat(self.descriptor).st_size

    def write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(self.descriptor, rest) :]
            except BlockingIOError:  # whoever shares the other end does not want to wait; we do
                poll = select.poll()
                poll.register(self.descriptor, select.POLLOUT)
                poll.poll()
            except OSError as error:
                name = "standard output" if self._is_standard else self.path
                raise OSError(error.errno, f"cannot write {name}: {error.strerror}") from None

    def close(self, failed: bool = False) -> None:
        """After a failure a file that was made here, and in which nothing stands, is taken away."""
        if self._is_standard:
            return
        with contextlib.suppress(OSError):
            if failed and self._is_new and self.is_empty:
                os.unlink(self.path)
        os.close(self.descriptor)

    def _begin(self, saved: int | None, report: Report) -> None:
        if stat.S_ISREG(os.fstat(self.descriptor).st_mode):  # two may well write to one pipe or to /dev/null
            lock(self.descriptor, self.path, "--out", report)
        if saved is not None:
            self._cut(saved, report)

    def _cut(self, saved: int, report: Report) -> None:
        size = os.fstat(self.descriptor).st_size
        if size > saved:
            os.ftruncate(self.descriptor, saved)
        elif size < saved:
            report(f"{self.path} is shorter than it was when the state was saved: lines are added at its end")


def _opened(path: str) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
    except IsADirectoryError:
        raise ValueError(f"--out {path} is a folder; the name of a file is accepted, or - for standard output") from None
    except OSError as error:
        raise OSError(error.errno, f"cannot write {path}: {error.strerror}") from None


def lock(descriptor: int, path: str, option: str, report: Report) -> None:
    """Refuses where another process has it; where locks cannot be had at all, that is reported."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ValueError(
            f"{path} is in use: another volatilis watch has it as {option}; stop that one first, or give {option} another name"
        ) from None
    except OSError as error:
        report(f"{path} cannot be locked ({error.strerror}): take care that no other volatilis watch has it as {option}")
