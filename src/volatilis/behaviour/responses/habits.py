"""What people also do: lapse, and stay put."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np

from volatilis._compiler.registry import compiled_function, python_only
from volatilis._core.fields import Positive
from volatilis._core.records import LOGIT, Range
from volatilis.behaviour.responses._base import Moment, ResponseModel, Share, response
from volatilis.behaviour.responses.choice import check_categories
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
        said = log_lapse(self.lapse, self.span, self.model.log_response(learner, state, given, before))
        return said + log_1p(-self.stay) if before == before else said

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
    """A choice with lapses (any of `span` categories, equally likely) and perseveration (the last choice once more) around it."""

    model: Any  # a ResponseModel; validation takes fields of this kind as they are
    lapse: Lapse = 0.0
    stay: Stay = 0.0
    span: Positive = 2.0

    def log_response(self, learner: LearnerOf[S], state: S, given: float, before: float) -> float:
        said = log_lapse(self.lapse, self.span, self.model.log_response(learner, state, given, before))
        return log_stay(self.stay, said, given, before)

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
def log_lapse(lapse: float, span: float, said: float) -> float:
    if lapse == 0.0:
        return said
    said, uniform = log_1p(-lapse) + said, log(lapse) - log(span)
    top = max(said, uniform)
    return top + log(exp(said - top) + exp(uniform - top))


@compiled_function
def log_stay(stay: float, said: float, given: float, before: float) -> float:
    """For responses that have a probability; the first has nothing to stay at."""
    if before != before:
        return said
    if given != before or stay == 0.0:
        return log_1p(-stay) + said
    return log(stay + (1.0 - stay) * exp(said))
