"""Counts for Prometheus: the text format, what they count, and a file that is always whole."""

from __future__ import annotations

import json
import pathlib
import re
import time

import pytest

from tests.helpers.processes import wait_for
from volatilis.watching import NoGoodLineError
from volatilis.watching.output import PREFIX

from .command import started, watch, watched

LINES = [
    *(json.dumps({"t": 1_760_000_000 + 60 * i, "sensor": f"k{i % 3}", "value": 20.0 + 20.0 * (i > 90)}) for i in range(100)),
    json.dumps({"t": 1_760_000_000, "sensor": "k0", "value": 20.0}),
    json.dumps({"t": 1_760_006_000, "sensor": "k0", "value": None}),
    "oops",
]


def read(text: str) -> dict[str, float]:
    """As the format is documented: HELP, TYPE, and one sample each."""
    found = {}
    for help_line, kind_line, sample in zip(*[iter(text.splitlines())] * 3, strict=True):
        name, value = sample.split(" ")
        assert re.fullmatch(r"[a-z_]+", name)
        assert help_line.startswith(f"# HELP {name} ")
        assert kind_line == f"# TYPE {name} {'counter' if name.endswith('_total') else 'gauge'}"
        found[name.removeprefix(PREFIX)] = float(value)
    assert text.endswith("\n")
    return found


def test_what_is_counted(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "watch.prom"
    options = {"key": ("sensor",), "time": "t", "interval": "60s", "missing": "elapse", "bad_lines": "report", "max_keys": 2}
    done = watched(tmp_path, LINES, metrics=str(path), **options)
    found = read(path.read_text())
    expected = done.summary._asdict()
    for name in ("observations", "missing", "bad_lines", "alarms"):
        assert found[f"{name}_total"] == expected[name]
    assert (found["late_lines_total"], found["forgotten_keys_total"]) == (expected["late"], expected["forgotten"])
    assert (found["lines_total"], found["bad_lines_total"], found["missing_total"]) == (103, 1, 1)
    assert found["keys"] == 2
    assert found["lag_bytes"] == 0
    assert abs(found["lag_seconds"] - (time.time() - 1_760_005_940)) < 100
    assert abs(found["written_timestamp_seconds"] - time.time()) < 100
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "out", "watch.prom"]


def test_counters_go_on_and_gauges_are_left_out_where_nothing_is_known(tmp_path: pathlib.Path) -> None:
    path, state = tmp_path / "watch.prom", tmp_path / "state"
    for count in (1, 2):
        assert watch("--metrics", path, "--state", state, text="20\n21\n").returncode == 0
        found = read(path.read_text())
        assert found["lines_total"] == 2 * count
    assert "lag_bytes" not in found  # a pipe
    assert "lag_seconds" not in found
    assert found["keys"] == 0


def test_they_are_there_at_once_and_also_while_nothing_comes(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "watch.prom"
    process = started("--metrics", path)
    wait_for(path.exists, what="metrics")
    first = read(path.read_text())["written_timestamp_seconds"]
    wait_for(lambda: read(path.read_text())["written_timestamp_seconds"] > first, what="later metrics")
    process.communicate(timeout=60)
    assert process.returncode == 0


def test_a_place_that_cannot_be_written_is_told_at_once(tmp_path: pathlib.Path) -> None:
    done = watch("--metrics", tmp_path / "nowhere" / "watch.prom", text="20\n")
    assert done.returncode == 2
    assert "cannot write" in done.stderr
    assert done.stdout == ""


def test_no_good_line(tmp_path: pathlib.Path) -> None:
    with pytest.raises(NoGoodLineError) as raised:
        watched(tmp_path, ['{"value": "x"}'], bad_lines="report")
    assert raised.value.args[0].bad_lines == 1
