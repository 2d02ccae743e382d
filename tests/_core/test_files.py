"""What a killed process left behind goes away with the next run; what a living one is at stays."""

from __future__ import annotations

import pathlib
import signal
import subprocess
import sys

import pytest

from volatilis._core.files import staged, whole_file

WRITES = """
import sys, time
from volatilis._core.files import staged
from volatilis._core.files import whole_file
if sys.argv[1] == "file":
    with whole_file(sys.argv[2]) as file:
        file.write(b"half")
        file.flush()
        print("ready", flush=True)
        time.sleep(60)
else:
    with staged(sys.argv[2], False) as files:
        files.add({"a_events.tsv": "half"})
        print("ready", flush=True)
        time.sleep(60)
"""


def write_text(path: pathlib.Path, text: str) -> None:
    with whole_file(path) as file:
        file.write(text.encode())


def hidden(folder: pathlib.Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


def at_work(kind: str, path: pathlib.Path) -> subprocess.Popen[str]:
    """A process in the middle of writing."""
    process = subprocess.Popen([sys.executable, "-c", WRITES, kind, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no kill -9, and no locks of this kind")
def test_files(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "out.csv"
    with at_work("file", path) as process:
        assert len(hidden(tmp_path)) == 1
        write_text(path, "first")
        assert len(hidden(tmp_path)) == 1  # it may still be finished
        process.send_signal(signal.SIGKILL)
    assert path.read_text() == "first"
    for other in ("out.csv.gz", "out"):  # another output's leftovers are not this one's
        write_text(tmp_path / other, "")
        assert len(hidden(tmp_path)) == 1
    write_text(path, "second")
    assert hidden(tmp_path) == []
    assert path.read_text() == "second"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no kill -9, and no locks of this kind")
def test_folders_of_events(tmp_path: pathlib.Path) -> None:
    with at_work("folder", tmp_path) as process:
        with staged(str(tmp_path), False) as files:
            files.add({"b_events.tsv": "whole"})
            files.commit()
        assert len(hidden(tmp_path)) == 1
        process.send_signal(signal.SIGKILL)
    assert len(hidden(tmp_path)) == 1
    with staged(str(tmp_path), False) as files:
        files.add({"a_events.tsv": "whole"})
        files.commit()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a_events.tsv", "b_events.tsv"]
    assert (tmp_path / "a_events.tsv").read_text() == "whole"


def test_names_that_are_not_ours_stay(tmp_path: pathlib.Path) -> None:
    """A link, a folder with something in it that cannot be read, a user's own hidden file."""
    (tmp_path / "elsewhere").write_text("kept")
    (tmp_path / ".out.csv.abcdefgh.partial").symlink_to(tmp_path / "elsewhere")
    (tmp_path / ".out.csv.MINE.partial").write_text("mine")
    with whole_file(tmp_path / "out.csv") as file:
        file.write(b"new")
    assert hidden(tmp_path) == [".out.csv.MINE.partial", ".out.csv.abcdefgh.partial"]
    assert (tmp_path / "elsewhere").read_text() == "kept"
