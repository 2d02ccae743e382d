"""A learner on a sequence that arrives in pieces, or on many side by side: the same numbers as on each whole at once."""

from __future__ import annotations

import numpy as np

from volatilis import surprise
from volatilis._compiler import Call
from volatilis._compiler.registry import compiled_function
from volatilis.families._base import Beliefs, Family, Observation, prior_beliefs
from volatilis.learners._base import Learner, LearnerOf, ManyStates, S, State, put
from volatilis.running import drivers
from volatilis.running.arguments import with_recent
from volatilis.running.drivers import OBSERVE, RESET, Array, Outputs, advance, outputs
from volatilis.surprise import Divergence

ROUNDED = 1e-9


class ReadoutPieces:
    """What follows from the update itself. `advance` goes on where the last piece ended."""

    def __init__(
        self, learner: Learner, key: int, wanted: tuple[str, ...], within: int | None = None, onset: bool = False
    ) -> None:
        self._learner, self._wanted, self._asked = learner, wanted, (within is not None, onset)
        self._state = learner.init(key) if within is None else with_recent(learner, learner.init(key), within)
        self._is_own = is_own(learner)

    def advance(self, values: np.ndarray, events: np.ndarray) -> Outputs:
        learner, size = self._learner, self._learner.family.size()
        out, progress = outputs(len(values), size, self._wanted, *self._asked), np.zeros(1, dtype=np.int64)
        while progress[0] < len(values):
            if not learner.has_room(self._state):
                self._state = learner.grow(self._state)
            if events.any():
                Call(drivers.run_sequence, learner, self._state, values, events, progress, out, release_gil=True)()
            else:
                Call(drivers.run_observations, learner, self._state, values, progress, out, release_gil=True)()
        if self._is_own:
            check_possible(learner, out)
        return out._replace(means=out.means.reshape(-1, size), variances=out.variances.reshape(-1, size))

    def shares(self) -> np.ndarray:
        """The weights of the values of a learner that weighs parameters, now, a row for each context; none for any other."""
        shares = self._state.kept_arrays().get("shares")
        return np.zeros((0, 0)) if shares is None else np.atleast_2d(shares).copy()


def is_own(learner: Learner) -> bool:
    """Whether the learner, or its family, is the user's own."""
    return any(type(one).__module__.partition(".")[0] != "volatilis" for one in (learner, learner.family))


def check_possible(learner: Learner, out: Outputs) -> None:
    """Refuse what no learner can mean. Raises ValueError."""
    for values, low, high, what, whose in (
        (out.gamma, -ROUNDED, 1.0 + ROUNDED, "an adaptation rate", learner),
        (out.variances, -ROUNDED * float(np.nanmax(np.abs(out.variances), initial=0.0)), np.inf, "a variance", learner.family),
    ):
        bad = np.flatnonzero((values < low) | (values > high))
        if bad.size:
            must = (
                "it must lie from 0 to 1; look at what update returns"
                if whose is learner
                else "it cannot be negative; look at variance"
            )
            raise ValueError(f"{type(whose).__name__} gives {what} of {values.ravel()[bad[0]]:.4g}: {must}")


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
                Call(run_bayesian, learner, state, before, measure, values, events, progress, out, release_gil=True)()
            else:
                arguments = (learner, state, before, measure, member, values, events, progress, out)
                Call(run_confidence_corrected, *arguments, release_gil=True)()
        return out


# --- many sequences side by side ----------------------------------------------------------------------------------------


def many_fresh(learner: Learner, keys: np.ndarray) -> ManyStates[State]:
    """The states of a learner before the first observation of as many sequences as there are keys for their generators."""
    fresh = learner.init(0)
    states = fresh.many(len(keys))
    put(states, slice(None), fresh)
    generators = states.generators()
    if generators is not None:
        generators.reshape(len(keys), -1)[:] = keys[:, None]
    return states


class ManyReadouts:
    """`ReadoutPieces` of many sequences, of a learner whose state does not grow: one call of native code for all their rows.

    `places` says for each row which sequence it belongs to; rows of a sequence are in its order.
    """

    def __init__(self, learner: Learner, keys: np.ndarray, wanted: tuple[str, ...]) -> None:
        self._learner, self._wanted, self._states = learner, wanted, many_fresh(learner, keys)

    def advance(self, values: np.ndarray, events: np.ndarray, places: np.ndarray) -> Outputs:
        count, size = len(values), self._learner.family.size()
        out, progress = outputs(count, size, self._wanted), np.array([0, count])
        arguments = (np.arange(count), places, values, events.astype(np.int64), progress, out)
        Call(drivers.run_keyed, self._learner, self._states, *arguments, release_gil=True)()
        if is_own(self._learner):
            check_possible(self._learner, out)
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
            Call(run_keyed_bayesian, *states, places, values, events, out, release_gil=True)()
        else:
            member = prior_beliefs(family)
            arguments = (*states, member, places, values, events, out)
            Call(run_keyed_confidence_corrected, *arguments, release_gil=True)()
        return out


def _check_proper(family: Family, name: str, values: np.ndarray, events: np.ndarray) -> None:
    if name == "confidence_corrected_surprise" and not family.always_proper():
        reason = family.improper_scaled_likelihood(np.where(events % RESET == OBSERVE, values, np.nan))
        if reason is not None:
            raise ValueError(f"confidence-corrected surprise needs a proper scaled likelihood, but {reason}")


# --- divergences between the beliefs before and after a step: `measure` is one of volatilis.surprise ---------------------


def run_bayesian(
    learner: LearnerOf[S], state: S, before: S, measure: Divergence[S], ys: Array, events: Array, progress: Array, out: Array
) -> None:
    """Bayesian surprise KL[pi^(t) || pi^(t+1)]: the belief before from the belief after."""
    for t in range(progress[0], events.size):
        if not learner.has_room(state):
            progress[0] = t
            return
        out[t] = bayesian_step(learner, state, before, measure, ys[t], events[t])
    progress[0] = events.size


def run_keyed_bayesian(
    learner: LearnerOf[S],
    states: ManyStates[S],
    before: S,
    measure: Divergence[S],
    rows: Array,
    ys: Array,
    events: Array,
    out: Array,
) -> None:
    """The same for interleaved sequences of a learner whose states do not grow: step t belongs to states.at(rows[t])."""
    for t in range(events.size):
        out[t] = bayesian_step(learner, states.at(rows[t]), before, measure, ys[t], events[t])


@compiled_function
def bayesian_step(learner: LearnerOf[S], state: S, before: S, measure: Divergence[S], y: Observation, event: int) -> float:
    before.copy_from(state)
    if not advance(learner, state, y, event):
        return np.nan
    if event >= RESET:
        learner.restart(before)
    return measure.from_to(learner.family, before, state)


def run_confidence_corrected(
    learner: LearnerOf[S],
    state: S,
    before: S,
    measure: Divergence[S],
    member: Beliefs,
    ys: Array,
    events: Array,
    progress: Array,
    out: Array,
) -> None:
    """Confidence-corrected surprise KL[pi^(t) || scaled likelihood of y]."""
    for t in range(progress[0], events.size):
        if not learner.has_room(state):
            progress[0] = t
            return
        out[t] = confidence_corrected_step(learner, state, before, measure, member, ys[t], events[t])
    progress[0] = events.size


def run_keyed_confidence_corrected(
    learner: LearnerOf[S],
    states: ManyStates[S],
    before: S,
    measure: Divergence[S],
    member: Beliefs,
    rows: Array,
    ys: Array,
    events: Array,
    out: Array,
) -> None:
    """The same for interleaved sequences, as in `run_keyed_bayesian`."""
    for t in range(events.size):
        out[t] = confidence_corrected_step(learner, states.at(rows[t]), before, measure, member, ys[t], events[t])


@compiled_function
def confidence_corrected_step(
    learner: LearnerOf[S], state: S, before: S, measure: Divergence[S], member: Beliefs, y: Observation, event: int
) -> float:
    before.copy_from(state)
    if not advance(learner, state, y, event):
        return np.nan
    if event >= RESET:
        learner.restart(before)
    learner.family.scaled_likelihood(member, 0, y)
    return measure.from_to_member(learner.family, before, member)
