"""Writing tables and pictures: under its final name a file is whole or not there.

Names are checked before anything is computed. In TSV a missing value is `n/a`, as BIDS has it.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import pathlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Protocol

import numpy as np

from volatilis._core.files import standard_output, whole_file
from volatilis.tables.columns import arrow, arrow_texts, no_value
from volatilis.tables.formats import compressed, kind_of

if TYPE_CHECKING:
    import pyarrow as pa
    import xarray as xr
    from matplotlib.figure import Figure


STANDARD_OUTPUT = "-"
SLICE, FEW = 1 << 12, 32  # rows


@contextlib.contextmanager
def writer(path: str | os.PathLike[str], schema: pa.Schema) -> Iterator[Callable[[pa.RecordBatch], None]]:
    """`with writer(path, schema) as write: write(batch)`; `-` is CSV on standard output."""
    if os.fspath(path) == STANDARD_OUTPUT:
        with standard_output(", or name a file with --out") as stream, _batch_writer(stream, schema, "csv") as write:
            yield write
        return
    kind, compression = kind_of(path)
    with whole_file(path) as raw:
        stream = compressed(raw, compression)
        try:
            with _batch_writer(stream, schema, kind) as write:
                yield write
        except BaseException:
            with contextlib.suppress(Exception):  # nobody wants what it would still write; Arrow's complains if it is left open
                stream.close()
            raise
        if stream is not raw:
            stream.close()


@contextlib.contextmanager
def _batch_writer(stream: IO[bytes], schema: pa.Schema, kind: str) -> Iterator[Callable[[pa.RecordBatch], None]]:
    import pyarrow as pa
    from pyarrow import parquet

    if kind == "parquet":
        # a dictionary pays for texts and whole numbers; measured numbers hardly ever repeat
        repeated = [field.name for field in schema if not pa.types.is_floating(field.type)]
        with parquet.ParquetWriter(stream, schema, use_dictionary=repeated, write_statistics=repeated) as file:
            yield file.write_batch
    elif kind == "jsonl":
        yield lambda batch: _write_in_slices(stream, batch, _json_lines)
    else:
        separator, missing = ("\t", "n/a") if kind == "tsv" else (",", "")
        header = pa.RecordBatch.from_arrays([arrow_texts([name]) for name in schema.names], schema.names)
        waiting = [header]  # until there is something to put below it: an error before that leaves no trace on a terminal

        def write(batch: pa.RecordBatch) -> None:
            for part in (*waiting, batch):
                _write_in_slices(stream, part, lambda rows: _text_lines(rows, separator, missing))
            waiting.clear()

        yield write
        if waiting:
            stream.write(_text_lines(header, separator, missing))


def _write_in_slices(stream: IO[bytes], batch: pa.RecordBatch, as_bytes: Callable[[pa.RecordBatch], bytes]) -> None:
    """A few thousand rows at a time: as text they take many times the memory that they have as numbers."""
    for start in range(0, batch.num_rows, SLICE):
        stream.write(as_bytes(batch.slice(start, SLICE)))


def _text_lines(batch: pa.RecordBatch, separator: str, missing: str) -> bytes:
    """Values are quoted where they must be, and only there."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if batch.num_rows < FEW:  # a table may have more columns than rows: Arrow takes long for each
        columns_of_texts = [_few_texts(column, separator, missing) for column in batch.columns]
        return "".join(separator.join(row) + "\n" for row in zip(*columns_of_texts, strict=True)).encode()
    columns = []
    for column in batch.columns:
        if pa.types.is_floating(column.type):
            column = pc.if_else(pc.is_nan(column), no_value(column.type), column)
        text = column.cast(pa.string())
        if not pa.types.is_floating(column.type):
            quoted = pc.binary_join_element_wise('"', pc.replace_substring(text, '"', '""'), '"', "")
            text = pc.if_else(pc.match_substring_regex(text, f'[{separator}"\r\n]'), quoted, text)
            text = pc.if_else(pc.equal(text, ""), no_value(pa.string()), text)
        columns.append(pc.fill_null(text, missing))
    lines = pc.binary_join_element_wise(*columns, separator)
    return "".join(f"{line}\n" for line in lines.to_pylist()).encode()


def _few_texts(column: pa.Array, separator: str, missing: str) -> list[str]:
    """The same for a few values, by Python where they are texts."""
    import pyarrow as pa

    values = column.to_pylist()
    if not pa.types.is_string(column.type):
        words = column.cast(pa.string()).to_pylist()
        values = [None if isinstance(v, float) and v != v else word for v, word in zip(values, words, strict=True)]
    special = (separator, '"', "\r", "\n")
    quoted = ('"' + v.replace('"', '""') + '"' if v and any(mark in v for mark in special) else v for v in values)
    return [text or missing for text in quoted]


def _json_lines(batch: pa.RecordBatch) -> bytes:
    """One object a line; what is not a number is null, and infinity 1e999, which reads back as infinity."""
    columns = [_json_texts(column) for column in batch.columns]
    names = [json.dumps(name) for name in batch.schema.names]
    rows = zip(*columns, strict=True)
    return "".join("{" + ", ".join(f"{n}: {v}" for n, v in zip(names, row, strict=True)) + "}\n" for row in rows).encode()


def _json_texts(column: pa.Array) -> list[str]:
    import pyarrow as pa

    if pa.types.is_floating(column.type):
        values = np.asarray(column.to_numpy(zero_copy_only=False), dtype=float).tolist()
        return [repr(v) if math.isfinite(v) else "null" if v != v else "1e999" if v > 0 else "-1e999" for v in values]
    return [json.dumps(value, default=str) for value in column.to_pylist()]


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


class PictureModule(Protocol):
    """A module of `plots` that draws a dataset."""

    def size(self, dataset: xr.Dataset) -> tuple[float, float]:
        """Width and height in inches."""

    def draw(self, dataset: xr.Dataset, figure: Figure) -> None:
        """Draw it on an empty figure of this size."""


def save_picture(picture: PictureModule, dataset: xr.Dataset, path: str | os.PathLike[str]) -> None:
    """PNG, SVG or PDF, by the ending."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=picture.size(dataset))
    picture.draw(dataset, figure)
    save_figure(figure, path)
