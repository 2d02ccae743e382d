"""What is remembered of keys beside their states, and the alarms of every key."""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np

from volatilis._compiler import Call
from volatilis.changepoints import AlarmRule, KeyedAlarms
from volatilis.learners._base import Learner
from volatilis.running.drivers import Array, Outputs
from volatilis.running.steps import defined_readouts


class PerKey(Protocol):
    """What is remembered of keys outside the learner's states, such as the time of the last line: by number."""

    def renew(self, numbers: list[int], count: int) -> None:
        """These keys start anew; there are numbers up to `count`."""

    def arrays(self, numbers: np.ndarray) -> dict[str, np.ndarray]:
        """For a state file: what is remembered of these, in this order, each array under a name of its own."""

    def set_arrays(self, arrays: dict[str, np.ndarray], count: int) -> None:
        """As `arrays` gave them, for the numbers 0, 1, ... Raises ValueError or KeyError where they are something else."""


def with_room(columns: np.ndarray, count: int) -> np.ndarray:
    """The same with room for so many keys along its last axis, zeros where there was none; it doubles as needed."""
    room = columns.shape[-1]
    if count <= room:
        return columns
    more = np.zeros((*columns.shape[:-1], max(count, 2 * room) - room), dtype=columns.dtype)
    return np.concatenate([columns, more], axis=-1)


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
        self._longest = np.zeros(0)

    def of(self, out: Outputs, numbers: np.ndarray, observed: np.ndarray, elapsed: np.ndarray) -> np.ndarray:
        """Whether there is an alarm at each line, for the numbers of the keys. Time that passes raises none."""
        raised = np.zeros(len(numbers), dtype=bool)
        if self.rules.adaptation_rate is not None:
            raised = out.gamma > self.rules.adaptation_rate  # NaN where nothing was observed: none
        if self.rules.run_length is not None:
            raised = raised | self._fallen(self.rules.run_length, out.run_length, numbers, observed)
        return raised

    def _fallen(self, share: float, run_lengths: np.ndarray, numbers: np.ndarray, observed: np.ndarray) -> np.ndarray:
        fallen, seen = np.zeros(len(numbers), dtype=np.int64), np.asarray(observed, dtype=np.int64)
        keys, lengths = np.ascontiguousarray(numbers, dtype=np.int64), np.ascontiguousarray(run_lengths)
        Call(find_falls, share, self._longest, keys, lengths, seen, fallen)()
        return fallen.astype(bool)

    # --- what is remembered of keys ----------------------------------------------------------------------------------------

    def renew(self, numbers: list[int], count: int) -> None:
        """These keys start anew; there are numbers up to `count`."""
        self._longest = with_room(self._longest, count)
        self._longest[numbers] = 0.0

    def arrays(self, numbers: np.ndarray) -> dict[str, np.ndarray]:
        return {"alarms.longest": self._longest[numbers]}

    def set_arrays(self, arrays: dict[str, np.ndarray], count: int) -> None:
        """As `arrays` gave them, for numbers from 0. Raises ValueError where they are something else."""
        longest = arrays["alarms.longest"]
        if longest.shape != (count,) or longest.dtype != np.float64 or not np.isfinite(longest).all():
            raise ValueError("the longest run lengths are not valid")
        self._longest = np.array(longest)


class CalibratedAlarms:
    """The same for a rule of `volatilis calibrate`, whose rate is that of lines without gaps.

    In a gap a change may have come, whatever the lines say: a priori the probability of a recent change is 1 - (1 - p_c)^(w + k)
    with k steps of gaps among the newest w observations, not 1 - (1 - p_c)^w. What the lines themselves say is left if these odds
    take each other's place. k fades by 1 / w at each line, so that one number for a key is enough.
    """

    def __init__(self, rule: AlarmRule, p_c: float) -> None:
        self.rule, self._keyed = rule, KeyedAlarms(rule)
        self._log_stay = math.log1p(-p_c)
        self._passed = np.zeros(0)  # k of each key

    def of(self, out: Outputs, numbers: np.ndarray, observed: np.ndarray, elapsed: np.ndarray) -> np.ndarray:
        values = self.rule.statistics_of(out)
        if self.rule.within is not None and ((elapsed > 0).any() or self._passed.any()):
            values = self._without_gaps(values, numbers, elapsed, self.rule.within)
        return self._keyed.of(values, numbers, observed)

    def _without_gaps(self, values: np.ndarray, numbers: np.ndarray, elapsed: np.ndarray, within: int) -> np.ndarray:
        steps, keys = np.zeros(len(numbers)), np.ascontiguousarray(numbers, dtype=np.int64)
        Call(fade_gaps, 1.0 - 1.0 / within, self._passed, keys, np.ascontiguousarray(elapsed, dtype=np.int64), steps)()
        more = self._log_odds(within + steps) - self._log_odds(np.array([float(within)]))
        shares = np.clip(values, 0.0, 1.0)
        return shares / (shares + (1.0 - shares) * np.exp(more))

    def _log_odds(self, steps: np.ndarray) -> np.ndarray:
        return np.log(np.expm1(np.minimum(-steps * self._log_stay, SURE)))

    def renew(self, numbers: list[int], count: int) -> None:
        self._keyed.renew(np.array(numbers, dtype=np.int64))
        self._passed = with_room(self._passed, count)
        self._passed[numbers] = 0.0

    def arrays(self, numbers: np.ndarray) -> dict[str, np.ndarray]:
        return {**self._keyed.arrays(numbers), "alarms.passed": self._passed[numbers]}

    def set_arrays(self, arrays: dict[str, np.ndarray], count: int) -> None:
        self._keyed.set_arrays(arrays, count)
        passed = arrays["alarms.passed"]
        if passed.shape != (count,) or passed.dtype != np.float64 or not (np.isfinite(passed) & (passed >= 0.0)).all():
            raise ValueError("the steps of gaps before alarms are not valid")
        self._passed = np.array(passed)


# --- compiled, a line after the other ------------------------------------------------------------------------------------------


def find_falls(share: float, longest: Array, numbers: Array, run_lengths: Array, observed: Array, fallen: Array) -> None:
    """Where the run length is less than that share of the key's longest since it fell last."""
    for i in range(numbers.size):
        key = numbers[i]
        if observed[i] != 0 and run_lengths[i] < share * longest[key]:
            fallen[i] = 1
            longest[key] = run_lengths[i]
        elif run_lengths[i] > longest[key]:
            longest[key] = run_lengths[i]


def fade_gaps(fading: float, passed: Array, numbers: Array, elapsed: Array, steps: Array) -> None:
    """k of each key at each line, in `steps`."""
    for i in range(numbers.size):
        key = numbers[i]
        k = passed[key] * fading + max(elapsed[i], 0)
        passed[key] = k if k > FADED else 0.0
        steps[i] = passed[key]
