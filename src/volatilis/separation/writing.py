"""The results as files: the table of pairs, the selections, the picture."""

from __future__ import annotations

import io
import math
import os
import re
from typing import Any

from volatilis._core.files import whole_file
from volatilis.separation.advice import verdict
from volatilis.separation.study import Separation
from volatilis.tables import picture_kind, writer


def pair_rows(separation: Separation) -> list[dict[str, Any]]:
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
                "effect": separation.question.effect,
                "first_vif": separation.inflations[pair.first].factor,
                "second_vif": separation.inflations[pair.second].factor,
                "equivalence": None if proven is None else proven.kind,
                "reason": None if proven is None else proven.reason,
                "told_apart": verdict(separation, pair),
            }
        )
    return rows


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
    from volatilis.separation.picture import picture_of

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


def _numbered(svg: bytes) -> bytes:
    """Clip paths by the order in which they come: Matplotlib names them by the addresses of objects, which differ by chance."""
    names = dict.fromkeys(re.findall(rb"url\(#(p[0-9a-f]{10})\)", svg))
    for number, name in enumerate(names):
        svg = svg.replace(name, b"clip%d" % number)
    return svg


def _write(path: str | os.PathLike[str], rows: list[dict[str, Any]]) -> None:
    import pyarrow as pa

    whole = {name for name, value in rows[0].items() if isinstance(value, int)}
    names = {name: _kind(name, rows, whole) for name in rows[0]}
    schema = pa.schema(list(names.items()))
    arrays = [pa.array([_cell(row[name]) for row in rows], kind) for name, kind in names.items()]
    with writer(path, schema) as write:
        write(pa.RecordBatch.from_arrays(arrays, schema=schema))


def _kind(name: str, rows: list[dict[str, Any]], whole: set[str]) -> Any:
    import pyarrow as pa

    if name in whole:
        return pa.int64()
    return pa.float64() if isinstance(rows[0][name], float) else pa.string()


def _cell(value: Any) -> Any:
    """A missing average is missing, not NaN."""
    return None if isinstance(value, float) and math.isnan(value) else value
