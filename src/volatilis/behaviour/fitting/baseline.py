"""Does a fitted model predict a person's responses better than a constant does, which knows nothing of the outcomes?"""

from __future__ import annotations

import math

import numpy as np

from volatilis.behaviour.models import Model
from volatilis.behaviour.people import Person

ALIKE = "all responses are alike"
NO_BETTER = "predicts the responses no better than a constant"


def warnings_of_responses(model: Model, person: Person, log_likelihood: float) -> tuple[str, ...]:
    """What a person's responses say against a fit."""
    given = np.concatenate([part.given[part.scored] for part in person.parts])
    if given.size > 1 and np.all(given == given[0]):
        return (ALIKE,)
    constant = _constant(model, person, given)
    if constant is None or log_likelihood - len(model.free()) > constant:
        return ()
    return (NO_BETTER,)


def _constant(model: Model, person: Person, given: np.ndarray) -> float | None:
    """The log likelihood of the best law without outcomes, less its number of parameters (Akaike): a normal law, or how often
    each choice was made. None where a response is neither a choice nor a place on a line."""
    learner, response = model.example(dict(person.parts[0].columns))
    if model.chooses() or model.chooses_contexts():
        _, counts = np.unique(given, return_counts=True)
        return float(np.sum(counts * np.log(counts / given.size))) - (len(counts) - 1)
    if response.slider_ends() is not None or math.isfinite(learner.family.circumference()):
        return None
    with np.errstate(over="ignore"):
        variance = float(np.var(given))
    if not 0.0 < variance < math.inf:  # a single response, or numbers whose squares overflow
        return None
    return -0.5 * given.size * (math.log(2.0 * math.pi * variance) + 1.0) - 2.0
