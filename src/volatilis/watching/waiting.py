"""What surrounds the loop: waiting for lines, signals that end a watcher, and seldom looking for garbage."""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
from collections.abc import Iterator
from types import FrameType
from typing import Any

from volatilis._core.terminal import STOPPING

OBJECTS = 100_000  # that are made before Python looks for cycles among them


@contextlib.contextmanager
def rare_collections() -> Iterator[None]:
    """A block of lines makes thousands of objects and no cycles among them: looking for some takes a twentieth of the time."""
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], OBJECTS) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


class Waiting:
    """While this context is open, Ctrl-C, SIGTERM and SIGHUP only leave a note in `caught`: no block of lines is cut in two.

    A second signal does what it would have done without this context. A signal that is ignored, as under nohup, stays ignored.
    """

    def __init__(self, output: int | None = None) -> None:
        self.caught: int | None = None
        self._output = output
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Waiting:
        self._bell, self._ring = os.pipe()
        os.set_blocking(self._bell, False)
        os.set_blocking(self._ring, False)
        self._wakeup = signal.set_wakeup_fd(self._ring, warn_on_full_buffer=False)
        for number in (signal.SIGINT, *STOPPING):
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *error: object) -> None:
        self._restore()
        signal.set_wakeup_fd(self._wakeup)
        os.close(self._bell)
        os.close(self._ring)

    def wait(self, descriptor: int | None, seconds: float | None) -> bool:
        """Until there is something to read, a signal came or the time is over; says whether there is something to read.

        Without a descriptor just for that time. Raises BrokenPipeError when nobody reads the output any more.
        """
        poll = select.poll()
        poll.register(self._bell, select.POLLIN)
        if descriptor is not None:
            poll.register(descriptor, select.POLLIN)
        if self._output is not None:
            poll.register(self._output, 0)  # only for what is always reported: that the other end is closed
        ready = dict(poll.poll(None if seconds is None else max(0.0, seconds) * 1000.0))
        if self._output is not None and self._output != descriptor and ready.get(self._output, 0) & select.POLLERR:
            raise BrokenPipeError
        return self.caught is None and descriptor in ready

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.caught = number
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}
