"""Sample a changing world, run every learner on it, print how far each is from exact inference, and save a picture."""

from __future__ import annotations

import argparse
import pathlib
import time

import matplotlib
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

import volatilis as vl

matplotlib.use("Agg")


def learners(family: vl.Gaussian, p_c: float) -> dict[str, object]:
    """Every learner; those with a parameter to tune have the value that the paper's authors found for this world."""
    return {
        "Exact Bayes": vl.ExactBayes(family, p_c),
        "Merge20": vl.Merge(family, p_c, n=20),
        "Merge5": vl.Merge(family, p_c, n=5),
        "SOR20": vl.StratifiedResampling(family, p_c, n=20),
        "MP20": vl.MessagePassing(family, p_c, n=20),
        "pf20": vl.ParticleFilter(family, p_c, n=20),
        "Merge1": vl.Merge(family, p_c, n=1),
        "Nas12*": vl.Nas12Star(family, p_c=0.007),
        "Nas10*": vl.Nas10Star(family, p_c=0.0515),
        "VarSMiLe": vl.VarSMiLe(family, m=0.1),
        "SMiLe": vl.SMiLe(family, m=0.007),
        "Leaky": vl.Leaky(family, omega=0.87),
        "pf1": vl.ParticleFilter(family, p_c, n=1),
        "MP1": vl.MessagePassing(family, p_c, n=1),
        "Nas12": vl.Nas12(family.sigma, p_c=0.392),
        "Nas10": vl.Nas10(family.sigma, p_c=0.855),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out"), help="folder for the picture")
    parser.add_argument("--steps", type=int, default=100_000)
    options = parser.parse_args()
    console = Console()
    family, p_c = vl.Gaussian(sigma=1.0), 0.01
    y, theta, changed = vl.ChangingEnvironment(family, p_c).sample(options.steps, seed=1)
    console.print(f"{options.steps:,} observations, {changed.sum():,} changes, noise sigma = {family.sigma}, p_c = {p_c}")

    results = {}
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("running every learner (compiling what is new)", total=len(learners(family, p_c)))
        for name, learner in learners(family, p_c).items():
            vl.run(learner, y[:2])  # compiled, or loaded from the cache, before the clock starts
            start = time.perf_counter()
            trace = vl.run(learner, y)
            results[name] = trace.mean, time.perf_counter() - start
            progress.advance(task)

    exact = results["Exact Bayes"][0]
    table = Table(title="How far is each learner from the truth, and from exact inference?")
    for column in ("learner", "mean squared error", "distance to Exact Bayes", "ns per observation"):
        table.add_column(column, justify="left" if column == "learner" else "right")
    for name, (mean, seconds) in results.items():
        error, distance = np.mean((mean - theta) ** 2), np.mean((mean - exact) ** 2)
        table.add_row(name, f"{error:.5f}", f"{distance:.2e}", f"{seconds / options.steps * 1e9:,.0f}")
    console.print(table)

    options.out.mkdir(parents=True, exist_ok=True)
    picture = options.out / "trace.png"
    family = vl.Gaussian(sigma=0.5)
    y, theta, _ = vl.ChangingEnvironment(family, 0.02).sample(300, seed=6)
    vl.run(vl.Merge(family, 0.02, n=20), y).plot(theta=theta).savefig(picture, dpi=150)
    console.print(f"picture: {picture}")


if __name__ == "__main__":
    main()
