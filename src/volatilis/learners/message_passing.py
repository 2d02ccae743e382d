"""Message passing with N particles."""

from __future__ import annotations

from typing import Any, NamedTuple

from volatilis._fields import AnyFamily, Count, Probability
from volatilis._registry import compiled_function, python_only
from volatilis.learners._base import (
    NOTHING,
    Hypotheses,
    Info,
    drop,
    drop_below,
    exact_elapse,
    exact_step,
    hypotheses,
    learner,
    normalise,
    only_the_prior,
)


@learner
class MessagePassing(NamedTuple):
    """MPN (paper, Algorithm 2): exact inference, then keep the n hypotheses with the highest weights.

    Exact while t <= n. Of two equally light hypotheses the older one goes.
    """

    family: AnyFamily
    p_c: Probability
    n: Count

    @python_only
    def init(self, seed: int = 0) -> Hypotheses:
        state = hypotheses(self.family, self.n + 1, seed)
        self.restart(state)
        return state

    def restart(self, state: Hypotheses) -> None:
        only_the_prior(self.family, state)

    def update(self, state: Hypotheses, y: Any) -> Info:
        info = exact_step(self.family, self.p_c, state, y)
        keep_heaviest(state, self.n)
        return info

    def elapse(self, state: Hypotheses) -> None:
        exact_elapse(self.family, self.p_c, state)
        keep_heaviest(state, self.n)


@compiled_function
def keep_heaviest(state: Hypotheses, n: int) -> None:
    """Keep the n hypotheses with the highest weights, and normalise."""
    drop_below(state, NOTHING, 0.0)
    if state.count[0] > n:
        lightest = 0
        for i in range(state.count[0]):
            if state.weights[i] < state.weights[lightest]:
                lightest = i
        drop(state, lightest)
        normalise(state)
