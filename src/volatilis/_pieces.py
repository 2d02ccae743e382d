"""A learner on a sequence that arrives in pieces: the same numbers as on the whole at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from volatilis import _drivers, surprise
from volatilis._compile import Call
from volatilis._drivers import OBSERVE, RESET, Outputs, outputs
from volatilis.families._base import prior_beliefs
from volatilis.learners._base import Hypotheses


class Readouts:
    """What follows from the update itself. `advance` goes on where the last piece ended."""

    def __init__(self, learner: Any, key: int, wanted: tuple[str, ...]) -> None:
        self._learner, self._wanted, self._state = learner, wanted, learner.init(key)

    def advance(self, values: np.ndarray, events: np.ndarray) -> Outputs:
        learner, size = self._learner, self._learner.family.size()
        out, progress = outputs(len(values), size, self._wanted), np.zeros(1, dtype=np.int64)
        while progress[0] < len(values):
            if not learner.has_room(self._state):
                self._state = learner.grow(self._state)
            if events.any():
                Call(_drivers.run_sequence, learner, self._state, values, events, progress, out, release_gil=True)()
            else:
                Call(_drivers.run_observations, learner, self._state, values, progress, out, release_gil=True)()
        return out._replace(means=out.means.reshape(-1, size), variances=out.variances.reshape(-1, size))


class Divergences:
    """A measure that needs the belief before each observation beside the one after it: the learner runs once more for it."""

    def __init__(self, learner: Any, key: int, name: str) -> None:
        surprise.check_divergence(learner, name)
        self._learner, self._name = learner, name
        self._state, self._before = learner.init(key), learner.init(key)
        self.mixture = isinstance(self._state, Hypotheses) and getattr(learner, "n", 2) > 1

    def advance(self, values: np.ndarray, events: np.ndarray) -> np.ndarray:
        learner, family, out, progress = self._learner, self._learner.family, np.empty(len(values)), np.zeros(1, dtype=np.int64)
        if self._name == "confidence_corrected_surprise" and hasattr(family, "improper_scaled_likelihood"):
            reason = family.improper_scaled_likelihood(np.where(events % RESET == OBSERVE, values, np.nan))
            if reason is not None:
                raise ValueError(f"confidence-corrected surprise needs a proper scaled likelihood, but {reason}")
        member = prior_beliefs(family)
        while progress[0] < len(values):
            if not learner.has_room(self._state):
                self._state, self._before = learner.grow(self._state), learner.grow(self._before)
            state, before = self._state, self._before
            measure = surprise.integrals(family, state.weights.size) if self.mixture else surprise.ClosedForm(0.0)
            if self._name == "bayesian_surprise":
                Call(surprise.run_bayesian, learner, state, before, measure, values, events, progress, out, release_gil=True)()
            else:
                arguments = (learner, state, before, measure, member, values, events, progress, out)
                Call(surprise.run_confidence_corrected, *arguments, release_gil=True)()
        return out
