"""What commands write: names, checked before anything is computed; tables from columns, and pictures; each whole or not there."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from volatilis._core.files import whole_file
from volatilis.tables.columns import arrow
from volatilis.tables.formats import kind_of
from volatilis.tables.writing import writer

if TYPE_CHECKING:
    import pyarrow as pa
    import xarray as xr
    from matplotlib.figure import Figure

PICTURES = (".png", ".svg", ".pdf")


def picture_kind(path: str | os.PathLike[str]) -> str:
    """png, svg or pdf."""
    ending = pathlib.Path(path).suffix.lower()
    if ending not in PICTURES:
        raise ValueError(f"--plot {path}: the ending tells the kind of picture; {', '.join(PICTURES)} are accepted")
    return ending.removeprefix(".")


def check_outputs(
    tables: Mapping[str, str | None], plot: str | None = None, read: str | None = None, other_kinds: tuple[str, ...] = ()
) -> None:
    """By the options that name them; `read` is the table they are made from. `-` is standard output, None what is not wanted."""
    names = {"the table": read, **tables, "--plot": plot}
    places = {what: os.path.realpath(path) for what, path in names.items() if path is not None and path != "-"}
    for what, place in places.items():
        other = next(name for name, used in places.items() if used == place)
        if other != what:
            raise ValueError(f"{what} {names[what]} is also {other}; give it another name")
    for path in tables.values():
        if path is not None and path != "-" and not path.endswith(other_kinds):
            kind_of(path)
    if plot is not None:
        picture_kind(plot)


def write_columns(path: str | os.PathLike[str], columns: Mapping[str, Sequence[object]]) -> None:
    """The path's ending says which kind of table. A number that is missing (NaN) is missing there too."""
    import pyarrow as pa

    batch = pa.RecordBatch.from_pydict({name: _column(values) for name, values in columns.items()})
    with writer(path, batch.schema) as write:
        write(batch)


def _column(values: Sequence[object]) -> pa.Array:
    import pyarrow as pa

    numbers = bool(values) and all(isinstance(value, float) for value in values)
    return arrow(np.array(values, dtype=float)) if numbers else pa.array(list(values))


def save_figure(figure: Figure, path: str | os.PathLike[str], dpi: int = 150) -> None:
    """PNG, SVG or PDF, by the ending."""
    with whole_file(path) as file:
        figure.savefig(file, format=picture_kind(path), dpi=dpi)


class Picture(Protocol):
    """A module of `plots` that draws a dataset."""

    def size(self, dataset: xr.Dataset) -> tuple[float, float]:
        """Width and height in inches."""

    def draw(self, dataset: xr.Dataset, figure: Figure) -> None:
        """Draw it on an empty figure of this size."""


def save_picture(picture: Picture, dataset: xr.Dataset, path: str | os.PathLike[str]) -> None:
    """PNG, SVG or PDF, by the ending."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=picture.size(dataset))
    picture.draw(dataset, figure)
    save_figure(figure, path)
