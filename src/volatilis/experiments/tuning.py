"""The free parameter of a learner for an environment: the value with the least mean squared error.

    tuned = tune(VarSMiLe, environment, steps=100_000, seeds=3)
    tuned.learner, tuned.value, tuned.at_bound

All values are tried on the same sequences (common random numbers), so their errors differ by what the values do and not by
chance. The search is bounded, in the parameter's own scale: a coarse scan for the right valley, then Brent's method in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from volatilis._compiler import Call
from volatilis._core.seeds import generator_key
from volatilis.environments import ChangingEnvironment
from volatilis.learners import Leaky, Nas10, Nas10Star, Nas12, Nas12Star, SMiLe, VarSMiLe
from volatilis.running import drivers

SCAN = 9  # points of the coarse scan
CLOSE = 0.01  # of the range in its own scale: how exactly the optimum is found


class Parameter(NamedTuple):
    """A free parameter: its name, its bounds, and the scale in which equal steps matter equally."""

    name: str
    low: float
    high: float
    to_scale: Callable[[float], float]
    from_scale: Callable[[float], float]


class Stopped(Exception):  # noqa: N818 (not an error: somebody asked for it)
    """The work was asked to stop."""


class Tuned(NamedTuple):
    """The best value found, its mean squared error, the learner with it, and which bound it lies at, if it does."""

    value: float
    error: float
    learner: Any
    at_bound: str | None
    evaluations: int


def _logit(p: float) -> float:
    return math.log(p / (1.0 - p))


def _inverse_logit(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x))


def _log_memory(omega: float) -> float:
    return -math.log1p(-omega)


def _memory_to_omega(x: float) -> float:
    return -math.expm1(-x)


FREE: dict[type, Parameter] = {
    VarSMiLe: Parameter("m", 1e-6, 1e3, math.log, math.exp),
    SMiLe: Parameter("m", 1e-6, 1e3, math.log, math.exp),
    Leaky: Parameter("omega", 0.0, 1.0 - 1e-6, _log_memory, _memory_to_omega),
    Nas10Star: Parameter("p_c", 1e-7, 0.999, _logit, _inverse_logit),
    Nas12Star: Parameter("p_c", 1e-7, 0.999, _logit, _inverse_logit),
    Nas10: Parameter("p_c", 1e-7, 1.0 - 1e-7, _logit, _inverse_logit),
    Nas12: Parameter("p_c", 1e-7, 1.0 - 1e-7, _logit, _inverse_logit),
}


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

    learner   a class: VarSMiLe, SMiLe, Leaky, Nas10Star, Nas12Star, Nas10 or Nas12
    seeds     how many sequences of `steps` observations, or which
    bounds    where to search; None takes wide ones
    grid      try these values instead, in this order
    stop      asked before each value; True ends the search with `Stopped`
    """
    if learner not in FREE:
        names = ", ".join(known.__name__ for known in FREE)
        raise TypeError(f"tune: {getattr(learner, '__name__', learner)!r} has no free parameter; one of {names} is accepted")
    parameter = FREE[learner]
    if bounds is not None:
        parameter = _within(parameter, *bounds)
    sequences = [_Sequence(environment, steps, seed) for seed in (range(seeds) if isinstance(seeds, int) else seeds)]
    evaluations = 0

    def make(value: float) -> Any:
        if learner in (Nas10, Nas12):
            return learner(environment.family.sigma, value, environment.family.mu_0)
        return learner(environment.family, value)

    def error(value: float) -> float:
        nonlocal evaluations
        if stop():
            raise Stopped
        evaluations += 1
        return float(np.mean([sequence.error(make(value)) for sequence in sequences]))

    if grid is not None:
        values = [float(value) for value in grid]
        errors = [error(value) for value in values]
        best = int(np.argmin(errors))
        at = "low" if best == 0 else "high" if best == len(values) - 1 else None
        return Tuned(values[best], errors[best], make(values[best]), at, evaluations)
    value, least, at = _search(error, parameter)
    return Tuned(value, least, make(value), at, evaluations)


def _within(parameter: Parameter, low: float, high: float) -> Parameter:
    if not low < high:
        raise ValueError(f"tune: bounds ({low}, {high}) are not accepted; the first must be less than the second")
    return parameter._replace(low=low, high=high)


def _search(error: Callable[[float], float], parameter: Parameter) -> tuple[float, float, str | None]:
    from scipy.optimize import minimize_scalar

    low, high = parameter.to_scale(parameter.low), parameter.to_scale(parameter.high)
    points = np.linspace(low, high, SCAN)
    values = [parameter.low, *(parameter.from_scale(x) for x in points[1:-1]), parameter.high]
    errors = [error(value) for value in values]
    best = int(np.argmin(errors))
    left, right = points[max(best - 1, 0)], points[min(best + 1, SCAN - 1)]
    found = minimize_scalar(
        lambda x: error(parameter.from_scale(x)), bounds=(left, right), method="bounded", options={"xatol": CLOSE * (high - low)}
    )
    value, least = (parameter.from_scale(found.x), float(found.fun)) if found.fun < errors[best] else (values[best], errors[best])
    place = (parameter.to_scale(value) - low) / (high - low)
    return value, least, "low" if place < CLOSE else "high" if place > 1.0 - CLOSE else None


class _Sequence:
    """One sequence, kept, on which many learners are tried."""

    def __init__(self, environment: ChangingEnvironment, steps: int, seed: int) -> None:
        world, self._key = np.random.SeedSequence([seed, 7]).spawn(2)
        sample = environment.sample(steps, world)
        self._ys = environment.family.observations(sample.y)[0]
        self._theta = np.ascontiguousarray(sample.theta.reshape(steps, environment.family.size()))
        self._since = np.ones(steps, dtype=np.int64)

    def error(self, learner: Any) -> float:
        steps, sums, state = len(self._ys), np.zeros(2), learner.init(generator_key(self._key))
        arguments = (self._theta, self._theta, self._since, np.array([0, steps]), sums, np.zeros((2, 0)))
        Call(drivers.accumulate_errors, learner, state, self._ys, *arguments, release_gil=True)()
        return float(sums[0] / steps)
