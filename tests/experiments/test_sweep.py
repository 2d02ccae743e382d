"""Grids: right numbers, stored as they come, resumed after any end, the same on any number of workers."""

from __future__ import annotations

import copy
import pathlib
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from typing import Any

import numpy as np
import pytest
import zarr

import volatilis as vl
from tests.helpers import dask_cluster
from tests.helpers.processes import default_signals
from volatilis._core import jobs
from volatilis.catalogue import LEARNERS, parameters
from volatilis.experiments import sweep as grids
from volatilis.experiments.sweep import Cell, CellStore, Plan, compute, sweep


def cell(sigma: float = 1.0, p_c: float = 0.05, steps: int = 500, n: int = 5) -> Cell:
    family = vl.Gaussian(sigma)
    learners = {"pf": vl.ParticleFilter(family, p_c, n), "MP": vl.MessagePassing(family, p_c, n), "leak": vl.Leaky(family, 0.8)}
    learners["Nas10"] = vl.Nas10(sigma, p_c)  # whose maker takes other things than it holds
    return Cell(vl.ChangingEnvironment(family, p_c), steps, vl.ExactBayes(family, p_c), learners)


PLAN = Plan("small", (cell(), cell(0.5, 0.1)), seeds=3, after=6)


def equal(a: Any, b: Any) -> bool:
    return all(np.array_equal(a[name].values, b[name].values, equal_nan=True) for name in a.data_vars)


@pytest.mark.parametrize("piece", [20_000, 7, 500])
def test_errors_are_those_of_plain_runs(monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    """Against `run` and NumPy, whatever the size of the pieces."""
    monkeypatch.setattr(grids, "PIECE", piece)
    one = cell()
    result = compute(one, 4, after=6)
    learners = {repr(learner): learner for learner in (one.benchmark, *one.learners.values())}
    world, *keys = grids.sequence_seeds(one, 4, list(learners))
    y, theta, changed = one.environment.sample(one.steps, world)
    since = np.arange(one.steps) - np.maximum.accumulate(np.where(changed, np.arange(one.steps), 0))
    since[: np.flatnonzero(changed[1:])[0] + 1] = 99  # the start is no change: nothing was believed before it
    exact = vl.run(one.benchmark, y).mean
    for i, (learner, key) in enumerate(zip(learners.values(), keys, strict=True)):
        mean = vl.run(learner, y, seed=key).mean
        errors = (mean - theta) ** 2
        assert result.error[i] == pytest.approx(errors.mean(), rel=1e-12)
        assert result.distance[i] == pytest.approx(np.mean((mean - exact) ** 2), rel=1e-9, abs=1e-30)
        for n in range(6):
            assert result.after_sum[i, n] == pytest.approx(errors[since == n].sum(), rel=1e-12)
            assert result.after_squares[i, n] == pytest.approx((errors[since == n] ** 2).sum(), rel=1e-12)
            assert result.after_count[n] == (since == n).sum()


def test_only_changes_that_last_are_counted() -> None:
    """Against a plain loop over the intervals between changes."""
    one = cell(p_c=0.1)._replace(lasting=8)
    world = grids.sequence_seeds(one, 2, [])[0]
    _, _, changed = one.environment.sample(one.steps, world)
    starts = [t for t in range(1, one.steps) if changed[t]]
    ages = np.full(one.steps, 6)
    for start, end in zip(starts, [*starts[1:], one.steps], strict=True):
        if end - start >= 8:
            ages[start:end] = np.arange(end - start)
    assert np.array_equal(grids.ages_after_change(one, 2, 6), ages)
    result = compute(one, 2, after=6)
    assert len(set(result.after_count)) == 1  # every n has the same changes
    assert 0 < result.after_count[0] < len(starts)


def test_seeds_are_numbered_from_the_first(tmp_path: pathlib.Path) -> None:
    later = sweep(PLAN._replace(seeds=1, first=2), tmp_path)
    assert np.array_equal(later.error.sel(seed=2), sweep(PLAN, tmp_path).error.sel(seed=2))


def test_categorical_errors_sum_over_categories() -> None:
    family = vl.Categorical(3, 0.5)
    one = Cell(vl.ChangingEnvironment(family, 0.1), 300, vl.ExactBayes(family, 0.1), {"var": vl.VarSMiLe(family, 0.2)})
    world = grids.sequence_seeds(one, 0, [])[0]
    y, theta, _ = one.environment.sample(300, world)
    errors = ((vl.run(one.learners["var"], y).mean - theta) ** 2).sum(axis=1)
    assert compute(one, 0).error[1] == pytest.approx(errors.mean(), rel=1e-12)


def test_equal_learners_under_two_names_agree_and_different_kinds_do_not() -> None:
    family = vl.Gaussian(1.0)
    learners = {"a": vl.MessagePassing(family, 0.1, 2), "b": vl.Merge(family, 0.1, 2), "c": vl.MessagePassing(family, 0.1, 2)}
    result = compute(Cell(vl.ChangingEnvironment(family, 0.1), 400, vl.ExactBayes(family, 0.1), learners), 0)
    assert result.error[1] == result.error[3] != result.error[2]


def test_one_worker_and_two_give_the_same(tmp_path: pathlib.Path) -> None:
    assert equal(sweep(PLAN, tmp_path / "one", workers=1), sweep(PLAN, tmp_path / "two", workers=2))


def test_a_second_call_computes_nothing(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = sweep(PLAN, tmp_path)
    monkeypatch.setattr(grids, "compute", lambda *_: pytest.fail("computed again"))
    assert equal(first, sweep(PLAN, tmp_path))


def test_fresh_forgets(tmp_path: pathlib.Path) -> None:
    store = CellStore(PLAN, tmp_path)
    sweep(PLAN, tmp_path)
    assert not store.missing()
    seen: list[float] = []
    sweep(PLAN, tmp_path, fresh=True, progress=seen.append)
    assert seen[0] == 0.0
    assert seen[-1] == pytest.approx(1.0)


def test_a_changed_setting_never_mixes(tmp_path: pathlib.Path) -> None:
    sweep(PLAN, tmp_path)
    for other in (
        PLAN._replace(seeds=2),
        PLAN._replace(after=5),
        PLAN._replace(first=1),
        PLAN._replace(cells=(cell(n=4), cell(0.5, 0.1))),
    ):
        assert other.digest() != PLAN.digest()
        assert len(CellStore(other, tmp_path).missing()) == len(other.cells) * other.seeds


def test_an_error_keeps_what_is_done(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a full disk would, in the middle."""
    write, written = CellStore.write, []

    def failing(self: CellStore, *job: Any) -> None:
        if len(written) == 2:
            raise OSError(28, "No space left on device")
        written.append(job)
        write(self, *job)

    monkeypatch.setattr(CellStore, "write", failing)
    with pytest.raises(OSError, match="No space"):
        sweep(PLAN, tmp_path, workers=1)
    monkeypatch.setattr(CellStore, "write", write)
    assert len(CellStore(PLAN, tmp_path).missing()) == 4
    assert equal(sweep(PLAN, tmp_path), sweep(PLAN, tmp_path / "other"))


SCRIPT = """
import sys, volatilis as vl
from volatilis.experiments.sweep import Cell, Plan, sweep
family = vl.Gaussian(1.0)
one = Cell(vl.ChangingEnvironment(family, 0.01), 60_000, vl.ExactBayes(family, 0.01), {"MP": vl.MessagePassing(family, 0.01, 5)})
plan = Plan("killed", (one,), seeds=12)
def said(share):
    print(share, flush=True)
sweep(plan, sys.argv[1], workers=1, progress=said)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_goes_on_and_ends_the_same(tmp_path: pathlib.Path, how: signal.Signals) -> None:
    script = tmp_path / "run.py"
    script.write_text(textwrap.dedent(SCRIPT))
    command = [sys.executable, str(script)]
    outputs = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([*command, str(tmp_path / "a")], text=True, preexec_fn=default_signals, **outputs)
    assert process.stdout is not None
    for line in process.stdout:
        if float(line) > 0.2:
            break
    process.send_signal(how)
    process.wait(60)
    process.stdout.close()
    whole = subprocess.run([*command, str(tmp_path / "a")], capture_output=True, text=True, check=True, timeout=120)
    assert float(whole.stdout.split()[0]) > 0.15, "it began anew"
    subprocess.run([*command, str(tmp_path / "b")], capture_output=True, check=True, timeout=120)
    namespace: dict[str, Any] = {}
    exec(compile(script.read_text().rsplit("sweep(plan", 1)[0], "script", "exec"), namespace)
    assert equal(sweep(namespace["plan"], tmp_path / "a"), sweep(namespace["plan"], tmp_path / "b"))


def test_a_store_is_whole_or_not_there(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that dies while it makes a store, here before the last array, does not stand in the way of the next."""
    create = zarr.Group.create_array

    def dies(self: zarr.Group, name: str, **arguments: Any) -> Any:
        if name == "done":
            raise OSError("No space left on device")
        return create(self, name, **arguments)

    with monkeypatch.context() as patch:
        patch.setattr(zarr.Group, "create_array", dies)
        with pytest.raises(OSError, match="No space left"):
            sweep(PLAN, tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert equal(sweep(PLAN, tmp_path), sweep(PLAN, tmp_path / "other"))


@pytest.mark.parametrize("damage", ["lost", "cut", "header"])
def test_a_damaged_store_is_named(tmp_path: pathlib.Path, damage: str) -> None:
    sweep(PLAN, tmp_path)
    (store,) = tmp_path.iterdir()
    chunk = next(path for path in sorted((store / "after_sum" / "c").rglob("*")) if path.is_file())
    if damage == "lost":
        chunk.unlink()
    elif damage == "cut":
        chunk.write_bytes(chunk.read_bytes()[:-5])
    else:
        (store / "zarr.json").write_text("{")
    with pytest.raises(ValueError, match=r"is damaged .*delete it: what it holds is computed anew"):
        sweep(PLAN, tmp_path)


def test_every_learner_travels() -> None:
    """To another process, by pickle as Dask does it, and as a deep copy."""
    family = vl.Gaussian(2.0, 1.0, 3.0)
    for name, cls in LEARNERS.items():
        if "learner" in getattr(cls, "_fields", ()):  # learners made of others: tests of their own
            continue
        values = {p.name: p.default if p.default is not None else 3 if p.name == "n" else 0.5 for p in parameters(name)}
        learner = cls(**values) if name in ("nas10", "nas12") else cls(family=family, **values)
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            again = pickle.loads(pickle.dumps(learner, protocol))
            assert repr(again) == repr(learner)
            assert type(again) is type(learner)
        assert repr(copy.deepcopy(learner)) == repr(learner)


def test_dask_workers_one_of_which_dies(tmp_path: pathlib.Path) -> None:
    with dask_cluster.scheduler() as cluster, dask_cluster.workers(cluster.scheduler_address, 2) as workers:
        here = sweep(PLAN._replace(seeds=6), tmp_path / "here")
        killed = False

        def kill_one(share: float) -> None:
            nonlocal killed
            if share > 0.2 and not killed:
                killed = True
                workers[0].kill()

        there = sweep(PLAN._replace(seeds=6), tmp_path / "there", scheduler=cluster.scheduler_address, progress=kill_one)
        assert killed
        assert equal(here, there)


def test_a_scheduler_without_workers_is_waited_for_but_not_in_silence(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(jobs, "LOOK_EVERY", 0.1)
    with dask_cluster.scheduler() as cluster:
        address, found = cluster.scheduler_address, []
        waiting = threading.Thread(target=lambda: found.append(sweep(PLAN, tmp_path, scheduler=address)))
        waiting.start()
        said = ""
        for _ in range(100):
            time.sleep(0.1)
            said += capsys.readouterr().err
            if said:
                break
        assert f"the Dask scheduler at {address} has no workers; waiting for one (start one with: dask worker {address}" in said
        with dask_cluster.workers(address, 1):
            waiting.join(60)
        assert equal(found[0], sweep(PLAN, tmp_path / "here"))
        assert "has workers now; continuing" in capsys.readouterr().err


def test_a_scheduler_that_does_not_answer(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed: pip install 'volatilis[cluster]'")
    monkeypatch.setattr(jobs, "ANSWER_WITHIN", 2)
    start = time.monotonic()
    with pytest.raises(ConnectionError, match=r"no Dask scheduler answers at .tcp://127\.0\.0\.1:9."):
        sweep(PLAN, tmp_path, scheduler="tcp://127.0.0.1:9")
    assert time.monotonic() - start < 60
