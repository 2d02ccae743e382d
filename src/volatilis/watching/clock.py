"""The steps of time of every key's lines.

A key's first line is at step 0, and a line t seconds after it at step round(t / interval). Steps without a line are time that
passes. An observation is a step of the learner: where two lines fall into one step, as jitter makes them do, the next step that
has none is not counted. A line of an earlier step than the one before it is late: its step has already passed without it, and
its observation is not learned, since the order of observations matters. Where ten lines in a row are late, the key's clock was
set back: its steps are counted anew.
"""

from __future__ import annotations

import contextlib
import datetime
import math
import re
from collections.abc import Callable

import numpy as np

from volatilis._compiler import Call
from volatilis.running.drivers import Array
from volatilis.tables import counted
from volatilis.watching.per_key import with_room

UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
LINES = "lines"
IN_A_ROW = 10  # late lines
MOST_STEPS = 10_000_000  # that pass at once: it would take long, and whoever has p_c above 1e-5 knows nothing any more by then
SPACINGS, KEYS = 20, 64  # how many are looked at, of the first keys
FAR = 3.0  # times --interval, or so much less: said
STEP, LATE, TWICE = 0, 1, 2  # of a key: the step of its newest line, late lines in a row, 1 where a step that had two lines waits


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
        self._first = np.zeros(0)  # the time of a key's first line; NaN before it
        self._counts = np.zeros((3, 0), dtype=np.int64)
        self._said: set[str] = set()
        self._before: dict[int, float] | None = {}  # the time of a key's line before; None: spacings were looked at
        self._spacings: list[float] = []
        self.now, self.latest = -math.inf, -math.inf  # what two lines in a row have reached; of the last line

    def elapsed(self, numbers: np.ndarray, times: np.ndarray, lines: np.ndarray) -> np.ndarray:
        """Steps that passed without a line before each of these; below 0: by so many steps it is late."""
        passed, set_back = np.zeros((2, len(numbers)), dtype=np.int64)
        if not len(numbers):
            return passed
        self._look_at_spacings(numbers, times)
        keys, seconds = np.ascontiguousarray(numbers, dtype=np.int64), np.ascontiguousarray(times, dtype=float)
        Call(count_steps, self._interval, self._first, self._counts, keys, seconds, passed, set_back)()
        if passed.min() < 0:
            i = int(np.argmax(passed < 0))
            steps = counted(-int(passed[i]), "interval")
            self._say_once("late", f"line {lines[i]} is late by {steps}: its observation is not learned")
        if set_back.any():
            i = int(set_back.argmax())
            text = f"line {lines[i]} is the {IN_A_ROW}th late line of a key in a row: its clock was set back and starts anew"
            self._say_once("back", text)
        return self._bounded(passed, lines)

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

    def _look_at_spacings(self, numbers: np.ndarray, times: np.ndarray) -> None:
        """At the first lines: is --interval about what lies between lines, and were dates taken for seconds?"""
        if self._before is None:
            return
        for key, seconds in zip(numbers.tolist(), times.tolist(), strict=True):
            if not self._before and _as_date(seconds) is not None:
                moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC).date()
                text = f"the time {seconds:.0f} is taken as seconds since 1970, {moment}; dates have dashes, {_as_date(seconds)}"
                self._report(text)
            if key in self._before:
                self._spacings.append(seconds - self._before[key])
            if key in self._before or len(self._before) < KEYS:
                self._before[key] = seconds
            if len(self._spacings) == SPACINGS:
                break
        else:
            return
        self._before, usual = None, float(np.median(self._spacings))
        if usual > 0.0 and not 1.0 / FAR < usual / self._interval < FAR:
            means = "steps without a line pass between them" if usual > self._interval else "gaps shorter than that are not seen"
            self._report(f"lines of a key are {usual:.3g} s apart, and --interval is {self._interval:.3g} s: {means}")

    def _bounded(self, passed: np.ndarray, lines: np.ndarray) -> np.ndarray:
        if len(passed) and passed.max() > MOST_STEPS:
            i = int(passed.argmax())
            self._say_once(
                "long",
                f"line {lines[i]} comes {passed[i]:,} intervals after the line before of the same key; they count as "
                f"{MOST_STEPS:,}: check the times, choose a longer --interval, or forget such keys with --forget-after",
            )
        return np.minimum(passed, MOST_STEPS)

    def _say_once(self, kind: str, message: str) -> None:
        if kind not in self._said:
            self._said.add(kind)
            self._report(f"{message} (further ones are not named)")

    # --- what is remembered of keys ----------------------------------------------------------------------------------------

    def renew(self, numbers: list[int], count: int) -> None:
        """These keys start anew; there are numbers up to `count`."""
        self._first, self._counts = with_room(self._first, count), with_room(self._counts, count)
        self._first[numbers], self._counts[:, numbers] = math.nan, 0

    def arrays(self, numbers: np.ndarray) -> dict[str, np.ndarray]:
        times = np.array([self.now, self.latest])
        return {"clock.first": self._first[numbers], "clock.counts": self._counts[:, numbers], "clock": times}

    def set_arrays(self, arrays: dict[str, np.ndarray], count: int) -> None:
        """As `arrays` gave them, for numbers from 0. Raises ValueError where they are something else."""
        first, counts, times = arrays["clock.first"], arrays["clock.counts"], arrays["clock"]
        if counts.shape != (3, count) or counts.dtype != np.int64 or (counts[LATE:] < 0).any() or (counts[TWICE] > 1).any():
            raise ValueError("the saved steps of the keys are not valid")
        if first.shape != (count,) or times.shape != (2,) or {first.dtype, times.dtype} != {np.dtype(np.float64)}:
            raise ValueError("the saved clock is not valid")
        if np.isnan(times).any() or np.isinf(first).any():
            raise ValueError("the saved clock is not valid")
        self._first, self._counts = np.array(first, order="C"), np.array(counts, order="C")
        self.now, self.latest = times.tolist()


def _as_date(seconds: float) -> datetime.date | None:
    """20260131 as the date that it looks like."""
    with contextlib.suppress(ValueError):
        return datetime.datetime.strptime(f"{seconds:.0f}", "%Y%m%d").date() if 1.9e7 < seconds < 2.2e7 else None
    return None


def count_steps(
    interval: float, first: Array, counts: Array, numbers: Array, times: Array, passed: Array, set_back: Array
) -> None:
    """`elapsed`, a line after the other; compiled."""
    for i in range(numbers.size):
        key = numbers[i]
        if first[key] != first[key]:
            first[key] = times[i]
            continue
        at = math.floor((times[i] - first[key]) / interval + 0.5)
        ahead = at - counts[STEP, key]
        if ahead >= 0:
            gap = ahead - 1 - counts[TWICE, key]
            counts[STEP, key] = at
            counts[LATE, key] = 0
            counts[TWICE, key] = 1 if gap < 0 else 0
            passed[i] = gap if gap > 0 else 0
        elif counts[LATE, key] + 1 < IN_A_ROW:
            counts[LATE, key] += 1
            passed[i] = ahead
        else:
            first[key] = times[i]
            set_back[i] = 1
            for k in range(3):
                counts[k, key] = 0
