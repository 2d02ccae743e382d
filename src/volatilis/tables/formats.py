"""Which kind of file it is, and how to open it: compression is seen in its first bytes, the rest in its name."""

from __future__ import annotations

import atexit
import bz2
import gzip
import io
import lzma
import os
import pathlib
import time
import weakref
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, cast

from volatilis.tables.columns import TableError

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import Buffer

KINDS = {".csv": "csv", ".tsv": "tsv", ".parquet": "parquet", ".pq": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl"}
COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")
MAGIC = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\x00": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}
MOST_UNPACKED, MOST_TIMES = 1 << 30, 100  # bytes, and times the size of what was read of the file
LET_GO = 2.0  # seconds in which a thread of Arrow ends the block that it reads
ACCEPTED = ".csv, .tsv, .parquet, .jsonl, or one of these with .gz, .bz2, .xz or .zst after it"


def kind_of(path: str | os.PathLike[str]) -> tuple[str, str]:
    """csv, tsv, parquet or jsonl, and the ending of its compression or nothing; from the name."""
    if pathlib.Path(path).is_dir():
        raise TableError(f"{path} is a folder; the name of a file is accepted")
    endings = [ending.lower() for ending in pathlib.Path(path).suffixes]
    compression = endings.pop() if endings and endings[-1] in COMPRESSIONS else ""
    if not endings or endings[-1] not in KINDS:
        raise TableError(f"{path}: the ending of the name does not tell the kind of table; accepted are {ACCEPTED}")
    kind = KINDS[endings[-1]]
    if kind == "parquet" and compression:
        raise TableError(f"{path}: Parquet is compressed inside; write it without {compression}")
    return kind, compression


class Unpacked(io.RawIOBase):
    """What is in a compressed file; refused where so much comes out of so little that it was made to fill a disk."""

    def __init__(self, raw: IO[bytes], stream: IO[bytes], path: str) -> None:
        self._raw, self._stream, self._path, self._count = raw, stream, path, 0

    def readable(self) -> bool:
        return True

    def readinto(self, room: Buffer) -> int:
        view = memoryview(room).cast("B")
        data = self._stream.read(len(view))
        view[: len(data)] = data
        self._count += len(data)
        if self._count > MOST_UNPACKED and self._count > MOST_TIMES * self._raw.tell():
            raise TableError(
                f"{self._path} unpacks to more than {MOST_TIMES} times its size and {MOST_UNPACKED >> 20:,} MiB: it may have "
                "been made to fill the disk. If you trust it, unpack it first, as zcat does, and give the unpacked file"
            )
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()


def open_bytes(path: str | os.PathLike[str]) -> tuple[IO[bytes], IO[bytes]]:
    """The file, and what is in it once decompressed; both to be closed."""
    raw = open(path, "rb")  # noqa: SIM115 (closed by the caller)
    try:
        start = raw.read(6)
        raw.seek(0)
        compression = next((ending for magic, ending in MAGIC.items() if start.startswith(magic)), "")
        stream = decompressed(raw, compression)
        return raw, cast(
            "IO[bytes]", io.BufferedReader(Unpacked(raw, stream, os.fspath(path)), 1 << 17)
        ) if compression else stream
    except BaseException:
        raw.close()
        raise


def decompressed(raw: IO[bytes], compression: str) -> IO[bytes]:
    if compression == ".gz":
        return cast("IO[bytes]", gzip.GzipFile(fileobj=raw))
    if compression == ".bz2":
        return bz2.BZ2File(raw)
    if compression == ".xz":
        return lzma.LZMAFile(raw)
    if compression == ".zst":
        import pyarrow as pa

        return io.BufferedReader(pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd"))
    return raw


class Lent:
    """What Python unpacks, in the hands of Arrow, which reads ahead in a thread of its own.

    A thread that asks for an interpreter that is ending aborts the whole process: so, before the end, the streams that are
    still lent have come to their end.
    """

    closed = False

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._ended = stream, False
        if not _lent:
            atexit.register(_take_back)
        _lent.add(self)

    def read(self, size: int) -> bytes:
        return b"" if self._ended else self._stream.read(size)

    def close(self) -> None:
        self.closed = True

    def end(self) -> None:
        self._ended = True


_lent: weakref.WeakSet[Lent] = weakref.WeakSet()  # until the last of Arrow's threads has let go of it


def _take_back() -> None:
    deadline = time.monotonic() + LET_GO
    for lent in list(_lent):
        lent.end()
        del lent
    while _lent and time.monotonic() < deadline:
        time.sleep(0.001)


def for_arrow(raw: IO[bytes], stream: IO[bytes]) -> tuple[pa.NativeFile | Lent, Callable[[], int]]:
    """What Arrow reads from, and how far it is in the file; `raw` and `stream` are those of `open_bytes`.

    A plain file it reads without Python.
    """
    import pyarrow as pa

    if stream is raw:
        file = pa.OSFile(raw.name, "r")
        return file, file.tell
    return Lent(stream), raw.tell


def compressed(raw: IO[bytes], compression: str) -> IO[bytes]:
    if compression == ".gz":
        return cast("IO[bytes]", gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=raw, mtime=0))
    if compression == ".bz2":
        return bz2.BZ2File(raw, "wb")
    if compression == ".xz":
        return lzma.LZMAFile(raw, "wb")
    if compression == ".zst":
        import pyarrow as pa

        duplicate = os.fdopen(os.dup(raw.fileno()), "wb")  # closed with the stream; the file that was given stays open
        return pa.CompressedOutputStream(pa.PythonFile(duplicate, mode="w"), "zstd")
    return raw
