"""Blocks of trials, and a person's responses split into those to fit and those to predict.

A block begins where the learner starts anew, so leaving a block's responses out is leaving the block out. A person with one block
is split into runs of trials; there the learner goes on through all outcomes, which the person saw too, and only responses are
left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from volatilis.behaviour.people import Person
from volatilis.running.drivers import RESET

RUNS_OF_TRIALS = 5  # where there are no blocks
BLOCKS, TRIALS = "blocks", "runs of trials"


class Fold(NamedTuple):
    """A person twice: with the responses to fit, and with those to predict."""

    fitted: Person
    predicted: Person


def folds(person: Person, most: int = 10) -> tuple[list[Fold], str]:
    """At most `most` folds, and what they are made of. None where there are fewer than two responses."""
    scored = np.concatenate([part.scored for part in person.parts])
    block = block_numbers(person)
    own = np.unique(block[scored])
    if own.size > 1:
        group, kind = np.searchsorted(own, block), BLOCKS
        count = own.size
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
