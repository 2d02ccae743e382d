"""A model of a person: a family, a learner and a response model, with some parameters free.

Model.parse("gaussian:sigma=10,mu_0=150,sigma_0=87", "varsmile:m=free", "gaussian:sd=free,lapse=0.01")
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, NamedTuple

from volatilis import catalogue
from volatilis._core.fields import rules_of
from volatilis.behaviour import responses
from volatilis.catalogue import Parameter, Recipe
from volatilis.learners import ParticleFilter, StratifiedResampling

RESPONSES: dict[str, type] = {
    "gaussian": responses.GaussianNoise,
    "laplace": responses.LaplaceNoise,
    "truncated": responses.TruncatedNoise,
    "censored": responses.CensoredNoise,
    "under-belief": responses.UnderBelief,
    "softmax": responses.Softmax,
    "confidence": responses.Confidence,
}
HABITS = ("lapse", "stay", "span")


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

    def make(self, values: Mapping[str, Any]) -> tuple[Any, Any]:
        """The learner and the response model with these values of what is free, or stands in a column."""
        family = catalogue.make_family(self.family, values)
        return catalogue.make_learner(self.learner, family, values), make_response(self.response, family, values)

    def samples(self) -> bool:
        """Whether the learner draws random numbers, so that its likelihood is itself random."""
        return catalogue.LEARNERS[self.learner.name] in (ParticleFilter, StratifiedResampling)


def noise_alone(model: Model) -> tuple[float, float] | None:
    """Where sd is all the noise there is, and free: p and c of log P = -A / sd^p - log sd - c (`responses`); else None."""
    fields = model.response.fields
    if model.samples() or len(fields) != 1 or fields[0] != ("sd", catalogue.FREE):
        return None
    return getattr(RESPONSES[model.response.name], "_noise_alone", None)


def response_parameters(name: str) -> list[Parameter]:
    cls = RESPONSES[name]
    rules, defaults = rules_of(cls), cls._field_defaults  # type: ignore[attr-defined]
    own = [Parameter(field, defaults.get(field), rules[field].words) for field in cls._fields]  # type: ignore[attr-defined]
    habits = rules_of(responses.Habits)
    spread = Parameter("span", "the slider's length, where it has ends", habits["span"].words)
    return [*own, *(Parameter(field, 0.0, habits[field].words) for field in HABITS[:2]), spread]


def response_sentence(name: str) -> str:
    return " ".join((inspect.getdoc(RESPONSES[name]) or "").split("\n\n")[0].split())


def parse_response(text: str) -> Recipe:
    """A response model as text: gaussian:sd=free,lapse=0.02."""
    return catalogue.parse(text, RESPONSES, "response model", response_parameters)


def make_response(recipe: Recipe, family: Any, values: Mapping[str, Any]) -> Any:
    given = recipe.values(values)
    habits = {name: given.pop(name) for name in HABITS if name in given}
    try:
        model = RESPONSES[recipe.name](**given)
        if not habits:
            return model
        if isinstance(model, responses.Softmax):
            return responses.ChoiceHabits(model, **{"span": float(max(family.size(), 2))} | habits)
        if habits.get("lapse") and "span" not in habits:
            if not hasattr(model, "low"):
                raise ValueError("lapse needs span, the length of the slider")
            habits["span"] = model.high - model.low
        return responses.Habits(model, **habits)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{recipe.text!r}: {error}") from None
