"""What the first observations of a key suggest: which family, which parameters, and what they leave open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from volatilis.estimation import Environment, Environments, estimate
from volatilis.estimation.environment import kind_of
from volatilis.estimation.texts import candidates
from volatilis.estimation.unknowns import unknowns_of
from volatilis.estimation.unseen import saw_no_change, with_rare_changes
from volatilis.estimation.words import OFTEN
from volatilis.families._base import Family
from volatilis.learners._base import Learner
from volatilis.learners._grids import parameter_places, with_values

CHOICES = (  # the families of single numbers that keep no past, the simplest of each kind first
    "gaussian",
    "contaminated:gaussian",
    "gaussian-unknown-variance",
    "exponential",
    "poisson",
    "contaminated:poisson",
    "bernoulli",
)
AHEAD = 3.0  # nats of evidence that another family than the simplest must be ahead
NOT_TRIED = -1.0
NOT_IDENTIFIED = " is not identified"  # in the notes of an estimate, after the name of a parameter
GUESS = 2.0  # in the place of all doubts: nothing could be learned
STILL = 1e-3  # the noise that is assumed of numbers that do not vary, as a share of their size


class Suggestion(NamedTuple):
    """A learner; the doubts about it (0 or 1: was no change seen; of each parameter, is it left open; or GUESS); its place among
    CHOICES, and by how many nats each of these is behind the best."""

    learner: Learner
    doubts: np.ndarray
    choice: int
    behind: np.ndarray


def templates(learner: Learner) -> list[Learner]:
    """The learner with each of the families that are chosen among, with some numbers."""
    families = [unknowns_of(text, {}, []).template.family for text in CHOICES]
    return [learner._replace(family=family) for family in families]  # type: ignore[attr-defined]


def suggested(learner: Learner, values: np.ndarray, chooses: bool) -> Suggestion:
    """What these observations suggest; without a choice for the learner's own family."""
    behind = np.full(len(CHOICES), NOT_TRIED)
    try:
        environment = _compared(values, behind) if chooses else estimate(values, **_given(learner.family), **OPTIONS)
    except ValueError:  # they do not vary, or are beyond what can be squared
        places = list(parameter_places(learner))
        size = max(abs(float(values[0])), 1.0) * STILL
        still = {"sigma": size, "mu_0": float(values[0]), "sigma_0": 100.0 * size}
        still = {name: value for name, value in still.items() if name in places}
        return Suggestion(with_values(learner, still), np.full(1 + len(places), GUESS), 0, behind)
    suggestion: Learner = learner._replace(family=environment.family, p_c=environment.p_c)  # type: ignore[attr-defined]
    suggestion, doubts = _with_rare_changes(suggestion, environment, len(values))
    return Suggestion(suggestion, doubts, CHOICES.index(kind_of(environment.family)) if chooses else 0, behind)


def guessed(values: np.ndarray, learned: str) -> str:
    """What is told where these observations could not be learned from."""
    if not np.all(values == values[0]):
        reach = f"from {values.min():.3g} to {values.max():.3g}"
        return f"the first {len(values)} observations, {reach}, cannot be learned from, so all of this is a guess: {learned}"
    hint = "; --family bernoulli:auto is made for 0 and 1, poisson:auto for counts" if values[0] in (0.0, 1.0) else ""
    return f"all of the first {len(values)} observations are {values[0]}, so their noise is a guess: {learned}{hint}"


OPTIONS: dict[str, Any] = {"check": False, "workers": 1}


def _given(family: Family) -> Mapping[str, Any]:
    """The class of a family, and what it must be given: how many categories, a period."""
    fields = family._asdict()  # type: ignore[attr-defined]
    return {"family": type(family)} | {name: fields[name] for name in ("k", "period") if name in fields}


def _compared(values: np.ndarray, behind: np.ndarray) -> Environment:
    """The best of the families that suit these numbers; the simplest of them where it is hardly behind. Fills in `behind`.

    One that takes every second observation for a change, and so learns nothing, is chosen only where all do.
    """
    if np.all(values == values[0]):
        raise ValueError("data that do not vary do not tell their family")
    texts = [text for text in candidates([values]) if text in CHOICES]
    texts = texts or [CHOICES[0]]
    several: Environments = estimate(values, texts, **OPTIONS)
    for one, nats in zip(several, several.behind, strict=True):
        behind[CHOICES.index(kind_of(one.family))] = nats
    learning = [one for one in several if one.p_c <= OFTEN] or list(several)
    chosen = kind_of(learning[0].family)
    names = [kind_of(one.family) for one in learning]
    if texts[0] in names and behind[CHOICES.index(texts[0])] < behind[CHOICES.index(chosen)] + AHEAD:
        chosen = texts[0]
    best: Environment = several.best if chosen == kind_of(several.family) else estimate(values, chosen, **OPTIONS)
    return best


def _with_rare_changes(learner: Learner, environment: Environment, lines: int) -> tuple[Learner, np.ndarray]:
    """Where nobody saw how large a change is, nor how often one comes, or where one comes at every second observation."""
    places = list(parameter_places(learner))
    often = {"sigma", "sigma_0"} <= set(places) and environment["p_c"].value > OFTEN
    unseen = saw_no_change(environment) or often
    vague = [name + NOT_IDENTIFIED in " ".join(environment.notes) or (name == "p_c" and unseen) for name in places]
    if not unseen or not {"sigma", "sigma_0"} <= set(places):
        return learner, np.array([0.0, *vague])
    return with_rare_changes(learner, environment.p_c, lines), np.array([1.0, *vague])
