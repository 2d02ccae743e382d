"""Writing tables: under its final name a file is whole or not there. In TSV a missing value is `n/a`, as BIDS has it."""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import pathlib
import sys
from collections.abc import Callable, Iterator
from typing import IO, Any

import numpy as np

from volatilis._core.leftovers import unfinished_file
from volatilis.tables.formats import compressed, kind_of

STANDARD_OUTPUT = "-"
SLICE = 1 << 12  # rows
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file that gets its name when it is whole: a crash or an error leaves what was there before.

    Until then it is hidden beside it; what a killed process left there goes away with the next file of this name.
    """
    place = _final_place(pathlib.Path(path))
    try:
        handle, partial = unfinished_file(place.parent, f".{place.name}.", ".partial")
    except OSError as error:
        raise OSError(error.errno, f"cannot write {path}: {error.strerror}") from None
    try:
        os.chmod(partial, 0o666 & ~_umask())
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, place)
    except OSError as error:
        if error.errno not in NO_ROOM:  # of something else that went on meanwhile, such as reading the input
            raise
        raise OSError(error.errno, f"cannot write {path}: {error.strerror or error}") from None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(partial)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    with whole_file(path) as file:
        file.write(text.encode())


def _final_place(path: pathlib.Path) -> pathlib.Path:
    """Where a link leads; what cannot be replaced by a file is refused before the work."""
    place = pathlib.Path(os.path.realpath(path))
    if place.is_symlink():
        raise OSError(errno.ELOOP, f"cannot write {path}: {os.strerror(errno.ELOOP)}")
    if place.is_dir():
        raise OSError(errno.EISDIR, f"cannot write {path}: it is a folder")
    if place.exists() and not place.is_file():
        raise OSError(errno.EINVAL, f"cannot write {path}: it is a device or a pipe, not a file; --out - is standard output")
    return place


@contextlib.contextmanager
def standard_output(instead: str = "") -> Iterator[IO[bytes]]:
    """Flushed at the end. Where it is closed or its disk is full, that is said; a reader that went away is another matter."""
    if sys.stdout is None:
        raise OSError(f"standard output is closed; give it a reader or a file{instead}")
    try:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        raise OSError(error.errno, f"cannot write standard output: {error.strerror}") from None


@contextlib.contextmanager
def writer(path: str | os.PathLike[str], schema: Any) -> Iterator[Callable[[Any], None]]:
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
def _batch_writer(stream: Any, schema: Any, kind: str) -> Iterator[Callable[[Any], None]]:
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

        def write(batch: Any) -> None:
            for part in (*waiting, batch):
                _write_in_slices(stream, part, lambda rows: _text_lines(rows, separator, missing))
            waiting.clear()

        yield write
        if waiting:
            stream.write(_text_lines(header, separator, missing))


def _write_in_slices(stream: Any, batch: Any, as_bytes: Callable[[Any], bytes]) -> None:
    """A few thousand rows at a time: as text they take many times the memory that they have as numbers."""
    for start in range(0, batch.num_rows, SLICE):
        stream.write(as_bytes(batch.slice(start, SLICE)))


def _text_lines(batch: Any, separator: str, missing: str) -> bytes:
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
