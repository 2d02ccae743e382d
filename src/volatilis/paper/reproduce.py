"""`volatilis paper`: simulate what the chosen figures need, draw them, judge the claims, write the report.

result = reproduce(PaperRequest(("3", "10"), size="quick", out=folder))
show(result)
"""

from __future__ import annotations

import pathlib
import re
import shutil
import sys
from collections.abc import Iterable
from typing import NamedTuple

from volatilis._core.files import write_text
from volatilis._core.jobs import check_scheduler
from volatilis.paper import claims as judged
from volatilis.paper import published
from volatilis.paper.claims import Claim
from volatilis.paper.context import Context, PaperRequest
from volatilis.paper.figures import FIGURES, SIMULATE, Data, Drawn, Figure, replications
from volatilis.paper.published.files import tuned_values
from volatilis.paper.report import write_report
from volatilis.paper.settings import SIZES
from volatilis.paper.writing import CostLedger, output_folder, room_in, save_dataset, save_picture, save_table


class PaperResult(NamedTuple):
    """The judged claims, and the path of the report; None if only the claims were asked for."""

    claims: list[Claim]
    report: pathlib.Path | None


def reproduce(request: PaperRequest) -> PaperResult:
    """Carry out a request, with progress on standard error. Data and figures are written as soon as they are there."""
    from volatilis._core.terminal import Bars

    figures = chosen(request.figures)
    folder = prepare(request)
    ledger = CostLedger(folder / "store" / f"costs-{request.size}-{request.benchmark}.json")
    with room_in(folder), Bars() as bars:
        context = Context(
            size=SIZES[request.size],
            folder=folder,
            workers=request.workers,
            scheduler=request.scheduler,
            near=request.benchmark == "near",
            reference=request.reference,
            progress=bars.update,
            ledger=ledger,
        )
        data = simulate(context, [name for name in SIMULATE if any(name in figure.needs for figure in figures)])
        again = replications.samples(context, request.replications, data) if request.replications else {}
        with ledger.part("claims"):
            claims = judged.evaluate(data)
            save_claims(claims, folder, request.size)
        if request.only_claims:
            return PaperResult(claims, None)
        with ledger.part("drawing"):
            drawn = [draw(figure, data, context) for figure in figures]
        return PaperResult(claims, write_report(request, context, data, again, drawn, claims))


def show(result: PaperResult) -> None:
    """Print where the report is; the claims, if only they were asked for."""
    if result.report is None:
        judged.show(result.claims)
    else:
        print(f"{result.report}: the report; figures and data lie beside it")


# --- before the work -----------------------------------------------------------------------------------------------------


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


def prepare(request: PaperRequest) -> pathlib.Path:
    """Check everything before hours of work, then forget what is stored if the request says so; returns the folder."""
    if request.size not in SIZES:
        raise ValueError(f"there is no size {request.size!r}; there are {', '.join(SIZES)}")
    if request.benchmark not in ("exact", "near"):
        raise ValueError(f"there is no benchmark {request.benchmark!r}; there are exact and near")
    if request.replications and request.reference is None:
        raise ValueError("replications are for the comparison with the authors' data: give --reference too")
    folder = output_folder(request.out)
    if request.reference is not None:
        published.read(request.reference)
        if not tuned_values(request.reference):
            text = "has no src/parameterDicts/parameterDict_*.jld2: our own tuned values are used for the authors'"
            print(f"{request.reference} {text}", file=sys.stderr)
    if request.scheduler is not None:
        check_scheduler(request.scheduler)
    if not request.resume:
        forget(request)
    return folder


def forget(request: PaperRequest) -> None:
    """For --fresh: delete what is stored of this size and benchmark, with what both benchmarks share, and nothing else."""
    near = "-near" if request.benchmark == "near" else ""
    shared = re.compile(r"\w+-(search|published|again|confirmation)-.*")
    for path in (request.out / "store").iterdir():
        stored = re.fullmatch(rf".*-{request.size}(-near)?-[0-9a-f]{{16}}\.zarr", path.name)
        if (stored and ((stored[1] or "") == near or shared.fullmatch(path.name))) or path.name.startswith(
            f"nearness-{request.size}"
        ):
            shutil.rmtree(path)
        elif path.name == f"costs-{request.size}-{request.benchmark}.json" or path.name.startswith(f"tuned-{request.size}-"):
            path.unlink()


# --- the work ------------------------------------------------------------------------------------------------------------


def simulate(context: Context, names: Iterable[str]) -> Data:
    """The datasets by name; the numbers go to CSV files as soon as they are there."""
    data: Data = {}
    for name in names:
        with context.ledger.part(name):
            data[name] = SIMULATE[name](context)
            save_dataset(data[name], name, context.folder)
    return data


def save_claims(claims: list[Claim], folder: pathlib.Path, size: str) -> None:
    """As data/claims.csv and, to be read, as claims.md."""
    if claims:
        save_table(judged.to_frame(claims), folder / "data" / "claims.csv")
        write_text(folder / "claims.md", judged.markdown(claims, size))


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
