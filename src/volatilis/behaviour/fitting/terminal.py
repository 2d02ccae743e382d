"""What `volatilis fit` shows, on standard error, since the table may go to standard output."""

from __future__ import annotations

from typing import Any

import numpy as np

from volatilis._core.terminal import console_of, plain, table
from volatilis.behaviour.fitting.command import Results, prior_texts
from volatilis.behaviour.fitting.fit import Fit
from volatilis.behaviour.fitting.hierarchy import Group
from volatilis.behaviour.fitting.jobs import Failure

SHOWN = 8  # people of whom something is told one by one


def show(results: Results, *outputs: str) -> None:
    console = console_of(stderr=True)
    people = len(results.people.persons)
    where = "".join(f" -> {out}" for out in outputs if out != "-")
    models = "1 model" if len(results.models) == 1 else f"{len(results.models)} models"
    console.print(f"{people:,} people, {models}{where}", soft_wrap=True)
    console.print(_table(results))
    for line in _totals(results):
        console.print(line, soft_wrap=True)
    for name, text in prior_texts(results.order, results.models, results.people).items():
        console.print(f"prior of {name}: {text}", soft_wrap=True)
    for group in results.groups:
        if not group.converged:
            console.print(f"[yellow]{group.label}: the group still moved after {group.rounds} rounds[/yellow]", soft_wrap=True)
        alike = ", ".join(group.alike)
        if alike:
            text = f"{group.label}: people do not differ in {alike} as far as can be told; intervals take that for granted"
            console.print(f"[yellow]{text}[/yellow]", soft_wrap=True)
    _show_people(console, results)


def _table(results: Results) -> Any:
    of_group = ("group", "shrinkage") if results.groups else ()
    rows: list[tuple[str, ...]] = []
    frame = results.table()
    for k, model in enumerate(results.models):
        own = frame[frame.model == model.label]
        if own.log_likelihood.isna().all():
            rows.append((model.label, "", "", "nobody was fitted", *("" for _ in of_group)))
            continue
        for i, name in enumerate(model.free()):
            low, middle, high = np.nanquantile(own[own.parameter == name]["value"], (0.25, 0.5, 0.75))
            shared = _of_group(results.groups[k], name) if results.groups else ()
            rows.append(("" if i else model.label, name, f"{middle:.4g}", f"{low:.4g} to {high:.4g}", *shared))
    return table("llll" + "l" * len(of_group), ("model", "parameter", "median", "quartiles", *of_group), rows)


def _totals(results: Results) -> list[str]:
    frame = results.table().drop_duplicates(["person", "model"]).dropna(subset=["log_likelihood"])
    lines = []
    for model in results.models:
        own = frame[frame.model == model.label]
        if own.empty:
            continue
        warned = int((own.warnings != "").sum())
        sums = f"log likelihood {own.log_likelihood.sum():,.1f}, {_criterion(own)}"
        lines.append(f"{model.label}: {sums}; {warned} of {len(own)} people with a warning")
    return lines


def _criterion(own: Any) -> str:
    if own.bic.notna().any():
        return f"BIC {own.bic.sum():,.1f}"
    missing = int(own.log_evidence.isna().sum())
    return f"log evidence {own.log_evidence.sum():,.1f}" + (f" without {missing} who have none" if missing else "")


def _of_group(group: Group, name: str) -> tuple[str, str]:
    if name not in group.names:  # a whole number
        return "", ""
    return f"{group.middle[name]:.4g}", f"{np.nanmean(group.shrinkage[:, group.names.index(name)]):.2f}"


def _show_people(console: Any, results: Results) -> None:
    told = [(name, f"not fitted: {why}", "red") for name, why in results.people.refused.items()]
    told += [(one.person, f"{one.label}: not fitted: {one.message}", "red") for one in results.fits if isinstance(one, Failure)]
    told += [(name, note, "yellow") for name, note in results.people.notes.items()]
    warned = [one for one in results.fits if isinstance(one, Fit) and one.warnings]
    told += [(one.person, f"{one.label}: {'; '.join(one.warnings)}", "yellow") for one in warned]
    for name, text, colour in told[:SHOWN]:
        console.print(f"[{colour}]{plain(name)}[/{colour}]: {plain(text)}", soft_wrap=True)
    if len(told) > SHOWN:
        console.print(f"and {len(told) - SHOWN:,} more, in the column warnings of the results", soft_wrap=True)
