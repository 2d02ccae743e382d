"""What is finished, one line of JSON each in a file, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Callable
from typing import Any

LONGEST_WORD = len("false")


class KeptLines:
    """Hands what is there to `take`, line by line; adds what is new. Several runs may share a file: it is only ever added to.

    A line that was cut off, when a run was killed while it wrote, is passed over. Any other line that `take` cannot read is an
    error: nothing is thrown away unasked.
    """

    def __init__(self, path: str | os.PathLike[str], take: Callable[[Any], None]) -> None:
        path = pathlib.Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        content = path.read_bytes() if path.exists() else b""
        for number, line in enumerate(content.splitlines(), 1):
            try:
                take(json.loads(line))
            except (ValueError, TypeError, LookupError, AttributeError) as error:
                if _cut_off(error):
                    continue
                what = "is not what volatilis wrote there"
                mend = "delete that line, and only it is computed again; or name another folder"
                raise ValueError(f"{path}: line {number} {what}: {mend}") from None
        self._file = path.open("ab", buffering=0)  # a line is written at one go, or another run's might end up within it
        if content and not content.endswith(b"\n"):
            self._file.write(b"\n")

    def add(self, entry: Any) -> None:
        """At once in the file, so that it is there whatever happens next."""
        self._file.write(json.dumps(entry).encode() + b"\n")

    def close(self) -> None:
        self._file.close()


def _cut_off(error: Exception) -> bool:
    """Whether the text was fine as far as it went: what is missing is missing at its end."""
    if not isinstance(error, json.JSONDecodeError) or not error.doc.startswith(("{", "[")):
        return False
    return error.msg.startswith("Unterminated string") or error.pos > len(error.doc) - LONGEST_WORD
