"""How often `volatilis predict` is wrong, and how often it tells what is there: people x trials x what the indicator reflects.

    python -m benchmarks.predict_calibration --repeats 2000 --store calibration --write

Data sets are judged by the rules of `volatilis.predictions`. `--store FOLDER` keeps finished data sets: a run that was stopped
goes on from there, and more `--repeats` add to it; 2,000 take about an hour of processor time. `--write` puts the tables into
docs/results/predict.md.
"""

from __future__ import annotations

import argparse
import contextlib
import pathlib
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from volatilis._core import sources
from volatilis._core.jobs import Processes, run_kept, worker_count
from volatilis._core.store import Store, digest
from volatilis.behaviour.design.experiment import believe_first, observed, verdicts
from volatilis.behaviour.design.setting import Setting, Shown
from volatilis.predictions.estimators import WindowSums, sums_first, sums_second
from volatilis.predictions.hypotheses import BAYES_FACTOR, CANNOT_BE_TOLD, CONFIRMED, CONTRADICTED, NO_PRIOR, SHANNON, TABLES
from volatilis.predictions.windows import OutcomeBeliefs

ROOT = pathlib.Path(__file__).parents[1]
PAGE = ROOT / "docs" / "results" / "predict.md"
START, END = "<!-- predict: start -->", "<!-- predict: end -->"
PEOPLE, TRIALS = (5, 10, 20, 40, 60), (50, 100, 200, 500)
TASKS = {"sigma = 0.5 sigma_0 (the paper's)": 0.5, "sigma = 10, sigma_0 = 87": 10.0 / 87.0}
TRUTHS = {"noise": None, "S_BF": BAYES_FACTOR, "log S_BF": BAYES_FACTOR, "S_Sh": SHANNON, "|error|": NO_PRIOR}
NOISE = 0.5  # of the indicator, in standard deviations of what it reflects, over the trials that prediction 1 selects
COLUMNS = [(truth, prediction) for truth, h in TRUTHS.items() for prediction in (1, 2) if h is None or h in TABLES[prediction]]


class Counts(NamedTuple):
    """column x trials x people: wrong, told (confirmed, or for noise nothing), and cannot be told, of one or more data sets."""

    wrong: np.ndarray
    confirmed: np.ndarray
    untold: np.ndarray


def data_set(sigma: float, number: int) -> np.ndarray:
    """One data set of the most people and trials for each truth; smaller ones are its first people, and their first trials."""
    setting = Setting(family=f"gaussian:sigma={sigma!r}", trials=TRIALS, subjects=PEOPLE)
    sums: dict[str, list[list[tuple[WindowSums, WindowSums]]]] = {truth: [[] for _ in TRIALS] for truth in TRUTHS}
    for seed in np.random.SeedSequence([12, number]).spawn(max(PEOPLE)):
        of_outcomes, of_learner, of_noise = seed.spawn(3)
        shown = setting.outcomes(of_outcomes, max(TRIALS))
        believed = believe_first(setting, shown, of_learner)
        rng = np.random.default_rng(of_noise)
        for truth in TRUTHS:
            indicator = reflected(truth, shown, believed, setting, rng)
            for i, trials in enumerate(TRIALS):
                seen = observed(setting, shown, believed, indicator, trials)
                sums[truth][i].append((sums_first(seen, setting.first_window), sums_second(seen, setting.second_window)))
    counts = np.zeros((3, len(COLUMNS), len(TRIALS), len(PEOPLE)))
    for truth, hypothesis in TRUTHS.items():
        for i in range(len(TRIALS)):
            for j, people in enumerate(PEOPLE):
                first, second = zip(*sums[truth][i][:people], strict=True)
                for prediction, words in verdicts(first, second, setting.level, with_powers=True).items():
                    if (truth, prediction) in COLUMNS:
                        counts[:, COLUMNS.index((truth, prediction)), i, j] = judged(words, hypothesis)
    return counts


def reflected(truth: str, shown: Shown, believed: OutcomeBeliefs, setting: Setting, rng: np.random.Generator) -> np.ndarray:
    """The indicator of one person."""
    y = shown.y
    noise = rng.standard_normal(y.size)
    if truth == "noise":
        return noise
    measures = {
        "S_BF": believed.bayes_factor,
        "log S_BF": believed.log_bayes_factor,
        "S_Sh": believed.shannon,
        "|error|": np.abs(y - believed.mean),
    }
    chosen = setting.first_window.masks(observed(setting, shown, believed, y)).any(axis=(0, 1))
    return np.asarray(measures[truth] + NOISE * float(measures[truth][chosen].std()) * noise)


def judged(words: Mapping[str, str], hypothesis: str | None) -> tuple[bool, bool, bool]:
    """Whether a prediction's verdicts are wrong, confirm the truth, and say that it cannot be told."""
    if hypothesis is None:
        wrong = not {CONFIRMED, CONTRADICTED}.isdisjoint(words.values())
        return wrong, False, set(words.values()) == {CANNOT_BE_TOLD}
    word = words[hypothesis]
    return word == CONTRADICTED, word == CONFIRMED, word == CANNOT_BE_TOLD


def simulate(repeats: int, workers: int | None, folder: str | None) -> dict[str, Counts]:
    """Task -> counts over all data sets."""
    results = {}
    for task, sigma in TASKS.items():
        calls = {str(number): (sigma, number) for number in range(repeats)}
        with contextlib.ExitStack() as stack:
            store = None if folder is None else stack.enter_context(_store(folder, sigma))
            queue = stack.enter_context(Processes(min(worker_count(workers), repeats)))
            parts = run_kept(queue, data_set, calls, store, lambda share, task=task: print(f"{task}: {share:.0%}", flush=True))
        results[task] = Counts(*np.sum([parts[key] for key in calls], axis=0))
    return results


def _store(folder: str, sigma: float) -> Store[np.ndarray]:
    shape = (3, len(COLUMNS), len(TRIALS), len(PEOPLE))
    return Store(
        pathlib.Path(folder) / f"calibration-{digest(sigma, PEOPLE, TRIALS, COLUMNS, NOISE)[:16]}.jsonl",
        sources.digest("volatilis.behaviour.design.experiment"),
        lambda counts: {"counts": counts.astype(int).tolist()},
        lambda entry: np.array(entry["counts"], dtype=float).reshape(shape),
    )


# --- tables --------------------------------------------------------------------------------------------------------------


def report(results: Mapping[str, Counts], repeats: int) -> str:
    """Tables of percentages for the docs."""
    error = 100 * float(np.sqrt(0.05 * 0.95 / repeats))
    command = f"python -m benchmarks.predict_calibration --repeats {repeats} --write"
    lines = [
        f"`{command}`: {repeats} data sets a cell; 5 % has a standard error of {error:.1f}.",
        "",
    ]
    for task, counts in results.items():
        worst = 100 * float(counts.wrong.max()) / repeats
        mean = 100 * float(counts.wrong.mean()) / repeats
        beyond = int(np.sum(100 * counts.wrong / repeats > 5 + 3 * error))
        lines += [
            f"**{task}: wrong, in %** (all cells: mean {mean:.1f}, largest {worst:.1f}; "
            f"{beyond} of {counts.wrong.size} beyond 5 % and three standard errors, {5 + 3 * error:.1f})",
            "",
            *_grid(counts.wrong, repeats, digits=1),
        ]
        lines += ["", f"**{task}: confirmed, in %**", "", *_grid(counts.confirmed, repeats, skip=("noise", "|error|"))]
        lines += ["", f"**{task}: cannot be told, in %**", "", *_grid(counts.untold, repeats), ""]
    return "\n".join(lines).strip()


def _grid(values: np.ndarray, repeats: int, skip: tuple[str, ...] = (), digits: int = 0) -> list[str]:
    """A row per size of the data, a column per truth and prediction."""
    used = [
        k
        for k, (truth, prediction) in enumerate(COLUMNS)
        if truth not in skip and not (skip and prediction == 2 and TRUTHS[truth] == BAYES_FACTOR)
    ]
    heads = [f"{COLUMNS[k][0].replace('|', chr(92) + '|')}, {COLUMNS[k][1]}" for k in used]
    lines = [f"| people | trials | {' | '.join(heads)} |", f"|{'---|' * (len(used) + 2)}"]
    for j, people in enumerate(PEOPLE):
        for i, trials in enumerate(TRIALS):
            cells = [f"{100 * values[k, i, j] / repeats:.{digits}f}" for k in used]
            lines.append(f"| {people} | {trials} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--store", default=None)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    text = report(simulate(options.repeats, options.workers, options.store), options.repeats)
    print(text)
    if options.write:
        page = PAGE.read_text(encoding="utf-8")
        before, _, rest = page.partition(START)
        after = rest.partition(END)[2]
        PAGE.write_text(f"{before}{START}\n{text}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
