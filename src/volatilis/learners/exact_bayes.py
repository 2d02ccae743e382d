"""Exact Bayesian inference by message passing."""

from __future__ import annotations

from volatilis._compiler.registry import python_only
from volatilis._core.fields import Cutoff
from volatilis.families._kinds import AnyFamily
from volatilis.learners._hypotheses import NOTHING, Hypotheses, drop_below, hypotheses
from volatilis.learners._kinds import ChangeProbability, HypothesesLearner, LearnerRecord, Style, learner_with_hypotheses


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
        drop_below(state, max(self.cutoff, NOTHING), 1.0 / 16.0)

    def has_room(self, state: Hypotheses) -> bool:
        return state.count[0] < state.weights.size

    @python_only
    def most_hypotheses(self) -> None:
        return None

    @python_only
    def grows(self) -> bool:
        return True

    @python_only
    def grow(self, state: Hypotheses) -> Hypotheses:
        """The same state with twice the room."""
        larger, n = hypotheses(self.family, 2 * state.weights.size, 0), state.weights.size
        larger.weights[:n], larger.run_lengths[:n] = state.weights, state.run_lengths
        larger.beliefs.chi[:, :n], larger.beliefs.nu[:n] = state.beliefs.chi, state.beliefs.nu
        larger.count[:], larger.random[:] = state.count, state.random
        return larger
