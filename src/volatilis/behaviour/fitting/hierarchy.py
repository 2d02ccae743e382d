"""Many people with one model, each a draw from a group: empirical Bayes.

On the real line a person's parameters are x_i ~ N(mu, tau^2), each parameter on its own. The group's mu and tau are found by
expectation and maximisation, each person's posterior taken as normal around its mode (Laplace):

    x_i, C_i   mode and inverse curvature of the posterior of person i under the prior N(mu, tau^2)
    mu         the mean of x_i
    tau^2      the mean of (x_i - mu)^2 + C_i

A person whose data tell little is drawn towards the group: `shrinkage` is C_i / tau^2, 0 where the data decide and 1 where the
group does.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from volatilis._core.terminal import part_of
from volatilis.behaviour.fitting.fit import Fit, log_evidence
from volatilis.behaviour.fitting.jobs import Failure, FitOptions, Fitter, Progress, fitter
from volatilis.behaviour.fitting.parameters import AnyPrior, Prior, Searched, Unit, searched, weak
from volatilis.behaviour.fitting.search import bounds_of
from volatilis.behaviour.models import Model
from volatilis.behaviour.people import Person

ROUNDS = 60
CLOSE = 1e-3  # of tau: a change of mu or tau below it ends the rounds
STEPS = 2000  # among normals, within a round
SMALLEST = 0.02  # of the weak prior's width: a group whose people do not differ, as far as can be told


class FittedGroup(NamedTuple):
    """The group of all people under one model.

    names       the continuous parameters, in the order of all arrays
    prior       the group on the real line: mu and tau
    middle      the group's parameters on their natural scales: those of a person at mu
    error       the standard error of mu
    fits        each person under the group's prior, in order
    alone       each person under the weak prior: before the group was known
    shrinkage   (persons, parameters): how much of the answer is the group's; NaN where a person could not be fitted
    without_evidence   how many people have no evidence, and are not in the group's
    rounds      that it took; converged says whether that was enough
    alike       the parameters in which people do not differ as far as can be told: tau is at its smallest
    """

    label: str
    names: tuple[str, ...]
    prior: Prior
    middle: dict[str, float]
    error: np.ndarray
    fits: list[Fit | Failure]
    alone: list[Fit | Failure]
    shrinkage: np.ndarray
    log_evidence: float
    without_evidence: int
    rounds: int
    converged: bool
    alike: tuple[str, ...]


def fit_groups(
    models: Sequence[Model],
    persons: Sequence[Person],
    *,
    starts: int = 10,
    seed: int = 0,
    workers: int | None = None,
    unit: Unit | None = None,
    progress: Progress = lambda share: None,
    folder: str | os.PathLike[str] | None = None,
    scheduler: str | None = None,
) -> list[FittedGroup]:
    """Fit people together: each has parameters of its own, drawn from a distribution that is fitted too.

    models, persons                                  what is fitted to whom
    starts, seed, workers, progress, folder, scheduler   as for `fit_all`
    unit                                             the outcome's unit, one for all; None: that of all outcomes together

    Returns a FittedGroup for each model. Raises ValueError for options that are not accepted, and where nobody can be fitted.

    >>> from volatilis.behaviour import Model, Source, fit_groups, read_people
    >>> model = Model.parse("gaussian:sigma=10,mu_0=150,sigma_0=50", "varsmile:m=free", "gaussian:sd=free")
    >>> (group,) = fit_groups([model], read_people(Source("people.csv"), model).persons[:4], starts=2, workers=1)
    >>> [round(one.values["m"], 2) for one in group.fits]
    [0.31, 0.31, 0.32, 0.31]
    """
    if len(persons) < 2:
        raise ValueError(f"a group needs two people or more, not {len(persons)}; use --method map to fit each person separately")
    unit = unit or models[0].unit(persons)
    groups = []
    with fitter(FitOptions(starts, seed, workers, folder, scheduler), len(persons)) as pool:
        for number, model in enumerate(models):
            groups.append(_fit_group(model, persons, unit, pool, part_of(progress, number, len(models))))
    progress(1.0)
    return groups


def _fit_group(
    model: Model,
    persons: Sequence[Person],
    unit: Unit,
    pool: Fitter,
    progress: Progress,
) -> FittedGroup:
    def fitted(prior: AnyPrior) -> list[Fit | Failure]:
        return [one for (one,) in pool.fit_people([model], persons, prior=prior, unit=unit)]

    alone = fits = fitted(weak)
    names = next((one.names for one in fits if isinstance(one, Fit)), ())
    if not names:
        reason = next((one.message for one in fits if isinstance(one, Failure)), "it has no continuous parameter")
        raise ValueError(f"{model.label}: no group can be fitted: {reason}")
    free = [searched(name, unit) for name in names]
    prior, rounds, converged = _group_of(fits, weak(free), free), 0, False
    while rounds < ROUNDS and not converged:
        rounds += 1
        fits = fitted(prior)
        if not any(isinstance(one, Fit) for one in fits):
            raise ValueError(f"{model.label}: no group can be fitted: {fits[0]}")
        new = _group_of(fits, prior, free)
        moved = np.abs(np.concatenate([new.mean - prior.mean, new.sd - prior.sd])) / np.tile(new.sd, 2)
        converged = bool(moved.max() < CLOSE)
        prior = prior if converged else new
        progress(rounds / ROUNDS)
    return _result(model, names, prior, fits, alone, rounds, converged, unit)


def _group_of(fits: Sequence[Fit | Failure], before: Prior, free: Sequence[Searched]) -> Prior:
    """mu and tau from the posteriors under the prior before.

    A posterior that is normal says what the likelihood is, so expectation and maximisation go on among normals, at no cost, until
    mu and tau rest: far fewer rounds of fits, and the same end. Where a posterior has no curvature the data tell nothing.
    People who tell little, and all in one direction, do not take mu beyond the range that is searched.
    """
    low, high = np.array(bounds_of(free)).T
    smallest, largest = (SMALLEST * weak(free).sd) ** 2, (high - low) ** 2
    people = [one for one in fits if isinstance(one, Fit)]
    x, variances = np.array([one.x for one in people]), np.array([np.diag(one.covariance) for one in people])
    prior_precision = before.sd**-2
    informed = variances < before.sd**2  # not so where it has no curvature
    precision = np.where(informed, 1.0 / variances - prior_precision, 0.0)  # of the likelihood, and below its mean times that
    weighted = np.where(informed, x / variances - before.mean * prior_precision, 0.0)
    mean, spread = before.mean, before.sd**2
    for _ in range(STEPS):
        variance = 1.0 / (precision + 1.0 / spread)
        x = variance * (weighted + mean / spread)
        new = np.clip(x.mean(axis=0), low, high)
        wide = np.clip(((x - new) ** 2 + variance).mean(axis=0), smallest, largest)
        rest = np.all(np.abs(new - mean) < 1e-6 * np.sqrt(wide)) and np.all(np.abs(wide - spread) < 1e-6 * wide)
        mean, spread = new, wide
        if rest:
            break
    return Prior(mean, np.sqrt(spread))


def _result(
    model: Model,
    names: tuple[str, ...],
    prior: Prior,
    fits: list[Fit | Failure],
    alone: list[Fit | Failure],
    rounds: int,
    converged: bool,
    unit: Unit,
) -> FittedGroup:
    nothing = np.full(len(names), np.nan)
    shrinkage = np.array([np.diag(one.covariance) / prior.sd**2 if isinstance(one, Fit) else nothing for one in fits])
    people = [one for one in fits if isinstance(one, Fit)]
    middle = {name: searched(name, unit).natural(float(mu)) for name, mu in zip(names, prior.mean, strict=True)}
    smallest = 1.01 * SMALLEST * weak([searched(name, unit) for name in names]).sd
    alike = tuple(name for name, sd, least in zip(names, prior.sd, smallest, strict=True) if sd <= least)
    each = np.array([log_evidence(one) for one in people])
    effective = np.nansum(1.0 - shrinkage, axis=0)  # people who would determine mu as well if each were known exactly
    return FittedGroup(
        label=model.label,
        names=names,
        prior=prior,
        middle=middle,
        error=prior.sd / np.sqrt(np.maximum(effective, 1e-3)),
        fits=fits,
        alone=alone,
        shrinkage=np.minimum(shrinkage, 1.0),
        log_evidence=float(np.nansum(each)),
        without_evidence=int(np.isnan(each).sum()),
        rounds=rounds,
        converged=converged,
        alike=alike,
    )
