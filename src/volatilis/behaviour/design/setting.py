"""What an experiment is like: its task, the learners that people may be, how noisy measures are, and the designs to compare."""

from __future__ import annotations

import functools
import math
import re
from typing import NamedTuple

import numpy as np

from volatilis._core.records import Range
from volatilis.behaviour.models import Model
from volatilis.behaviour.responses.registry import load_own
from volatilis.behaviour.situations import contexts_of
from volatilis.catalogue import make_family, parameters, parse_family, parse_learners
from volatilis.environments import ChangingEnvironment
from volatilis.families import Gaussian, Given
from volatilis.learners import PerContext
from volatilis.learners._base import Learner
from volatilis.predictions.hypotheses import check_level
from volatilis.predictions.windows import FirstWindow, SecondWindow, check_belief, check_windows, gaussian_within

LEARNING = re.compile(r"(?<=[:,;])\s*(p_c|m|omega)\s*=\s*[0-9.eE+-]+\s*(?=[,;]|$)")  # what is fitted, in a learner's text
RANDOM, TURNS = "random", "turns"  # how contexts follow one another
VALUES = 15  # of it, where it is not searched: on its scale, from below to above what is usual


class Shown(NamedTuple):
    """The outcomes that a person sees, and the context of each; None where there are no contexts."""

    y: np.ndarray
    given: np.ndarray | None = None

    def first(self, trials: int | None) -> Shown:
        """Those of the first trials; None: of all."""
        return Shown(self.y[:trials], None if self.given is None else self.given[:trials])


class Setting(NamedTuple):
    """All that the power depends on, but for the number of repetitions.

    family           the outcomes and their prior, gaussian:sigma=...,mu_0=...,sigma_0=...; with contexts that change together
                     given:gaussian:...;contexts=2, with contexts that change apart gaussian and learners per-context:...
    p_c              of the environment
    learners         candidates with the parameters that people have; the predictions are simulated with the first
    noise            standard deviation of the indicator's noise, in standard deviations of the measure it reflects, over the
                     trials that prediction 1 selects (over all trials a few huge values of S_BF decide, and tell nothing)
    response_noise   standard deviation of people's predictions about their belief's mean, in prior standard deviations
    subjects, trials   the designs to compare
    fit              for the comparison of learners, fit the learning parameter and the response noise of every candidate;
                     otherwise the best of some values of it, and the noise that suits each. Compared by BIC both times
    sequence         outcomes that everybody sees; empty: everybody has their own random ones
    level            of the confidence intervals
    seed             of everything that is random
    first_window, second_window   which trials the predictions compare
    own              Python files with families and learners of the user's own
    given            how contexts follow one another: random (every one as likely at each trial) or turns; "": random, if any
    """

    family: str = "gaussian:sigma=0.5"
    p_c: float = 0.1
    learners: tuple[str, ...] = ("nas12*:p_c=0.1",)
    noise: float = 1.0
    response_noise: float = 0.2
    subjects: tuple[int, ...] = (6, 10, 20, 40)
    trials: tuple[int, ...] = (100, 250, 500)
    fit: bool = False
    level: float = 0.95
    seed: int = 0
    first_window: FirstWindow = FirstWindow()
    second_window: SecondWindow = SecondWindow()
    sequence: tuple[float, ...] = ()
    own: tuple[str, ...] = ()
    given: str = ""

    def load_own(self) -> None:
        """In this process, which may be another one than where the setting was made."""
        load_own(self.own)

    def models(self) -> list[Model]:
        """A model for each candidate, with the parameters that people have."""
        noise = f"gaussian:sd={self.response_sd()!r}"
        return [_model(self.family, learner, noise) for learner in self.learners]

    def first_learner(self) -> Learner:
        """The first candidate, with which the predictions are simulated."""
        return self.models()[0].make({})[0]

    def response_sd(self) -> float:
        """The standard deviation of people's predictions about their belief's mean, in units of the outcomes."""
        return self.response_noise * self.prior().sigma_0

    def fitted_models(self) -> list[Model]:
        """The same with the learning parameter and the response noise free."""
        return [_model(self.family, _freed(learner), "gaussian:sd=free") for learner in self.learners]

    def tried(self) -> list[tuple[Learner, ...]]:
        """Each candidate with the values of its learning parameter that are tried; none for one that samples."""
        return [_tried(self.family, learner) for learner in self.learners]

    def environment(self) -> ChangingEnvironment:
        """Of all outcomes or, where contexts change apart, of each context's."""
        return _environment(self.family, self.p_c)

    def prior(self) -> Gaussian:
        """The family of the outcomes, in each context."""
        return gaussian_within(self.environment().family)

    def has_contexts(self) -> bool:
        return isinstance(self.first_learner().family, Given)

    def outcomes(self, seed: np.random.SeedSequence, trials: int) -> Shown:
        """One person's: the sequence that everybody sees, or random ones."""
        return Shown(np.array(self.sequence[:trials])) if self.sequence else self.random_outcomes(seed, trials)

    def random_outcomes(self, seed: np.random.SeedSequence, trials: int) -> Shown:
        """Of the environment, in contexts that follow one another as `given` says."""
        environment, learner = self.environment(), self.first_learner()
        if not self.has_contexts():
            return Shown(np.asarray(environment.sample(trials, seed).y, dtype=float))
        contexts = contexts_of(learner.family)
        drawn, *seeds = seed.spawn(1 + contexts)
        given = np.random.default_rng(drawn).integers(0, contexts, trials)
        given = np.arange(trials) % contexts if self.given == TURNS else given
        if isinstance(environment.family, Given):
            return Shown(np.asarray(environment.sample(trials, seeds[0], given).y, dtype=float), given)
        y, waits = np.empty(trials), isinstance(learner, PerContext) and learner.unseen.name == "wait"
        for context, of_context in enumerate(seeds):
            at = np.flatnonzero(given == context)
            sequence = environment.sample(trials, of_context).y
            y[at] = sequence[: at.size] if waits else sequence[at]
        return Shown(y, given)

    def labels(self) -> list[str]:
        return [recipe.label for recipe in parse_learners(self.learners)]


def check(setting: Setting) -> None:
    """Raises ValueError or TypeError for whatever is wrong, before anything is computed."""
    setting.load_own()
    recipe = parse_family(setting.family)
    if recipe.free() or recipe.columns():
        raise ValueError(f"{setting.family!r}: a design needs numbers for all parameters")
    setting.prior()
    check_windows(setting.first_window, setting.second_window)
    for name, value in (("noise", setting.noise), ("response_noise", setting.response_noise)):
        if not (math.isfinite(value) and value >= 0.0):
            raise ValueError(f"{name} = {value!r} is not accepted; it must be a number, 0 or more")
    check_level(setting.level)
    if setting.response_noise == 0.0 and len(setting.learners) > 1:
        raise ValueError(
            "response_noise = 0 leaves no other learner possible, so learners cannot be compared; give the standard deviation of "
            "people's predictions"
        )
    for name, counts, least in (("subjects", setting.subjects, 2), ("trials", setting.trials, 10)):
        if not counts or min(counts) < least:
            raise ValueError(f"{name} = {counts!r} is not accepted; whole numbers, {least} or more, are")
    if setting.sequence and len(setting.sequence) < max(setting.trials):
        raise ValueError(f"the sequence has {len(setting.sequence)} outcomes, but {max(setting.trials)} trials are requested")
    if not setting.learners:
        raise ValueError("a design needs a learner")
    setting.labels()
    for model, text in zip(setting.models(), setting.learners, strict=True):
        if model.free() or model.columns():
            raise ValueError(f"{text!r}: give numbers for all parameters: those that people are thought to have")
    check_belief(setting.first_learner())
    _check_contexts(setting)


def _check_contexts(setting: Setting) -> None:
    """All candidates are about the same contexts."""
    families = [model.make({})[0].family for model in setting.models()]
    if any(family != families[0] for family in families):
        raise ValueError("learners are compared on the same contexts: give all of them the same, per-context:...;contexts=2")
    if setting.given not in ("", RANDOM, TURNS):
        raise ValueError(f"given = {setting.given!r} is not accepted; contexts come at {RANDOM} or in {TURNS}")
    if setting.given and not setting.has_contexts():
        raise ValueError("--given is about contexts, and there are none: --family 'given:gaussian:...;contexts=2' has some")
    if setting.sequence and setting.has_contexts():
        raise ValueError("a sequence of outcomes can be chosen only where there are no contexts")


def _freed(learner: str) -> str:
    """A candidate with its learning parameter to be found."""
    return LEARNING.sub(r"\1=free", learner)


@functools.cache
def _model(family: str, learner: str, response: str) -> Model:
    return Model.parse(family, learner, response)


@functools.cache
def _tried(family: str, learner: str) -> tuple[Learner, ...]:
    given, freed = _model(family, learner, "gaussian:sd=1"), _model(family, _freed(learner), "gaussian:sd=1")
    if given.samples():
        return ()
    name = next(iter(freed.learner.free()), None)
    if name is None:
        return (given.make({})[0],)
    known = {one.name: one.search for part in freed.learner.chain() for one in parameters(part.name)}
    search = known[name]
    if not isinstance(search, Range):
        return (given.make({})[0],)
    scale, here = search.scale, float(dict(given.learner.fields)[name])  # type: ignore[arg-type]
    first, last = scale.to(search.first), scale.to(search.last)
    given_place = scale.to(min(max(here, search.low), search.high))
    wide = min(1.5 * first - 0.5 * last, given_place), max(1.5 * last - 0.5 * first, given_place)
    ends = np.clip(wide, scale.to(search.low), scale.to(search.high))
    steps = np.linspace(float(ends[0]), float(ends[1]), VALUES)
    return tuple(freed.make({name: scale.back(float(x))})[0] for x in steps)


@functools.cache
def _environment(family: str, p_c: float) -> ChangingEnvironment:
    return ChangingEnvironment(make_family(parse_family(family), {}), p_c)
