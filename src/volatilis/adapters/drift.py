"""A drift detector with river's interface: `update(x)`, `drift_detected`."""

from __future__ import annotations

from typing import Any, cast

from river.base import DriftDetector as _RiverDetector

from volatilis.changepoints import AlarmRule
from volatilis.families import Gaussian
from volatilis.learners import Merge
from volatilis.learners._base import Learner
from volatilis.running import Stream


class DriftDetector(_RiverDetector):  # type: ignore[misc]
    """Drift where a change is probably recent; after it the detector starts anew, as river's detectors do.

    learner   None: Gaussian observations of unit noise, Merge(Gaussian(1, 0, 3), p_c=0.001, n=20)
    rule      None: the probability of a change among the newest 100 observations above 0.706, about one false alarm in
              10,000 for that learner; `volatilis.calibrate` gives the rule for yours

    >>> from volatilis.adapters import DriftDetector
    >>> detector = DriftDetector()
    >>> for x in [0.1, -0.3, 0.2, 0.0, 5.1, 5.0, 4.8]:
    ...     detector.update(x)
    ...     if detector.drift_detected:
    ...         print(x)
    5.1
    """

    def __init__(self, learner: Learner | None = None, rule: AlarmRule | None = None) -> None:
        super().__init__()
        self.learner, self.rule = learner, rule
        self._reset()

    def _reset(self) -> None:
        super()._reset()
        learner = Merge(Gaussian(1.0, 0.0, 3.0), 0.001, 20) if self.learner is None else self.learner
        rule = AlarmRule(0.706, within=100) if self.rule is None else self.rule
        self._stream, self._bell = Stream(learner, missing="elapse", within=rule.within), rule.start()

    def update(self, x: float) -> None:
        """Take in one value."""
        if self.drift_detected:
            self._stream.reset()
            self._bell.reset()
        self._drift_detected = self._bell.update(self._stream.update(x))

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
        return self._again(self._stream.to_bytes())

    def __deepcopy__(self, memo: dict[int, Any]) -> DriftDetector:
        """A stream is bound to memory of its own: the copy has another, in the same state."""
        return self._again(self._stream.to_bytes())

    def __getstate__(self) -> dict[str, Any]:
        memory = self._bell.memory()
        return {"learner": self.learner, "rule": self.rule, "drift": self._drift_detected} | {
            "stream": self._stream.to_bytes(),
            "memory": memory,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["learner"], state["rule"])  # type: ignore[misc]
        self._drift_detected, self._stream = state["drift"], Stream.from_bytes(state["stream"])
        self._bell.set_memory(state["memory"])

    def _again(self, stream: bytes) -> DriftDetector:
        copy = DriftDetector(self.learner, self.rule)
        copy._drift_detected, copy._stream = self._drift_detected, Stream.from_bytes(stream)
        copy._bell.set_memory(self._bell.memory())
        return copy
