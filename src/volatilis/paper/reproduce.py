"""`volatilis paper`: simulate what the chosen figures need, draw them, judge the claims, write the report."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import sys
from typing import Any

from volatilis._core import cluster
from volatilis._core.files import whole_file
from volatilis.experiments.tuning import PUBLISHED_FILE
from volatilis.paper.context import Context, Order
from volatilis.paper.figures.figures import FIGURES, SIMULATE, Data, Drawn, Figure
from volatilis.paper.files import room_in, save_picture, save_table
from volatilis.paper.ledger import Ledger
from volatilis.paper.settings import SIZES
from volatilis.paper.tables import csv_name, over_seeds, table_of, with_excess
from volatilis.paper.tuned import published_or_none


def reproduce(order: Order) -> pathlib.Path | None:
    """Run an order with progress on the terminal; returns the report's path (None if only claims were asked for)."""
    from volatilis._core.progress import Bars
    from volatilis.paper import results
    from volatilis.paper.claims import terminal
    from volatilis.paper.published import comparison

    figures = chosen(order.figures)
    only_claims = order.figures == ("claims",)
    check(order)
    folder = writable(order)
    if order.reference is not None:
        comparison.read(order.reference)  # what is wrong with it is said before hours of work, not after
        if not published_or_none(order.reference):
            print(f"{order.reference} has no {PUBLISHED_FILE}: our own tuned values stand for the authors'", file=sys.stderr)
    if order.scheduler is not None:
        cluster.check(order.scheduler)
    if not order.resume:
        forget(order)
    ledger = Ledger(folder / "store" / f"costs-{order.size}-{order.benchmark}.json")
    with room_in(folder), Bars() as bars:
        context = Context(
            SIZES[order.size],
            folder,
            order.workers,
            order.scheduler,
            order.benchmark == "near",
            order.reference,
            bars.update,
            ledger,
        )
        data = simulate(context, [name for name in SIMULATE if any(name in figure.needs for figure in figures)])
        with ledger.part("claims"):
            claims = results.judge(data, folder, order.size)
        if only_claims:
            bars.stop()
            terminal.show(claims)
            return None
        with ledger.part("drawing"):
            drawn = [draw(figure, data, context) for figure in figures]
        path = results.report(order, context, data, drawn, claims)
    print(f"{path}: the report; figures and data lie beside it")
    return path


def chosen(keys: tuple[str, ...]) -> list[Figure]:
    """The figures for what was typed; an unknown one lists what there is."""
    known = {figure.key.lower(): figure for figure in FIGURES}
    if any(key in ("all", "claims") for key in keys):
        if len(keys) > 1:
            raise ValueError(f"'all' and 'claims' stand alone, without figures; got {' '.join(keys)}")
        return list(FIGURES)
    for key in keys:
        if key.lower() not in known:
            raise ValueError(f"there is no figure {key!r}; there are {', '.join(f.key for f in FIGURES)}, all and claims")
    return [figure for key, figure in known.items() if key in {typed.lower() for typed in keys}]


def check(order: Order) -> None:
    if order.size not in SIZES:
        raise ValueError(f"there is no size {order.size!r}; there are {', '.join(SIZES)}")
    if order.benchmark not in ("exact", "near"):
        raise ValueError(f"there is no benchmark {order.benchmark!r}; there are exact and near")


def writable(order: Order) -> pathlib.Path:
    """The output folder, made and tried before anything is computed."""
    folder = order.out
    try:
        for name in ("store", "data", "figures"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        with whole_file(folder / ".trial") as trial:
            trial.write(bytes(4096))  # an empty file would not tell a full disk
        (folder / ".trial").unlink()
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else error
        raise OSError(f"cannot write to the folder {str(folder)!r}: {why}; choose another with --out") from None
    return folder


def forget(order: Order) -> None:
    """For --fresh: what is stored of this size and benchmark, nothing else; after all else was checked."""
    near = "-near" if order.benchmark == "near" else ""
    for path in (order.out / "store").iterdir():
        stored = re.fullmatch(rf".*-{order.size}(-near)?-[0-9a-f]{{16}}\.zarr", path.name)
        if (stored and (stored[1] or "") == near) or path.name.startswith(f"nearness-{order.size}"):
            shutil.rmtree(path)
        elif path.name == f"costs-{order.size}-{order.benchmark}.json" or path.name.startswith(f"tuned-{order.size}-"):
            path.unlink()


def simulate(context: Context, names: list[str]) -> Data:
    """The datasets by name; the numbers go to CSV files as soon as they are there."""
    data = {}
    for name in names:
        with context.ledger.part(name):
            data[name] = SIMULATE[name](context)
            save(data[name], name, context.folder)
    return data


def save(dataset: Any, name: str, folder: pathlib.Path) -> None:
    """One table with a row per point, averaged over seeds with standard errors, and one per seed where there are seeds."""
    dataset = dataset.drop_vars("mean_by_seed", errors="ignore").drop_dims("subject", errors="ignore")
    if "seed" in dataset.sizes and "error" in dataset:
        dataset = with_excess(dataset)
    if "seed" in dataset.sizes:
        save_table(table_of(dataset), folder / "data" / csv_name(f"{name} per seed"))
    save_table(table_of(over_seeds(dataset)), folder / "data" / csv_name(name))


def draw(figure: Figure, data: Data, context: Context) -> Drawn:
    """As SVG and PNG."""
    from matplotlib.figure import Figure as Canvas

    context.progress(f"figure {figure.key}", 0.0)
    canvas = Canvas(figsize=figure.size)
    figure.draw(data, canvas)
    path = context.folder / "figures" / f"figure_{figure.key}"
    save_picture(canvas, path.with_suffix(".svg"), metadata={"Date": None})
    save_picture(canvas, path.with_suffix(".png"), dpi=150)
    context.progress(f"figure {figure.key}", 1.0)
    return Drawn(figure, path.with_suffix(".png").read_bytes(), sum(context.ledger.costs[name].seconds for name in figure.needs))
