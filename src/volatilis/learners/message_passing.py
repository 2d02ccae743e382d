"""Message passing with N particles."""

from __future__ import annotations

from typing import NamedTuple

from volatilis._fields import AnyFamily, Count, Probability
from volatilis._registry import compiled_function
from volatilis.learners._base import (
    NOTHING,
    Hypotheses,
    drop,
    drop_below,
    learner_with_hypotheses,
    normalise,
)


@learner_with_hypotheses
class MessagePassing(NamedTuple):
    """MPN (paper, Algorithm 2): exact inference, then keep the n hypotheses with the highest weights.

    Exact while t <= n. Of two equally light hypotheses the older one goes.
    """

    family: AnyFamily
    p_c: Probability
    n: Count

    def approximate(self, state: Hypotheses) -> None:
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
