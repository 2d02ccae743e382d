"""`watch --alarms FILE`: the calibrated rule and its learner, as in Python."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

import volatilis as vl
from volatilis.changepoints import AlarmFile, AlarmRule, save_alarms
from volatilis.watching import WatchRequest
from volatilis.watching import watch as watch_lines

from .command import rows, watch

LEARNER = vl.Merge(vl.Gaussian(1.0, 20.0, 10.0), p_c=0.001, n=5)
RULES = [
    AlarmRule(0.9, within=50, cool_down=5, k=2, n=3),
    AlarmRule(3.0, "log_bayes_factor_surprise", release=1.0),
    AlarmRule(0.5, "adaptation_rate"),
]


def some_lines(count: int) -> tuple[list[str], dict[str, np.ndarray]]:
    """Two sensors in turn, each with a jump."""
    rng = np.random.default_rng(7)
    values = {
        key: np.round(rng.normal(20.0, 1.0, count) + 4.0 * (np.arange(count) > jump), 3) for key, jump in (("a", 90), ("b", 170))
    }
    pairs = [(key, float(values[key][i])) for i in range(count) for key in values]
    return [json.dumps({"sensor": key, "value": value}) for key, value in pairs], values


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.statistic)
def test_it_rings_where_the_rule_rings(tmp_path: pathlib.Path, rule: AlarmRule) -> None:
    save_alarms(tmp_path / "rule", AlarmFile(LEARNER, rule, 0.001, "a sentence"))
    lines, values = some_lines(250)
    for end in (301, 302, 500):  # and it goes on bit for bit
        (tmp_path / "in").write_text("".join(f"{line}\n" for line in lines[:end]))
        options = {"alarms": str(tmp_path / "rule"), "out": str(tmp_path / "out"), "state": str(tmp_path / "state")}
        summary = watch_lines(WatchRequest(str(tmp_path / "in"), None, None, key=("sensor",), **options), print)
    written = rows((tmp_path / "out").read_text())
    for key, ys in values.items():
        own = [row for row in written if row["sensor"] == key]
        trace = vl.run(LEARNER, ys)
        alarms = rule.alarms(trace)
        assert [i for i, row in enumerate(own) if row["alarm"]] == [alarm.position for alarm in alarms]
        if rule.statistic == "recent_change":
            assert [row["recent_change"] for row in own] == trace.recent_change(within=50).tolist()
            found = [i + 1 - int(own[i]["onset"]) for i in (alarm.position for alarm in alarms)]
            assert found == [alarm.onset for alarm in alarms]
    assert summary.alarms == sum(row["alarm"] for row in written) > 0


def test_what_is_refused(tmp_path: pathlib.Path) -> None:
    save_alarms(tmp_path / "rule", AlarmFile(LEARNER, RULES[0], 0.001, "a sentence"))
    (tmp_path / "other").write_text("{}")
    cases = [
        (["--alarms", tmp_path / "rule", "--learner", "varsmile:m=0.1"], "--learner is in"),
        (["--alarms", tmp_path / "rule", "--alarm", "0.5"], "--alarm is in"),
        (["--alarms", tmp_path / "other"], "is not a file of alarms"),
        (["--alarms", tmp_path / "nowhere"], "nowhere"),
    ]
    for options, said in cases:
        done = watch(*options, text="20\n", both=False)
        assert done.returncode == 2, done.stderr
        assert said in done.stderr
    assert watch("--state", tmp_path / "state", "--alarms", tmp_path / "rule", text="20\n", both=False).returncode == 0
    save_alarms(tmp_path / "rule", AlarmFile(LEARNER, RULES[2], 0.001, "a sentence"))
    done = watch("--state", tmp_path / "state", "--alarms", tmp_path / "rule", text="20\n", both=False)
    assert "was made with another alarm rule: AlarmRule(0.9" in done.stderr


def test_gaps_alone_ring_no_alarm_and_a_change_in_one_does(tmp_path: pathlib.Path) -> None:
    """After 1,439 steps without a line a change is probable beforehand (0.76); what the lines say must count."""
    save_alarms(tmp_path / "rule", AlarmFile(LEARNER, AlarmRule(0.2, within=200, release=0.03), 0.001, "a sentence"))
    y = np.random.default_rng(3).normal(20.0, 1.0, 3000) + 3.0 * (np.arange(3000) >= 2800)
    times = np.arange(3000) + 1439 * (np.arange(3000) // 200)
    lines = [json.dumps({"t": 60 * int(t), "value": round(float(v), 3)}) for t, v in zip(times, y, strict=True)]
    options = {"alarms": str(tmp_path / "rule"), "time": "t", "interval": "60s", "state": str(tmp_path / "state")}
    for end in (1500, 3000):  # and a restart goes on
        (tmp_path / "in").write_text("".join(f"{line}\n" for line in lines[:end]))
        watch_lines(WatchRequest(str(tmp_path / "in"), None, None, out=str(tmp_path / "out"), **options), lambda _: None)
    rang = [row["line"] for row in rows((tmp_path / "out").read_text()) if row["alarm"]]
    before = [line for line in rang if line <= 2800]
    assert len(before) <= 6  # 2.8 expected; without the correction each of 13 gaps rings
    assert any(2801 <= line <= 2803 for line in rang)
    (tmp_path / "in").write_text("".join(f"{line}\n" for line in lines))
    whole = WatchRequest(str(tmp_path / "in"), None, None, out=str(tmp_path / "whole"), **options | {"state": None})
    watch_lines(whole, lambda _: None)
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "out").read_bytes()
