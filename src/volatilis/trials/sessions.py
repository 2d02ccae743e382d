"""One learner on one group: takes the group's rows as they come."""

from __future__ import annotations

from typing import Any

import numpy as np

from volatilis import _pieces
from volatilis._seeds import generator_key
from volatilis.traces import DIVERGENCES, Trace


class Session:
    """A learner and where it stands. `advance` gives the measures of the next rows."""

    def __init__(self, learner: Any, seed: Any, measures: tuple[str, ...]) -> None:
        self.learner, self._measures = learner, measures
        key = generator_key(seed)
        direct = tuple(name for name in measures if name not in DIVERGENCES)
        self._readouts = _pieces.Readouts(learner, key, direct or ("mean", "run_length"))
        self._divergences = {name: _pieces.Divergences(learner, key, name) for name in measures if name in DIVERGENCES}

    def advance(self, values: np.ndarray, events: np.ndarray, absent: np.ndarray) -> dict[str, np.ndarray]:
        outputs = self._readouts.advance(values, events)
        trace = Trace(self.learner, outputs, values, absent, lambda name: self._divergences[name].advance(values, events))
        return {name: getattr(trace, name) for name in self._measures}
