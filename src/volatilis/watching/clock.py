"""Time in the lines: how many steps passed between the lines of a key, and how late it is in the stream as a whole.

A key's first line is at step 0, and a line t seconds after it at step round(t / interval). Steps without a line are time that
passes. An observation is a step of the learner: where two lines fall into one step, as jitter makes them do, the next step that
has none is not counted. A line of an earlier step than the one before it is late: its step has already passed without it, and
its observation is not learned, since the order of observations matters. Where ten lines in a row are late, the key's clock was
set back: its steps are counted anew.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np

from volatilis.tables import counted

UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
LINES = "lines"
IN_A_ROW = 10  # late lines
MOST_STEPS = 10_000_000  # that pass at once: it would take long, and whoever has p_c above 1e-5 knows nothing any more by then


def duration(option: str, text: str, with_lines: bool = False) -> tuple[float, bool]:
    """Seconds from such as 60s, 500ms, 5m, 24h, 7d; or a number of lines (10000lines), and then True."""
    units = [*UNITS, *([LINES] if with_lines else [])]
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([a-z]+)\s*", text)
    if match is None or match[2] not in units or not float(match[1]) > 0.0:
        examples = "60s, 500ms, 5m, 24h or 7d" + (", or a number of lines, such as 10000lines," if with_lines else "")
        raise ValueError(f"{option} {text!r} is not accepted; {examples} are")
    if match[2] == LINES:
        return float(match[1]), True
    seconds = float(match[1]) * UNITS[match[2]]
    if not UNITS["ms"] <= seconds <= 1e11:
        raise ValueError(f"{option} {text!r} is not accepted; times from 1ms to 1000000d are")
    return seconds, False


class Clock:
    """The steps of every key, by its number. `elapsed` says how many passed before each line."""

    def __init__(self, interval: float, report: Callable[[str], None]) -> None:
        self._interval, self._report = interval, report
        self._first: list[float] = []  # the time of a key's first line; NaN before it
        self._step: list[int] = []  # of its newest line
        self._late: list[int] = []  # late lines in a row
        self._twice: list[int] = []  # 1 where a step had two lines and none was left out for it yet
        self._said: set[str] = set()
        self.now, self.latest = -math.inf, -math.inf  # what two lines in a row have reached; of the last line

    def elapsed(self, numbers: np.ndarray, times: np.ndarray, lines: np.ndarray) -> np.ndarray:
        """Steps that passed without a line before each of these; below 0: by so many steps it is late."""
        first, step, late, twice, interval = self._first, self._step, self._late, self._twice, self._interval
        passed = []
        for i, (number, time) in enumerate(zip(numbers.tolist(), times.tolist(), strict=True)):
            start = first[number]
            if start != start:
                first[number] = time
                passed.append(0)
                continue
            at = math.floor((time - start) / interval + 0.5)
            ahead = at - step[number]
            if ahead >= 0:
                gap = ahead - 1 - twice[number]
                late[number], step[number], twice[number] = 0, at, int(gap < 0)
                passed.append(gap if gap > 0 else 0)
            elif late[number] + 1 < IN_A_ROW:
                late[number] += 1
                passed.append(ahead)
                self._say_once(
                    "late", f"line {lines[i]} is late by {counted(-ahead, 'interval')}: its observation is not learned"
                )
            else:
                first[number], step[number], late[number], twice[number] = time, 0, 0, 0
                passed.append(0)
                self._say_once(
                    "back",
                    f"line {lines[i]} is the {IN_A_ROW}th late line of a key in a row: its clock was set back and starts anew",
                )
        return self._bounded(np.array(passed, dtype=np.int64), lines)

    def ticks(self, times: np.ndarray) -> np.ndarray:
        """The stream's own time at each line: the newest that two lines in a row have reached, so that one wrong time does not
        move it."""
        if not len(times):
            return times
        before = times[0] if math.isinf(self.latest) else self.latest
        reached = np.minimum(times, np.concatenate([[before], times[:-1]]))
        ticks = np.maximum.accumulate(np.concatenate([[self.now], reached]))[1:]
        self.now, self.latest = float(ticks[-1]), float(times[-1])
        return ticks

    def _bounded(self, passed: np.ndarray, lines: np.ndarray) -> np.ndarray:
        if len(passed) and passed.max() > MOST_STEPS:
            i = int(passed.argmax())
            self._say_once(
                "long",
                f"line {lines[i]} comes {passed[i]:,} intervals after its key's line before: {MOST_STEPS:,} are taken; check the "
                "times, choose a longer --interval, or let such keys go with --forget-after",
            )
        return np.minimum(passed, MOST_STEPS)

    def _say_once(self, kind: str, message: str) -> None:
        if kind not in self._said:
            self._said.add(kind)
            self._report(f"{message} (further ones are not named)")

    # --- what is remembered of keys ----------------------------------------------------------------------------------------

    def renew(self, numbers: list[int], count: int) -> None:
        """These keys start anew; there are numbers up to `count`."""
        self._first += [math.nan] * (count - len(self._first))
        for counts in (self._step, self._late, self._twice):
            counts += [0] * (count - len(counts))
        for number in numbers:
            self._first[number], self._step[number], self._late[number], self._twice[number] = math.nan, 0, 0, 0

    def arrays(self, numbers: np.ndarray) -> dict[str, np.ndarray]:
        first = np.array(self._first, dtype=np.float64)[numbers]
        counts = np.array([self._step, self._late, self._twice], dtype=np.int64)[:, numbers]
        return {"clock.first": first, "clock.counts": counts, "clock": np.array([self.now, self.latest])}

    def set_arrays(self, arrays: dict[str, np.ndarray], count: int) -> None:
        """As `arrays` gave them, for numbers from 0. Raises ValueError where they are something else."""
        first, counts, own = arrays["clock.first"], arrays["clock.counts"], arrays["clock"]
        if counts.shape != (3, count) or counts.dtype != np.int64 or (counts[1:] < 0).any() or (counts[2] > 1).any():
            raise ValueError("the saved steps of the keys are not valid")
        if first.shape != (count,) or own.shape != (2,) or {first.dtype, own.dtype} != {np.dtype(np.float64)}:
            raise ValueError("the saved clock is not valid")
        if np.isnan(own).any() or np.isinf(first).any():
            raise ValueError("the saved clock is not valid")
        self._first = first.tolist()
        self._step, self._late, self._twice = counts.tolist()
        self.now, self.latest = own.tolist()
