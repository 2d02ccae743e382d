"""What each part of a run has cost: time, processor time and memory, summed over all the runs that went on in one folder."""

from __future__ import annotations

import json
import pathlib
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from volatilis._core.files import write_text

EVERY = 5.0  # seconds between writes: no more than this is lost when a run is killed


class Cost(NamedTuple):
    """Seconds on the clock, and seconds of all processor cores together in this process."""

    seconds: float = 0.0
    processor_seconds: float = 0.0

    def plus(self, other: Cost) -> Cost:
        return Cost(self.seconds + other.seconds, self.processor_seconds + other.processor_seconds)


class Ledger:
    """`with ledger.part(name)` charges what happens inside to a name; a part within a part is charged to the inner one only."""

    def __init__(self, path: pathlib.Path) -> None:
        self._path = path
        self.costs, self.memory = self._read()
        self._parts: list[str] = []
        self._charged_until = self._written = Cost()

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        self.charge()
        self._parts.append(name)
        try:
            yield
        finally:
            self.charge()
            self._parts.pop()
            self._write()

    def charge(self) -> None:
        """What was spent since the last charge goes to the part that is open."""
        now = Cost(time.perf_counter(), time.process_time())
        if self._parts:
            spent = Cost(*(new - old for new, old in zip(now, self._charged_until, strict=True)))
            self.costs[self._parts[-1]] = self.costs.get(self._parts[-1], Cost()).plus(spent)
            self.memory = max(self.memory, most_memory())
            if now.seconds - self._written.seconds > EVERY:
                self._write()
                self._written = now
        self._charged_until = now

    def total(self) -> Cost:
        total = Cost()
        for cost in self.costs.values():
            total = total.plus(cost)
        return total

    def _read(self) -> tuple[dict[str, Cost], float]:
        try:
            content = json.loads(self._path.read_text())
            costs = {str(name): Cost(float(cost[0]), float(cost[1])) for name, cost in content["costs"].items()}
            return costs, float(content["memory"])
        except FileNotFoundError:
            return {}, 0.0
        except (ValueError, TypeError, KeyError, IndexError, AttributeError):
            print(f"{self._path} is damaged: times are counted anew, those of earlier runs are lost", file=sys.stderr)
            return {}, 0.0

    def _write(self) -> None:
        write_text(self._path, json.dumps({"costs": self.costs, "memory": self.memory}, indent=1))


def most_memory() -> float:
    """The largest resident memory of this program so far, in bytes."""
    status = pathlib.Path("/proc/self/status")
    if status.is_file():  # Linux, where the other number begins with what the maker of the process had
        return 1024.0 * next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak if sys.platform == "darwin" else peak * 1024)
