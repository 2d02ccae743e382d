"""Response models by name: the table of all, those of a user's own among them, and models from text such as gaussian:sd=free."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from volatilis import catalogue, own_files
from volatilis._core.fields import rules_of
from volatilis._core.records import Choices, Known, Parameter, Range, dashed, first_sentence, is_own, parameters_of
from volatilis.behaviour.fitting.parameters import RANGES, WHOLE, add_ranges, usual_range
from volatilis.behaviour.responses._base import ResponseModel, is_response, marked
from volatilis.behaviour.responses.arms import Arms
from volatilis.behaviour.responses.choice import Softmax
from volatilis.behaviour.responses.circle import CircularNoise
from volatilis.behaviour.responses.habits import ChoiceHabits, Habits, ends_of
from volatilis.behaviour.responses.prediction import Confidence, GaussianNoise, LaplaceNoise, UnderBelief
from volatilis.behaviour.responses.slider import CensoredNoise, TruncatedNoise
from volatilis.behaviour.situations import contexts_of
from volatilis.catalogue import Recipe
from volatilis.families._base import Family

BUILT_IN: dict[str, type] = {
    "gaussian": GaussianNoise,
    "laplace": LaplaceNoise,
    "truncated": TruncatedNoise,
    "censored": CensoredNoise,
    "vonmises": CircularNoise,
    "under-belief": UnderBelief,
    "softmax": Softmax,
    "arms": Arms,
    "confidence": Confidence,
}
_registered: dict[str, type] = {}
RESPONSES = Known(BUILT_IN, lambda: {dashed(cls): cls for cls in marked if is_own(cls)} | _registered)
HABITS = ("lapse", "stay", "span")
for known in (*BUILT_IN.values(), Habits):
    add_ranges(parameters_of(known))


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
            among = contexts_of(family) if model.chooses_contexts() else family.categories() or 2
            return cast(ResponseModel, ChoiceHabits(model, **{"span": float(among)} | habits))
        if habits.get("lapse") and "span" not in habits:
            ends = ends_of(model, family)
            if ends is None:
                raise ValueError("lapse needs span, the length of the slider")
            habits["span"] = ends[1] - ends[0]
        return cast(ResponseModel, Habits(model, **habits))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{recipe.text!r}: {error}") from None


# --- of a user's own -----------------------------------------------------------------------------------------------------

KINDS = (
    *own_files.KINDS,
    own_files.Kind("response model", lambda cls: dashed(cls) if is_response(cls) else None, RESPONSES),
)


def load_own(paths: Iterable[str]) -> None:
    """`own_files.load_own`, for response models too."""
    own_files.load_own(paths, KINDS)


def register_response(name: str, cls: type, **ranges: Range) -> None:
    """Make a class with `@response` known under another name than its own: register_response("round", Rounded).

    ranges    where parameters are searched; without one a parameter that no other model has gets a wide one, as its field accepts
    """
    if not is_response(cls):
        raise TypeError(f"{cls.__name__} is not a response model; put @response above the class")
    if name in RESPONSES.built_in:
        raise ValueError(f"there is a response model {name!r} already; choose another name")
    RANGES.update(ranges)
    _registered[name] = cls


def know_ranges(recipe: Recipe, cls: type) -> None:
    """Where the free parameters of a class of the user's own are searched: where its fields say, else where they may be."""
    rules = rules_of(cls) if is_own(cls) else {}
    declared = {one.name: one.search for one in parameters_of(cls)} if rules else {}
    for name in recipe.free():
        if name in rules:
            search = declared.get(name)
            if isinstance(search, Choices):
                WHOLE[name] = search.values
            elif isinstance(search, Range):
                RANGES[name] = search
            elif name not in RANGES and name not in WHOLE:
                RANGES[name] = usual_range(rules[name])
