"""Counts of a watcher for Prometheus, in its text format: a file for the textfile collector, always whole."""

from __future__ import annotations

import time
from typing import NamedTuple

from volatilis._core.files import write_text
from volatilis.watching.request import Summary

METRICS_EVERY = 5.0  # seconds between two writes
PREFIX = "volatilis_watch_"


class Lag(NamedTuple):
    """How far behind the watcher is: bytes of a file that it has not read, and seconds since the newest time in the lines."""

    input_bytes: int | None
    seconds: float | None


class Metrics:
    """Writes the counts every few seconds. `path` None: nowhere."""

    def __init__(self, path: str | None) -> None:
        self._path, self._next = path, 0.0

    def seconds_left(self) -> float | None:
        """Until the next write; None where nothing is written."""
        return None if self._path is None else max(0.0, self._next - time.monotonic())

    def write(self, summary: Summary, lag: Lag) -> None:
        if self._path is not None:
            self._next = time.monotonic() + METRICS_EVERY
            write_text(self._path, text(summary, lag))


def text(summary: Summary, lag: Lag) -> str:
    """Counters go on over restarts with the same --state."""
    counters = {
        "lines_total": (summary.lines, "Lines read, empty ones apart."),
        "observations_total": (summary.observations, "Observations learned."),
        "missing_total": (summary.missing, "Lines whose observation is missing."),
        "late_lines_total": (summary.late, "Lines whose time lies before that of an earlier line of the same key; not learned."),
        "bad_lines_total": (summary.bad_lines, "Lines that could not be used."),
        "alarms_total": (summary.alarms, "Lines with an alarm."),
        "forgotten_keys_total": (summary.forgotten, "Keys forgotten by --forget-after or --max-keys."),
    }
    gauges = {
        "keys": (summary.keys, "Keys remembered now."),
        "lag_bytes": (lag.input_bytes, "Bytes of the input file that are not read yet."),
        "lag_seconds": (lag.seconds, "Seconds from the newest time in the lines to now."),
        "written_timestamp_seconds": (round(time.time(), 3), "When this file was written, in seconds since 1970."),
    }
    parts = [_metric(name, "counter", *value) for name, value in counters.items()]
    parts += [_metric(name, "gauge", value, words) for name, (value, words) in gauges.items() if value is not None]
    return "".join(parts)


def _metric(name: str, kind: str, value: float, words: str) -> str:
    return f"# HELP {PREFIX}{name} {words}\n# TYPE {PREFIX}{name} {kind}\n{PREFIX}{name} {value}\n"
