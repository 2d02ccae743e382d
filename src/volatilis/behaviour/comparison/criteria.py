"""Which model describes people best: criteria per person and model, and what they say about the group.

AIC = 2 k - 2 log L and BIC = k log(n) - 2 log L at the maximum of the likelihood, k free parameters, n responses. The Laplace
evidence is log P(responses, x) + (d/2) log(2 pi) + (1/2) log det covariance at the maximum x of the posterior, with the weak
prior of `priors`; a whole number that is free costs the logarithm of how many were tried. Cross-validation sums the log
probability of each fold's responses under the fit to the others.

A block begins where the learner starts anew, so leaving a block's responses out is leaving the block out. A person with one block
is split into runs of trials; there the learner goes on through all outcomes, which the person saw too, and only responses are
left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from volatilis.behaviour.comparison.selection import Selection, select
from volatilis.behaviour.fitting.fit import Fit, log_evidence
from volatilis.behaviour.fitting.jobs import Failure, FitOptions, Fitter, Progress, fitter
from volatilis.behaviour.fitting.parameters import Unit, usual_value, weak
from volatilis.behaviour.fitting.search import Objective
from volatilis.behaviour.models import Model
from volatilis.behaviour.people import Person
from volatilis.running.drivers import RESET

if TYPE_CHECKING:
    import xarray as xr

CRITERIA = ("log_likelihood", "aic", "bic", "laplace", "cross_validated")
RESAMPLES, LEVEL = 10_000, 0.95
RUNS_OF_TRIALS = 5  # folds, where there are no blocks
BLOCKS, TRIALS = "blocks", "runs of trials"


class Comparison(NamedTuple):
    """People x models; NaN where there is no number, and `failures` says why. `compare` returns it.

    persons, models         their names
    parameters, responses   how many free parameters each model has, and how many responses each person gave
    scores                  a criterion's name -> its numbers, people x models
    failures                what could not be fitted
    fits        at the maximum of the likelihood
    folds       how many folds each person had, and of what
    """

    persons: tuple[str, ...]
    models: tuple[str, ...]
    parameters: np.ndarray
    responses: np.ndarray
    scores: dict[str, np.ndarray]
    fits: list[list[Fit | Failure]]
    folds: list[tuple[int, str]]
    failures: list[Failure]

    def anybody(self) -> bool:
        """Whether anybody could be fitted."""
        return any(isinstance(one, Fit) for by_model in self.fits for one in by_model)

    def evidence(self, criterion: str) -> np.ndarray:
        """All criteria on the scale of a log evidence: more is better."""
        check_criterion(criterion)
        return self.scores[criterion] * (-0.5 if criterion in ("aic", "bic") else 1.0)


class Group(NamedTuple):
    """All people together, by one criterion on the scale of a log evidence. `group` returns it.

    criterion    its name
    left_out     who does not count
    evidence     people x models
    selection    what random-effects model selection says
    persons      those who count: who has a number under every model
    total        its sum over people
    behind       how far each model lies behind the best
    low, high    of `behind`: 95 %, people drawn anew
    best_for     for how many people a model is the best
    """

    criterion: str
    persons: tuple[str, ...]
    left_out: tuple[str, ...]
    evidence: np.ndarray
    total: np.ndarray
    behind: np.ndarray
    low: np.ndarray
    high: np.ndarray
    best_for: np.ndarray
    selection: Selection


def check_criterion(criterion: str) -> None:
    if criterion not in CRITERIA:
        raise ValueError(f"criterion {criterion!r} is not known; {', '.join(CRITERIA)} are")


def check_models(models: Sequence[Model], persons: Sequence[Person], least: int = 2) -> None:
    """Raises ValueError for what no fit could mend: too few models, two with one label, a response model that a learner lacks
    something for."""
    labels = [model.label for model in models]
    if len(labels) < least:
        raise ValueError("a comparison needs two learners or more: give --learner several times")
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        raise ValueError(f"two models have the label {twice[0]!r}; parse their learners together, with parse_learners")
    if not persons:
        raise ValueError("there is nobody to fit")
    unit = models[0].unit(persons)
    for model in models:
        usual = {name: usual_value(name, unit) for name in model.free()}
        learner, response = model.make({**persons[0].parts[0].columns, **usual})
        try:
            response.check_learner(learner)
        except TypeError as error:
            raise ValueError(f"{model.label}: {error}") from None


def compare(
    models: Sequence[Model],
    persons: Sequence[Person],
    options: FitOptions = FitOptions(),  # noqa: B008 - a tuple, which nothing changes
    most_folds: int = 10,
    progress: Callable[[str, float], None] = lambda what, share: None,
) -> Comparison:
    """All criteria for all people: likelihood, AIC, BIC, Laplace evidence, cross-validation.

    models       two or more, of one family
    persons      `read_people(...).persons`
    options      starts, seed, workers and store of the fits
    most_folds   of cross-validation; 0 leaves it out
    progress     called with what is done and its share

    Returns a Comparison, for `group`. Raises ValueError for models that cannot be compared.

    >>> from volatilis.behaviour import FitOptions, Model, Source, compare, group, read_people
    >>> varsmile = Model.parse("gaussian:sigma=10,mu_0=150,sigma_0=50", "varsmile:m=free", "gaussian:sd=free")
    >>> leaky = Model.parse("gaussian:sigma=10,mu_0=150,sigma_0=50", "leaky:omega=free", "gaussian:sd=free")
    >>> people = read_people(Source("people.csv"), varsmile, leaky).persons[:3]
    >>> comparison = compare([varsmile, leaky], people, FitOptions(starts=2, workers=1), most_folds=0)
    >>> group(comparison, "bic").best_for
    array([3, 0])
    """
    check_models(models, persons)
    unit = models[0].unit(persons)  # one for all, so that a prior is the same for everybody
    split = [folds(person, most_folds) for person in persons]
    with fitter(options, len(models) * sum(2 + len(parts) for parts, _ in split)) as pool:
        fits = pool.fit_people(models, persons, unit=unit, progress=lambda share: progress("likelihood", share))
        plausible = pool.fit_people(models, persons, prior=weak, unit=unit, progress=lambda share: progress("posterior", share))
        predicted, more = _cross_validated(pool, models, split, unit, lambda share: progress("folds", share))
    counts = np.array([len(model.free()) for model in models])
    responses = np.array([person.responses for person in persons])
    logs = np.array([[one.log_likelihood if isinstance(one, Fit) else np.nan for one in by_model] for by_model in fits])
    scores = {
        "log_likelihood": logs,
        "aic": 2.0 * counts - 2.0 * logs,
        "bic": counts * np.log(responses)[:, np.newaxis] - 2.0 * logs,
        "laplace": np.array(
            [[log_evidence(one) if isinstance(one, Fit) else np.nan for one in by_model] for by_model in plausible]
        ),
    }
    scores["cross_validated"] = predicted
    made = [(len(parts), kind) for parts, kind in split]
    failures = [one for by_model in (*fits, *plausible) for one in by_model if isinstance(one, Failure)]
    labels = tuple(model.label for model in models)
    names = tuple(person.name for person in persons)
    return Comparison(names, labels, counts, responses, scores, fits, made, list(dict.fromkeys([*failures, *more])))


# --- cross-validation ----------------------------------------------------------------------------------------------------


class Fold(NamedTuple):
    """A person twice: with the responses to fit, and with those to predict."""

    fitted: Person
    predicted: Person


def folds(person: Person, most: int = 10) -> tuple[list[Fold], str]:
    """At most `most` folds, and what they are made of. None where there are fewer than two responses."""
    scored = np.concatenate([part.scored for part in person.parts])
    block = block_numbers(person)
    blocks = np.unique(block[scored])
    if blocks.size > 1:
        group, kind = np.searchsorted(blocks, block), BLOCKS
        count = blocks.size
    else:
        group, kind = np.maximum(np.cumsum(scored) - 1, 0), TRIALS
        count = int(scored.sum())
        most = min(most, RUNS_OF_TRIALS)
    if count < 2 or most < 2:
        return [], kind
    number = np.minimum(group, count - 1) * min(count, most) // count
    return [_fold(person, number == i) for i in range(min(count, most))], kind


def block_numbers(person: Person) -> np.ndarray:
    """Of every trial, over all parts."""
    begins = [np.concatenate([[True], part.events[1:] >= RESET]) for part in person.parts if part.events.size]
    return np.cumsum(np.concatenate(begins)) - 1


def _fold(person: Person, held: np.ndarray) -> Fold:
    ends = np.cumsum([part.scored.size for part in person.parts])[:-1]
    parts = list(zip(person.parts, np.split(held, ends), strict=True))
    fitted = tuple(part._replace(scored=part.scored & ~out) for part, out in parts)
    predicted = tuple(part._replace(scored=part.scored & out) for part, out in parts)
    return Fold(Person(person.name, fitted), Person(person.name, predicted))


def _cross_validated(
    pool: Fitter, models: Sequence[Model], split: Sequence[tuple[list[Fold], str]], unit: Unit, progress: Progress
) -> tuple[np.ndarray, list[Failure]]:
    flat = [(i, fold) for i, (parts, _) in enumerate(split) for fold in parts]
    total = np.array([np.full(len(models), 0.0 if parts else np.nan) for parts, _ in split])
    failures = []
    fits = pool.fit_people(models, [fold.fitted for _, fold in flat], unit=unit, progress=progress) if flat else []
    for (i, fold), by_model in zip(flat, fits, strict=True):
        for k, (model, one) in enumerate(zip(models, by_model, strict=True)):
            worth = one if isinstance(one, Failure) else predict(model, one, fold.predicted, pool.options.seed)
            if worth == -np.inf:
                worth = Failure(fold.fitted.name, model.label, "responses that were left out are impossible under the fit")
            if isinstance(worth, Failure):
                failures.append(worth._replace(message=f"in cross-validation: {worth.message}"))
            total[i, k] += np.nan if isinstance(worth, Failure) else worth
    return total, failures


def predict(model: Model, fit: Fit, person: Person, seed: int) -> float | Failure:
    """The log probability of responses that were not fitted."""
    try:
        return -Objective(model, person, fit.values, (), None, seed)(np.zeros(0))
    except (ValueError, TypeError) as error:
        return Failure(person.name, model.label, str(error))


# --- all people together -------------------------------------------------------------------------------------------------


def group(comparison: Comparison, criterion: str = "bic", seed: int = 0) -> Group:
    """Sums, differences and random-effects selection. A person without a number under some model is left out, and named.

    comparison   what `compare` returned
    criterion    log_likelihood, aic, bic, laplace or cross_validated
    seed         of the bootstrap

    Returns a Group. Raises ValueError where nobody could be fitted, or has a finite number under every model. Example: `compare`.
    """
    if comparison.failures and not comparison.anybody():
        raise ValueError(f"nobody could be fitted: {comparison.failures[0].message}")
    return group_of(criterion, comparison.persons, comparison.evidence(criterion), seed)


def group_of(criterion: str, persons: Sequence[str], evidence: np.ndarray, seed: int = 0) -> Group:
    whole = np.isfinite(evidence).all(axis=1)
    if not whole.any():
        other = ", ".join(name for name in CRITERIA if name != criterion)
        raise ValueError(f"nobody has a finite {criterion} under every model; another criterion may do: {other}")
    kept, logs = tuple(np.array(persons, dtype=object)[whole]), evidence[whole]
    total = logs.sum(axis=0)
    apart = logs[:, [int(total.argmax())]] - logs
    draws = np.random.default_rng(seed).multinomial(len(logs), np.full(len(logs), 1.0 / len(logs)), RESAMPLES) @ apart
    low, high = np.quantile(draws, [0.5 - 0.5 * LEVEL, 0.5 + 0.5 * LEVEL], axis=0)
    if len(logs) == 1:  # no other person can be drawn
        low = high = np.full(logs.shape[1], np.nan)
    best = np.bincount(logs.argmax(axis=1), minlength=logs.shape[1])
    out = tuple(np.array(persons, dtype=object)[~whole])
    return Group(criterion, kept, out, logs, total, apart.sum(axis=0), low, high, best, select(logs))


def dataset(comparison: Comparison, group: Group) -> xr.Dataset:
    """For pictures and files: an xarray Dataset over person, model."""
    import xarray

    kept = [comparison.persons.index(name) for name in group.persons]
    data: dict[str, Any] = {name: (("person", "model"), values[kept]) for name, values in comparison.scores.items()}
    data["evidence"] = (("person", "model"), group.evidence)
    for name in ("total", "behind", "low", "high", "best_for"):
        data[name] = ("model", getattr(group, name))
    for name in ("frequency", "exceedance", "protected"):
        data[name] = ("model", getattr(group.selection, name))
    coordinates = {"person": list(group.persons), "model": list(comparison.models)}
    return xarray.Dataset(data, coordinates, {"criterion": group.criterion, "omnibus_risk": group.selection.omnibus_risk})
