"""One person's trials as the two predictions see them, in the coordinates of the paper.

The paper's prior is N(0, 1). Outcomes with a prior N(mu_0, sigma_0^2) are brought there: (y - mu_0) / sigma_0, and densities
times sigma_0. So the paper's windows mean the same for every task.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from volatilis.behaviour.models import Model
from volatilis.behaviour.people import Person, Trials
from volatilis.families import Gaussian
from volatilis.running.drivers import OBSERVE, RESET
from volatilis.running.run import run
from volatilis.running.traces import defined_readouts


class Observed(NamedTuple):
    """Arrays over one person's trials; NaN where something is not known.

    indicator        what was measured while the outcome was seen
    prediction       of the outcome, before it, from the prior mean on, in prior standard deviations
    error            outcome - prediction, in prior standard deviations
    before, after    how uncertain the person was before and after the outcome: the standard deviation of the learner's belief in
                     prior standard deviations or, where `measured`, the confidence as it was reported
    p, p_0           the outcome's density under the belief and under the prior, times sigma_0; NaN without a learner
    measured         whether prediction and confidence are the person's own
    """

    name: str
    indicator: np.ndarray
    prediction: np.ndarray
    error: np.ndarray
    before: np.ndarray
    after: np.ndarray
    p: np.ndarray
    p_0: np.ndarray
    measured: bool

    @property
    def missing(self) -> int:
        """Trials without an indicator."""
        return int(np.isnan(self.indicator).sum())


class Measured(NamedTuple):
    """What was measured beside the responses, of all rows of a table or of one person's trials.

    confidence   where it was reported: then prediction and confidence are the person's own
    shown        where the hidden mean was shown (catch trials): the outcome that the row's response is about met another belief
    """

    indicator: np.ndarray
    confidence: np.ndarray | None = None
    shown: np.ndarray | None = None

    def at(self, rows: np.ndarray | slice) -> Measured:
        return Measured(*(None if values is None else values[rows] for values in self))  # type: ignore[arg-type]


class Believed(NamedTuple):
    """What a learner believes at each trial: its mean before, its standard deviation before and after; the outcome's surprise."""

    mean: np.ndarray
    before: np.ndarray
    after: np.ndarray
    p: np.ndarray
    p_0: np.ndarray
    log_bayes_factor: np.ndarray
    shannon: np.ndarray


def observe(
    model: Model,
    person: Person,
    values: Mapping[str, Any],
    measured: Measured,
    with_learner: bool,
    missing: str = "error",
    seed: int = 0,
) -> Observed:
    """A person's trials, with these values of what is free in the model.

    measured      at each of the person's trials, in the order of the parts
    with_learner  whether the model's learner is to be used; without it there are no densities
    """
    columns: dict[str, list[np.ndarray]] = {name: [] for name in ("prediction", "error", "before", "after", "p", "p_0")}
    start = 0
    for part in person.parts:
        own = measured.at(slice(start, start + part.events.size))
        start += part.events.size
        parameters = {**part.columns, **values}
        family = _family(model, parameters)
        outcome = _outcomes(part)
        nothing = np.full(outcome.size, np.nan)
        told = ~_shown(part, own)
        believed = None
        if with_learner:
            learner = model.make({**parameters, **dict.fromkeys(model.response.free(), 1.0)})[0]
            believed = believe(learner, outcome, part.events >= RESET, missing, seed)
        if own.confidence is None:
            if believed is None:
                raise ValueError("without a reported confidence a learner is needed")
            prediction, before, after = believed.mean, believed.before / family.sigma_0, believed.after / family.sigma_0
        else:
            prediction, before, after = _reported(part, own)
        prediction = (prediction - family.mu_0) / family.sigma_0
        found = {"prediction": prediction, "error": (outcome - family.mu_0) / family.sigma_0 - prediction}
        found |= {
            "p": nothing if believed is None else believed.p * family.sigma_0,
            "p_0": nothing if believed is None else believed.p_0 * family.sigma_0,
        }
        found = {name: np.where(told, array, np.nan) for name, array in found.items()} | {"before": before, "after": after}
        for name, array in found.items():
            columns[name].append(array)
    arrays = {name: np.concatenate(own) for name, own in columns.items()}
    return Observed(person.name, measured.indicator, **arrays, measured=measured.confidence is not None)


def _family(model: Model, parameters: Mapping[str, Any]) -> Gaussian:
    from volatilis.catalogue import make_family

    family = make_family(model.family, parameters)
    if not isinstance(family, Gaussian):
        raise ValueError(why_gaussian(model.family.name))
    return family


def why_gaussian(name: str) -> str:
    return (
        f"the family {name!r} is not accepted: the predictions compare outcomes on the two sides of an estimate, and their proof "
        "is for outcomes with a Gaussian prior of their mean; gaussian:sigma=...,mu_0=...,sigma_0=... is accepted"
    )


def _outcomes(part: Trials) -> np.ndarray:
    return np.where(part.events % RESET == OBSERVE, np.asarray(part.values, dtype=float), np.nan)


def believe(learner: Any, y: np.ndarray, begins: np.ndarray | None = None, missing: str = "error", seed: Any = 0) -> Believed:
    """Run a learner over outcomes; blocks begin where `begins` is true."""
    from scipy import stats

    check_belief(learner)
    starts = np.zeros(y.size, dtype=bool) if begins is None else begins.copy()
    trace = run(learner, y, seed=seed, reset=starts, missing=missing)
    starts[:1] = True
    family, deviation = learner.family, np.sqrt(trace.variance)
    log_p_0 = stats.norm.logpdf(y, family.mu_0, math.hypot(family.sigma, family.sigma_0))
    mean, before = _shifted(trace.mean, starts, family.mu_0), _shifted(deviation, starts, family.sigma_0)
    log_bayes_factor = trace.log_bayes_factor_surprise
    densities = (np.exp(log_p_0 - log_bayes_factor), np.exp(log_p_0))
    return Believed(mean, before, deviation, *densities, log_bayes_factor, trace.shannon_surprise)


def check_belief(learner: Any) -> None:
    if "log_bayes_factor_surprise" not in defined_readouts(learner):
        raise ValueError(f"{type(learner).__name__} has no belief, only an estimate: it has no surprise to select trials by")


def _begins(part: Trials) -> np.ndarray:
    begins = part.events >= RESET
    begins[:1] = True
    return begins


def _shown(part: Trials, own: Measured) -> np.ndarray:
    """Outcomes that were met knowing the hidden mean: those that the responses of catch trials are about."""
    if own.shown is None:
        return np.zeros(part.events.size, dtype=bool)
    return _shifted(own.shown, _begins(part), False) if part.after else own.shown


def _reported(part: Trials, own: Measured) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The person's prediction and confidence before each outcome, and the confidence after it; none across blocks.

    None of catch trials, either: they are about what was shown.
    """
    begins, confidence = _begins(part), np.asarray(own.confidence)
    if own.shown is not None:
        confidence = np.where(own.shown, np.nan, confidence)
    given = np.where(part.scored, part.given, np.nan)
    if part.after:  # a response that was given after an outcome is about the next one
        return _shifted(given, begins, np.nan), _shifted(confidence, begins, np.nan), confidence
    following = np.append(confidence[1:], np.nan)
    following[np.flatnonzero(np.append(begins[1:], True))] = np.nan
    return given, confidence, following


def _shifted(values: np.ndarray, begins: np.ndarray, first: float) -> np.ndarray:
    """From after each outcome to before it; a block begins with `first`."""
    return np.where(begins, first, np.concatenate([[first], values[:-1]]))
