"""Measures of surprise: functions of the belief before, the belief after, the prior and the observation. In nats.

Bayes Factor, Shannon and the adaptation rate follow from two numbers that every update knows, log P(y; pi^(t)) and
log P(y; pi^(0)). Bayesian and confidence-corrected surprise are divergences between whole beliefs: closed form for a learner
with one belief; for a mixture over a one-dimensional parameter, integrals to 1e-6; for any other mixture, refused.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from volatilis._compiler.registry import compiled_function, compiled_methods
from volatilis.families._base import Beliefs, Family, copy_column
from volatilis.learners._base import Learner, State
from volatilis.learners._hypotheses import Hypotheses, hypotheses
from volatilis.special import exp

ACCURACY = 1e-6  # of the integrals, absolute, in nats
MAX_PIECES = 256
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
GAUSS_RULE = np.stack([_NODES, _WEIGHTS])

Readout = TypeVar("Readout", float, np.ndarray)  # of one step, or of all
S_contra = TypeVar("S_contra", bound=State, contravariant=True)


# --- from two numbers --------------------------------------------------------------------------------------------------


def log_bayes_factor_surprise(log_p: Readout, log_p_0: Readout) -> Readout:
    """log S_BF = log P(y; pi^(0)) - log P(y; pi^(t)) (paper, Eq. 6)."""
    return np.subtract(log_p_0, log_p)


def bayes_factor_surprise(log_p: Readout, log_p_0: Readout) -> Readout:
    """S_BF = P(y; pi^(0)) / P(y; pi^(t)); infinite where it exceeds 1e308: its logarithm is not."""
    with np.errstate(over="ignore"):
        return np.exp(log_bayes_factor_surprise(log_p, log_p_0))


def log_predictive(log_p: Readout, log_p_0: Readout, p_c: float | Readout) -> Readout:
    """log P(y | y_1:t) = log((1 - p_c) P(y; pi^(t)) + p_c P(y; pi^(0))): of the whole model, change included."""
    with np.errstate(invalid="ignore"):  # a missing observation is NaN
        return np.logaddexp(np.log1p(-p_c) + log_p, np.log(p_c) + log_p_0)


def shannon_surprise(log_p: Readout, log_p_0: Readout, p_c: float | Readout) -> Readout:
    """S_Sh = -log P(y | y_1:t)."""
    return -log_predictive(log_p, log_p_0, p_c)


# --- divergences between beliefs ---------------------------------------------------------------------------------------


def check_divergence(learner: Learner, measure: str) -> None:
    """Refuse what could only be approximated."""
    family, words = learner.family, measure.replace("confidence_corrected", "confidence-corrected").replace("_", " ")
    if measure == "confidence_corrected_surprise" and family.lacks("scaled_likelihood"):
        reason = family.improper_scaled_likelihood(np.zeros(0))
        raise TypeError(f"{type(family).__name__} has no confidence-corrected surprise: {reason}")
    if family.lacks("divergence"):
        raise TypeError(f"{type(family).__name__} does not define divergence, which {words} needs")
    if learner.learns_change_probability():
        raise TypeError(
            f"{words} of {type(learner).__name__} is a divergence of mixtures over values of unknown parameters, which is not "
            "computed; run the learner with the values that were found"
        )
    mixture, lacking = learner.is_mixture(), family.lacks("log_density", "lower", "upper")
    if mixture and family.size() == 1 and lacking:
        raise TypeError(f"{type(family).__name__} does not define {', '.join(lacking)}, which the {words} of a mixture needs")
    if mixture and family.size() > 1:
        raise TypeError(
            f"{words} of {type(learner).__name__} with {type(family).__name__} is a divergence of mixtures "
            f"over {family.size()} parameters, which has no closed form and is not approximated here; a learner with one belief "
            "(VarSMiLe, SMiLe, or Merge with n=1) has it in closed form"
        )


class Divergence(Protocol[S_contra]):
    """How two beliefs of a learner with such states differ; compiled."""

    def from_to(self, family: Family, before: S_contra, after: S_contra) -> float:
        """KL[before || after]."""

    def from_to_member(self, family: Family, before: S_contra, member: Beliefs) -> float:
        """KL[before || the one belief of a bank]."""


@compiled_methods
class ClosedForm(NamedTuple):
    """Divergences of a learner with one belief: its family knows them."""

    accuracy: float

    def from_to(self, family: Family, before: State, after: State) -> float:
        return family.divergence(before.beliefs, 0, after.beliefs, 0)

    def from_to_member(self, family: Family, before: State, member: Beliefs) -> float:
        return family.divergence(before.beliefs, 0, member, 0)


@compiled_methods
class Integrals(NamedTuple):
    """Divergences of a mixture over a one-dimensional parameter: adaptive Gauss-Legendre quadrature.

    The line, or a circle from one end of its range to the other, is cut where hypotheses, before or after, have their middles and
    bounds, so that no peak is missed; each piece is halved until its halves agree with it.
    """

    accuracy: float
    rule: np.ndarray
    cuts: np.ndarray
    pieces: np.ndarray
    member: Hypotheses  # room for a mixture of one

    def from_to(self, family: Family, before: Hypotheses, after: Hypotheses) -> float:
        """KL[before || after]."""
        n = add_cuts(family, before, self.cuts, family.range_ends(self.cuts))
        n = add_cuts(family, after, self.cuts, n)
        result = 0.0
        for k in range(n - 1):
            result += integrate_piece(self, family, before, after, self.cuts[k], self.cuts[k + 1])
        return result

    def from_to_member(self, family: Family, before: Hypotheses, member: Beliefs) -> float:
        copy_column(member, 0, self.member.beliefs, 0)
        return self.from_to(family, before, self.member)


def integrals(family: Family, capacity: int) -> Integrals:
    member = hypotheses(family, 1, 0)
    member.count[0], member.weights[0] = 1, 1.0
    return Integrals(ACCURACY, GAUSS_RULE, np.empty(6 * capacity + 8), np.empty((3, MAX_PIECES)), member)


@compiled_function
def add_cuts(family: Family, state: Hypotheses, cuts: np.ndarray, n: int) -> int:
    """Insert middles and bounds of the hypotheses among the sorted cuts, but none next to one that is there already."""
    for i in range(state.count[0]):
        if state.weights[i] > 1e-13:
            low, high = family.lower(state.beliefs, i), family.upper(state.beliefs, i)
            for k in range(3):
                x = family.within_range(low + 0.5 * k * (high - low))
                place = n
                while place > 0 and cuts[place - 1] > x:
                    place -= 1
                near = 0.03 * (high - low)
                close_below = place > 0 and x - cuts[place - 1] < near and (k == 1 or place < n)
                close_above = place < n and cuts[place] - x < near and (k == 1 or place > 0)
                if not (close_below or close_above):
                    for back in range(n, place, -1):
                        cuts[back] = cuts[back - 1]
                    cuts[place] = x
                    n += 1
    return n


@compiled_function
def integrate_piece(quadrature: Integrals, family: Family, f: Hypotheses, g: Hypotheses, low: float, high: float) -> float:
    """The integral of f log(f / g) from low to high."""
    pieces, waiting, result = quadrature.pieces, 1, 0.0
    pieces[0, 0], pieces[1, 0], pieces[2, 0] = low, high, gauss(quadrature, family, f, g, low, high)
    while waiting > 0:
        waiting -= 1
        a, b, whole = pieces[0, waiting], pieces[1, waiting], pieces[2, waiting]
        middle = 0.5 * (a + b)
        left, right = gauss(quadrature, family, f, g, a, middle), gauss(quadrature, family, f, g, middle, b)
        # to the accuracy asked for, or to what rounding leaves of a large integral; NaN does not differ, so it ends too
        differ = abs(left + right - whole) > 2e-3 * quadrature.accuracy + 1e-13 * (abs(left) + abs(right))
        if not differ or waiting + 2 > pieces.shape[1] or not a < middle < b:
            result += left + right
        else:
            pieces[0, waiting], pieces[1, waiting], pieces[2, waiting] = a, middle, left
            pieces[0, waiting + 1], pieces[1, waiting + 1], pieces[2, waiting + 1] = middle, b, right
            waiting += 2
    return result


@compiled_function
def gauss(quadrature: Integrals, family: Family, f: Hypotheses, g: Hypotheses, low: float, high: float) -> float:
    half, middle, result = 0.5 * (high - low), 0.5 * (high + low), 0.0
    for k in range(quadrature.rule.shape[1]):
        x = middle + half * quadrature.rule[0, k]
        log_f = f.belief_log_density(family, x)
        if log_f > -700.0:
            result += quadrature.rule[1, k] * exp(log_f) * (log_f - g.belief_log_density(family, x))
    return half * result
