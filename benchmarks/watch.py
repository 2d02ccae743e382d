"""`volatilis watch` measured as a process: lines a second of one core, start and parsing included; memory for many keys."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile
from typing import NamedTuple

import numpy as np

import volatilis as vl
from volatilis.changepoints import AlarmFile, save_alarms

# Says its largest memory at the end: that of wait4 begins with what the maker of the process had.
PROGRAM = """
import atexit, sys
from volatilis.cli import main
from volatilis.paper.writing import most_memory
atexit.register(lambda: print("memory:", most_memory(), file=sys.stderr))
main()
"""
COMMAND = [sys.executable, "-c", PROGRAM, "watch"]
FAMILY = "gaussian:sigma=1,mu_0=20,sigma_0=10"
VARSMILE, MERGE = "varsmile:m=0.001", "merge:n=20,p_c=0.001"
LINES, SENSORS = 1_000_000, 100
KEYS, LINES_PER_KEY = 100_000, 10
BEGIN, STEP, GAP = 1_790_000_000, 0.1, 600.0  # seconds: of the first line, between two lines, and once in 100,000 lines
WITH_TIME = ("--key", "sensor", "--time", "t", "--interval", "10s", "--keep", "host")


class Cost(NamedTuple):
    """Of one run: seconds of processor time, and the largest resident memory in bytes."""

    seconds: float
    memory: int


def write_lines(path: pathlib.Path, kind: str, lines: int, sensors: int, more: bool = False) -> None:
    """Noise around a level that jumps every 5,000 lines; sensors in random order. `more`: each with a time and a host."""
    rng = np.random.default_rng(1)
    levels = np.repeat(rng.normal(20.0, 10.0, lines // 5_000 + 1), 5_000)[:lines]
    values, numbers = np.round(levels + rng.normal(size=lines), 2).tolist(), rng.integers(0, sensors, lines).tolist()
    at = BEGIN + STEP * np.arange(lines) + GAP * (np.arange(lines) // 100_000)
    times = np.datetime_as_string((1000 * at).astype("datetime64[ms]"), timezone="UTC").tolist() if more else []
    with open(path, "w", encoding="utf-8") as file:
        if more:
            rows = zip(numbers, values, times, strict=True)
            in_json = '{{"sensor":"s{}","value":{},"t":"{}","host":"host-{}"}}\n'
            line = "s{},{},{},host-{}\n" if kind == "csv" else in_json
            file.write("sensor,value,t,host\n" if kind == "csv" else "")
            file.writelines(line.format(n, v, t, n % 7) for n, v, t in rows)
        elif kind == "csv":
            file.write("sensor,value\n")
            file.writelines(f"s{number},{value}\n" for number, value in zip(numbers, values, strict=True))
        else:
            file.writelines(f'{{"sensor":"s{n}","value":{v}}}\n' for n, v in zip(numbers, values, strict=True))


def cost(path: pathlib.Path, learner: str, *options: str) -> Cost:
    return cost_of(path, "--family", FAMILY, "--learner", learner, *options)


def cost_of(path: pathlib.Path, *options: str) -> Cost:
    """What the process itself used. Lines go to a file, as long as it lasts."""
    with open(path, "rb") as source, tempfile.TemporaryFile() as out:
        arguments = [*COMMAND, "--quiet", *options]
        process = subprocess.Popen(arguments, stdin=source, stdout=out, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise RuntimeError(f"volatilis watch ended with {process.returncode}")
    return Cost(usage.ru_utime + usage.ru_stime, int(float(said.split("memory:")[1])))


def speeds(repeats: int) -> dict[str, float]:
    """Lines a second, the median of some runs; the first, which may compile, is not counted."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind, name in (("jsonl", "JSON lines"), ("csv", "CSV")):
            path = pathlib.Path(folder) / kind
            write_lines(path, kind, LINES, SENSORS)
            for options, keys in (((), "no key"), (("--key", "sensor"), f"{SENSORS} keys")):
                cost(path, VARSMILE, *options)
                seconds = np.median([cost(path, VARSMILE, *options).seconds for _ in range(repeats)])
                found[f"{name}, {keys}"] = LINES / float(seconds)
    return found


def speeds_with_time(repeats: int) -> dict[str, float]:
    """The same with times, a field that is passed on, and alarm rules; 100 keys."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        rule = vl.AlarmRule(0.9, within=100, cool_down=20)
        alarms = str(pathlib.Path(folder) / "alarms.json")
        save_alarms(alarms, AlarmFile(vl.Merge(vl.Gaussian(1.0, 20.0, 10.0), 0.001, 20), rule, 1e-4, ""))
        for kind, name in (("jsonl", "JSON lines"), ("csv", "CSV")):
            path = pathlib.Path(folder) / kind
            write_lines(path, kind, LINES, SENSORS, more=True)
            own = ("--family", FAMILY, "--learner", VARSMILE, "--alarm", "0.5", "--alarm-run-length", "0.3")
            for learner, options in (("VarSMiLe", own), ("Merge(n=20), calibrated", ("--alarms", alarms))):
                cost_of(path, *options, *WITH_TIME)
                seconds = np.median([cost_of(path, *options, *WITH_TIME).seconds for _ in range(repeats)])
                found[f"{learner}, {name}, {SENSORS} keys, with --time, --keep and alarm rules"] = LINES / float(seconds)
    return found


def memories() -> dict[str, int]:
    """Bytes with many keys, their state saved along the way and at the end."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "lines"
        write_lines(path, "jsonl", KEYS * LINES_PER_KEY, KEYS)
        states = {name: str(pathlib.Path(folder) / name) for name in ("VarSMiLe", "Merge(n=20)")}
        learners = {"VarSMiLe": VARSMILE, "Merge(n=20)": MERGE}
        return {name: cost(path, learners[name], "--key", "sensor", "--state", states[name]).memory for name in learners}


if __name__ == "__main__":
    for what, rate in speeds(3).items():
        print(f"{what}: {rate:,.0f} lines/s")
    for what, rate in speeds_with_time(3).items():
        print(f"{what}: {rate:,.0f} lines/s")
    for what, memory in memories().items():
        print(f"{what}, {KEYS:,} keys: {memory / 1e6:,.0f} MB")
