"""What not knowing costs: coverage of the intervals of `estimate`, and the errors of `Averaged` beside a learner that knows.

    python -m benchmarks.unknown coverage --sets 200 --store unknown --write
    python -m benchmarks.unknown coverage --sets 200 --only autoregression:1 --write
    python -m benchmarks.unknown price --seeds 5 --store unknown --write
    python -m benchmarks.unknown grids --write
    python -m benchmarks.unknown rules --write

`--store FOLDER` keeps what is finished: a run that was stopped goes on from there, and `coverage --finished` makes the table of
what is there. `--write` puts the table into docs/results/unknown.md. 200 sets take about half an hour of processor time, the 72
cells with 4 seeds about forty minutes. `--only FAMILY` measures and writes these rows of the coverage table alone.
"""

from __future__ import annotations

import argparse
import contextlib
import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np

import volatilis as vl
from volatilis._core import sources
from volatilis._core.jobs import Processes, run_kept, worker_count
from volatilis._core.store import Store, digest
from volatilis.paper.settings import CATEGORICAL, CATEGORIES, GAUSSIAN, NOISE_NAMES, NOISES, RATES

PAGE = pathlib.Path(__file__).parents[1] / "docs" / "results" / "unknown.md"
LENGTH = 500  # observations of a data set
WORLDS: dict[str, tuple[Any, float]] = {  # the text of what is estimated -> the family and p_c that are true
    "gaussian": (vl.Gaussian(10.0, 150.0, 60.0), 0.05),
    "gaussian-unknown-variance": (vl.GaussianUnknownVariance(0.0, 0.1, 4.0, 6.0), 0.05),
    "bernoulli": (vl.Bernoulli(1.0, 1.0), 0.05),
    "categorical:k=4": (vl.Categorical(4, 0.5), 0.05),
    "poisson": (vl.Poisson(2.0, 0.1), 0.05),
    "exponential": (vl.Exponential(3.0, 2.0), 0.05),
    "vonmises:period=360": (vl.VonMises(10.0, 0.0, 0.5, 360.0), 0.05),
    "contaminated:gaussian": (vl.Contaminated(vl.Gaussian(10.0, 150.0, 60.0), 0.05, 2.0), 0.05),
    "autoregression:1": (vl.AutoRegression(1, 0.1, 4.0, 6.0, 20.0, 25.0), 0.05),  # coefficients hardly ever beyond 1
    "transitions:k=2": (vl.transitions(2, 0.5), 0.05),
    "given:gaussian;contexts=2": (vl.Given(vl.Gaussian(10.0, 150.0, 60.0), 2), 0.05),
}
MADE_BY = {"coverage": "volatilis.estimation.estimate", "price": "volatilis.learners.averaged"}
STEPS = (1_000, 10_000)
P_CS = vl.Unknown(count=12)
NOISE_GRIDS = {GAUSSIAN: vl.Unknown(count=40, low=0.05, high=10.0), CATEGORICAL: vl.Unknown(count=20, low=0.004, high=16.0)}
HYPOTHESES = 10
MORE = {0.0001: 15, 0.001: 4}  # times as many sequences where p_c is at most this: few changes then decide about each
FIRST_SEED = 20_000  # the grids of the noise were chosen on others
COUNTS = (5, 10, 20, 40)


# --- coverage --------------------------------------------------------------------------------------------------------------


def one_set(world: str, number: int) -> dict[str, float]:
    """Parameter -> 0 where its interval holds the true value, -1 where this lies below it, 1 where above."""
    family, p_c = WORLDS[world]
    given = {"given": np.arange(LENGTH) % 2} if family.context_width() else {}
    y, *_ = vl.ChangingEnvironment(family, p_c).sample(LENGTH, seed=1000 + number, **given)
    found = vl.estimate(y, world, check=False, workers=1, **given)
    truth = {**getattr(family, "family", family)._asdict(), **family._asdict(), "p_c": p_c}
    return {one.name: float(truth[one.name] > one.high) - float(truth[one.name] < one.low) for one in found.estimates}


def coverage_table(results: Mapping[str, list[dict[str, float]]], sets: int) -> str:
    """One row for each family, with as many data sets as are finished."""
    lines = [
        f"`python -m benchmarks.unknown coverage --sets {sets} --write`: of data sets of {LENGTH} observations with p_c = 0.05,",
        "how many 95 % intervals hold the true value, in %; in brackets, in how many the truth lies below and above them. The",
        "standard error is that of a rate of 95 % in so many sets.",
        "",
        "| family | true values | data sets | coverage | standard error |",
        "|---|---|---|---|---|",
    ]
    for world, found in results.items():
        count = len(found)
        covered = ", ".join(f"{name} {_sides([one[name] for one in found])}" for name in found[0]) if found else "not measured"
        error = f"{100 * np.sqrt(0.05 * 0.95 / count):.1f}" if found else ""
        lines.append(f"| {world} | `{WORLDS[world][0]!r}` | {count} | {covered} | {error} |")
    return "\n".join(lines)


def _sides(misses: list[float]) -> str:
    inside, below, above = (100 * float(np.mean(np.array(misses) == side)) for side in (0.0, -1.0, 1.0))
    return f"{inside:.1f} ({below:.1f}, {above:.1f})"


# --- the price of not knowing ----------------------------------------------------------------------------------------------


def sequences_of(p_c: float, seeds: int) -> int:
    """More where changes are rare, since few changes then decide about a sequence."""
    return seeds * next((factor for rate, factor in MORE.items() if p_c <= rate), 1)


def one_cell(task: str, noise: float, p_c: float, seed: int) -> dict[str, float]:
    """Summed squared errors of the one that knows and the one that does not, over the second half up to each number of steps."""
    family: Any = vl.Gaussian(noise) if task == GAUSSIAN else vl.Categorical(CATEGORIES, noise)
    y, theta, _ = vl.ChangingEnvironment(family, p_c).sample(max(STEPS), seed=seed)
    theta = np.reshape(theta, (len(y), -1))
    knows = vl.Merge(family, p_c, HYPOTHESES)
    does_not = vl.Averaged(knows, p_c=P_CS, **{NOISE_NAMES[task]: NOISE_GRIDS[task]})
    sums = {}
    for name, learner in (("knows", knows), ("does_not", does_not)):
        error = np.sum((np.reshape(vl.run(learner, y, readouts=["mean"]).mean, theta.shape) - theta) ** 2, axis=1)
        sums |= {f"{name}_{steps}": float(error[steps // 2 : steps].sum()) for steps in STEPS}
    return sums


def price_table(results: Mapping[tuple[str, float, float], list[dict[str, float]]], seeds: int) -> str:
    ratios = {cell: [_ratio(found, steps) for steps in STEPS] for cell, found in results.items()}
    within = [sum(one[i][0] <= 1.05 for one in ratios.values()) for i in range(len(STEPS))]
    worse = [f"{t}, {n:g}, {p:g}: {one[1][0]:.3f} ({one[1][1]:.3f})" for (t, n, p), one in ratios.items() if one[1][0] > 1.05]
    more = ", ".join(f"{seeds * factor} where p_c is {rate:g}" for rate, factor in MORE.items())
    lines = [
        f"`python -m benchmarks.unknown price --seeds {seeds} --write`: squared error of `Averaged(Merge(n={HYPOTHESES}))` that",
        f"knows neither p_c ({P_CS.count} values from 1e-5 to 0.5) nor the noise (sigma: 40 values from 0.05 to 10; s: 20 values",
        f"from 0.004 to 16), divided by that of `Merge(n={HYPOTHESES})` that knows both; over observations 501 to 1,000 and",
        f"5,001 to 10,000 of {seeds} sequences a cell ({more}); standard errors (jackknife over sequences) in brackets.",
        "",
        f"Within 5 % at 10,000 observations: {within[1]} of {len(ratios)} cells ({within[0]} at 1,000). "
        f"Not: {'; '.join(worse) or 'none'}.",
        "",
        "| task | noise | p_c | after 1,000 | after 10,000 |",
        "|---|---|---|---|---|",
    ]
    for (t, n, p), one in ratios.items():
        lines.append(f"| {t} | {n:g} | {p:g} | " + " | ".join(f"{ratio:.3f} ({error:.3f})" for ratio, error in one) + " |")
    return "\n".join(lines)


def _ratio(found: list[dict[str, float]], steps: int) -> tuple[float, float]:
    """The ratio of the summed errors, and its standard error: a sequence left out at a time."""
    above, below = (np.array([one[f"{name}_{steps}"] for one in found]) for name in ("does_not", "knows"))
    without = (above.sum() - above) / (below.sum() - below)
    error = np.sqrt((len(found) - 1) / len(found) * np.sum((without - without.mean()) ** 2))
    return float(above.sum() / below.sum()), float(error)


# --- what a grid of k costs ------------------------------------------------------------------------------------------------


def grids_table(sets: int = 5) -> str:
    """Log evidence and squared error of default grids of p_c beside one of 100 values."""
    family = vl.Gaussian(1.0, 0.0, 3.0)
    lines = [
        f"`python -m benchmarks.unknown grids --write`: `Averaged(Merge(n={HYPOTHESES}), p_c=vl.Unknown(count=k))`, Gaussian",
        f"with sigma 1 and sigma_0 3, {sets} sequences of 10,000; beside 100 values: log evidence lost, in nats; squared error.",
        "",
        "| true p_c | " + " | ".join(f"k = {k}" for k in COUNTS) + " |",
        "|---" * (len(COUNTS) + 1) + "|",
    ]
    for p_c in (0.2, 0.03, 0.004, 0.0005):
        cells = []
        ys = [vl.ChangingEnvironment(family, p_c).sample(10_000, seed=seed) for seed in range(sets)]
        found = {k: [_cost(family, k, y.y, np.ravel(y.theta)) for y in ys] for k in (*COUNTS, 100)}
        best = np.mean(found[100], axis=0)
        for k in COUNTS:
            evidence, error = np.mean(found[k], axis=0)
            cells.append(f"{best[0] - evidence:.2f}, {100 * (error / best[1] - 1):+.2f} %")
        lines.append(f"| {p_c:g} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cost(family: Any, count: int, y: np.ndarray, theta: np.ndarray) -> tuple[float, float]:
    trace = vl.run(vl.Averaged(vl.Merge(family, 0.1, HYPOTHESES), p_c=vl.Unknown(count=count)), y)
    return float(np.sum(trace.log_predictive)), float(np.mean((trace.mean - theta) ** 2))


# --- tasks whose changes follow rules ----------------------------------------------------------------------------------------


def rules_table(sequences: int = 150, length: int = 75, sets: int = 4) -> str:
    """What is estimated where changes keep a distance and levels one from the last: as in ada-learn's probability task."""
    lines = [
        f"`python -m benchmarks.unknown rules --write`: {sequences} sequences of {length} outcomes 0 and 1, probabilities",
        f"uniform from 0.1 to 0.9; means over {sets} such sets. Runs of 6 to 60 are drawn with p_c = 0.05, others with 0.04.",
        "",
        "| changes | levels | changes that there were | estimated p_c | a, b |",
        "|---|---|---|---|---|",
    ]
    for runs in ("at any time", "runs of 6 to 60"):
        for levels in ("independent", "odds change at least fourfold"):
            found = [_with_rules(runs != "at any time", levels != "independent", sequences, length, seed) for seed in range(sets)]
            rate, p_c, a, b = np.mean(found, axis=0)
            lines.append(f"| {runs} | {levels} | {rate:.3f} | {p_c:.3f} | {a:.2f}, {b:.2f} |")
    return "\n".join(lines)


def _with_rules(apart: bool, far: bool, sequences: int, length: int, seed: int) -> tuple[float, ...]:
    rng, ys, changes = np.random.default_rng(seed), [], 0
    for _ in range(sequences):
        levels: list[float] = []
        while len(levels) < length:
            p, run = rng.uniform(0.1, 0.9), int(rng.geometric(0.05 if apart else 0.04))
            if (apart and not 6 <= run <= 60) or (far and levels and abs(_log_odds(p) - _log_odds(levels[-1])) < np.log(4.0)):
                continue
            changes += bool(levels)
            levels += [p] * run
        ys.append((rng.uniform(size=length) < levels[:length]).astype(int))
    found = vl.estimate(ys, vl.Bernoulli, check=False)
    return changes / (sequences * (length - 1)), found.p_c, found["a"].value, found["b"].value


def _log_odds(p: float) -> float:
    return float(np.log(p / (1.0 - p)))


# --- the command -----------------------------------------------------------------------------------------------------------


def computed(what: str, function: Any, calls: Mapping[str, tuple[Any, ...]], options: argparse.Namespace) -> dict[str, Any]:
    with contextlib.ExitStack() as stack:
        store: Store[dict[str, float]] | None = None
        if options.store is not None:
            path = (
                pathlib.Path(options.store)
                / f"{what}-{digest(LENGTH, STEPS, P_CS, *NOISE_GRIDS.values(), HYPOTHESES)[:16]}.jsonl"
            )
            made_by = sources.digest(MADE_BY[what])
            store = stack.enter_context(Store(path, made_by, dict, dict))
        if options.finished:
            return {} if store is None else {key: kept for key in calls if (kept := store.get(key)) is not None}
        queue = stack.enter_context(Processes(worker_count(options.workers)))
        return run_kept(queue, function, calls, store, lambda share: print(f"{what}: {share:.0%}", flush=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("coverage", "price", "grids", "rules"))
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--store", default=None)
    parser.add_argument("--finished", action="store_true")
    parser.add_argument("--only", action="append", choices=tuple(WORLDS), default=None)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.what == "coverage":
        worlds = options.only or tuple(WORLDS)
        calls = {f"{world} {number}": (world, number) for number in range(options.sets) for world in worlds}
        found = computed("coverage", one_set, calls, options)
        done = {world: [found[key] for key, (one, _) in calls.items() if one == world and key in found] for world in worlds}
        text = coverage_table(done, options.sets)
    elif options.what == "price":
        cells = [(task, noise, p_c) for task in NOISES for noise in NOISES[task] for p_c in RATES]
        seeds = {cell: range(FIRST_SEED, FIRST_SEED + sequences_of(cell[2], options.seeds)) for cell in cells}
        calls = {f"{cell} {seed}": (*cell, seed) for cell in cells for seed in seeds[cell]}
        found = computed("price", one_cell, calls, options)
        text = price_table({cell: [found[f"{cell} {seed}"] for seed in seeds[cell]] for cell in cells}, options.seeds)
    elif options.what == "rules":
        text = rules_table()
    else:
        text = grids_table()
    print(text)
    if options.write:
        start, end = f"<!-- {options.what}: start -->", f"<!-- {options.what}: end -->"
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(start)
        old, _, after = rest.partition(end)
        text = rows_replaced(old.strip(), text) if options.only else text
        PAGE.write_text(f"{before}{start}\n{text}\n{end}{after}", encoding="utf-8")


def rows_replaced(old: str, new: str) -> str:
    """The old table with the rows of the new one in the place of those that begin alike."""
    rows = {line.split(" | ")[0]: line for line in new.splitlines() if line.startswith("| ")}
    return "\n".join(rows.get(line.split(" | ")[0], line) for line in old.splitlines())


if __name__ == "__main__":
    main()
