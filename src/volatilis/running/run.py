"""Running a learner over one sequence (`run`) and over many (`run_many`).

Both call the learner's one `update`, as a `Stream` does; their results agree to the last bit.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from volatilis._compiler import Call, for_threads
from volatilis._core.jobs import worker_count
from volatilis._core.seeds import generator_key, seed_sequence
from volatilis.learners._base import Learner
from volatilis.learners._one_belief import OneBelief, side_by_side
from volatilis.running import drivers, pieces
from volatilis.running.arguments import (
    Seed,
    checked_learner,
    columns_of,
    labelled,
    step_events,
    wanted_readouts,
    warn_of_mismatch,
)
from volatilis.running.beliefs import LearnedParameter, run_parameter
from volatilis.running.drivers import Outputs, lock_step_outputs
from volatilis.running.grid_ends import warn_of_grid
from volatilis.running.traces import Trace, Traces
from volatilis.running.weights import Weights, run_weights

Sequences = np.ndarray | list[np.ndarray]  # one array of equally long sequences, or a list of any
LOOKED_AT = 8  # of many sequences, for a glance at whether the model is contradicted
MANY = 100  # sequences of one observation each: likely one sequence that stands in a column
LOCK_STEP_COLUMNS = 64  # sequences side by side: enough to fill vector registers, few enough to stay in the first cache


def run(
    learner: Learner,
    y: object,
    seed: Seed = 0,
    reset: npt.ArrayLike | None = None,
    missing: str = "error",
    readouts: Sequence[str] | None = None,
    given: object = None,
) -> Trace:
    """Run a learner over a sequence of observations.

    learner   such as `Merge(family, p_c, n)`
    y         the observations, in the order in which they came: numbers, or rows of numbers for a family of vectors
    seed      for learners that sample; the same seed gives the same numbers everywhere
    reset     where a new block begins and the learner starts anew: a boolean per observation, or positions
    missing   what a missing observation (NaN, None, masked) means: "error"; "elapse", time passes and nothing is seen; "skip"
    readouts  which of the trace's readouts will be needed: None is all; fewer take less time and memory
    given     the context of each observation, for a family that has contexts: docs/how-to/contexts.md

    Returns a `Trace`, one array per readout; `trace.weights()` has the filter's weights. Raises TypeError where `learner` is
    none, and ValueError, with the place and the value, where an observation is not accepted. Warns with `ModelMismatchWarning`
    where the prior is far from the observations, angles are in another unit than the period, or the truth lies beyond the values
    that `Averaged` weighs; `volatilis.check` looks closer.

    >>> import volatilis as vl
    >>> trace = vl.run(vl.VarSMiLe(vl.Gaussian(sigma=0.5, sigma_0=2.0), m=0.1), [0.2, -0.1, 3.0])
    >>> trace.mean.round(3), trace.adaptation_rate.round(3)
    (array([0.188, 0.046, 2.819]), array([0.091, 0.035, 0.999]))
    """
    learner = checked_learner(learner)
    wanted = wanted_readouts(learner, readouts)
    y, index = labelled(y)
    values, absent = learner.family.observations(y, given)
    events = step_events(absent, reset, missing)
    learner.check_observations(values)
    key = generator_key(seed)
    out, shares = _run_one(learner, key, values, events, wanted)
    warn_of_mismatch(learner, values, absent, out.log_p_0, _outlying(out))
    warn_of_grid(learner, [(values, events, shares)])
    again = Rerun(learner, key, values, events, index)
    return Trace(learner, out, values, absent, again, again.recent, again.parameter, index, again.weights)


def run_many(
    learner: Learner,
    ys: Sequence[object] | np.ndarray,
    seed: Seed = 0,
    workers: int | None = None,
    reset: Sequence[npt.ArrayLike | None] | None = None,
    missing: str = "error",
    readouts: Sequence[str] | None = None,
    given: Sequence[object] | np.ndarray | None = None,
) -> Traces:
    """Run a learner over many independent sequences, on all cores.

    learner   such as `Merge(family, p_c, n)`
    ys        a sequence of sequences, an array whose first axis goes over sequences, or a DataFrame: its columns
    workers   threads; None takes one per core. The results are the same whatever the number
    seed      for learners that sample: sequence i gets the i-th child of the seed
    reset     for each sequence, where a new block begins, as in `run`
    missing   what a missing observation means, as in `run`
    readouts  which readouts will be needed, as in `run`
    given     the contexts of each sequence's observations, one entry per sequence

    Returns `Traces`: item i is the same as `run(learner, ys[i], seed=SeedSequence(seed).spawn(n)[i])`. Raises as `run`, and names
    the sequence, and warns as `run`, after a look at eight of the sequences.

    >>> import volatilis as vl
    >>> traces = vl.run_many(vl.VarSMiLe(vl.Gaussian(sigma=0.5), m=0.1), [[0.2, -0.1], [3.0, 2.8, 2.9]])
    >>> [float(trace.mean[-1].round(3)) for trace in traces]
    [0.04, 2.676]
    """
    learner = checked_learner(learner)
    workers, wanted = worker_count(workers), wanted_readouts(learner, readouts)
    ys, index = columns_of(ys)
    count = len(ys)
    resets = reset if reset is not None else [None] * count
    if len(resets) != count:
        raise ValueError(f"run_many: reset has {len(resets)} entries for {count} sequences; one per sequence is accepted")
    if given is not None and len(given) != count:
        raise ValueError(f"run_many: given has {len(given)} entries for {count} sequences; one per sequence is accepted")
    values, absents = _observations_of_all(learner, ys, given)
    if reset is None and isinstance(absents, np.ndarray) and not absents.any():
        events = [np.zeros(values[0].size if count else 0, dtype=np.uint8)] * count
    else:
        events = [step_events(absent, r, missing, i) for i, (absent, r) in enumerate(zip(absents, resets, strict=True))]
    outs: Callable[[int], Outputs]
    if _fits_lock_step(learner, values, events):
        keys = [0] * count
        outs = _run_lock_step(learner, values, workers, wanted)
    else:
        keys = [generator_key(child) for child in seed_sequence(seed).spawn(count)]
        with ThreadPoolExecutor(workers) as pool:
            work = for_threads(_run_one)
            done = list(pool.map(work, repeat(learner), keys, values, events, repeat(wanted)))
        outs = [out for out, _ in done].__getitem__
        warn_of_grid(learner, [(values[i], events[i], done[i][1]) for i in range(min(count, LOOKED_AT))])
    if count:
        some = np.unique(np.linspace(0, count - 1, min(count, LOOKED_AT)).astype(int))
        parts = [(values[i], absents[i], outs(i).log_p_0, _outlying(outs(i))) for i in some]
        warn_of_mismatch(learner, *(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
    return Traces(ManyRuns(learner, keys, values, absents, events, outs, index), count)


# --- one sequence ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rerun:
    """What computes a trace's divergences when asked for: the same run once more. Data, so that a trace can be pickled."""

    learner: Learner
    key: int
    values: np.ndarray
    events: np.ndarray
    index: Any = None

    def __call__(self, name: str) -> np.ndarray:
        return pieces.Divergences(self.learner, self.key, name).advance(self.values, self.events)

    def recent(self, within: int, onset: bool) -> Outputs:
        """The probability of a recent change and, if asked for, how long ago that was."""
        return pieces.ReadoutPieces(self.learner, self.key, ("adaptation_rate",), within, onset).advance(self.values, self.events)

    def parameter(self, name: str) -> LearnedParameter:
        """What is known of a parameter after each step."""
        return run_parameter(self.learner, self.key, name, self.values, self.events)

    def weights(self, least: float) -> Weights:
        """What the filter gave to each time of the last change."""
        return run_weights(self.learner, self.key, self.values, self.events, least, self.index)


def _run_one(
    learner: Learner, key: int, values: np.ndarray, events: np.ndarray, readouts: tuple[str, ...]
) -> tuple[Outputs, np.ndarray]:
    """The readouts, and the weights in the end where parameters are weighed."""
    run = pieces.ReadoutPieces(learner, key, readouts)
    return run.advance(values, events), run.shares()


def _outlying(out: Outputs) -> np.ndarray:
    """How probable it is that each observation is an outlier, where that was asked for."""
    return np.exp(out.log_outliers - out.log_p) if out.log_outliers.size else out.log_outliers


# --- many sequences ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ManyRuns:
    """What `run_many` computed: calling it with i gives the trace of sequence i. Data, as `Rerun`."""

    learner: Learner
    keys: list[int]
    values: Sequences
    absents: Sequences
    events: list[np.ndarray]
    outputs_of: Callable[[int], Outputs]
    index: Any = None

    def __call__(self, i: int) -> Trace:
        values, absent = self.values[i], self.absents[i]
        again = Rerun(self.learner, self.keys[i], values, self.events[i], self.index)
        out = self.outputs_of(i)
        return Trace(self.learner, out, values, absent, again, again.recent, again.parameter, self.index, again.weights)


@dataclass(frozen=True)
class LockStepOutputs:
    """The outputs of blocks of sequences side by side: calling it with i gives those of sequence i."""

    blocks: list[Outputs]
    readouts: tuple[str, ...]

    def __call__(self, i: int) -> Outputs:
        block, column = divmod(i, LOCK_STEP_COLUMNS)
        means, variances, log_p, log_p_0, gamma, run_length = (array[..., column] for array in self.blocks[block][:6])
        return Outputs(
            means.T if "mean" in self.readouts else means.T[:0],
            variances.T if "variance" in self.readouts else variances.T[:0],
            *(log_p, log_p_0, gamma),
            run_length if "run_length" in self.readouts else run_length[:0],
        )


def _observations_of_all(
    learner: Learner, ys: Sequence[object] | np.ndarray, given: Sequence[object] | np.ndarray | None
) -> tuple[Sequences, Sequences]:
    """Validate every sequence; an array of equally long ones at one go."""
    scalar = learner.family.observations([])[0].ndim == 1
    if isinstance(ys, np.ndarray) and scalar and given is None and ys.ndim == 2 and ys.shape[1] == 1 and len(ys) >= MANY:
        warnings.warn(
            f"run_many: an array of shape {ys.shape} is {len(ys):,} sequences of one observation each; y.T holds one sequence of "
            f"{len(ys):,}",
            stacklevel=3,
        )
    if isinstance(ys, np.ndarray) and ys.ndim == 2 and ys.dtype.kind in "iuf" and scalar and given is None:
        with contextlib.suppress(ValueError, TypeError):  # looked at again one by one, to say which sequence it is
            values, absent = learner.family.observations(ys.ravel())
            learner.check_observations(values)
            return values.reshape(ys.shape), absent.reshape(ys.shape)
    checked = []
    for i, y in enumerate(ys):
        try:
            values, absent = learner.family.observations(y, None if given is None else given[i])
            learner.check_observations(values)
        except (ValueError, TypeError) as error:
            raise type(error)(f"sequence {i}: {error}") from None
        checked.append((values, absent))
    return [values for values, _ in checked], [absent for _, absent in checked]


def _fits_lock_step(learner: Learner, values: Sequences, events: Sequence[np.ndarray]) -> bool:
    if len(values) < 2 or learner.family.splits() or not isinstance(learner.init(0), OneBelief):
        return False
    if not isinstance(values, np.ndarray) and not all(v.shape == values[0].shape for v in values):
        return False
    return (
        values[0].ndim == 1 and not learner.family.memory_size() and not any(e.any() for e in {id(e): e for e in events}.values())
    )


def _run_lock_step(learner: Learner, values: Sequences, workers: int, readouts: tuple[str, ...]) -> LockStepOutputs:
    """Blocks of sequences side by side, one block per task.

    The last block is filled up with copies of the last sequence.
    """
    width, length = LOCK_STEP_COLUMNS, len(values[0])
    blocks = -(-len(values) // width)
    outs = lock_step_outputs(length, width, learner.family.size(), blocks)

    def run_block(block: int) -> None:
        chosen = np.minimum(np.arange(block * width, (block + 1) * width), len(values) - 1)
        members = values[chosen] if isinstance(values, np.ndarray) else np.array([values[i] for i in chosen])
        ys = np.ascontiguousarray(members.T)
        Call(drivers.run_lock_step, learner, side_by_side(learner.init(0), width), ys, outs[block], release_gil=True)()

    if workers == 1 or blocks == 1:
        for block in range(blocks):
            run_block(block)
    else:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(for_threads(run_block), range(blocks)))

    return LockStepOutputs(outs, readouts)
