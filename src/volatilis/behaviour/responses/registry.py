"""Response models by name: the table of all, those of a user's own among them, and models from text such as gaussian:sd=free."""

from __future__ import annotations

import importlib.util
import inspect
import pathlib
import sys
from collections.abc import Mapping
from typing import Any, cast

from volatilis import catalogue
from volatilis._core.fields import rules_of
from volatilis._core.records import Parameter, Range, dashed, first_sentence, parameters_of
from volatilis.behaviour.fitting.parameters import RANGES, add_ranges, usual_range
from volatilis.behaviour.responses._base import ResponseModel, is_response
from volatilis.behaviour.responses.choice import Softmax
from volatilis.behaviour.responses.habits import ChoiceHabits, Habits
from volatilis.behaviour.responses.prediction import Confidence, GaussianNoise, LaplaceNoise, UnderBelief
from volatilis.behaviour.responses.slider import CensoredNoise, TruncatedNoise
from volatilis.catalogue import Recipe
from volatilis.families._base import Family

RESPONSES: dict[str, type] = {
    "gaussian": GaussianNoise,
    "laplace": LaplaceNoise,
    "truncated": TruncatedNoise,
    "censored": CensoredNoise,
    "under-belief": UnderBelief,
    "softmax": Softmax,
    "confidence": Confidence,
}
HABITS = ("lapse", "stay", "span")
for known in (*RESPONSES.values(), Habits):
    add_ranges(parameters_of(known))
LOADED = "volatilis_own_"  # how modules that were read from a file are called
files: list[str] = []  # that were read, for other processes


def response_parameters(name: str) -> list[Parameter]:
    habits = [one for one in parameters_of(Habits) if one.name in HABITS]
    shown = [one._replace(default="the slider's length") if one.name == "span" else one for one in habits]
    return [*parameters_of(RESPONSES[name]), *shown]


def response_sentence(name: str) -> str:
    return first_sentence(RESPONSES[name])


def parse_response(text: str) -> Recipe:
    """A response model as text: gaussian:sd=free,lapse=0.02."""
    return catalogue.parse(text, RESPONSES, "response model", response_parameters)


def make_response(recipe: Recipe, family: Family, values: Mapping[str, object]) -> ResponseModel:
    given = recipe.values(values)
    habits: dict[str, Any] = {name: given.pop(name) for name in HABITS if name in given}  # validated by Habits
    try:
        model: ResponseModel = RESPONSES[recipe.name](**given)
        if not habits:
            return model
        if model.chooses():
            return cast(ResponseModel, ChoiceHabits(model, **{"span": float(family.categories() or 2)} | habits))
        if habits.get("lapse") and "span" not in habits:
            ends = model.slider_ends()
            if ends is None:
                raise ValueError("lapse needs span, the length of the slider")
            habits["span"] = ends[1] - ends[0]
        return cast(ResponseModel, Habits(model, **habits))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{recipe.text!r}: {error}") from None


# --- of a user's own -----------------------------------------------------------------------------------------------------


def register_response(name: str, cls: type, **ranges: Range) -> None:
    """Make a class with `@response` known under a name: register_response("rounded", Rounded).

    ranges    where parameters are searched; without one a parameter that no other model has gets a wide one, as its field accepts
    """
    if not is_response(cls):
        raise TypeError(f"{cls.__name__} is not a response model; put @response above the class")
    if RESPONSES.get(name, cls) is not cls and RESPONSES[name].__module__.startswith("volatilis."):
        raise ValueError(f"there is a response model {name!r} already; choose another name")
    for field, rule in rules_of(cls).items():
        if field in ranges or field not in RANGES:
            RANGES[field] = ranges.get(field) or usual_range(rule)
    RESPONSES[name] = cls


def load_responses(path: str) -> list[str]:
    """All response models of a Python file, each known by its class's name in small letters (NearTheEdge: near-the-edge)."""
    where = pathlib.Path(path).resolve()
    specification = importlib.util.spec_from_file_location(LOADED + where.stem, where)
    if not where.is_file() or specification is None or specification.loader is None:
        raise ValueError(f"{path} is not a Python file, from which response models are read")
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module
    specification.loader.exec_module(module)
    own = [cls for _, cls in inspect.getmembers(module, inspect.isclass) if is_response(cls)]
    found = {dashed(cls): cls for cls in own if cls.__module__ == module.__name__}
    if not found:
        raise ValueError(f"{path} has no response model, a class with @response above it")
    for name, cls in found.items():
        register_response(name, cls)
    if str(where) not in files:
        files.append(str(where))
    return list(found)


def texts() -> list[str]:
    """What stands in the files that were read."""
    return [pathlib.Path(path).read_text() for path in files]
