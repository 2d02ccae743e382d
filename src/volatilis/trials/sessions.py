"""One learner on one group, or on many small ones side by side: takes their rows as they come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from volatilis.experiments.tuning import Stopped
from volatilis.running import pieces as _pieces
from volatilis.running.drivers import Outputs
from volatilis.running.traces import DIVERGENCES, Trace

PIECE = 1 << 14  # steps between two looks at whether to stop
SLOW_PIECE = 1 << 7  # of a mixture's divergences, which take milliseconds a step


class Session:
    """A learner and where it stands. `advance` gives the measures of the next rows.

    key     for its generator; several in an array: as many groups, and `advance` is told for each row whose it is
    """

    def __init__(self, learner: Any, key: int | np.ndarray, measures: tuple[str, ...]) -> None:
        self._learner, self._measures = learner, measures
        direct = tuple(name for name in measures if name not in DIVERGENCES) or ("mean", "run_length")
        asked = [name for name in measures if name in DIVERGENCES]
        self._readouts: Any
        self._divergences: dict[str, Any]
        if isinstance(key, np.ndarray):
            self._readouts = _pieces.ManyReadouts(learner, key, direct)
            self._divergences = {name: _pieces.ManyDivergences(learner, key, name) for name in asked}
        else:
            self._readouts = _pieces.Readouts(learner, key, direct)
            self._divergences = {name: _pieces.Divergences(learner, key, name) for name in asked}

    def advance(
        self, values: np.ndarray, events: np.ndarray, absent: np.ndarray, stop: Callable[[], bool], *places: np.ndarray
    ) -> dict[str, np.ndarray]:
        def in_pieces(step: Callable[..., Any], length: int) -> list[Any]:
            found = []
            for start in range(0, len(values), length):
                if stop():
                    raise Stopped
                found.append(step(*(part[start : start + length] for part in (values, events, *places))))
            return found

        def divergence(name: str) -> np.ndarray:
            measure = self._divergences[name]
            return np.concatenate(in_pieces(measure.advance, SLOW_PIECE if measure.mixture else PIECE))

        pieces = in_pieces(self._readouts.advance, PIECE)
        outputs = pieces[0] if len(pieces) == 1 else Outputs(*(np.concatenate(parts) for parts in zip(*pieces, strict=True)))
        trace = Trace(self._learner, outputs, values, absent, divergence)
        return {name: getattr(trace, name) for name in self._measures}
