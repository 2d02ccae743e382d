"""When to raise an alarm: a high adaptation rate, or an expected run length that fell."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

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
        self.longest: list[float] = []

    def of(self, out: Outputs, numbers: np.ndarray, observed: np.ndarray) -> np.ndarray:
        """Whether there is an alarm at each line, for the numbers of the keys. Time that passes raises none."""
        raised = np.zeros(len(numbers), dtype=bool)
        if self.rules.adaptation_rate is not None:
            raised = out.gamma > self.rules.adaptation_rate  # NaN where nothing was observed: none
        if self.rules.run_length is not None:
            raised = raised | self._fallen(self.rules.run_length, out.run_length, numbers, observed)
        return raised

    def _fallen(self, share: float, run_lengths: np.ndarray, numbers: np.ndarray, observed: np.ndarray) -> np.ndarray:
        longest = self.longest
        if len(numbers):
            longest += [0.0] * (int(numbers.max()) + 1 - len(longest))
        fallen = np.zeros(len(numbers), dtype=bool)
        steps = zip(numbers.tolist(), run_lengths.tolist(), observed.tolist(), strict=True)
        for i, (number, run_length, is_observed) in enumerate(steps):
            if is_observed and run_length < share * longest[number]:
                fallen[i], longest[number] = True, run_length
            elif run_length > longest[number]:
                longest[number] = run_length
        return fallen
