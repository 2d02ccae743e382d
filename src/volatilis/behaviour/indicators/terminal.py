"""What `volatilis predict` shows: estimates and verdicts, then what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from volatilis._core.terminal import console_of, table
from volatilis.behaviour.indicators.analysis import Analysis
from volatilis.predictions.estimators import ADJUSTED, ESTIMATORS
from volatilis.predictions.hypotheses import NO_PRIOR, SHANNON, Row

if TYPE_CHECKING:
    from rich.console import Console

SHOWN = 8  # notes on single people
SIGN_WORDS = {-1: "< 0", 0: "= 0", 1: "> 0"}


def show(found: Analysis, indicator: str, console: Console | None = None) -> None:
    console = console or console_of()
    trials = sum(person.indicator.size for person in found.people)
    own = "their own predictions and confidence" if found.people[0].measured else "the learner's estimate and uncertainty"
    everyone = "1 person" if len(found.people) == 1 else f"{len(found.people)} people"
    console.print(f"{everyone}, {trials:,} trials, indicator {indicator!r}; prediction 1 selects by {own}", soft_wrap=True)
    _show_values(found, console)
    for prediction in (1, 2) if found.second else (1,):
        _show_estimates(found, prediction, console)
    if alike_without_prior(found):
        told = "A slope < 0 in prediction 2 is also what follows from |error| alone, and prediction 1 does not refuse that"
        console.print(f"[yellow]{told}: the prior is not used.[/yellow]", soft_wrap=True)
    _show_notes(found, console)


def alike_without_prior(found: Analysis) -> bool:
    """Prediction 2 alone does not tell Shannon's surprise from one that ignores the prior; prediction 1 does."""
    if not found.second or found.verdicts(2).get(SHANNON) != "confirmed":
        return False
    return found.verdicts(1)[NO_PRIOR] != "contradicted"


def _show_values(found: Analysis, console: Console) -> None:
    if not found.values:
        return
    names = next(iter(found.values.values())).keys()
    middles = []
    for name in names:
        low, middle, high = np.quantile([own[name] for own in found.values.values()], (0.25, 0.5, 0.75))
        middles.append(f"{name} {middle:.3g} ({low:.3g} to {high:.3g})")
    console.print(f"fitted, median and middle half of people: {', '.join(middles)}", soft_wrap=True)


def _show_estimates(found: Analysis, prediction: int, console: Console) -> None:
    rows = [row for row in found.rows if row.prediction == prediction]
    trials = (found.first if prediction == 1 else found.second)[ADJUSTED].trials
    what = "s = +1 less s = -1, and its slope over |error|" if prediction == 1 else "slope over p"
    counts = f"{trials.min():,}" if trials.min() == trials.max() else f"{trials.min():,} to {trials.max():,}"
    selected = f"{counts} trials a person were selected"
    console.print()
    console.print(f"[bold]Prediction {prediction}[/bold]: {what}. {selected}", soft_wrap=True)
    headings = ("quantity", "estimator", "mean", f"{100 * found.level:g} % interval", "p", "p (flips)", "people")
    estimates = table("llrrrrr", headings)
    for row in _distinct(rows):
        own = row.group
        interval = "" if np.isnan(own.low) else f"{own.low:.3g} to {own.high:.3g}"
        tests = ["" if np.isnan(p) else f"{p:.2g}" for p in (own.p, own.p_flip)]
        estimates.add_row(row.quantity, row.estimator, f"{own.value:.3g}", interval, *tests, str(own.people))
    console.print(estimates)
    verdicts = table("llll", ("hypothesis", "predicts", "verdict", "(paper)"))
    adjusted, paper = (found.verdicts(prediction, name) for name in reversed(ESTIMATORS))
    for hypothesis, word in adjusted.items():
        signs = [
            f"{r.quantity} {SIGN_WORDS[r.predicted]}" for r in rows if r.hypothesis == hypothesis and r.estimator == ADJUSTED
        ]
        verdicts.add_row(hypothesis.removeprefix("the indicator "), ", ".join(signs), f"[bold]{word}[/bold]", paper[hypothesis])
    console.print(verdicts)


def _distinct(rows: Sequence[Row]) -> list[Row]:
    """One row per quantity and estimator; hypotheses share them."""
    return list({(row.quantity, row.estimator): row for row in rows}.values())


def _show_notes(found: Analysis, console: Console) -> None:
    notes = [*found.notes, *(f"{name}: left out: {reason}" for name, reason in found.refused.items())]
    if notes:
        console.print()
    for note in notes[:SHOWN]:
        console.print(f"[yellow]-[/yellow] {note}", soft_wrap=True)
    if len(notes) > SHOWN:
        console.print(f"[yellow]-[/yellow] and {len(notes) - SHOWN} more notes of this kind", soft_wrap=True)
