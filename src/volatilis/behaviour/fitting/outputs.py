"""What the commands about people write: tables from their columns, and pictures; each whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from volatilis._core.files import whole_file
from volatilis.tables import arrow, picture_kind, writer


def write_columns(path: str | os.PathLike[str], columns: Mapping[str, Sequence[Any]]) -> None:
    """The path's ending says which kind of table. A number that is missing (NaN) is missing there too."""
    import pyarrow as pa

    batch = pa.RecordBatch.from_pydict({name: _column(values) for name, values in columns.items()})
    with writer(path, batch.schema) as write:
        write(batch)


def _column(values: Sequence[Any]) -> Any:
    import pyarrow as pa

    numbers = bool(values) and all(isinstance(value, float) for value in values)
    return arrow(np.array(values, dtype=float)) if numbers else pa.array(list(values))


def save_figure(figure: Any, path: str | os.PathLike[str], dpi: int = 150) -> None:
    """PNG, SVG or PDF, by the ending."""
    with whole_file(path) as file:
        figure.savefig(file, format=picture_kind(path), dpi=dpi)


def save_picture(picture: Any, dataset: Any, path: str | os.PathLike[str]) -> None:
    """A module of `plots` with size(dataset) and draw(dataset, figure)."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=picture.size(dataset))
    picture.draw(dataset, figure)
    save_figure(figure, path)
