"""Where no change was seen: what learners reckon with instead of numbers that the data cannot tell.

The evidence of a stretch without a visible change is as high for many changes that are too small to see as for none. A learner
that took the former for known would find changes everywhere, and not follow a large one. So changes are taken to be large, and
rare.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

from volatilis.estimation.environment import Environment
from volatilis.estimation.words import OFTEN
from volatilis.learners._base import Learner
from volatilis.learners._grids import parameter_places, value_of, with_values

NO_CHANGE = ("no change", "changes from noise", "p_c is not identified")  # in the notes of an estimate that saw none
VAGUE = 30.0  # the upper end of an interval of p_c over the lower: beyond, changes smaller than the noise are as good as none
WIDE = 10.0  # standard deviations of the noise: how large changes are taken to be where there was none to learn from
FEW = 10  # sequences: as many starts tell how large changes are, whether or not one came later


def saw_no_change(environment: Environment) -> bool:
    """Whether an estimate tells of no change; or only of such as are smaller than the noise, at a rate that is anyone's guess, or
    that may come at every second observation."""
    names = {one.name for one in environment.estimates}
    if "p_c" not in names:
        return False
    if any(sign in note for note in environment.notes for sign in NO_CHANGE):
        return True
    if {"a", "b"} <= names:  # with a and b next to 0 and many changes it is the law of a constant probability
        vague = all(f"{name} is not identified" in " ".join(environment.notes) for name in ("a", "b"))
        return environment["p_c"].value > (0.5 * OFTEN if vague else OFTEN)
    if not {"sigma", "sigma_0"} <= names:
        return False
    p_c, small = environment["p_c"], environment["sigma_0"].value < environment["sigma"].value
    return p_c.value > OFTEN >= p_c.low or (small and p_c.high > VAGUE * p_c.low)


def large_changes(learner: Learner, p_c: float) -> dict[str, float]:
    """The parameters of the prior with which changes are large, so far as they are known by name.

    Levels in Gaussian noise lie ten times as far apart as the noise is wide; rates of counts and of waiting times have a spread
    of their own size around the same mean; probabilities and directions may be any.
    """
    names, value = set(parameter_places(learner)), partial(value_of, learner)
    if {"sigma", "sigma_0"} <= names:
        sigma, sigma_0 = value("sigma"), value("sigma_0")
        sigma = math.hypot(sigma, sigma_0) if p_c > OFTEN else sigma  # levels that hardly last are noise
        large = {"sigma": sigma, "sigma_0": max(sigma_0, WIDE * sigma)}
        if "spread" in names:  # outliers, whose unit the prior is, stay where they were
            large["spread"] = value("spread") * math.hypot(sigma, sigma_0) / math.hypot(sigma, large["sigma_0"])
        return large
    if {"shape", "rate"} <= names:
        shape = min(value("shape"), 1.0)
        return {"shape": shape, "rate": value("rate") * shape / value("shape")}
    if {"a", "b"} <= names:
        return {"a": 1.0, "b": 1.0}
    if "s" in names:
        return {"s": min(value("s"), 1.0)}
    if {"kappa", "kappa_0"} <= names:
        return {"kappa_0": 0.0}
    return {}


def with_rare_changes(learner: Learner, p_c: float, observations: int) -> Learner:
    """The learner with changes that are rare and large."""
    return with_values(learner, {"p_c": min(p_c, 1.0 / observations)} | large_changes(learner, p_c))


def cautious(environment: Environment, learner: Learner) -> Environment:
    """Where no change was seen, the environment that learners reckon with; the estimates stay as they are. Says so in a note."""
    if not saw_no_change(environment):
        return environment
    large = large_changes(learner, environment.p_c)
    if not set(large) - {"spread"} <= {one.name for one in environment.estimates} or environment.sequences >= FEW:
        large = {}
    rare = with_values(learner, {"p_c": min(environment.p_c, 1.0 / environment.observations)} | large)
    shown = {"sigma_0"} if "sigma_0" in large else set(large)
    settings = [f"{name} = {value_of(rare, name):.3g}" for name in large if name in shown]
    if "sigma_0" in large:
        settings[0] += f" ({WIDE:g} times the noise)"
    settings.append(f"p_c = {value_of(rare, 'p_c'):.3g}")
    note = f"no change to learn from: learners of this environment use {', '.join(settings)}, not the estimates above"
    return replace(environment, family=rare.family, p_c=value_of(rare, "p_c"), notes=(*environment.notes, note))
