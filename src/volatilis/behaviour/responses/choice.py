"""A choice: among categories, or among arms, which are contexts of which each has its own outcomes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np

from volatilis._compiler.registry import compiled_function, python_only
from volatilis._core.fields import Real
from volatilis._core.records import LINEAR, LOG, Range
from volatilis.behaviour.responses._base import Moment, NonNegative, estimate, needs_variance, response
from volatilis.behaviour.situations import contexts_of, inner_family
from volatilis.families import Bernoulli, Gaussian, GaussianUnknownVariance, Poisson
from volatilis.families._kinds import RECORDS
from volatilis.special import exp, log, log_1p

if TYPE_CHECKING:
    from volatilis.families._base import Family
    from volatilis.learners._base import Learner, LearnerOf, S


@response
class Softmax(NamedTuple):
    """A choice among the categories: P(k) = p_k^beta / sum_j p_j^beta, p the belief's mean. beta = 1 is probability matching.

    An estimate that is exactly 0 or 1, as the leaky integrator's after the first outcome, makes choices impossible: that needs a
    lapse.

    beta   how much the most probable category is preferred

    >>> import volatilis as vl
    >>> from volatilis.behaviour import Softmax
    >>> learner = vl.VarSMiLe(vl.Bernoulli(a=3.0, b=1.0), m=0.1)
    >>> f'{Softmax(beta=2.0).log_response(learner, learner.init(), 1.0, float("nan")):.3f}'
    '-0.105'
    """

    beta: Annotated[NonNegative, Range(LOG, 1e-3, 1e3, 0.3, 5.0)] = 1.0

    def log_response(self, learner: LearnerOf[S], state: S, given: float, before: float) -> float:
        if learner.family.size() == 1:
            return log_softmax_of_two(self.beta, estimate(learner, state, 0), given)
        return log_softmax(self.beta, learner, state, int(given))

    @python_only
    def draw(self, moment: Moment, rng: np.random.Generator) -> float:
        shares = np.array([1.0 - moment.mean[0], moment.mean[0]]) if moment.mean.size == 1 else moment.mean
        with np.errstate(divide="ignore"):
            logs = self.beta * np.log(shares) if self.beta > 0.0 else np.zeros(shares.size)
        weights = np.exp(logs - logs.max())
        return float(rng.choice(shares.size, p=weights / weights.sum()))

    @python_only
    def chooses(self) -> bool:
        return True

    @python_only
    def check_learner(self, learner: Learner) -> None:
        check_categories(learner)
        if "variance" not in learner.readouts():  # an estimate alone, without a prior
            raise TypeError(
                f"after the first outcome the estimate of {type(learner).__name__} is exactly 0 or 1, so another choice would be "
                "impossible; give a lapse, such as softmax:beta=free,lapse=0.01"
            )

    @python_only
    def check_responses(self, family: Family, given: np.ndarray) -> None:
        categories = family.categories() or 2
        wrong = given[(given != np.floor(given)) | (given < 0.0) | (given >= categories)]
        if wrong.size:
            raise ValueError(f"the choice {wrong[0]:g} is not accepted; choices are whole numbers from 0 to {categories - 1}")


def check_categories(learner: Learner) -> None:
    if learner.family.categories() is None:
        raise TypeError(f"Softmax is for choices among categories, not for {type(learner.family).__name__}")


@compiled_function
def log_softmax_of_two(beta: float, p: float, given: float) -> float:
    """The probability of 1 is p."""
    if beta == 0.0:
        return log(0.5)
    one, other = (p, 1.0 - p) if given == 1.0 else (1.0 - p, p)
    against = beta * (log(other) - log(one))
    return -against - log_1p(exp(-against)) if against > 0.0 else -log_1p(exp(against))


@compiled_function
def log_softmax(beta: float, learner: LearnerOf[S], state: S, chosen: int) -> float:
    size, top, result = learner.family.size(), 0.0, 0.0
    if beta == 0.0:
        return -log(1.0 * size)
    for k in range(size):
        top = max(top, estimate(learner, state, k))
    for k in range(size):
        result += exp(beta * (log(estimate(learner, state, k)) - log(top)))
    return beta * (log(estimate(learner, state, chosen)) - log(top)) - log(result)


PAYING = (Bernoulli, Gaussian, GaussianUnknownVariance, Poisson)  # families whose first parameter is the expected outcome

if TYPE_CHECKING:
    from volatilis.families._base import Family
    from volatilis.learners._base import Learner


@response
class Arms(NamedTuple):
    """A choice among arms: P(k) is proportional to exp(beta * (worth_k + bonus * SD_k) + sticky * [k was the last choice]).

    worth_k is the mean of the belief about arm k's outcome, and SD_k its standard deviation, both times the trial's magnitude of
    the arm where magnitudes are given. A bonus above 0 seeks what is uncertain, below 0 avoids it.

    beta     how much the arm of most worth is preferred
    bonus    how much uncertainty is worth
    sticky   how much the last choice is preferred, whatever it is worth

    >>> from volatilis.behaviour import Arms, Model
    >>> Arms(beta=2.0, sticky=0.5).chooses_contexts()
    True
    >>> Model.parse("bernoulli", "per-context:varsmile:m=free;contexts=2", "arms:beta=free,sticky=free").free()
    ('m', 'beta', 'sticky')
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
