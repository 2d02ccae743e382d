"""What people saw at each trial, as learners take it: an outcome, an outcome in a context (a cue, the chosen arm), or all arms.

A bandit's table has the reward of the chosen arm in one column, or a column for each arm. A trial without feedback (a missing
outcome, or no choice) is no feedback: time passes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from volatilis.behaviour.situations import contexts_of
from volatilis.tables import TableError

if TYPE_CHECKING:
    from volatilis.behaviour.models import Model
    from volatilis.behaviour.people import Source

CHOSEN, ALL = "chosen", "all"
LEARN = (CHOSEN, ALL)
NO_NUMBERS = np.zeros(0)


class Seen(NamedTuple):
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

    def about_coming(self, begins: np.ndarray) -> Seen:
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

    def of(self, rows: np.ndarray, model: Model, columns: Mapping[str, float]) -> Seen:
        """These rows for the learner of a model; TypeError or ValueError where they will not do."""
        learner, response = model.example(columns)
        family = learner.family
        given = None if self._given is None else self._given[rows]
        if not self._arms:
            if given is None and family.context_width() > 0:
                raise ValueError(f"{type(family).__name__} has contexts: name the column of each trial's context with --given")
            if given is not None and family.context_width() == 0:
                having = "--family 'given:...;contexts=2' has, or --learner 'per-context:...;contexts=2'"
                raise ValueError(f"--given names contexts, and {type(family).__name__} has none: {having}")
            values, absent = family.observations(self._outcomes[rows, 0], given)
            return Seen(values, absent, NO_NUMBERS if given is None else given, NO_NUMBERS, NO_NUMBERS)
        response.check_learner(learner)
        if given is None or self._source.when != "before":
            raise ValueError("a choice among arms comes before its outcome: name its column, without --when after")
        arms, chosen = contexts_of(family), np.nan_to_num(given).astype(int)
        self._check_arms(rows, arms, given)
        rewards = self._outcomes[rows] if len(self.columns) > 1 else NO_NUMBERS
        worth = np.ones((rows.size, arms)) if self._worth is None else self._worth[rows]
        if self._source.learn == ALL:
            values, absent = family.observations(rewards, None)
            return Seen(values, absent, np.nan_to_num(given), worth, rewards)
        seen = np.take_along_axis(rewards, chosen[:, None], axis=1)[:, 0] if rewards.size else self._outcomes[rows, 0]
        seen = np.where(np.isnan(given), np.nan, seen)
        values, absent = family.observations(seen, np.nan_to_num(given))
        return Seen(values, absent, np.nan_to_num(given), worth, rewards)

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
                raise TableError(f"row {rows[int(np.argmax(lone))] + 1} has an outcome and no choice: of which arm is it?")
        if self._worth is not None and not np.isfinite(self._worth[rows]).all():
            row = rows[int(np.argmax(~np.isfinite(self._worth[rows]).all(axis=1)))] + 1
            raise ValueError(f"row {row}: a magnitude is missing or infinite")


def context_column(source: Source, model: Model) -> str | None:
    """Where the contexts of outcomes stand: of arms it is the choice."""
    return source.given or (source.response if model.chooses_contexts() else None)


def needed_columns(source: Source, parameters: tuple[str, ...]) -> list[tuple[str, str]]:
    """All columns that are read, each with its use."""
    block, reset = (source.block, "where a block begins"), (source.reset, "where a block begins")
    given = (source.response, "the response")
    optional = (
        given,
        block,
        reset,
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
