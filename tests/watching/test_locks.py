"""One watcher at a time for a state and for an output file; a lock does not outlive its process."""

from __future__ import annotations

import fcntl
import os
import pathlib
import subprocess

import pytest

from tests.helpers.processes import wait_for
from volatilis.watching.output import lock, state_locked

from .command import rows, started, watch


@pytest.fixture
def log(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "log"
    path.write_text("20\n21\n")
    return path


@pytest.mark.parametrize("option", ["--state", "--out"])
def test_a_second_watch_is_refused_and_the_first_goes_on(log: pathlib.Path, tmp_path: pathlib.Path, option: str) -> None:
    out = tmp_path / "out"
    options = ["--out", out, *(["--state", tmp_path / "kept"] if option == "--state" else [])]
    process = started(log, "--follow", *options, stdin=subprocess.DEVNULL)
    try:
        wait_for(lambda: out.exists() and len(rows(out.read_text())) == 2, what="both lines")
        done = watch(log, *options)
        path = out if option == "--out" else tmp_path / "kept"
        assert done.returncode == 2
        assert f"{path} is in use: another volatilis watch has it as {option}; stop that one first" in done.stderr
        with log.open("a") as file:
            file.write("22\n")
        wait_for(lambda: len(rows(out.read_text())) == 3, what="the third line")
    finally:
        process.kill()  # kill -9: nothing is left that would refuse the next
        process.communicate(timeout=60)
    done = watch(log, *options)
    assert done.returncode == 0, done.stderr
    if option == "--state":
        assert [row["line"] for row in rows(out.read_text())] == [1, 2, 3]
    assert not (tmp_path / "kept.lock").exists()


def test_two_may_write_to_what_is_no_file(log: pathlib.Path) -> None:
    process = started("--out", "/dev/null", "--bad-lines", "report")
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.write(b"20\noops\n")
    process.stdin.flush()
    assert b"line 2 is left out" in process.stderr.readline()  # it runs
    assert watch(log, "--out", "/dev/null").returncode == 0
    assert process.poll() is None
    process.communicate(timeout=60)
    assert process.returncode == 0


def test_a_file_with_the_name_of_the_lock_is_not_taken_away(log: pathlib.Path, tmp_path: pathlib.Path) -> None:
    other = tmp_path / "kept.lock"
    other.write_text("mine")
    assert watch(log, "--state", tmp_path / "kept").returncode == 0
    assert other.read_text() == "mine"


def test_a_lock_that_was_taken_away_meanwhile_is_made_again(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another watcher may end, and remove the file, after this one opened it and before it locks it."""
    path, real = str(tmp_path / "kept"), fcntl.flock
    calls: list[int] = []

    def flock(descriptor: int, operation: int) -> None:
        if not calls:
            os.unlink(path + ".lock")
        calls.append(descriptor)
        real(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    with state_locked(path, print):
        assert len(calls) == 2
        assert os.path.exists(path + ".lock")
        with pytest.raises(ValueError, match="is in use"), state_locked(path, print):
            pass
        assert os.path.exists(path + ".lock")
    assert not os.path.exists(path + ".lock")


def test_where_there_are_no_locks_it_is_reported(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(descriptor: int, operation: int) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", flock)
    said: list[str] = []
    lock(0, "kept", "--state", said.append)
    assert said == ["kept cannot be locked (Operation not supported): take care that no other volatilis watch has it as --state"]
