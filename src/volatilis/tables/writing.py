"""Writing tables: under its final name a file is whole or not there. In TSV a missing value is `n/a`, as BIDS has it."""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING

import numpy as np

from volatilis._core.files import standard_output, whole_file
from volatilis.tables.formats import compressed, kind_of

if TYPE_CHECKING:
    import pyarrow as pa

STANDARD_OUTPUT = "-"
SLICE = 1 << 12  # rows


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
        header = pa.RecordBatch.from_arrays([pa.array([name]) for name in schema.names], schema.names)
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

    columns = []
    for column in batch.columns:
        if pa.types.is_floating(column.type):
            column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
        text = column.cast(pa.string())
        if not pa.types.is_floating(column.type):
            quoted = pc.binary_join_element_wise('"', pc.replace_substring(text, '"', '""'), '"', "")
            text = pc.if_else(pc.match_substring_regex(text, f'[{separator}"\r\n]'), quoted, text)
            text = pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)
        columns.append(pc.fill_null(text, missing))
    lines = pc.binary_join_element_wise(*columns, separator)
    return "".join(f"{line}\n" for line in lines.to_pylist()).encode()


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
