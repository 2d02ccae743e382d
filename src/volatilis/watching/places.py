"""A place in the input is known again by the bytes before it, so that a watcher goes on where an earlier one stopped.

Where a log was rotated while nobody watched, the file in which a place stands is found under its new name. A file is known by its
number on the disk, and a copy of it by what stands before the place. Those that were rotated away after it come next, the file
that has the name now comes last.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
from collections.abc import Iterator
from typing import NamedTuple

STANDARD_INPUT = "-"
SEEN = 4096  # bytes at the beginning of an input, and before the place, that are compared
ROTATED = re.compile(r"[.-]\d[\d.:T_-]*").fullmatch  # what follows the name: log.1, log-20260131; not log.1.gz
Found = tuple[str, os.stat_result]


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


# --- a log that was rotated ---------------------------------------------------------------------------------------------


def files_from(path: str, saved: SavedPlace) -> list[str] | None:
    """The files that hold what follows a place, in their order, the last of them `path`; None where its file is gone."""
    here, others = _status(path), list(_beside(path))
    if here is not None and saved.file == (here.st_dev, here.st_ino):
        if _fits(path, saved):
            return [path]
    elif moved := [(name, status) for name, status in others if saved.file == (status.st_dev, status.st_ino)]:
        name, status = moved[0]
        if _fits(name, saved) and not (here is not None and _is_continued(name, status.st_size, path)):
            return _from(name, status, others, path)
    if here is not None and (saved.position or saved.file is None) and _fits(path, saved):
        return [path]
    prefix = os.path.basename(path)
    copies = [one for one in others if saved.position and _is_of(os.path.basename(one[0]), prefix) and _fits(one[0], saved)]
    return _from(*copies[0], others, path) if copies else None


def opened_from(path: str, saved: SavedPlace, tries: int = 20) -> tuple[list[str] | None, int | None]:
    """`files_from`, and the first of them opened where it is another than `path`; again where a name went away meanwhile."""
    try:
        files = files_from(path, saved)
        return files, open_input(files[0]) if files is not None and files[0] != path else None
    except FileNotFoundError:  # a log is being rotated, or renamed back, at this moment
        if not tries:
            raise
    return opened_from(path, saved, tries - 1)


def _from(name: str, status: os.stat_result, others: list[Found], path: str) -> list[str]:
    prefix = os.path.basename(path)
    rotated = [one for one in others if _is_of(os.path.basename(one[0]), prefix)]
    later = sorted((one[1].st_mtime_ns, one[0]) for one in rotated if one[1].st_mtime_ns > status.st_mtime_ns)
    return [name, *(other for _, other in later), path]


def _beside(path: str) -> Iterator[Found]:
    """All files of its folder but itself."""
    folder, name = os.path.split(path)
    try:
        with os.scandir(folder or ".") as entries:
            for entry in entries:
                if entry.name != name and entry.is_file(follow_symlinks=False):
                    yield os.path.join(folder, entry.name), entry.stat(follow_symlinks=False)
    except OSError:  # a folder that cannot be listed, or a file that is gone already
        return


def _is_of(name: str, log: str) -> bool:
    return name.startswith(log) and ROTATED(name.removeprefix(log)) is not None


def _status(path: str) -> os.stat_result | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def _fits(path: str, saved: SavedPlace) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        return saved.found_in(descriptor) is not None
    finally:
        os.close(descriptor)


def _is_continued(name: str, size: int, path: str) -> bool:
    """Whether a file begins with all of another, as a copy that an editor leaves: then nothing was rotated."""
    places = []
    for one in (name, path):
        descriptor = os.open(one, os.O_RDONLY | os.O_NONBLOCK)
        try:
            places.append(place_in_file(descriptor, size))
        finally:
            os.close(descriptor)
    return size > 0 and places[0] == places[1]
