"""What is remembered of keys beside their states: the steps of time of their lines, and what their alarms need.

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
from typing import NamedTuple, Protocol

import numpy as np

from volatilis.changepoints import AlarmRule, KeyedAlarms
from volatilis.learners._base import Learner
from volatilis.running.drivers import Outputs
from volatilis.running.steps import defined_readouts
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


class PerKey(Protocol):
    """What is remembered of keys outside the learner's states, such as the time of the last line: by number."""

    def renew(self, numbers: list[int], count: int) -> None:
        """These keys start anew; there are numbers up to `count`."""

    def arrays(self, numbers: np.ndarray) -> dict[str, np.ndarray]:
        """For a state file: what is remembered of these, in this order, each array under a name of its own."""

    def set_arrays(self, arrays: dict[str, np.ndarray], count: int) -> None:
        """As `arrays` gave them, for the numbers 0, 1, ... Raises ValueError or KeyError where they are something else."""


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


# --- alarms: a high adaptation rate, or an expected run length that fell ---------------------------------------------------


DEFAULT = 0.5
FADED, SURE = 0.5, 30.0  # steps of gaps that are none any more; the log odds of what is sure


class Rules(NamedTuple):
    """Above which adaptation rate, and below which share of the longest run length since the last alarm; None: no such rule."""

    adaptation_rate: float | None
    run_length: float | None


def rules_for(learner: Learner, adaptation_rate: float | None, run_length: float | None) -> Rules:
    """Checked for a learner. Without any rule the adaptation rate counts, if the learner has one."""
    name = type(learner).__name__
    defined = "adaptation_rate" in defined_readouts(learner)
    if adaptation_rate is not None and not defined:
        raise ValueError(f"--alarm {adaptation_rate}: {name} has no adaptation rate; use --alarm-run-length")
    for option, value in (("--alarm", adaptation_rate), ("--alarm-run-length", run_length)):
        if value is not None and not 0.0 <= value <= 1.0:
            raise ValueError(f"{option} {value}: a number from 0 to 1 is accepted")
    if adaptation_rate is None and defined:
        adaptation_rate = DEFAULT
    return Rules(adaptation_rate, run_length)


class Alarms:
    """Applies the rules; remembers for every key the longest run length since its last alarm."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._longest: list[float] = []

    def of(self, out: Outputs, numbers: np.ndarray, observed: np.ndarray, elapsed: np.ndarray) -> np.ndarray:
        """Whether there is an alarm at each line, for the numbers of the keys. Time that passes raises none."""
        raised = np.zeros(len(numbers), dtype=bool)
        if self.rules.adaptation_rate is not None:
            raised = out.gamma > self.rules.adaptation_rate  # NaN where nothing was observed: none
        if self.rules.run_length is not None:
            raised = raised | self._fallen(self.rules.run_length, out.run_length, numbers, observed)
        return raised

    def _fallen(self, share: float, run_lengths: np.ndarray, numbers: np.ndarray, observed: np.ndarray) -> np.ndarray:
        longest = self._longest
        fallen = np.zeros(len(numbers), dtype=bool)
        steps = zip(numbers.tolist(), run_lengths.tolist(), observed.tolist(), strict=True)
        for i, (number, run_length, is_observed) in enumerate(steps):
            if is_observed and run_length < share * longest[number]:
                fallen[i], longest[number] = True, run_length
            elif run_length > longest[number]:
                longest[number] = run_length
        return fallen

    # --- what is remembered of keys ----------------------------------------------------------------------------------------

    def renew(self, numbers: list[int], count: int) -> None:
        """These keys start anew; there are numbers up to `count`."""
        self._longest += [0.0] * (count - len(self._longest))
        for number in numbers:
            self._longest[number] = 0.0

    def arrays(self, numbers: np.ndarray) -> dict[str, np.ndarray]:
        return {"alarms.longest": np.array(self._longest, dtype=np.float64)[numbers]}

    def set_arrays(self, arrays: dict[str, np.ndarray], count: int) -> None:
        """As `arrays` gave them, for numbers from 0. Raises ValueError where they are something else."""
        longest = arrays["alarms.longest"]
        if longest.shape != (count,) or longest.dtype != np.float64 or not np.isfinite(longest).all():
            raise ValueError("the longest run lengths are not valid")
        self._longest = longest.tolist()


class CalibratedAlarms:
    """The same for a rule of `volatilis calibrate`, whose rate is that of lines without gaps.

    In a gap a change may have come, whatever the lines say: a priori the probability of a recent change is 1 - (1 - p_c)^(w + k)
    with k steps of gaps among the newest w observations, not 1 - (1 - p_c)^w. What the lines themselves say is left if these odds
    take each other's place. k fades by 1 / w at each line, so that one number for a key is enough.
    """

    def __init__(self, rule: AlarmRule, p_c: float) -> None:
        self.rule, self._keyed = rule, KeyedAlarms(rule)
        self._log_stay = math.log1p(-p_c)
        self._passed: list[float] = []  # k of each key

    def of(self, out: Outputs, numbers: np.ndarray, observed: np.ndarray, elapsed: np.ndarray) -> np.ndarray:
        values = self.rule.statistics_of(out)
        if self.rule.within is not None and ((elapsed > 0).any() or any(self._passed)):
            values = self._without_gaps(values, numbers, elapsed, self.rule.within)
        return self._keyed.of(values, numbers, observed)

    def _without_gaps(self, values: np.ndarray, numbers: np.ndarray, elapsed: np.ndarray, within: int) -> np.ndarray:
        passed, fading, steps = self._passed, 1.0 - 1.0 / within, np.zeros(len(numbers))
        for i, (number, gap) in enumerate(zip(numbers.tolist(), elapsed.tolist(), strict=True)):
            k = passed[number] * fading + max(gap, 0)
            passed[number] = steps[i] = k if k > FADED else 0.0
        more = self._log_odds(within + steps) - self._log_odds(np.array([float(within)]))
        shares = np.clip(values, 0.0, 1.0)
        return shares / (shares + (1.0 - shares) * np.exp(more))

    def _log_odds(self, steps: np.ndarray) -> np.ndarray:
        return np.log(np.expm1(np.minimum(-steps * self._log_stay, SURE)))

    def renew(self, numbers: list[int], count: int) -> None:
        self._keyed.renew(np.array(numbers, dtype=np.int64))
        self._passed += [0.0] * (count - len(self._passed))
        for number in numbers:
            self._passed[number] = 0.0

    def arrays(self, numbers: np.ndarray) -> dict[str, np.ndarray]:
        return {**self._keyed.arrays(numbers), "alarms.passed": np.array(self._passed, dtype=np.float64)[numbers]}

    def set_arrays(self, arrays: dict[str, np.ndarray], count: int) -> None:
        self._keyed.set_arrays(arrays, count)
        passed = arrays["alarms.passed"]
        if passed.shape != (count,) or passed.dtype != np.float64 or not (np.isfinite(passed) & (passed >= 0.0)).all():
            raise ValueError("the steps of gaps before alarms are not valid")
        self._passed = passed.tolist()
