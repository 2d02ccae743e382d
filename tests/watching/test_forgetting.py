"""Keys that are forgotten, against a plain dictionary of streams; memory and state files follow."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest

import volatilis as vl
from volatilis._core.seeds import named_seed
from volatilis.watching import state as state_file
from volatilis.watching.keyed import ROWS, Keyed
from volatilis.watching.keys import Keys
from volatilis.watching.state import keys_from

from .command import learner_of, watch, watched

START = 1_760_000_000


def some_lines(count: int, names: int, seed: int) -> list[tuple[str, float, int]]:
    """Keys that come and go: key, value, time."""
    rng = np.random.default_rng(seed)
    centre = np.linspace(0, names, count)
    numbers = np.abs(np.round(centre + rng.normal(0.0, names / 8, count))).astype(int)
    return list(zip((f"k{n}" for n in numbers), rng.normal(20.0, 1.0, count).tolist(), range(START, START + 60 * count, 60)))  # noqa: B905


def naive(lines: list[tuple[str, float, int]], learner: Any, after: float | None, most: int | None, in_time: bool) -> list[float]:
    """The means after each line."""
    streams: dict[str, tuple[vl.Stream, float]] = {}  # the most silent first
    means, clock = [], -np.inf
    for i, (key, value, time) in enumerate(lines):
        clock = max(clock, min(time, lines[i - 1][2] if i else time))
        now = clock if in_time else i + 1
        if after is not None:
            streams = {k: (s, last) for k, (s, last) in streams.items() if now - last <= after}
        if key not in streams:
            if len(streams) == most:
                streams.pop(next(iter(streams)))
            streams[key] = vl.Stream(learner, seed=named_seed(0, (key,))), 0.0
        stream, _ = streams.pop(key)
        streams[key] = stream, now
        means.append(stream.update(value).mean)
    return means


@pytest.mark.parametrize("learner", ["varsmile:m=0.001", "pf:n=6,p_c=0.01", "exact:p_c=0.01"])
@pytest.mark.parametrize(
    ("options", "after", "most", "in_time"),
    [
        ({"forget_after": "20lines"}, 20, None, False),
        ({"max_keys": 7}, None, 7, False),
        ({"max_keys": 9, "forget_after": "40lines"}, 40, 9, False),
        ({"forget_after": "30m", "time": "t", "interval": "60000d"}, 1800, None, True),
        ({"max_keys": 1}, None, 1, False),
    ],
)
def test_against_a_dictionary_of_streams(
    tmp_path: pathlib.Path, learner: str, options: dict[str, Any], after: float | None, most: int | None, in_time: bool
) -> None:
    lines = some_lines(600, 60, 1)
    if in_time:  # some wrong times: one alone moves nothing
        lines[200] = (*lines[200][:2], lines[200][2] + 10**9)
    written = [json.dumps({"sensor": key, "value": value, "t": time}) for key, value, time in lines]
    done = watched(tmp_path, written, learner, key=("sensor",), **options)
    expected = naive(lines, learner_of(learner=learner), after, most, in_time)
    late = [row.get("elapsed", 0) < 0 for row in done.rows]
    assert not any(late)
    assert [row["mean"] for row in done.rows] == expected
    assert done.summary.forgotten + done.summary.keys >= len({key for key, _, _ in lines})
    assert f"{done.summary.forgotten} keys forgotten" in done.summary.sentence()


def test_going_on_gives_the_same_bits(tmp_path: pathlib.Path) -> None:
    lines = [
        json.dumps({"sensor": k, "value": v, "t": t + 600 * (t % 7 == 0), "host": [k]}) for k, v, t in some_lines(500, 50, 2)
    ]
    options: dict[str, Any] = {"key": ("sensor",), "time": "t", "interval": "60s", "forget_after": "90m", "max_keys": 11}
    options |= {"keep": ("host", "t"), "alarm_run_length": 0.5, "learner": "pf:n=6,p_c=0.01"}
    whole = watched(tmp_path, lines, **options)
    (tmp_path / "out").unlink()
    for end in (3, 200, 201, 350, 500):
        part = watched(tmp_path, lines[:end], state=str(tmp_path / "state"), **options)
    assert part.rows == whole.rows
    assert part.summary == whole.summary
    assert whole.summary.forgotten > 20
    assert whole.summary.late > 5


def test_memory_and_state_follow(tmp_path: pathlib.Path) -> None:
    learner = learner_of(learner="merge:n=5,p_c=0.01")
    keyed, rng = Keyed(learner, 0, keys=Keys(most=40)), np.random.default_rng(3)
    for _ in range(8):
        keys = [f"k{number}" for number in rng.integers(0, 10**6, ROWS)]
        numbers, _ = keyed.numbers_of(keys, ROWS)
        keyed.advance(numbers, np.zeros(ROWS), np.zeros(ROWS, dtype=np.int64))
        keyed.forget()
        keyed.compact()
        assert len(keyed.keys.numbers) == 40
        assert keyed.keys.count == 40
        assert len(keyed.pools[0].states.kept_arrays()["nu"]) == 40
    lines = [json.dumps({"sensor": f"k{i}", "value": 20.0}) for i in range(20_000)]
    state = tmp_path / "state"
    watched(tmp_path, lines, key=("sensor",), max_keys=10, state=str(state))
    header, arrays = state_file.load(state)
    assert keys_from(arrays, 1) == [f"k{i}" for i in range(19_990, 20_000)]
    assert len(arrays["0.nu"]) == 10
    assert state.stat().st_size < 5_000
    assert header["summary"]["forgotten"] == 19_990


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--max-keys", "5"], "--max-keys is about keys"),
        (["--forget-after", "5lines"], "--forget-after is about keys"),
        (["--key", "sensor", "--max-keys", "0"], "--max-keys 0: a whole number from 1 up is accepted"),
        (["--key", "sensor", "--forget-after", "24h"], "--forget-after 24h needs the time of a line"),
        (["--key", "sensor", "--forget-after", "24"], "or a number of lines, such as 10000lines, are"),
    ],
)
def test_options_that_make_no_sense(options: list[str], said: str) -> None:
    done = watch(*options, text='{"sensor": "a", "value": 20}')
    assert done.returncode == 2
    assert said in done.stderr


def test_too_few_keys_are_said_to_be_too_few(tmp_path: pathlib.Path) -> None:
    """Three keys in turn and room for two: each is forgotten before it comes again, and nothing is ever learned."""
    lines = [json.dumps({"sensor": f"k{i % 3}", "value": 20.0}) for i in range(60)]
    done = watched(tmp_path, lines, key=("sensor",), max_keys=2)
    assert done.summary.forgotten == 58
    said = (
        "--max-keys 2 is too few: a key was forgotten 1 line after its last line, and learns anew when it comes again (said once)"
    )
    assert done.reports == [said]
    assert watched(tmp_path, lines, key=("sensor",), max_keys=3).reports == []


def test_keys_of_several_fields_and_odd_texts_come_back(tmp_path: pathlib.Path) -> None:
    names = [("a", "b"), ("", "x")[::-1], ("a b", "ü€🙂"), ("1", "2"), ("x" * 300, "\n")]
    lines = [json.dumps({"site": a, "sensor": b, "value": 20.0}) for a, b in names if a.strip() and b.strip()] * 2
    done = watched(tmp_path, lines, key=("site", "sensor"), state=str(tmp_path / "state"))
    assert done.summary.keys == 3
    more = watched(tmp_path, [*lines, *lines], key=("site", "sensor"), state=str(tmp_path / "state"))
    assert more.summary.keys == 3
    assert more.rows[-1]["run_length"] > more.rows[0]["run_length"]
