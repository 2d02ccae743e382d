"""A model of a person: a family, a learner and a response model, with some parameters free.

Model.parse("gaussian:sigma=10,mu_0=150,sigma_0=87", "varsmile:m=free", "gaussian:sd=free,lapse=0.01")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from volatilis import catalogue
from volatilis.behaviour.responses._base import ResponseModel
from volatilis.behaviour.responses.registry import RESPONSES, load_responses, make_response, parse_response
from volatilis.catalogue import Recipe
from volatilis.learners._base import Learner
from volatilis.learners._kinds import RECORDS


class Model(NamedTuple):
    """Three recipes. `label` is the learner's."""

    family: Recipe
    learner: Recipe
    response: Recipe

    @classmethod
    def parse(cls, family: str, learner: str, response: str) -> Model:
        return cls(catalogue.parse_family(family), catalogue.parse_learner(learner), parse_response(response))

    @property
    def label(self) -> str:
        return self.learner.label

    def free(self) -> tuple[str, ...]:
        """The names of the free parameters, the learner's first. A name that two of the three share is one parameter."""
        return tuple(dict.fromkeys((*self.learner.free(), *self.family.free(), *self.response.free())))

    def columns(self) -> tuple[str, ...]:
        return (*self.family.columns(), *self.learner.columns(), *self.response.columns())

    def make(self, values: Mapping[str, float]) -> tuple[Learner, ResponseModel]:
        """The learner and the response model with these values of what is free, or stands in a column."""
        family = catalogue.make_family(self.family, values)
        return catalogue.make_learner(self.learner, family, values), make_response(self.response, family, values)

    def samples(self) -> bool:
        """Whether the learner draws random numbers, so that its likelihood is itself random."""
        return RECORDS[catalogue.LEARNERS[self.learner.name]].samples


def models_of(family: str, learners: Sequence[str], response: str, response_files: Sequence[str] = ()) -> tuple[Model, ...]:
    """One model per learner, with labels that differ. response_files: Python files with response models of the user's own."""
    for path in response_files:
        load_responses(path)
    observed, answered = catalogue.parse_family(family), parse_response(response)
    return tuple(Model(observed, learner, answered) for learner in catalogue.parse_learners(learners))


def noise_alone(model: Model) -> tuple[float, float] | None:
    """The response model's `noise_law` where sd is its only parameter that is given, and free; else None."""
    fields = model.response.fields
    if model.samples() or len(fields) != 1 or fields[0] != ("sd", catalogue.FREE):
        return None
    response: ResponseModel = RESPONSES[model.response.name](sd=1.0)
    return response.noise_law()
