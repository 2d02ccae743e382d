"""What the authors' published code does where it is wrong, kept apart for comparison with their numbers."""

from __future__ import annotations

import numpy as np

from volatilis._compiler.registry import compiled_function
from volatilis.families._base import Observation
from volatilis.families._kinds import AnyFamily
from volatilis.learners import Leaky, Nas12Star, SMiLe, VarSMiLe
from volatilis.learners._base import Info
from volatilis.learners._exact_step import exact_step
from volatilis.learners._hypotheses import Hypotheses, forget, normalise
from volatilis.learners._kinds import ChangeProbability, HypothesesLearner, HypothesisCount, learner_with_hypotheses
from volatilis.special import uniform


@learner_with_hypotheses
class PublishedStratifiedResampling(HypothesesLearner):
    """SORN as published (errata 1): the threshold c is searched with strict inequalities.

    Where weights are exactly 0, no c passes, the search ends at c = 1/n with no hypothesis counted as heavy, and the stratified
    sample then lets hypotheses without weight survive, all with weight c.
    """

    family: AnyFamily
    p_c: ChangeProbability
    n: HypothesisCount

    def update(self, state: Hypotheses, y: Observation) -> Info:
        info = exact_step(self.family, self.p_c, state, y, 5e-324)  # weights underflow where double precision ends
        resample_as_published(state, self.n)
        return info

    def approximate(self, state: Hypotheses) -> None:
        resample_as_published(state, self.n)


@compiled_function
def resample_as_published(state: Hypotheses, n: int) -> None:
    count, w, order = state.count[0], state.weights, state.scratch
    if count <= n:
        return
    for i in range(count):
        order[heavier(w, i, count)] = i
    c = published_threshold(w, order, count, n)
    heavy = c < 1.0 / n
    point, kept = c * uniform(state.random), 0
    for k in range(count):  # the heaviest first
        i = int(order[k])
        stays = heavy and w[i] >= c
        if not stays:
            point -= w[i]
            w[i] = c
            if point <= 0.0 and kept < n:
                stays = True
                point += c
        kept += 1 if stays else 0
        w[i] = w[i] if stays else -1.0
    kept = 0
    for _ in range(count):
        if w[kept] >= 0.0:
            kept += 1
        else:
            forget(state, kept)
    normalise(state)


@compiled_function
def heavier(w: np.ndarray, i: int, count: int) -> int:
    """How many come before the i-th where weights fall; of equal ones the first. Counting has no branches: eight at a time."""
    before = 0
    for j in range(i):
        before += 1 if w[j] >= w[i] else 0
    for j in range(i + 1, count):
        before += 1 if w[j] > w[i] else 0
    return before


@compiled_function
def published_threshold(w: np.ndarray, order: np.ndarray, count: int, n: int) -> float:
    """The c of sum_i min(w_i / c, 1) = n, if the k-th weight is strictly above and the next strictly below it; else 1/n."""
    light = 0.0
    for k in range(n - 1, count):
        light += w[int(order[k])]
    for heavy in range(n - 1, 0, -1):
        c = light / (n - heavy)
        if w[int(order[heavy - 1])] > c and w[int(order[heavy])] < c:
            return c
        light += w[int(order[heavy - 1])]
    return 1.0 / n


# --- the values that their searches tried -------------------------------------------------------------------------------

EPS = float(np.finfo(float).eps)  # where their linear grids begin
RARE = 0.001  # from here down they searched on 1e6 steps, and the leak in finer ones
RATES_TRIED = 10.0 ** np.linspace(-4.0, -1.0, 40)  # p_c of Figures 8 and 9, and what pf, MP, SOR and Exact Bayes tried there


def search_grid(learner: type, categorical: bool = False, p_c: float = 0.1) -> np.ndarray:
    """The values that the paper's authors tried, in rising order; every published tuned value is one of them.

    Leaky               steps of 0.01 where p_c <= 0.001, of 0.03 above: so the published values show
    VarSMiLe, SMiLe     39 (SMiLe in the Categorical task: 29) log steps from 1e-4 up to 0.1, and steps of 0.01 from 2.2e-16
                        up to 10 (VarSMiLe in the Gaussian task: 5)
    Nas12*              40 log steps from 1e-4 to 0.1
    Nas10*, and both originals   59 log steps from 1e-4 to 0.855. The code has 40 for Nas10*, its values are of these 59
    """
    if learner is Leaky:
        return EPS + (np.arange(100) / 100.0 if p_c <= RARE else np.arange(34) * 3 / 100.0)
    if learner in (VarSMiLe, SMiLe):
        gaussian_varsmile = learner is VarSMiLe and not categorical
        logs = 10.0 ** np.linspace(-4.0, -1.0, 30 if learner is SMiLe and categorical else 40)
        return np.sort(np.concatenate([logs[:-1], EPS + np.arange(501 if gaussian_varsmile else 1001) / 100.0]))
    if learner is Nas12Star:
        return RATES_TRIED
    return (10.0 ** np.linspace(-4.0, 0.0, 60))[:-1]


def search_bounds(learner: type, categorical: bool = False, p_c: float = 0.1) -> tuple[float, float]:
    """The least and the largest of these values."""
    grid = search_grid(learner, categorical, p_c)
    return float(grid[0]), float(grid[-1])
