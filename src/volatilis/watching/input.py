"""Whole lines from standard input, from a file, or from a file that grows: all that are there, without waiting for more."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from volatilis.watching.places import STANDARD_INPUT, Place, SavedPlace, file_of, open_input, opened_from, place_in_file

if TYPE_CHECKING:
    from volatilis.watching.waiting import Waiting

BLOCK = 1 << 16  # bytes that are read at a time
LONGEST = 1 << 20  # bytes of a line
LOOK = 0.1  # seconds between two looks at a file that is followed


class LineBlock(NamedTuple):
    """Lines, each with its newline (the input's last may have none), and the number of lines before them."""

    data: bytes
    lines_before: int
    begins: bool  # with the first byte of an input
    ended: bool = False  # nothing follows it

    @property
    def lines(self) -> int:
        return self.data.count(b"\n") + (not self.data.endswith(b"\n"))

    def first(self, lines: int) -> bytes:
        """So many of its lines, from the first."""
        end = 0
        for _ in range(lines):
            end = self.data.find(b"\n", end) + 1
            if end == 0:
                return self.data
        return self.data[:end]


class Lines:
    """An input, read line by line; `place` is after the last line that was taken.

    next_block gives what is there, or nothing; take says how much of it was dealt with.
    """

    def __init__(self, path: str, follow: bool, report: Callable[[str], None]) -> None:
        if follow and path == STANDARD_INPUT:
            raise ValueError("--follow needs the name of a file; standard input is read as it comes anyway")
        self.name = "standard input" if path == STANDARD_INPUT else path
        self._path, self._follow, self._report = path, follow, report
        self._rest, self._ended, self._skip_line = b"", False, False
        self._descriptor: int | None = None
        self._saved: SavedPlace | None = None  # to go on from, once the file is there
        self._is_file = True
        self.place = Place()
        self.goes_on = False  # a pipe that goes on where another ended, so that a header need not come again
        self.reads_again: bool | None = None  # whether what follows the saved place comes again; None: not known yet
        self.begins_anew = False  # in another file, or at the beginning of one that was cut: a state must be saved first
        self._later: list[str] = []  # files that come after the one that is open
        if follow and not os.path.exists(path):
            report(f"waiting for {path}, which is not there yet")
        else:
            self._begin_with(open_input(self._path))

    def _begin_with(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
        if self._follow and not self._is_file:
            raise ValueError(f"{self._path} is not a regular file; leave --follow out to read it as it comes")
        offset = os.lseek(descriptor, 0, os.SEEK_CUR) if self._is_file else 0
        if offset:  # someone before us read a part of it
            self.place = place_in_file(descriptor, offset) or Place()

    def close(self) -> None:
        if self._descriptor is not None and self._path != STANDARD_INPUT:
            os.close(self._descriptor)

    def waits(self) -> int | None:
        """The bytes of a file that were not taken yet; None of a pipe, of which nobody knows."""
        if self._descriptor is None or not self._is_file:
            return None
        return max(0, os.fstat(self._descriptor).st_size - self.place.position)

    # --- going on --------------------------------------------------------------------------------------------------------

    def saved(self) -> dict[str, object]:
        """The place, for a state file."""
        known = self._descriptor is not None and self._is_file
        return self.place.to_data() | {"file": file_of(self._opened) if known else None}

    def go_on(self, saved: SavedPlace, replay: bool, waiting: Waiting) -> None:
        """From a saved place, if this is the input that it stands in, else from the beginning."""
        if replay and self._is_file:
            raise ValueError(
                "--replay is for a pipe that starts again from its beginning; a file goes on where it was left anyway"
            )
        if self._is_file:
            self._go_on_in_file(saved)
            return
        if not replay:
            self.goes_on, self.reads_again = True, False
            return
        place = self._skip(self._opened, saved, waiting)
        if place is not None:  # else a signal came
            self.place, self._skip_line, self.reads_again = place, saved.in_line, True

    def _go_on_in_file(self, saved: SavedPlace) -> None:
        files, earlier = ([self._path], None) if self._path == STANDARD_INPUT else opened_from(self._path, saved)
        if files is None and self._descriptor is None:
            self._saved = saved  # until there is one
            return
        if files is not None and earlier is not None:
            self._report(f"{self._path} was rotated after line {saved.lines}: {files[0]} is read to its end first")
            self.close()
            self._descriptor = earlier
            self._later = files[1:-1] if self._follow else files[1:]  # the last one comes when it has lines
        elif self._descriptor is None:
            self._begin_with(open_input(self._path))
        place = None if files is None else saved.found_in(self._opened)
        self.reads_again = place is not None
        if place is None:
            self._report(
                f"{self.name} was cut or is another file than before: it is read from its beginning; lines that came "
                f"after line {saved.lines} of the earlier content were not seen"
            )
            self._begin()
            return
        os.lseek(self._opened, saved.position, os.SEEK_SET)
        self.place, self._skip_line = place, saved.in_line

    def _skip(self, descriptor: int, saved: SavedPlace, waiting: Waiting) -> Place | None:
        """Read a pipe again up to the place; what is read must be what was read before."""
        place = Place()
        while place.position < saved.position:
            if not waiting.wait(descriptor, None):
                if waiting.caught is not None:
                    return None
                continue
            data = os.read(descriptor, min(BLOCK, saved.position - place.position))
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

    def next_block(self, waiting: Waiting, seconds: float | None) -> LineBlock | None:
        """The whole lines that are there now; None if none came in that time, or a signal did, or the input ended."""
        if self._descriptor is None and not self._is_there(waiting, seconds):
            return None
        if not self._ready(self._opened, waiting, seconds):
            return None
        data = os.read(self._opened, BLOCK)
        if not data:
            return self._at_end()
        if self._skip_line and not (data := self._without_rest_of_line(data)):
            return None
        whole, newline, rest = (self._rest + data).rpartition(b"\n")
        self._check_lengths(whole + newline + rest)
        self._rest = rest
        return self._block(whole + newline) if newline else None

    def _check_lengths(self, data: bytes) -> None:
        if len(data) <= LONGEST:
            return
        for i, line in enumerate(data.split(b"\n")):
            if len(line) > LONGEST:
                number = self.place.lines + i + 1
                binary = " (it is binary: unpack it first if it is compressed, as zcat does)" if b"\0" in line else ""
                raise ValueError(
                    f"{self.name}: line {number} has more than {LONGEST:,} bytes; JSON lines or CSV are accepted{binary}"
                )

    def _is_there(self, waiting: Waiting, seconds: float | None) -> bool:
        """Whether the file that is waited for has come; then it is opened."""
        if not os.path.exists(self._path):
            return self._nothing_new(waiting, seconds)
        self._begin_with(open_input(self._path))
        if self._saved is not None:
            saved, self._saved = self._saved, None
            self._go_on_in_file(saved)
        return not self.begins_anew

    @property
    def _opened(self) -> int:
        if self._descriptor is None:
            raise RuntimeError(f"{self.name} is not open")
        return self._descriptor

    def take(self, data: bytes, lines: int) -> None:
        """These lines, the first of those that `next_block` gave, were dealt with."""
        self.place = self.place.after(data, lines)

    def give_back(self, data: bytes) -> None:
        """These lines, the last of those that `next_block` gave, belong to a record that is not whole yet: they come again."""
        self._rest = data + self._rest

    def _block(self, data: bytes, ended: bool = False) -> LineBlock:
        return LineBlock(data, self.place.lines, self.place.position == 0, ended)

    def _ready(self, descriptor: int, waiting: Waiting, seconds: float | None) -> bool:
        if self._is_file:
            if not self._follow or self._grown(descriptor):
                return True
            moved = not self.begins_anew and (self._next_file() or self._replaced(descriptor))
            return False if moved or self.begins_anew else self._nothing_new(waiting, seconds)
        return waiting.wait(descriptor, seconds)

    def _nothing_new(self, waiting: Waiting, seconds: float | None) -> bool:
        waiting.wait(None, LOOK if seconds is None else min(LOOK, seconds))
        return False

    def _at_end(self) -> LineBlock | None:
        if self._follow or self._next_file():
            return None
        self._ended = True
        data, self._rest = self._rest, b""
        return self._block(data, ended=True) if data else None

    def _without_rest_of_line(self, data: bytes) -> bytes:
        """The last line was taken when the input ended without a newline. What follows is that newline, or that line grew."""
        line, newline, rest = data.partition(b"\n")
        if line.strip():
            self._report(
                f"{self.name}: line {self.place.lines} was read before it was complete; the rest of it is ignored: {line[:60]!r}"
            )
        self._skip_line = not newline
        self.place = self.place.after(line + newline, 0)
        return rest

    # --- a file that is followed -----------------------------------------------------------------------------------------

    def _grown(self, descriptor: int) -> bool:
        """Whether there is more to read in the file that is open."""
        size, read = os.fstat(descriptor).st_size, self.place.position + len(self._rest)
        if size == read:
            return False
        before = self.place.before
        if size < read or os.pread(descriptor, len(before), self.place.position - len(before)) != before:
            self._report(f"{self.name} was cut or rewritten after line {self.place.lines}: it is read from its beginning")
            self._begin()
            return False
        return True

    def _replaced(self, descriptor: int) -> bool:
        """Whether another file has the name now: a log that was rotated. Then that is read from now on.

        While it is empty, whoever writes may still write into the earlier one.
        """
        try:
            now, then = os.stat(self._path), os.fstat(descriptor)
        except FileNotFoundError:
            return False  # the new one is not there yet
        if (now.st_dev, now.st_ino) == (then.st_dev, then.st_ino) or not now.st_size:
            return False
        if then.st_size != self.place.position + len(self._rest):
            return False  # it grew meanwhile
        self._say_unfinished()
        self._report(f"{self.name} is another file now, after line {self.place.lines}: it is read from its beginning")
        self._switch(self._path)
        return True

    def _say_unfinished(self) -> None:
        if self._rest:
            shown = self._rest[:60]
            self._report(f"{self.name}: the earlier file ended within line {self.place.lines + 1}, which is left out: {shown!r}")

    def _next_file(self) -> bool:
        """Whether there is a file after the one that is open: then that is read from now on."""
        if not self._later:
            return False
        name = self._later.pop(0)
        if not os.path.exists(name):
            return self._next_file()
        self._say_unfinished()
        self._report(f"{name} comes next, after line {self.place.lines}")
        self._switch(name)
        return True

    def _switch(self, path: str) -> None:
        os.close(self._opened)
        self._descriptor = open_input(path)
        self._begin()

    def _begin(self) -> None:
        os.lseek(self._opened, 0, os.SEEK_SET)
        self.place, self._rest, self._skip_line, self.begins_anew = Place(), b"", False, True
