"""What the paper simulated: grids, lengths, seeds (errata, the published settings), and a small version of the same."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from volatilis.families import Categorical, Gaussian

GAUSSIAN, CATEGORICAL = "gaussian", "categorical"
TASKS = (GAUSSIAN, CATEGORICAL)
NOISES = {GAUSSIAN: (0.1, 0.5, 1.0, 2.0, 5.0), CATEGORICAL: (0.01, 0.1, 0.14, 0.25, 1.0, 2.0, 5.0)}
NOISE_NAMES = {GAUSSIAN: "sigma", CATEGORICAL: "s"}
RATES = (0.1, 0.05, 0.01, 0.005, 0.001, 0.0001)
RARE = 0.001  # from here down the paper simulates ten times as long
CATEGORIES = 5
# The first two of a task are drawn in its figure; the authors' data has all four
TRANSIENTS = {
    GAUSSIAN: ((0.1, 0.1), (5.0, 0.01), (0.1, 0.01), (5.0, 0.1)),
    CATEGORICAL: ((0.14, 0.01), (5.0, 0.005), (0.14, 0.005), (5.0, 0.01)),
}
DRAWN = 2
ROBUSTNESS_RATES = tuple((10.0 ** np.linspace(-4.0, -1.0, 40)).tolist())
ASSUMED = (ROBUSTNESS_RATES[34], ROBUSTNESS_RATES[21])  # p_c': 0.0412 and 0.00412, for which learners are tuned
ROBUSTNESS_NOISES = {GAUSSIAN: (0.1, 5.0), CATEGORICAL: (0.14, 5.0)}
PARTICLES = (1, 10, 20)
MERGED = (1, 3, 5, 10, 20)
MEMORIES = (1, 2, 3, 5, 10, 20, 50)
MEMORY_CELLS = (
    (GAUSSIAN, 0.1, 0.1),
    (GAUSSIAN, 1.0, 0.01),
    (GAUSSIAN, 5.0, 0.001),
    (CATEGORICAL, 0.14, 0.01),
    (CATEGORICAL, 0.25, 0.005),
    (CATEGORICAL, 5.0, 0.01),
)
NEAR = 80  # hypotheses of the Merge that may stand in for Exact Bayes


class TaskSetting(NamedTuple):
    """A task, its noise (sigma or s) and its change probability."""

    task: str
    noise: float
    p_c: float


class Size(NamedTuple):
    """How much is simulated."""

    name: str
    seeds: int
    steps: int
    rare_steps: int
    tuning: tuple[int, int]  # seeds and steps
    rare_tuning: tuple[int, int]
    robustness_rates: int
    robustness_seeds: int
    robustness_steps: int
    memory_seeds: int
    memory_steps: int
    subjects: int

    def length(self, p_c: float) -> int:
        return self.rare_steps if p_c <= RARE else self.steps

    def tuning_sequences(self, p_c: float) -> tuple[int, int]:
        """How many, and how long: as the paper's, ten times as long where changes are rare."""
        return self.rare_tuning if p_c <= RARE else self.tuning

    def rates(self) -> np.ndarray:
        """Of the paper's 40 values of p_c, the first, the last and others evenly between."""
        chosen = np.round(np.linspace(0, len(ROBUSTNESS_RATES) - 1, self.robustness_rates)).astype(int)
        return np.array(ROBUSTNESS_RATES)[chosen]


SIZES = {
    "quick": Size("quick", 4, 6_000, 30_000, (2, 4_000), (2, 20_000), 9, 3, 8_000, 2, 10_000, 20),
    "full": Size("full", 10, 100_000, 1_000_000, (3, 100_000), (3, 1_000_000), 40, 3, 100_000, 3, 100_000, 20),
}


def family_of(task: str, noise: float) -> Gaussian | Categorical:
    """What the observations of a task are drawn from."""
    return Gaussian(noise) if task == GAUSSIAN else Categorical(CATEGORIES, noise)


def grid_environments(task: str) -> list[TaskSetting]:
    """Row by row of the paper's heat maps."""
    return [TaskSetting(task, noise, p_c) for noise in NOISES[task] for p_c in RATES]
