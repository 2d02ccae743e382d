"""Message passing that merges instead of dropping."""

from __future__ import annotations

import math

from volatilis._compiler.registry import compiled_function, python_only
from volatilis.families._base import Observation, in_eights
from volatilis.families._kinds import AnyFamily
from volatilis.learners._exact_step import room_after_step
from volatilis.learners._hypotheses import NOTHING, Hypotheses, drop_below, forget, hypotheses
from volatilis.learners._kinds import (
    ChangeProbability,
    HypothesesLearner,
    HypothesisCount,
    LearnerRecord,
    Style,
    learner_with_hypotheses,
)
from volatilis.learners._ledger import ledger, note_drop, note_merge, note_newest
from volatilis.learners._ledger_of_rows import leave_out_old, ledger_of_rows, note_drop_of_rows, note_merge_of_rows, note_new_row
from volatilis.learners._recent_kept import N, Recent
from volatilis.special import least


@learner_with_hypotheses(
    LearnerRecord(
        name="merge",
        title="Merge",
        place=40,
        keeps="n hypotheses",
        style=Style("#ff9ecb", "D", many="#6e0029"),
        samples=False,
    )
)
class Merge(HypothesesLearner):
    """Exact inference, then merge the two neighbours in run length whose merging costs least, down to n hypotheses.

    A merged pair is the one member of the conjugate family with the pair's weight and moments (`family.merge`). The cost

        sqrt(w_1 w_2) * ( |m_1 - m_2|^2 + (V_1 + V_2) log^2(V_1 / V_2) )

    says how far apart the two answers m are and how differently sure (variance V), in the likelihood's own Fisher metric:
    in units of what one observation can tell (`family.dissimilarity`). With n = 1 on a Gaussian this is Nas12*; with n at
    least the number of observations it is exact. New here: docs/theory/merge.md.

        family   how observations arise, such as vl.Gaussian(sigma=1)
        p_c      the probability of a change before an observation
        n        how many hypotheses are kept

    >>> import volatilis as vl
    >>> vl.run(vl.Merge(vl.Gaussian(sigma=0.5, sigma_0=2.0), p_c=0.1, n=2), [0.2, -0.1, 3.0, 3.2]).mean.round(3)
    array([0.188, 0.043, 2.822, 3.006])
    """

    family: AnyFamily
    p_c: ChangeProbability
    n: HypothesisCount

    def approximate(self, state: Hypotheses) -> None:
        merge_nearest(self.family, state, self.n)

    @python_only
    def init(self, seed: int = 0) -> Hypotheses:
        state = hypotheses(self.family, self._room(), seed)
        self.restart(state)
        return state

    @python_only
    def _room(self) -> int:
        """So much that the costs of all pairs of neighbours can be computed eight at a time."""
        return in_eights(max(room_after_step(self.family, self.n), in_eights(self.n) + 1))

    @python_only
    def keep_recent(self, within: int) -> Recent:
        capacity = self._room()
        if self.family.splits():
            return ledger_of_rows(within, capacity, 2 * (self.n + 1))
        return ledger(within, capacity)


@compiled_function
def merge_nearest(family: Observation, state: Hypotheses, n: int) -> None:
    if state.recent.in_rows():
        note_new_row(state, state.recent.numbers[N] - state.run_lengths[state.count[0] - 1])
        leave_out_old(state)
    elif state.recent.has_ledger():
        note_newest(state)
    if state.weights[least(state.weights, state.count[0])] < NOTHING:
        if state.recent.in_rows():
            note_drop_of_rows(state, NOTHING)
        elif state.recent.has_ledger():
            note_drop(state, NOTHING)
        drop_below(state, NOTHING, 0.0)
    if state.count[0] > n:
        merging_costs(family, state)
    while state.count[0] > n:
        i = least(state.scratch, state.count[0] - 1)
        merge_pair(family, state, i)
        if state.count[0] > n:
            costs_anew(family, state, i)


@compiled_function
def merging_costs(family: Observation, state: Hypotheses) -> None:
    """scratch[i] is what merging hypotheses i and i + 1 costs."""
    w, cost, pairs = state.weights, state.scratch, family.whole(state.count[0] - 1)  # maybe some of columns that do not live
    family.dissimilarities(state.beliefs, w, pairs + 1, cost)
    for i in range(pairs):
        cost[i] *= math.sqrt(w[i]) * math.sqrt(w[i + 1])


@compiled_function
def costs_anew(family: Observation, state: Hypotheses, i: int) -> None:
    """The same after a merge at i, where only the costs of the merged hypothesis changed."""
    w, cost = state.weights, state.scratch
    for k in range(i + 1, state.count[0] - 1):
        cost[k] = cost[k + 1]
    for k in range(max(i - 1, 0), min(i + 1, state.count[0] - 1)):
        both = w[k] + w[k + 1]
        cost[k] = (
            family.dissimilarity(state.beliefs, k, k + 1, w[k] / both, w[k + 1] / both) * math.sqrt(w[k]) * math.sqrt(w[k + 1])
        )


@compiled_function
def merge_pair(family: Observation, state: Hypotheses, i: int) -> None:
    """Hypotheses i and i + 1 become one."""
    both = state.weights[i] + state.weights[i + 1]
    a, b = state.weights[i] / both, state.weights[i + 1] / both
    family.merge(state.beliefs, i, i + 1, a, b)
    if state.recent.in_rows():
        note_merge_of_rows(state, i, a, b)
    elif state.recent.has_ledger():
        note_merge(state, i, a, b)
    state.run_lengths[i] = a * state.run_lengths[i] + b * state.run_lengths[i + 1]
    state.weights[i] = both
    forget(state, i + 1)
