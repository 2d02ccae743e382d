"""Where no change was seen: what learners reckon with instead of numbers that the data cannot tell.

The evidence of a stretch without a visible change is as high for many changes that are too small to see as for none. A learner
that took the former for known would find changes everywhere, and not follow a large one. So changes are taken to be large, and
rare.
"""

from __future__ import annotations

import math
from dataclasses import replace

from volatilis.estimation.environment import Environment
from volatilis.estimation.words import OFTEN
from volatilis.learners._base import Learner
from volatilis.learners._grids import parameter_places, value_of, with_values

NO_CHANGE = ("no change", "changes from noise", "p_c is not identified")  # in the notes of an estimate that saw none
VAGUE = 30.0  # the upper end of an interval of p_c over the lower: beyond, changes smaller than the noise are as good as none
WIDE = 10.0  # standard deviations of the noise: how large changes are taken to be where there was none to learn from
FEW = 10  # sequences: as many starts tell how large changes are, whether or not one came later


def saw_no_change(found: Environment) -> bool:
    """Whether an estimate tells of no change; or only of such as are smaller than the noise, at a rate that is anyone's guess, or
    that may come at every second observation."""
    names = {one.name for one in found.estimates}
    if "p_c" not in names:
        return False
    if any(sign in note for note in found.notes for sign in NO_CHANGE):
        return True
    if not {"sigma", "sigma_0"} <= names:
        return False
    p_c, small = found["p_c"], found["sigma_0"].value < found["sigma"].value
    return p_c.value > OFTEN >= p_c.low or (small and p_c.high > VAGUE * p_c.low)


def with_rare_changes(learner: Learner, p_c: float, observations: int) -> Learner:
    """The learner with changes that are rare and, of levels in Gaussian noise, large."""
    places = parameter_places(learner)
    rare = {"p_c": min(p_c, 1.0 / observations)}
    if {"sigma", "sigma_0"} <= set(places):
        sigma, sigma_0 = value_of(learner, "sigma"), value_of(learner, "sigma_0")
        sigma = math.hypot(sigma, sigma_0) if p_c > OFTEN else sigma  # levels that hardly last are noise
        rare |= {"sigma": sigma, "sigma_0": max(sigma_0, WIDE * sigma)}
        if "spread" in places:  # outliers, whose unit the prior is, stay where they were
            rare["spread"] = value_of(learner, "spread") * math.hypot(sigma, sigma_0) / math.hypot(sigma, rare["sigma_0"])
    return with_values(learner, rare)


def cautious(found: Environment, learner: Learner) -> Environment:
    """Where no change was seen, the environment that learners reckon with; the estimates stay as they are. Says so in a note."""
    if not saw_no_change(found):
        return found
    sizes = {"sigma", "sigma_0"} <= {one.name for one in found.estimates} and found.sequences < FEW
    rare = with_rare_changes(learner, found.p_c, found.observations)
    if not sizes:
        rare = with_values(learner, {"p_c": value_of(rare, "p_c")})
    told = [f"p_c = {value_of(rare, 'p_c'):.3g}"]
    if sizes:
        told.insert(0, f"sigma_0 = {value_of(rare, 'sigma_0'):.3g} ({WIDE:g} times the noise)")
    note = f"no change to learn from: learners of this environment reckon with {' and '.join(told)}, not with what is told above"
    return replace(found, family=rare.family, p_c=value_of(rare, "p_c"), notes=(*found.notes, note))
