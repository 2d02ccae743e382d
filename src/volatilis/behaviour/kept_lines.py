"""What is finished, one line of JSON each in a file, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Callable
from typing import Any


class KeptLines:
    """Hands what is there to `take`, line by line; adds what is new. A last line that was cut off is not there.

    A line that `take` cannot read is an error: nothing is thrown away unasked.
    """

    def __init__(self, path: str | os.PathLike[str], take: Callable[[Any], None]) -> None:
        path = pathlib.Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        *lines, cut_off = path.read_bytes().split(b"\n") if path.exists() else [b""]
        for number, line in enumerate(lines, 1):
            try:
                take(json.loads(line))
            except (ValueError, TypeError, LookupError, AttributeError):
                what = "is not what volatilis wrote there"
                mend = "delete that line, and only it is computed again; or name another folder"
                raise ValueError(f"{path}: line {number} {what}: {mend}") from None
        self._file = path.open("ab")
        if cut_off:
            self._file.truncate(self._file.tell() - len(cut_off))

    def add(self, entry: Any) -> None:
        """At once in the file, so that it is there whatever happens next."""
        self._file.write(json.dumps(entry).encode() + b"\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()
