"""What a person is about to respond to: an outcome like any other, an outcome in a context, the next symbol of a chain, or arms.

A response model asks a learner for its mean and its uncertainty of theta_0. Where there are contexts (cues, arms, last symbols),
theta has a part for each, and the model is given a view of the learner (`Coming`) in which theta_0 is the coming trial's. So a
response model needs to know nothing of contexts; one that chooses among arms asks the view for all of them.

Below stands what people saw at each trial, from a table. A bandit's has the reward of the chosen arm in one column, or a column
for each arm. A trial without feedback (a missing outcome, or no choice) is no feedback: time passes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from volatilis._compiler.registry import compiled_methods
from volatilis.families import Given, Transitions
from volatilis.families._base import Beliefs, Family
from volatilis.learners._base import Learner
from volatilis.tables import TableError

if TYPE_CHECKING:
    from volatilis.behaviour.models import Model
    from volatilis.behaviour.people import Source, Trials
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


CHOSEN, ALL = "chosen", "all"
LEARN = (CHOSEN, ALL)
NO_NUMBERS = np.zeros(0)


class EncodedOutcomes(NamedTuple):
    """Of some trials.

    values, absent   outcomes as the learner's family has them, and where there are none
    contexts         the context of each trial's response, NaN where it is not known; empty where there are no contexts
    worth            trials x arms: what each arm pays if it pays 1; empty without arms
    rewards          trials x arms: what each arm would have paid; empty where the table does not say
    """

    values: np.ndarray
    absent: np.ndarray
    contexts: np.ndarray
    worth: np.ndarray
    rewards: np.ndarray

    def about_coming(self, begins: np.ndarray) -> EncodedOutcomes:
        """For responses given after the outcome: they are about the coming trial's context, and the last of a block has none."""
        return self._replace(contexts=np.where(np.append(begins[1:], True), np.nan, np.append(self.contexts[1:], np.nan)))


class Feedback:
    """The columns of outcomes, contexts and magnitudes of a table; `numbers` reads one of them."""

    def __init__(self, source: Source, model: Model, numbers: Callable[[str], np.ndarray]) -> None:
        self._source, self.columns = source, source.outcomes()
        self._outcomes = np.stack([numbers(name) for name in self.columns], axis=1)
        self._arms = model.chooses_contexts()
        given = context_column(source, model)
        self._given = None if given is None else numbers(given)
        self._worth = np.stack([numbers(name) for name in source.magnitudes], axis=1) if source.magnitudes else None
        self._check()

    def _check(self) -> None:
        source = self._source
        if source.contexts and self._given is None:
            raise ValueError("--contexts names the contexts of a column: name it with --given")
        if source.learn not in LEARN:
            raise ValueError(f"learn = {source.learn!r} is not accepted; a person learns from the chosen arm or from all")
        if len(self.columns) > 1 and not self._arms:
            raise ValueError(f"--outcome names {len(self.columns)} columns, which is for choices among arms: --response arms:...")
        if source.magnitudes and not self._arms:
            raise ValueError("--magnitudes are of arms: --response arms:...")
        if source.learn == ALL and len(self.columns) == 1:
            raise ValueError("--learn all needs what every arm paid: name a column for each, --outcome reward_0,reward_1")

    def of(self, rows: np.ndarray, model: Model, columns: Mapping[str, float]) -> EncodedOutcomes:
        """These rows for the learner of a model; TypeError or ValueError where they will not do."""
        learner, response = model.example(columns)
        family = learner.family
        given = None if self._given is None else self._given[rows]
        if not self._arms:
            if given is None and family.context_width() > 0:
                raise ValueError(f"{type(family).__name__} has contexts: name the column of each trial's context with --given")
            if given is not None and family.context_width() == 0:
                having = "--family 'given:...;contexts=2' has, or --learner 'per-context:...;contexts=2'"
                raise ValueError(f"{type(family).__name__} has no contexts, and --given names some: {having}")
            values, absent = family.observations(self._outcomes[rows, 0], given)
            return EncodedOutcomes(values, absent, NO_NUMBERS if given is None else given, NO_NUMBERS, NO_NUMBERS)
        response.check_learner(learner)
        if given is None or self._source.when != "before":
            raise ValueError("a choice among arms comes before its outcome: name its column, without --when after")
        arms, chosen = contexts_of(family), np.nan_to_num(given).astype(int)
        self._check_arms(rows, arms, given)
        rewards = self._outcomes[rows] if len(self.columns) > 1 else NO_NUMBERS
        worth = np.ones((rows.size, arms)) if self._worth is None else self._worth[rows]
        if self._source.learn == ALL:
            values, absent = family.observations(rewards, None)
            return EncodedOutcomes(values, absent, np.nan_to_num(given), worth, rewards)
        seen = np.take_along_axis(rewards, chosen[:, None], axis=1)[:, 0] if rewards.size else self._outcomes[rows, 0]
        seen = np.where(np.isnan(given), np.nan, seen)
        values, absent = family.observations(seen, np.nan_to_num(given))
        return EncodedOutcomes(values, absent, np.nan_to_num(given), worth, rewards)

    def _check_arms(self, rows: np.ndarray, arms: int, given: np.ndarray) -> None:
        wrong = ~np.isnan(given) & ((given != np.floor(given)) | (given < 0) | (given >= arms))
        if wrong.any():
            i = int(np.argmax(wrong))
            raise ValueError(f"row {rows[i] + 1}: the choice {given[i]:g} is not accepted; the arms are 0 to {arms - 1}")
        for words, width in (("--outcome", len(self.columns)), ("--magnitudes", len(self._source.magnitudes))):
            if width not in (arms, 1 if words == "--outcome" else 0):
                raise ValueError(f"{words} names {width} columns, and there are {arms} arms")
        if len(self.columns) == 1:
            lone = np.isnan(given) & ~np.isnan(self._outcomes[rows, 0])
            if lone.any():
                row = rows[int(np.argmax(lone))] + 1
                raise TableError(f"row {row} has an outcome and no choice, so its arm is not known: leave the outcome empty")
        if self._worth is not None and not np.isfinite(self._worth[rows]).all():
            row = rows[int(np.argmax(~np.isfinite(self._worth[rows]).all(axis=1)))] + 1
            raise ValueError(f"row {row}: a magnitude is missing or infinite")


def context_column(source: Source, model: Model) -> str | None:
    """Where the contexts of outcomes stand: of arms it is the choice."""
    return source.given or (source.response if model.chooses_contexts() else None)


def needed_columns(source: Source, parameters: tuple[str, ...]) -> list[tuple[str, str]]:
    """All columns that are read, each with its use."""
    begins = "where a block begins"
    optional = (
        (source.response, "the response"),
        *((name, begins) for name in source.blocks()),
        (source.reset, begins),
        (source.catch, "catch trials"),
        (source.trial, "a trial's number"),
        (source.given, "the context"),
    )
    return [
        *((name, "the outcome") for name in source.outcomes()),
        *((name, "what an arm pays") for name in source.magnitudes),
        *((name, "a person") for name in source.by),
        *((name, use) for name, use in optional if name is not None),
        *((name, "a parameter") for name in parameters),
    ]
