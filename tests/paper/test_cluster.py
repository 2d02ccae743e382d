"""`volatilis paper` on a Dask cluster: the same tables as here, whatever happens to a worker."""

from __future__ import annotations

import pathlib

import pytest

from tests.helpers import dask_cluster
from tests.helpers.command_line import volatilis
from volatilis._core.jobs import Threads
from volatilis._core.terminal import Bars
from volatilis.paper import settings

from .sizes import TINY


def order(out: pathlib.Path, *more: str) -> None:
    done = volatilis("paper", "2", "--size", "tiny", "--out", out, *more)
    assert done.exit_code == 0, done.output


@pytest.mark.timeout(900)
def test_the_command_on_two_workers_one_of_which_dies(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tuning and simulating go there, one worker is killed in the midst of the tuning, and every table is the same."""
    monkeypatch.setitem(settings.SIZES, "tiny", TINY)
    with dask_cluster.scheduler() as cluster, dask_cluster.workers(cluster.scheduler_address, 2) as workers:
        order(tmp_path / "here")
        update = Bars.update

        def and_kill_one(bars: Bars, what: str, share: float) -> None:
            update(bars, what, share)
            if what == "tuning" and share > 0.2 and workers[0].poll() is None:
                workers[0].kill()
                workers[0].wait()

        monkeypatch.setattr(Bars, "update", and_kill_one)
        monkeypatch.setattr(Threads, "results", lambda *_: pytest.fail("computed here, not there"))
        order(tmp_path / "there", "--scheduler", cluster.scheduler_address)
        assert workers[0].poll() is not None
    for name in ("gaussian_transient.csv", "tuned.csv", "claims.csv"):
        assert (tmp_path / "here" / "data" / name).read_bytes() == (tmp_path / "there" / "data" / name).read_bytes()
