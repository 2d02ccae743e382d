"""The search for the best parameters: what is made as small as it can be, and how.

The objective is minus the log likelihood, less the log prior, of a point on the real line. Searches start from several points.

One parameter: a scan over its whole range, then Brent's method around every valley of the scan. Several: a quasi-Newton search
with slopes by differences from every start. A likelihood that is itself random: a simplex search from every start.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from volatilis._core.seeds import generator_key
from volatilis.behaviour.fitting.parameters import Prior, Searched
from volatilis.behaviour.likelihood import Likelihood
from volatilis.behaviour.models import Model, noise_alone
from volatilis.behaviour.people import Person

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

COPIES = 64  # of a learner that samples
PRECISE = 0.03  # noise below this share of the noise tried leaves too few digits of the likelihood
SCAN, FEWEST = 3, 10  # points of the scan, per start and at least
CLOSE = 1e-5  # on the real line, where a standard error is rarely below 1e-2
CEILING = 1e12  # in place of infinity, from which no slope leads back


class Objective:
    """Infinite where it is not a number. `free` says what the point's coordinates are."""

    def __init__(
        self, model: Model, person: Person, fixed: Mapping[str, float], free: Sequence[Searched], prior: Prior | None, seed: int
    ) -> None:
        self.free, self.prior, self.samples = tuple(free), prior, model.samples()
        ends = {one.name: (one.natural(one.low), one.natural(one.high)) for one in free}
        copies = COPIES if self.samples else 1  # the same random numbers at every point
        keys = tuple(generator_key(np.random.SeedSequence([seed, copy])) for copy in range(copies))
        self._likelihood = Likelihood(lambda values: model.make({**values, **fixed}), person, ends, keys)
        self.evaluations = 0

    def __call__(self, x: np.ndarray) -> float:
        self.evaluations += 1
        result = -self._likelihood([one.natural(value) for one, value in zip(self.free, x.tolist(), strict=True)])
        if self.prior is not None:
            result -= self.prior.log_density(x)
        return result if math.isfinite(result) else math.inf

    def whole(self, x: np.ndarray) -> np.ndarray:
        """All coordinates, of those that are searched."""
        return x


class WithoutNoise:
    """The same with the response noise at its best for whatever the other parameters are: one dimension less to search.

    Where the noise sd is all there is, minus the log likelihood is A / sd^p + n log sd + n c, with A what the other parameters
    decide: one evaluation at any sd tells A, and the best sd is known without a search (with a prior, but for Newton's method).
    """

    def __init__(self, full: Objective, responses: int, power: float, constant: float) -> None:
        self._full, self._n, self._p, self._c = full, responses, power, constant
        self._at = [one.name for one in full.free].index("sd")
        self.free = (*full.free[: self._at], *full.free[self._at + 1 :])
        self._sd, self.samples = full.free[self._at], full.samples
        self._others = np.array([i for i in range(len(full.free)) if i != self._at], dtype=int)

    def __call__(self, x: np.ndarray) -> float:
        return self._best(x)[0]

    def whole(self, x: np.ndarray) -> np.ndarray:
        return self._with(x, self._best(x)[1])

    def _with(self, x: np.ndarray, u: float) -> np.ndarray:
        point = np.empty(len(self._full.free))
        point[self._others], point[self._at] = x, u
        return point

    def _best(self, x: np.ndarray) -> tuple[float, float]:
        """The least value over all noise, and log sd there."""
        tried = max(self._sd.first, self._sd.last)
        value, u = self._from(x, tried)
        return self._from(x, u) if u < tried + math.log(PRECISE) else (value, u)

    def _from(self, x: np.ndarray, tried: float) -> tuple[float, float]:
        point, prior = self._with(x, tried), self._full.prior
        value = self._full(point)
        if not math.isfinite(value):
            return value, tried
        rest = prior.log_density(point) if prior is not None else 0.0
        a = max((value + rest - self._n * (tried + self._c)) * math.exp(self._p * tried), 1e-300)
        u = math.log(self._p * a / self._n) / self._p
        if prior is not None:
            u = self._with_prior(a, u, float(prior.mean[self._at]), float(prior.sd[self._at]) ** -2)
        u = min(max(u, self._sd.low), self._sd.high)
        value = a * math.exp(-self._p * u) + self._n * (u + self._c)
        return value - (prior.log_density(self._with(x, u)) if prior is not None else 0.0), u

    def _with_prior(self, a: float, u: float, mean: float, precision: float) -> float:
        """Where the slope -p A e^(-p u) + n + (u - mean) / sd^2 is 0: it only rises, ever less steeply, so Newton gets there."""
        for _ in range(100):
            steep = self._p * a * math.exp(-self._p * u)
            step = (self._n - steep + (u - mean) * precision) / (self._p * steep + precision)
            u -= step
            if abs(step) < 1e-13 * max(abs(u), 1.0):
                break
        return u


def to_search(model: Model, person: Person, full: Objective) -> Objective | WithoutNoise:
    """What is to be searched: without the noise where that can be found without a search."""
    known = noise_alone(model)
    return full if known is None else WithoutNoise(full, person.responses, *known)


# --- searches ------------------------------------------------------------------------------------------------------------


class Searchable(Protocol):
    """A function of a point, the range of each coordinate, and whether its values are random."""

    @property
    def free(self) -> Sequence[Searched]: ...
    @property
    def samples(self) -> bool: ...
    def __call__(self, x: np.ndarray, /) -> float: ...


def least(objective: Searchable, starts: int, seed: int) -> tuple[np.ndarray, float]:
    """The best point found, and its value: infinite if none is finite."""
    if not objective.free:
        return np.zeros(0), objective(np.zeros(0))
    if len(objective.free) == 1 and not objective.samples:
        return _scan(objective, max(SCAN * starts, FEWEST) + 1)
    ends = [descend(objective, start) for start in starting_points(objective.free, starts, seed)]
    return min(ends, key=lambda one: one[1])


def descend(objective: Searchable, start: np.ndarray) -> tuple[np.ndarray, float]:
    """From one start to the nearest optimum."""
    if not objective.free:
        return start, objective(start)
    return _simplex(objective, start) if objective.samples else _quasi_newton(objective, start)


def starting_points(free: Sequence[Searched], starts: int, seed: int) -> np.ndarray:
    """Spread evenly (a scrambled Sobol sequence) over where parameters usually lie; the middle first."""
    from scipy.stats import qmc

    low, high = np.array([min(one.first, one.last) for one in free]), np.array([max(one.first, one.last) for one in free])
    points = qmc.Sobol(len(free), seed=np.random.default_rng(seed)).random_base2(max(math.ceil(math.log2(max(starts, 2))), 1))
    return low + (high - low) * np.vstack([np.full(len(free), 0.5), points])[:starts]


def bounds_of(free: Sequence[Searched]) -> list[tuple[float, float]]:
    return [(min(one.low, one.high), max(one.low, one.high)) for one in free]


def _scan(objective: Searchable, points: int) -> tuple[np.ndarray, float]:
    from scipy.optimize import minimize_scalar

    at = np.linspace(*bounds_of(objective.free)[0], points)
    values = [objective(x) for x in at.reshape(-1, 1)]
    lowest = int(np.argmin(values))
    best, worth = float(at[lowest]), values[lowest]
    padded = [math.inf, *values, math.inf]
    for i in range(points):
        if math.isfinite(values[i]) and padded[i] >= values[i] <= padded[i + 2]:
            ends = (at[max(i - 1, 0)], at[min(i + 1, points - 1)])
            done = minimize_scalar(
                lambda x: min(objective(np.array([x])), CEILING), bounds=ends, method="bounded", options={"xatol": CLOSE}
            )
            if done.fun < worth:
                best, worth = float(done.x), float(done.fun)
    return np.array([best]), worth


def _quasi_newton(objective: Searchable, start: np.ndarray) -> tuple[np.ndarray, float]:
    from scipy.optimize import minimize

    bounds = bounds_of(objective.free)
    steps = [1e-6 * (high - low) for low, high in bounds]
    best, least_value = start, math.inf  # on a surface that jumps, the last point of a search need not be its lowest

    def with_slope(x: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal best, least_value
        here, slope = min(objective(x), CEILING), np.empty(x.size)
        if here < least_value:
            best, least_value = x.copy(), here
        for i, (_, high) in enumerate(bounds):
            moved, step = x.copy(), steps[i] if x[i] + steps[i] <= high else -steps[i]
            moved[i] += step
            slope[i] = (min(objective(moved), CEILING) - here) / step
        return here, slope

    with one_thread():
        minimize(with_slope, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 200})
    return best, least_value if least_value < CEILING else math.inf


def _simplex(objective: Searchable, start: np.ndarray) -> tuple[np.ndarray, float]:
    from scipy.optimize import minimize

    bounds = bounds_of(objective.free)
    enough = {"xatol": 1e-3, "fatol": 1e-3, "maxiter": 400}
    done = minimize(lambda x: min(objective(x), CEILING), start, method="Nelder-Mead", bounds=bounds, options=enough)
    return done.x, float(done.fun) if done.fun < CEILING else math.inf


def one_thread() -> contextlib.AbstractContextManager[object]:
    """One thread for the linear algebra of a handful of parameters: starting more takes longer than the work."""
    return _controller().limit(limits=1, user_api="blas")


@functools.cache
def _controller() -> ThreadpoolController:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
