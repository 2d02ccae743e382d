"""Exact Bayesian inference by message passing."""

from __future__ import annotations

import warnings

from volatilis._compiler.registry import compiled_function, python_only
from volatilis._core.fields import Cutoff
from volatilis.families._base import Observation
from volatilis.families._kinds import AnyFamily
from volatilis.learners._exact_step import room_after_step
from volatilis.learners._hypotheses import NOTHING, Hypotheses, drop_below, move, set_count, with_room
from volatilis.learners._kinds import ChangeProbability, HypothesesLearner, LearnerRecord, Style, learner_with_hypotheses

INEXACT = (
    "ExactBayes is not exact where observations may be outliers: its hypotheses would double at each observation, so it keeps "
    "one belief for each time of the last change, the moment match over which observations were outliers. "
    "volatilis.Merge(family, p_c, n=20) is nearer to exact"
)


@learner_with_hypotheses(
    LearnerRecord(
        name="exact-bayes",
        title="Exact Bayes",
        aliases=("exact",),
        place=10,
        keeps="all hypotheses above `cutoff`",
        style=Style("#000000", "*"),
        samples=False,
    )
)
class ExactBayes(HypothesesLearner):
    """Exact inference on the generative model: pi^(t) = sum_k w_k pi_k over all times k of the last change.

    Adams & MacKay (2007), Bayesian online changepoint detection; paper, Eq. 8-10, "Exact Bayes". Hypotheses with a
    probability below `cutoff` are dropped, as in the paper; with cutoff = 0 only those below 1e-300 are. They are dropped
    when they make up a sixteenth of all: moving the others together at every step would cost more than keeping them a while.
    With outliers (vl.Contaminated) it is not exact, and warns: one belief for each time of the last change.

        family   how observations arise, such as vl.Gaussian(sigma=1)
        p_c      the probability of a change before an observation
        cutoff   hypotheses of a lower probability are dropped

    >>> import volatilis as vl
    >>> vl.run(vl.ExactBayes(vl.Gaussian(sigma=0.5, sigma_0=2.0), p_c=0.1), [0.2, -0.1, 3.0, 3.2]).mean.round(3)
    array([0.188, 0.043, 2.822, 3.006])
    """

    family: AnyFamily
    p_c: ChangeProbability
    cutoff: Cutoff = 1e-16

    def approximate(self, state: Hypotheses) -> None:
        if self.family.splits():
            merge_equals(self.family, state)
        drop_below(state, max(self.cutoff, NOTHING), 1.0 / 16.0)

    def has_room(self, state: Hypotheses) -> bool:
        return room_after_step(self.family, state.count[0]) <= state.weights.size

    def _check(self) -> None:
        if self.family.splits():
            warnings.warn(INEXACT, stacklevel=3)

    @python_only
    def most_hypotheses(self) -> None:
        return None

    @python_only
    def grows(self) -> bool:
        return True

    @python_only
    def grow(self, state: Hypotheses) -> Hypotheses:
        """The same state with twice the room."""
        return with_room(self.family, state, 2 * state.weights.size)


@compiled_function
def merge_equals(family: Observation, state: Hypotheses) -> None:
    """Hypotheses of one run length, which differ in what they took for outliers, become one by the family's moment match."""
    w, kept = state.weights, state.count[0] - 1
    for i in range(state.count[0] - 1):  # those before the first pair stay where they are
        place = i if state.run_lengths[i] == state.run_lengths[i + 1] else state.count[0] - 1
        kept = place if place < kept else kept
    for i in range(kept + 1, state.count[0]):
        if state.run_lengths[i] != state.run_lengths[kept]:
            kept += 1
            move(state, i, kept)
        elif w[i] > 0.0:
            both = w[kept] + w[i]
            family.merge(state.beliefs, kept, i, w[kept] / both, w[i] / both)
            w[kept] = both
    set_count(state, kept + 1)
