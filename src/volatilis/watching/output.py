"""What is written, each whole: lines on standard output or in a file, and counts for Prometheus; and the locks of both files.

In a file every line stands once, also after kill -9: what was written after the last saved state is cut off.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import select
import stat
import sys
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from volatilis._core.files import write_text
from volatilis.tables import counted
from volatilis.watching.request import LOCK_SUFFIX, Summary

STANDARD_OUTPUT = "-"
PIECE = 1 << 20  # bytes that are looked through at a time

Report = Callable[[str], None]


class Output:
    """Writes whole lines at once."""

    def __init__(self, path: str, saved: int | None, report: Report) -> None:
        """`saved` is the length that the file had when the state was saved: `settle` comes before anything is written."""
        self.path, self._saved, self._report = path, saved, report
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
                if stat.S_ISREG(os.fstat(self.descriptor).st_mode):  # two may well write to one pipe or to /dev/null
                    lock(self.descriptor, self.path, "--out", report)
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

    def settle(self, comes_again: bool) -> None:
        """What was written after the state was saved is cut off if its lines come again; else it stays."""
        if self._saved is None:
            return
        size = os.fstat(self.descriptor).st_size
        if size > self._saved and comes_again:
            os.ftruncate(self.descriptor, self._saved)
        elif size > self._saved:
            self._keep(self._saved, size)
        elif size < self._saved:
            self._report(f"{self.path} is shorter than it was when the state was saved: lines are added at its end")

    def _keep(self, start: int, size: int) -> None:
        """Whole lines, that is; there may be half a one behind them."""
        lines, end = 0, start
        while start < size and (data := os.pread(self.descriptor, PIECE, start)):
            lines += data.count(b"\n")
            end = start + data.rfind(b"\n") + 1 if b"\n" in data else end
            start += len(data)
        os.ftruncate(self.descriptor, end)
        self._report(
            f"{self.path}: {counted(lines, 'line')} written after the state was saved {'is' if lines == 1 else 'are'} kept; what "
            "was learned from the input of these is lost, since it cannot be read again"
        )


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


# --- the lock of a state -----------------------------------------------------------------------------------------------------


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


# --- counts for Prometheus, in its text format -----------------------------------------------------------------------------


METRICS_EVERY = 5.0  # seconds between two writes
PREFIX = "volatilis_watch_"


class Lag(NamedTuple):
    """How far behind the watcher is: bytes of a file that it has not read, and seconds since the newest time in the lines."""

    input_bytes: int | None
    seconds: float | None


class Metrics:
    """Writes the counts every few seconds. `path` None: nowhere."""

    def __init__(self, path: str | None) -> None:
        self._path, self._next = path, 0.0

    def seconds_left(self) -> float | None:
        """Until the next write; None where nothing is written."""
        return None if self._path is None else max(0.0, self._next - time.monotonic())

    def write(self, summary: Summary, lag: Lag) -> None:
        if self._path is not None:
            self._next = time.monotonic() + METRICS_EVERY
            write_text(self._path, text(summary, lag))


def text(summary: Summary, lag: Lag) -> str:
    """Counters go on over restarts with the same --state."""
    counters = {
        "lines_total": (summary.lines, "Lines read, empty ones apart."),
        "observations_total": (summary.observations, "Observations learned."),
        "missing_total": (summary.missing, "Lines whose observation is missing."),
        "late_lines_total": (summary.late, "Lines whose time lies before that of an earlier line of the same key; not learned."),
        "bad_lines_total": (summary.bad_lines, "Lines that could not be used."),
        "alarms_total": (summary.alarms, "Lines with an alarm."),
        "forgotten_keys_total": (summary.forgotten, "Keys forgotten by --forget-after or --max-keys."),
    }
    gauges = {
        "keys": (summary.keys, "Keys remembered now."),
        "lag_bytes": (lag.input_bytes, "Bytes of the input file that are not read yet."),
        "lag_seconds": (lag.seconds, "Seconds from the newest time in the lines to now."),
        "written_timestamp_seconds": (round(time.time(), 3), "When this file was written, in seconds since 1970."),
    }
    parts = [_metric(name, "counter", *value) for name, value in counters.items()]
    parts += [_metric(name, "gauge", value, words) for name, (value, words) in gauges.items() if value is not None]
    return "".join(parts)


def _metric(name: str, kind: str, value: float, words: str) -> str:
    return f"# HELP {PREFIX}{name} {words}\n# TYPE {PREFIX}{name} {kind}\n{PREFIX}{name} {value}\n"
