"""Running a learner: over one sequence (`run`), over many (`run_many`), one observation at a time (`Stream`).

All three call the learner's one `update`; their results agree to the last bit.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from typing import Any

import numpy as np

from volatilis._compiler import Call, float_to_tuple, for_threads
from volatilis._core.jobs import worker_count
from volatilis._core.seeds import generator_key, seed_sequence
from volatilis.learners._one_belief import OneBelief
from volatilis.running import drivers, pieces, state_files
from volatilis.running.arguments import MISSING, check_learner, missing_policy, step_events, wanted_readouts
from volatilis.running.beliefs import Belief
from volatilis.running.drivers import ELAPSE, OBSERVE, RESET, STEP_HEAD, Outputs, lock_step_outputs
from volatilis.running.state_checks import check_state
from volatilis.running.traces import Step, Trace, Traces, step_class

LOCK_STEP_COLUMNS = 64  # sequences side by side: enough to fill vector registers, few enough to stay in the first cache


def run(
    learner: Any, y: Any, seed: Any = 0, reset: Any = None, missing: str = "error", readouts: Sequence[str] | None = None
) -> Trace:
    """Run a learner over a sequence of observations.

    seed      for learners that sample; the same seed gives the same numbers everywhere
    reset     where a new block begins and the learner starts anew: a boolean per observation, or positions
    missing   what a missing observation (NaN, None, masked) means: "error"; "elapse", time passes and nothing is seen; "skip"
    readouts  which of the trace's readouts will be needed: None is all; fewer take less time and memory
    """
    check_learner(learner)
    wanted = wanted_readouts(learner, readouts)
    values, absent = learner.family.observations(y)
    events = step_events(absent, reset, missing)
    learner.check_observations(values)
    out = _run_one(learner, generator_key(seed), values, events, wanted)
    return _trace(learner, out, values, absent, events, generator_key(seed))


def run_many(
    learner: Any,
    ys: Any,
    seed: Any = 0,
    workers: int | None = None,
    reset: Any = None,
    missing: str = "error",
    readouts: Sequence[str] | None = None,
) -> Traces:
    """Run a learner over many independent sequences, on all cores.

    ys        a sequence of sequences, or an array whose first axis goes over sequences
    workers   threads; None takes one per core. The results are the same whatever the number

    Sequence i gets the i-th child of the seed: the same as `run(learner, ys[i], seed=SeedSequence(seed).spawn(n)[i])`.
    """
    check_learner(learner)
    workers, wanted = worker_count(workers), wanted_readouts(learner, readouts)
    count = len(ys)
    resets = reset if reset is not None else [None] * count
    if len(resets) != count:
        raise ValueError(f"run_many: reset has {len(resets)} entries for {count} sequences; one per sequence is accepted")
    values, absents = _observations_of_all(learner, ys)
    if reset is None and isinstance(absents, np.ndarray) and not absents.any():
        events = [np.zeros(values[0].size if count else 0, dtype=np.uint8)] * count
    else:
        events = [step_events(absent, r, missing, i) for i, (absent, r) in enumerate(zip(absents, resets, strict=True))]
    if _fits_lock_step(learner, values, events):
        keys = [0] * count
        outs = _run_lock_step(learner, values, workers, wanted)
    else:
        keys = [generator_key(child) for child in seed_sequence(seed).spawn(count)]
        with ThreadPoolExecutor(workers) as pool:
            work = for_threads(_run_one)
            outs = list(pool.map(work, repeat(learner), keys, values, events, repeat(wanted))).__getitem__
    return Traces(lambda i: _trace(learner, outs(i), values[i], absents[i], events[i], keys[i]), count)


class Stream:
    """A learner that takes one observation at a time, in memory that does not grow with their number.

    (That of `ExactBayes` holds its live hypotheses, of which there may be as many as observations since the last change.)

    stream = Stream(learner)
    step = stream.update(y)       # step.mean, step.bayes_factor_surprise, ...
    stream.belief                 # what it believes now
    stream.save(path);  Stream.load(path)
    """

    def __init__(self, learner: Any, seed: Any = 0, missing: str = "error") -> None:
        check_learner(learner)
        self._learner, self._missing = learner, missing_policy(missing)
        self._family = learner.family
        self._step_class = step_class(learner)
        example, _ = self._observe_none()
        self._y = np.zeros((1, *example.shape[1:]), dtype=example.dtype)
        self._takes_floats = self._y.dtype == np.float64 and self._y.ndim == 1 and not learner.refuses_observations()
        self._event = np.zeros(1, dtype=np.int64)
        self._out = np.full(STEP_HEAD + 2 * self._family.size(), np.nan)
        self._out[4] = 0.0
        self._known: dict[int, int] = {}
        self._bind(learner.init(generator_key(seed)))

    def __repr__(self) -> str:
        return f"Stream of {self._learner!r} after {self.seen} observations"

    @property
    def learner(self) -> Any:
        return self._learner

    @property
    def seen(self) -> int:
        """The number of observations taken in."""
        return int(self._out[4])

    @property
    def belief(self) -> Belief:
        """What the learner believes now: a snapshot."""
        return Belief(self._learner, self._state)

    def update(self, y: Any) -> Step:
        """Take in one observation."""
        if type(y) is float and y - y == 0.0 and self._observe_float is not None:
            return self._observe_float(y)
        self._update_checked(y)
        return self._step_class(self._out.tolist())

    def __reduce__(self) -> Any:
        raise TypeError("a Stream is not copied or pickled, since it is bound to memory of its own: use save and load")

    def reset(self) -> None:
        """Start anew, as before the first observation of a block."""
        self._event[0] = RESET
        self._pass_time()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the learner and its state to a file, atomically; `Stream.load` goes on from it bit for bit."""
        policy = next(name for name, event in MISSING.items() if event == self._missing)
        content = {"learner": self._learner, "state": self._state, "out": self._out}
        state_files.write(path, {name: state_files.to_data(value) for name, value in content.items()} | {"missing": policy})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Stream:
        """The stream that was saved. A file that is truncated, altered or something else is a clear error."""
        content = state_files.read(path)
        try:
            learner = state_files.from_data(content["learner"])
            stream = cls(learner, missing=content["missing"])
            state, out = state_files.from_data(content["state"]), state_files.from_data(content["out"])
            check_state(stream._learner, stream._state, state)
            if not isinstance(out, np.ndarray) or out.shape != stream._out.shape or out.dtype != stream._out.dtype:
                raise ValueError("its last step is of another size")
            if not (out[4] >= 0.0 and out[4] == np.floor(out[4]) < 2.0**53):
                raise ValueError(f"{out[4]} observations")
            stream._out[:] = out
            stream._bind(state)
        except state_files.StateFileError as error:
            raise state_files.StateFileError(f"{path}: {error}") from None
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, MemoryError) as error:
            raise state_files.StateFileError(f"{path} does not hold the state of a learner: {error}") from error
        return stream

    def _bind(self, state: Any) -> None:
        """Compile the step for this state's arrays."""
        self._state = state
        observe = Call(drivers.step, self._learner, state, self._y, self._out)
        self._pass_time = Call(drivers.step_without_observation, self._learner, state, self._event, self._out).run
        self._observe_now = observe.run
        self._observe = self._observe_with_room if self._learner.grows() else observe.run
        self._observe_float, self._owners = None, None
        if self._takes_floats and self._observe is observe.run and hasattr(observe.run, "address"):
            self._observe_float, self._owners = float_to_tuple(observe.run, self._y, self._out, self._step_class)

    def _observe_with_room(self) -> None:
        if not self._learner.has_room(self._state):
            self._bind(self._learner.grow(self._state))
        self._observe_now()

    def _update_checked(self, y: Any) -> None:
        """An observation that is not simply a finite float: whole numbers, vectors, missing ones, mistakes."""
        if type(y) is int and y in self._known:
            self._y[0] = self._known[y]
            self._observe()
            return
        values, absent = self._family.observations(
            [np.nan if y is None and self._y.ndim == 1 else y] if y is not None else self._absent()
        )
        if len(values) != 1:
            raise ValueError(f"Stream.update takes one observation, not {len(values)}")
        if absent[0]:
            if self._missing == OBSERVE:
                raise ValueError(f"Stream.update: the observation {y!r} is missing; missing='elapse' or 'skip' accepts that")
            self._event[0] = self._missing
            if self._missing == ELAPSE and not self._learner.has_room(self._state):
                self._bind(self._learner.grow(self._state))
            self._pass_time()
            return
        self._learner.check_observations(values)
        if type(y) is int and self._y.ndim == 1 and self._y.dtype == np.int64 and len(self._known) < 4096:
            self._known[y] = int(values[0])
        self._y[0] = values[0]
        self._observe()

    def _observe_none(self) -> tuple[np.ndarray, np.ndarray]:
        return self._family.observations([])

    def _absent(self) -> Any:
        return [np.nan] if self._y.ndim == 1 else np.full((1, *self._y.shape[1:]), np.nan)


# --- one sequence ------------------------------------------------------------------------------------------------------


def _run_one(learner: Any, key: int, values: np.ndarray, events: np.ndarray, readouts: tuple[str, ...]) -> Outputs:
    return pieces.Readouts(learner, key, readouts).advance(values, events)


def _trace(learner: Any, out: Outputs, values: np.ndarray, absent: np.ndarray, events: np.ndarray, key: int) -> Trace:
    def divergences(name: str) -> np.ndarray:
        return pieces.Divergences(learner, key, name).advance(values, events)

    return Trace(learner, out, values, absent, divergences)


# --- many sequences ----------------------------------------------------------------------------------------------------


def _observations_of_all(learner: Any, ys: Any) -> tuple[Sequence[np.ndarray], Sequence[np.ndarray]]:
    """Validate every sequence; an array of equally long ones at one go."""
    scalar = learner.family.observations([])[0].ndim == 1
    if isinstance(ys, np.ndarray) and ys.ndim == 2 and ys.dtype.kind in "iuf" and scalar:
        with contextlib.suppress(ValueError, TypeError):  # looked at again one by one, to say which sequence it is
            values, absent = learner.family.observations(ys.ravel())
            learner.check_observations(values)
            return values.reshape(ys.shape), absent.reshape(ys.shape)
    checked = []
    for i, y in enumerate(ys):
        try:
            values, absent = learner.family.observations(y)
            learner.check_observations(values)
        except (ValueError, TypeError) as error:
            raise type(error)(f"sequence {i}: {error}") from None
        checked.append((values, absent))
    return [values for values, _ in checked], [absent for _, absent in checked]


def _fits_lock_step(learner: Any, values: Sequence[np.ndarray], events: Sequence[np.ndarray]) -> bool:
    if len(values) < 2 or not isinstance(learner.init(0), OneBelief):
        return False
    if not isinstance(values, np.ndarray) and not all(v.shape == values[0].shape for v in values):
        return False
    return values[0].ndim == 1 and not any(e.any() for e in {id(e): e for e in events}.values())


def _run_lock_step(learner: Any, values: Sequence[np.ndarray], workers: int, readouts: tuple[str, ...]) -> Any:
    """Blocks of sequences side by side, one block per task; returns a function from sequence to its outputs.

    The last block is filled up with copies of the last sequence.
    """
    width, length = LOCK_STEP_COLUMNS, len(values[0])
    blocks = -(-len(values) // width)
    outs = lock_step_outputs(length, width, learner.family.size(), blocks)

    def run_block(block: int) -> None:
        chosen = np.minimum(np.arange(block * width, (block + 1) * width), len(values) - 1)
        members = values[chosen] if isinstance(values, np.ndarray) else np.array([values[i] for i in chosen])
        ys = np.ascontiguousarray(members.T)
        Call(drivers.run_lock_step, learner, learner.init(0, width), ys, outs[block], release_gil=True)()

    if workers == 1 or blocks == 1:
        for block in range(blocks):
            run_block(block)
    else:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(for_threads(run_block), range(blocks)))

    def outputs_of(i: int) -> Outputs:
        block, column = divmod(i, width)
        means, variances, log_p, log_p_0, gamma, run_length = (array[..., column] for array in outs[block])
        return Outputs(
            means.T if "mean" in readouts else means.T[:0],
            variances.T if "variance" in readouts else variances.T[:0],
            *(log_p, log_p_0, gamma),
            run_length if "run_length" in readouts else run_length[:0],
        )

    return outputs_of
