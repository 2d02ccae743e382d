"""Fit a model to one person: the parameters that make the responses most probable, or most plausible given a prior.

Several starts, spread evenly over the parameters' ranges from a seed; from each a quasi-Newton search on the real line (a simplex
search where the likelihood is itself random). Whole numbers are tried one by one.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from volatilis._seeds import generator_key
from volatilis.behaviour.models import Model
from volatilis.behaviour.parameters import WHOLE, Searched, Unit, searched, unit_of
from volatilis.behaviour.priors import AnyPrior, Prior, resolved
from volatilis.behaviour.scoring import Person, log_likelihood

RUNS = 8  # of a learner that samples, over which its likelihood is averaged
NOT_IDENTIFIED = 0.25  # a standard error beyond this share of the whole range says that the data do not tell
AT_BOUND = 1e-3  # of the range


class Fit(NamedTuple):
    """What was found for one person.

    names          the free parameters that vary continuously, in the order of `x`
    values         all free parameters, on their natural scales
    x, covariance  the optimum on the real line, and the inverse of the Hessian there (NaN where it has none)
    log_prior      of x; 0 without a prior
    warnings       what must be known before a value is used
    """

    person: str
    label: str
    names: tuple[str, ...]
    values: dict[str, float]
    x: np.ndarray
    covariance: np.ndarray
    log_likelihood: float
    log_prior: float
    responses: int
    evaluations: int
    warnings: tuple[str, ...]


def fit(
    model: Model,
    person: Person,
    starts: int = 10,
    seed: int = 0,
    prior: AnyPrior = None,
    unit: Unit | None = None,
) -> Fit:
    """Maximum likelihood or, with a prior, maximum a posteriori.

    unit      the outcome's unit; None: this person's own. Give one for all where people are to be compared or share a prior
    """
    if person.responses == 0:
        raise ValueError(f"{person.name}: there is no response to fit")
    whole = [name for name in model.free() if name in WHOLE]
    found = [
        _fit_continuous(model, person, dict(zip(whole, numbers, strict=True)), starts, seed, prior, unit)
        for numbers in itertools.product(*(WHOLE[name] for name in whole))
    ]
    return max(found, key=lambda one: one.log_likelihood + one.log_prior)


def _fit_continuous(
    model: Model,
    person: Person,
    fixed: dict[str, Any],
    starts: int,
    seed: int,
    prior: AnyPrior,
    unit: Unit | None,
) -> Fit:
    unit = unit or unit_of(person.outcomes())
    free = [searched(name, unit) for name in model.free() if name not in WHOLE]
    stated = resolved(prior, free)
    objective = Objective(model, person, fixed, free, stated, seed)
    best, worth = np.zeros(0), objective(np.zeros(0)) if not free else np.inf
    search = _simplex if model.samples() else _quasi_newton
    for start in starting_points(free, starts, seed):
        x, value = search(objective, start, free)
        if value < worth:
            best, worth = x, value
    if not np.isfinite(worth):
        possible = f"are all responses possible under {model.response.text!r}?"
        raise ValueError(f"{person.name}: no start has a finite likelihood; {possible}")
    covariance = inverse_hessian(objective, best, free)
    chosen = {name: fixed[name] for name in model.free() if name in WHOLE}
    values = chosen | {one.name: one.natural(x) for one, x in zip(free, best, strict=True)}
    log_prior = stated.log_density(best) if stated is not None else 0.0
    names = tuple(one.name for one in free)
    told = warnings_about(free, best, covariance)
    return Fit(
        *(person.name, model.label, names, values, best, covariance),
        *(-worth - log_prior, log_prior, person.responses, objective.evaluations, told),
    )


class Objective:
    """Minus the log posterior (or log likelihood) of a point on the real line; infinite where it is not a number."""

    def __init__(
        self, model: Model, person: Person, fixed: Mapping[str, Any], free: Sequence[Searched], prior: Prior | None, seed: int
    ) -> None:
        self._model, self._person, self._fixed, self._free, self._prior = model, person, dict(fixed), free, prior
        runs = RUNS if model.samples() else 1  # the same random numbers at every point
        self._keys = tuple(generator_key(np.random.SeedSequence([seed, run])) for run in range(runs))
        self.evaluations = 0

    def __call__(self, x: np.ndarray) -> float:
        self.evaluations += 1
        values = self._fixed | {one.name: one.natural(value) for one, value in zip(self._free, x.tolist(), strict=True)}
        result = -log_likelihood(lambda columns: self._model.make({**columns, **values}), self._person, self._keys)
        if self._prior is not None:
            result -= self._prior.log_density(x)
        return result if np.isfinite(result) else np.inf


def starting_points(free: Sequence[Searched], starts: int, seed: int) -> np.ndarray:
    """Spread evenly (a scrambled Sobol sequence); the middle first."""
    if not free:
        return np.zeros((0, 0))
    from scipy.stats import qmc

    low, high = np.array([one.first for one in free]), np.array([one.last for one in free])
    low, high = np.minimum(low, high), np.maximum(low, high)
    spread = qmc.Sobol(len(free), seed=np.random.default_rng(seed)).random_base2(max(int(np.ceil(np.log2(max(starts, 2)))), 1))
    return low + (high - low) * np.vstack([np.full(len(free), 0.5), spread])[:starts]


def _quasi_newton(objective: Objective, start: np.ndarray, free: Sequence[Searched]) -> tuple[np.ndarray, float]:
    from scipy.optimize import minimize

    bounds = [(min(one.low, one.high), max(one.low, one.high)) for one in free]
    ceiling = 1e12  # in place of infinity, from which no slope leads back

    def with_slope(x: np.ndarray) -> tuple[float, np.ndarray]:
        here, slope = min(objective(x), ceiling), np.empty(x.size)
        for i, (low, high) in enumerate(bounds):
            step = 1e-6 * (high - low) * (1.0 if x[i] + 1e-6 * (high - low) <= high else -1.0)
            there = x.copy()
            there[i] += step
            slope[i] = (min(objective(there), ceiling) - here) / step
        return here, slope

    with one_thread():
        done = minimize(with_slope, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 200})
    return done.x, float(done.fun) if done.fun < ceiling else np.inf


def one_thread() -> Any:
    """For the linear algebra of a handful of parameters, where starting threads takes longer than the work."""
    return _controller().limit(limits=1, user_api="blas")


@functools.cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _simplex(objective: Objective, start: np.ndarray, free: Sequence[Searched]) -> tuple[np.ndarray, float]:
    from scipy.optimize import minimize

    bounds = [(min(one.low, one.high), max(one.low, one.high)) for one in free]
    done = minimize(objective, start, method="Nelder-Mead", bounds=bounds, options={"xatol": 1e-3, "fatol": 1e-3, "maxiter": 400})
    return done.x, float(done.fun)


def inverse_hessian(objective: Objective, x: np.ndarray, free: Sequence[Searched]) -> np.ndarray:
    """By central differences; NaN where the surface is not a bowl."""
    n = x.size
    steps = np.array([2e-4 * abs(one.high - one.low) for one in free])
    if objective._model.samples():
        steps *= 20.0  # wide enough to see over the unevenness of a sampled likelihood
    hessian, here = np.empty((n, n)), objective(x)

    def at(*moves: tuple[int, float]) -> float:
        there = x.copy()
        for i, move in moves:
            there[i] += move * steps[i]
        return objective(there)

    for i in range(n):
        hessian[i, i] = (at((i, 1.0)) - 2.0 * here + at((i, -1.0))) / steps[i] ** 2
        for j in range(i):
            corners = at((i, 1.0), (j, 1.0)) - at((i, 1.0), (j, -1.0)) - at((i, -1.0), (j, 1.0)) + at((i, -1.0), (j, -1.0))
            hessian[i, j] = hessian[j, i] = corners / (4.0 * steps[i] * steps[j])
    if n == 0 or not np.all(np.isfinite(hessian)) or np.linalg.eigvalsh(hessian).min() <= 0.0:
        return np.full((n, n), np.nan)
    return np.linalg.inv(hessian)


def warnings_about(free: Sequence[Searched], x: np.ndarray, covariance: np.ndarray) -> tuple[str, ...]:
    told = []
    for i, one in enumerate(free):
        width = abs(one.high - one.low)
        if min(abs(x[i] - one.low), abs(x[i] - one.high)) < AT_BOUND * width:
            told.append(f"{one.name} is at its bound")
        elif not covariance[i, i] > 0.0 or np.sqrt(covariance[i, i]) > NOT_IDENTIFIED * width:
            told.append(f"{one.name} is not identified")
    return tuple(told)


def intervals(fit: Fit, unit: Unit, level: float = 0.95) -> dict[str, tuple[float, float, float]]:
    """Standard error and interval of each continuous parameter on its natural scale, from the curvature on the real line."""
    from scipy.stats import norm

    z, found = float(norm.ppf(0.5 + 0.5 * level)), {}
    for i, name in enumerate(fit.names):
        one, half = searched(name, unit), float(np.sqrt(fit.covariance[i, i]))
        slope = (one.natural(fit.x[i] + 1e-5) - one.natural(fit.x[i] - 1e-5)) / 2e-5
        ends = sorted((one.natural(fit.x[i] - z * half), one.natural(fit.x[i] + z * half))) if half == half else (np.nan, np.nan)
        found[name] = (abs(slope) * half, *ends)
    return found
