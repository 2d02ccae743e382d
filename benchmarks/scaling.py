"""How the time of a sweep grows with steps and seeds: linearly, if all is well.

python -m benchmarks.scaling            one cell, several lengths and numbers of seeds
python -m benchmarks.scaling --grids    both grids of the paper at full size, with one seed of the ten
"""

from __future__ import annotations

import sys
import tempfile
import time

import volatilis as vl
from volatilis.paper.context import grid_environments
from volatilis.paper.lineup import all_learners, benchmark_for, sampling_learners
from volatilis.paper.settings import GAUSSIAN, SIZES, TASKS, family_of
from volatilis.paper.tuned import TUNED, Best, Environment
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


def one_seed_of_the_grids() -> None:
    """What a tenth of the longest part of `volatilis paper all --size full` takes; untuned learners have a middling parameter."""
    size = SIZES["full"]
    for task in TASKS:
        cells = []
        for where in grid_environments(task):
            tuned = {(name, where): Best(0.5, 0.5, None) for name in TUNED[task]}
            environment = vl.ChangingEnvironment(family_of(task, where.noise), where.p_c)
            learners = all_learners(where, tuned)
            cells.append(Cell(environment, size.length(where.p_c), benchmark_for(where, near=False), learners))
        with tempfile.TemporaryDirectory() as folder:
            start, processor = time.perf_counter(), time.process_time()
            sweep(Plan(task, tuple(cells), 1), folder)
            spent = time.perf_counter() - start
        print(f"{task}: {spent:.0f} s, {time.process_time() - processor:.0f} s of processor time", flush=True)


def main() -> None:
    if sys.argv[1:] == ["--grids"]:
        one_seed_of_the_grids()
        return
    seconds(100, 1)  # compiled before the clock runs
    print(f"{'steps':>10}{'seeds':>7}{'seconds':>10}{'us a step':>11}")
    for steps, seeds in ((20_000, 1), (40_000, 1), (80_000, 1), (160_000, 1), (20_000, 2), (20_000, 4), (20_000, 8)):
        spent = seconds(steps, seeds)
        print(f"{steps:>10,}{seeds:>7}{spent:>10.2f}{1e6 * spent / (steps * seeds):>11.2f}")


if __name__ == "__main__":
    main()
