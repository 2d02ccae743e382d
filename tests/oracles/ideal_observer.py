"""An ideal observer of transition probabilities that change, on a grid: Meyniel, Maheu & Dehaene (2016), PLoS Comput Biol 12."""

from __future__ import annotations

import numpy as np


def transition_probabilities(y: np.ndarray, p_c: float, points: int) -> np.ndarray:
    """E[p(1|0)] and E[p(1|1)] after each symbol, (T, 2): a hidden Markov model over a grid of both probabilities.

    At each transition both probabilities stay, or, with probability p_c, are drawn anew; the first is always new.
    """
    grid = (np.arange(points) + 0.5) / points
    given_0, given_1 = np.meshgrid(grid, grid, indexing="ij")
    uniform = np.full((points, points), 1.0 / points**2)
    belief, result = uniform, []
    for t, symbol in enumerate(y):
        if t > 0:
            before = belief if t == 1 else (1.0 - p_c) * belief + p_c * uniform
            chance = given_1 if y[t - 1] == 1 else given_0
            belief = before * (chance if symbol == 1 else 1.0 - chance)
            belief = belief / belief.sum()
        result.append([(belief * given_0).sum(), (belief * given_1).sum()])
    return np.array(result)
