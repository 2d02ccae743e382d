"""Reading a table in batches, so that one larger than memory works. Text columns of CSV and TSV are kept as they stand."""

from __future__ import annotations

import collections
import contextlib
import json
import lzma
import os
import pathlib
import re
import zlib
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING, Any

from volatilis.tables.columns import TableError, empty_as_missing
from volatilis.tables.formats import for_arrow, kind_of, open_bytes

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 1 << 17  # of a batch
BLOCK = 1 << 23  # bytes of text that are read at a time


class Table:
    """A file of rows: its columns, and its rows in batches of pyarrow.RecordBatch."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self.kind, _ = kind_of(path)
        self.share = 0.0  # how much of the file has been read
        with self._errors():
            _check_content(self.path, self.kind)
            self.schema = {"parquet": self._parquet_schema, "jsonl": self._json_schema}.get(self.kind, self._text_schema)()
        twice = sorted(name for name, count in collections.Counter(self.schema.names).items() if count > 1)
        if twice:
            raise TableError(f"{self.path}: two columns are named {twice[0]!r}; every column needs another name")

    @property
    def columns(self) -> list[str]:
        return list(self.schema.names)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """From the first row on; may be called again."""
        read = {"parquet": self._parquet_batches, "jsonl": self._json_batches}.get(self.kind, self._text_batches)
        with self._errors():
            yield from read()
        self.share = 1.0

    def typed_schema(self) -> pa.Schema:
        """The same columns with the types of what is in them: texts that are all numbers as numbers. Reads the whole file."""
        import pyarrow as pa

        if self.kind not in ("csv", "tsv"):
            return self.schema
        kinds = dict.fromkeys(self.columns, pa.null())
        for batch in self.batches():
            for name, column in zip(kinds, batch.columns, strict=True):
                kinds[name] = _kind_of_texts(column, kinds[name])
        return pa.schema([(name, pa.string() if kind == pa.null() else kind) for name, kind in kinds.items()])

    # --- CSV and TSV -----------------------------------------------------------------------------------------------------

    def _text_schema(self) -> pa.Schema:
        import pyarrow as pa

        with self._opened() as (_, stream):
            first = stream.readline().decode("utf-8-sig")
            other = next((mark for mark in ";\t" if mark in first and "," not in first), ",")
            self._delimiter = "\t" if self.kind == "tsv" else other
        with self._parsed(()) as (reader, _):
            return pa.schema([(name, pa.string()) for name in reader.schema.names])

    @contextlib.contextmanager
    def _parsed(self, columns: tuple[str, ...]) -> Iterator[tuple[Any, Callable[[], int]]]:
        """A reader of batches, and how far it is in the file."""
        import pyarrow as pa
        from pyarrow import csv

        parse = csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True, ignore_empty_lines=len(columns) != 1)
        convert = csv.ConvertOptions(column_types=dict.fromkeys(columns, pa.string()), strings_can_be_null=False)
        options = csv.ReadOptions(block_size=BLOCK, use_threads=False)
        with self._opened() as (raw, stream):
            source, position = for_arrow(raw, stream)
            with csv.open_csv(source, options, parse, convert) as reader:
                yield reader, position

    def _text_batches(self) -> Iterator[pa.RecordBatch]:
        size = os.path.getsize(self.path)
        with self._parsed(tuple(self.columns)) as (reader, position):
            for batch in reader:
                self.share = position() / size
                for start in range(0, batch.num_rows, ROWS):
                    yield batch.slice(start, ROWS)

    # --- Parquet ---------------------------------------------------------------------------------------------------------

    def _parquet_schema(self) -> pa.Schema:
        from pyarrow import parquet

        with parquet.ParquetFile(self.path) as file:
            return file.schema_arrow

    def _parquet_batches(self) -> Iterator[pa.RecordBatch]:
        from pyarrow import parquet

        with parquet.ParquetFile(self.path, pre_buffer=False, buffer_size=1 << 20) as file:
            done, rows = 0, file.metadata.num_rows
            for batch in file.iter_batches(ROWS):
                done += batch.num_rows
                self.share = done / rows
                yield batch

    # --- JSON lines ------------------------------------------------------------------------------------------------------

    def _json_schema(self) -> pa.Schema:
        import pyarrow as pa

        kinds: dict[str, pa.DataType] = {}
        for row in self._json_rows():
            for name, value in row.items():
                kinds[name] = _wider(kinds.get(name, pa.null()), _kind_of_value(value))
        if not kinds:
            raise TableError(f"{self.path}: no row has a column")
        return pa.schema([(name, pa.string() if kind == pa.null() else kind) for name, kind in kinds.items()])

    def _json_batches(self) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        rows: list[dict[str, Any]] = []
        kinds = dict(zip(self.schema.names, self.schema.types, strict=True))
        for row in self._json_rows():
            rows.append({name: _json_value(row.get(name), kind) for name, kind in kinds.items()})
            if len(rows) == ROWS // 8:  # as Python objects they take many times the memory
                yield pa.RecordBatch.from_pylist(rows, self.schema)
                rows = []
        if rows:
            yield pa.RecordBatch.from_pylist(rows, self.schema)

    def _json_rows(self) -> Iterator[dict[str, Any]]:
        size, number = os.path.getsize(self.path), 0
        with self._opened() as (raw, stream):
            for content in stream:
                line = content.decode("utf-8-sig" if number == 0 else "utf-8")
                if not line.strip():
                    continue
                number += 1
                try:
                    row = json.loads(line)
                except ValueError as error:
                    raise TableError(f"{self.path}: row {number} is not JSON ({error}): {line.strip()[:60]!r}") from None
                if not isinstance(row, dict):
                    shown = line.strip()[:60]
                    raise TableError(f'{self.path}: row {number} is not an object, such as {{"outcome": 1.5}}: {shown!r}')
                if number % 10_000 == 0:
                    self.share = raw.tell() / size
                yield row

    # --- what goes wrong -------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _opened(self) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
        raw, stream = open_bytes(self.path)
        with raw, stream:
            yield raw, stream

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        """Errors of libraries about a damaged file become errors that name the file."""
        import pyarrow as pa

        try:
            yield
        except TableError:
            raise
        except UnicodeDecodeError:
            raise TableError(f"{self.path} is not text in UTF-8; save it as UTF-8") from None
        except (EOFError, zlib.error, lzma.LZMAError) as error:
            raise TableError(f"{self.path} is damaged or cut short: {error}") from None
        except pa.ArrowException as error:
            raise TableError(_words(self.path, self.kind, str(error))) from None
        except OSError as error:
            if error.errno is None:  # not from the file system: gzip, bz2, pyarrow on what is in the file
                raise TableError(_words(self.path, self.kind, str(error))) from None
            raise


def open_table(path: str | os.PathLike[str]) -> Table:
    """Open a table; a file that is no table is refused at once."""
    return Table(path)


def _check_content(path: str, kind: str) -> None:
    """Refuse what is no table at all."""
    if pathlib.Path(path).is_dir():
        raise TableError(f"{path} is a folder; a file is accepted")
    raw, stream = open_bytes(path)
    with raw, stream:
        start = stream.read(1 << 16)
    if not start:
        raise TableError(f"{path} is empty; a table with a header and at least one row is accepted")
    if (start[:4] == b"PAR1") != (kind == "parquet"):
        raise TableError(f"{path} is {'not ' if kind == 'parquet' else ''}a Parquet file, but its name says otherwise")
    if kind != "parquet" and start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise TableError(f"{path} is text in UTF-16; save it as UTF-8")
    if kind != "parquet" and b"\x00" in start:
        raise TableError(f"{path} is a binary file; its name says {kind}")


def _words(path: str, kind: str, message: str) -> str:
    if "Empty CSV" in message:
        return f"{path} is empty; a table with a header and at least one row is accepted"
    if "UTF8" in message:
        return f"{path} is not text in UTF-8; save it as UTF-8"
    if kind == "parquet":
        return f"{path} is damaged or cut short: {message}"
    ragged = re.match(r"(?:CSV parse error: )?Row #(\d+): Expected (\d+) columns, got (\d+): (.*)", message, re.DOTALL)
    if ragged:
        row, expected, values, text = int(ragged[1]) - 1, ragged[2], ragged[3], ragged[4]
        return f"{path}: row {row} has {values} values, the header {expected}: {text[:60]!r}; a value with a comma needs quotes"
    return f"{path}: {message.removeprefix('CSV parse error: ').removeprefix('Invalid: ')}"


# --- types ---------------------------------------------------------------------------------------------------------------


def _kind_of_texts(values: pa.Array, so_far: pa.DataType) -> pa.DataType:
    """The narrowest of truth values, whole numbers, numbers and texts that holds a column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if so_far == pa.string():
        return so_far
    cleaned = pc.drop_null(empty_as_missing(values))
    if len(cleaned) == 0:
        return so_far
    if pc.any(pc.match_substring_regex(cleaned, r"^[+-]?0\d")).as_py():  # 007 is a name, not a number
        return pa.string()
    if so_far in (pa.null(), pa.bool_()) and pc.all(pc.is_in(pc.utf8_lower(cleaned), pa.array(["true", "false"]))).as_py():
        return pa.bool_()
    if so_far == pa.bool_():
        return pa.string()
    for kind in (pa.int64(), pa.float64()):
        if not (kind == pa.int64() and so_far == pa.float64()):
            with contextlib.suppress(pa.ArrowInvalid):
                pc.cast(cleaned, kind)
                return kind
    return pa.string()


def _kind_of_value(value: object) -> pa.DataType:
    import pyarrow as pa

    if value is None:
        return pa.null()
    if isinstance(value, bool):
        return pa.bool_()
    if isinstance(value, int):  # more digits than a number of either kind holds: a name, most likely
        return pa.int64() if -(2**63) <= value < 2**63 else pa.string()
    return pa.float64() if isinstance(value, float) else pa.string()


def _wider(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    if one == other or other == pa.null():
        return one
    if one == pa.null():
        return other
    return pa.float64() if {one, other} == {pa.int64(), pa.float64()} else pa.string()


def _json_value(value: object, kind: pa.DataType) -> object:
    import pyarrow as pa

    if value is None or kind != pa.string() or isinstance(value, str):
        return float(value) if kind == pa.float64() and isinstance(value, int) else value
    if isinstance(value, float) and value.is_integer():  # among texts 3.0 has the same name as 3, as among numbers
        value = int(value)
    return json.dumps(value)
