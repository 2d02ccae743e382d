"""How the time of a sweep grows with steps and seeds: linearly, if all is well.

python -m benchmarks.scaling
"""

from __future__ import annotations

import tempfile
import time

import volatilis as vl
from volatilis.paper.lineup import sampling_learners
from volatilis.paper.settings import GAUSSIAN
from volatilis.paper.tuned import Environment
from volatilis.sweep import Cell, Plan, sweep

WHERE = Environment(GAUSSIAN, 1.0, 0.01)


def seconds(steps: int, seeds: int) -> float:
    """One cell of the Gaussian grid with all learners that need no tuning, on one thread."""
    family = vl.Gaussian(WHERE.noise)
    environment, exact = vl.ChangingEnvironment(family, WHERE.p_c), vl.ExactBayes(family, WHERE.p_c)
    cell = Cell(environment, steps, exact, sampling_learners(WHERE))
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        sweep(Plan("scaling", (cell,), seeds), folder, workers=1)
        return time.perf_counter() - start


def main() -> None:
    seconds(100, 1)  # compiled before the clock runs
    print(f"{'steps':>10}{'seeds':>7}{'seconds':>10}{'us a step':>11}")
    for steps, seeds in ((20_000, 1), (40_000, 1), (80_000, 1), (160_000, 1), (20_000, 2), (20_000, 4), (20_000, 8)):
        spent = seconds(steps, seeds)
        print(f"{steps:>10,}{seeds:>7}{spent:>10.2f}{1e6 * spent / (steps * seeds):>11.2f}")


if __name__ == "__main__":
    main()
