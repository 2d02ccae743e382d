"""Compile ahead of time what a wheel carries: python -m release.kernels --out FOLDER. `make dist` does it.

Every built-in learner with every built-in family is rehearsed on a few observations as plain Python: `run`, `run_many`, a stream,
and `volatilis run` on a table. Which drivers that calls, with arguments of which types, is what gets compiled.
"""

from __future__ import annotations

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

import volatilis as vl
from volatilis import catalogue
from volatilis._compiler import ahead, cache, step_call
from volatilis._compiler.calls import noting_calls
from volatilis.estimation.models import Sequences
from volatilis.estimation.wagers import misfits_by_wager
from volatilis.html.explorer.offers import WORLDS, Offer, example_family, example_learner

# Families that the explorer does not show: their parameters are matrices, or they are made of others. A family made of another is
# compiled for each inner family by itself: these are ahead, and any other compiles at its first use.
OTHERS: dict[str, Callable[[], Any]] = {
    "multivariate-gaussian": lambda: vl.MultivariateGaussian(np.eye(2), [0.0, 0.0], 2.0 * np.eye(2)),
    "multivariate-gaussian-unknown-covariance": lambda: vl.MultivariateGaussianUnknownCovariance([0.0, 0.0], 0.5, 5.0, np.eye(2)),
    "contaminated:gaussian": lambda: vl.Contaminated(vl.Gaussian(1.0), 0.05),
    "given:gaussian": lambda: vl.Given(vl.Gaussian(1.0), 2),
    "given:bernoulli": lambda: vl.Given(vl.Bernoulli(), 2),
    "linear-regression": lambda: vl.LinearRegression(2),
    "autoregression": lambda: vl.AutoRegression(1),
}
# Learners made of others, with the same rule
COMBINED: dict[str, Callable[[Any], Any]] = {
    "averaged:merge": lambda family: vl.Averaged(vl.Merge(family, 0.1, 3), p_c=[0.01, 0.1]),
    "per-context:varsmile": lambda family: vl.PerContext(vl.VarSMiLe(family, 0.1), 2),
    "per-context:merge": lambda family: vl.PerContext(vl.Merge(family, 0.1, 3), 2),
}
COMBINED_WITH = ("gaussian", "bernoulli")


def families() -> Iterator[tuple[str, Any]]:
    for name in catalogue.FAMILY_RECORDS:
        if name in WORLDS:
            yield name, example_family(name)
    for name, make in OTHERS.items():
        yield name, make()


def learners(name: str, family: Any) -> Iterator[tuple[str, Any]]:
    """All that are defined for a family, by name."""
    for record in catalogue.LEARNER_RECORDS.values():
        learner = example_learner(Offer(record.name, record), family)
        if learner is not None:
            yield record.name, learner
    if name in COMBINED_WITH:
        yield from ((combined, make(family)) for combined, make in COMBINED.items())


def contexts(learner: Any, n: int) -> Any:
    """A context for each of n observations, where the learner's family has contexts."""
    if isinstance(learner.family, vl.LinearRegression):
        return [[1.0, 0.1 * t] for t in range(n)]
    return [t % 2 for t in range(n)] if isinstance(learner, vl.PerContext) or isinstance(learner.family, vl.Given) else None


def sequence(learner: Any, n: int, seed: int) -> np.ndarray:
    given = {} if contexts(learner, n) is None else {"given": contexts(learner, n)}
    return np.asarray(vl.ChangingEnvironment(learner.family, 0.3).sample(n, seed=seed, **given).y)


def rehearse(learner: Any) -> None:
    """All ways in which a learner meets observations; the numbers do not matter."""
    family, ys, given = learner.family, sequence(learner, 6, seed=1), contexts(learner, 6)
    vl.run(learner, ys, given=given)
    if not family.lacks("predictive_cdf") and not isinstance(learner, vl.PerContext):  # which is checked by context
        vl.check(learner, sequence(learner, 12, seed=2), given=contexts(learner, 12))  # as commands do
    if isinstance(family, vl.Gaussian):  # a check of one that fits
        misfits_by_wager(family, 0.1, Sequences([ys[:3]], [np.zeros(3, dtype=np.uint8)]), 1.0)
    with_gap = ys.astype(float)
    with_gap[2] = np.nan
    vl.run(learner, with_gap, given=given, missing="elapse")
    vl.run_many(learner, [ys, ys], given=None if given is None else [given, given])
    stream = vl.Stream(learner, missing="elapse")
    first = None if given is None else given[0]
    stream.update(ys[0], given=first)
    stream.update(np.full(np.shape(ys[0]), np.nan) if np.ndim(ys[0]) else np.nan, given=first)
    rehearse_table(learner, ys)


def rehearse_table(learner: Any, ys: np.ndarray) -> None:
    """`volatilis run` on one group, and on many side by side where the learner's state does not grow."""
    from volatilis.trials.measures import columns_for
    from volatilis.trials.sessions import Session

    measures = tuple(dict.fromkeys(column.measure for column in columns_for("x", learner, None)))
    values, absent = learner.family.observations(ys, contexts(learner, len(ys)))
    steps = (values, np.zeros(len(values), dtype=np.uint8), absent, lambda: False)
    Session(learner, 0, measures).advance(*steps)
    gaps = (values, np.array([0, 0, 1, 0, 0, 0], dtype=np.uint8), absent, lambda: False)
    Session(learner, 0, measures).advance(*gaps)
    if not learner.grows():
        Session(learner, np.zeros(2, dtype=np.uint64), measures).advance(*steps, np.array([0, 1, 0, 1, 0, 1]))


def kernels_of(name: str, wanted: tuple[str, ...], levels: tuple[str, ...]) -> dict[str, dict[str, bytes]]:
    """By level, the kernels of a family with every learner, or with those that are wanted: object files by their symbols."""
    family = dict(families())[name]
    found: dict[str, dict[str, bytes]] = {level: {} for level in levels}
    with noting_calls() as noted, vl.plain_python():
        for learner_name, learner in learners(name, family):
            if not wanted or learner_name in wanted:
                rehearse(learner)
        calls = {cache.portable_key(driver, args): (driver, args) for driver, args in noted}
    for key, (driver, args) in calls.items():
        if key is not None:
            objects = ahead.compiled(driver, args, chosen(levels))
            if not objects:
                print(f"not ahead: {driver.__name__} of {name}, {type(args[0]).__name__}", file=sys.stderr)
            for level, code in objects.items():
                found[level][ahead.symbol(key)] = code
    return found


def chosen(levels: tuple[str, ...]) -> list[ahead.Level]:
    return [level for level in ahead.LEVELS if level.name in levels]


def fast_step(levels: tuple[str, ...]) -> dict[str, bytes]:
    """What a stream's updates go through, by level."""
    return ahead.compiled_text(step_call.TEXT, step_call.SYMBOL, chosen(levels), step_call.OUTSIDE)


def link(objects: dict[str, bytes], path: pathlib.Path) -> None:
    """A shared library of all kernels, by LLVM's linker: of their symbols, and of nothing else."""
    linker = shutil.which("ld.lld")
    if linker is None:
        sys.exit("ld.lld is needed to link what wheels carry, and is not there: apt-get install lld")
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        for name, code in objects.items():
            (place / f"{name}.o").write_bytes(code)
        names = sorted(objects)
        (place / "exported").write_text(f"{{ global: {''.join(f'{name};' for name in names)} local: *; }};")
        (place / "options").write_text("\n".join(f"{name}.o" for name in names))
        options = ["-shared", "--version-script=exported", "--strip-all", "--gc-sections", "--icf=all", "-z", "noexecstack"]
        subprocess.run([linker, *options, "-o", path.resolve(), "@options"], cwd=place, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True, help="the folder of the libraries")
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
    name_of_step = ahead.symbol_of_text(step_call.TEXT)
    together = {level: {name_of_step: code} for level, code in fast_step(levels).items()}
    with ProcessPoolExecutor(options.workers) as pool:
        for name, found in zip(names, pool.map(kernels_of, names, [wanted] * len(names), [levels] * len(names)), strict=True):
            print(f"{name}: {len(next(iter(found.values())))} kernels", file=sys.stderr)
            for level, kernels in found.items():
                together[level] |= kernels
    for level, kernels in together.items():
        path = folder / f"{level}.so"
        link(kernels, path)
        print(f"{level}: {len(kernels)} kernels, {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
