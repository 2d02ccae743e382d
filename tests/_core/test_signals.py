"""SIGTERM and SIGHUP, as a job scheduler or a closed terminal sends them: a clean end, and nothing half-written."""

from __future__ import annotations

import gzip
import os
import pathlib
import signal
import sys
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pytest

from tests.behaviour.simulated import FAMILY_TEXT, write_people
from tests.helpers.processes import started, wait_for
from volatilis._core.terminal import STOPPING, Stopped, stopped_by_signals

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")


class Case(NamedTuple):
    """A command, what it needs, when it is in the middle of its work, and what it says when it is stopped."""

    words: tuple[str, ...]
    prepare: Callable[[pathlib.Path], None]
    at_work: Callable[[pathlib.Path], bool]
    message: str
    outputs: tuple[str, ...]


def long_table(folder: pathlib.Path) -> None:
    values = np.random.default_rng(0).normal(size=200_000)
    (folder / "long.csv").write_text("outcome\n" + "".join(f"{value!r}\n" for value in values.tolist()))


def people(folder: pathlib.Path) -> None:
    write_people(folder / "people.csv", 8, 60)


def lines(path: pathlib.Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


SLOW = ("--family", "gaussian:sigma=1,sigma_0=3", "--learner", "exact:p_c=0.0001,cutoff=0", "--measures", "all")
FIT = ("--family", FAMILY_TEXT, "--learner", "varsmile:m=free", "--starts", "3000", "--workers", "2", "--store", "store")
KEPT = "Finished work is kept in {}; the same command continues from there."
CASES = {
    "run": Case(
        ("run", "long.csv", *SLOW, "--out", "out.csv"),
        long_table,
        lambda folder: bool(list(folder.glob(".out.csv.*.partial"))),
        "Stopped. Nothing was written.",
        ("out.csv",),
    ),
    "fit": Case(
        ("fit", "people.csv", *FIT, "--out", "out.csv"),
        people,
        lambda folder: lines(folder / "store" / "fits.jsonl") >= 1,
        KEPT.format("store"),
        ("out.csv",),
    ),
    "paper": Case(
        ("paper", "3", "--workers", "2"),
        lambda folder: None,
        lambda folder: bool(list(folder.glob("paper-results/store/*.zarr"))) or lines_of_tuning(folder) >= 1,
        KEPT.format("paper-results"),
        ("paper-results/index.html", "paper-results/report.html"),
    ),
}


def lines_of_tuning(folder: pathlib.Path) -> int:
    return sum(map(lines, folder.glob("paper-results/store/tuned-*.jsonl")))


def end_of(case: Case, folder: pathlib.Path, signals: Sequence[int], ignoring: Sequence[int] = ()) -> tuple[int, str]:
    """Start it, send the signals while it works; its exit code and what it said."""
    case.prepare(folder)
    with started(*case.words, folder=folder, ignoring=ignoring) as process:
        try:
            wait_for(lambda: case.at_work(folder), process)
            for number in signals:
                process.send_signal(number)
                time.sleep(0.1)  # or Python would answer to the one with the lowest number first
            _, said = process.communicate(timeout=120)
        finally:
            process.kill()
    return process.returncode, said


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)], ids=["SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("command", CASES)
def test_a_command_ends_cleanly(command: str, number: int, code: int, tmp_path: pathlib.Path) -> None:
    case = CASES[command]
    returned, said = end_of(case, tmp_path, [number])
    assert (returned, "Traceback" in said) == (code, False), said
    assert case.message in said
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".") or path.name.endswith(".partial")]
    assert not [name for name in case.outputs if (tmp_path / name).exists()]


@pytest.mark.timeout(300)
def test_what_is_ignored_stays_ignored(tmp_path: pathlib.Path) -> None:
    """Under nohup a closed terminal, and in the background Ctrl-C, do not stop it; SIGTERM does."""
    ignored = (signal.SIGHUP, signal.SIGINT)
    returned, said = end_of(CASES["run"], tmp_path, [*ignored, signal.SIGTERM], ignored)
    assert returned == 143, said
    assert not list(tmp_path.glob(".out.csv.*"))


@pytest.mark.timeout(300)
def test_a_second_signal_does_not_disturb_the_cleaning_up(tmp_path: pathlib.Path) -> None:
    returned, said = end_of(CASES["run"], tmp_path, [signal.SIGTERM, signal.SIGTERM, signal.SIGHUP])
    assert returned == 143, said
    assert not list(tmp_path.glob(".out.csv.*"))


@pytest.mark.timeout(300)
def test_a_signal_to_the_processes_of_a_fit_too(tmp_path: pathlib.Path) -> None:
    """As `timeout` and terminals send it: to all processes of the group at once."""
    case = CASES["fit"]
    case.prepare(tmp_path)
    with started(*case.words, folder=tmp_path) as process:
        wait_for(lambda: case.at_work(tmp_path), process)
        os.killpg(process.pid, signal.SIGHUP)
        _, said = process.communicate(timeout=120)
    assert (process.returncode, "Traceback" in said) == (129, False), said
    assert case.message in said


def test_the_exit_code_survives_a_closed_terminal() -> None:
    """Where an error follows on the way out, such as a message that has nowhere to go."""
    before = {number: signal.getsignal(number) for number in STOPPING}

    @stopped_by_signals()
    def stopped() -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        except Stopped:
            raise OSError("Input/output error") from None

    try:
        with pytest.raises(SystemExit) as ended:
            stopped()
        assert ended.value.code == 143
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_without_a_signal_all_is_as_before() -> None:
    before = [signal.getsignal(number) for number in STOPPING]
    with pytest.raises(ValueError, match="as ever"), stopped_by_signals():
        raise ValueError("as ever")
    assert [signal.getsignal(number) for number in STOPPING] == before


READS_SLOWLY = """
import sys, time
import volatilis.tables.formats as formats, volatilis.tables.reading as reading
from volatilis.cli import main

class Slow(formats.Lent):
    def __init__(self, stream):
        super().__init__(stream)
        self.reads = 0

    def read(self, size):
        self.reads += 1
        if self.reads > 2:
            open("reading", "w").close()
            time.sleep(0.5)
        return super().read(min(size, 1 << 16))

formats.Lent, reading.BLOCK, sys.argv[0] = Slow, 1 << 16, "volatilis"
main()
"""


@pytest.mark.timeout(300)
@pytest.mark.parametrize("after", [0.0, 0.25, 0.45, 0.55])
def test_a_thread_that_reads_ahead_does_not_outlive_the_interpreter(after: float, tmp_path: pathlib.Path) -> None:
    """Arrow reads in a thread, which aborts the process where it asks for an interpreter that is ending."""
    long_table(tmp_path)
    (tmp_path / "long.csv.gz").write_bytes(gzip.compress((tmp_path / "long.csv").read_bytes(), 1, mtime=0))
    words = ("run", "long.csv.gz", *SLOW, "--out", "out.csv")
    with started(*words, folder=tmp_path, program=READS_SLOWLY) as process:
        wait_for((tmp_path / "reading").exists, process)
        time.sleep(after)
        process.send_signal(signal.SIGHUP)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 129, said
    assert not list(tmp_path.glob(".out.csv.*"))


LOSES_ERRORS = """
import os, sys, time
from volatilis._core.terminal import stopped_by_signals

class Lost:
    def __del__(self):
        open("cleaning", "w").close()
        time.sleep(60)

with stopped_by_signals():
    Lost()
    time.sleep(60)
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, -2)])
def test_a_signal_is_not_lost_where_python_ignores_errors(number: int, code: int, tmp_path: pathlib.Path) -> None:
    with started(folder=tmp_path, program=LOSES_ERRORS) as process:
        wait_for((tmp_path / "cleaning").exists, process)
        time.sleep(0.1)
        process.send_signal(number)
        _, said = process.communicate(timeout=30)
    assert process.returncode == code, said
    assert "ignored" not in said
