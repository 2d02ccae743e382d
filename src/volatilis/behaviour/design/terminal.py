"""What `volatilis design` shows: powers over the grid, the smallest designs, how a chosen sequence compares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from volatilis._core.terminal import table
from volatilis.behaviour.design.power import Power, smallest
from volatilis.behaviour.design.repetition import FINDINGS
from volatilis.behaviour.design.sequences import CRITERIA, Chosen

if TYPE_CHECKING:
    from rich.console import Console

WANTED = (0.8, 0.9)
MISTAKE = "prediction 2, S_BF refused"
CRITERION_WORDS = {
    "apart": "S_BF apart from S_Sh",
    "first": "pairs for prediction 1",
    "second": "p's for prediction 2",
}


def show_power(kind: str, found: Power, console: Console) -> None:
    """A row per finding and number of trials, a column per number of subjects."""
    setting = found.setting
    widest = float(np.max(found.high - found.low)) / 2.0
    console.print()
    console.print(
        f"[bold]Power with {kind} sequences[/bold], {found.repeats} experiments each; 95 % intervals at most ± {widest:.2f}",
        soft_wrap=True,
    )
    powers = table("lr" + "r" * len(setting.subjects), ("finding", "trials", *(f"{n} people" for n in setting.subjects)))
    for name, shares in zip(found.findings, found.share, strict=True):
        for i, trials in enumerate(setting.trials):
            powers.add_row(name if i == 0 else "", str(trials), *(f"{share:.2f}" for share in shares[i]))
    console.print(powers)


def show_smallest(kind: str, found: Power, console: Console) -> None:
    designs = table("l" + "l" * len(WANTED), (f"smallest design ({kind})", *(f"{100 * wanted:g} %" for wanted in WANTED)))
    columns = [smallest(found, wanted) for wanted in WANTED]
    largest = "none of these"
    for k, name in enumerate(found.findings):
        if name != MISTAKE:
            reached = [column[k] for column in columns]
            sizes = (largest if one is None else f"{one.subjects} people x {one.trials} trials" for one in reached)
            designs.add_row(name, *sizes)
    console.print(designs)


def show_words(found: Power, console: Console) -> None:
    """What the findings and the numbers mean."""
    setting = found.setting
    console.print()
    for name, words in FINDINGS.items():
        console.print(f"{name}: {words}", soft_wrap=True)
    if len(setting.learners) > 1:
        how = "-BIC / 2 of fitted candidates" if setting.fit else "log likelihood at people's parameters (generous; --fit is not)"
        words = f"learner X: people are X, and X beats every other candidate: the interval over people of the difference in {how}"
        console.print(words, soft_wrap=True)


def show_sequence(chosen: Chosen, console: Console) -> None:
    """The chosen sequence against the random ones."""
    console.print()
    middle = f"best of {len(chosen.scores)} random sequences, then {chosen.improvements} stretches drawn anew"
    console.print(f"[bold]Chosen sequence[/bold] of {len(chosen.sample.y)} outcomes: {middle}", soft_wrap=True)
    criteria = table("lrrrrr", ("criterion", "chosen", "random", "95 % of them", "best", "gain"))
    for k, name in enumerate(CRITERIA):
        own, random = float(chosen.criteria[k]), chosen.random[:, k]
        low, median, high = np.quantile(random, (0.025, 0.5, 0.975))
        ratio = f"x {own / median:.2g}" if median > 0.0 else ""
        numbers = (f"{own:.3g}", f"{median:.3g}", f"{low:.3g} to {high:.3g}", f"{random.max():.3g}", ratio)
        criteria.add_row(CRITERION_WORDS[name], *numbers)
    console.print(criteria)
    y, theta = chosen.sample.y, chosen.sample.theta[chosen.sample.changed]
    summary = f"{theta.size} stretches; means {theta.mean():.3g} ± {theta.std():.3g}, outcomes {y.mean():.3g} ± {y.std():.3g}"
    console.print(f"{summary} (mean ± SD)", soft_wrap=True)


def show(powers: Mapping[str, Power], chosen: Chosen | None, console: Console) -> None:
    for kind, found in powers.items():
        show_power(kind, found, console)
        show_smallest(kind, found, console)
    show_words(next(iter(powers.values())), console)
    if chosen is not None:
        show_sequence(chosen, console)
