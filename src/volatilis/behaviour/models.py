"""A model of a person: a family, a learner and a response model, with some parameters free.

Model.parse("gaussian:sigma=10,mu_0=150,sigma_0=87", "varsmile:m=free", "gaussian:sd=free,lapse=0.01")
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from volatilis import catalogue
from volatilis.behaviour.fitting.parameters import Unit, unit_of, usual_value
from volatilis.behaviour.responses._base import ResponseModel
from volatilis.behaviour.responses.registry import RESPONSES, know_ranges, load_own, make_response, parse_response
from volatilis.catalogue import Recipe
from volatilis.learners._base import Learner
from volatilis.learners._kinds import RECORDS

if TYPE_CHECKING:
    from volatilis.behaviour.people import Person


class Model(NamedTuple):
    """A model of a person, made by `Model.parse`; `label` is the learner's name.

    family     what is observed, as a recipe
    learner    how the person learns
    response   how responses arise from what was learned

    >>> from volatilis.behaviour import Model
    >>> Model.parse("gaussian:sigma=10,mu_0=150,sigma_0=50", "varsmile:m=free", "gaussian:sd=free").free()
    ('m', 'sd')
    """

    family: Recipe
    learner: Recipe
    response: Recipe

    @classmethod
    def parse(cls, family: str, learner: str, response: str) -> Model:
        """From texts as on the command line: family, learner and response, with `free` for what is to be found.

        Returns the model. Raises ValueError for a name, a parameter or a value that is not known.
        """
        return checked(cls(catalogue.parse_family(family), catalogue.parse_learner(learner), parse_response(response)))

    @property
    def label(self) -> str:
        """The learner's name in tables and figures."""
        return self.learner.label

    def free(self) -> tuple[str, ...]:
        """The names of the free parameters, the learner's first. A name that two of the three share is one parameter."""
        return tuple(dict.fromkeys((*self.learner.free(), *self.family.free(), *self.response.free())))

    def columns(self) -> tuple[str, ...]:
        """The columns of the table that hold parameters, such as the noise of a block."""
        return (*self.family.columns(), *self.learner.columns(), *self.response.columns())

    def make(self, values: Mapping[str, float]) -> tuple[Learner, ResponseModel]:
        """The learner and the response model with these values of what is free, or stands in a column."""
        learner = catalogue.make_learner(self.learner, catalogue.make_family(self.family, values), values)
        return learner, make_response(self.response, learner.family, values)

    def unit(self, persons: Iterable[Person]) -> Unit:
        """Of all outcomes of these people together."""
        outcomes, around = [np.zeros(0)], math.inf
        for part in (part for person in persons for part in person.parts):
            family = catalogue.make_family(self.family, {**dict.fromkeys(self.family.free(), 1.0), **part.columns})
            around = family.circumference()
            outcomes.append(part.observed())
        return unit_of(np.concatenate(outcomes), around)

    def example(self, columns: Mapping[str, float]) -> tuple[Learner, ResponseModel]:
        """With usual values of what is free: to ask what a learner takes."""
        return self.make({**{name: usual_value(name) for name in self.free()}, **columns})

    def chooses_contexts(self) -> bool:
        """Whether responses are choices among contexts, such as arms."""
        model: Any = RESPONSES[self.response.name]
        return bool(model.chooses_contexts(None))  # whatever its parameters are

    def chooses(self) -> bool:
        """Whether responses are choices among categories or contexts."""
        model: Any = RESPONSES[self.response.name]
        return bool(model.chooses(None))

    def parts(self) -> list[tuple[Recipe, type]]:
        """Family, learner and response model, and what they are made of, each with its class."""
        known = ((self.family, catalogue.FAMILIES), (self.learner, catalogue.LEARNERS), (self.response, RESPONSES))
        return [(part, classes[part.name]) for recipe, classes in known for part in recipe.chain()]

    def classes(self) -> list[type]:
        """Of all of them."""
        return [cls for _, cls in self.parts()]

    def samples(self) -> bool:
        """Whether the learner draws random numbers, so that its likelihood is itself random."""
        return RECORDS[catalogue.LEARNERS[self.learner.chain()[-1].name]].samples


def models_of(family: str, learners: Sequence[str], response: str, own: Sequence[str] = ()) -> tuple[Model, ...]:
    """One model per learner, with labels that differ. own: Python files of the user's own."""
    load_own(own)
    observed, answered = catalogue.parse_family(family), parse_response(response)
    return tuple(checked(Model(observed, learner, answered)) for learner in catalogue.parse_learners(learners))


def checked(model: Model) -> Model:
    """The model, its free parameters known to searches."""
    for recipe, cls in model.parts():
        know_ranges(recipe, cls)
    return model


def noise_alone(model: Model) -> tuple[float, float] | None:
    """The response model's `noise_law` where sd is its only parameter that is given, and free; else None."""
    fields = model.response.fields
    if model.samples() or len(fields) != 1 or fields[0] != ("sd", catalogue.FREE):
        return None
    response: ResponseModel = RESPONSES[model.response.name](sd=1.0)
    return response.noise_law()
