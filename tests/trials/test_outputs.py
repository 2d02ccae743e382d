"""Where the outputs of `volatilis run` go, and where they cannot: nothing is half-written under its final name."""

from __future__ import annotations

import os
import pathlib
import resource
import subprocess
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.helpers.processes import COMMAND, finished

LEARNS = ["--family", "gaussian:sigma=1,sigma_0=3", "--learner", "varsmile:m=0.1"]
HAS_FULL = pytest.mark.skipif(not pathlib.Path("/dev/full").exists(), reason="this system has no /dev/full")


@pytest.fixture
def table(tmp_path: pathlib.Path) -> pathlib.Path:
    rng = np.random.default_rng(1)
    path = tmp_path / "t.csv"
    pd.DataFrame({"subject": np.repeat([1, 2, 3, 4], 500), "outcome": rng.normal(0.0, 2.0, 2000)}).to_csv(path, index=False)
    return path


def run(*options: Any, stdout: Any = subprocess.PIPE, largest: int | None = None) -> subprocess.CompletedProcess[str]:
    """The command as a process; `largest` is the size in bytes that a file may have at most, as on a full disk."""

    def limit() -> None:
        if largest is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))

    return finished(*options, stdout=stdout, preexec_fn=limit)


def test_a_link_stays_and_its_file_is_replaced(tmp_path: pathlib.Path, table: pathlib.Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "real.csv").write_text("old")
    (tmp_path / "out.csv").symlink_to(tmp_path / "elsewhere" / "real.csv")
    assert run("run", table, *LEARNS, "--out", tmp_path / "out.csv").returncode == 0
    assert (tmp_path / "out.csv").is_symlink()
    assert (tmp_path / "elsewhere" / "real.csv").read_text().startswith("subject,outcome,varsmile_mean")


def test_what_is_not_a_file_is_not_replaced(tmp_path: pathlib.Path, table: pathlib.Path) -> None:
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")
    before = sorted(tmp_path.iterdir())
    for name, said in (("loop.csv", "symbolic links"), ("folder.csv", "is a folder"), ("pipe.csv", "a device or a pipe")):
        done = run("run", table, *LEARNS, "--out", tmp_path / name)
        assert done.returncode == 2
        refused = f"{tmp_path / name} is a folder" if name == "folder.csv" else f"cannot write {tmp_path / name}: "
        assert refused in done.stderr
        assert said in done.stderr
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "pipe.csv").is_fifo()


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".jsonl.gz", ".csv.zst"])
def test_a_full_disk(tmp_path: pathlib.Path, table: pathlib.Path, ending: str) -> None:
    out = tmp_path / f"out{ending}"
    out.write_bytes(b"before")
    done = run("run", table, *LEARNS, "--out", out, largest=8192)
    assert done.returncode == 2
    assert done.stderr.strip() == f"volatilis run: cannot write {out}: File too large"
    assert out.read_bytes() == b"before"
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"out{ending}", "t.csv"]


def test_no_room_for_the_report_means_no_table(tmp_path: pathlib.Path, table: pathlib.Path) -> None:
    """Exit code 2 says that nothing was written."""
    out, page = tmp_path / "out.parquet", tmp_path / "page.html"
    done = run("run", table, *LEARNS, "--measures", "mean", "--out", out, "--report", page, largest=50_000)
    assert done.returncode == 2
    assert f"cannot write {page}" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv"]
    assert run("run", table, *LEARNS, "--measures", "mean", "--out", out, largest=50_000).returncode == 0


@HAS_FULL
@pytest.mark.parametrize("command", ["run", "separate", "learners", "--help"])
def test_standard_output_without_room(table: pathlib.Path, command: str) -> None:
    options = [table, *LEARNS] if command in ("run", "separate") else []
    with open("/dev/full", "w") as full:
        done = run(command, *options, stdout=full)
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["run", "separate", "learners"])
def test_standard_output_that_is_closed(table: pathlib.Path, command: str) -> None:
    options = [str(table), *LEARNS] if command in ("run", "separate") else []
    arguments = ["sh", "-c", 'exec "$@" >&-', "sh", *COMMAND, command, *options]
    done = subprocess.run(arguments, stderr=subprocess.PIPE, text=True, check=False, timeout=120)
    assert done.returncode == 2
    assert "standard output is closed; give it a reader or a file" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_went_away(table: pathlib.Path) -> None:
    # gone before the first line comes: one that leaves later may let a whole write through, as the system likes
    arguments = ["bash", "-c", '"$@" | true; echo "${PIPESTATUS[0]}"', "bash", *COMMAND, "run", str(table), *LEARNS]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout.splitlines()[-1] == "141"
    assert done.stderr == ""
