"""Times in the lines: gaps become steps of time, late lines are not learned, and nothing depends on where blocks end."""

from __future__ import annotations

import datetime
import json
import pathlib
from typing import Any

import numpy as np
import pytest

import volatilis as vl
from volatilis.watching.clock import IN_A_ROW, MOST_STEPS, Clock, duration
from volatilis.watching.fields import BadLineError
from volatilis.watching.times import one_time, seconds_of

from .command import learner_of, sensor_values, watch, watched

START = 1_760_000_000  # seconds since 1970
LEARNER = "merge:n=5,p_c=0.01"


def line(time: Any, value: float, key: str = "a", **more: Any) -> str:
    return json.dumps({"t": time, "sensor": key, "value": value, **more})


def by_stream(steps: list[tuple[int, float | None]]) -> list[float]:
    """The means after each observation, with so many steps of time before it; None: it is not learned."""
    stream, means, last = vl.Stream(learner_of(learner=LEARNER), missing="elapse"), [], float("nan")
    for passed, value in steps:
        for _ in range(passed):
            stream.update(None)
        last = last if value is None else stream.update(value).mean
        means.append(last)
    return means


def test_gaps_become_time_that_passes(tmp_path: pathlib.Path) -> None:
    times, values = [0, 60, 118, 185, 420, 480, 481, 900], sensor_values(8, 3)
    done = watched(tmp_path, [line(START + t, v) for t, v in zip(times, values, strict=True)], LEARNER, time="t", interval="60s")
    passed = [0, 0, 0, 0, 3, 0, 0, 5]  # steps 0, 1, 2, 3, 7, 8, 8 and 15: the two lines of step 8 are two steps
    assert [row["elapsed"] for row in done.rows] == passed
    assert [row["mean"] for row in done.rows] == by_stream(list(zip(passed, values, strict=True)))
    assert done.summary.observations == 8


def test_jitter_and_a_drifting_clock_neither_lose_nor_add_time() -> None:
    rng = np.random.default_rng(1)
    clock = Clock(60.0, print)
    clock.renew([0], 1)
    times = START + np.arange(5000) * 61.0 + rng.uniform(-20.0, 20.0, 5000)
    passed = clock.elapsed(np.zeros(5000, dtype=np.int64), times, np.arange(5000))
    assert abs(4999 + int(passed.sum()) - round((times[-1] - times[0]) / 60.0)) <= 1
    assert passed.min() == 0
    assert passed.max() == 1


@pytest.mark.parametrize(
    "written",
    [
        lambda t: START + t,
        lambda t: float(START + t) + 0.25,
        lambda t: str(START + t),
        lambda t: datetime.datetime.fromtimestamp(START + t, datetime.UTC).isoformat(),
        lambda t: datetime.datetime.fromtimestamp(START + t, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        lambda t: datetime.datetime.fromtimestamp(START + t, datetime.UTC).strftime("%Y-%m-%d %H:%M:%S.123456789"),
        lambda t: datetime.datetime.fromtimestamp(START + t, datetime.timezone(datetime.timedelta(hours=5.5))).isoformat(),
        lambda t: datetime.datetime.fromtimestamp(START + t, datetime.UTC).strftime("%Y%m%dT%H%M%S"),
    ],
)
def test_all_ways_to_write_a_time(tmp_path: pathlib.Path, written: Any) -> None:
    times = [0, 60, 300, 360]
    done = watched(tmp_path, [line(written(t), 20.0 + t / 60) for t in times], time="t", interval="1m", keep=("t",))
    assert [row["elapsed"] for row in done.rows] == [0, 0, 3, 0]
    assert [row["t"] for row in done.rows] == [written(t) for t in times]
    as_csv = ["t,sensor,value", *(f"{written(t)},a,{20.0 + t / 60}" for t in times)]
    assert [row["mean"] for row in watched(tmp_path, as_csv, time="t", interval="1m").rows] == [row["mean"] for row in done.rows]


@pytest.mark.parametrize("zone", ["Z", "", "+05:30", "-0930", "+02"])
@pytest.mark.parametrize("digits", [0, 1, 3, 6, 9])
@pytest.mark.parametrize("year", [1, 1969, 2026, 2261, 5000])
def test_many_times_at_once_are_the_moments_of_one_by_one(year: int, digits: int, zone: str) -> None:
    rng = np.random.default_rng(year + digits)
    texts = []
    for _ in range(100):
        month, day, hour, minute, second = (
            int(rng.integers(low, high)) for low, high in [(2, 12), (1, 29), (0, 24), (0, 60), (0, 60)]
        )
        fraction = "." + "".join(map(str, rng.integers(0, 10, digits))) if digits else ""
        texts.append(f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}{zone}")
    assert seconds_of(texts).tolist() == [one_time(text, "t") for text in texts]
    texts[50] = "2026-02-30T00:00:00" + zone
    with pytest.raises(ValueError, match="could not convert"):
        seconds_of(texts)


def test_late_lines_are_counted_and_not_learned(tmp_path: pathlib.Path) -> None:
    times, values = [0, 60, 240, 120, 180, 300], [20.0, 21.0, 22.0, 50.0, 60.0, 23.0]
    done = watched(tmp_path, [line(START + t, v) for t, v in zip(times, values, strict=True)], LEARNER, time="t", interval="60s")
    assert [row["elapsed"] for row in done.rows] == [0, 0, 2, -2, -1, 0]
    learned = [(0, 20.0), (0, 21.0), (2, 22.0), (0, None), (0, None), (0, 23.0)]
    assert [row["mean"] for row in done.rows] == by_stream(learned)
    assert [row["shannon_surprise"] is None for row in done.rows] == [False, False, False, True, True, False]
    assert (done.summary.observations, done.summary.late, done.summary.lines) == (4, 2, 6)
    assert "4 observations, 0 missing, 2 late, 0 bad lines" in done.summary.sentence()
    assert len(done.reports) == 1
    assert "line 4 is late by 2 intervals: its observation is not learned" in done.reports[0]


def test_a_clock_that_was_set_back_starts_anew(tmp_path: pathlib.Path) -> None:
    times = [0, 60, 10**9, *range(120, 120 + 60 * 20, 60)]  # one line from the far future, and then as before
    done = watched(tmp_path, [line(START + t, 20.0) for t in times], time="t", interval="60s")
    elapsed = [row["elapsed"] for row in done.rows]
    assert all(steps < 0 for steps in elapsed[3 : 3 + IN_A_ROW - 1])
    assert elapsed[3 + IN_A_ROW - 1 :] == [0] * (20 - IN_A_ROW + 1)
    assert done.summary.late == IN_A_ROW - 1
    assert any("its clock was set back and starts anew" in report for report in done.reports)
    assert any(f"they count as {MOST_STEPS:,}" in report for report in done.reports)


def test_every_key_has_a_clock_of_its_own(tmp_path: pathlib.Path) -> None:
    lines = [line(START + t, 20.0, key) for t in range(0, 600, 60) for key in ("a", "b") if key == "a" or t % 180 == 0]
    done = watched(tmp_path, lines, key=("sensor",), time="t", interval="60s")
    assert {row["elapsed"] for row in done.rows if row["sensor"] == "a"} == {0}
    assert [row["elapsed"] for row in done.rows if row["sensor"] == "b"] == [0, 2, 2, 2]


def test_a_missing_observation_is_a_step_of_its_own(tmp_path: pathlib.Path) -> None:
    lines = [line(START, 20.0), json.dumps({"t": START + 60, "value": None}), line(START + 240, 21.0)]
    done = watched(tmp_path, lines, LEARNER, time="t", interval="60s", missing="elapse")
    assert [row["elapsed"] for row in done.rows] == [0, 0, 2]
    assert done.rows[2]["mean"] == by_stream([(0, 20.0), (3, 21.0)])[1]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "'t' is missing; it is the time"),
        ("", "'t' is missing"),
        ("yesterday", "'t' is 'yesterday', not a time; an ISO time, such as"),
        ("2026-13-01T00:00:00Z", "not a time"),
        (1_760_000_000_000, "are these milliseconds?"),
        ("1760000000000", "are these milliseconds?"),
        (float("nan"), "no time in seconds"),
        (float("inf"), "no time in seconds"),
        (True, "not a time"),
        ([1], "not a time"),
        ("1_000", "not a time"),
    ],
)
def test_what_is_no_time(tmp_path: pathlib.Path, value: Any, said: str) -> None:
    with pytest.raises(BadLineError, match=said.replace("?", r"\?")):
        one_time(value, "t")
    lines = [line(START, 20.0), line(value, 21.0), line(START + 60, 22.0)]
    done = watched(tmp_path, lines, time="t", interval="60s", bad_lines="report")
    assert [row["line"] for row in done.rows] == [1, 3]
    assert said in done.reports[0]


@pytest.mark.parametrize("text", ["60", "", "1 week", "-5s", "0s", "1e3s", "5lines", "1e-9ms", "0.0001ms", "99999999999999h"])
def test_intervals_that_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"--interval .* is not accepted"):
        duration("--interval", text)


def test_durations() -> None:
    assert [duration("-", t)[0] for t in ("60s", "1.5h", "500ms", "5m", "5 min", "7d")] == [60, 5400, 0.5, 300, 300, 604800]
    assert duration("-", "1000lines", with_lines=True) == (1000, True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--time", "t"], "--time t needs --interval"),
        (["--interval", "60s"], "--interval has no effect without --time"),
        (["--time", "t", "--interval", "60"], "--interval '60' is not accepted; 60s, 500ms, 5m, 24h or 7d are"),
    ],
)
def test_options_that_do_not_go_together(options: list[str], said: str) -> None:
    done = watch(*options, text=line(START, 20.0))
    assert done.returncode == 2
    assert said in done.stderr


def test_growing_states_have_room_for_the_time_that_passes(tmp_path: pathlib.Path) -> None:
    """Exact Bayes needs room for one more hypothesis when time passes, and for another when an observation comes."""
    values, times = sensor_values(300, 4), np.cumsum(np.where(np.arange(300) % 2, 60, 180)) + START
    lines = [line(int(t), v) for t, v in zip(times, values, strict=True)]
    done = watched(tmp_path, lines, "exact:p_c=0.0001", time="t", interval="60s")
    stream = vl.Stream(learner_of(learner="exact:p_c=0.0001"), missing="elapse")
    for i, value in enumerate(values):
        if i and i % 2 == 0:
            stream.update(None), stream.update(None)
        assert done.rows[i]["mean"] == stream.update(value).mean


def test_an_interval_that_is_not_that_of_the_lines_is_said() -> None:
    for spacing, said in ((60.0, None), (30.0, None), (1.0, "1 s apart"), (3600.0, "3.6e+03 s apart")):
        messages: list[str] = []
        clock = Clock(60.0, messages.append)
        clock.renew([0, 1], 2)
        numbers, times = np.arange(600) % 2, START + np.arange(600) // 2 * spacing
        for part in np.array_split(np.arange(600), 7):
            clock.elapsed(numbers[part], times[part], part)
        if said is None:
            assert messages == []
        else:
            assert len(messages) == 1
            assert f"{said}, and --interval is 60 s" in messages[0]


def test_dates_without_dashes_are_said(tmp_path: pathlib.Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text("\n".join(line(20260130 + day, 20.0) for day in range(2)) + "\n")
    said = watch(source, "--value", "value", "--time", "t", "--interval", "1d", both=False).stderr
    assert said.count("is taken as seconds since 1970, 1970-08-23; dates have dashes, 2026-01-30") == 1
