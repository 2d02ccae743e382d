"""From data to words: the claims table, the comparison with the published data, and the report."""

from __future__ import annotations

import os
import pathlib
import platform
import shlex
from importlib.metadata import version
from typing import Any

from volatilis._core.files import write_text
from volatilis.html import paper as page
from volatilis.paper import claims as judged
from volatilis.paper import outputs
from volatilis.paper.context import Context, Order
from volatilis.paper.errata.errata import ERRATA
from volatilis.paper.figures import steady_state
from volatilis.paper.figures.figures import Data, Drawn
from volatilis.paper.files import save_table
from volatilis.paper.ledger import Cost
from volatilis.paper.new_learner import Promise, promises
from volatilis.paper.published import comparison
from volatilis.paper.settings import NOISE_NAMES, NOISES, RATES, TASKS
from volatilis.paper.tables import csv_name

TITLE = "Learning in volatile environments with the Bayes Factor Surprise, reproduced"
PAPER = "Liakoni, Modirshanechi, Gerstner & Brea (2021), Neural Computation 33(2), 269-340"


def judge(data: Data, folder: pathlib.Path, size: str) -> list[Any]:
    """Every claim that the data can decide; also as a table and a page beside the figures."""
    claims = judged.evaluate(data)
    outputs.save_claims(claims, folder, size)
    return claims


def report(order: Order, context: Context, data: Data, drawn: list[Drawn], claims: list[Any]) -> pathlib.Path:
    """Write report.html, and what else was found as tables."""
    tables = compare(context, data)
    figures = [
        page.Figure(
            key=item.figure.key,
            title=item.figure.title if item.figure.key == "memory" else f"Figure {item.figure.key}. {item.figure.title}",
            caption=item.figure.caption,
            png=item.png,
            csv_name=", ".join(f"data/{csv_name(name)}" for name in item.figure.needs),
            seconds=item.seconds,
            notes=notes(item, context, data),
            comparison=tables.get(item.figure.key),
        )
        for item in drawn
    ]
    told = [
        page.Claim(c.key, c.where, c.statement, c.published, c.with_published_code, c.done_right, c.verdict, c.uncertainty)
        for c in claims
    ]
    kept = promises(data)
    outputs.save_tables(context, data, kept)
    known = data | {"tuned": outputs.tuned_table(context)}
    errata = [page.Erratum(e.number, e.title, e.text, e.effect(known) or "") for e in ERRATA]
    facts = meta(order, context)
    outputs.save_run(facts, context.ledger, context.folder)
    content = page.Report(TITLE, PAPER, facts, summary(kept, tables), figures, told, errata, new_learner(kept, drawn))
    return page.write(context.folder / "report.html", content)


def meta(order: Order, context: Context) -> dict[str, str]:
    size, ledger = context.size, context.ledger
    command = ["volatilis", "paper", *order.figures, "--size", order.size, "--benchmark", order.benchmark]
    lengths = f"{size.steps:,} steps, {size.rare_steps:,} where p_c is at most 0.001"
    return {
        "command": shlex.join(command + (["--reference", "DIR"] if order.reference else [])),
        "version": version("volatilis"),
        "Python": platform.python_version(),
        "NumPy": version("numpy"),
        "Numba": version("numba"),
        "cores": str(order.workers or os.cpu_count()),
        "size": f"{size.name}: {size.seeds} seeds of {lengths}",
        "benchmark": "Exact Bayes, cutoff 1e-16" if order.benchmark == "exact" else "near: Merge80 in the place of Exact Bayes",
        "seeds": f"0 to {size.seeds - 1} for the grids; 1000 and up for tuning",
        "run time": f"{_times(ledger.total())}, over all runs that went on in this folder",
        "memory": f"at most {ledger.memory / 2**30:.2f} GiB",
        **{f"time: {name}": _times(cost) for name, cost in ledger.costs.items()},
    }


def _times(cost: Cost) -> str:
    return f"{page.duration(cost.seconds)} ({page.duration(cost.processor_seconds)} of processor time)"


def notes(item: Drawn, context: Context, data: Data) -> list[str]:
    """What must be said beside a figure."""
    said = []
    if context.near and item.figure.key in ("3", "6"):
        task = TASKS[0] if item.figure.key == "3" else TASKS[1]
        with context.ledger.part("nearness"):
            distances = steady_state.nearness(context, task)
        compared = data[task].distance.mean("seed").drop_sel(learner="Exact Bayes")  # what stands where Exact Bayes would
        others = compared.min("learner").sel(noise=list(NOISES[task]), p_c=list(RATES)).values
        name = f"nearness_{task}.csv"
        rows = "".join(
            f"{noise:g},{p_c:g},{distances[i, j]:.3g},{others[i, j]:.3g}\n"
            for i, noise in enumerate(NOISES[task])
            for j, p_c in enumerate(RATES)
        )
        write_text(context.folder / "data" / name, f"{NOISE_NAMES[task]},p_c,distance,closest_learner\n{rows}")
        said.append(
            f"The benchmark is Merge80, drawn and named as Exact Bayes; its mean squared distance to Exact Bayes is "
            f"{distances.min():.1e} to {distances.max():.1e} over the cells at quick size. Per cell, beside the distance of the "
            f"learner that is closest to the benchmark, in data/{name}."
        )
    if item.figure.key == "10":
        said += _table_lines(predictions_table(1, data))
    if item.figure.key == "11":
        said += _table_lines(predictions_table(2, data))
    return said


def predictions_table(number: int, data: Data) -> Any:
    from volatilis.paper import hypotheses

    return (hypotheses.table_1 if number == 1 else hypotheses.table_2)(data[f"prediction{number}"])


def _table_lines(frame: Any) -> list[str]:
    """The hypotheses of Tables 1 and 2, evaluated on the right variant, one line each."""
    lines = []
    for row in frame[frame.variant == "right"].to_dict("records"):
        parts = [f"{name} {row[name]:+.3g} ± {row[f'{name}_se']:.1g}" for name in ("difference", "slope") if name in row]
        lines.append(f"{row['learner']}, if {row['hypothesis']} ({row['measure']}): {', '.join(parts)}: {row['verdict']}.")
    return lines


def compare(context: Context, data: Data) -> dict[str, page.Table]:
    """Ours against the published data, per figure; empty without a reference folder."""
    if context.reference is None:
        return {}
    tables = {}
    for key, frame in comparison.compare_all(data, comparison.read(context.reference)).items():
        save_table(frame, context.folder / "data" / f"comparison_figure_{key}.csv")
        told = comparison.summary(frame)
        off = told.disagreeing.to_numpy()
        rows = [[f"{value:.4g}" if isinstance(value, float) else str(value) for value in row] for row in off]
        caption = f"Ours against the published: {told}; the others:"
        tables[key] = page.Table(caption, [str(column) for column in frame.columns], rows)
    return tables


def summary(kept: list[Promise], tables: dict[str, page.Table]) -> list[str]:
    """In a few lines: the new learner, and how ours compares with the published numbers."""
    lines = [f"{promise.statement} in {promise.cells} of {promise.of} environments." for promise in kept]
    return lines + [f"Figure {key}: {table.caption.split(';')[0]}." for key, table in tables.items()]


def new_learner(kept: list[Promise], drawn: list[Drawn]) -> page.NewLearner | None:
    if not kept or all(item.figure.key != "memory" for item in drawn):
        return None
    rows = [[p.statement, f"{p.cells} of {p.of}", f"{p.least:.3g}", f"{p.most:.3g}"] for p in kept]
    return page.NewLearner(
        "Merge-N",
        [
            "Message passing keeps weighted hypotheses about the time of the last change. MPN drops the lightest, SORN "
            "resamples, pfN samples. Merge-N merges: while there are more than n, the two neighbours in run length whose merging "
            "costs least become one member of the conjugate family with the pair's weight, mean and variance.",
            "With one hypothesis it is exactly Nas12* on a Gaussian, and so extends Nas12* to every family; with as many "
            "hypotheses as observations it is Exact Bayes.",
        ],
        "memory",
        page.Table(
            "Mean squared distance to Exact Bayes: how many times closer Merge is",
            ["statement", "environments where it holds", "least ratio", "largest ratio"],
            rows,
        ),
    )
