"""Writing tables: under its final name a file is whole or not there. In TSV a missing value is `n/a`, as BIDS has it."""

from __future__ import annotations

import contextlib
import json
import math
import os
import pathlib
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import IO, Any

import numpy as np

from volatilis.tables.formats import compressed, kind_of

STANDARD_OUTPUT = "-"


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file that gets its name when it is whole: a crash or an error leaves what was there before."""
    path = pathlib.Path(path)
    try:
        handle, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".partial")
    except OSError as error:
        raise OSError(error.errno, f"cannot write {path}: {error.strerror}") from None
    try:
        os.chmod(partial, 0o666 & ~_umask())
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except OSError as error:
        raise OSError(error.errno, f"cannot write {path}: {error.strerror or error}") from None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(partial)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    with whole_file(path) as file:
        file.write(text.encode())


@contextlib.contextmanager
def writer(path: str | os.PathLike[str], schema: Any) -> Iterator[Callable[[Any], None]]:
    """`with writer(path, schema) as write: write(batch)`; `-` is CSV on standard output."""
    if os.fspath(path) == STANDARD_OUTPUT:
        with _batch_writer(sys.stdout.buffer, schema, "csv") as write:
            yield write
        sys.stdout.buffer.flush()
        return
    kind, compression = kind_of(path)
    with whole_file(path) as raw:
        stream = compressed(raw, compression)
        with _batch_writer(stream, schema, kind) as write:
            yield write
        if stream is not raw:
            stream.close()


@contextlib.contextmanager
def _batch_writer(stream: Any, schema: Any, kind: str) -> Iterator[Callable[[Any], None]]:
    import pyarrow as pa
    from pyarrow import csv, parquet

    if kind == "parquet":
        # a dictionary pays for texts and whole numbers; measured numbers hardly ever repeat
        repeated = [field.name for field in schema if not pa.types.is_floating(field.type)]
        with parquet.ParquetWriter(stream, schema, use_dictionary=repeated, write_statistics=repeated) as file:
            yield file.write_batch
    elif kind == "jsonl":
        yield lambda batch: stream.write(_json_lines(batch)) and None
    else:
        shown = pa.schema([(field.name, pa.string()) for field in schema])
        options = csv.WriteOptions(delimiter="\t" if kind == "tsv" else ",", quoting_style="needed", quoting_header="needed")
        with csv.CSVWriter(pa.PythonFile(stream, mode="w"), shown, write_options=options) as file:
            yield lambda batch: file.write_batch(_as_texts(batch, shown, "n/a" if kind == "tsv" else None))


def _as_texts(batch: Any, schema: Any, missing: str | None) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = []
    for column in batch.columns:
        if pa.types.is_floating(column.type):
            column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
        text = column.cast(pa.string())
        text = pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)
        columns.append(text if missing is None else pc.fill_null(text, missing))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _json_lines(batch: Any) -> bytes:
    """One object a line; what is not a number is null, and infinity 1e999, which reads back as infinity."""
    columns = [_json_texts(column) for column in batch.columns]
    names = [json.dumps(name) for name in batch.schema.names]
    rows = zip(*columns, strict=True)
    return "".join("{" + ", ".join(f"{n}: {v}" for n, v in zip(names, row, strict=True)) + "}\n" for row in rows).encode()


def _json_texts(column: Any) -> list[str]:
    import pyarrow as pa

    if pa.types.is_floating(column.type):
        values = np.asarray(column.to_numpy(zero_copy_only=False), dtype=float).tolist()
        return [repr(v) if math.isfinite(v) else "null" if v != v else "1e999" if v > 0 else "-1e999" for v in values]
    return [json.dumps(value, default=str) for value in column.to_pylist()]


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
