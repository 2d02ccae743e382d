"""What a person is about to respond to: an outcome like any other, an outcome in a context, the next symbol of a chain, or arms.

A response model asks a learner for its mean and its uncertainty of theta_0. Where there are contexts (cues, arms, last symbols),
theta has a part for each, and the model is given a view of the learner (`Coming`) in which theta_0 is the coming trial's. So a
response model needs to know nothing of contexts; one that chooses among arms asks the view for all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from volatilis._compiler.registry import compiled_methods
from volatilis.families import Given, Transitions
from volatilis.families._base import Beliefs, Family
from volatilis.learners._base import Learner

if TYPE_CHECKING:
    from volatilis.behaviour.people import Trials
    from volatilis.behaviour.responses._base import ResponseModel


@compiled_methods
class OneOf(NamedTuple):
    """The family of one context: `width` elements of theta from `first` on."""

    outer: Any  # a Family, which no field of a tuple can say
    first: int
    width: int

    def size(self) -> int:
        return self.width

    def mean(self, beliefs: Beliefs, i: int, k: int) -> float:
        return self.outer.mean(beliefs, i, self.first + k)

    def variance(self, beliefs: Beliefs, i: int, k: int) -> float:
        return self.outer.variance(beliefs, i, self.first + k)

    def circumference(self) -> float:
        return self.outer.circumference()

    def difference(self, a: float, b: float) -> float:
        return self.outer.difference(a, b)


@compiled_methods
class Coming(NamedTuple):
    """A learner as a response model sees it: theta is that of the coming context, or of any of `among` contexts, all as likely.

    `worth` is what each arm pays if it pays 1.
    """

    learner: Any
    family: OneOf
    among: int
    apart: int  # from one context's theta to the next one's
    worth: np.ndarray

    def read_mean(self, state: Any, k: int) -> float:
        total = self.learner.read_mean(state, self.family.first + k)
        for c in range(1, self.among):
            total += self.learner.read_mean(state, self.family.first + c * self.apart + k)
        return total / self.among

    def read_variance(self, state: Any, k: int, mean: float) -> float:
        if self.among == 1:
            return self.learner.read_variance(state, self.family.first + k, mean)
        total = 0.0
        for c in range(self.among):
            at = self.family.first + c * self.apart + k
            here = self.learner.read_mean(state, at)
            total += self.learner.read_variance(state, at, here) + (here - mean) * (here - mean)
        return total / self.among


@compiled_methods
class Plain(NamedTuple):
    """No contexts."""

    worth: np.ndarray

    def respond(self, model: Any, learner: Any, state: Any, t: int, given: float, before: float) -> float:
        return model.log_response(learner, state, given, before)


@compiled_methods
class InContext(NamedTuple):
    """Each trial's context is known before its outcome. Of arms the context is the choice, and a model looks at all of them."""

    apart: int
    contexts: np.ndarray  # one per trial
    worth: np.ndarray  # trials x arms

    def respond(self, model: Any, learner: Any, state: Any, t: int, given: float, before: float) -> float:
        part = OneOf(learner.family, self.apart * self.contexts[t], self.apart)
        return model.log_response(Coming(learner, part, 1, self.apart, self.worth[t]), state, given, before)


@compiled_methods
class NextSymbol(NamedTuple):
    """A chain: the context is the last symbols, which the state remembers. After a gap it may be any.

    symbols, order   how many there are, and how many before it decide about the next
    first, width     the elements of a context's theta that the response is about: all, or the probability of 1 alone
    """

    symbols: int
    order: int
    first: int
    width: int
    worth: np.ndarray

    def respond(self, model: Any, learner: Any, state: Any, t: int, given: float, before: float) -> float:
        context, among = 0, 1
        for back in range(self.order):
            context = context * self.symbols + int(state.memory[self.order - back])
            among *= self.symbols
        known = int(state.memory[0]) == self.order
        at = (context if known else 0) * self.symbols + self.first
        part = OneOf(learner.family, at, self.width)
        return model.log_response(Coming(learner, part, 1 if known else among, self.symbols, self.worth), state, given, before)


Situation = Plain | InContext | NextSymbol
ANYTHING = np.ones(1)


def contexts_of(family: Family) -> int:
    """How many contexts a family has; 1 where it has none, or where the past is the context."""
    return family.contexts if isinstance(family, Given) else 1


def inner_family(family: Family) -> Family:
    """The family of one context; itself where there are none."""
    return family.family if isinstance(family, Given) else family


def situation_of(learner: Learner, model: ResponseModel, trials: Trials) -> Situation:
    """What the responses of some trials are about."""
    family = learner.family
    if isinstance(family, Transitions):
        return NextSymbol(family.k, family.order, *elements_of(family, model), ANYTHING)
    if family.memory_size() > 0 or (family.context_width() > 0 and not isinstance(family, Given)):
        name = type(family).__name__
        raise ValueError(
            f"responses to {name} are not modelled: families without contexts, Given, PerContext and transitions are"
        )
    if contexts_of(family) == 1:
        return Plain(ANYTHING)
    if trials.contexts.size != trials.events.size:
        raise ValueError(f"{type(family).__name__} has contexts: name the column of each trial's context with --given")
    worth = trials.worth if trials.worth.size else np.ones((trials.events.size, 1))
    return InContext(inner_family(family).size(), trials.contexts.astype(np.int64), worth)


def elements_of(family: Transitions, model: ResponseModel) -> tuple[int, int]:
    """The first of a context's probabilities that a response to a chain is about, and how many: a choice is about all, a report
    about that of symbol 1."""
    if model.chooses():
        return 0, family.k
    if family.k != 2:
        raise ValueError(
            f"a reported probability is that of symbol 1 among two; of {family.k} symbols choices can be modelled (softmax)"
        )
    return 1, 1
