"""A learner on a sequence that arrives in pieces, or on many side by side: the same numbers as on each whole at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from volatilis import surprise
from volatilis._compiler import Call
from volatilis.families._base import prior_beliefs
from volatilis.learners._base import Learner, put
from volatilis.learners._hypotheses import Hypotheses
from volatilis.running import drivers
from volatilis.running.drivers import OBSERVE, RESET, Outputs, outputs


class Readouts:
    """What follows from the update itself. `advance` goes on where the last piece ended."""

    def __init__(self, learner: Learner, key: int, wanted: tuple[str, ...]) -> None:
        self._learner, self._wanted, self._state = learner, wanted, learner.init(key)

    def advance(self, values: np.ndarray, events: np.ndarray) -> Outputs:
        learner, size = self._learner, self._learner.family.size()
        out, progress = outputs(len(values), size, self._wanted), np.zeros(1, dtype=np.int64)
        while progress[0] < len(values):
            if not learner.has_room(self._state):
                self._state = learner.grow(self._state)
            if events.any():
                Call(drivers.run_sequence, learner, self._state, values, events, progress, out, release_gil=True)()
            else:
                Call(drivers.run_observations, learner, self._state, values, progress, out, release_gil=True)()
        return out._replace(means=out.means.reshape(-1, size), variances=out.variances.reshape(-1, size))


class Divergences:
    """A measure that needs the belief before each observation beside the one after it: the learner runs once more for it."""

    def __init__(self, learner: Learner, key: int, name: str) -> None:
        surprise.check_divergence(learner, name)
        self._learner, self._name = learner, name
        self._state, self._before = learner.init(key), learner.init(key)
        self.mixture = learner.is_mixture()

    def advance(self, values: np.ndarray, events: np.ndarray) -> np.ndarray:
        learner, family, out, progress = self._learner, self._learner.family, np.empty(len(values)), np.zeros(1, dtype=np.int64)
        _check_proper(family, self._name, values, events)
        member = prior_beliefs(family)
        while progress[0] < len(values):
            if not learner.has_room(self._state):
                self._state, self._before = learner.grow(self._state), learner.grow(self._before)
            state, before = self._state, self._before
            measure = surprise.integrals(family, state.weights.size) if self.mixture else surprise.ClosedForm(0.0)
            if self._name == "bayesian_surprise":
                Call(drivers.run_bayesian, learner, state, before, measure, values, events, progress, out, release_gil=True)()
            else:
                arguments = (learner, state, before, measure, member, values, events, progress, out)
                Call(drivers.run_confidence_corrected, *arguments, release_gil=True)()
        return out


# --- many sequences side by side ----------------------------------------------------------------------------------------


def many_fresh(learner: Learner, keys: np.ndarray) -> Any:
    """The states of a learner before the first observation of as many sequences as there are keys for their generators."""
    fresh = learner.init(0)
    states = fresh.many(len(keys))
    put(states, slice(None), fresh)
    if isinstance(fresh, Hypotheses):
        states.random[:, 0] = keys
    return states


class ManyReadouts:
    """`Readouts` of many sequences, of a learner whose state does not grow: one call of native code for all their rows.

    `places` says for each row which sequence it belongs to; rows of a sequence are in its order.
    """

    def __init__(self, learner: Learner, keys: np.ndarray, wanted: tuple[str, ...]) -> None:
        self._learner, self._wanted, self._states = learner, wanted, many_fresh(learner, keys)

    def advance(self, values: np.ndarray, events: np.ndarray, places: np.ndarray) -> Outputs:
        count, size = len(values), self._learner.family.size()
        out, progress = outputs(count, size, self._wanted), np.array([0, count])
        arguments = (np.arange(count), places, values, events.astype(np.int64), progress, out)
        Call(drivers.run_keyed, self._learner, self._states, *arguments, release_gil=True)()
        return out._replace(means=out.means.reshape(-1, size), variances=out.variances.reshape(-1, size))


class ManyDivergences:
    """`Divergences` of many sequences, likewise."""

    def __init__(self, learner: Learner, keys: np.ndarray, name: str) -> None:
        surprise.check_divergence(learner, name)
        self._learner, self._name, self._states = learner, name, many_fresh(learner, keys)
        self._before = learner.init(0)
        self.mixture = learner.is_mixture()

    def advance(self, values: np.ndarray, events: np.ndarray, places: np.ndarray) -> np.ndarray:
        learner, family, out = self._learner, self._learner.family, np.empty(len(values))
        _check_proper(family, self._name, values, events)
        measure = surprise.integrals(family, self._before.weights.size) if self.mixture else surprise.ClosedForm(0.0)
        states = (learner, self._states, self._before, measure)
        if self._name == "bayesian_surprise":
            Call(drivers.run_keyed_bayesian, *states, places, values, events, out, release_gil=True)()
        else:
            member = prior_beliefs(family)
            arguments = (*states, member, places, values, events, out)
            Call(drivers.run_keyed_confidence_corrected, *arguments, release_gil=True)()
        return out


def _check_proper(family: Any, name: str, values: np.ndarray, events: np.ndarray) -> None:
    if name == "confidence_corrected_surprise" and not family.always_proper():
        reason = family.improper_scaled_likelihood(np.where(events % RESET == OBSERVE, values, np.nan))
        if reason is not None:
            raise ValueError(f"confidence-corrected surprise needs a proper scaled likelihood, but {reason}")
