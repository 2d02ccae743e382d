"""Progress on the terminal: one bar per piece of work, with the time left; plain lines where there is no terminal."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

EVERY = 20.0  # seconds between plain lines


class Bars:
    """Bars for what is being done; `update(what, share)` moves one, and makes it when it is new."""

    def __enter__(self) -> Bars:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        console = Console(stderr=True)
        self._terminal = console.is_terminal
        self._tasks: dict[str, Any] = {}
        self._said: dict[str, float] = {}
        self._finished: set[str] = set()
        columns = (TextColumn("{task.description:32}"), BarColumn(), TextColumn("{task.percentage:5.1f} %"))
        times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
        self._progress = Progress(*columns, *times, console=console, disable=not self._terminal, speed_estimate_period=600)
        self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def stop(self) -> None:
        self._progress.stop()

    def update(self, what: str, share: float) -> None:
        share = min(max(share, 0.0), 1.0)
        if what not in self._tasks:
            self._tasks[what] = self._progress.add_task(what, total=1.0)
        self._progress.update(self._tasks[what], completed=share)
        now = time.monotonic()
        waited = now - self._said.get(what, -EVERY) >= EVERY
        if not self._terminal and what not in self._finished and (share == 1.0 or waited):
            self._said[what] = now
            print(f"{what}: {100.0 * share:.1f} %", file=sys.stderr, flush=True)
        if share == 1.0:
            self._finished.add(what)
