"""Message passing with N particles."""

from __future__ import annotations

from typing import NamedTuple

from volatilis._compiler.registry import compiled_function
from volatilis._core.fields import AnyFamily, Count, Probability
from volatilis.learners._base import learner_with_hypotheses
from volatilis.learners._hypotheses import Hypotheses, move, set_count
from volatilis.special import least


@learner_with_hypotheses
class MessagePassing(NamedTuple):
    """MPN (paper, Algorithm 2): exact inference, then keep the n hypotheses with the highest weights.

    Exact while t <= n.
    """

    family: AnyFamily
    p_c: Probability
    n: Count

    def approximate(self, state: Hypotheses) -> None:
        keep_heaviest(state, self.n)


MessagePassing._samples = False  # type: ignore[attr-defined]


@compiled_function
def keep_heaviest(state: Hypotheses, n: int) -> None:
    """Keep the n hypotheses with the highest weights, and normalise."""
    count, w = state.count[0], state.weights
    if count > n:
        out = least(w, count)
        factor = 1.0 / (1.0 - w[out])
        move(state, count - 2, out)  # the newest stays the last
        move(state, count - 1, count - 2)
        set_count(state, n)
        for i in range(n):
            w[i] *= factor
