"""A learner that takes one observation at a time.

Its `update` is the learner's own, as in `run`: the results agree to the last bit.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from volatilis._compiler import Call, Layout
from volatilis._core.seeds import generator_key
from volatilis.learners._base import Learner, State
from volatilis.learners._recent import LEVELS, read_onset, recent_change
from volatilis.running import drivers, state_files
from volatilis.running.arguments import MISSING, Seed, checked_learner, missing_policy, with_recent
from volatilis.running.beliefs import Belief, LearnedParameter, parameter_now
from volatilis.running.drivers import FULL, GAMMA, LOG_P, LOG_P_0, OBSERVE, P_C, RESET, RUN_LENGTH, SEEN, STEP_TAIL
from volatilis.running.fast_steps import NUMBERS, WHOLE, Alone, FastSteps
from volatilis.running.steps import Step, step_class

UNKNOWN = -2  # in the place of a context: time passes for none in particular
STEPS, MOST_STEPS = 1 << 16, 10**15  # of time: that native code takes at once (Ctrl-C comes through in between), and at all


class Stream:
    """A learner that takes one observation at a time, in memory that does not grow with their number.

    (That of `ExactBayes` holds its live hypotheses, of which there may be as many as observations since the last change.)

    learner   such as `Merge(family, p_c, n)`
    seed      for learners that sample; the same seed gives the same numbers as `run` with it
    missing   what a missing observation (NaN, None, masked) means: "error"; "elapse", time passes and nothing is seen; "skip"
    within    its steps also say how probable it is that a change lies within so many of the newest observations

    Threads may share a stream: each update is whole, updates come one after another in some order, and each returns its own step.
    A snapshot (`belief`, `save`, `to_bytes`) is never taken in the middle of an update. A Python without the GIL is slower here.

    >>> import volatilis as vl
    >>> stream = vl.Stream(vl.VarSMiLe(vl.Gaussian(sigma=0.5, sigma_0=2.0), m=0.1))
    >>> [round(stream.update(y).mean, 3) for y in (0.2, -0.1, 3.0)]
    [0.188, 0.046, 2.819]
    """

    def __init__(self, learner: Learner, seed: Seed = 0, missing: str = "error", within: int | None = None) -> None:
        self._learner, self._missing = checked_learner(learner), missing_policy(missing)
        self._family, self._size = self._learner.family, self._learner.family.size()
        self._step_class, self._within = step_class(self._learner, within), within
        self._items = len(self._step_class._fields) - 2
        example, _ = self._family.observations([])
        self._y = np.zeros((1, *example.shape[1:]), dtype=example.dtype)
        self._event = np.zeros(2, dtype=np.int64)  # and for how many steps
        self._out = np.full(2 * self._size + STEP_TAIL, np.nan)
        self._out[2 * self._size + SEEN] = 0.0
        self._alone = Alone()
        state = self._learner.init(generator_key(seed))
        self._bind(state if within is None else with_recent(self._learner, state, within))

    def __repr__(self) -> str:
        return f"Stream of {self._learner!r} after {self.seen} observations"

    @property
    def learner(self) -> Learner:
        """The learner, with its family and parameters."""
        return self._learner

    @property
    def seen(self) -> int:
        """The number of observations taken in."""
        return int(self._out[2 * self._size + SEEN])

    @property
    def belief(self) -> Belief:
        """What the learner believes now: a snapshot."""
        with self._alone:
            return Belief(self._learner, self._state)

    def parameter(self, name: str) -> LearnedParameter:
        """What is known now of the parameter `name`, which the learner learns (`Averaged`): mean, ends of the 95 % interval.

        Within the grid's ends: where the truth may lie beyond them, `run` on some of the observations, and `watch`, say so.
        """
        with self._alone:
            return parameter_now(self._learner, self._state, name)

    def update(self, y: object, given: object = None) -> Step:
        """Take in one observation.

        y       a number of any kind, or a vector; None or NaN is a missing one
        given   its context, for a family that has contexts

        Returns the Step: estimate, uncertainty, surprise and all other readouts after it.
        Raises ValueError or TypeError, and leaves the stream as it was, if the family does not accept it.
        """
        if type(y) in NUMBERS:
            step = None
            if given is None:
                step = self._fast.observe(y)
            elif type(given) in WHOLE:
                step = self._fast.observe_in(given, y)
            if step is not None:
                return step
        return self._update_checked(y, given)

    def elapse(self, n: int = 1) -> Step:
        """Let n steps of time pass without an observation: nothing is seen, and a change may have come at each.

        The same as n missing observations with missing="elapse", only faster: a gap in a log is one call. Returns what is
        believed then; surprise and adaptation rate are NaN. Raises ValueError or TypeError if n is not a whole number, 0 or more.
        """
        if isinstance(n, (bool, np.bool_)) or not isinstance(n, (int, np.integer)):
            raise TypeError(f"Stream.elapse: n = {n!r} is not accepted; it must be a whole number, 0 or more")
        if not 0 <= n <= MOST_STEPS:
            raise ValueError(f"Stream.elapse: n = {n} is not accepted; it must be from 0 to {MOST_STEPS:,}")
        left = int(n)
        with self._alone:
            if self._y.ndim > 1:
                self._y[:] = UNKNOWN
            self._pass_time(drivers.SKIP)
            while left > 0:
                before = [array.copy() for array in self._state.kept_arrays().values()]
                self._pass_time(drivers.ELAPSE, min(left, STEPS))
                left -= STEPS
                if all(map(np.array_equal, before, self._state.kept_arrays().values())):
                    break  # time has done all it can: more of it changes nothing, to the last bit
            return self._last_step()

    def recent_change(self, within: int | None = None) -> float:
        """P(a change lies within the newest so many observations), now; as many as the stream was made for, or fewer.

        The start and a reset are no change. The stream must be made for it: `Stream(learner, within=50)`.
        """
        state = self._state_that_keeps()
        with self._alone:
            return recent_change(state, float(self._asked(within)))

    def recent_onset(self) -> tuple[float, float, float]:
        """How many observations there have been since that change: the median, and a 90 % interval from least to most.

        0 is a change since the last observation; NaN where a recent change has a probability below 0.05.
        """
        state = self._state_that_keeps()
        with self._alone:
            median, low, high = (read_onset(state, level) for level in LEVELS)
            return float(median), float(low), float(high)

    def _state_that_keeps(self) -> State:
        if self._within is None:
            raise AttributeError("a stream has a recent_change if it was made for it: Stream(learner, within=50)")
        return self._state

    def _asked(self, within: int | None) -> int:
        most = self._within or 0
        if within is None:
            return most
        if isinstance(within, bool) or not isinstance(within, (int, np.integer)) or not 1 <= within <= most:
            raise ValueError(f"within = {within!r} is not accepted: the stream was made with within={most}, so 1 to {most}")
        return int(within)

    def reset(self) -> None:
        """Start anew, as before the first observation of a block."""
        with self._alone:
            self._pass_time(RESET)

    def __reduce__(self) -> Any:
        raise TypeError("a Stream is not copied or pickled, since it is bound to memory of its own: use to_bytes and from_bytes")

    # --- saving ----------------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the learner and its state to the file `path`, whole or not at all; `Stream.load` goes on from it bit for bit."""
        state_files.write(path, self.to_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Stream:
        """The stream that was saved in `path`. Raises StateFileError if the file is truncated, altered or something else."""
        return cls._restored(state_files.read(path), str(path))

    def to_bytes(self) -> bytes:
        """The learner and its state as bytes, the same as in a file of `save`: for a database, a queue, another process."""
        policy = next(name for name, event in MISSING.items() if event == self._missing)
        with self._alone:
            content = {"learner": self._learner, "state": self._state, "out": self._out[self._order_in_files()]}
            data = {name: state_files.to_data(value) for name, value in content.items()}
        return state_files.to_bytes(data | {"missing": policy} | ({} if self._within is None else {"within": self._within}))

    @classmethod
    def from_bytes(cls, data: bytes) -> Stream:
        """The stream that `to_bytes` gave as `data`. Raises StateFileError if that is truncated, altered or something else."""
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"Stream.from_bytes takes bytes, not {type(data).__name__}")
        return cls._restored(bytes(data), "the data")

    @classmethod
    def _restored(cls, data: bytes, name: str) -> Stream:
        content = state_files.from_bytes(data, name)
        try:
            learner = state_files.from_data(content["learner"])
            stream = cls(learner, missing=content["missing"], within=content.get("within"))
            state, out = state_files.from_data(content["state"]), state_files.from_data(content["out"])
            state = state_files.checked_state(stream._learner, stream._state, state)
            order = stream._order_in_files()
            if not isinstance(out, np.ndarray) or out.shape != order.shape or out.dtype != np.float64:
                raise ValueError("its last step is of another size")
            stream._out[order] = out
            seen = stream._out[2 * stream._size + SEEN]
            if not (seen >= 0.0 and seen == np.floor(seen) < 2.0**53):
                raise ValueError(f"{seen} observations")
            stream._bind(state)
        except state_files.StateFileError as error:
            raise state_files.StateFileError(f"{name}: {error}") from None
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, MemoryError) as error:
            raise state_files.StateFileError(f"{name} does not hold the state of a learner: {error}") from error
        return stream

    def _order_in_files(self) -> np.ndarray:
        """Where the numbers of the last step stand that a file holds: format 1 has its own order."""
        tail = 2 * self._size
        learned = (P_C,) if self._learner.learns_change_probability() else ()
        return np.array([*(tail + k for k in (LOG_P, LOG_P_0, GAMMA, RUN_LENGTH, SEEN, *learned)), *range(tail)])

    # --- one step --------------------------------------------------------------------------------------------------------

    def _bind(self, state: State) -> None:
        """Compile the step for this state's arrays."""
        self._state = state
        self._pass: Callable[[], None] | None = None
        observe = Call(drivers.step, self._learner, state, self._y, self._out)
        self._observe = observe.run
        if self._missing != OBSERVE:
            self._passing()
        layout = Layout(self._out, self._size, self._items, 2 * self._size + FULL)
        self._fast = FastSteps(self._learner, observe.native, self._y, layout, self._alone, self._step_class)

    def _update_checked(self, y: object, given: object) -> Step:
        """Any observation, slowly: vectors, missing ones, mistakes, contexts, and where the state needs more room."""
        one = [np.nan] if y is None and self._y.ndim == 1 else [y]
        if self._y.ndim == 1 and (isinstance(y, (list, tuple)) or (isinstance(y, np.ndarray) and y.ndim > 0)):
            raise ValueError(
                f"{type(self._family).__name__}: Stream.update takes one number at a time, not {len(y)} in {type(y).__name__}: "
                "give the number alone, or all of them to volatilis.run"
            )
        values, absent = self._family.observations(one, None if given is None else [given])
        if len(values) != 1:
            raise ValueError(f"Stream.update takes one observation, not {len(values)}")
        if absent[0] and self._missing == OBSERVE:
            raise ValueError(f"Stream.update: the observation {y!r} is missing; missing='elapse' or 'skip' accepts that")
        if not absent[0]:
            self._learner.check_observations(values)
        with self._alone:
            if values.shape != self._y.shape:
                self._y = np.zeros_like(values)
                self._bind(self._state)
            self._y[0] = values[0]
            if absent[0]:
                self._pass_time(self._missing)
            else:
                self._with_room(lambda: self._observe())
            return self._last_step()

    def _passing(self) -> Callable[[], None]:
        """The step without an observation: compiled at once where missing ones are accepted, else by the first reset or gap."""
        if self._pass is None:
            self._pass = Call(drivers.step_without_observation, self._learner, self._state, self._y, self._event, self._out).run
        return self._pass

    def _pass_time(self, event: int, steps: int = 1) -> None:
        self._event[:] = event, steps
        self._with_room(lambda: self._passing()())

    def _with_room(self, advance: Callable[[], None]) -> None:
        """Advance; where the state was full, with more room."""
        advance()
        while self._out[2 * self._size + FULL] != 0.0:
            self._bind(self._learner.grow(self._state))
            advance()

    def _last_step(self) -> Step:
        numbers, size = self._out.tolist(), self._size
        mean, variance = numbers[:size], numbers[size : 2 * size]
        first = (mean[0], variance[0]) if size == 1 else (tuple(mean), tuple(variance))
        return self._step_class((*first, *numbers[2 * size : 2 * size + self._items]))
