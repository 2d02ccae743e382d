"""What `volatilis fit` shows, on standard error, since the table may go to standard output."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from volatilis._core.terminal import console_of, plain, table
from volatilis.behaviour.fitting.fit import Fit
from volatilis.behaviour.fitting.fit_table import FitResult, prior_texts
from volatilis.behaviour.fitting.hierarchy import Group
from volatilis.behaviour.fitting.jobs import Failure

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.table import Table

SHOWN = 8  # people who are listed one by one


def show(result: FitResult, *outputs: str) -> None:
    """Print medians, sums and, for single people, what a reader must know; `outputs` are the files that were written."""
    console = console_of(stderr=True)
    people = len(result.people.persons)
    where = "".join(f" -> {out}" for out in outputs if out != "-")
    models = "1 model" if len(result.models) == 1 else f"{len(result.models)} models"
    console.print(f"{people:,} people, {models}{where}", soft_wrap=True)
    console.print(_table(result))
    for line in _totals(result):
        console.print(line, soft_wrap=True)
    for name, text in prior_texts(result.request, result.models, result.people).items():
        console.print(f"prior of {name}: {text}", soft_wrap=True)
    for group in result.groups:
        if not group.converged:
            text = f"{group.label}: the group's mean or spread still changed after {group.rounds} rounds"
            console.print(f"[yellow]{text}[/yellow]", soft_wrap=True)
        alike = ", ".join(group.alike)
        if alike:
            text = f"{group.label}: no difference between people was found in {alike}; the intervals assume that there is none"
            console.print(f"[yellow]{text}[/yellow]", soft_wrap=True)
    _show_people(console, result)


def _table(result: FitResult) -> Table:
    of_group = ("group", "shrinkage") if result.groups else ()
    rows: list[tuple[str, ...]] = []
    frame = result.table()
    for k, model in enumerate(result.models):
        fits = frame[frame.model == model.label]
        if fits.log_likelihood.isna().all():
            rows.append((model.label, "", "", "nobody was fitted", *("" for _ in of_group)))
            continue
        for i, name in enumerate(model.free()):
            low, middle, high = np.nanquantile(fits[fits.parameter == name]["value"], (0.25, 0.5, 0.75))
            shared = _of_group(result.groups[k], name) if result.groups else ()
            rows.append(("" if i else model.label, name, f"{middle:.4g}", f"{low:.4g} to {high:.4g}", *shared))
    return table("llll" + "l" * len(of_group), ("model", "parameter", "median", "quartiles", *of_group), rows)


def _totals(result: FitResult) -> list[str]:
    frame = result.table().drop_duplicates(["person", "model"]).dropna(subset=["log_likelihood"])
    lines = []
    for model in result.models:
        fits = frame[frame.model == model.label]
        if fits.empty:
            continue
        warned = int((fits.warnings != "").sum())
        sums = f"log likelihood {fits.log_likelihood.sum():,.1f}, {_criterion(fits)}"
        lines.append(f"{model.label}: {sums}; {warned} of {len(fits)} people with a warning")
    return lines


def _criterion(fits: pd.DataFrame) -> str:
    if fits.bic.notna().any():
        return f"BIC {fits.bic.sum():,.1f}"
    missing = int(fits.log_evidence.isna().sum())
    return f"log evidence {fits.log_evidence.sum():,.1f}" + (f" without {missing} who have none" if missing else "")


def _of_group(group: Group, name: str) -> tuple[str, str]:
    if name not in group.names:  # a whole number
        return "", ""
    return f"{group.middle[name]:.4g}", f"{np.nanmean(group.shrinkage[:, group.names.index(name)]):.2f}"


def _show_people(console: Console, result: FitResult) -> None:
    lines = [(name, f"not fitted: {why}", "red") for name, why in result.people.refused.items()]
    lines += [(one.person, f"{one.label}: not fitted: {one.message}", "red") for one in result.fits if isinstance(one, Failure)]
    lines += [(name, note, "yellow") for name, note in result.people.notes.items()]
    warned = [one for one in result.fits if isinstance(one, Fit) and one.warnings]
    lines += [(one.person, f"{one.label}: {'; '.join(one.warnings)}", "yellow") for one in warned]
    for name, text, colour in lines[:SHOWN]:
        console.print(f"[{colour}]{plain(name)}[/{colour}]: {plain(text)}", soft_wrap=True)
    if len(lines) > SHOWN:
        console.print(f"and {len(lines) - SHOWN:,} more, in the column warnings of the results", soft_wrap=True)
