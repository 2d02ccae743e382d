"""The weights that a filter gives to the times of the last change, after each step (`Weights`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from volatilis._compiler import Call
from volatilis._compiler.registry import compiled_function, compiled_methods
from volatilis.families._kinds import UndefinedError
from volatilis.learners._base import Learner, State
from volatilis.learners._ledger import OLD
from volatilis.learners._recent import stamp_of, weight_of
from volatilis.learners._recent_kept import NOTED, N
from volatilis.running.arguments import MOST_WITHIN, with_recent
from volatilis.running.drivers import RESET, Array, advance

if TYPE_CHECKING:
    import xarray as xr

PIECE = 1 << 20  # weights that are written at a time
MOST_KEPT = 50_000_000  # weights: 12 bytes each
MOST_DENSE = 50_000_000  # numbers of a dense array: 8 bytes each
MOST_MERGED = 100_000  # steps of a learner that merges: its time grows with their square


class Weights:
    """P(the last change was there | all observations so far), after each step; of each step only the times that are weighed.

    at(t)             positions of first observations after the last change, and their weights
    run_lengths(t)    how many observations there have been since, in the same order
    to_array(longest), to_xarray(longest)   dense: a row per step, a column per run length
    nbytes            the memory it takes; len() is the number of steps

    >>> import volatilis as vl
    >>> trace = vl.run(vl.ExactBayes(vl.Gaussian(sigma=0.5, sigma_0=3.0), p_c=0.1), [0.1, -0.2, 5.0, 5.2])
    >>> starts, weights = trace.weights().at(3)
    >>> starts, weights.round(3)
    (array([1, 2, 3]), array([0.   , 0.993, 0.007]))
    """

    def __init__(
        self, counts: np.ndarray, run_lengths: np.ndarray, weights: np.ndarray, observed: np.ndarray, index: Any = None
    ) -> None:
        self._ends = np.append(0, np.cumsum(counts))
        self._run_lengths, self._weights, self._index = run_lengths, weights, index
        self._places, self._seen = np.flatnonzero(observed), np.cumsum(observed)

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __repr__(self) -> str:
        return f"Weights of {len(self):,} steps: {self._weights.size:,} weights, {self.nbytes / 1e6:.1f} MB"

    @property
    def nbytes(self) -> int:
        """How many bytes it takes."""
        return sum(a.nbytes for a in (self._ends, self._run_lengths, self._weights, self._places, self._seen))

    def at(self, t: int) -> tuple[np.ndarray, np.ndarray]:
        """After step t: the positions of first observations after the last change, the oldest first, and their weights.

        t   a step, from the end if it is negative

        The first observation of all, or since a reset, stands for no change since. Where observations are missing and nothing
        has been observed since the change, the position is t + 1. Raises IndexError for a step that is not there.
        """
        t, lengths, weights = self._row(t)
        starts = np.full(lengths.size, t + 1, dtype=np.int64)
        old = lengths > 0
        starts[old] = self._places[self._seen[t] - lengths[old]]
        return starts, weights

    def run_lengths(self, t: int) -> np.ndarray:
        """After step t: how many observations there have been since the last change, in the order of `at(t)`."""
        return self._row(t)[1]

    def _row(self, t: int) -> tuple[int, np.ndarray, np.ndarray]:
        if not -len(self) <= t < len(self):
            raise IndexError(f"there are {len(self)} steps, so no step {t}")
        t = int(t) % len(self)
        part = slice(self._ends[t], self._ends[t + 1])
        lengths = self._run_lengths[part].astype(np.int64)
        order = np.argsort(-lengths, kind="stable")
        return t, lengths[order], self._weights[part][order]

    def to_array(self, longest: int | None = None) -> np.ndarray:
        """An array (T, longest + 1): after each step the probability of 0, 1, ... observations since the last change.

        longest   the last column: so many or more. None: the longest there is, so that nothing is taken together

        Raises ValueError where that is more than 50,000,000 numbers.
        """
        most = int(self._run_lengths.max(initial=0))
        if longest is None:
            longest = most
        elif isinstance(longest, bool) or not isinstance(longest, (int, np.integer)) or longest < 0:
            raise ValueError(f"longest = {longest!r} is not accepted; it must be a whole number of observations, 0 or more")
        if len(self) * (int(longest) + 1) > MOST_DENSE:
            size = len(self) * (int(longest) + 1)
            raise ValueError(
                f"{len(self):,} steps with run lengths up to {longest:,} are {size:,} numbers, {8e-9 * size:.1f} GB; up to "
                f"{MOST_DENSE:,} are accepted: longest={max(MOST_DENSE // max(len(self), 1) - 1, 0)} would do"
            )
        dense = np.zeros((len(self), int(longest) + 1))
        rows = np.repeat(np.arange(len(self)), np.diff(self._ends))
        np.add.at(dense, (rows, np.minimum(self._run_lengths, longest)), self._weights)
        return dense

    def to_xarray(self, longest: int | None = None) -> xr.DataArray:
        """The same as a DataArray over t and run_length; the last run length stands for so many or more."""
        import xarray as xr

        dense = self.to_array(longest)
        times = np.arange(len(self)) if self._index is None else np.asarray(self._index)
        coordinates = {"t": times, "run_length": np.arange(dense.shape[1])}
        return xr.DataArray(dense, coordinates, ("t", "run_length"), name="weight")


def run_weights(learner: Learner, key: int, values: np.ndarray, events: np.ndarray, least: float, index: Any = None) -> Weights:
    """One more run, which keeps the weights of at least `least`."""
    if isinstance(least, bool) or not isinstance(least, (int, float, np.number)) or not 0.0 <= least < 1.0:
        raise ValueError(f"least = {least!r} is not accepted; it must be a weight, from 0 to below 1")
    steps = len(values)
    state = _weighing(learner, key, steps)
    rows = RunLengthWeights(np.zeros(steps, dtype=np.int64), np.zeros(steps, dtype=np.int64), np.zeros(steps + 2), *_piece(PIECE))
    lengths, weights, kept, progress = [np.zeros(0, dtype=np.int32)], [np.zeros(0)], 0, np.zeros(3, dtype=np.int64)
    while progress[0] < steps:
        if not learner.has_room(state):
            state = learner.grow(state)
        rows = rows._replace(**dict(zip(("lengths", "weights"), _piece(max(PIECE, 2 * needed(state))), strict=True)))
        progress[1] = 0
        Call(run_weighing, learner, state, values, events, progress, float(least), rows, release_gil=True)()
        if progress[2]:
            raise UndefinedError(f"{type(learner).__name__} merges hypotheses, so it has no weights of times of the last change")
        lengths.append(rows.lengths[: progress[1]].astype(np.int32))
        weights.append(rows.weights[: progress[1]].copy())
        kept += int(progress[1])
        if kept > MOST_KEPT:
            raise ValueError(
                f"after {progress[0]:,} of {steps:,} steps there are {kept:,} weights, {12e-9 * kept:.1f} GB; up to "
                f"{MOST_KEPT:,} are kept: weights(least=1e-6) keeps fewer, or take fewer observations or a larger cutoff"
            )
    return Weights(rows.counts, np.concatenate(lengths), np.concatenate(weights), rows.observed, index)


def _weighing(learner: Learner, key: int, steps: int) -> State:
    """A fresh state that knows the times of its changes."""
    try:
        state = with_recent(learner, learner.init(key), min(max(steps, 1), MOST_WITHIN))
    except UndefinedError as error:
        raise UndefinedError(f"{type(learner).__name__} has no weights of times of the last change: {error}") from None
    if state.recent.has_ledger() and steps > MOST_MERGED:  # type: ignore[attr-defined]
        raise ValueError(
            f"{type(learner).__name__} merges hypotheses, and which changes are in each takes time in proportion to the square "
            f"of the number of steps: {steps:,} are too many, up to {MOST_MERGED:,} are accepted; ExactBayes takes more"
        )
    return state


def _piece(size: int) -> tuple[np.ndarray, np.ndarray]:
    return np.empty(size, dtype=np.int64), np.empty(size)


# --- compiled ---------------------------------------------------------------------------------------------------------------


@compiled_methods
class RunLengthWeights(NamedTuple):
    """Per step: how many weights there are, and whether there was an observation; a weight per run length; then what is kept."""

    counts: Array
    observed: Array
    work: Array  # 0 between two steps
    lengths: Array
    weights: Array


def run_weighing(
    learner: Any, state: Any, ys: Array, events: Array, progress: Array, least: float, rows: RunLengthWeights
) -> None:
    """From step progress[0]; stops early where the state or the rows need room. progress[1] weights are written so far.

    progress[2] is 1 where a hypothesis has no single time.
    """
    for t in range(progress[0], events.size):
        if not learner.has_room(state) or rows.weights.size - progress[1] < needed(state):
            progress[0] = t
            return
        before = 0.0 if events[t] >= RESET else state.recent.numbers[N]
        advance(learner, state, ys[t], events[t])
        rows.observed[t] = 1 if state.recent.numbers[N] > before else 0
        if state.recent.has_ledger():
            end = write_merged(state, progress[1], least, rows)
        else:
            end = write_single(state, progress, least, rows)
        rows.counts[t] = end - progress[1]
        progress[1] = end
    progress[0] = events.size


@compiled_function
def needed(state: Any) -> int:
    """How many weights one more step may write."""
    if state.recent.has_ledger():
        return int(state.recent.numbers[NOTED] - state.recent.numbers[OLD]) + 3
    return int(state.weights.size)


@compiled_function
def write_single(state: Any, progress: Array, least: float, rows: RunLengthWeights) -> int:
    """Each hypothesis has one run length; those of the same one count together."""
    end = progress[1]
    for i in range(state.count[0]):
        length = int(state.run_lengths[i])
        if float(length) != state.run_lengths[i]:
            progress[2] = 1
        rows.work[length] += state.weights[i]
    for i in range(state.count[0]):
        end = take(int(state.run_lengths[i]), end, least, rows)
    return end


@compiled_function
def write_merged(state: Any, end: int, least: float, rows: RunLengthWeights) -> int:
    """Each change has its share of the weight of one hypothesis; what is left has not changed since the start."""
    first, last, n, left = int(state.recent.numbers[OLD]), int(state.recent.numbers[NOTED]), int(state.recent.numbers[N]), 1.0
    for e in range(first, last):
        weight = weight_of(state, e)
        rows.work[n - int(stamp_of(state, e))] += weight
        left -= weight
    rows.work[n] += max(left, 0.0)
    for e in range(first, last):
        end = take(n - int(stamp_of(state, e)), end, least, rows)
    return take(n, end, least, rows)


@compiled_function
def take(length: int, end: int, least: float, rows: RunLengthWeights) -> int:
    """The weight of one run length goes where it is kept, once, if it is not too small."""
    weight = rows.work[length]
    rows.work[length] = 0.0
    if weight > 0.0 and weight >= least:
        rows.lengths[end] = length
        rows.weights[end] = weight
        end += 1
    return end
