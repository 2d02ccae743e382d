"""What a watcher says on standard error, and that nothing of it gets among the lines."""

from __future__ import annotations

import os
import pathlib
import shlex
import subprocess
import time

import pytest

from volatilis.watching.keyed import reported_if_slow

from .command import BOTH, COMMAND, rows


def by_shell(redirection: str) -> subprocess.CompletedProcess[str]:
    command = f"echo 20 | {shlex.join([*COMMAND, *BOTH])} {redirection}"
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=120, check=False)


def test_a_closed_standard_output_is_told() -> None:
    done = by_shell(">&-")
    assert done.returncode == 2
    assert done.stderr.startswith("volatilis watch: standard output is closed; ")
    assert done.stderr.count("\n") == 1


def test_a_closed_standard_error_leaves_only_lines() -> None:
    done = by_shell("2>&-")
    assert done.returncode == 0
    assert [row["line"] for row in rows(done.stdout)] == [1]


def test_what_is_slow_is_told_once_and_what_is_not_is_not() -> None:
    said: list[str] = []
    with reported_if_slow(said.append, "quick", seconds=0.5):
        pass
    with reported_if_slow(said.append, "slow", seconds=0.01):
        end = time.monotonic() + 30.0
        while not said and time.monotonic() < end:
            time.sleep(0.01)
    with pytest.raises(ZeroDivisionError), reported_if_slow(said.append, "wrong", seconds=0.2):
        raise ZeroDivisionError
    time.sleep(0.6)
    assert said == ["slow"]


@pytest.mark.parametrize("quiet", [False, True])
def test_the_first_start_says_that_it_compiles(tmp_path: pathlib.Path, quiet: bool) -> None:
    """On a terminal, with an empty cache; the second start has it all and says nothing of it."""
    environment = os.environ | {"VOLATILIS_CACHE_DIR": str(tmp_path)}
    said = []
    for _ in range(2):
        terminal, end = os.openpty()
        command = [*COMMAND, *BOTH, *(["--quiet"] if quiet else [])]
        with os.fdopen(terminal, "rb", buffering=0) as reader:
            done = subprocess.run(
                command, input=b"20\n", stdout=subprocess.PIPE, stderr=end, env=environment, timeout=120, check=False
            )
            if quiet:
                os.write(end, b"none\n")  # so that there is something to read
            said.append(reader.read(4096).decode())
            os.close(end)
        assert done.returncode == 0
        assert len(rows(done.stdout)) == 1
    assert ["compiling this learner: this takes some seconds, once" in text for text in said] == [not quiet, False]
