"""Exact Bayesian inference by message passing."""

from __future__ import annotations

from typing import Any, NamedTuple

from volatilis._fields import AnyFamily, Cutoff, Probability
from volatilis._registry import python_only
from volatilis.learners._base import (
    NOTHING,
    Hypotheses,
    Info,
    drop_below,
    exact_elapse,
    exact_step,
    hypotheses,
    learner,
    only_the_prior,
)


@learner
class ExactBayes(NamedTuple):
    """Exact inference on the generative model: pi^(t) = sum_k w_k pi_k over all times k of the last change.

    Adams & MacKay (2007), Bayesian online changepoint detection; paper, Eq. 8-10, "Exact Bayes". Hypotheses with a
    probability below `cutoff` are dropped, as in the paper; with cutoff = 0 only those below 1e-300 are. They are dropped
    when they make up a sixteenth of all: moving the others together at every step would cost more than keeping them a while.
    """

    family: AnyFamily
    p_c: Probability
    cutoff: Cutoff = 1e-16

    @python_only
    def init(self, seed: int = 0) -> Hypotheses:
        state = hypotheses(self.family, 128, seed)
        self.restart(state)
        return state

    def restart(self, state: Hypotheses) -> None:
        only_the_prior(self.family, state)

    def update(self, state: Hypotheses, y: Any) -> Info:
        info = exact_step(self.family, self.p_c, state, y)
        drop_below(state, max(self.cutoff, NOTHING), 1.0 / 16.0)
        return info

    def elapse(self, state: Hypotheses) -> None:
        exact_elapse(self.family, self.p_c, state)
        drop_below(state, max(self.cutoff, NOTHING), 1.0 / 16.0)

    def has_room(self, state: Hypotheses) -> bool:
        return state.count[0] < state.weights.size

    @python_only
    def grow(self, state: Hypotheses) -> Hypotheses:
        """The same state with twice the room."""
        larger, n = hypotheses(self.family, 2 * state.weights.size, 0), state.weights.size
        larger.weights[:n], larger.run_lengths[:n] = state.weights, state.run_lengths
        larger.beliefs.chi[:, :n], larger.beliefs.nu[:n] = state.beliefs.chi, state.beliefs.nu
        larger.count[:], larger.random[:] = state.count, state.random
        return larger
