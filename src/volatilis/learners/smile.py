"""Surprise minimisation learning."""

from __future__ import annotations

import math

import numpy as np

from volatilis._compiler.registry import compiled_function, python_only
from volatilis.families._base import Beliefs, Observation, copy_column
from volatilis.families._kinds import AnyFamily
from volatilis.learners._base import Info
from volatilis.learners._kinds import LearnerRecord, Modulation, OneBeliefLearner, Style, learner_with_one_belief
from volatilis.learners._one_belief import OneBelief, relax

BELIEF, LIKELIHOOD, BETWEEN = 0, 1, 2  # the columns of the working bank


@learner_with_one_belief(
    LearnerRecord(
        name="smile",
        title="SMiLe",
        place=90,
        keeps="one belief",
        style=Style("#b58be0", "P", "dash-dotted"),
        tuned="m",
    )
)
class SMiLe(OneBeliefLearner):
    """The SMiLe rule of Faraji, Preuschoff & Gerstner (2018); paper, Methods.

        log pi^(t+1) = (1 - gamma) log pi^(t) + gamma log P~(theta | y) + const

    with the scaled likelihood P~(theta | y) = P_Y(y | theta) / integral of P_Y(y | theta') d theta', and gamma such that
    KL[pi^(t+1) || pi^(t)] = B_max m S_CC / (1 + m S_CC), where S_CC = KL[pi^(t) || P~] is the confidence-corrected surprise
    and B_max = KL[P~ || pi^(t)], found by bracketing.

    Deviation from the paper's text: there B_max = KL[P(theta | y) || pi^(t)], which the path from pi^(t) to P~ need not reach.

        family   how observations arise, such as vl.Gaussian(sigma=1)
        m        how strongly surprise modulates learning

    >>> import volatilis as vl
    >>> vl.run(vl.SMiLe(vl.Gaussian(sigma=0.5, sigma_0=2.0), m=0.1), [0.2, -0.1, 3.0, 3.2]).mean.round(3)
    array([0.164, 0.071, 2.413, 2.677])
    """

    family: AnyFamily
    m: Modulation

    def update(self, state: OneBelief, y: Observation) -> Info:
        family, pi, i, work = self.family, state.beliefs, state.i, state.work
        log_p, log_p_0 = family.log_predictive(pi, i, y), family.log_prior_predictive(state.pi_0, y)
        copy_column(pi, i, work, BELIEF)
        family.scaled_likelihood(work, LIKELIHOOD, y)
        # Confidence-corrected surprise and the bound it sets
        norm, forth = family.divergence_parts(work, BELIEF, work, LIKELIHOOD)
        norm_of_likelihood, back = family.divergence_parts(work, LIKELIHOOD, work, BELIEF)
        s_cc, largest = norm_of_likelihood - norm + forth, norm - norm_of_likelihood + back
        bound = largest * (self.m / (self.m + 1.0 / s_cc) if s_cc > 0.0 else 0.0)
        # Modulation factor and updated belief
        gamma = solve_bound(family, work, norm, bound, largest)
        family.blend(pi, i, work, LIKELIHOOD, 1.0 - gamma, gamma)
        state.run_lengths[i] = (1.0 - gamma) * state.run_lengths[i] + gamma
        return Info(log_p, log_p_0, gamma)

    def elapse(self, state: OneBelief) -> None:
        relax(self.family, state, self.m / (1.0 + self.m))

    @python_only
    def change_probability(self) -> float:
        return self.m / (1.0 + self.m)

    def _check(self) -> None:
        if self.family.lacks("scaled_likelihood"):
            reason = self.family.improper_scaled_likelihood(np.zeros(0))
            raise TypeError(f"SMiLe cannot learn with {type(self.family).__name__}: {reason}")

    @python_only
    def check_observations(self, values: np.ndarray) -> None:
        reason = self.family.improper_scaled_likelihood(values)
        if reason is not None:
            raise ValueError(f"SMiLe needs a proper scaled likelihood, but {reason}")

    @python_only
    def refuses_observations(self) -> bool:
        return not self.family.always_proper()


@compiled_function
def distance_moved(family: Observation, work: Beliefs, norm: float, gamma: float) -> float:
    """The square root of KL[pi_gamma || pi] on the path from the belief (gamma = 0) to the scaled likelihood (gamma = 1)."""
    copy_column(work, BELIEF, work, BETWEEN)
    family.blend(work, BETWEEN, work, LIKELIHOOD, 1.0 - gamma, gamma)
    norm_between, apart = family.divergence_parts(work, BETWEEN, work, BELIEF)
    return math.sqrt(max(norm - norm_between + apart, 0.0))


@compiled_function
def solve_bound(family: Observation, work: Beliefs, norm: float, bound: float, largest: float) -> float:
    """The gamma in [0, 1] with moved(gamma) = bound; moved grows from 0, first as gamma^2.

    Regula falsi on the square root of the divergence, with less weight on an end that stays (Anderson & Björck 1973): fast, and
    never outside its bracket. It ends where rounding hides the rest: 1e-15 of the divergence.
    """
    if not bound > 0.0:
        return 0.0
    target = math.sqrt(bound)
    low, high = 0.0, 1.0
    f_low, f_high = -target, math.sqrt(largest) - target
    if f_high <= 0.0:
        return 1.0
    gamma, moved = 1.0, 0
    for _ in range(100):
        before = gamma
        gamma = (low * f_high - high * f_low) / (f_high - f_low)
        if not low < gamma < high:
            gamma = 0.5 * (low + high)
        f = distance_moved(family, work, norm, gamma) - target
        if abs(f) <= 1e-13 * target + 1e-15 / target or abs(gamma - before) <= 1e-14 * gamma:
            break
        if f < 0.0:
            if moved == -1:
                f_high *= 1.0 - f / f_low if f > f_low else 0.5
            low, f_low, moved = gamma, f, -1
        else:
            if moved == 1:
                f_low *= 1.0 - f / f_high if f < f_high else 0.5
            high, f_high, moved = gamma, f, 1
    return gamma
