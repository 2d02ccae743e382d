"""Fit a model to one person: the parameters that make the responses most probable, or most plausible given a prior.

Parameters are searched on the real line, from several starts. Whole numbers are tried one by one.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np

from volatilis.behaviour.fitting.parameters import WHOLE, AnyPrior, Unit, resolved, searched, unit_of
from volatilis.behaviour.fitting.search import Objective, least, to_search
from volatilis.behaviour.fitting.uncertainty import inverse_hessian, profile_intervals, warnings_about
from volatilis.behaviour.models import Model
from volatilis.behaviour.people import Person


class Fit(NamedTuple):
    """The fit of a model to one person.

    names          the free parameters that vary continuously, in the order of `x`
    values         all free parameters, on their natural scales
    x, covariance  the optimum on the real line, and the inverse of the Hessian there (NaN where it has none)
    has_prior      whether it is the most plausible point under a prior, or that where the responses are most probable
    log_prior      of x; 0 without a prior
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
    """Maximum likelihood or, with a prior, maximum a posteriori.

    starts    from how many points a search sets out; with one parameter to search, a scan has three points for each
    seed      of the starts, and of learners that sample
    unit      the outcome's unit; None: this person's own. Give one for all where people are to be compared or share a prior
    profile   intervals from the profile of the likelihood, besides those from its curvature
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
    unit = unit or unit_of(person.outcomes())
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
        warnings=_warnings(person, warnings_about(free, best, covariance)),
        profile=profiled,
    )


def _warnings(person: Person, warnings: tuple[str, ...]) -> tuple[str, ...]:
    given = np.concatenate([part.given[part.scored] for part in person.parts])
    if given.size > 1 and np.all(given == given[0]):
        return ("all responses are alike", *warnings)
    return warnings


def intervals(fit: Fit, unit: Unit = Unit(0.0, 1.0), level: float = 0.95) -> dict[str, tuple[float, float, float]]:  # noqa: B008
    """Standard error and interval of each continuous parameter on its natural scale, from the curvature on the real line."""
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
