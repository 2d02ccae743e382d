"""`volatilis run` beside its own kernels and PyArrow alone; the memory of a table that is larger than it; `volatilis --help`."""

from __future__ import annotations

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import volatilis as vl

GROUPS, TRIALS = 1_000, 1_000
LARGE = 20_000_000
ASKED = ("--family", "gaussian:sigma=1", "--learner", "varsmile:m=0.01", "--learner", "merge:n=20,p_c=0.01", "--quiet")
# A process that says what it used: processor seconds and the largest memory, its own and not its maker's
MEASURED = """
import json, sys, time
from volatilis.cli import app
try:
    app(sys.argv[1:], standalone_mode=False)
finally:
    used = time.process_time()
    from volatilis.paper.writing import most_memory  # what the command does not import is not its time
    print(json.dumps([used, most_memory()]), file=sys.stderr)
"""


class Used(NamedTuple):
    seconds: float
    processor_seconds: float
    memory: float


class Sides(NamedTuple):
    """The command, and what it could not do without: seconds each."""

    command: float
    kernels: float
    reading: float
    writing: float


def command(*words: str) -> Used:
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", MEASURED, *words], capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - start
    return Used(seconds, *json.loads(done.stderr.splitlines()[-1]))


def a_million_rows(repeats: int) -> Sides:
    """All sides in turns, medians."""
    family, rng = vl.Gaussian(1.0), np.random.default_rng(0)
    ys = rng.normal(size=(GROUPS, TRIALS))
    with tempfile.TemporaryDirectory() as folder:
        table, out, again = (str(pathlib.Path(folder) / name) for name in ("t.parquet", "o.parquet", "again.parquet"))
        subjects, trials = np.repeat(np.arange(GROUPS), TRIALS), np.tile(np.arange(TRIALS), GROUPS)
        parquet.write_table(pa.table({"subject": subjects, "trial": trials, "outcome": ys.ravel()}), table)
        sides = []
        for turn in range(repeats + 1):
            used = command("run", table, *ASKED, "--out", out).seconds
            kernels = _seconds(lambda: all_columns(family, ys))
            reading = _seconds(lambda: parquet.read_table(table))
            content = parquet.read_table(out)
            writing = _seconds(lambda content=content: parquet.write_table(content, again))
            if turn:  # the first one compiles
                sides.append(Sides(used, kernels, reading, writing))
    return Sides(*(statistics.median(side) for side in zip(*sides, strict=True)))


def all_columns(family: vl.Gaussian, ys: np.ndarray) -> None:
    """What the command computes, by the kernels alone: every readout, and for the learner with one belief both divergences."""
    begins = np.arange(ys.size) % ys.shape[1] == 0
    trace = vl.run(vl.VarSMiLe(family, 0.01), ys.ravel(), reset=begins)
    trace.bayesian_surprise, trace.confidence_corrected_surprise  # noqa: B018 (computed when asked for)
    vl.run_many(vl.Merge(family, 0.01, 20), ys)


def memory_of_many_rows() -> Used:
    """A table of 20 million rows, Parquet in and out."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        table, out = (str(pathlib.Path(folder) / name) for name in ("t.parquet", "o.parquet"))
        schema = pa.schema([("subject", pa.int64()), ("trial", pa.int64()), ("outcome", pa.float64())])
        with parquet.ParquetWriter(table, schema) as file:
            for batch in _large(rng):
                file.write_batch(pa.record_batch(batch, schema=schema))
        return command("run", table, *ASKED, "--out", out)


def _large(rng: np.random.Generator) -> Iterator[list[np.ndarray]]:
    rows = 1_000_000
    for start in range(0, LARGE, rows):
        where = np.arange(start, start + rows)
        yield [where // 20_000, where % 20_000, rng.normal(size=rows)]


def help_seconds(repeats: int) -> float:
    return statistics.median(command("--help").processor_seconds for _ in range(repeats + 1))


def _seconds(function: object) -> float:
    start = time.perf_counter()
    function()  # type: ignore[operator]
    return time.perf_counter() - start
