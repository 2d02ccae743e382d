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
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from volatilis.behaviour.fitting import Fit, log_evidence
from volatilis.behaviour.many import Failure, Job, Workers
from volatilis.behaviour.models import Model
from volatilis.behaviour.parameters import Unit, searched, unit_of
from volatilis.behaviour.priors import AnyPrior, Prior, weak
from volatilis.behaviour.scoring import Person

ROUNDS = 60
CLOSE = 1e-3  # of tau: a change of mu or tau below it ends the rounds
SMALLEST = 1e-3  # of the weak prior's width: a group whose people do not differ at all


class Group(NamedTuple):
    """What was found for the people of one model.

    names       the continuous parameters, in the order of all arrays
    prior       the group on the real line: mu and tau
    middle      the group's parameters on their natural scales: those of a person at mu
    error       the standard error of mu
    fits        each person under the group's prior, in order
    alone       each person under the weak prior: before the group was known
    shrinkage   (persons, parameters): how much of the answer is the group's; NaN where a person could not be fitted
    rounds      that it took; converged says whether that was enough
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
    rounds: int
    converged: bool


def fit_groups(
    models: Sequence[Model],
    persons: Sequence[Person],
    starts: int = 10,
    seed: int = 0,
    workers: int | None = None,
    unit: Unit | None = None,
    progress: Callable[[float], None] = lambda share: None,
    folder: str | os.PathLike[str] | None = None,
) -> list[Group]:
    """One group per model; all people in the same unit, by default that of all outcomes together. Arguments as of `fit_all`."""
    if not persons:
        raise ValueError("there is nobody to fit")
    unit = unit or unit_of(np.concatenate([person.outcomes() for person in persons]))
    groups = []
    with Workers(workers, len(persons), folder) as pool:
        for number, model in enumerate(models):
            part = _part_of(progress, number, len(models))
            groups.append(_fit_group(model, persons, starts, seed, unit, pool, part))
    progress(1.0)
    return groups


def _part_of(progress: Callable[[float], None], number: int, parts: int) -> Callable[[float], None]:
    return lambda share: progress((number + share) / parts)


def _fit_group(
    model: Model,
    persons: Sequence[Person],
    starts: int,
    seed: int,
    unit: Unit,
    pool: Workers,
    progress: Callable[[float], None],
) -> Group:
    def fitted(prior: AnyPrior) -> list[Fit | Failure]:
        return pool.run([Job(model, person, starts, seed, prior, unit) for person in persons])

    alone = fits = fitted(weak)
    names = next((one.names for one in fits if isinstance(one, Fit)), ())
    if not names:
        reason = next((one.message for one in fits if isinstance(one, Failure)), "it has no continuous parameter")
        raise ValueError(f"{model.label}: no group can be fitted: {reason}")
    widths = _widths(model, names, unit)
    prior, rounds, converged = _group_of(fits, widths), 0, False
    while rounds < ROUNDS and not converged:
        rounds += 1
        fits = fitted(prior)
        new = _group_of(fits, widths)
        moved = np.abs(np.concatenate([new.mean - prior.mean, new.sd - prior.sd])) / np.tile(new.sd, 2)
        converged = bool(moved.max() < CLOSE)
        prior = prior if converged else new
        progress(rounds / ROUNDS)
    return _result(model, names, prior, fits, alone, rounds, converged, unit)


def _widths(model: Model, names: Sequence[str], unit: Unit) -> np.ndarray:
    return weak([searched(name, unit) for name in names]).sd


def _group_of(fits: Sequence[Fit | Failure], widths: np.ndarray) -> Prior:
    """The step of maximisation. Where a posterior has no curvature the data tell nothing: the spread among the others counts."""
    people = [one for one in fits if isinstance(one, Fit)]
    x, variances = np.array([one.x for one in people]), np.array([np.diag(one.covariance) for one in people])
    mean = x.mean(axis=0)
    spread = np.nanmean(np.where(np.isnan(variances), np.nan, (x - mean) ** 2 + variances), axis=0)
    return Prior(mean, np.maximum(np.sqrt(spread), SMALLEST * widths))


def _result(
    model: Model,
    names: tuple[str, ...],
    prior: Prior,
    fits: list[Fit | Failure],
    alone: list[Fit | Failure],
    rounds: int,
    converged: bool,
    unit: Unit,
) -> Group:
    nothing = np.full(len(names), np.nan)
    shrinkage = np.array([np.diag(one.covariance) / prior.sd**2 if isinstance(one, Fit) else nothing for one in fits])
    people = [one for one in fits if isinstance(one, Fit)]
    middle = {name: searched(name, unit).natural(float(mu)) for name, mu in zip(names, prior.mean, strict=True)}
    total = float(np.sum([log_evidence(one) for one in people]))
    error = prior.sd / np.sqrt(len(people))
    return Group(model.label, names, prior, middle, error, fits, alone, shrinkage, total, rounds, converged)
