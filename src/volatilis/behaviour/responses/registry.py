"""Response models by name: the table of all, those of a user's own among them, and models from text such as gaussian:sd=free.

A text may give any of them habits besides (lapse, stay): these stand here too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

import numpy as np

from volatilis import catalogue, own_files
from volatilis._compiler.registry import compiled_function, python_only
from volatilis._core.fields import Positive, rules_of
from volatilis._core.records import LOGIT, Choices, Known, Parameter, Range, dashed, first_sentence, is_own, parameters_of
from volatilis.behaviour.fitting.parameters import RANGES, WHOLE, add_ranges, usual_range
from volatilis.behaviour.responses._base import Moment, ResponseModel, Share, is_response, marked, response
from volatilis.behaviour.responses.choice import Arms, Softmax, check_categories
from volatilis.behaviour.responses.prediction import CircularNoise, Confidence, GaussianNoise, LaplaceNoise, UnderBelief
from volatilis.behaviour.responses.slider import CensoredNoise, TruncatedNoise
from volatilis.behaviour.situations import contexts_of
from volatilis.catalogue import Recipe
from volatilis.families._base import Family
from volatilis.special import exp, log, log_1p

if TYPE_CHECKING:
    from volatilis.families._base import Family
    from volatilis.learners._base import Learner, LearnerOf, S

Lapse = Annotated[Share, Range(LOGIT, 1e-5, 0.99, 0.005, 0.1)]
Stay = Annotated[Share, Range(LOGIT, 1e-5, 1 - 1e-5, 0.02, 0.3)]


@response
class Habits(NamedTuple):
    """A continuous response model with lapses and perseveration around it.

    With probability `stay` the last response is given again, exactly; else, with probability `lapse`, any response on a slider
    of length `span`, equally likely; else what `model` says. The same number as before thus has a probability and any other a
    density: compare models with `stay` only with models with `stay`.

    model   such as GaussianNoise(0.5)
    lapse   the probability of any response at all
    stay    the probability of the last response once more
    span    the length of the slider

    >>> import volatilis as vl
    >>> from volatilis.behaviour import GaussianNoise, Habits
    >>> learner = vl.VarSMiLe(vl.Gaussian(sigma=1.0), m=0.1)
    >>> f'{Habits(GaussianNoise(0.5), lapse=0.1, span=4.0).log_response(learner, learner.init(), 0.2, float("nan")):.3f}'
    '-0.374'
    """

    model: Any  # a ResponseModel; validation takes fields of this kind as they are
    lapse: Lapse = 0.0
    stay: Stay = 0.0
    span: Positive = 1.0

    def log_response(self, learner: LearnerOf[S], state: S, given: float, before: float) -> float:
        mass = self.model.log_mass(learner, state, given, before)
        if mass > -np.inf:  # a lapse to exactly this number has no probability
            return log_stay(self.stay, log_1p(-self.lapse) + mass, given, before)
        if self.stay > 0.0 and given == before:
            return log(self.stay)
        log_model = log_lapse(self.lapse, self.span, self.model.log_response(learner, state, given, before))
        return log_model + log_1p(-self.stay) if before == before else log_model

    @python_only
    def draw(self, moment: Moment, rng: np.random.Generator) -> float:
        if moment.before == moment.before and rng.random() < self.stay:
            return moment.before
        if rng.random() < self.lapse:
            ends = ends_of(self.model, moment.family)
            low = moment.middle - 0.5 * self.span if ends is None else ends[0]
            return low + self.span * rng.random()
        return float(self.model.draw(moment, rng))

    @python_only
    def draws_theta(self) -> bool:
        return bool(self.model.draws_theta())

    @python_only
    def check_learner(self, learner: Learner) -> None:
        self.model.check_learner(learner)

    @python_only
    def check_responses(self, family: Family, given: np.ndarray) -> None:
        self.model.check_responses(family, given)


@response
class ChoiceHabits(NamedTuple):
    """A choice with lapses (any of `span` categories, equally likely) and perseveration (the last choice once more) around it.

    model   such as Softmax(2.0)
    lapse   the probability of any choice at all
    stay    the probability of the last choice once more
    span    how many categories there are

    >>> import volatilis as vl
    >>> from volatilis.behaviour import ChoiceHabits, Softmax
    >>> learner = vl.VarSMiLe(vl.Bernoulli(), m=0.1)
    >>> f'{ChoiceHabits(Softmax(2.0), stay=0.3).log_response(learner, learner.init(), 1.0, 1.0):.3f}'
    '-0.431'
    """

    model: Any  # a ResponseModel; validation takes fields of this kind as they are
    lapse: Lapse = 0.0
    stay: Stay = 0.0
    span: Positive = 2.0

    def log_response(self, learner: LearnerOf[S], state: S, given: float, before: float) -> float:
        log_model = log_lapse(self.lapse, self.span, self.model.log_response(learner, state, given, before))
        return log_stay(self.stay, log_model, given, before)

    @python_only
    def draw(self, moment: Moment, rng: np.random.Generator) -> float:
        if moment.before == moment.before and rng.random() < self.stay:
            return moment.before
        if rng.random() < self.lapse:
            return float(rng.integers(int(self.span)))
        return float(self.model.draw(moment, rng))

    @python_only
    def draws_theta(self) -> bool:
        return bool(self.model.draws_theta())

    @python_only
    def chooses(self) -> bool:
        return True

    @python_only
    def chooses_contexts(self) -> bool:
        return bool(self.model.chooses_contexts())

    @python_only
    def check_learner(self, learner: Learner) -> None:
        if self.lapse > 0.0 and not self.chooses_contexts():  # nothing is impossible
            check_categories(learner)
        else:
            self.model.check_learner(learner)

    @python_only
    def check_responses(self, family: Family, given: np.ndarray) -> None:
        self.model.check_responses(family, given)


def ends_of(model: ResponseModel, family: Family) -> tuple[float, float] | None:
    """Between which numbers a lapse may be: on the slider, or once around; None where nobody knows."""
    around = family.circumference()
    return (0.0, around) if around < np.inf else model.slider_ends()


@compiled_function
def log_lapse(lapse: float, span: float, log_model: float) -> float:
    if lapse == 0.0:
        return log_model
    log_model, uniform = log_1p(-lapse) + log_model, log(lapse) - log(span)
    top = max(log_model, uniform)
    return top + log(exp(log_model - top) + exp(uniform - top))


@compiled_function
def log_stay(stay: float, log_model: float, given: float, before: float) -> float:
    """For responses that have a probability; the first has nothing to stay at."""
    if before != before:
        return log_model
    if given != before or stay == 0.0:
        return log_1p(-stay) + log_model
    return log(stay + (1.0 - stay) * exp(log_model))


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
    """Make families, learners and response models of one's own known by name, as the option --own does.

    paths   Python files; each class in them is known by its name in lower case, with dashes

    Returns nothing. Raises FileNotFoundError for a file that is not there, ValueError for one that defines nothing of the kind.

    >>> import pathlib
    >>> from volatilis.behaviour import load_own
    >>> text = "import volatilis as vl\\nfrom typing import NamedTuple\\nfrom volatilis.behaviour import log_normal, response\\n"
    >>> text += "@response\\nclass AtZero(NamedTuple):\\n    sd: float\\n"
    >>> text += "    def log_response(self, learner, state, given, before):\\n        return log_normal(given, 0.0, self.sd)\\n"
    >>> _ = pathlib.Path("mine.py").write_text(text)
    >>> load_own(["mine.py"])
    """
    own_files.load_own(paths, KINDS)


def register_response(name: str, cls: type, **ranges: Range) -> None:
    """Make a class with `@response` known under another name than its own: register_response("round", Rounded).

    name      how it is called in a model's text, such as "round:step=5"
    cls       the class
    ranges    where parameters are searched; without one a parameter that no other model has gets a wide one, as its field accepts

    Returns nothing. Raises TypeError for a class without `@response`, ValueError for a name that is taken. Example: `response`.
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
