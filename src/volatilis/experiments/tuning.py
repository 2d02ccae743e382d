"""The free parameter of a learner for an environment: the value with the least mean squared error.

    tuned = tune(VarSMiLe, environment, steps=100_000, seeds=3)
    tuned.learner, tuned.value, tuned.at_bound

All values are tried on the same sequences (common random numbers), so their errors differ by what the values do and not by
chance. The search is bounded, in the parameter's own scale: a coarse scan for the right valley, on the first tenth of long
sequences, then Brent's method in it on all of them. Where that ends at the valley's edge the scan is made anew on all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from volatilis._compiler import Call
from volatilis._core.records import Range
from volatilis._core.seeds import generator_key
from volatilis.environments import ChangingEnvironment
from volatilis.learners import records
from volatilis.learners._base import Learner
from volatilis.learners._kinds import RECORDS
from volatilis.running import drivers

SCAN = 9  # points of the coarse scan
FEWEST = 10_000  # observations of a sequence that the scan takes at least
CLOSE = 0.01  # of the range in its own scale: how exactly the optimum is found


class TuningStopped(Exception):  # noqa: N818 (not an error: somebody asked for it)
    """The work was asked to stop."""


class Tuned(NamedTuple):
    """The best value found, its mean squared error, the learner with it, and which bound it lies at, if it does."""

    value: float
    error: float
    learner: Learner
    at_bound: str | None
    evaluations: int


def free_parameter(learner: type) -> str:
    """The name of the parameter that is tuned."""
    tuned = RECORDS[learner].tuned if learner in RECORDS else None
    if tuned is None:
        names = ", ".join(record.cls.__name__ for record in records() if record.tuned is not None)
        raise TypeError(f"tune: {learner.__name__!r} has no parameter to tune; one of {names} is accepted")
    return tuned


def tune(
    learner: type,
    environment: ChangingEnvironment,
    steps: int = 100_000,
    seeds: int | Sequence[int] = 3,
    bounds: tuple[float, float] | None = None,
    grid: Sequence[float] | np.ndarray | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Tuned:
    """Find the best value of a learner's free parameter.

    learner   a class whose record names the parameter: VarSMiLe, SMiLe, Leaky, Nas10Star, Nas12Star, Nas10 or Nas12
    seeds     how many sequences of `steps` observations, or which
    bounds    where to search, within the parameter's range; None takes the whole range
    grid      try these values instead
    stop      asked before each value; True ends the search with `TuningStopped`
    """
    name = free_parameter(learner)
    record = RECORDS[learner]
    full_range = next(one.search for one in record.parameters if one.name == name)
    assert isinstance(full_range, Range)
    searched = full_range if bounds is None else _within(full_range, *bounds)
    sequences = [_Sequence(environment, steps, seed) for seed in (range(seeds) if isinstance(seeds, int) else seeds)]
    evaluations = 0

    def make(value: float) -> Learner:
        return record.make(environment.family, {name: value})

    def error(value: float, first: int = steps) -> float:
        """On the first so many observations of each sequence."""
        nonlocal evaluations
        if stop():
            raise TuningStopped
        evaluations += 1
        return float(np.mean([sequence.error(make(value), first) for sequence in sequences]))

    if grid is not None:
        values = [float(value) for value in grid]
        errors = [error(value) for value in values]
        best = int(np.argmin(errors))
        at = "low" if best == 0 else "high" if best == len(values) - 1 else None
        return Tuned(values[best], errors[best], make(values[best]), at, evaluations)
    value, least, at = _search(error, searched, min(steps, max(steps // 10, FEWEST)), steps)
    return Tuned(value, least, make(value), at, evaluations)


def _within(searched: Range, low: float, high: float) -> Range:
    if not low < high:
        raise ValueError(f"tune: bounds ({low}, {high}) are not accepted; the first must be less than the second")
    return searched._replace(low=max(low, searched.low), high=min(high, searched.high))


def _search(error: Callable[[float, int], float], searched: Range, few: int, steps: int) -> tuple[float, float, str | None]:
    from scipy.optimize import minimize_scalar

    low, high = searched.scale.to(searched.low), searched.scale.to(searched.high)
    points = np.linspace(low, high, SCAN)
    values = [searched.low, *(searched.scale.back(x) for x in points[1:-1]), searched.high]
    errors = [error(value, few) for value in values]
    best = int(np.argmin(errors))
    left, right = points[max(best - 1, 0)], points[min(best + 1, SCAN - 1)]
    close = CLOSE * (high - low)
    refined = minimize_scalar(
        lambda x: error(searched.scale.back(x), steps), bounds=(left, right), method="bounded", options={"xatol": close}
    )
    if few < steps and ((low < left and refined.x - left < 2.0 * close) or (right < high and right - refined.x < 2.0 * close)):
        return _search(error, searched, steps, steps)
    value, least = searched.scale.back(refined.x), float(refined.fun)
    on_scan = error(values[best], steps) if few < steps else errors[best]
    if not refined.fun < on_scan:
        value, least = values[best], on_scan
    place = (searched.scale.to(value) - low) / (high - low)
    return value, least, "low" if place < CLOSE else "high" if place > 1.0 - CLOSE else None


class _Sequence:
    """One sequence, kept, on which many learners are tried."""

    def __init__(self, environment: ChangingEnvironment, steps: int, seed: int) -> None:
        world, self._key = np.random.SeedSequence([seed, 7]).spawn(2)
        sample = environment.sample(steps, world)
        self._ys = environment.family.observations(sample.y)[0]
        self._theta = np.ascontiguousarray(sample.theta.reshape(steps, environment.family.size()))
        self._since = np.ones(steps, dtype=np.int64)

    def error(self, learner: Learner, first: int | None = None) -> float:
        """The mean squared error over the first so many observations, all if not given."""
        steps = len(self._ys) if first is None else first
        sums, state = np.zeros(2), learner.init(generator_key(self._key))
        arguments = (self._theta, self._theta, self._since, np.array([0, steps]), sums, np.zeros((2, 0)))
        Call(drivers.accumulate_errors, learner, state, self._ys, *arguments, release_gil=True)()
        return float(sums[0] / steps)


class Runner:
    """A learner in a compiled loop on one sequence, piece by piece."""

    def __init__(self, driver: Callable[..., None], learner: Learner, key: int) -> None:
        self._driver, self._learner, self._state = driver, learner, learner.init(key)
        self.progress = np.zeros(2, dtype=np.int64)

    def bind(self, *arguments: np.ndarray) -> None:
        self.arguments = arguments
        self._call = Call(self._driver, self._learner, self._state, *arguments, release_gil=True)

    def advance(self, n: int) -> None:
        self.progress[:] = 0, n
        while self.progress[0] < n:
            if not self._learner.has_room(self._state):
                self._state = self._learner.grow(self._state)
                self.bind(*self.arguments)
            self._call()
