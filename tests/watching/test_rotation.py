"""A log that is rotated while nobody watches, after a kill -9 as well: no line is lost, none comes twice."""

from __future__ import annotations

import gzip
import os
import pathlib
import shutil
import signal
import subprocess
from collections.abc import Callable

import pytest

from tests.helpers.processes import wait_for
from volatilis.catalogue import parse_family, parse_learner
from volatilis.watching import WatchRequest, places
from volatilis.watching import watch as watch_lines
from volatilis.watching.places import Place, SavedPlace, open_input
from volatilis.watching.state import load

from .command import FAMILY, LEARNER, keyed_lines, rows, sensor_values, started, watch

LINES = keyed_lines(sensor_values(900), ["a", "b", "c"] * 300).splitlines(keepends=True)
CUT = '{"sensor":"a","val'  # of an output line that was being written


def renamed(log: pathlib.Path) -> None:
    os.rename(log, f"{log}.1")


def dated(log: pathlib.Path) -> None:
    os.rename(log, f"{log}-20260131")


def anywhere(log: pathlib.Path) -> None:
    os.rename(log, log.with_name("another name"))


def copied(log: pathlib.Path) -> None:
    """As logrotate's copytruncate does."""
    shutil.copyfile(log, f"{log}.1")
    os.truncate(log, 0)


def twice(log: pathlib.Path) -> None:
    os.rename(log, f"{log}.2")
    log.with_name("log.1").write_text("".join(LINES[500:600]))
    os.utime(f"{log}.1", ns=(1 << 62, 1 << 62))  # later than the other


def removed(log: pathlib.Path) -> None:
    """Packed, so that there is another file where it was."""
    with gzip.open(f"{log}.1.gz", "wb") as file:
        file.write(log.read_bytes())
    log.write_text("")
    log.unlink()
    log.with_name("takes its number").write_text("x\n")


def went_on(folder: pathlib.Path, out: str, follow: bool = False) -> list[str]:
    said: list[str] = []
    request = WatchRequest(
        *(str(folder / "log"), parse_family(FAMILY), parse_learner(LEARNER)),
        key=("sensor",),
        state=str(folder / "state"),
        out=str(folder / out),
    )
    watch_lines(request, said.append)
    return said


def killed(folder: pathlib.Path, rotate: Callable[[pathlib.Path], None], comes: list[str]) -> list[str]:
    """100 lines and a saved state, 200 more lines, kill -9, 100 lines that nobody saw, a rotation; then what comes."""
    log, out = folder / "log", folder / "out"
    log.write_text("".join(LINES[:100]))
    went_on(folder, "out")
    before = (folder / "state").read_bytes()
    with open(log, "a") as file:
        file.writelines(LINES[100:300])
    went_on(folder, "out")
    (folder / "state").write_bytes(before)  # it was not saved
    with open(out, "a") as file:
        file.write(CUT)
    with open(log, "a") as file:
        file.writelines(LINES[300:400])
    rotate(log)
    log.write_text("".join(comes))
    return went_on(folder, "out")


def values(path: pathlib.Path) -> list[float]:
    return [row["value"] for row in rows(path.read_text())]


@pytest.mark.parametrize("rotate", [renamed, dated, anywhere, copied, twice])
def test_the_rotated_file_is_read_to_its_end_first(tmp_path: pathlib.Path, rotate: Callable[[pathlib.Path], None]) -> None:
    said = killed(tmp_path, rotate, LINES[600:900])
    between = LINES[500:600] if rotate is twice else []
    told = [*LINES[:400], *between, *LINES[600:900]]
    assert [f'"value": {value}' in line for value, line in zip(values(tmp_path / "out"), told, strict=True)] == [True] * len(told)
    assert "log was rotated after line 100: " in said[0]
    assert "is read to its end first" in said[0]
    (tmp_path / "state").unlink()
    (tmp_path / "log").write_text("".join(told))
    assert went_on(tmp_path, "whole") == []
    written = [rows((tmp_path / name).read_text()) for name in ("out", "whole")]
    without = [[{**row, "line": 0} for row in part] for part in written]
    assert without[0] == without[1]  # what was learned too


def test_where_the_rotated_file_is_gone_what_was_written_stays(tmp_path: pathlib.Path) -> None:
    said = killed(tmp_path, removed, LINES[600:700])
    assert len(values(tmp_path / "out")) == 400
    assert [row["line"] for row in rows((tmp_path / "out").read_text())] == [*range(1, 301), *range(1, 101)]
    assert "lines that came after line 100 of the earlier content were not seen" in said[0]
    assert "200 lines written after the state was saved are kept; what was learned from the input of these is lost" in said[1]
    assert went_on(tmp_path, "out") == []


def test_a_log_that_was_edited_was_not_rotated(tmp_path: pathlib.Path) -> None:
    """An editor leaves the earlier file under another name."""

    def edited(log: pathlib.Path) -> None:
        os.rename(log, f"{log}.1")

    assert killed(tmp_path, edited, LINES[:500]) == []
    assert len(values(tmp_path / "out")) == 500


def test_lines_of_a_pipe_that_were_written_stay(tmp_path: pathlib.Path) -> None:
    state, out = tmp_path / "state", tmp_path / "out"
    options = ["--key", "sensor", "--state", state, "--out", out]
    watch(*options, text="".join(LINES[:100]))
    before = state.read_bytes()
    watch(*options, text="".join(LINES[100:150]))
    state.write_bytes(before)
    done = watch(*options, text="".join(LINES[150:200]))
    assert "50 lines written after the state was saved are kept" in done.stderr
    assert len(values(out)) == 200


@pytest.mark.parametrize("live", [False, True])
def test_kill_9_and_a_rotation_while_following(tmp_path: pathlib.Path, live: bool) -> None:
    """`live`: rotated while it is followed, and killed after that; else killed, and rotated then."""
    log, out = tmp_path / "log", tmp_path / "out"
    log.write_text("".join(LINES[:300]))
    options = [log, "--follow", "--key", "sensor", "--state", tmp_path / "state", "--save-every", "1000", "--out", out]

    def until(count: int) -> None:
        wait_for(lambda: out.exists() and out.read_bytes().count(b"\n") >= count, what=f"{count} lines")

    process = started(*options, stdin=subprocess.DEVNULL)
    until(300)
    if live:
        with open(log, "a") as file:
            renamed(log)
            log.touch()
            file.writelines(LINES[300:400])  # its writer has not noticed
        until(400)
        log.write_text("".join(LINES[400:600]))
        until(600)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    if not live:
        with open(log, "a") as file:
            file.writelines(LINES[300:400])
        renamed(log)
        log.write_text("".join(LINES[400:600]))
    again = started(*options, stdin=subprocess.DEVNULL)
    with open(log, "a") as file:
        file.writelines(LINES[600:700])
    until(700)
    again.send_signal(signal.SIGTERM)
    again.communicate()
    assert load(tmp_path / "state")[0]["summary"]["observations"] == 700
    assert [row["line"] for row in rows(out.read_text())] == [*range(1, 401), *range(1, 301)]


def test_a_log_that_is_renamed_at_the_very_moment_it_is_opened(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under its old name it is found, and gone before it is opened: then it is looked for again."""
    log, earlier = tmp_path / "log", tmp_path / "log.1"
    earlier.write_bytes(b"20\n21\n")
    status = earlier.stat()
    saved = SavedPlace.from_data(Place().after(b"20\n21\n", 2).to_data() | {"file": [status.st_dev, status.st_ino]})

    def opened(path: str) -> int:
        if earlier.exists():
            earlier.rename(log)
        return open_input(path)

    monkeypatch.setattr(places, "open_input", opened)
    assert places.opened_from(str(log), saved) == ([str(log)], None)
    log.rename(earlier)
    monkeypatch.undo()
    files, descriptor = places.opened_from(str(log), saved)
    assert files == [str(earlier), str(log)]
    assert descriptor is not None
    os.close(descriptor)
