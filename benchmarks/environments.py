"""What is not known: finding an environment, beside ten lines of one's own, and looking back for changes, beside the filter."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

import numpy as np

import volatilis as vl

PEOPLE, TRIALS = 129, 400  # as many as in the helicopter data
TRUE, P_C = vl.Gaussian(10.0, 150.0, 87.0), 0.1  # a helicopter task
LENGTH = 100_000  # observations to look back over
COMMAND = [sys.executable, "-c", "from volatilis.cli import main; main()", "environment"]


class Search(NamedTuple):
    """Seconds by the clock, and the log predictive that the parameters found reach."""

    seconds: float
    evidence: float


def command_seconds(repeats: int) -> float:
    """`volatilis environment` as a process, four parameters unknown, two threads: the median; the first is not counted."""
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "trials.csv"
        with open(table, "w", encoding="utf-8") as file:
            file.write("subject,trial,outcome\n")
            for person in range(PEOPLE):
                y = vl.ChangingEnvironment(TRUE, P_C).sample(TRIALS, seed=person).y
                file.writelines(f"s{person},{trial},{value!r}\n" for trial, value in enumerate(y.tolist()))
        times = []
        for _ in range(repeats + 1):
            start = time.perf_counter()
            options = ("--family", "gaussian", "--by", "subject", "--workers", "2")
            subprocess.run([*COMMAND, str(table), *options], capture_output=True, check=True)
            times.append(time.perf_counter() - start)
    return float(np.median(times[1:]))


def searches(repeats: int) -> tuple[Search, Search]:
    """`vl.estimate` on one person's outcomes, and what one would write by hand; in turn, the fastest of each."""
    from scipy.optimize import minimize

    y = vl.ChangingEnvironment(TRUE, P_C).sample(TRIALS, seed=1).y

    def loss(p: np.ndarray) -> float:
        family = vl.Gaussian(np.exp(p[0]), p[1], np.exp(p[2]))
        trace = vl.run(vl.Merge(family, 1.0 / (1.0 + np.exp(-p[3])), n=20), y, readouts=["log_predictive"])
        return -float(np.sum(trace.log_predictive))

    def by_hand() -> float:
        start = [np.log(np.median(np.abs(np.diff(y)))), np.mean(y), np.log(np.std(y)), -2.0]
        return -float(minimize(loss, start, method="Nelder-Mead", options={"xatol": 1e-3, "fatol": 1e-3, "maxiter": 2000}).fun)

    def ours() -> float:
        found = vl.estimate(y, "gaussian", check=False, workers=1)
        return float(np.sum(vl.run(vl.Merge(found.family, found.p_c, n=20), y).log_predictive))

    fastest = {ours: np.inf, by_hand: np.inf}
    reached = {one: one() for one in fastest}
    for _ in range(repeats):
        for one in fastest:
            start = time.perf_counter()
            one()
            fastest[one] = min(fastest[one], time.perf_counter() - start)
    return Search(fastest[ours], reached[ours]), Search(fastest[by_hand], reached[by_hand])


def looking_back(repeats: int) -> tuple[float, float]:
    """Seconds an observation of `vl.changes` and of `vl.run`, exact; in turn, the fastest of each."""
    y = vl.ChangingEnvironment(vl.Gaussian(1.0, 0.0, 3.0), 0.01).sample(LENGTH, seed=1).y
    learner = vl.ExactBayes(vl.Gaussian(1.0, 0.0, 3.0), 0.01)
    fastest = [np.inf, np.inf]
    for _ in range(repeats + 1):
        for k, one in enumerate((lambda: vl.changes(y, learner), lambda: vl.run(learner, y))):
            start = time.perf_counter()
            one()
            fastest[k] = min(fastest[k], (time.perf_counter() - start) / LENGTH)
    return fastest[0], fastest[1]
