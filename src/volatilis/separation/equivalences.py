"""Which measures are provably the same, or the same but for a monotone transformation: from the learners, not from the data.

identical          the same numbers (to rounding)
mirrored           the same numbers with the other sign, or one minus them
monotone           in each run one is a strictly monotone function of the other: no rank, no threshold and no nonlinear regression
                   tells them apart; a linear one does by their shapes alone
nearly monotone    the same but for a remainder that is measured here: the prior predictive is as good as flat
identical at first the same numbers in the first trials of each block

Why Shannon and Bayes Factor surprise can be monotone in each other: with S = P(y; pi_0) / P(y; pi),

    S_Sh = -log((1 - p_c) P(y; pi) + p_c P(y; pi_0)) = -log P(y; pi_0) + log S - log(1 - p_c + p_c S)

whose last two terms increase in S. So where P(y; pi_0) is the same for all outcomes, S_Sh is a function of S alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, cast

import numpy as np

from volatilis.families import Bernoulli, Categorical, Gaussian, MultivariateGaussian
from volatilis.families._base import Family
from volatilis.learners import (
    ExactBayes,
    Merge,
    MessagePassing,
    Nas10Star,
    Nas12Star,
    ParticleFilter,
    SMiLe,
    StratifiedResampling,
    VarSMiLe,
)
from volatilis.learners._base import Learner
from volatilis.separation.regressors import centred
from volatilis.trials import Column
from volatilis.trials.groups import Key

ORDER = ("identical", "mirrored", "monotone", "nearly monotone")  # the strongest first
AT_FIRST = "identical at first"
RATIO = ("bayes_factor_surprise", "log_bayes_factor_surprise")
SHANNON = ("shannon_surprise", "log_predictive")
NEARLY_FLAT = 0.01  # of the Shannon surprise's standard deviation
SMALL_CUTOFF = 1e-12  # up to this Exact Bayes is exact to the digits that matter
NO_CUTOFF = (MessagePassing, StratifiedResampling, Merge)


class Flatness(NamedTuple):
    """How constant log P(y; pi_0) is within runs: its range, and its standard deviation over that of the Shannon surprise."""

    range: float
    share: float


class Relation(NamedTuple):
    """How two measures are related, and why. `until`: up to which trial of a block, where it is so at first only."""

    kind: str
    reason: str
    until: int | None = None


class Equivalence(NamedTuple):
    """A relation between two columns, by their names."""

    first: str
    second: str
    kind: str
    reason: str
    until: int | None


def equivalences(
    columns: list[Column], learners: Mapping[tuple[str, Key], Learner], flatness: Mapping[str, Flatness], longest: int
) -> dict[tuple[int, int], Equivalence]:
    """Between all pairs of columns, by their places; `longest` is the number of trials of the longest block.

    A relation must hold in every group.
    """
    groups = _different(learners, {column.label for column in columns})
    relations = {}
    for i, first in enumerate(columns):
        for j, second in enumerate(columns[i + 1 :], i + 1):
            weakest = _weakest([_between(first, second, group, flatness, longest) for group in groups])
            if weakest is not None:
                relations[i, j] = Equivalence(first.name, second.name, weakest.kind, weakest.reason, weakest.until)
    return relations


def _different(learners: Mapping[tuple[str, Key], Learner], labels: Iterable[str]) -> list[dict[str, Learner]]:
    """The learners by label, once for each combination of parameters that groups have."""
    groups: dict[Key, dict[str, Learner]] = {}
    for (label, key), learner in learners.items():
        if label in labels:
            groups.setdefault(key, {})[label] = learner
    return list({repr(group): group for group in groups.values()}.values())


def _weakest(relations: list[Relation | None]) -> Relation | None:
    """What holds in every group; nothing where some group has no relation."""
    present = [one for one in relations if one is not None]
    if len(present) < len(relations):
        return None
    at_first = [one for one in present if one.until is not None]
    if at_first:
        return min(at_first, key=lambda one: one.until or 0)
    return max(present, key=lambda one: ORDER.index(one.kind))


def _between(
    first: Column, second: Column, group: Mapping[str, Learner], flatness: Mapping[str, Flatness], longest: int
) -> Relation | None:
    one, other = group[first.label], group[second.label]
    if first.label == second.label:
        return within(one, first, second, flatness.get(first.label))
    shared = same_belief(one, other, longest)
    if shared is None:
        return None
    # the same belief gives the same measures, but for the run length, of which Nas12* has a definition of its own
    own_run_length = {_kind(one), _kind(other)} == {Merge, Nas12Star}
    carries_over = [column.measure != "run_length" or not own_run_length for column in (first, second)]
    if (first.measure, first.element) == (second.measure, second.element):
        return shared if all(carries_over) else None
    if shared.until is not None:
        return None
    relation = within(other, first, second, flatness.get(second.label)) if carries_over[0] else None
    if relation is None and carries_over[1]:
        relation = within(one, first, second, flatness.get(first.label))
    return None if relation is None else relation._replace(reason=f"{shared.reason}; {relation.reason}")


# --- within one learner --------------------------------------------------------------------------------------------------


def within(learner: Learner, first: Column, second: Column, flatness: Flatness | None) -> Relation | None:
    """Between two measures of one learner."""
    measures = {first.measure, second.measure}
    ratio = RATIO if _kind(learner) is SMiLe else (*RATIO, "adaptation_rate")
    if measures == set(SHANNON):
        return Relation("mirrored", "the Shannon surprise is minus the logarithm of the predictive probability")
    if measures == set(RATIO):
        return Relation("monotone", "the logarithm is monotone")
    if measures <= set(ratio):
        return Relation("monotone", "the adaptation rate is m S_BF / (1 + m S_BF), which increases in S_BF")
    if len(measures & set(ratio)) == 1 and len(measures & set(SHANNON)) == 1:
        return _flat(learner.family, flatness)
    if "variance" in measures and measures <= {"variance", "run_length"} and _precision_is_run_length(learner):
        return Relation("monotone", "the variance of one Gaussian belief is a function of its run length alone")
    if len(measures) == 1 and isinstance(learner.family, Categorical) and learner.family.k == 2:
        mirrored = Relation("mirrored", "two probabilities sum to one")
        return {"mean": mirrored, "variance": Relation("identical", "two probabilities sum to one")}.get(first.measure)
    return None


def _flat(family: Family, flatness: Flatness | None) -> Relation | None:
    """Shannon and Bayes Factor surprise."""
    therefore = "so the Shannon surprise is a function of S_BF alone"
    if isinstance(family, Categorical):
        return Relation("monotone", f"the prior gives all {family.k} categories the same probability, {therefore}")
    if isinstance(family, Bernoulli) and family.a == family.b:
        return Relation("monotone", f"the prior gives both outcomes the same probability, {therefore}")
    if flatness is None:
        return None
    if flatness.range <= 1e-10:
        return Relation("monotone", f"the prior gives all outcomes of a run the same probability, {therefore}")
    if flatness.share < NEARLY_FLAT:
        return Relation(
            "nearly monotone",
            f"the prior is as good as flat: the outcomes' log probability under it ranges over {flatness.range:.2g} nats "
            f"within a run, its standard deviation is {100 * flatness.share:.2g} % of the Shannon surprise's",
        )
    return None


def _precision_is_run_length(learner: Learner) -> bool:
    """Whether precision is the prior's plus the run length, in units of what one observation tells."""
    if not isinstance(learner.family, (Gaussian, MultivariateGaussian)):
        return False
    if isinstance(learner, (VarSMiLe, Nas10Star, Nas12Star)):
        return True
    return isinstance(learner, (MessagePassing, StratifiedResampling, ParticleFilter)) and learner.n == 1


# --- between learners ----------------------------------------------------------------------------------------------------


def same_belief(one: Learner, other: Learner, longest: int) -> Relation | None:
    """Whether two learners hold the same belief, always or in the first trials of a block."""
    kinds = {_kind(one), _kind(other)}
    if len(kinds) == 1 and _same(one, other):
        return Relation("identical", "the two are one and the same learner" + _with_chance(one))
    if type(one.family) is not type(other.family) or not _same(one.family, other.family):
        return None
    until = _both_exact_until(one, other)
    with_nas12 = kinds == {Merge, Nas12Star}
    if (until is None and not with_nas12) or one.change_probability() != other.change_probability():
        return None
    if with_nas12 and any(isinstance(learner, Merge) and learner.n == 1 for learner in (one, other)):
        return Relation("identical", "on a Gaussian, Merge with n = 1 is Nas12*")
    if until is None:
        return None
    if until >= longest:
        return Relation("identical", "both are exact: no block has more trials than they keep hypotheses")
    if until < 2:
        return None
    return Relation(AT_FIRST, f"both are exact in the first {until} trials of a block", until)


def _both_exact_until(one: Learner, other: Learner) -> int | None:
    limits = [_exact_until(learner) for learner in (one, other)]
    return min((limit for limit in limits if limit is not None), default=None) if None not in limits else None


def _exact_until(learner: Learner) -> int | None:
    """The number of trials of a block in which it does exact inference; nothing where it never does."""
    if isinstance(learner, ExactBayes):
        return 2**62 if learner.cutoff <= SMALL_CUTOFF else None
    return learner.n if isinstance(learner, NO_CUTOFF) else None


def _kind(learner: Learner) -> type:
    """Nas10 and Nas12 are the starred ones under another name."""
    return next((cls for cls in (Nas10Star, Nas12Star) if isinstance(learner, cls)), type(learner))


def _same(one: object, other: object) -> bool:
    """The same parameters, those of the family included."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(_same(a, b) for a, b in zip(one, other, strict=True))
    return bool(np.array_equal(cast("np.ndarray", one), cast("np.ndarray", other)))


def _with_chance(learner: Learner) -> str:
    return ", and here they draw the same random numbers" if isinstance(learner, (ParticleFilter, StratifiedResampling)) else ""


# --- how flat the prior is --------------------------------------------------------------------------------------------------


def change_probabilities(label: str, learners: Mapping[tuple[str, Key], Learner], keys: Sequence[Key]) -> np.ndarray:
    """p_c of a learner in each group."""
    return np.array([learners[label, key].change_probability() for key in keys])


def log_prior_predictive(log_predictive: np.ndarray, log_bayes_factor: np.ndarray, p_c: np.ndarray) -> np.ndarray:
    """log P(y; pi_0), from P(y | all before) = P(y; pi_0) ((1 - p_c) / S_BF + p_c)."""
    return np.asarray(log_predictive - np.logaddexp(np.log1p(-p_c) - log_bayes_factor, np.log(p_c)))


def measure_flatness(measures: Mapping[str, np.ndarray], run: np.ndarray, p_c: np.ndarray) -> Flatness:
    """Of one learner, over the trials that are compared; p_c is that of each run."""
    predictive = measures["log_predictive"]
    prior = log_prior_predictive(predictive, measures["log_bayes_factor_surprise"], p_c[run])
    order = np.argsort(run, kind="stable")
    starts = np.flatnonzero(np.diff(run[order], prepend=-1))
    ranges = np.maximum.reduceat(prior[order], starts) - np.minimum.reduceat(prior[order], starts)
    prior_part, whole = (centred(values[:, None], run)[:, 0] for values in (prior, predictive))
    total = float(whole @ whole)
    return Flatness(float(ranges.max()), float(np.sqrt(prior_part @ prior_part / total)) if total > 0.0 else 0.0)
