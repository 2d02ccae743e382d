"""One learner on one group: takes the group's rows as they come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from volatilis import _pieces
from volatilis._drivers import Outputs
from volatilis._seeds import generator_key
from volatilis.traces import DIVERGENCES, Trace
from volatilis.tuning import Stopped

PIECE = 1 << 14  # steps between two looks at whether to stop
SLOW_PIECE = 1 << 7  # of a mixture's divergences, which take milliseconds a step


class Session:
    """A learner and where it stands. `advance` gives the measures of the next rows."""

    def __init__(self, learner: Any, seed: Any, measures: tuple[str, ...]) -> None:
        self.learner, self._measures = learner, measures
        key = generator_key(seed)
        direct = tuple(name for name in measures if name not in DIVERGENCES)
        self._readouts = _pieces.Readouts(learner, key, direct or ("mean", "run_length"))
        self._divergences = {name: _pieces.Divergences(learner, key, name) for name in measures if name in DIVERGENCES}

    def advance(
        self, values: np.ndarray, events: np.ndarray, absent: np.ndarray, stop: Callable[[], bool]
    ) -> dict[str, np.ndarray]:
        def in_pieces(step: Callable[[np.ndarray, np.ndarray], Any], length: int) -> list[Any]:
            found = []
            for start in range(0, len(values), length):
                if stop():
                    raise Stopped
                found.append(step(values[start : start + length], events[start : start + length]))
            return found

        def divergence(name: str) -> np.ndarray:
            measure = self._divergences[name]
            return np.concatenate(in_pieces(measure.advance, SLOW_PIECE if measure.mixture else PIECE))

        pieces = in_pieces(self._readouts.advance, PIECE)
        outputs = pieces[0] if len(pieces) == 1 else Outputs(*(np.concatenate(parts) for parts in zip(*pieces, strict=True)))
        trace = Trace(self.learner, outputs, values, absent, divergence)
        return {name: getattr(trace, name) for name in self._measures}
