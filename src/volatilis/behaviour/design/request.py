"""`volatilis design`: from a setting to the power of its designs and a chosen sequence, written and shown."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from volatilis._core.terminal import console_of, table
from volatilis.behaviour.design.experiment import FINDINGS, MISTAKES, ONE, UNTOLD
from volatilis.behaviour.design.power import Power, Smallest, power, smallest
from volatilis.behaviour.design.sequences import CRITERIA, Chosen, choose
from volatilis.behaviour.design.setting import Setting, check
from volatilis.tables import save_figure, write_columns

if TYPE_CHECKING:
    from rich.console import Console

DPI = 110
WANTED = (0.8, 0.9)
NO_TEST = 0.5  # the share of experiments without a test from which a design cannot answer
MOST_PEOPLE = 0.9  # a share of people from which a learner is told person by person
CRITERION_WORDS = {
    "apart": "S_BF apart from S_Sh",
    "first": "pairs for prediction 1",
    "second": "spread of p for prediction 2",
}


class DesignRequest(NamedTuple):
    """What is computed, and how, by `volatilis design`.

    setting      what the power depends on
    repeats      simulated experiments
    workers      processes; None: one per core
    store        a folder that keeps finished experiments
    choose       whether to choose a sequence of outcomes too, and to compute the power with it
    candidates   random sequences to choose from
    tries        attempts to improve the best one

    >>> from volatilis.behaviour import DesignRequest, Setting
    >>> DesignRequest(Setting(p_c=0.05, trials=(200,)), repeats=50).setting.trials
    (200,)
    """

    setting: Setting
    repeats: int = 200
    workers: int | None = None
    store: str | None = None
    choose: bool = False
    candidates: int = 200
    tries: int = 1000


class DesignResult(NamedTuple):
    """Powers by kind of sequence (random, chosen), and the sequence that was chosen, if one was requested."""

    powers: dict[str, Power]
    chosen: Chosen | None


def design(request: DesignRequest, progress: Callable[[str, float], None] = lambda what, share: None) -> DesignResult:
    """Compute everything; `progress(what, share)` is called in each part."""
    check(request.setting)
    chosen: Chosen | None = None
    settings = {"random": request.setting}
    if request.choose:
        chosen = choose(request.setting, request.candidates, request.tries, partial(progress, "choosing a sequence"))
        settings["chosen"] = request.setting._replace(sequence=tuple(float(y) for y in chosen.sample.y))
    powers = {}
    for kind, setting in settings.items():
        report = partial(progress, f"experiments, {kind} sequences")
        powers[kind] = power(setting, request.repeats, request.workers, request.store, report)
    return DesignResult(powers, chosen)


def write(result: DesignResult, out: str | None = None, sequence: str | None = None, plot: str | None = None) -> None:
    """Powers in `out`, the chosen sequence in `sequence`, a picture in `plot`; each file is whole or not there."""
    if result.chosen is not None and sequence is not None:
        _write_sequence(sequence, result.chosen)
    if out is not None:
        _write_power(out, result.powers)
    if plot is not None:
        from volatilis.plots.design import draw

        save_figure(draw(result.powers, result.chosen), plot, DPI)


def _write_power(path: str | os.PathLike[str], powers: Mapping[str, Power]) -> None:
    """One row per kind of sequence (random, chosen), finding, number of subjects and number of trials."""
    columns: dict[str, list[Any]] = {name: [] for name in ("sequence", "finding", "subjects", "trials", "repeats")}
    shares: dict[str, list[float]] = {"share": [], "low": [], "high": []}
    for kind, result in powers.items():
        for k, finding in enumerate(result.findings):
            for i, trials in enumerate(result.setting.trials):
                for j, subjects in enumerate(result.setting.subjects):
                    for name, value in zip(columns, (kind, finding, subjects, trials, result.repeats), strict=True):
                        columns[name].append(value)
                    for name, values in shares.items():
                        values.append(float(getattr(result, name)[k, i, j]))
    write_columns(path, {**columns, **shares})


def _write_sequence(path: str | os.PathLike[str], chosen: Chosen) -> None:
    """One row a trial, as `volatilis run` reads it."""
    sample = chosen.sample
    columns: dict[str, Any] = {"trial": list(range(1, len(sample.y) + 1))}
    columns |= {"outcome": np.asarray(sample.y, dtype=float).tolist(), "mean": np.asarray(sample.theta, dtype=float).tolist()}
    write_columns(path, columns | {"changed": [int(changed) for changed in sample.changed]})


def show(result: DesignResult, stderr: bool = False) -> None:
    """Print the powers, the smallest designs, what the findings mean, and how a chosen sequence compares."""
    console = console_of(stderr=stderr)
    for kind, one in result.powers.items():
        _show_power(kind, one, console)
        _show_unanswered(one, console)
        _show_smallest(kind, one, console)
        _show_single(one, console)
    _show_words(next(iter(result.powers.values())), console)
    if result.chosen is not None:
        _show_sequence(result.chosen, console)


def _show_power(kind: str, result: Power, console: Console) -> None:
    """A row per finding and number of trials, a column per number of subjects."""
    setting = result.setting
    widest = float(np.max(result.high - result.low)) / 2.0
    console.print()
    console.print(
        f"[bold]Power with {kind} sequences[/bold], {result.repeats} experiments each; 95 % intervals at most ± {widest:.2f}",
        soft_wrap=True,
    )
    for heading, mistakes in (("finding", False), ("mistake", True)):
        shown = table("lr" + "r" * len(setting.subjects), (heading, "trials", *(f"{n} people" for n in setting.subjects)))
        for name, shares in zip(result.findings, result.share, strict=True):
            untold = _without_test(result, name)
            for i, trials in enumerate(setting.trials if name not in UNTOLD and (name in MISTAKES) == mistakes else ()):
                cells = ("-" if none else f"{share:.2f}" for share, none in zip(shares[i], untold[i], strict=True))
                shown.add_row(name if i == 0 else "", str(trials), *cells)
        console.print(shown)


def _without_test(result: Power, finding: str) -> np.ndarray:
    """trials x subjects: whether most experiments of the design have too little data for a test of the finding's prediction."""
    name = f"{finding.partition(',')[0]}, no test"
    shape = (len(result.setting.trials), len(result.setting.subjects))
    return result.share[result.findings.index(name)] > NO_TEST if name in UNTOLD else np.zeros(shape, dtype=bool)


def _show_unanswered(result: Power, console: Console) -> None:
    """Which designs cannot answer."""
    setting = result.setting
    for name in UNTOLD:
        designs = [
            f"{subjects} people x {setting.trials[i]} trials"
            for i, row in enumerate(_without_test(result, name))
            for subjects, none in zip(setting.subjects, row, strict=True)
            if none
        ]
        if designs:
            prediction = name.partition(",")[0]
            few = "most such experiments have too few people or usable trials"
            text = f"{prediction} cannot be told with {', '.join(designs)}: {few}"
            console.print(f"[yellow]{text} (-)[/yellow]", soft_wrap=True)


def _show_smallest(kind: str, result: Power, console: Console) -> None:
    designs = table("l" + "l" * len(WANTED), (f"smallest design ({kind})", *(f"{100 * wanted:g} %" for wanted in WANTED)))
    columns = [smallest(result, wanted) for wanted in WANTED]
    largest = "none of these"
    for k, name in enumerate(result.findings):
        if name not in MISTAKES and name not in UNTOLD and not name.startswith(ONE):
            reached = [column[k] for column in columns]
            sizes = (largest if one is None else f"{one.subjects} people x {one.trials} trials" for one in reached)
            designs.add_row(name, *sizes)
    console.print(designs)


def _show_single(result: Power, console: Console) -> None:
    """What the smallest designs tell of learners is about the group: how many single people they tell."""
    designs = {one.finding.removeprefix("learner "): one for one in smallest(result, WANTED[0]) if one is not None}
    for label, design in designs.items():
        if f"{ONE}{label}" in result.findings and (share := _of_one(result, label, design)) < MOST_PEOPLE:
            size = f"{design.subjects} people x {design.trials} trials"
            text = f"{size} tell {label} from the others as a group only: of single people who learn so, {100 * share:.0f} %"
            console.print(f"[yellow]{text} are best described by it. Conclude nothing about one person.[/yellow]", soft_wrap=True)
    if designs.keys() & {name.removeprefix(ONE) for name in result.findings} and not result.setting.fit:
        text = "Learners are scored at the best of a grid of parameters; --fit searches them, as volatilis fit does"
        console.print(f"[yellow]{text}.[/yellow]", soft_wrap=True)


def _of_one(result: Power, label: str, design: Smallest) -> float:
    """The share of single people that a design tells."""
    place = (result.setting.trials.index(design.trials), result.setting.subjects.index(design.subjects))
    return float(result.share[result.findings.index(f"{ONE}{label}")][place])


def _show_words(result: Power, console: Console) -> None:
    """What the findings and the numbers mean."""
    setting = result.setting
    console.print()
    for name, words in FINDINGS.items():
        console.print(f"{name}: {words}", soft_wrap=True)
    if len(setting.learners) > 1:
        samples = [label for label, tried in zip(setting.labels(), setting.tried(), strict=True) if not tried]
        score = "-BIC / 2 of fitted candidates" if setting.fit else "-BIC / 2 of candidates, their parameters the best of a grid"
        meaning = "people learn as X, and X beats every other candidate"
        words = f"learner X: {meaning}: the interval of the difference in {score} is above 0"
        console.print(words, soft_wrap=True)
        console.print(f"{ONE}X: of single people who learn as X, the share for whom X has the highest {score}", soft_wrap=True)
        if samples and not setting.fit:
            what = (
                f"{', '.join(samples)}: a learner that samples keeps the parameters given, which is generous to it and its rivals"
            )
            console.print(f"[yellow]{what}; --fit searches them[/yellow]", soft_wrap=True)


def _show_sequence(chosen: Chosen, console: Console) -> None:
    """The chosen sequence against the random ones."""
    console.print()
    middle = f"best of {len(chosen.scores)} random sequences, then {chosen.improvements} stretches redrawn"
    console.print(f"[bold]Chosen sequence[/bold] of {len(chosen.sample.y)} outcomes: {middle}", soft_wrap=True)
    criteria = table("lrrrrr", ("criterion", "chosen", "random", "95 % of them", "best", "gain"))
    for k, name in enumerate(CRITERIA):
        value, random = float(chosen.criteria[k]), chosen.random[:, k]
        low, median, high = np.quantile(random, (0.025, 0.5, 0.975))
        ratio = f"x {value / median:.2g}" if median > 0.0 else ""
        numbers = (f"{value:.3g}", f"{median:.3g}", f"{low:.3g} to {high:.3g}", f"{random.max():.3g}", ratio)
        criteria.add_row(CRITERION_WORDS[name], *numbers)
    console.print(criteria)
    y, theta = chosen.sample.y, chosen.sample.theta[chosen.sample.changed]
    summary = f"{theta.size} stretches; means {theta.mean():.3g} ± {theta.std():.3g}, outcomes {y.mean():.3g} ± {y.std():.3g}"
    console.print(f"{summary} (mean ± SD)", soft_wrap=True)
