"""The results as files: the table of pairs, the selections, the picture."""

from __future__ import annotations

import io
import math
import os
import re
from typing import TYPE_CHECKING

import numpy as np

from volatilis._core.files import whole_file
from volatilis.plots.separation import Picture, Scatter
from volatilis.separation.advice import FEW_CARRIERS, IDENTICAL, NEARLY, SHAPE, verdict
from volatilis.separation.relations import MOST, RegressorPair, carried, correlations, residual
from volatilis.separation.study import Separation
from volatilis.tables import picture_kind, writer

if TYPE_CHECKING:
    import pyarrow as pa

EQUIVALENT = (IDENTICAL, SHAPE, NEARLY)


def pair_rows(separation: Separation) -> list[dict[str, object]]:
    """One row per pair of regressors, the closest first."""
    columns, rows = separation.regressors.columns, []
    for pair in sorted(separation.pairs, key=lambda pair: -abs(pair.pearson)):
        proven = separation.equivalence(pair)
        rows.append(
            {
                "first": columns[pair.first].name,
                "second": columns[pair.second].name,
                "trials": separation.trials,
                "pearson": pair.pearson,
                "spearman": pair.spearman,
                "first_alone_effective": pair.first_alone.effective,
                "first_alone_90_percent": pair.first_alone.most,
                "first_alone_at_starts": pair.first_alone.at_starts,
                "second_alone_effective": pair.second_alone.effective,
                "second_alone_90_percent": pair.second_alone.most,
                "second_alone_at_starts": pair.second_alone.at_starts,
                "trials_needed": pair.needed,
                "effect": separation.request.effect,
                "first_vif": separation.inflations[pair.first].factor,
                "second_vif": separation.inflations[pair.second].factor,
                "equivalence": None if proven is None else proven.kind,
                "reason": None if proven is None else proven.reason,
                "told_apart": verdict(separation, pair),
            }
        )
    return rows


def write(separation: Separation, *, out: str | None = None, selections: str | None = None, plot: str | None = None) -> None:
    """The files that have a name."""
    if out is not None:
        write_pairs(separation, out)
    if selections is not None:
        write_selections(separation, selections)
    if plot is not None:
        write_picture(separation, plot)


def write_pairs(separation: Separation, path: str | os.PathLike[str]) -> None:
    _write(path, pair_rows(separation))


def write_selections(separation: Separation, path: str | os.PathLike[str]) -> None:
    """The numbers of trials of both predictions; `at` is delta in units of sigma_0, or p as a density per sigma_0."""
    if not separation.selected:
        raise ValueError(f"{path}: not written; there are no selections: {separation.unselected[0].reason}")
    _write(path, [selected._asdict() for selected in separation.selected])


def write_picture(separation: Separation, path: str | os.PathLike[str]) -> None:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from volatilis.plots import separation as plot

    picture = picture_of(separation)
    figure = Figure(figsize=plot.size(picture))
    with mpl.rc_context({"svg.hashsalt": "volatilis"}):
        plot.draw(picture, figure)
        ending = picture_kind(path)
        stamp = {"Date": None} if ending == "svg" else {"CreationDate": None} if ending == "pdf" else {}
        content = io.BytesIO()
        figure.savefig(content, format=ending, dpi=150, metadata=stamp)
    with whole_file(path) as file:
        file.write(_numbered(content.getvalue()) if ending == "svg" else content.getvalue())


def picture_of(separation: Separation) -> Picture:
    """Numbers and words for `plots.separation`, which knows nothing of learners."""
    regressors = separation.regressors
    equivalent = np.zeros((len(regressors.columns),) * 2, dtype=bool)
    verdicts = {pair: verdict(separation, pair) for pair in separation.pairs}
    for pair, answer in verdicts.items():
        equivalent[pair.first, pair.second] = equivalent[pair.second, pair.first] = answer in EQUIVALENT
    different = [pair for pair, answer in verdicts.items() if answer not in EQUIVALENT]
    telling = [pair for pair in different if min(separation.tails[i].effective for i in pair[:2]) >= FEW_CARRIERS]
    closest = max(telling or different or separation.pairs, key=lambda pair: abs(pair.pearson))
    labels = {column.label for column in regressors.columns}
    return Picture(
        names=regressors.names,
        pearson=correlations(regressors.values),
        spearman=correlations(regressors.ranks),
        equivalent=equivalent,
        inflation=np.array([one.factor for one in separation.inflations]),
        own_inflation=np.array([one.factor for one in separation.own_inflations]) if len(labels) > 1 else None,
        scatter=_scatter(separation, closest, "The closest pair that differs" if different else "The closest pair"),
        trials=separation.trials,
        runs=separation.runs,
    )


def _scatter(separation: Separation, pair: RegressorPair, title: str) -> Scatter:
    """The pair in standard deviations, and the trials that hold most of the difference in the direction where they are fewer."""
    values, names = separation.regressors.values, separation.regressors.names
    places = (pair.first, pair.second)
    if pair.second_alone.most < pair.first_alone.most:
        places = (pair.second, pair.first)
    y, x = (values[:, i] / values[:, i].std() for i in places)
    left = residual(y, x)
    most = carried(left).most
    carriers = np.zeros(len(left), dtype=bool)
    carriers[np.argsort(-np.abs(left), kind="stable")[:most]] = True
    words = f"{100 * MOST:g} % of it is in {most:,} of {len(left):,} trials"
    return Scatter(title, names[places[1]], names[places[0]], x, left, carriers, words)


def _numbered(svg: bytes) -> bytes:
    """Clip paths by the order in which they come: Matplotlib names them by the addresses of objects, which differ by chance."""
    names = dict.fromkeys(re.findall(rb"url\(#(p[0-9a-f]{10})\)", svg))
    for number, name in enumerate(names):
        svg = svg.replace(name, b"clip%d" % number)
    return svg


def _write(path: str | os.PathLike[str], rows: list[dict[str, object]]) -> None:
    import pyarrow as pa

    whole = {name for name, value in rows[0].items() if isinstance(value, int)}
    names = {name: _kind(name, rows, whole) for name in rows[0]}
    schema = pa.schema(list(names.items()))
    arrays = [pa.array([_cell(row[name]) for row in rows], kind) for name, kind in names.items()]
    with writer(path, schema) as write:
        write(pa.RecordBatch.from_arrays(arrays, schema=schema))


def _kind(name: str, rows: list[dict[str, object]], whole: set[str]) -> pa.DataType:
    import pyarrow as pa

    if name in whole:
        return pa.int64()
    return pa.float64() if isinstance(rows[0][name], float) else pa.string()


def _cell(value: object) -> object:
    """A missing average is missing, not NaN."""
    return None if isinstance(value, float) and math.isnan(value) else value
