"""The ledger of costs: what is charged where, what a later run finds, and what a killed one leaves."""

from __future__ import annotations

import pathlib
import time

import pytest

from volatilis.paper import writing as module
from volatilis.paper.writing import Cost, CostLedger


class Clock:
    """Seconds that pass only when told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seconds, self.processor = 100.0, 7.0
        monkeypatch.setattr(module.time, "perf_counter", lambda: self.seconds)
        monkeypatch.setattr(module.time, "process_time", lambda: self.processor)

    def work(self, seconds: float, cores: int = 2) -> None:
        self.seconds += seconds
        self.processor += cores * seconds


def test_a_part_within_a_part_is_charged_to_the_inner_one(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, ledger = Clock(monkeypatch), CostLedger(tmp_path / "costs.json")
    clock.work(50)  # before any part: nobody's
    with ledger.part("grid"):
        clock.work(3)
        with ledger.part("tuning"):
            clock.work(10, cores=1)
        clock.work(4)
    clock.work(50)  # between parts: nobody's
    with ledger.part("grid"):
        clock.work(1)
    assert ledger.costs == {"grid": Cost(8.0, 16.0), "tuning": Cost(10.0, 10.0)}
    assert ledger.total() == Cost(18.0, 26.0)


def test_a_later_run_goes_on_counting(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    for _ in range(3):
        with CostLedger(tmp_path / "costs.json").part("grid"):
            clock.work(2)
    assert CostLedger(tmp_path / "costs.json").costs["grid"] == Cost(6.0, 12.0)


def test_a_killed_run_has_lost_only_the_last_seconds(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, ledger = Clock(monkeypatch), CostLedger(tmp_path / "costs.json")
    part = ledger.part("grid")
    part.__enter__()
    for _ in range(10):
        clock.work(1)
        ledger.charge()
    kept = CostLedger(tmp_path / "costs.json").costs["grid"].seconds  # as another process finds it
    assert 10.0 - module.EVERY <= kept <= 10.0


def test_real_clocks_and_memory(tmp_path: pathlib.Path) -> None:
    ledger = CostLedger(tmp_path / "costs.json")
    with ledger.part("wait"):
        time.sleep(0.05)
    assert 0.05 <= ledger.costs["wait"].seconds < 5.0
    assert ledger.costs["wait"].processor_seconds < 0.05
    assert 2**24 < ledger.memory < 2**40  # Python itself takes more than 16 MiB, and no machine has a tebibyte for it


@pytest.mark.parametrize("content", ["", "[]", '{"costs": {"a": 1}, "memory": 0}', '{"costs": {}}'])
def test_a_damaged_file_is_said_and_counted_anew(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], content: str
) -> None:
    """Times are all that it holds: no reason to stop a run."""
    path, clock = tmp_path / "costs.json", Clock(monkeypatch)
    path.write_text(content)
    with CostLedger(path).part("grid"):
        clock.work(2)
    assert f"{path} is damaged: times are counted anew" in capsys.readouterr().err
    assert CostLedger(path).costs == {"grid": Cost(2.0, 4.0)}
    assert capsys.readouterr().err == ""
