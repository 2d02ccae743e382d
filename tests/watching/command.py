"""`volatilis watch` as a process, and streams to compare it with."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

import volatilis as vl
from tests.helpers import processes
from tests.helpers.processes import default_signals
from volatilis._core.seeds import named_seed
from volatilis.catalogue import make_family, make_learner, parse_family, parse_learner
from volatilis.watching import Summary, WatchRequest
from volatilis.watching import watch as watch_lines

COMMAND = [*processes.COMMAND, "watch"]
FAMILY, LEARNER = "gaussian:sigma=1,mu_0=20,sigma_0=10", "varsmile:m=0.001"
BOTH = ["--family", FAMILY, "--learner", LEARNER]


def watch(*options: Any, text: str | bytes = "", both: bool = True) -> subprocess.CompletedProcess[str]:
    """Run to the end. Without `both` the options name family and learner themselves."""
    data = text.encode() if isinstance(text, str) else text
    arguments = [*COMMAND, *map(str, options), *(BOTH if both else [])]
    done = subprocess.run(arguments, input=data, capture_output=True, timeout=120, check=False)
    return subprocess.CompletedProcess(arguments, done.returncode, done.stdout.decode(), done.stderr.decode())


def started(*options: Any, **pipes: Any) -> subprocess.Popen[bytes]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | pipes
    return subprocess.Popen([*COMMAND, *map(str, options), *BOTH], **{"preexec_fn": default_signals} | pipes)


def rows(text: str | bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def learner_of(family: str = FAMILY, learner: str = LEARNER) -> Any:
    return make_learner(parse_learner(learner), make_family(parse_family(family), {}), {})


def keyed_lines(values: Iterable[float], keys: Iterable[str]) -> str:
    return "".join(json.dumps({"sensor": key, "value": value}) + "\n" for value, key in zip(values, keys, strict=True))


def by_streams(learner: Any, values: Iterable[Any], keys: Iterable[str | None], missing: str = "error") -> list[Any]:
    """A Step per observation from one Stream per key; no key is the plain seed."""
    streams: dict[str | None, vl.Stream] = {}
    steps = []
    for value, key in zip(values, keys, strict=True):
        if key not in streams:
            streams[key] = vl.Stream(learner, seed=0 if key is None else named_seed(0, (key,)), missing=missing)
        steps.append(streams[key].update(value))
    return steps


def sensor_values(count: int, seed: int = 0) -> list[float]:
    """Noise of 1 around a level that jumps every now and then."""
    rng = np.random.default_rng(seed)
    levels = np.repeat(rng.normal(20.0, 10.0, count // 50 + 1), 50)[:count]
    return np.round(levels + rng.normal(size=count), 3).tolist()


def resident(process: int) -> int:
    """Bytes of memory of a process now."""
    with open(f"/proc/{process}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Watched(NamedTuple):
    """What a watcher made of some lines: rows of its output, its counts, and what it reported."""

    rows: list[dict[str, Any]]
    summary: Summary
    reports: list[str]


def watched(folder: pathlib.Path, lines: Iterable[str], learner: str = LEARNER, family: str = FAMILY, **options: Any) -> Watched:
    """In this process: `lines` is what the file has by now, and the output is all of it."""
    source, out = folder / "in", folder / "out"
    reports: list[str] = []
    source.write_text("".join(f"{line}\n" for line in lines))
    request = WatchRequest(str(source), parse_family(family), parse_learner(learner), out=str(out), **options)
    if request.state is None:
        out.unlink(missing_ok=True)
    summary = watch_lines(request, reports.append)
    return Watched(rows(out.read_text()), summary, reports)
