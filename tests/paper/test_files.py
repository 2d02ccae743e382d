"""What `volatilis paper` writes is whole or not there; a full disk is said with what to do, and nothing computed is lost."""

from __future__ import annotations

import errno
import pathlib
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pandas
import pytest

from tests.helpers.command_line import Done, volatilis
from volatilis.experiments import sweep
from volatilis.paper import settings
from volatilis.paper.writing import room_in, save_picture, save_table

from .sizes import TINY


def order(out: pathlib.Path) -> Done:
    return volatilis("paper", "2", "--size", "tiny", "--out", out)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[pathlib.Path]:
    """A run that nothing stood in the way of."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(settings.SIZES, "tiny", TINY)
        folder = tmp_path_factory.mktemp("whole")
        assert order(folder).exit_code == 0
        yield folder


@contextmanager
def no_file_over(size: int) -> Iterator[None]:
    """The system refuses to let any file grow further, as a full disk would."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def told(done: Done, out: pathlib.Path) -> None:
    assert done.exit_code == 2
    assert f"no room left in the folder {str(out)!r}" in done.output
    assert "Free some and give the same command again" in done.output
    assert f"what was computed is kept in {str(out / 'store')!r}" in done.output
    assert "Traceback" not in done.output


def partial_files(out: pathlib.Path) -> list[pathlib.Path]:
    return [path for path in out.rglob("*.partial") if path.is_file()]


@pytest.mark.timeout(900)
def test_no_room_for_a_large_file(whole: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All was simulated; a picture finds no room."""
    with no_file_over(60_000):
        told(order(tmp_path), tmp_path)
    assert partial_files(tmp_path) == []
    assert not (tmp_path / "report.html").exists()
    monkeypatch.setattr("volatilis.experiments.sweep.compute", lambda *_: pytest.fail("computed again"))
    assert order(tmp_path).exit_code == 0
    for path in (whole / "data").iterdir():
        if path.name not in ("costs.csv", "run.csv"):
            assert (tmp_path / "data" / path.name).read_bytes() == path.read_bytes()


@pytest.mark.timeout(900)
def test_no_room_in_the_midst_of_simulating(whole: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, written = sweep.CellStore.write, 0

    def fails_at_the_third(store: sweep.CellStore, *job: Any) -> None:
        nonlocal written
        if written == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(store, *job)
        written += 1

    with monkeypatch.context() as patch:
        patch.setattr(sweep.CellStore, "write", fails_at_the_third)
        told(order(tmp_path), tmp_path)
    compute, computed = sweep.compute, []
    monkeypatch.setattr(sweep, "compute", lambda *job, **stop: computed.append(job) or compute(*job, **stop))
    assert order(tmp_path).exit_code == 0
    assert len(computed) == 6  # of eight: four settings, two seeds
    name = "gaussian_transient.csv"
    assert (tmp_path / "data" / name).read_bytes() == (whole / "data" / name).read_bytes()


def test_no_room_at_all_is_said_at_once(whole: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("volatilis.paper.reproduce.simulate", lambda *_: pytest.fail("began to simulate"))
    with no_file_over(1000):
        done = order(tmp_path)
    assert done.exit_code == 2
    assert f"cannot write to the folder {str(tmp_path)!r}: File too large" in done.output
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_other_errors_are_passed_on(tmp_path: pathlib.Path) -> None:
    with pytest.raises(PermissionError, match="not yours"), room_in(tmp_path):
        raise PermissionError(errno.EACCES, "not yours")
    quota = OSError("report: cannot write")  # as the report says it
    quota.__cause__ = OSError(errno.EDQUOT, "Disk quota exceeded")
    with pytest.raises(OSError, match="no room left"), room_in(tmp_path):
        raise quota


def test_a_table_and_a_picture_that_cannot_be_finished_leave_the_old_ones(tmp_path: pathlib.Path) -> None:
    class Canvas:
        def savefig(self, file: Any, format: str, **options: Any) -> None:
            file.write(b"half of it")
            raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "picture.png").write_bytes(b"old")
    with pytest.raises(OSError, match="No space left"):
        save_picture(Canvas(), tmp_path / "picture.png")
    (tmp_path / "table.csv").write_text("old")
    with no_file_over(100), pytest.raises(OSError, match="File too large"):
        save_table(pandas.DataFrame({"x": range(1000)}), tmp_path / "table.csv")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"picture.png": "old", "table.csv": "old"}
    save_table(pandas.DataFrame({"x": [0.123456789, 1e-9], "who": ["Nas12*", "pf20, ± 1"]}), tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text() == 'x,who\n0.123457,Nas12*\n1e-09,"pf20, ± 1"\n'
