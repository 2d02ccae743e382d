"""How the time of a sweep grows with steps and seeds: linearly, if all is well.

python -m benchmarks.scaling                       one cell, several lengths and numbers of seeds, as a table
python -m benchmarks.scaling --out docs/results    the same as scaling.md and scaling.svg
python -m benchmarks.scaling --grids               both grids of the paper at full size, with one seed of the ten
"""

from __future__ import annotations

import pathlib
import platform
import sys
import tempfile
import time
from importlib.metadata import version
from typing import NamedTuple

import numpy as np

import volatilis as vl
from volatilis.experiments.sweep import Cell, Plan, sweep
from volatilis.paper.settings import GAUSSIAN, SIZES, TASKS, TaskSetting, family_of, grid_environments
from volatilis.paper.tuned import TUNED, Best, all_learners, benchmark_for, sampling_learners

WHERE = TaskSetting(GAUSSIAN, 1.0, 0.01)
STEPS = (100_000, 200_000, 400_000, 800_000)  # the first is the paper's own length
SEEDS = (1, 2, 4, 8)
REPEATS = 3


class Measured(NamedTuple):
    steps: int
    seeds: int
    seconds: float


def seconds(steps: int, seeds: int) -> float:
    """Of the processor, for one cell of the Gaussian grid with all learners that need no tuning, on one thread."""
    family = vl.Gaussian(WHERE.noise)
    environment, exact = vl.ChangingEnvironment(family, WHERE.p_c), vl.ExactBayes(family, WHERE.p_c)
    cell = Cell(environment, steps, exact, sampling_learners(WHERE))
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        sweep(Plan("scaling", (cell,), seeds), folder, workers=1)
        return time.process_time() - start


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


def measure() -> list[Measured]:
    """Of each length and number of seeds the least of several runs: what else the machine does only adds to it."""
    seconds(100, 1)  # compiled before the clock runs
    found = []
    for steps, seeds in dict.fromkeys([(steps, 1) for steps in STEPS] + [(STEPS[0], seeds) for seeds in SEEDS]):
        found.append(Measured(steps, seeds, min(seconds(steps, seeds) for _ in range(REPEATS))))
        print(f"{steps:>10,} steps, {seeds} seeds: {found[-1].seconds:.2f} s", file=sys.stderr, flush=True)
    return found


def exponent(points: list[tuple[float, float]]) -> float:
    """k of seconds = c x^k, by least squares on logarithms: 1 where the time grows linearly."""
    x, y = np.log(np.array(points)).T
    return float(np.polyfit(x, y, 1)[0])


def page(found: list[Measured]) -> str:
    """The table, and how the time grows, as Markdown."""
    rows = [f"| {m.steps:,} | {m.seeds} | {m.seconds:.2f} | {1e6 * m.seconds / (m.steps * m.seeds):.1f} |" for m in found]
    by_steps, by_seeds = curves(found)
    return "\n".join(
        [
            "# How the time grows",
            "",
            f"Fitted on logarithms, as steps to the power {exponent(by_steps):.2f} and as seeds to the power "
            f"{exponent(by_seeds):.2f}; 1 is linear.",
            f"Processor seconds of one sweep on one thread, the least of {REPEATS}: Gaussian task, sigma {WHERE.noise:g}, "
            f"p_c {WHERE.p_c:g}, Exact Bayes and {len(sampling_learners(WHERE))} learners on the same observations.",
            "",
            "![Processor seconds against steps and against seeds](scaling.svg)",
            "",
            "| steps | seeds | seconds | microseconds a step |",
            "| --- | --- | --- | --- |",
            *rows,
            "",
            f"Made by `python -m benchmarks.scaling --out docs/results`, volatilis {version('volatilis')}, Python "
            f"{platform.python_version()}, Numba {version('numba')}.",
            "",
        ]
    )


def curves(found: list[Measured]) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    return [(m.steps, m.seconds) for m in found if m.seeds == 1], [(m.seeds, m.seconds) for m in found if m.steps == STEPS[0]]


def draw(found: list[Measured], path: pathlib.Path) -> None:
    """Two panels with logarithmic axes; the dashed line is exactly linear, through the first point."""
    from matplotlib.figure import Figure

    canvas = Figure(figsize=(7.0, 3.0), layout="constrained")
    for axis, points, name in zip(
        canvas.subplots(1, 2), curves(found), ("steps, one seed", f"seeds of {STEPS[0]:,} steps"), strict=True
    ):
        x, y = np.array(points).T
        axis.loglog(x, y[0] * x / x[0], "--", color="0.6", label="linear")
        axis.loglog(x, y, "o-", color="#0072b2", label="measured")
        axis.set_xticks(x, [f"{value:,.0f}" for value in x])
        axis.minorticks_off()
        axis.set_yticks(y, [f"{value:.2g}" for value in y])
        axis.set(xlabel=name, ylabel="processor seconds")
        axis.spines[["top", "right"]].set_visible(False)
        axis.legend(frameon=False)
    canvas.savefig(path, metadata={"Date": None})


def main(arguments: list[str]) -> int:
    if arguments == ["--grids"]:
        one_seed_of_the_grids()
    elif not arguments:
        print(page(measure()))
    elif len(arguments) == 2 and arguments[0] == "--out":
        folder, found = pathlib.Path(arguments[1]), measure()
        draw(found, folder / "scaling.svg")
        (folder / "scaling.md").write_text(page(found))
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
