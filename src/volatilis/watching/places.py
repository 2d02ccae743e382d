"""A place in the input is known again by the bytes before it, so that a watcher goes on where an earlier one stopped."""

from __future__ import annotations

import hashlib
import os
import sys
from typing import NamedTuple

STANDARD_INPUT = "-"
SEEN = 4096  # bytes at the beginning of an input, and before the place, that are compared


class Place(NamedTuple):
    """After so many bytes and lines; `begin` and `before` are the first bytes and the last ones before the place.

    in_line: the last line was taken without a newline, since the input ended there.
    """

    position: int = 0  # in bytes
    lines: int = 0
    begin: bytes = b""
    before: bytes = b""
    in_line: bool = False

    def after(self, data: bytes, lines: int) -> Place:
        if not data:
            return self
        begin = self.begin if len(self.begin) == SEEN else self.begin + data[: SEEN - len(self.begin)]
        before = data[-SEEN:] if len(data) >= SEEN else (self.before + data)[-SEEN:]
        return Place(self.position + len(data), self.lines + lines, begin, before, not data.endswith(b"\n"))

    def to_data(self) -> dict[str, object]:
        """For a state file: no content of the input, only digests."""
        digests = {"begin": _digest(self.begin), "before": _digest(self.before)}
        return {"position": self.position, "lines": self.lines, "in_line": self.in_line, **digests}


class SavedPlace(NamedTuple):
    """A place as it stands in a state file."""

    position: int
    lines: int
    begin: str
    before: str
    in_line: bool
    file: tuple[int, int] | None = None  # its device and its number there; None of a pipe, and where it is not known

    @classmethod
    def from_data(cls, data: object) -> SavedPlace:
        kinds = {"position": int, "lines": int, "begin": str, "before": str, "in_line": bool}
        given = dict(data) if isinstance(data, dict) else {}
        file = given.pop("file", None)  # states that were made before it was kept have none
        if {name: type(value) for name, value in given.items()} != kinds:
            raise ValueError("the saved position in the input is not valid")
        if given["position"] < 0 or given["lines"] < 0:
            raise ValueError("the saved position is before the beginning of the input")
        if file is not None and not (isinstance(file, list) and len(file) == 2 and {*map(type, file)} == {int}):
            raise ValueError("the saved file of the input is not valid")
        return cls(**given, file=None if file is None else (file[0], file[1]))

    def found_in(self, descriptor: int) -> Place | None:
        """The same place in a file; None where another content stands before it, or the file is shorter."""
        place = place_in_file(descriptor, self.position)
        return place._replace(lines=self.lines, in_line=self.in_line) if place is not None and self.fits(place) else None

    def fits(self, place: Place) -> bool:
        return self.position == place.position and (self.begin, self.before) == (_digest(place.begin), _digest(place.before))


def place_in_file(descriptor: int, position: int) -> Place | None:
    """The place after so many bytes of a file, its lines not counted; None where the file is shorter."""
    if os.fstat(descriptor).st_size < position:
        return None
    count = min(SEEN, position)
    return Place(position, 0, os.pread(descriptor, count, 0), os.pread(descriptor, count, position - count))


def open_input(path: str) -> int:
    if path == STANDARD_INPUT:
        if sys.stdin is None:
            raise ValueError("standard input is closed; pipe lines into it, or name a file")
        return sys.stdin.fileno()
    if os.path.isdir(path):
        raise ValueError(f"{path} is a folder; a file is accepted, or - for standard input")
    return os.open(path, os.O_RDONLY)


def file_of(descriptor: int) -> list[int]:
    """What a file is known by while it has other names: for `SavedPlace`."""
    status = os.fstat(descriptor)
    return [status.st_dev, status.st_ino]


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
