"""What `volatilis separate` shows: tables of pairs, regressors and selections, and the advice."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from volatilis._core.terminal import printed_at_once, table
from volatilis.separation.advice import (
    IDENTICAL,
    NEARLY,
    RESTS_ON_FEW,
    SHAPE,
    TOO_FEW,
    YES,
    advice,
    correlation,
    listed,
    verdict,
)
from volatilis.separation.relations import Inflation
from volatilis.separation.selections import Selected
from volatilis.separation.study import Separation
from volatilis.tables import counted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table

COLOURS = {YES: "green", IDENTICAL: "red", SHAPE: "red", NEARLY: "yellow", TOO_FEW: "yellow", RESTS_ON_FEW: "yellow"}
MOST_PAIRS = 15


def show(separation: Separation, only_advice: bool) -> None:
    """On standard output."""
    with printed_at_once() as console:
        if not only_advice:
            _show_tables(console, separation)
            console.print("[bold]Advice[/bold]")
        for sentence in advice(separation):
            console.print(_bullet(sentence))


def _show_tables(console: Console, separation: Separation) -> None:
    console.print(_heading(separation))
    console.print(_regressors(separation))
    console.print(_pairs(separation))
    _show_selections(console, separation)


def _bullet(sentence: str) -> Padding:
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    line = Table.grid(padding=(0, 1))
    line.add_row("-", Text(sentence))
    return Padding(line, (0, 0, 0, 0))


def _heading(separation: Separation) -> str:
    without = separation.rows - separation.trials
    left_out = f", {without:,} rows without an outcome left out" if without else ""
    lines = [f"{separation.trials:,} trials in {counted(separation.runs, 'run')}{left_out}; all is centred within runs"]
    lines += [f"[yellow]{name}[/yellow] {reason}: set aside" for name, reason in separation.regressors.aside]
    return "\n".join(lines)


def _regressors(separation: Separation) -> Table:
    names = separation.regressors.names
    several = len({column.label for column in separation.regressors.columns}) > 1
    factor_headings = ("VIF in its learner", *(["VIF among all"] if several else []))
    headings = ("regressor", "worth, trials", *factor_headings, "depends on")
    regressors = table("l" + "r" * (len(headings) - 2) + "l", headings, title="Regressors")
    for i, name in enumerate(names):
        within, among = separation.own_inflations[i], separation.inflations[i]
        factors = [_factor(within), *([_factor(among)] if several else [])]
        depends = ", ".join(names[k] for k in (within.depends_on or among.depends_on))
        regressors.add_row(name, f"{separation.tails[i].effective:,.0f}", *factors, depends)
    return regressors


def _pairs(separation: Separation) -> Table:
    names = separation.regressors.names
    closest = sorted(separation.pairs, key=lambda pair: -abs(pair.pearson))
    left_out = len(closest) - MOST_PAIRS
    more = f", the closest {MOST_PAIRS} of {len(closest)}; --out writes all" if left_out > 0 else ""
    headings = ("", "", "Pearson", "Spearman", "carried by", "90 % in", "needed", "told apart?")
    pairs = table("llrrrrrl", headings, title=f"Pairs{more}")
    for pair in closest[:MOST_PAIRS]:
        answer = verdict(separation, pair)
        needed = "-" if math.isinf(pair.needed) else f"{pair.needed:,.0f}"
        pairs.add_row(
            names[pair.first],
            names[pair.second],
            correlation(pair.pearson),
            correlation(pair.spearman),
            f"{pair.effective:,.0f}",
            f"{pair.most:,}",
            needed,
            f"[{COLOURS[answer]}]{answer}[/]",
        )
    return pairs


def _show_selections(console: Console, separation: Separation) -> None:
    reasons = dict.fromkeys(reason for _, reason in separation.unselected)
    for reason in reasons:
        labels = listed([label for label, why in separation.unselected if why == reason])
        console.print(f"The paper's predictions with {labels}: none, since {reason}.")
    if not separation.selected:
        return
    window, second_window = separation.request.first_window, separation.request.second_window
    distance = f"prediction {window.prediction:g} ± {window.prediction_width:g} from the prior mean"
    first = [s for s in separation.selected if s.prediction == 1]
    second = [s for s in separation.selected if s.prediction == 2]
    console.print("[bold]Prediction 1[/bold]: trials of either sign bias; all in units of sigma_0")
    console.print(f"{distance}, {_alike(separation)}, error delta ± {window.error_width:g}")
    console.print(_first(first, separation.selected_labels))
    console.print("[bold]Prediction 2[/bold]: trials whose outcome has the probability p under belief and prior")
    console.print(f"p ± {second_window.p_width:g}, as a density per sigma_0")
    console.print(_second(second, separation.selected_labels))


def _alike(separation: Separation) -> str:
    """What counts as the same confidence."""
    window, confidence = separation.request.first_window, separation.request.confidence
    if confidence is None:
        return f"spread {window.spread:g} ± {window.spread_width:g} {window.side} the outcome"
    if window.confidence is None:
        return f"{confidence} {window.side} the outcome in the middle 80 % of its run"
    return f"{confidence} {window.confidence[0]:g} to {window.confidence[1]:g} {window.side} the outcome"


def _first(selected: list[Selected], labels: list[str]) -> Table:
    """With one learner its average surprises too; with several, numbers of trials."""
    if len(labels) > 1:
        counts = _numbers("delta", *(f"{label} +/-" for label in labels))
        for at in dict.fromkeys(s.at for s in selected):
            both = [[f"{s.trials:,}" for s in selected if s.label == label and s.at == at] for label in labels]
            counts.add_row(f"{at:g}", *(" / ".join(signs) for signs in both))
        return counts
    means = _numbers("delta", "trials +", "trials -", "runs +", "runs -", "S_BF +", "S_BF -", "Shannon +", "Shannon -")
    for plus, minus in zip(selected[::2], selected[1::2], strict=True):
        counted = (plus.trials, minus.trials, plus.runs, minus.runs)
        surprises = (plus.bayes_factor, minus.bayes_factor, plus.shannon, minus.shannon)
        means.add_row(f"{plus.at:g}", *(f"{n:,}" for n in counted), *map(_mean, surprises))
    return means


def _second(selected: list[Selected], labels: list[str]) -> Table:
    if len(labels) > 1:
        counts = _numbers("p", *labels)
        for at in dict.fromkeys(s.at for s in selected):
            counts.add_row(f"{at:g}", *(f"{s.trials:,}" for s in selected if s.at == at))
        return counts
    means = _numbers("p", "trials", "runs", "S_BF", "Shannon")
    for one in selected:
        means.add_row(f"{one.at:g}", f"{one.trials:,}", f"{one.runs:,}", _mean(one.bayes_factor), _mean(one.shannon))
    return means


def _numbers(*headings: str) -> Table:
    return table("r" * len(headings), headings)


def _factor(inflation: Inflation) -> str:
    if math.isinf(inflation.factor):
        return "infinite"
    return f"{inflation.factor:,.1f}" if inflation.factor < 1e5 else f"{inflation.factor:.0e}".replace("e+0", "e")


def _mean(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3g}"
