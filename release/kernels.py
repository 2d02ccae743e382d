"""Compile ahead of time what a wheel carries: python -m release.kernels --out FOLDER. `make dist` does it.

Every built-in learner with every built-in family is rehearsed on a few observations as plain Python: `run`, `run_many`, a stream,
and `volatilis run` on a table. Which drivers that calls, with arguments of which types, is what gets compiled.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

import volatilis as vl
from volatilis import catalogue
from volatilis._compiler import ahead, cache
from volatilis._compiler.calls import noting_calls
from volatilis._compiler.host import Code
from volatilis.html.explorer.kernels import WORLDS, example_family, example_learner

# Families whose parameters are matrices, or that the explorer does not show
OTHERS: dict[str, Callable[[], Any]] = {
    "multivariate-gaussian": lambda: vl.MultivariateGaussian(np.eye(2), [0.0, 0.0], 2.0 * np.eye(2)),
    "multivariate-gaussian-unknown-covariance": lambda: vl.MultivariateGaussianUnknownCovariance([0.0, 0.0], 0.5, 5.0, np.eye(2)),
}


def families() -> Iterator[tuple[str, Any]]:
    for name in catalogue.FAMILY_RECORDS:
        if name in WORLDS:
            yield name, example_family(name)
        elif name in OTHERS:
            yield name, OTHERS[name]()


def rehearse(learner: Any) -> None:
    """All ways in which a learner meets observations; the numbers do not matter."""
    family = learner.family
    ys = np.asarray(vl.ChangingEnvironment(family, 0.3).sample(6, seed=1).y)
    vl.run(learner, ys)
    if not family.lacks("predictive_cdf"):
        vl.check(learner, np.asarray(vl.ChangingEnvironment(family, 0.3).sample(12, seed=2).y))  # as commands do
    with_gap = ys.astype(float)
    with_gap[2] = np.nan
    vl.run(learner, with_gap, missing="elapse")
    vl.run_many(learner, [ys, ys])
    stream = vl.Stream(learner, missing="elapse")
    stream.update(ys[0])
    stream.update(np.full(np.shape(ys[0]), np.nan) if np.ndim(ys[0]) else np.nan)
    rehearse_table(learner, ys)


def rehearse_table(learner: Any, ys: np.ndarray) -> None:
    """`volatilis run` on one group, and on many side by side where the learner's state does not grow."""
    from volatilis.trials.measures import columns_for
    from volatilis.trials.sessions import Session

    measures = tuple(dict.fromkeys(column.measure for column in columns_for("x", learner, None)))
    values, absent = learner.family.observations(ys)
    steps = (values, np.zeros(len(values), dtype=np.uint8), absent, lambda: False)
    Session(learner, 0, measures).advance(*steps)
    gaps = (values, np.array([0, 0, 1, 0, 0, 0], dtype=np.uint8), absent, lambda: False)
    Session(learner, 0, measures).advance(*gaps)
    if not learner.grows():
        Session(learner, np.zeros(2, dtype=np.uint64), measures).advance(*steps, np.array([0, 1, 0, 1, 0, 1]))


def kernels_of(name: str, wanted: tuple[str, ...], levels: tuple[str, ...]) -> dict[str, dict[str, Code]]:
    """By level, the kernels of a family with every learner, or with those that are wanted."""
    family = dict(families())[name]
    chosen = [level for level in ahead.LEVELS if level.name in levels]
    found: dict[str, dict[str, Code]] = {level.name: {} for level in chosen}
    with noting_calls() as noted, vl.plain_python():
        for record in catalogue.LEARNER_RECORDS.values():
            learner = example_learner(record, family)
            if learner is not None and (not wanted or record.name in wanted):
                rehearse(learner)
        calls = {cache.portable_key(driver, args): (driver, args) for driver, args in noted}
    for key, (driver, args) in calls.items():
        if key is not None:
            for level, code in ahead.compiled(driver, args, chosen).items():
                if not code.needs_numba:  # what allocates stays with the compiler at hand
                    found[level][key] = code
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True, help="the folder of the archives")
    parser.add_argument("--levels", default=",".join(level.name for level in ahead.LEVELS))
    parser.add_argument("--families", default="", help="only these, to try it")
    parser.add_argument("--learners", default="", help="only these, to try it")
    parser.add_argument("--workers", type=int, default=None)
    options = parser.parse_args()
    levels = tuple(options.levels.split(","))
    names = [name for name, _ in families() if not options.families or name in options.families.split(",")]
    wanted = tuple(filter(None, options.learners.split(",")))
    folder = pathlib.Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    together: dict[str, dict[str, Code]] = {level: {} for level in levels}
    with ProcessPoolExecutor(options.workers) as pool:
        for name, found in zip(names, pool.map(kernels_of, names, [wanted] * len(names), [levels] * len(names)), strict=True):
            print(f"{name}: {len(next(iter(found.values())))} kernels", file=sys.stderr)
            for level, kernels in found.items():
                together[level] |= kernels
    for level, kernels in together.items():
        with (folder / f"{level}.kernels").open("wb") as file:
            ahead.write_archive(file, kernels)
        print(f"{level}: {len(kernels)} kernels, {(folder / f'{level}.kernels').stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
