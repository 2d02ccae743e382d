"""`volatilis watch` as a process: lines at once, signals, closed pipes, kill -9, constant memory."""

from __future__ import annotations

import csv
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from tests.helpers.processes import wait_for
from volatilis.catalogue import parse_family, parse_learner
from volatilis.trials import RunRequest, compute

from .command import BOTH, COMMAND, by_streams, keyed_lines, learner_of, resident, rows, sensor_values, started, watch

VALUES = sensor_values(600, seed=5)
KEYS = np.random.default_rng(6).choice(["a", "b"], 600).tolist()
LINES = keyed_lines(VALUES, KEYS)


def ended(process: subprocess.Popen[bytes]) -> tuple[int, str, str]:
    out, error = process.communicate(timeout=60)
    return process.returncode, (out or b"").decode(), (error or b"").decode()


# --- what comes out ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keyed", [False, True])
def test_every_line_is_a_step_of_a_stream(keyed: bool) -> None:
    done = watch(*(["--key", "sensor"] if keyed else []), "--measures", "all", text=LINES)
    assert done.returncode == 0, done.stderr
    found = rows(done.stdout)
    steps = by_streams(learner_of(), VALUES, KEYS if keyed else [None] * len(VALUES))
    assert [row["line"] for row in found] == list(range(1, 601))
    assert [row["value"] for row in found] == VALUES
    for name in steps[0].readouts:
        assert [row[name] for row in found] == [getattr(step, name) for step in steps], name
    alarms = [step.adaptation_rate > 0.5 for step in steps]
    assert [row["alarm"] for row in found] == alarms
    assert any(alarms)
    assert f"600 observations{' of 2 keys' if keyed else ''}, 0 missing, 0 bad lines, {sum(alarms)} alarms" in done.stderr


def test_only_alarms_and_their_threshold() -> None:
    gamma = [step.adaptation_rate for step in by_streams(learner_of(), VALUES, [None] * 600)]
    for threshold in (0.1, 0.9):
        done = watch("--only-alarms", "--alarm", threshold, text=LINES)
        assert [row["line"] for row in rows(done.stdout)] == [i + 1 for i, rate in enumerate(gamma) if rate > threshold]


def test_a_small_change_shows_in_the_run_length() -> None:
    """The example of docs/how-to/streams.md, whose alarms are at t = 310 and 312."""
    rng = np.random.default_rng(0)
    values = [float(rng.normal(20.0 if t < 300 else 21.5, 1.0)) for t in range(600)]
    options = ["--family", "gaussian:sigma=1,mu_0=20,sigma_0=10", "--learner", "merge:n=10,p_c=0.001", "--only-alarms"]
    text = "".join(f"{value!r}\n" for value in values)
    assert watch(*options, text=text, both=False).stdout == ""
    found = rows(watch(*options, "--alarm-run-length", "0.5", text=text, both=False).stdout)
    assert [row["line"] - 1 for row in found] == [310, 312]
    assert [round(row["run_length"], 1) for row in found] == [107.9, 19.9]


def test_csv_in_and_out() -> None:
    text = "sensor,value\n" + "".join(f"{key},{value}\n" for key, value in zip(KEYS, VALUES, strict=True))
    done = watch("--key", "sensor", "--format", "csv", "--measures", "mean", text=text)
    lines = done.stdout.splitlines()
    assert lines[0] == "line,sensor,value,mean,alarm"
    first = by_streams(learner_of(), VALUES[:1], KEYS[:1])[0]
    assert lines[1] == f"2,{KEYS[0]},{VALUES[0]!r},{first.mean!r},false"
    assert len(lines) == 601


def test_the_same_numbers_as_run_by_key(tmp_path: pathlib.Path) -> None:
    """`volatilis run` reads the table as a whole, with other code; a learner that samples needs the same random numbers too."""
    table = tmp_path / "table.csv"
    table.write_text("sensor,value\n" + "".join(f"{key},{value}\n" for key, value in zip(KEYS, VALUES, strict=True)))
    learner = "pf:n=6,p_c=0.01"
    options = ["--family", "gaussian:sigma=1,mu_0=20,sigma_0=10", "--learner", learner, "--seed", "3"]
    recipe = parse_family(options[1]), (parse_learner(learner),)
    frame = compute(RunRequest(table, *recipe, by=("sensor",), outcome=("value",), seed=3)).frame
    found = rows(watch(table, "--key", "sensor", *options, both=False).stdout)
    for name in ("mean", "variance", "shannon_surprise", "run_length"):
        assert [row[name] for row in found] == frame[f"particle_filter_{name}"].tolist(), name


def test_each_line_is_answered_before_the_next_comes() -> None:
    process = started(stderr=subprocess.DEVNULL)
    assert process.stdin is not None
    assert process.stdout is not None
    for i in range(5):
        process.stdin.write(b'{"value": 20.5}\n{"value": ')  # half a line is no line
        process.stdin.flush()
        assert rows(process.stdout.readline())[0]["line"] == 2 * i + 1
        process.stdin.write(b"20.1}\n")
        process.stdin.flush()
        assert rows(process.stdout.readline())[0]["line"] == 2 * i + 2
    code, out, _ = ended(process)
    assert (code, out) == (0, "")


def test_bad_lines_are_reported_and_left_out() -> None:
    done = watch("--bad-lines", "report", text="20\noops\n21\n\n[1]\n22\n")
    assert done.returncode == 0
    assert [row["line"] for row in rows(done.stdout)] == [1, 3, 6]
    assert "standard input: line 2 is left out: it is 'oops', not a number" in done.stderr
    assert "standard input: line 5 is left out: it is a list, not a number" in done.stderr
    assert "3 observations, 0 missing, 2 bad lines" in done.stderr


@pytest.mark.parametrize("missing", ["elapse", "skip"])
def test_missing_values(missing: str) -> None:
    done = watch("--missing", missing, text="20\nnull\n21\n")
    steps = by_streams(learner_of(), [20.0, None, 21.0], [None] * 3, missing)
    found = rows(done.stdout)
    assert [row["mean"] for row in found] == [step.mean for step in steps]
    assert (found[1]["value"], found[1]["adaptation_rate"], found[1]["alarm"]) == (None, None, False)
    assert "2 observations, 1 missing" in done.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--bad-lines", "maybe"], "--bad-lines maybe: stop, report are accepted"),
        (["--missing", "maybe"], "missing = 'maybe' is not accepted"),
        (["--alarm", "1.5"], "--alarm 1.5: a number from 0 to 1 is accepted"),
        (["--save-every", "-1", "--state", "{state}"], "--save-every -1.0: seconds, 0 or more"),
        (["--value", "a,b"], "an observation of this family has 1 number; --value names 2 fields"),
        (["--categories", "a,b"], "names 2 categories, but the family Gaussian has none"),
        (["nowhere.log"], "nowhere.log: No such file"),
        (["--replay", __file__, "--state", "{state}"], "--replay is for a pipe"),
        ([__file__, "--out", __file__], "is both the input and --out"),
        (["--state", "same", "--out", "./same"], "is both --out and --state"),
        (["--state", "same", "--out", "same.lock"], "is both --out and the lock of --state"),
        (["--replay"], "--replay has no effect without --state FILE"),
        (["--save-every", "10"], "--save-every has no effect without --state FILE"),
        (["--learner", "leaky:omega=0.9"], "--learner is given 2 times; one is accepted"),
    ],
)
def test_wrong_options(tmp_path: pathlib.Path, options: list[str], said: str) -> None:
    state = tmp_path / "state"
    if "{state}" in options:
        watch("--state", state, text="20\n")
    done = watch(*[option.format(state=state) for option in options], text="20\n")
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""


def test_learners_without_an_adaptation_rate() -> None:
    leaky = ["--family", "gaussian:sigma=1", "--learner", "leaky:omega=0.9"]
    done = watch(*leaky, text="20\n", both=False)
    assert list(rows(done.stdout)[0]) == ["line", "value", "mean", "run_length"]
    assert "no adaptation rate" in watch(*leaky, "--alarm", "0.5", text="20\n", both=False).stderr
    assert "gives no alarms" in watch(*leaky, "--only-alarms", text="20\n", both=False).stderr
    column = watch("--family", "gaussian:sigma=column:s", "--learner", "varsmile:m=0.1", text="20\n", both=False)
    assert "volatilis watch cannot take a parameter from a column; volatilis run can" in column.stderr


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\x00\x01\x02\xff\xfe", b"value\n"], ids=["empty", "blank", "binary", "header"])
def test_an_input_that_holds_nothing(data: bytes) -> None:
    done = watch(text=data)
    if data.startswith(b"\x00"):
        assert done.returncode == 2
        assert "standard input: it is binary, not lines of text" in done.stderr
    else:
        assert (done.returncode, done.stdout) == (0, "")


# --- stopping ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_signals_save_and_stop(tmp_path: pathlib.Path, number: int, code: int) -> None:
    state = tmp_path / "state"
    process = started("--state", state, "--save-every", "1000")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(LINES.encode())
    process.stdin.flush()
    for _ in range(600):
        process.stdout.readline()
    process.send_signal(number)
    assert ended(process)[0] == code
    done = watch("--state", state, text="20\n")
    assert "601 observations" in done.stderr


def test_a_signal_that_is_ignored_stays_ignored(tmp_path: pathlib.Path) -> None:
    """As SIGHUP under nohup, and Ctrl-C in the background: it goes on, and SIGTERM stops it."""
    ignored = (signal.SIGHUP, signal.SIGINT)
    process = started(preexec_fn=lambda: [signal.signal(number, signal.SIG_IGN) for number in ignored])
    assert process.stdin is not None
    assert process.stdout is not None
    for number in (*ignored, signal.SIGTERM):
        process.stdin.write(b"20\n")
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(number)
    assert ended(process)[0] == 143


def test_a_reader_that_goes_away(tmp_path: pathlib.Path) -> None:
    log, state = tmp_path / "log", tmp_path / "state"
    log.write_text(20 * LINES)
    process = started(log, "--state", state, stdin=subprocess.DEVNULL)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(60) == 141
    assert process.stderr is not None
    with process.stderr:
        assert process.stderr.read() == b""
    done = watch(log, "--state", state)
    assert "12,000 observations" in done.stderr
    assert rows(done.stdout)[-1]["line"] == 12000


def test_a_reader_that_goes_away_while_nothing_is_written() -> None:
    process = started("--only-alarms")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"20\n")
    process.stdin.flush()
    process.stdout.close()
    assert process.wait(60) == 141
    process.stdin.close()
    assert process.stderr is not None
    process.stderr.close()


def test_a_full_disk_is_told_and_nothing_is_lost(tmp_path: pathlib.Path) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full here")
    log, state = tmp_path / "log", tmp_path / "state"
    log.write_text(LINES)
    done = watch(log, "--state", state, "--out", "/dev/full")
    assert done.returncode == 2
    assert "cannot write /dev/full: No space left on device" in done.stderr
    assert len(rows(watch(log, "--state", state).stdout)) == 600


# --- kill -9 -----------------------------------------------------------------------------------------------------------


EVERYTHING = ["--time", "t", "--interval", "60s", "--keep", "note,t", "--forget-after", "4h", "--max-keys", "30"]


def timed_lines(count: int, kind: str) -> list[str]:
    """Gaps, late lines, keys that come and go, and fields with line breaks; as CSV or as JSON lines."""
    rng = np.random.default_rng(5)
    keys = [f"k{int(number)}" for number in np.abs(np.linspace(0, 60, count) + rng.normal(0, 8, count))]
    times = (1_760_000_000 + np.arange(count) * 20 + rng.choice([0, 0, 0, 300, -2_000], count)).tolist()
    if kind == "csv":
        rows = zip(keys, sensor_values(count), times, strict=True)
        return ["sensor,value,t,note\n", *(f'{k},{v},{t},"a\nb {i % 3}"\n' for i, (k, v, t) in enumerate(rows))]
    rows = zip(keys, sensor_values(count), times, strict=True)
    return [json.dumps({"sensor": k, "value": v, "t": t, "note": [i % 3]}) + "\n" for i, (k, v, t) in enumerate(rows)]


@pytest.mark.parametrize(("when", "kind"), [(0, "plain"), (1, "jsonl"), (2, "csv")])
def test_after_kill_9_every_line_is_counted_once(tmp_path: pathlib.Path, when: int, kind: str) -> None:
    """Killed while a file grows, with states saved all the time; also what is in --out stands once."""
    log, state, out = tmp_path / "log", tmp_path / "state", tmp_path / "out"
    lines = (10 * LINES).splitlines(keepends=True) if kind == "plain" else timed_lines(6000, kind)
    how = ["--key", "sensor", *([] if kind == "plain" else [*EVERYTHING, "--metrics", tmp_path / "metrics"])]
    options = [log, "--state", state, "--save-every", "0.05", *how, "--out", out]
    with open(log, "w") as file:
        process = started(*options, "--follow", stdin=subprocess.DEVNULL)
        for i, line in enumerate(lines):
            file.write(line[:7])
            if i % 7 == 0:
                file.flush()  # also within lines
            file.write(line[7:])
            if i == (when + 1) * 1500:
                file.flush()
                wait_for(lambda: out.exists() and out.stat().st_size > 100_000 * when, what="output")
                process.kill()
                process.communicate()
    assert process.returncode == -signal.SIGKILL
    done = watch(*options)
    assert done.returncode == 0, done.stderr
    whole = tmp_path / "whole"
    once = watch(log, *how, "--out", whole)
    assert once.returncode == 0
    assert out.read_bytes() == whole.read_bytes()
    assert done.stderr.splitlines()[-1] == once.stderr.splitlines()[-1]  # the counts
    if kind == "csv":
        assert len(list(csv.reader(io.StringIO(log.read_text())))) == len(rows(out.read_text())) + 1
    final = tmp_path / "final"
    assert watch(log, *how, "--out", whole, "--state", final).returncode == 0
    assert learned(state) == learned(final)


def learned(state: pathlib.Path) -> dict[str, Any]:
    from volatilis.watching.state import load

    header, arrays = load(state)
    return {name: header[name] for name in ("summary", "place")} | {name: repr(array.tolist()) for name, array in arrays.items()}


def test_a_redirected_file_goes_on(tmp_path: pathlib.Path) -> None:
    log, state = tmp_path / "log", tmp_path / "state"
    for count, text in ((600, LINES), (5, LINES + keyed_lines([20.0] * 5, ["a"] * 5))):
        log.write_text(text)
        with open(log, "rb") as file:
            done = subprocess.run([*COMMAND, *BOTH, "--state", state], stdin=file, capture_output=True, timeout=60, check=True)
        assert len(done.stdout.splitlines()) == count
    assert b"605 observations" in done.stderr


def test_a_pipe_that_starts_again(tmp_path: pathlib.Path) -> None:
    state = tmp_path / "state"
    assert "600 observations" in watch("--state", state, "--replay", text=LINES).stderr
    again = watch("--state", state, "--replay", text=LINES + '{"value":20}\n')
    assert [row["line"] for row in rows(again.stdout)] == [601]
    other = watch("--state", state, "--replay", text=LINES.replace("sensor", "SENSOR") + '{"value":20}\n')
    assert other.returncode == 2
    assert "does not begin with what was read before" in other.stderr
    short = watch("--state", state, "--replay", text=LINES[:100])
    assert "ended after 100 bytes" in short.stderr
    live = watch("--state", state, text='{"value":20}\n')  # without --replay it just goes on
    assert [row["line"] for row in rows(live.stdout)] == [1]
    assert "602 observations" in live.stderr


def test_a_live_pipe_of_csv_goes_on_with_and_without_a_header(tmp_path: pathlib.Path) -> None:
    state = tmp_path / "state"
    for text in ("value,b\n20,1\n", "21,1\n", "value,b\n22,1\n"):
        done = watch("--state", state, text=text)
        assert done.returncode == 0, done.stderr
        assert len(rows(done.stdout)) == 1
    assert "3 observations" in done.stderr


def test_a_rotated_log_is_followed(tmp_path: pathlib.Path) -> None:
    log, out = tmp_path / "log", tmp_path / "out"
    log.write_text("20\n21\n")
    process = started(log, "--follow", "--out", out, stdin=subprocess.DEVNULL)
    wait_for(lambda: out.exists() and out.read_bytes().count(b"\n") == 2, what="two lines")
    os.rename(log, tmp_path / "log.1")
    log.write_text("22\n")
    wait_for(lambda: out.read_bytes().count(b"\n") == 3, what="the line of the new file")
    process.send_signal(signal.SIGTERM)
    code, _, error = ended(process)
    assert code == 143
    assert "is another file now, after line 2" in error
    assert [row["line"] for row in rows(out.read_bytes())] == [1, 2, 1]


# --- memory ------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")
def test_memory_is_constant() -> None:
    """Between 100,000 and 1,000,000 observations it grows by less than 8 MB: not by a byte per observation more."""
    block = "".join(f'{{"sensor":"s{i % 50}","value":{value}}}\n' for i, value in enumerate(sensor_values(20_000))).encode()
    process = started("--key", "sensor", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert process.stdin is not None
    used = []
    for i in range(50):
        process.stdin.write(block)
        process.stdin.flush()
        if i in (4, 49):
            used.append(resident(process.pid))
    process.stdin.close()
    assert process.wait(60) == 0
    assert used[1] - used[0] < 8 << 20, used
