"""When to raise an alarm: a high adaptation rate, or an expected run length that fell."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from volatilis.changepoints import AlarmRule, KeyedAlarms
from volatilis.learners._base import Learner
from volatilis.running.drivers import Outputs
from volatilis.running.steps import defined_readouts

DEFAULT = 0.5


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

    def of(self, out: Outputs, numbers: np.ndarray, observed: np.ndarray) -> np.ndarray:
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
    """The same for a rule of `volatilis calibrate`."""

    def __init__(self, rule: AlarmRule) -> None:
        self.rule, self._keyed = rule, KeyedAlarms(rule)

    def of(self, out: Outputs, numbers: np.ndarray, observed: np.ndarray) -> np.ndarray:
        return self._keyed.of(self.rule.statistics_of(out), numbers, observed)

    def renew(self, numbers: list[int], count: int) -> None:
        self._keyed.renew(np.array(numbers, dtype=np.int64))

    def arrays(self, numbers: np.ndarray) -> dict[str, np.ndarray]:
        return self._keyed.arrays(numbers)

    def set_arrays(self, arrays: dict[str, np.ndarray], count: int) -> None:
        self._keyed.set_arrays(arrays, count)
