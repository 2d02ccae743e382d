"""One person's trials as the two predictions see them: from a table's columns and a fitted learner."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from volatilis.behaviour import people
from volatilis.behaviour.models import Model
from volatilis.families import Gaussian
from volatilis.predictions.windows import OutcomeBeliefs, SubjectTrials, believe, first_encounters, gaussian_within, previous
from volatilis.running.drivers import OBSERVE, RESET


class Measurements(NamedTuple):
    """What was measured beside the responses, of all rows of a table or of one person's trials.

    confidence   where it was reported: then prediction and confidence are the person's own
    shown        where the hidden mean was shown (catch trials): the outcome that the row's response is about met another belief
    """

    indicator: np.ndarray
    confidence: np.ndarray | None = None
    shown: np.ndarray | None = None

    def at(self, rows: np.ndarray | slice) -> Measurements:
        """The same of some rows."""
        confidence, shown = (None if values is None else values[rows] for values in (self.confidence, self.shown))
        return Measurements(self.indicator[rows], confidence, shown)


def observe(
    model: Model,
    person: people.Person,
    values: Mapping[str, float],
    measured: Measurements,
    with_learner: bool,
    missing: str = "error",
    seed: int = 0,
) -> SubjectTrials:
    """A person's trials, with these values of what is free in the model.

    measured      at each of the person's trials, in the order of the parts
    with_learner  whether the model's learner is to be used; without it there are no densities
    """
    parts: list[SubjectTrials] = []
    start = 0
    for part in person.parts:
        of_part = measured.at(slice(start, start + part.events.size))
        start += part.events.size
        learner = model.make({**dict.fromkeys(model.free(), 0.5), **part.columns, **values})[0]
        beliefs, (outcome, contexts) = None, _outcomes(part)
        if with_learner:
            beliefs = believe(learner, outcome, part.events >= RESET, _missing(part, missing), seed, contexts)
        parts.append(_part(part, of_part, beliefs, outcome, contexts, gaussian_within(learner.family)))
    return _joined(person.name, parts)


def _part(
    part: people.Trials,
    measured: Measurements,
    beliefs: OutcomeBeliefs | None,
    outcome: np.ndarray,
    contexts: np.ndarray | None,
    family: Gaussian,
) -> SubjectTrials:
    """The trials of one part of a table, all with one family."""
    if beliefs is None:
        if measured.confidence is None:
            raise ValueError("without a reported confidence a learner is needed")
        beliefs = OutcomeBeliefs(*[np.full(outcome.size, np.nan)] * 7)
    begins = first_encounters(outcome, _begins(part), contexts)
    trials = beliefs.trials(outcome, family, measured.indicator, begins=begins)
    if measured.confidence is not None:
        prediction, before, after = _reported(part, measured, contexts)
        trials = trials.with_predictions(prediction, outcome, family)._replace(before=before, after=after, reported=True)
    shown = _shown(part, measured)
    looked_at = (trials.prediction, trials.error, trials.p, trials.p_0)
    prediction, error, p, p_0 = (np.where(shown, np.nan, values) for values in looked_at)
    return trials._replace(prediction=prediction, error=error, p=p, p_0=p_0)


def _joined(name: str, parts: Sequence[SubjectTrials]) -> SubjectTrials:
    """One after the other."""

    def whole(column: Callable[[SubjectTrials], np.ndarray]) -> np.ndarray:
        return np.concatenate([column(part) for part in parts])

    return SubjectTrials(
        name,
        indicator=whole(lambda part: part.indicator),
        prediction=whole(lambda part: part.prediction),
        error=whole(lambda part: part.error),
        before=whole(lambda part: part.before),
        after=whole(lambda part: part.after),
        p=whole(lambda part: part.p),
        p_0=whole(lambda part: part.p_0),
        reported=parts[0].reported,
        begins=whole(lambda part: ~part.later()),
        shannon=whole(SubjectTrials.shannon_surprise),
    )


def _outcomes(part: people.Trials) -> tuple[np.ndarray, np.ndarray | None]:
    """Outcomes, NaN where there is none, and the context of each."""
    values, observed = np.asarray(part.values, dtype=float), part.events % RESET == OBSERVE
    if values.ndim == 1:
        return np.where(observed, values, np.nan), None
    return np.where(observed, values[:, 1], np.nan), np.where(values[:, 0] >= 0.0, values[:, 0], np.nan)


def _missing(part: people.Trials, missing: str) -> str:
    """What a missing outcome means; of arms time passes, as it does in a fit."""
    return "elapse" if missing == "error" and part.worth.size else missing


def _begins(part: people.Trials) -> np.ndarray:
    begins = part.events >= RESET
    begins[:1] = True
    return begins


def _shown(part: people.Trials, measured: Measurements) -> np.ndarray:
    """Outcomes that were met knowing the hidden mean: those that the responses of catch trials are about."""
    if measured.shown is None:
        return np.zeros(part.events.size, dtype=bool)
    return previous(measured.shown, _begins(part), False) if part.after else measured.shown


def _reported(
    part: people.Trials, measured: Measurements, contexts: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The person's prediction and confidence before each outcome, and the confidence after it; none across blocks.

    None of catch trials, either: they are about what was shown. With contexts the confidence that comes next is about the next
    trial's context: it is that after the outcome only where both trials have the same.
    """
    begins, confidence = _begins(part), np.asarray(measured.confidence)
    if measured.shown is not None:
        confidence = np.where(measured.shown, np.nan, confidence)
    given = np.where(part.scored, part.given, np.nan)
    ends = np.append(begins[1:], True)  # of blocks, or of a row of trials in one context
    if contexts is not None:
        ends |= np.append(contexts[1:] != contexts[:-1], True)
    if part.after:  # a response that was given after an outcome is about the next one
        after = confidence if contexts is None else np.where(ends, np.nan, confidence)
        return previous(given, begins, np.nan), previous(confidence, begins, np.nan), after
    return given, confidence, np.where(ends, np.nan, np.append(confidence[1:], np.nan))
