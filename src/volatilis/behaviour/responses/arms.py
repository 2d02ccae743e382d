"""A choice among arms: contexts of which each has its own outcomes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np

from volatilis._compiler.registry import compiled_function, python_only
from volatilis._core.fields import Real
from volatilis._core.records import LINEAR, LOG, Range
from volatilis.behaviour.responses._base import Moment, NonNegative, needs_variance, response
from volatilis.behaviour.situations import contexts_of, inner_family
from volatilis.families import Bernoulli, Gaussian, GaussianUnknownVariance, Poisson
from volatilis.families._kinds import RECORDS
from volatilis.special import exp, log

PAYING = (Bernoulli, Gaussian, GaussianUnknownVariance, Poisson)  # families whose first parameter is the expected outcome

if TYPE_CHECKING:
    from volatilis.families._base import Family
    from volatilis.learners._base import Learner


@response
class Arms(NamedTuple):
    """A choice among arms: P(k) is proportional to exp(beta * (worth_k + bonus * SD_k) + sticky * [k was the last choice]).

    worth_k is the mean of the belief about arm k's outcome, and SD_k its standard deviation, both times the trial's magnitude of
    the arm where magnitudes are given. A bonus above 0 seeks what is uncertain, below 0 avoids it.
    """

    beta: Annotated[NonNegative, Range(LOG, 1e-3, 1e3, 0.3, 5.0)] = 1.0
    bonus: Annotated[Real, Range(LINEAR, -50.0, 50.0, -1.0, 1.0)] = 0.0
    sticky: Annotated[Real, Range(LINEAR, -20.0, 20.0, -1.0, 1.0)] = 0.0

    def log_response(self, learner: Any, state: Any, given: float, before: float) -> float:
        top = arm_score(self, learner, state, 0, before)
        chosen, total = top, 1.0
        for k in range(1, learner.worth.size):
            score = arm_score(self, learner, state, k, before)
            chosen = score if k == given else chosen
            total = total * exp(top - score) + 1.0 if score > top else total + exp(score - top)
            top = max(top, score)
        return chosen - top - log(total)

    @python_only
    def draw(self, moment: Moment, rng: np.random.Generator) -> float:
        spread = self.bonus * moment.sd if self.bonus != 0.0 else 0.0
        scores = self.beta * moment.worth * (moment.mean + spread)
        if moment.before == moment.before:
            scores[int(moment.before)] += self.sticky
        weights = np.exp(scores - scores.max())
        return float(rng.choice(scores.size, p=weights / weights.sum()))

    @python_only
    def chooses(self) -> bool:
        return True

    @python_only
    def chooses_contexts(self) -> bool:
        return True

    @python_only
    def check_learner(self, learner: Learner) -> None:
        inner, arms = inner_family(learner.family), contexts_of(learner.family)
        if arms < 2 or not isinstance(inner, PAYING):
            kinds = ", ".join(RECORDS[cls].name for cls in PAYING)
            raise TypeError(
                f"Arms is for choices among arms, a family with contexts such as given:bernoulli;contexts=2 whose outcomes are "
                f"one of {kinds}, not for {type(learner.family).__name__}"
            )
        if self.bonus != 0.0:
            needs_variance(self, learner)

    @python_only
    def check_responses(self, family: Family, given: np.ndarray) -> None:
        arms = contexts_of(family)
        wrong = given[(given != np.floor(given)) | (given < 0.0) | (given >= arms)]
        if wrong.size:
            raise ValueError(f"the choice {wrong[0]:g} is not accepted; choices are arms, whole numbers from 0 to {arms - 1}")


@compiled_function
def arm_score(model: Any, learner: Any, state: Any, k: int, before: float) -> float:
    """beta * (worth + bonus * SD) + sticky of arm k; `learner` is a view of the coming trial (`Coming`)."""
    mean = learner.learner.read_mean(state, k)
    mean = mean if mean == mean else learner.family.outer.mean(state.pi_0, 0, k)
    if model.bonus != 0.0:
        mean += model.bonus * math.sqrt(learner.learner.read_variance(state, k, mean))
    return model.beta * learner.worth[k] * mean + (model.sticky if before == k else 0.0)
