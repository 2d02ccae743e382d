"""Whole lines from standard input, from a file, or from a file that grows: all that are there, without waiting for more.

A place in the input is known again by the bytes before it, so that a watcher goes on where an earlier one stopped.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from volatilis.watching.watcher import Waiting

BLOCK = 1 << 16  # bytes that are read at a time
LONGEST = 1 << 20  # bytes of a line
LOOK = 0.1  # seconds between two looks at a file that is followed
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

    @classmethod
    def from_data(cls, data: object) -> SavedPlace:
        kinds = {"position": int, "lines": int, "begin": str, "before": str, "in_line": bool}
        if not isinstance(data, dict) or {name: type(value) for name, value in data.items()} != kinds:
            raise ValueError("the saved position in the input is not valid")
        if data["position"] < 0 or data["lines"] < 0:
            raise ValueError("the saved position is before the beginning of the input")
        return cls(**data)

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


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Block(NamedTuple):
    """Lines, each with its newline (the input's last may have none), and the number of lines before them."""

    data: bytes
    lines_before: int
    begins: bool  # with the first byte of an input


class Lines:
    """An input, read line by line; `place` is after the last line that was taken.

    next_block gives what is there, or nothing; take says how much of it was dealt with.
    """

    def __init__(self, path: str, follow: bool, report: Callable[[str], None]) -> None:
        if follow and path == STANDARD_INPUT:
            raise ValueError("--follow needs the name of a file; standard input is read as it comes anyway")
        self.name = "standard input" if path == STANDARD_INPUT else path
        self._path, self._follow, self._report = path, follow, report
        self._descriptor = self._open()
        self._is_file = stat.S_ISREG(os.fstat(self._descriptor).st_mode)
        if follow and not self._is_file:
            raise ValueError(f"{path} is not a regular file; leave --follow out to read it as it comes")
        self._rest, self._ended, self._skip_line = b"", False, False
        self.place = Place()
        self.goes_on = False  # a pipe that goes on where another ended, so that a header need not come again
        offset = os.lseek(self._descriptor, 0, os.SEEK_CUR) if self._is_file else 0
        if offset:  # someone before us read a part of it
            self.place = place_in_file(self._descriptor, offset) or Place()

    def close(self) -> None:
        if self._path != STANDARD_INPUT:
            os.close(self._descriptor)

    # --- going on --------------------------------------------------------------------------------------------------------

    def go_on(self, saved: SavedPlace, replay: bool, waiting: Waiting) -> None:
        """From a saved place, if this is the input that it stands in, else from the beginning."""
        if replay and self._is_file:
            raise ValueError(
                "--replay is for a pipe that starts again from its beginning; a file goes on where it was left anyway"
            )
        if self._is_file:
            place = saved.found_in(self._descriptor)
            if place is None:
                self._report(
                    f"{self.name} was cut or is another file than before: it is read from its beginning; lines that came "
                    f"after line {saved.lines} of the earlier content were not seen"
                )
                self._begin()
                return
            os.lseek(self._descriptor, saved.position, os.SEEK_SET)
        elif replay:
            place = self._skip(saved, waiting)
            if place is None:  # a signal came
                return
        else:
            self.goes_on = True
            return
        self.place, self._skip_line = place, saved.in_line

    def _skip(self, saved: SavedPlace, waiting: Waiting) -> Place | None:
        """Read a pipe again up to the place; what is read must be what was read before."""
        place = Place()
        while place.position < saved.position:
            if not waiting.wait(self._descriptor, None):
                if waiting.caught is not None:
                    return None
                continue
            data = os.read(self._descriptor, min(BLOCK, saved.position - place.position))
            if not data:
                raise ValueError(
                    f"{self.name} ended after {place.position} bytes, but {saved.position} were read before; leave --replay out "
                    "if the pipe does not start again"
                )
            place = place.after(data, 0)
        if not saved.fits(place):
            raise ValueError(f"{self.name} does not begin with what was read before; leave --replay out if it is a live stream")
        return place._replace(lines=saved.lines, in_line=saved.in_line)

    # --- reading ---------------------------------------------------------------------------------------------------------

    @property
    def ended(self) -> bool:
        """Whether there will never be more."""
        return self._ended and not self._rest

    def next_block(self, waiting: Waiting, seconds: float | None) -> Block | None:
        """The whole lines that are there now; None if none came in that time, or a signal did, or the input ended."""
        if not self._ready(waiting, seconds):
            return None
        data = os.read(self._descriptor, BLOCK)
        if not data:
            return self._at_end()
        if self._skip_line and not (data := self._without_rest_of_line(data)):
            return None
        whole, newline, rest = (self._rest + data).rpartition(b"\n")
        if len(rest) > LONGEST:
            number = self.place.lines + whole.count(b"\n") + (2 if newline else 1)
            raise ValueError(f"{self.name}: line {number} has more than {LONGEST:,} bytes; JSON lines or CSV are accepted")
        self._rest = rest
        return self._block(whole + newline) if newline else None

    def take(self, data: bytes, lines: int) -> None:
        """These lines, the first of those that `next_block` gave, were dealt with."""
        self.place = self.place.after(data, lines)

    def _block(self, data: bytes) -> Block:
        return Block(data, self.place.lines, self.place.position == 0)

    def _ready(self, waiting: Waiting, seconds: float | None) -> bool:
        if self._is_file:
            return not self._follow or self._grown() or self._replaced() or self._nothing_new(waiting, seconds)
        return waiting.wait(self._descriptor, seconds)

    def _nothing_new(self, waiting: Waiting, seconds: float | None) -> bool:
        waiting.wait(None, LOOK if seconds is None else min(LOOK, seconds))
        return False

    def _at_end(self) -> Block | None:
        if self._follow:
            return None
        self._ended = True
        data, self._rest = self._rest, b""
        return self._block(data) if data else None

    def _without_rest_of_line(self, data: bytes) -> bytes:
        """The last line was taken when the input ended without a newline. What follows is that newline, or that line grew."""
        line, newline, rest = data.partition(b"\n")
        if line.strip():
            self._report(
                f"{self.name}: line {self.place.lines} was taken before it was whole; its rest is left out: {line[:60]!r}"
            )
        self._skip_line = not newline
        self.place = self.place.after(line + newline, 0)
        return rest

    # --- a file that is followed -----------------------------------------------------------------------------------------

    def _grown(self) -> bool:
        """Whether there is more to read in the file that is open."""
        size, read = os.fstat(self._descriptor).st_size, self.place.position + len(self._rest)
        if size == read:
            return False
        before = self.place.before
        if size < read or os.pread(self._descriptor, len(before), self.place.position - len(before)) != before:
            self._report(f"{self.name} was cut or rewritten after line {self.place.lines}: it is read from its beginning")
            self._begin()
        return True

    def _replaced(self) -> bool:
        """Whether another file has the name now: a log that was rotated. Then that is read from now on."""
        try:
            now, then = os.stat(self._path), os.fstat(self._descriptor)
        except FileNotFoundError:
            return False  # the new one is not there yet
        if (now.st_dev, now.st_ino) == (then.st_dev, then.st_ino):
            return False
        if self._rest:
            shown = self._rest[:60]
            self._report(f"{self.name}: the earlier file ended within line {self.place.lines + 1}, which is left out: {shown!r}")
        self._report(f"{self.name} is another file now, after line {self.place.lines}: it is read from its beginning")
        os.close(self._descriptor)
        self._descriptor = self._open()
        self._begin()
        return True

    def _begin(self) -> None:
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        self.place, self._rest, self._skip_line = Place(), b"", False

    def _open(self) -> int:
        if self._path == STANDARD_INPUT:
            if sys.stdin is None:
                raise ValueError("standard input is closed; pipe lines into it, or name a file")
            return sys.stdin.fileno()
        if os.path.isdir(self._path):
            raise ValueError(f"{self._path} is a folder; a file is accepted, or - for standard input")
        return os.open(self._path, os.O_RDONLY)
