"""From data to words: the report of a run, what else was found as tables, and how ours compares with the published numbers."""

from __future__ import annotations

import os
import pathlib
import platform
import shlex
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from volatilis._core.files import write_text
from volatilis.html import paper as page
from volatilis.paper import published, tuned
from volatilis.paper.claims import Claim, counts_by_reading, predictions
from volatilis.paper.context import Context, PaperRequest
from volatilis.paper.errata import ERRATA
from volatilis.paper.figures import Data, Drawn, simulations
from volatilis.paper.settings import NOISE_NAMES, NOISES, RATES, TASKS
from volatilis.paper.writing import Cost, csv_name, save_run, save_table

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Learning in volatile environments with the Bayes Factor Surprise, reproduced"
PAPER = "Liakoni, Modirshanechi, Gerstner & Brea (2021), Neural Computation 33(2), 269-340"
RIVALS = ("pf20", "MP20", "SOR20")


def write_report(
    request: PaperRequest, context: Context, data: Data, again: Data, drawn: Sequence[Drawn], claims: Sequence[Claim]
) -> pathlib.Path:
    """Write report.html, and beside it as tables what else was found."""
    compared, kept = compare(context, data, again), promises(data)
    figures = [_figure(item, context, data, compared.get(item.figure.key)) for item in drawn]
    values = tuned.table(context.size, context.folder / "store", context.reference)
    save_tables(context.folder / "data", data, values, kept)
    save_table(counts_by_reading(data), context.folder / "data" / "readings.csv")
    errata = [page.Erratum(e.number, e.title, e.text, e.effect(data | {"tuned": values}) or "") for e in ERRATA]
    save_errata(errata, context.folder / "data")
    facts = facts_of_run(request, context)  # once all is computed
    save_run(facts, context.ledger, context.folder)
    content = page.Report(
        TITLE,
        PAPER,
        facts,
        summary(kept, compared),
        figures,
        [page.Claim(**claim._asdict()) for claim in claims],
        errata,
        new_learner(kept, drawn),
    )
    return page.write(context.folder / "report.html", content)


def _figure(item: Drawn, context: Context, data: Data, compared: published.Compared | None) -> page.Figure:
    figure = item.figure
    return page.Figure(
        key=figure.key,
        title=figure.title if figure.key == "memory" else f"Figure {figure.key}. {figure.title}",
        caption=figure.caption,
        png=item.png,
        csv_name=", ".join(f"data/{csv_name(name)}" for name in figure.needs),
        seconds=item.seconds,
        notes=notes(item, context, data),
        comparison=None if compared is None else beyond_table(compared),
    )


def save_tables(folder: pathlib.Path, data: Data, tuned_values: pd.DataFrame, kept: Sequence[Promise]) -> None:
    """Tables 1 and 2 of the paper, the tuned parameters and how near Merge is, where there is the data for them."""
    import pandas as pd

    for number, table in ((1, predictions.table_1), (2, predictions.table_2)):
        if f"prediction{number}" in data:
            save_table(table(data[f"prediction{number}"]), folder / f"table_{number}.csv")
    if len(tuned_values):
        save_table(tuned_values, folder / "tuned.csv")
    if kept:
        save_table(pd.DataFrame(kept), folder / "merge.csv")


def save_errata(errata: Sequence[page.Erratum], folder: pathlib.Path) -> None:
    """What each mistake changes, in words and numbers of this run."""
    import pandas as pd

    save_table(
        pd.DataFrame([(e.number, e.title, e.effect) for e in errata], columns=["number", "title", "effect"]),
        folder / "errata.csv",
    )


def facts_of_run(request: PaperRequest, context: Context) -> dict[str, str]:
    """The command, versions, sizes and costs."""
    size, ledger = context.size, context.ledger
    command = ["volatilis", "paper", *request.figures, "--size", request.size, "--benchmark", request.benchmark]
    lengths = f"{size.steps:,} steps, {size.rare_steps:,} where p_c is at most 0.001"
    command += ["--reference", "DIR"] if request.reference else []
    command += ["--replications", str(request.replications)] if request.replications else []
    return {
        "command": shlex.join(command),
        "version": version("volatilis"),
        "Python": platform.python_version(),
        "NumPy": version("numpy"),
        "Numba": version("numba"),
        "cores": str(request.workers or os.cpu_count()),
        "size": f"{size.name}: {size.seeds} seeds of {lengths}",
        "benchmark": "Exact Bayes, cutoff 1e-16" if request.benchmark == "exact" else "near: Merge80 in the place of Exact Bayes",
        "seeds": f"0 to {size.seeds - 1} for the grids; 1000 and up for tuning",
        "run time": f"{_times(ledger.total())}, over all runs that went on in this folder",
        "memory": f"at most {ledger.memory / 2**30:.2f} GiB",
        **{f"time: {name}": _times(cost) for name, cost in ledger.costs.items()},
    }


def _times(cost: Cost) -> str:
    return f"{page.duration(cost.seconds)} ({page.duration(cost.processor_seconds)} of processor time)"


def notes(item: Drawn, context: Context, data: Data) -> list[str]:
    """What must be said beside a figure."""
    match item.figure.key:
        case "3" | "6" if context.near:
            return [_nearness(context, data, TASKS[0] if item.figure.key == "3" else TASKS[1])]
        case "10":
            return _table_lines(predictions.table_1(data["prediction1"]))
        case "11":
            return _table_lines(predictions.table_2(data["prediction2"]))
    return []


def _nearness(context: Context, data: Data, task: str) -> str:
    """How near the benchmark is to Exact Bayes, which it stands for: in words, and per cell in a table."""
    with context.ledger.part("nearness"):
        distances = simulations.nearness(context, task)
    compared = data[task].distance.mean("seed").drop_sel(learner="Exact Bayes")  # what stands where Exact Bayes would
    others = compared.min("learner").sel(noise=list(NOISES[task]), p_c=list(RATES)).values
    name = f"nearness_{task}.csv"
    rows = "".join(
        f"{noise:g},{p_c:g},{distances[i, j]:.3g},{others[i, j]:.3g}\n"
        for i, noise in enumerate(NOISES[task])
        for j, p_c in enumerate(RATES)
    )
    write_text(context.folder / "data" / name, f"{NOISE_NAMES[task]},p_c,distance,closest_learner\n{rows}")
    return (
        f"The benchmark is Merge80, drawn and named as Exact Bayes; its mean squared distance to Exact Bayes is "
        f"{distances.min():.1e} to {distances.max():.1e} over the cells at quick size. Per cell, beside the distance of the "
        f"learner that is closest to the benchmark, in data/{name}."
    )


def _table_lines(frame: pd.DataFrame) -> list[str]:
    """The hypotheses of Tables 1 and 2, evaluated on the right variant, one line each."""
    lines = []
    for row in frame[frame.variant == "right"].to_dict("records"):
        parts = [f"{name} {row[name]:+.3g} ± {row[f'{name}_se']:.1g}" for name in ("difference", "slope") if name in row]
        lines.append(f"{row['learner']}, if {row['hypothesis']} ({row['measure']}): {', '.join(parts)}: {row['verdict']}.")
    return lines


def compare(context: Context, data: Data, again: Data) -> dict[str, published.Compared]:
    """Ours against the published data, per figure, written as tables; empty without a reference folder."""
    if context.reference is None:
        return {}
    import pandas as pd

    compared = published.compare_all(data, published.read(context.reference), again)
    for key, one in compared.items():
        save_table(one.frame, context.folder / "data" / f"comparison_figure_{key}.csv")
    save_table(agreement(compared), context.folder / "data" / "agreement.csv")
    off = [one.beyond.assign(figure=key) for key, one in compared.items()]
    save_table(pd.concat(off) if off else pd.DataFrame(), context.folder / "data" / "beyond.csv")
    return compared


def beyond_table(compared: published.Compared) -> page.TextTable:
    """The published values that ours does not agree with."""
    beyond = compared.beyond
    caption = f"Ours beside the published: {compared}" + ("; the others:" if len(beyond) else "")
    return page.TextTable(caption, [str(name) for name in beyond.columns], [list(map(_cell, row)) for row in beyond.to_numpy()])


def _cell(value: object) -> str:
    return str(value) if not isinstance(value, float) else "none" if np.isnan(value) else f"{value:.4g}"


def agreement(compared: Mapping[str, published.Compared]) -> pd.DataFrame:
    """Per figure: how many values were published, could be compared and agree, and why others could not be."""
    import pandas as pd

    rows = [
        {
            "figure": key,
            "published": one.published,
            "compared": len(one.frame),
            "agree": one.agreeing,
            "samples": int(one.frame.ours_n.max()) if len(one.frame) else 0,
            "not_compared": "; ".join(f"{count}: {why}" for count, why in one.left_out),
        }
        for key, one in compared.items()
    ]
    return pd.DataFrame(rows)


def summary(kept: Sequence[Promise], compared: Mapping[str, published.Compared]) -> list[str]:
    """In a few lines: the new learner, and how ours compares with the published numbers."""
    lines = [f"{promise.statement} in {promise.cells} of {promise.of} environments." for promise in kept]
    if compared:
        agreeing, count = (sum(values) for values in zip(*((c.agreeing, len(c.frame)) for c in compared.values()), strict=True))
        lines.append(f"In all {agreeing} of {count} published values lie within their 99.73 % interval.")
    order = sorted(compared, key=lambda key: (not key.isdigit(), key.zfill(3)))
    return lines + [f"Figure {key}: {compared[key]}." for key in order]


# --- what is new here: Merge-N, by its mean squared distance to Exact Bayes -----------------------------------------------


class Promise(NamedTuple):
    """Something Merge is to reach: in how many cells it does, of how many, and the smallest and largest ratio."""

    statement: str
    cells: int
    of: int
    least: float
    most: float


def promises(data: Data) -> list[Promise]:
    """Over the cells of the tasks that are there; empty without any."""
    grids = [data[task].distance.mean("seed") for task in TASKS if task in data]
    if not grids:
        return []

    def ratio(rivals: tuple[str, ...], merge: str) -> np.ndarray:
        parts = [(grid.sel(learner=list(rivals)).min("learner") / grid.sel(learner=merge)).values.ravel() for grid in grids]
        return np.concatenate(parts)

    wanted = (
        ("Merge3 is closer than pf20", ratio(("pf20",), "Merge3"), 1.0),
        ("Merge10 is closer than the best of pf20, MP20 and SOR20 done right", ratio(RIVALS, "Merge10"), 1.0),
        ("Merge20 is at least 20 times closer than that best", ratio(RIVALS, "Merge20"), 20.0),
        ("Merge20 is at least 100 times closer than that best", ratio(RIVALS, "Merge20"), 100.0),
    )
    return [Promise(text, int((r > limit).sum()), r.size, float(r.min()), float(r.max())) for text, r, limit in wanted]


def new_learner(kept: Sequence[Promise], drawn: Sequence[Drawn]) -> page.NewLearner | None:
    """The section on Merge; None without its figure or the data of its table."""
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
        page.TextTable(
            "Mean squared distance to Exact Bayes: how many times closer Merge is",
            ["statement", "environments where it holds", "least ratio", "largest ratio"],
            rows,
        ),
    )
