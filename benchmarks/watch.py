"""`volatilis watch` measured as a process: lines a second of one core, start and parsing included; memory for many keys."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile
from typing import NamedTuple

import numpy as np

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


class Cost(NamedTuple):
    """Of one run: seconds of processor time, and the largest resident memory in bytes."""

    seconds: float
    memory: int


def write_lines(path: pathlib.Path, kind: str, lines: int, sensors: int) -> None:
    """Noise around a level that jumps every 5,000 lines; sensors in random order."""
    rng = np.random.default_rng(1)
    levels = np.repeat(rng.normal(20.0, 10.0, lines // 5_000 + 1), 5_000)[:lines]
    values, numbers = np.round(levels + rng.normal(size=lines), 2).tolist(), rng.integers(0, sensors, lines).tolist()
    with open(path, "w", encoding="utf-8") as file:
        if kind == "csv":
            file.write("sensor,value\n")
            file.writelines(f"s{number},{value}\n" for number, value in zip(numbers, values, strict=True))
        else:
            file.writelines(f'{{"sensor":"s{n}","value":{v}}}\n' for n, v in zip(numbers, values, strict=True))


def cost(path: pathlib.Path, learner: str, *options: str) -> Cost:
    """What the process itself used. Lines go to a file, as long as it lasts."""
    with open(path, "rb") as source, tempfile.TemporaryFile() as out:
        arguments = [*COMMAND, "--family", FAMILY, "--learner", learner, "--quiet", *options]
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
    for what, memory in memories().items():
        print(f"{what}, {KEYS:,} keys: {memory / 1e6:,.0f} MB")
