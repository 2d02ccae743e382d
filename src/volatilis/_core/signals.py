"""SIGTERM and SIGHUP end a command as Ctrl-C does: files that are not whole are removed, and nothing is left half-written."""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from collections.abc import Iterator
from types import FrameType

from volatilis._core.files import remove_unfinished

# What ends a command besides Ctrl-C; Windows has no SIGHUP
STOPPING = (signal.SIGTERM,) if sys.platform == "win32" else (signal.SIGTERM, signal.SIGHUP)
CLEAN_UP = 10.0  # seconds in which a further signal does not disturb the cleaning up


class Stopped(KeyboardInterrupt):
    """A signal came. It passes through code as Ctrl-C does: whatever cleans up after Ctrl-C cleans up after it, too."""


@contextlib.contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Within this context SIGTERM and SIGHUP raise `Stopped`, and the program's exit code is 128 + the signal's number.

    A signal that was ignored before stays ignored: a command that was started with nohup goes on without its terminal.
    """
    caught: list[int] = []
    last = -CLEAN_UP

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal last
        if time.monotonic() - last >= CLEAN_UP:
            last = time.monotonic()
            caught.append(number)
            raise Stopped

    before = {number: signal.getsignal(number) for number in STOPPING}
    for number in STOPPING:
        if before[number] is signal.SIG_DFL:
            signal.signal(number, stop)
    try:
        yield
    except BaseException:
        remove_unfinished()  # where a signal or Ctrl-C came just before a file was taken care of
        if caught:  # also where a closed terminal made a second error of it
            raise SystemExit(128 + caught[0]) from None
        raise
    finally:
        for number in STOPPING:  # a further signal does not disturb the interpreter's own end either
            signal.signal(number, signal.SIG_IGN if caught else before[number])
