"""Fit a model to one person: the parameters that make the responses most probable, or most plausible given a prior.

Parameters are searched on the real line, from several starts. Whole numbers are tried one by one.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from volatilis.behaviour.fitting.baseline import warnings_of_responses
from volatilis.behaviour.fitting.parameters import WHOLE, AnyPrior, Searched, Unit, resolved, searched
from volatilis.behaviour.fitting.search import Objective, descend, least, to_search
from volatilis.behaviour.models import Model
from volatilis.behaviour.people import Person


class Fit(NamedTuple):
    """The fit of a model to one person; `fit` returns it.

    person, label, log_likelihood, responses, evaluations   who, with which model, and how likely how many responses are
    names          the free parameters that vary continuously, in the order of `x`
    values         all free parameters, on their natural scales
    x, covariance  the optimum on the real line, and the inverse of the Hessian there (NaN where it has none)
    has_prior, log_prior   whether x is the most plausible point under a prior; and the log prior there, 0 without one
    warnings       what must be known before a value is used
    profile        95 % intervals from the profile of the likelihood, where they were requested
    """

    person: str
    label: str
    names: tuple[str, ...]
    values: dict[str, float]
    x: np.ndarray
    covariance: np.ndarray
    log_likelihood: float
    has_prior: bool
    log_prior: float
    responses: int
    evaluations: int
    warnings: tuple[str, ...]
    profile: dict[str, tuple[float, float]] = {}  # noqa: RUF012 (never changed)


def fit(
    model: Model,
    person: Person,
    starts: int = 10,
    seed: int = 0,
    prior: AnyPrior = None,
    unit: Unit | None = None,
    profile: bool = False,
) -> Fit:
    """Fit a model to one person: maximum likelihood or, with a prior, maximum a posteriori.

    model     a learner and a response model, with what is free: `Model.parse`
    person    one of `read_people(...).persons`
    prior     of the free parameters; None: maximum likelihood
    starts    from how many points a search sets out; with one parameter to search, a scan has three points for each
    seed      of the starts, and of learners that sample
    unit      the outcome's unit; None: this person's own. Give one for all where people are to be compared or share a prior
    profile   intervals from the profile of the likelihood, besides those from its curvature

    Returns a Fit: values, covariance, log likelihood and warnings. Raises ValueError for a person with too few responses.

    >>> from volatilis.behaviour import Model, Source, fit, intervals, read_people
    >>> model = Model.parse("gaussian:sigma=10,mu_0=150,sigma_0=50", "varsmile:m=free", "gaussian:sd=free")
    >>> one = fit(model, read_people(Source("people.csv"), model).persons[0], starts=3)
    >>> round(one.values["m"], 2), [round(number, 2) for number in intervals(one)["m"]]  # its standard error, and 95 %
    (0.28, [0.09, 0.14, 0.54])
    """
    if starts < 1:
        raise ValueError(f"starts = {starts} is not accepted; it must be a whole number, 1 or more")
    if person.responses == 0:
        raise ValueError(f"{person.name}: there is no response to fit")
    if prior is None and person.responses <= len(model.free()):
        raise ValueError(f"{person.name}: {len(model.free())} parameters cannot be estimated from {person.responses} response(s)")
    whole = [name for name in model.free() if name in WHOLE]
    fits = [
        _fit_continuous(model, person, dict(zip(whole, numbers, strict=True)), starts, seed, prior, unit, profile)
        for numbers in itertools.product(*(WHOLE[name] for name in whole))
    ]
    best = max(fits, key=lambda one: one.log_likelihood + one.log_prior)
    ends = tuple(f"{name} is at its bound" for name in whole if best.values[name] in (WHOLE[name][0], WHOLE[name][-1]))
    return best._replace(warnings=(*best.warnings, *ends))


def _fit_continuous(
    model: Model,
    person: Person,
    fixed: dict[str, float],
    starts: int,
    seed: int,
    prior: AnyPrior,
    unit: Unit | None,
    profile: bool,
) -> Fit:
    unit = unit or model.unit([person])
    free = [searched(name, unit) for name in model.free() if name not in WHOLE]
    stated = resolved(prior, free)
    try:
        objective = Objective(model, person, fixed, free, stated, seed)
    except (TypeError, ValueError) as error:  # a learner, a response model or data that do not go together
        raise ValueError(f"{person.name}: {error}") from None
    sought = to_search(model, person, objective)
    point, worth = least(sought, starts, seed)
    if not math.isfinite(worth):
        possible = f"are all responses possible under {model.response.text!r}?"
        raise ValueError(f"{person.name}: no start has a finite likelihood; {possible}")
    best = sought.whole(point)
    covariance = inverse_hessian(objective, best, free)
    values = fixed | {one.name: one.natural(x) for one, x in zip(free, best.tolist(), strict=True)}
    log_prior = stated.log_density(best) if stated is not None else 0.0
    profiled = profile_intervals(objective, best) if profile else {}
    return Fit(
        person=person.name,
        label=model.label,
        names=tuple(one.name for one in free),
        values={name: values[name] for name in model.free()},
        x=best,
        covariance=covariance,
        log_likelihood=-worth - log_prior,
        has_prior=stated is not None,
        log_prior=log_prior,
        responses=person.responses,
        evaluations=objective.evaluations,
        warnings=(*warnings_of_responses(model, person, -worth - log_prior), *warnings_about(free, best, covariance)),
        profile=profiled,
    )


def intervals(fit: Fit, unit: Unit = Unit(0.0, 1.0), level: float = 0.95) -> dict[str, tuple[float, float, float]]:  # noqa: B008
    """Standard error and interval of each continuous parameter on its natural scale, from the curvature on the real line.

    fit     what `fit` returned
    unit    the outcome's unit that it was fitted with
    level   the probability that an interval covers

    Returns for each name its standard error and the two ends; NaN where there is no curvature. Raises nothing. Example: `fit`.
    """
    from scipy.special import ndtri

    z, result = float(ndtri(0.5 + 0.5 * level)), {}
    for i, name in enumerate(fit.names):
        one, half = searched(name, unit), float(np.sqrt(fit.covariance[i, i]))
        slope = (one.natural(fit.x[i] + 1e-5) - one.natural(fit.x[i] - 1e-5)) / 2e-5
        ends = sorted((one.natural(fit.x[i] - z * half), one.natural(fit.x[i] + z * half))) if half == half else (np.nan, np.nan)
        result[name] = (abs(slope) * half, *ends)
    return result


def log_evidence(fit: Fit) -> float:
    """Laplace's approximation: the posterior is a normal around its mode. NaN without a prior, and without a curvature.

    A whole number that was free costs the logarithm of how many were tried.
    """
    if not fit.has_prior or not np.all(np.isfinite(fit.covariance)):
        return math.nan
    tried = sum(math.log(len(WHOLE[name])) for name in fit.values if name in WHOLE)
    room = 0.5 * (fit.x.size * math.log(2.0 * math.pi) + float(np.linalg.slogdet(fit.covariance)[1])) if fit.x.size else 0.0
    return fit.log_likelihood + fit.log_prior + room - tried


# --- how certain a fit is ----------------------------------------------------------------------------------------------
#
# Standard errors from the curvature at the optimum, intervals from the profile. An end of a profile interval is where the log
# likelihood (or posterior), at its best over all other parameters, is 1.92 below its largest value: half the 95 % point of a
# chi-squared distribution with one degree of freedom. Unlike the curvature it follows a surface that is no parabola; it costs
# some hundred evaluations more.

ALIKE = 0.98  # two parameters with a correlation beyond this do the same
AT_BOUND = 1e-3  # of the range
STEPS = (1e-6, 0.1)  # the smallest and the widest, of the range
RISE = 1.0  # of minus the log likelihood, 1.4 standard errors from its least
CLOSE = 1.3  # a step within this factor will do
DROP = 1.9207294103470625  # half of 1.96^2: how far the log likelihood falls to the end of a profile interval


def inverse_hessian(objective: Callable[[np.ndarray], float], x: np.ndarray, free: Sequence[Searched]) -> np.ndarray:
    """From the surface 1.4 and 2.8 standard errors away. NaN for a parameter at its bound, or where the surface is flat; all NaN
    where the Hessian of the rest is not positive definite.

    Closer to the optimum, where a second derivative is usually taken, the surface is rough: absolute errors have edges, merged
    or sampled hypotheses jump, and the smallest value is the lowest of many local dips.
    """
    covariance = np.full((x.size, x.size), np.nan)
    inner = [i for i, one in enumerate(free) if not at_bound(one, x[i])]
    if not inner:
        return covariance
    here = objective(x)

    def at(*moves: tuple[int, float]) -> float:
        moved = x.copy()
        for i, move in moves:
            moved[i] += move
        return objective(moved)

    def rise(i: int, step: float) -> float:
        return 0.5 * (at((i, step)) + at((i, -step))) - here

    steps = {i: _step(lambda step, i=i: rise(i, step), abs(free[i].high - free[i].low)) for i in inner}  # type: ignore[misc]
    hessian = np.diag([2.0 * (rise(i, 2.0 * steps[i]) - rise(i, steps[i])) / (3.0 * steps[i] ** 2) for i in inner])
    for k, i in enumerate(inner):
        for m, j in enumerate(inner[:k]):
            a, b = steps[i], steps[j]
            corners = at((i, a), (j, b)) - at((i, a), (j, -b)) - at((i, -a), (j, b)) + at((i, -a), (j, -b))
            hessian[k, m] = hessian[m, k] = corners / (4.0 * a * b)
    curved = np.flatnonzero(np.isfinite(hessian).all(axis=1) & (np.diag(hessian) > 0.0))  # one that is flat does not spoil others
    bent, among = hessian[np.ix_(curved, curved)], np.array(inner)[curved]
    if curved.size and np.linalg.eigvalsh(bent).min() > 0.0:
        covariance[np.ix_(among, among)] = np.linalg.inv(bent)
    return covariance


def _step(rise: Callable[[float], float], width: float) -> float:
    """About 1.4 standard errors, by bisection; the widest step where the surface never rises so far."""
    low, high = (share * width for share in STEPS)
    while high > CLOSE * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if rise(middle) > RISE else (middle, high)
    return high


def at_bound(one: Searched, x: float) -> bool:
    return min(abs(x - one.low), abs(x - one.high)) < AT_BOUND * abs(one.high - one.low)


def warnings_about(free: Sequence[Searched], x: np.ndarray, covariance: np.ndarray) -> tuple[str, ...]:
    """What must be known before a value is used."""
    warnings = []
    for i, one in enumerate(free):
        if at_bound(one, x[i]):
            warnings.append(f"{one.name} is at its bound")
        elif not covariance[i, i] > 0.0 or np.sqrt(covariance[i, i]) > 0.5 * abs(one.last - one.first):
            # less sure than the weak prior, which knows only what is usual
            warnings.append(f"{one.name} is not identified")
    spread = np.sqrt(np.diag(covariance))
    for i in range(len(free)):
        for j in range(i):
            if abs(covariance[i, j]) > ALIKE * spread[i] * spread[j]:
                warnings.append(f"{free[j].name} and {free[i].name} cannot be told apart")
    return tuple(warnings)


# --- from the profile ----------------------------------------------------------------------------------------------------


class _OneFixed:
    """The objective with one coordinate held."""

    def __init__(self, full: Objective, held: int) -> None:
        self._full, self._held, self.samples = full, held, full.samples
        self.free: Sequence[Searched] = [one for i, one in enumerate(full.free) if i != held]
        self.value = 0.0

    def __call__(self, x: np.ndarray) -> float:
        return self._full(np.insert(x, self._held, self.value))


def profile_intervals(objective: Objective, best: np.ndarray) -> dict[str, tuple[float, float]]:
    """For each continuous parameter, on its natural scale; the end of its range where the likelihood never falls that far."""
    intervals, least = {}, objective(best)
    for i, one in enumerate(objective.free):
        ends = [_end(objective, best, i, bound, least + DROP) for bound in (one.low, one.high)]
        low, high = sorted(one.natural(end) for end in ends)
        intervals[one.name] = (low, high)
    return intervals


def _end(objective: Objective, best: np.ndarray, i: int, bound: float, level: float) -> float:
    from scipy.optimize import brentq

    one_fixed, others = _OneFixed(objective, i), np.delete(best, i)

    @functools.cache  # a second search from elsewhere may end a little lower, and turn the sign at an end of the bracket
    def above(value: float) -> float:
        nonlocal others
        one_fixed.value = value
        point, worth = descend(one_fixed, others)
        others = point if math.isfinite(worth) else others  # the next search begins where this one ended
        return min(worth, 1e12) - level

    inner, step = float(best[i]), 0.02 * abs(bound - best[i]) + 1e-6
    while abs(inner - bound) > 1e-12:
        outer = bound if abs(bound - inner) <= step else inner + math.copysign(step, bound - inner)
        if above(outer) > 0.0:
            return float(brentq(above, inner, outer, xtol=1e-5))
        inner, step = outer, 2.0 * step
    return bound
