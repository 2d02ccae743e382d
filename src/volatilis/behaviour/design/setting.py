"""What an experiment is like: its task, the learners that people may be, how noisy measures are, and the designs to compare."""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np

from volatilis._core.records import Range
from volatilis.behaviour.models import Model
from volatilis.behaviour.responses.registry import load_own
from volatilis.catalogue import parameters
from volatilis.environments import ChangingEnvironment
from volatilis.learners._base import Learner
from volatilis.predictions.hypotheses import check_level
from volatilis.predictions.windows import FirstWindow, SecondWindow, check_belief, check_windows, why_gaussian

LEARNING = ("p_c", "m", "omega")  # what is fitted
VALUES = 15  # of it, where it is not searched: on its scale, from below to above what is usual


class Setting(NamedTuple):
    """All that the power depends on, but for the number of repetitions.

    family           the outcomes and their prior, gaussian:sigma=...,mu_0=...,sigma_0=...
    p_c              of the environment
    learners         candidates with the parameters that people have; the predictions are simulated with the first
    noise            standard deviation of the indicator's noise, in standard deviations of the measure it reflects, over the
                     trials that prediction 1 selects (over all trials a few huge values of S_BF decide, and tell nothing)
    response_noise   standard deviation of people's predictions about their belief's mean, in prior standard deviations
    subjects, trials the designs to compare
    fit              for the comparison of learners, fit the learning parameter and the response noise of every candidate;
                     otherwise the best of some values of it, and the noise that suits each. Compared by BIC both times
    sequence         outcomes that everybody sees; empty: everybody has their own random ones
    own              Python files with families and learners of the user's own
    """

    family: str = "gaussian:sigma=0.5"
    p_c: float = 0.1
    learners: tuple[str, ...] = ("nas12*:p_c=0.1",)
    noise: float = 1.0
    response_noise: float = 0.2
    subjects: tuple[int, ...] = (5, 10, 20, 40)
    trials: tuple[int, ...] = (100, 250, 500)
    fit: bool = False
    level: float = 0.95
    seed: int = 0
    first_window: FirstWindow = FirstWindow()
    second_window: SecondWindow = SecondWindow()
    sequence: tuple[float, ...] = ()
    own: tuple[str, ...] = ()

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
        return self.response_noise * self.environment().family.sigma_0

    def fitted_models(self) -> list[Model]:
        """The same with the learning parameter and the response noise free."""
        return [_model(self.family, _freed(learner), "gaussian:sd=free") for learner in self.learners]

    def tried(self) -> list[tuple[Learner, ...]]:
        """Each candidate with the values of its learning parameter that are tried; none for one that samples."""
        return [_tried(self.family, learner) for learner in self.learners]

    def environment(self) -> ChangingEnvironment:
        return _environment(self.family, self.p_c)

    def labels(self) -> list[str]:
        from volatilis.catalogue import parse_learners

        return [recipe.label for recipe in parse_learners(self.learners)]


def check(setting: Setting) -> None:
    """Raises ValueError or TypeError for whatever is wrong, before anything is computed."""
    from volatilis.catalogue import make_family, parse_family
    from volatilis.families import Gaussian

    setting.load_own()
    recipe = parse_family(setting.family)
    if recipe.name != "gaussian":
        raise ValueError(why_gaussian(recipe.name))
    if recipe.free() or recipe.columns():
        raise ValueError(f"{setting.family!r}: a design needs numbers for all parameters")
    family = make_family(recipe, {})
    if not isinstance(family, Gaussian):
        raise TypeError(f"{setting.family!r} is {type(family).__name__}")
    setting.environment()
    check_windows(setting.first_window, setting.second_window)
    for name, value in (("noise", setting.noise), ("response_noise", setting.response_noise)):
        if not (math.isfinite(value) and value >= 0.0):
            raise ValueError(f"{name} = {value!r} is not accepted; it must be a number, 0 or more")
    check_level(setting.level)
    if setting.response_noise == 0.0 and len(setting.learners) > 1:
        raise ValueError(
            "response_noise = 0 makes every other learner impossible; give the standard deviation of people's predictions"
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


def _freed(learner: str) -> str:
    """A candidate with its learning parameter to be found."""
    head, colon, tail = learner.partition(":")
    parts = [part.strip() for part in tail.split(",")]
    freed = [f"{name}=free" if (name := part.partition("=")[0].strip()) in LEARNING else part for part in parts]
    return f"{head}{colon}{','.join(freed)}"


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
    found = next(one.search for one in parameters(freed.learner.name) if one.name == name)
    if not isinstance(found, Range):
        return (given.make({})[0],)
    scale, here = found.scale, float(dict(given.learner.fields)[name])  # type: ignore[arg-type]
    first, last = scale.to(found.first), scale.to(found.last)
    own = scale.to(min(max(here, found.low), found.high))
    wide = min(1.5 * first - 0.5 * last, own), max(1.5 * last - 0.5 * first, own)
    ends = np.clip(wide, scale.to(found.low), scale.to(found.high))
    steps = np.linspace(float(ends[0]), float(ends[1]), VALUES)
    return tuple(freed.make({name: scale.back(float(x))})[0] for x in steps)


@functools.cache
def _environment(family: str, p_c: float) -> ChangingEnvironment:
    from volatilis.catalogue import make_family, parse_family

    return ChangingEnvironment(make_family(parse_family(family), {}), p_c)
