"""Message passing with stratified optimal resampling."""

from __future__ import annotations

import numpy as np

from volatilis._compiler.registry import compiled_function
from volatilis.families._base import in_eights
from volatilis.families._kinds import AnyFamily
from volatilis.learners._hypotheses import NOTHING, Hypotheses, drop_below, forget, normalise
from volatilis.learners._kinds import (
    ChangeProbability,
    HypothesesLearner,
    HypothesisCount,
    LearnerRecord,
    Style,
    learner_with_hypotheses,
)
from volatilis.special import total, uniform


@learner_with_hypotheses(
    LearnerRecord(
        name="stratified-resampling",
        title="SOR",
        aliases=("sor",),
        place=50,
        keeps="n hypotheses",
        style=Style("#ffc078", "^", many="#ee5a00"),
    )
)
class StratifiedResampling(HypothesesLearner):
    """SORN: exact inference, then optimal resampling to n hypotheses.

    Fearnhead & Liu (2007), On-line inference for multiple changepoint problems: with the threshold c that solves
    sum_i min(w_i / c, 1) = n, hypotheses of weight c or more stay as they are; of the lighter ones a stratified sample
    survives, each with weight c. The expected weights are the old ones, with the least variance that n allows.

    Deviation from the paper's code: hypotheses without weight never survive and ties with c count as heavy (errata 1).

        family   how observations arise, such as vl.Gaussian(sigma=1)
        p_c      the probability of a change before an observation
        n        how many hypotheses are kept

    >>> import volatilis as vl
    >>> vl.run(vl.StratifiedResampling(vl.Gaussian(sigma=0.5, sigma_0=2.0), p_c=0.1, n=2), [0.2, -0.1, 3.0, 3.2]).mean.round(3)
    array([0.188, 0.043, 2.822, 3.006])
    """

    family: AnyFamily
    p_c: ChangeProbability
    n: HypothesisCount

    def approximate(self, state: Hypotheses) -> None:
        resample_optimally(state, self.n)


@compiled_function
def resample_optimally(state: Hypotheses, n: int) -> None:
    drop_below(state, NOTHING, 0.0)
    count, w, light = state.count[0], state.weights, state.scratch
    if count <= n:
        return
    c, heavy = optimal_threshold(w, light, in_eights(count), n)
    # n - heavy equidistant points on the line of light weights, c apart: none holds two, since each is shorter than that
    survivors = n - heavy
    point, passed, chosen, kept = c * uniform(state.random), 0.0, 0, 0
    for i in range(count):
        stays = light[i] == 0.0 and kept < n  # never more, whatever a family of somebody's own answers
        if not stays:
            passed += light[i]
            if chosen < survivors and passed > point:
                stays = True
                chosen += 1
                point += c
                w[kept] = c
        if stays:
            kept += 1
        else:
            forget(state, kept)
    normalise(state)


@compiled_function
def optimal_threshold(w: np.ndarray, light: np.ndarray, count: int, n: int) -> tuple[float, int]:
    """The c with sum_i min(w_i / c, 1) = n, and how many of the weights, more than n of them positive, are heavy: c or more.

    The others are then in `light`. The sum is concave and piecewise linear in 1/c, so Newton's method climbs to the root in
    finitely many steps: each takes the weights below the last c as the light ones, the first all of them.
    """
    heavy, c = -1, total(w, count) / n
    while True:
        below = 0
        for i in range(count):
            light[i] = w[i] if w[i] < c else 0.0
            below += 1 if w[i] < c else 0
        now_heavy = count - below
        if now_heavy <= heavy or now_heavy >= n:  # it only grows, but for rounding where a weight ties with c
            return c, now_heavy
        heavy = now_heavy
        c = total(light, count) / (n - heavy)
