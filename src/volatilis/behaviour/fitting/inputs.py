"""From what a command was told to models and people: one reading for all of them."""

from __future__ import annotations

from collections.abc import Sequence

from volatilis import catalogue
from volatilis.behaviour.fitting.models import Model, parse_response
from volatilis.behaviour.fitting.people import People, Source, read_people
from volatilis.behaviour.responses.own import load_responses


def models_of(family: str, learners: Sequence[str], response: str, own: Sequence[str] = ()) -> tuple[Model, ...]:
    """One model per learner, with labels that differ. own: Python files with response models of one's own."""
    for path in own:
        load_responses(path)
    observed, answered = catalogue.parse_family(family), parse_response(response)
    return tuple(Model(observed, learner, answered) for learner in catalogue.parse_learners(learners))


def people_of(source: Source, models: Sequence[Model]) -> People:
    """All people of a table; if nobody can be fitted, that is an error."""
    people = read_people(source, *models)
    if not people.persons:
        raise ValueError(f"{source.table}: nobody can be fitted: {next(iter(people.refused.values()), 'there is no one')}")
    return people
