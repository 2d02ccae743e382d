"""What `volatilis separate` shows: tables of pairs, regressors and selections, and the advice."""

from __future__ import annotations

import math
import sys
from typing import Any

from volatilis.separation.advice import (
    IDENTICAL,
    NEARLY,
    RESTS_ON_FEW,
    SHAPE,
    TOO_FEW,
    YES,
    advice,
    correlation,
    count,
    listed,
    verdict,
)
from volatilis.separation.relations import Inflation
from volatilis.separation.selections import Selected
from volatilis.separation.study import Separation
from volatilis.tables import standard_output

COLOURS = {YES: "green", IDENTICAL: "red", SHAPE: "red", NEARLY: "yellow", TOO_FEW: "yellow", RESTS_ON_FEW: "yellow"}
MOST_PAIRS = 15
PLAIN_WIDTH = 118  # where there is no terminal


def show(separation: Separation, only_advice: bool) -> None:
    """On standard output, at once: Rich would end the program itself where the reader of a pipe has gone away."""
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=PLAIN_WIDTH)
    with console.capture() as captured:
        if not only_advice:
            _show_tables(console, separation)
            console.print("[bold]Advice[/bold]")
        for sentence in advice(separation):
            console.print(_bullet(sentence))
    with standard_output() as stream:
        stream.write(captured.get().encode(sys.stdout.encoding, "replace"))


def _show_tables(console: Any, separation: Separation) -> None:
    console.print(_heading(separation))
    console.print(_regressors(separation))
    console.print(_pairs(separation))
    _show_selections(console, separation)


def _bullet(sentence: str) -> Any:
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    line = Table.grid(padding=(0, 1))
    line.add_row("-", Text(sentence))
    return Padding(line, (0, 0, 0, 0))


def _heading(separation: Separation) -> str:
    without = separation.rows - separation.trials
    left_out = f", {without:,} rows without an outcome left out" if without else ""
    lines = [f"{separation.trials:,} trials in {count(separation.runs, 'run')}{left_out}; all is centred within runs"]
    lines += [f"[yellow]{name}[/yellow] {reason}: set aside" for name, reason in separation.regressors.aside]
    return "\n".join(lines)


def _regressors(separation: Separation) -> Any:
    names = separation.regressors.names
    several = len({column.label for column in separation.regressors.columns}) > 1
    table = _table("Regressors", "regressor")
    _numbers(table, "worth, trials", "VIF in its learner", *(["VIF among all"] if several else []))
    table.add_column("depends on")
    for i, name in enumerate(names):
        own, whole = separation.own_inflations[i], separation.inflations[i]
        factors = [_factor(own), *([_factor(whole)] if several else [])]
        depends = ", ".join(names[k] for k in (own.depends_on or whole.depends_on))
        table.add_row(name, f"{separation.tails[i].effective:,.0f}", *factors, depends)
    return table


def _pairs(separation: Separation) -> Any:
    names = separation.regressors.names
    closest = sorted(separation.pairs, key=lambda pair: -abs(pair.pearson))
    left_out = len(closest) - MOST_PAIRS
    more = f", the closest {MOST_PAIRS} of {len(closest)}; --out writes all" if left_out > 0 else ""
    table = _table(f"Pairs{more}")
    for _ in range(2):
        table.add_column("", overflow="fold")
    _numbers(table, "Pearson", "Spearman", "carried by", "90 % in", "needed")
    table.add_column("told apart?")
    for pair in closest[:MOST_PAIRS]:
        found = verdict(separation, pair)
        needed = "-" if math.isinf(pair.needed) else f"{pair.needed:,.0f}"
        table.add_row(
            names[pair.first],
            names[pair.second],
            correlation(pair.pearson),
            correlation(pair.spearman),
            f"{pair.effective:,.0f}",
            f"{pair.most:,}",
            needed,
            f"[{COLOURS[found]}]{found}[/]",
        )
    return table


def _show_selections(console: Any, separation: Separation) -> None:
    reasons = dict.fromkeys(reason for _, reason in separation.unselected)
    for reason in reasons:
        labels = listed([label for label, own in separation.unselected if own == reason])
        console.print(f"The paper's predictions with {labels}: none, since {reason}.")
    if not separation.selected:
        return
    window, confidence = separation.question.window, separation.question.confidence
    middle, width = next(iter(separation.spread_windows.values()))
    alike = f"{confidence or 'spread'} {middle:g} ± {width:g}"
    distance = f"prediction {window.theta:g} ± {window.theta_width:g} from the prior mean"
    first = [s for s in separation.selected if s.prediction == 1]
    second = [s for s in separation.selected if s.prediction == 2]
    console.print("[bold]Prediction 1[/bold]: trials of either sign bias; all in units of sigma_0")
    console.print(f"{distance}, {alike}, error delta ± {window.delta_width:g}")
    console.print(_first(first, list(separation.spread_windows)))
    console.print("[bold]Prediction 2[/bold]: trials whose outcome has the probability p under belief and prior")
    console.print(f"p ± {window.p_width:g}, as a density per sigma_0")
    console.print(_second(second, list(separation.spread_windows)))


def _first(selected: list[Selected], labels: list[str]) -> Any:
    """With one learner its average surprises too; with several, numbers of trials."""
    table = _table("")
    if len(labels) > 1:
        _numbers(table, "delta", *(f"{label} +/-" for label in labels))
        for at in dict.fromkeys(s.at for s in selected):
            own = [[f"{s.trials:,}" for s in selected if s.label == label and s.at == at] for label in labels]
            table.add_row(f"{at:g}", *(" / ".join(both) for both in own))
        return table
    _numbers(table, "delta", "trials +", "trials -", "runs +", "runs -", "S_BF +", "S_BF -", "Shannon +", "Shannon -")
    for plus, minus in zip(selected[::2], selected[1::2], strict=True):
        counts = (plus.trials, minus.trials, plus.runs, minus.runs)
        means = (plus.bayes_factor, minus.bayes_factor, plus.shannon, minus.shannon)
        table.add_row(f"{plus.at:g}", *(f"{n:,}" for n in counts), *map(_mean, means))
    return table


def _second(selected: list[Selected], labels: list[str]) -> Any:
    table = _table("")
    if len(labels) > 1:
        _numbers(table, "p", *labels)
        for at in dict.fromkeys(s.at for s in selected):
            table.add_row(f"{at:g}", *(f"{s.trials:,}" for s in selected if s.at == at))
        return table
    _numbers(table, "p", "trials", "runs", "S_BF", "Shannon")
    for one in selected:
        table.add_row(f"{one.at:g}", f"{one.trials:,}", f"{one.runs:,}", _mean(one.bayes_factor), _mean(one.shannon))
    return table


def _table(title: str, *columns: str) -> Any:
    from rich import box
    from rich.table import Table

    return Table(*columns, title=title or None, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)


def _numbers(table: Any, *names: str) -> None:
    for name in names:
        table.add_column(name, justify="right")


def _factor(inflation: Inflation) -> str:
    if math.isinf(inflation.factor):
        return "infinite"
    return f"{inflation.factor:,.1f}" if inflation.factor < 1e5 else f"{inflation.factor:.0e}".replace("e+0", "e")


def _mean(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3g}"
