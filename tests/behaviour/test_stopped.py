"""Runs that are killed, and folders of finished work that are damaged: nothing is lost, and what is wrong is said."""

from __future__ import annotations

import json
import os
import pathlib
import signal

import pytest

from tests.helpers.command_line import volatilis
from tests.helpers.processes import finished, started, wait_for

from .simulated import FAMILY_TEXT, write_people

TWO = ("--family", FAMILY_TEXT, "--learner", "varsmile:m=free", "--learner", "leaky:omega=free", "--store", "store")
WORDS = {
    "fit": ("fit", "people.csv", *TWO, "--out", "out.csv"),
    "compare": ("compare", "people.csv", *TWO, "--folds", "0", "--out", "out.csv"),
    "recover": ("recover", "people.csv", *TWO, "--out", "out.csv"),
}


def children(pid: int) -> list[int]:
    return [int(text) for text in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_there(pid: int) -> bool:
    try:
        return "State:\tZ" not in pathlib.Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not pathlib.Path("/proc/self/task").exists(), reason="looks at processes through /proc")
@pytest.mark.parametrize("command", WORDS)
def test_a_run_that_was_killed_leaves_no_process_and_goes_on(
    command: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """kill -9, which no program can answer: its processes end, and the same command gives what an undisturbed one gives."""
    write_people(tmp_path / "people.csv", 4, 60)
    store = tmp_path / "store" / "fits.jsonl"
    more = ["--response", "gaussian:sd=free,per_update=free", "--starts", "30"]
    words = [*WORDS[command], *more, "--workers", "2"]
    process = started(*words, folder=tmp_path)
    wait_for(lambda: store.exists() and store.read_bytes().count(b"\n") >= 2, process)
    family = children(process.pid)
    assert len(family) >= 2
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    wait_for(lambda: not any(is_there(pid) for pid in family))
    done = store.read_bytes().count(b"\n")
    assert not (tmp_path / "out.csv").exists()
    assert finished(*words, cwd=tmp_path).returncode == 0
    keys = [json.loads(line)["key"] for line in store.read_text().splitlines()]
    assert len(keys) == len(set(keys)) > done
    whole = (tmp_path / "out.csv").read_bytes()
    monkeypatch.chdir(tmp_path)
    undisturbed = [word if word != "store" else "other" for word in WORDS[command]]
    assert volatilis(*undisturbed, *more, "--workers", "1").exit_code == 0
    assert (tmp_path / "out.csv").read_bytes() == whole


@pytest.mark.parametrize("damage", [b"{not json\n", b"[1, 2]\n", b'{"key": "a"}\n', b'{"person": "x"}\n', b"\xff\xfe\n", b"7\n"])
@pytest.mark.parametrize("command", WORDS)
def test_a_damaged_line_is_named(command: str, damage: bytes, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_people(tmp_path / "people.csv", 2, 60)
    store = tmp_path / "store" / "fits.jsonl"
    store.parent.mkdir()
    store.write_bytes(damage)
    done = volatilis(*WORDS[command], "--workers", "1", "--starts", "1")
    assert done.exit_code == 2
    assert "fits.jsonl: line 1 is not what volatilis wrote there: delete that line" in done.stderr
    assert store.read_bytes() == damage
