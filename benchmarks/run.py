"""`make bench`: volatilis beside its peers and beside hand-written kernels, all measured in one run, as ratios.

Every figure is a median of several repeats; the two sides of a ratio are measured in alternation where they are ours.
`--write` puts the table into docs/results/speed.md, and eight of its rows into README.md, between their markers.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import volatilis as vl
from benchmarks import environments, fits, kernels, peers, tables, watch

ROOT = pathlib.Path(__file__).resolve().parent.parent
START, END = "<!-- bench: start -->", "<!-- bench: end -->"
# The rows of the README: those whose text begins so
HEADLINES = (
    "ExactBayes, T = 10,000, predictive only; `changepoint`",
    "ExactBayes, T = 10,000, predictive only; `bocd`",
    "ParticleFilter(n=20), every readout; `particles`",
    "Stream.update, VarSMiLe; river",
    "`volatilis run`, 1,000,000 rows",
    "volatilis watch, VarSMiLe, JSON lines, no key",
    "fit of varsmile",
    "compile Merge x Gaussian",
)


class Row(NamedTuple):
    """One line of the table: what was compared, both times per observation, their ratio and what was aimed at."""

    what: str
    ours: str
    other: str
    ratio: str
    aim: str
    reached: bool | None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--write", action="store_true", help="write the table into docs/results/speed.md and eight rows into README.md"
    )
    parser.add_argument("--repeats", type=int, default=5)
    sections = {section.__name__.removesuffix("_rows"): section for section in SECTIONS}
    parser.add_argument("--only", choices=sections, nargs="+", help="measure these alone")
    options = parser.parse_args()
    if options.write and options.only:
        parser.error("--write needs the whole table: leave --only out")
    rows: list[Row] = []
    for section in (sections[name] for name in options.only or sections):
        print(f"measuring: {section.__name__.removesuffix('_rows').replace('_', ' ')} ...", file=sys.stderr, flush=True)
        rows += section(options.repeats)
    print(f"{markdown(rows)}\n\n{conditions()}")
    if options.write:
        between_markers(ROOT / "docs" / "results" / "speed.md", f"{markdown(rows)}\n\n{conditions()}")
        between_markers(ROOT / "README.md", markdown([row for row in rows if row.what.startswith(HEADLINES)]))


def median_seconds(function: Callable[[], Any], repeats: int) -> float:
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def gaussian(length: int) -> tuple[vl.Gaussian, np.ndarray]:
    family = vl.Gaussian(sigma=1.0)
    return family, vl.ChangingEnvironment(family, 0.01).sample(length, seed=1).y


def times_as_fast(ratio: float) -> str:
    return f"{ratio:,.0f} times as fast" if ratio >= 10.0 else f"{ratio:.1f} times as fast"


def at_least(what: str, ours: float, other: float, aim: float) -> Row:
    ratio = other / ours
    return Row(what, nanoseconds(ours), nanoseconds(other), times_as_fast(ratio), f"at least {aim:g}", ratio >= aim)


def at_most(what: str, ours: float, other: float, aim: float) -> Row:
    ratio = ours / other
    return Row(what, nanoseconds(ours), nanoseconds(other), f"{ratio:.2f} times the time", f"at most {aim:g}", ratio <= aim)


def nanoseconds(seconds: float) -> str:
    return f"{seconds * 1e9:,.0f} ns" if seconds < 1e-5 else f"{seconds * 1e6:,.0f} µs"


def peer_rows(repeats: int) -> list[Row]:
    family, y = gaussian(10_000)
    exact = vl.ExactBayes(family, 0.01)
    only = median_seconds(lambda: vl.run(exact, y, readouts=("log_predictive",)), repeats) / y.size
    everything = median_seconds(lambda: vl.run(exact, y), repeats) / y.size
    few = 3
    changepoint = peers.changepoint_bocpd(y, 0.01, repeats=few)
    bocd, tuned = peers.bocd_detector(y, 0.01, repeats=few), peers.bocd_detector(y, 0.01, tuned=True, repeats=few)
    short = y[:2_000]
    particles = peers.particles_bootstrap(short, 0.01, n=20, repeats=few)
    tuned_particles = peers.particles_bootstrap(short, 0.01, n=20, library_density=False, repeats=few)
    filter_ = vl.ParticleFilter(family, 0.01, n=20)
    filtering = median_seconds(lambda: vl.run(filter_, y), repeats) / y.size
    return [
        at_least("ExactBayes, T = 10,000, predictive only; `changepoint` Bocpd", only, changepoint, 250),
        at_least("... and every readout; `changepoint` Bocpd", everything, changepoint, 0)._replace(aim="", reached=None),
        at_least("ExactBayes, T = 10,000, predictive only; `bocd`, known variance", only, bocd, 100),
        at_least("... `bocd`, known variance, tuned", only, tuned, 0)._replace(aim="", reached=None),
        at_least("ParticleFilter(n=20), every readout; `particles` bootstrap, 20", filtering, particles, 200),
        at_least("... `particles` with a density written for it", filtering, tuned_particles, 0)._replace(aim="", reached=None),
    ]


def long_run_rows(repeats: int) -> list[Row]:
    family, y = gaussian(1_000_000)
    exact, few = vl.ExactBayes(family, 0.01), 3
    short = median_seconds(lambda: vl.run(exact, y[:100_000], readouts=("mean",)), few) / 100_000
    long = median_seconds(lambda: vl.run(exact, y, readouts=("mean",)), few) / y.size
    return [at_most("ExactBayes, T = 1,000,000; itself at T = 100,000", long, short, 1.3)]


def world_rows(repeats: int) -> list[Row]:
    """Families of other worlds beside the Gaussian, per step with 20 hypotheses, on the same observations."""
    family, y = gaussian(100_000)

    def per_step(one: Any, values: np.ndarray, learner: Any = vl.Merge) -> float:
        return median_seconds(lambda: vl.run(learner(one, 0.01, 20), values), repeats) / values.size

    passing = vl.MessagePassing
    plain, around = per_step(family, y), vl.VonMises(1.0 / family.sigma**2, period=2 * np.pi)
    contaminated = per_step(vl.Contaminated(family, 0.01), y)
    given, arms = vl.Merge(vl.Given(family, 2), 0.01, 20), np.random.default_rng(0).integers(0, 2, y.size)
    in_context = median_seconds(lambda: vl.run(given, y, given=arms), repeats) / y.size
    return [
        at_most("Merge(n=20), VonMises; Gaussian", per_step(around, y), plain, 4),
        at_most("Merge(n=20), Contaminated Gaussian; Gaussian", contaminated, plain, 3),
        at_most(
            "MessagePassing(n=20), Contaminated Gaussian; Gaussian",
            per_step(vl.Contaminated(family, 0.01), y, passing),
            per_step(family, y, passing),
            3,
        ),
        at_most("Merge(n=20), Given(Gaussian, 2); Gaussian", in_context, plain, 1.5),
        *averaged_rows(repeats),
    ]


def averaged_rows(repeats: int) -> list[Row]:
    """Thirty values of p_c weighed beside thirty runs; and as a stream, whose aim is 10 microseconds."""
    family, y = gaussian(20_000)
    averaged = vl.Averaged(vl.Merge(family, 0.1, 10), p_c=vl.Unknown(count=30))
    alone = [vl.Merge(family, p_c, 10) for p_c in averaged.grid("p_c").tolist()]
    ours = median_seconds(lambda: vl.run(averaged, y), repeats) / y.size
    thirty = median_seconds(lambda: [vl.run(one, y) for one in alone], repeats) / y.size
    stream, values = vl.Stream(averaged), y[:5000].tolist()
    stepped = median_seconds(partial(step_through, stream.update, values), repeats) / len(values)
    aim = Row("Stream.update, Averaged over 30 values, Merge(n=10)", nanoseconds(stepped), "", "", "below 10 µs", stepped < 1e-5)
    return [at_most("Averaged over 30 values of p_c, Merge(n=10); 30 runs", ours, thirty, 1.5), aim]


def stream_rows(repeats: int) -> list[Row]:
    family, y = gaussian(100_000)
    values = y.tolist()
    stream = vl.Stream(vl.VarSMiLe(family, 0.01))
    ours = median_seconds(partial(step_through, stream.update, values), repeats) / len(values)
    adwin = at_most("Stream.update, VarSMiLe; river ADWIN update", ours, peers.river_adwin(values, repeats=repeats), 5)
    arms = np.random.default_rng(0).integers(0, 2, y.size).tolist()
    in_context = vl.Stream(vl.VarSMiLe(vl.Given(family, 2), 0.01))

    def with_contexts() -> None:
        for value, arm in zip(values, arms, strict=True):
            in_context.update(value, given=arm)

    given = at_most(
        "Stream.update(y, given=x), VarSMiLe, Given(Gaussian, 2); Stream.update, Gaussian",
        median_seconds(with_contexts, repeats) / len(values),
        ours,
        10,
    )
    return [adwin, given, *recent_rows(repeats), *number_rows(repeats)]


def recent_rows(repeats: int) -> list[Row]:
    """A step that also tells the probability of a change among the newest 100, beside one that does not; in turn, the fastest."""
    family = vl.Gaussian(1.0, 0.0, 3.0)
    values = vl.ChangingEnvironment(family, 0.001).sample(20_000, seed=1).y.tolist()
    rows = []
    for learner in (vl.ExactBayes(family, 0.001), vl.Merge(family, 0.001, 20)):
        seconds: dict[int | None, float] = {None: np.inf, 100: np.inf}
        for _ in range(repeats):
            for within in seconds:
                update = vl.Stream(learner, within=within).update
                step_through(update, values[:500])
                start = time.process_time()
                step_through(update, values)
                seconds[within] = min(seconds[within], (time.process_time() - start) / len(values))
        name = "Merge(n=20)" if isinstance(learner, vl.Merge) else "ExactBayes"
        rows.append(at_most(f"Stream.update, {name}, with recent_change within 100; without", seconds[100], seconds[None], 1.1))
    return rows


def step_through(update: Callable[[Any], Any], values: list[Any]) -> None:
    for value in values:
        update(value)


def number_rows(repeats: int) -> list[Row]:
    """The slowest kind of number beside the fastest, on each family of single numbers."""
    families = {
        "Gaussian": vl.Gaussian(1.0),
        "GaussianUnknownVariance": vl.GaussianUnknownVariance(0.0, 1.0, 2.5, 1.0),
        "Exponential": vl.Exponential(3.0, 2.0),
        "Poisson": vl.Poisson(2.0, 0.5),
        "Bernoulli": vl.Bernoulli(),
        "Categorical": vl.Categorical(3),
    }
    zeros_and_ones = np.random.default_rng(1).integers(0, 2, 10_000).tolist()
    rows = []
    for name, family in families.items():
        update = vl.Stream(vl.VarSMiLe(family, 0.1)).update
        seconds = {}
        for kind in (float, int, bool, np.float64, np.float32, np.int64, np.int32, np.uint8):
            values = [kind(value) for value in zeros_and_ones]
            seconds[kind.__name__] = median_seconds(partial(step_through, update, values), repeats) / len(values)
        slow, fast = max(seconds, key=seconds.__getitem__), min(seconds, key=seconds.__getitem__)
        rows.append(at_most(f"Stream.update, VarSMiLe, {name}, {slow}; {fast}", seconds[slow], seconds[fast], 3))
    return rows


def many_rows(repeats: int) -> list[Row]:
    family, _ = gaussian(1)
    learner = vl.VarSMiLe(family, 0.01)
    ys = np.stack([vl.ChangingEnvironment(family, 0.01).sample(500, seed=s).y for s in range(1_000)])
    long = ys.ravel()
    many = median_seconds(lambda: vl.run_many(learner, ys, workers=1), repeats) / ys.size
    one = median_seconds(lambda: vl.run(learner, ys[0]), 50) / 500
    one_long = median_seconds(lambda: vl.run(learner, long), repeats) / long.size
    return [
        at_least("run_many, 1,000 x 500, VarSMiLe, one core; run on 500", many, one, 5),
        at_least("... run on one sequence of 500,000", many, one_long, 0)._replace(aim="", reached=None),
    ]


def table_rows(repeats: int) -> list[Row]:
    sides = tables.a_million_rows(min(repeats, 5))
    alone = sides.kernels + sides.reading + sides.writing
    large, helped = tables.memory_of_many_rows(), tables.help_seconds(repeats)
    what = "`volatilis run`, 1,000,000 rows in 1,000 groups, VarSMiLe and Merge(n=20), Parquet; kernels and PyArrow alone"
    ratio = sides.command / alone
    return [
        Row(what, f"{sides.command:.2f} s", f"{alone:.2f} s", f"{ratio:.2f} times the time", "at most 3", ratio <= 3),
        Row(
            f"`volatilis run`, {tables.LARGE:,} rows: largest memory",
            f"{large.memory / 1e6:,.0f} MB",
            "",
            f"in {large.seconds:.0f} s",
            "below 1 GB",
            large.memory < 1e9,
        ),
        Row("`volatilis --help`, processor time", f"{helped:.2f} s", "", "", "below 0.3 s", helped < 0.3),
    ]


def watch_rows(repeats: int) -> list[Row]:
    aim = 100_000
    rows = [
        Row(f"volatilis watch, VarSMiLe, {what}", f"{rate:,.0f} lines/s", "", "", f"at least {aim:,} lines/s", rate >= aim)
        for what, rate in watch.speeds(3).items()
    ]
    for what, rate in watch.speeds_with_time(3).items():
        aims = what.startswith("VarSMiLe")
        shown = ("at least 200,000 lines/s", rate >= 200_000) if aims else ("", None)
        rows.append(Row(f"volatilis watch, {what}", f"{rate:,.0f} lines/s", "", "", *shown))
    for learner, memory in watch.memories().items():
        what = f"volatilis watch, {learner}, {watch.KEYS:,} keys: memory"
        rows.append(Row(what, f"{memory / 1e6:,.0f} MB", "", "", "under 1,000 MB", memory < 1e9))
    return rows


def fit_rows(repeats: int) -> list[Row]:
    found, other = fits.measure(repeats), fits.pyhgf_seconds()
    shown = "not installed" if other is None else f"{other * 1e3:.1f} ms"
    rows = [
        Row(
            f"fit of {learner} and the noise to 500 trials, 10 starts, processor time; `pyhgf`, 1 start",
            f"{seconds * 1e3:.1f} ms",
            shown,
            "" if other is None else times_as_fast(other / seconds),
            "below 10 ms",
            seconds < 0.01,
        )
        for learner, seconds in found.one.items()
    ]
    bandit = "fit of a bandit's m, beta and sticky to 200 trials, 10 starts, processor time"
    rows.append(Row(bandit, f"{found.bandit * 1e3:.1f} ms", "", "", "below 20 ms", found.bandit < 0.02))
    what = f"fits of {fits.PEOPLE} people x {fits.TRIALS} trials with {len(fits.SIX)} learners, 10 starts, two processes"
    return [*rows, Row(what, f"{found.everybody:.1f} s", "", "", "below 60 s", found.everybody < 60.0)]


def confusion_rows(repeats: int) -> list[Row]:
    found = fits.confusion_matrix()
    learners = len(fits.SIX)
    what = f"confusion matrix of {learners} learners x {fits.SIMULATED} simulated people x {fits.LENGTH} trials, two processes"
    said = f"{found.fits:,} fits, {100.0 * found.right:.0f} % right"
    return [Row(what, f"{found.seconds:.0f} s", "", said, "below 300 s", found.seconds < 300.0)]


def environment_rows(repeats: int) -> list[Row]:
    seconds = environments.command_seconds(3)
    what = f"`volatilis environment`, {environments.PEOPLE} people x {environments.TRIALS} trials, four unknown parameters"
    ours, by_hand = environments.searches(repeats)
    back, filtered = environments.looking_back(max(repeats, 15))
    nearer = f"; log evidence {ours.evidence - by_hand.evidence:+.2f} beside that by hand"
    return [
        Row(what, f"{seconds:.1f} s", "", "", "below 10 s", seconds < 10.0),
        Row(
            f"`vl.estimate`, {environments.TRIALS} observations, with intervals; ten lines by hand, without",
            f"{ours.seconds:.2f} s",
            f"{by_hand.seconds:.2f} s",
            times_as_fast(by_hand.seconds / ours.seconds) + nearer,
            "",
            None,
        ),
        at_most(f"`vl.changes`, {environments.LENGTH:,} observations, p_c 0.01; `vl.run`, every readout", back, filtered, 3),
    ]


START_UP = """
import json, sys, time
begin = time.perf_counter()
import volatilis as vl
vl.run, vl.Stream, vl.Gaussian, vl.Merge  # what is used is imported
imported = time.perf_counter()
heavy = [name for name in ("numba", "matplotlib", "pandas", "xarray", "scipy") if name in sys.modules]
family = vl.Gaussian(1.0)
start = time.perf_counter()
vl.run(vl.{learner}, [0.1, 0.2])
print(json.dumps(dict(imported=imported - begin, first_run=time.perf_counter() - start, heavy=heavy)))
"""
PAIRS = {"VarSMiLe": "VarSMiLe(family, 0.1)", "ExactBayes": "ExactBayes(family, 0.1)", "Merge": "Merge(family, 0.1, 20)"}


def start_up_rows(repeats: int) -> list[Row]:
    rows = []
    for name, text in PAIRS.items():
        with tempfile.TemporaryDirectory() as cache:
            cold = _fresh_process(text, cache)
            warm = [_fresh_process(text, cache) for _ in range(repeats)]
        loading = statistics.median(w["first_run"] for w in warm)
        rows += [
            Row(
                f"compile {name} x Gaussian, in a new process",
                f"{cold['first_run']:.2f} s",
                "",
                "",
                "at most 3 s",
                cold["first_run"] <= 3,
            ),
            Row("load it from the cache, in a new process", f"{loading:.3f} s", "", "", "at most 0.2 s", loading <= 0.2),
        ]
    imported = statistics.median(w["imported"] for w in warm)
    heavy = ", ".join(warm[0]["heavy"]) or "none of Numba, Matplotlib, pandas, xarray"
    rows.append(Row("import volatilis and use it", f"{imported:.3f} s", "", f"imports {heavy}", "none", not warm[0]["heavy"]))
    return rows


def _fresh_process(learner: str, cache: str) -> dict[str, Any]:
    environment = os.environ | {"VOLATILIS_CACHE_DIR": cache}
    code = START_UP.replace("{learner}", learner)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def kernel_rows(repeats: int) -> list[Row]:
    kernels.check()
    return [
        at_most(f"{learner} x {family}; hand-written kernel", result.library, result.kernel, 1.5)
        for (learner, family), result in kernels.ratios(repeats=repeats).items()
    ]


SECTIONS = (
    *(peer_rows, long_run_rows, world_rows, stream_rows, many_rows, table_rows, watch_rows),
    *(environment_rows, fit_rows, confusion_rows, start_up_rows, kernel_rows),
)


def markdown(rows: list[Row]) -> str:
    marks = {True: "yes", False: "**no**", None: ""}
    lines = ["| what; beside what | volatilis | the other | ratio | aim | reached |", "|---|---|---|---|---|---|"]
    return "\n".join([*lines, *(f"| {r.what} | {r.ours} | {r.other} | {r.ratio} | {r.aim} | {marks[r.reached]} |" for r in rows)])


def conditions() -> str:
    """How and with what it was measured."""
    versions = ", ".join(f"{name} {version}" for name, version in peers.versions().items())
    how = f"Times per observation, medians, one run on {os.cpu_count()} cores; lines/s are per second of processor time."
    return f"{how} {versions}."


def between_markers(path: pathlib.Path, text: str) -> None:
    before, rest = path.read_text(encoding="utf-8").split(START)
    _, after = rest.split(END)
    path.write_text(f"{before}{START}\n{text}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
