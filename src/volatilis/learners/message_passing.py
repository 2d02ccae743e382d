"""Message passing with N particles."""

from __future__ import annotations

from volatilis._compiler.registry import compiled_function
from volatilis.families._kinds import AnyFamily
from volatilis.learners._hypotheses import Hypotheses, move, set_count
from volatilis.learners._kinds import (
    ChangeProbability,
    HypothesesLearner,
    HypothesisCount,
    LearnerRecord,
    Style,
    learner_with_hypotheses,
)
from volatilis.special import least


@learner_with_hypotheses(
    LearnerRecord(
        name="message-passing",
        title="MP",
        aliases=("mp",),
        place=30,
        keeps="the n heaviest hypotheses",
        style=Style("#86deac", "s", many="#00785a"),
        samples=False,
    )
)
class MessagePassing(HypothesesLearner):
    """MPN (paper, Algorithm 2): exact inference, then keep the n hypotheses with the highest weights.

    Exact while t <= n.

        family   how observations arise, such as vl.Gaussian(sigma=1)
        p_c      the probability of a change before an observation
        n        how many hypotheses are kept

    >>> import volatilis as vl
    >>> vl.run(vl.MessagePassing(vl.Gaussian(sigma=0.5, sigma_0=2.0), p_c=0.1, n=2), [0.2, -0.1, 3.0, 3.2]).mean.round(3)
    array([0.188, 0.043, 2.822, 3.006])
    """

    family: AnyFamily
    p_c: ChangeProbability
    n: HypothesisCount

    def approximate(self, state: Hypotheses) -> None:
        keep_heaviest(state, self.n)


@compiled_function
def keep_heaviest(state: Hypotheses, n: int) -> None:
    """Keep the n hypotheses with the highest weights, and normalise."""
    w, lost = state.weights, 0.0
    for count in range(state.count[0], n, -1):
        out = least(w, count)
        lost += w[out]
        move(state, count - 2, out)  # the newest stays the last
        move(state, count - 1, count - 2)
        set_count(state, count - 1)
    if lost > 0.0:
        factor = 1.0 / (1.0 - lost)
        for i in range(n):
            w[i] *= factor
