"""Reading: whole lines only, the place known again, files that are cut, rewritten or replaced while they are followed."""

from __future__ import annotations

import os
import pathlib
from typing import Any

import pytest

from volatilis.watching.input import BLOCK, LONGEST, Lines
from volatilis.watching.places import SEEN, Place, SavedPlace

LINES = b"".join(b"line %d\n" % i for i in range(3000))


class Now:
    """Waits for nothing."""

    caught = None

    def wait(self, descriptor: Any, seconds: Any) -> bool:
        return descriptor is not None


def reader(path: Any, follow: bool = False) -> tuple[Lines, list[str]]:
    said: list[str] = []
    return Lines(str(path), follow, said.append), said


def taken(lines: Lines, looks: int = 10) -> bytes:
    """What is there, taken."""
    data = b""
    for _ in range(looks):
        block = lines.next_block(Now(), 0.0)  # type: ignore[arg-type]
        if block is not None:
            assert block.lines_before == lines.place.lines
            lines.take(block.data, block.data.count(b"\n") + (not block.data.endswith(b"\n")))
            data += block.data
    return data


def saved(lines: Lines) -> SavedPlace:
    return SavedPlace.from_data(lines.place.to_data())


def went_on(path: Any, place: SavedPlace, follow: bool = False) -> tuple[Lines, list[str]]:
    lines, said = reader(path, follow)
    lines.go_on(place, False, Now())  # type: ignore[arg-type]
    return lines, said


@pytest.fixture
def log(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "a.log"
    path.write_bytes(LINES)
    return path


def test_a_file_to_its_end(log: pathlib.Path) -> None:
    lines, said = reader(log)
    assert taken(lines) == LINES
    assert lines.ended
    assert (lines.place.position, lines.place.lines, lines.place.in_line) == (len(LINES), 3000, False)
    assert not said


def test_half_a_line_at_the_end_of_a_file_is_its_last(log: pathlib.Path) -> None:
    log.write_bytes(b"1\n2\n3")
    lines, _ = reader(log)
    assert taken(lines) == b"1\n2\n3"
    assert lines.place.in_line
    assert lines.place.lines == 3


def test_half_a_line_of_a_file_that_grows_waits_for_its_newline(log: pathlib.Path) -> None:
    log.write_bytes(b"1\n2.")
    lines, said = reader(log, follow=True)
    assert taken(lines) == b"1\n"
    with open(log, "ab") as file:
        file.write(b"5")
        file.flush()
        assert taken(lines) == b""
        file.write(b"\n3")
        file.flush()
        assert taken(lines) == b"2.5\n"
    assert lines.place.position == 6
    assert not lines.ended
    assert not said


def test_going_on_in_the_same_file(log: pathlib.Path) -> None:
    lines, _ = reader(log)
    taken(lines)
    place = saved(lines)
    with open(log, "ab") as file:
        file.write(b"more\n")
    again, said = went_on(log, place)
    assert taken(again) == b"more\n"
    assert again.place.lines == 3001
    assert not said


def test_going_on_in_a_copy_of_the_file(log: pathlib.Path, tmp_path: pathlib.Path) -> None:
    lines, _ = reader(log)
    taken(lines)
    copy = tmp_path / "copy.log"
    copy.write_bytes(LINES + b"more\n")
    again, said = went_on(copy, saved(lines))
    assert taken(again) == b"more\n"
    assert not said


@pytest.mark.parametrize(
    "content",
    [b"short\n", LINES.replace(b"line 2999", b"line xxxx") + b"more\n", LINES.replace(b"line 0\n", b"line x\n") + b"more\n"],
    ids=["shorter", "other before the place", "other beginning"],
)
@pytest.mark.parametrize("follow", [False, True])
def test_another_file_is_read_from_its_beginning(log: pathlib.Path, content: bytes, follow: bool) -> None:
    lines, _ = reader(log)
    taken(lines)
    log.write_bytes(content)
    again, said = went_on(log, saved(lines), follow)
    assert taken(again) == content
    assert "is read from its beginning" in said[0]
    assert "after line 3000" in said[0]


def test_a_line_that_was_taken_before_it_was_whole(log: pathlib.Path) -> None:
    log.write_bytes(b"1\n2.")
    lines, _ = reader(log)
    taken(lines)
    place = saved(lines)
    log.write_bytes(b"1\n2.\n3\n")  # just its newline
    again, said = went_on(log, place)
    assert taken(again) == b"3\n"
    assert (again.place.lines, said) == (3, [])
    log.write_bytes(b"1\n2.75\n3\n")  # more of the line
    again, said = went_on(log, place)
    assert taken(again) == b"3\n"
    assert again.place.lines == 3
    assert "line 2 was read before it was complete; the rest of it is ignored: b'75'" in said[0]


def test_a_followed_file_that_is_cut(log: pathlib.Path) -> None:
    lines, said = reader(log, follow=True)
    taken(lines)
    os.truncate(log, 0)
    assert taken(lines) == b""
    with open(log, "ab") as file:
        file.write(b"new 1\nnew 2\n")
    assert taken(lines) == b"new 1\nnew 2\n"
    assert lines.place.lines == 2
    assert "was cut or rewritten after line 3000" in said[0]


def test_a_followed_file_that_is_rewritten_longer(log: pathlib.Path) -> None:
    lines, said = reader(log, follow=True)
    taken(lines)
    log.write_bytes(LINES.replace(b"line", b"News"))  # as long as before
    with open(log, "ab") as file:
        file.write(b"more\n")
    assert taken(lines) == LINES.replace(b"line", b"News") + b"more\n"
    assert "was cut or rewritten" in said[0]


def test_a_followed_file_that_is_rotated(log: pathlib.Path) -> None:
    log.write_bytes(3 * LINES)
    lines, said = reader(log, follow=True)
    assert 0 < len(taken(lines, 1)) < 3 * len(LINES)  # not all of it yet
    with open(log, "ab") as file:
        os.rename(log, log.with_suffix(".1"))
        assert taken(lines).endswith(b"line 2999\n")  # the rest of the earlier file
        file.write(b"late\nha")  # its writer has not noticed
        file.flush()
        assert taken(lines) == b"late\n"
    log.write_bytes(b"new 1\n")
    assert taken(lines) == b"new 1\n"
    assert lines.place.lines == 1
    assert "ended within line 9002, which is left out: b'ha'" in said[0]
    assert "is another file now, after line 9001" in said[1]


def test_a_line_without_end_is_refused(log: pathlib.Path) -> None:
    log.write_bytes(b"1\n" + b"x" * (LONGEST + BLOCK + 1))
    with pytest.raises(ValueError, match="line 2 has more than 1,048,576 bytes"):
        taken(reader(log)[0], 100)


def test_what_cannot_be_followed(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="--follow needs the name of a file"):
        reader("-", follow=True)
    with pytest.raises(ValueError, match="is a folder"):
        reader(tmp_path)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    holder = os.open(fifo, os.O_RDWR)  # so that opening it does not wait
    with pytest.raises(ValueError, match="is not a regular file; leave --follow out"):
        reader(fifo, follow=True)
    os.close(holder)


@pytest.mark.parametrize("size", [1, 100, SEEN, 10 * SEEN])
def test_a_place_does_not_depend_on_the_blocks(size: int) -> None:
    place = Place()
    for start in range(0, len(LINES), size):
        part = LINES[start : start + size]
        place = place.after(part, part.count(b"\n"))
    assert place == Place().after(LINES, 3000)
    assert (place.begin, place.before) == (LINES[:SEEN], LINES[-SEEN:])


@pytest.mark.parametrize(
    "data", [None, {}, {"position": 1}, {"position": -1, "lines": 0, "begin": "", "before": "", "in_line": False}]
)
def test_a_place_that_is_none(data: Any) -> None:
    with pytest.raises(ValueError, match="the saved position"):
        SavedPlace.from_data(data)
