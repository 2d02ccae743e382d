"""Many files at once: each gets its name when all of them are whole, so that an error or a full disk changes nothing."""

from __future__ import annotations

import contextlib
import os
import pathlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from volatilis._core.files import hidden_folder

PREFIX = ".volatilis."
WRITERS = 16  # threads: each waits for the disk, and the disk takes many files as fast as one


class Staged:
    """Files in a hidden folder beside their final places."""

    def __init__(self, folder: pathlib.Path, overwrite: bool) -> None:
        self._folder, self._overwrite = folder, overwrite
        self._hidden: pathlib.Path | None = None
        self._open = contextlib.ExitStack()  # holds the hidden folder
        self._made: list[pathlib.Path] = []

    def add(self, files: Mapping[str, str], progress: Callable[[float], None] = lambda share: None) -> None:
        """Write them where nobody sees them; an error if one is there already and may not be replaced."""
        existing = [name for name in files if (self._folder / name).exists()]
        if existing and not self._overwrite:
            more = f" and {len(existing) - 1} more of these files" if len(existing) > 1 else ""
            raise ValueError(
                f"{self._folder} already holds {existing[0]}{more}; --overwrite replaces them, or name another folder; "
                "nothing was written"
            )
        try:
            self._made = [path for path in (self._folder, *self._folder.parents) if not path.exists()]
            self._folder.mkdir(parents=True, exist_ok=True)
            self._hidden = self._open.enter_context(hidden_folder(self._folder, PREFIX))
        except OSError as error:
            raise OSError(error.errno, f"cannot write into {self._folder}: {error.strerror}") from None
        with ThreadPoolExecutor(WRITERS) as pool:
            work = [pool.submit(self._write, self._hidden / name, text) for name, text in files.items()]
            try:
                for done, future in enumerate(work, 1):
                    future.result()
                    progress(done / len(work))
            finally:
                pool.shutdown(cancel_futures=True)

    def _write(self, path: pathlib.Path, text: str) -> None:
        try:
            with path.open("w", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            why = os.strerror(error.errno) if error.errno else str(error)
            raise OSError(error.errno, f"cannot write {self._folder / path.name}: {why}; nothing was written") from None

    def commit(self) -> None:
        """Give every file its name."""
        if self._hidden is not None:
            for file in sorted(self._hidden.iterdir()):
                os.replace(file, self._folder / file.name)
            self._made = []

    def discard(self) -> None:
        """Remove what did not get its name, and the folders that were made for it."""
        self._open.close()
        for path in self._made:
            with contextlib.suppress(OSError):
                path.rmdir()


@contextlib.contextmanager
def staged(folder: str, overwrite: bool) -> Iterator[Staged]:
    """`with staged(...) as files: files.add({name: text}); files.commit()`"""
    files = Staged(pathlib.Path(folder), overwrite)
    try:
        yield files
    finally:
        files.discard()
