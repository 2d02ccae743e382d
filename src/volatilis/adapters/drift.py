"""A drift detector with river's interface: `update(x)`, `drift_detected`."""

from __future__ import annotations

import copy
import math
import warnings
from typing import Any, cast

import numpy as np
from river.base import DriftDetector as _RiverDetector

from volatilis.changepoints import AlarmRule
from volatilis.estimation.streams import LOOKS, StreamCheck
from volatilis.families import Bernoulli, Gaussian
from volatilis.learners import Merge
from volatilis.learners._base import Learner
from volatilis.running import ModelMismatchWarning, Stream
from volatilis.running.drivers import OBSERVE

FEWEST = 20  # values of a warm-up
GAUSSIAN, BINARY = Merge(Gaussian(1.0, 0.0, 3.0), 1e-3, 20), Merge(Bernoulli(), 1e-3, 20)
RULES = {GAUSSIAN: AlarmRule(0.712, within=400), BINARY: AlarmRule(0.85, within=400)}  # about one false alarm in 10,000


class DriftDetector(_RiverDetector):  # type: ignore[misc]
    """Drift where a change is probably recent; after it the detector starts anew, as river's detectors do.

    learner   such as Merge(Gaussian(sigma, mu_0, sigma_0), p_c=0.001, n=20). None: the first `warm_up` values say what the values
              are like; 0 and 1 alone are binary, others have the mean and the noise that these values show (more exactly when
              there are twice, four times, ... as many)
    rule      `volatilis.calibrate` gives it for a learner. None: the probability of a change among the newest 400 values above
              0.712 (binary values: 0.85). Without a learner given, and with independent values that are normal or binary, that
              makes one false alarm in 5,000 to 25,000; with a learner of yours it is another rate
    warm_up   values at the beginning in which nothing rings, 20 or more; only without a learner

    Warns (ModelMismatchWarning) where the first 256 values, later 1,024 and 4,096, do not fit: then the rate does not hold.

    >>> from volatilis.adapters import DriftDetector
    >>> detector = DriftDetector(warm_up=20)
    >>> for t, x in enumerate([20.1, 19.7, 20.3, 20.0, 19.9] * 8 + [23.1, 23.0]):
    ...     detector.update(x)
    ...     if detector.drift_detected:
    ...         print(t, x)
    40 23.1
    """

    _drift_detected: bool

    def __init__(self, learner: Learner | None = None, rule: AlarmRule | None = None, warm_up: int = 100) -> None:
        if isinstance(warm_up, bool) or not isinstance(warm_up, (int, np.integer)) or warm_up < FEWEST:
            raise ValueError(f"DriftDetector: warm_up = {warm_up!r} is not accepted; whole numbers from {FEWEST} are")
        super().__init__()
        self.learner, self.rule, self.warm_up = learner, rule, warm_up
        self._reset()

    def _reset(self) -> None:
        super()._reset()
        self._scale = _Scale(self.warm_up)
        self._seen: list[float] | None = []  # until they were looked at
        self._stream: Stream | None = None  # none until it is known what the values are like
        if self.learner is not None:
            self._begin(self.learner)

    def _begin(self, learner: Learner) -> None:
        rule = self.rule or RULES.get(learner, RULES[GAUSSIAN])
        self._stream, self._bell = Stream(learner, missing="elapse", within=rule.within), rule.start()

    def update(self, x: float) -> None:
        """Take in one value `x`; NaN is one that is missing. Then `drift_detected` says whether it rings."""
        if self.learner is not None:
            self._take(x)
            return
        value, binary = _number(x), self._scale.is_binary
        if self._drift_detected:
            self._scale.start_anew()
        self._scale.see(value)
        if self._stream is not None and binary == self._scale.is_binary:
            self._take(self._scale.scaled(value))
        elif self._scale.is_known:  # now, or they were taken for binary so far
            self._learn(value)

    def _learn(self, value: float) -> None:
        self._seen, scale = [], self._scale
        self._begin(BINARY if scale.is_binary else GAUSSIAN)
        for earlier in scale.first:
            self._take(scale.scaled(earlier))
        rang, self._drift_detected = self._drift_detected, False
        if scale.is_longer:  # values were all the same until now
            self._drift_detected = rang
            self._take(scale.scaled(value))

    def _take(self, value: Any) -> None:
        stream = cast("Stream", self._stream)
        if self._drift_detected:
            stream.reset()
            self._bell.reset()
        self._drift_detected = self._bell.update(stream.update(value))
        self._look(value)

    def _look(self, scaled: Any) -> None:
        """The first values are kept until they were looked at: does the model fit them?"""
        if self._seen is None:
            return
        learner = cast("Stream", self._stream).learner
        self._seen.append(scaled)
        if len(self._seen) not in LOOKS:
            return
        values, absent = learner.family.observations(self._seen)
        look = StreamCheck(learner, learned=self.learner is None)
        look.see(np.zeros(int((~absent).sum()), dtype=np.int64), values[~absent], np.full(int((~absent).sum()), OBSERVE))
        texts = look.at_the_end()
        if texts:
            whose = ", the values in units of their noise" if self.learner is None else ""
            remedy = "give a learner of a family that fits, and its rule from volatilis.calibrate"
            warnings.warn(
                f"DriftDetector{whose}: {texts[0]}; the rate of false alarms does not hold: {remedy}", ModelMismatchWarning, 4
            )
        if texts or len(self._seen) == LOOKS[-1]:
            self._seen = None  # said once

    @property
    def _tags(self) -> set[str]:
        """None; river's `check_estimator` asks for them, and for the checks to leave out."""
        return set()

    def _unit_test_skips(self) -> set[str]:
        return set()

    def clone(self, new_params: dict[str, Any] | None = None, include_attributes: bool = False) -> DriftDetector:
        """A fresh detector with the same parameters; with `include_attributes` one in the same state.

        Raises ValueError where a state is asked for with other parameters: it belongs to these.
        """
        if not include_attributes:
            return cast("DriftDetector", super().clone(new_params))
        if new_params:
            raise ValueError(
                "clone: the state of a detector belongs to its parameters; leave out new_params or include_attributes"
            )
        return copy.deepcopy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> DriftDetector:
        """A stream is bound to memory of its own: the copy has another, in the same state."""
        again = DriftDetector(self.learner, self.rule, self.warm_up)
        again.__setstate__(copy.deepcopy(self.__getstate__(), memo))
        return again

    def __getstate__(self) -> dict[str, Any]:
        names = ("learner", "rule", "warm_up", "_drift_detected", "_scale", "_seen")
        bound = (None, None) if self._stream is None else (self._stream.to_bytes(), self._bell.memory())
        return {name: getattr(self, name) for name in names} | {"_bound": bound}

    def __setstate__(self, state: dict[str, Any]) -> None:
        stream, memory = state["_bound"]
        self.__init__(state["learner"], state["rule"], state["warm_up"])  # type: ignore[misc]
        for name in state.keys() - {"_bound"}:
            setattr(self, name, state[name])
        if stream is not None:
            restored = Stream.from_bytes(stream)
            self._begin(restored.learner)
            self._stream = restored
            self._bell.set_memory(memory)


def _number(x: Any) -> float:
    if isinstance(x, str) or not hasattr(type(x), "__float__"):
        raise TypeError(f"DriftDetector.update: {x!r} is not accepted; it must be a number")
    value = float(x)
    if math.isinf(value):
        raise ValueError(f"DriftDetector.update: {x!r} is not accepted; it must be finite, or NaN where it is missing")
    return value


class _Scale:
    """What the values of a stream are like, as far as they themselves show it: binary, or a level and a noise.

    Learns from the first values; the noise more exactly whenever there are twice as many.

    Each value is compared with the mean of its stretch, from one drift to the next, so that drifts are not taken for noise.
    """

    def __init__(self, warm_up: int) -> None:
        self.warm_up = warm_up
        self.first: list[float] = []  # values, and no more than the warm-up has
        self.is_binary = True  # so far
        self._level, self._noise, self._due = 0.0, 0.0, warm_up
        self._seen, self._squares = 0, 0.0  # all values; squares around the means of stretches
        self._count, self._mean, self._stretches = 0, 0.0, 1
        self._anew, self._newest = False, 0.0  # whether the next number begins a stretch; the newest square

    @property
    def is_known(self) -> bool:
        """Whether values can be scaled: constant ones say nothing of noise."""
        return self._seen >= self.warm_up and (self.is_binary or self._noise > 0.0)

    @property
    def is_longer(self) -> bool:
        """Whether more values came than the warm-up has."""
        return self._seen > self.warm_up

    def see(self, value: float) -> None:
        """One more value; NaN is missing."""
        if value != value:
            return
        if self._anew:
            self._count, self._mean, self._stretches, self._level, self._anew = 0, 0.0, self._stretches + 1, value, False
        if len(self.first) < self.warm_up:
            self.first.append(value)
        self.is_binary = self.is_binary and value in (0.0, 1.0)
        self._seen, self._count = self._seen + 1, self._count + 1
        apart = value - self._mean
        self._mean += apart / self._count
        self._newest = apart * (value - self._mean)
        self._squares += self._newest
        if self._noise == 0.0 and self._seen >= self.warm_up:
            self._noise, self._level = self._measured(), self._mean
        elif self._seen >= self._due:
            self._noise, self._due = self._measured() or self._noise, 2 * self._seen

    def start_anew(self) -> None:
        """A drift was found, whose jump is no noise: a new stretch, around the next number."""
        self._squares, self._newest, self._anew = self._squares - self._newest, 0.0, True

    def scaled(self, value: float) -> float:
        """In units of the noise, from the level; binary values as they are."""
        return value if self.is_binary else (value - self._level) / self._noise

    def _measured(self) -> float:
        return math.sqrt(self._squares / max(self._seen - self._stretches, 1))
