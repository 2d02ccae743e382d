"""What the authors' published code does where it is wrong, kept apart for comparison with their numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

from volatilis._fields import AnyFamily, Count, Probability
from volatilis._registry import compiled_function
from volatilis.learners._base import Hypotheses, Info, exact_step, learner_with_hypotheses, move, normalise, set_count
from volatilis.special import uniform


@learner_with_hypotheses
class PublishedStratifiedResampling(NamedTuple):
    """SORN as published (errata 1): the threshold c is searched with strict inequalities.

    Where weights are exactly 0, no c passes, the search ends at c = 1/n with no hypothesis counted as heavy, and the stratified
    sample then lets hypotheses without weight survive, all with weight c.
    """

    family: AnyFamily
    p_c: Probability
    n: Count

    def update(self, state: Hypotheses, y: Any) -> Info:
        info = exact_step(self.family, self.p_c, state, y, 5e-324)  # weights underflow where double precision ends
        resample_as_published(state, self.n)
        return info

    def approximate(self, state: Hypotheses) -> None:
        resample_as_published(state, self.n)


@compiled_function
def resample_as_published(state: Hypotheses, n: int) -> None:
    count, w, ordered = state.count[0], state.weights, state.scratch
    if count <= n:
        return
    for i in range(count):  # the weights in falling order
        k = i
        while k > 0 and ordered[k - 1] < w[i]:
            ordered[k] = ordered[k - 1]
            k -= 1
        ordered[k] = w[i]
    c = published_threshold(ordered, count, n)
    heavy = c < 1.0 / n
    left = ordered  # the weights of those that wait for their turn, the heaviest first
    for i in range(count):
        left[i] = w[i]
    point, kept = c * uniform(state.random), 0
    for _ in range(count):
        i = heaviest(left, count)
        left[i] = -1.0
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
    for i in range(count):
        if w[i] >= 0.0:
            move(state, i, kept)
            kept += 1
    set_count(state, kept)
    normalise(state)


@compiled_function
def heaviest(x: Any, n: int) -> int:
    best = 0
    for i in range(n):
        best = i if x[i] > x[best] else best
    return best


@compiled_function
def published_threshold(ordered: Any, count: int, n: int) -> float:
    """The c of sum_i min(w_i / c, 1) = n, if the k-th weight is strictly above and the next strictly below it; else 1/n."""
    light = 0.0
    for i in range(n - 1, count):
        light += ordered[i]
    for heavy in range(n - 1, 0, -1):
        c = light / (n - heavy)
        if ordered[heavy - 1] > c and ordered[heavy] < c:
            return c
        light += ordered[heavy - 1]
    return 1.0 / n
