"""The time of a line: an ISO time, or seconds since 1970."""

from __future__ import annotations

import contextlib
import datetime
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from volatilis.watching.fields import BadLineError, is_missing, shown

LATEST = 1e11  # seconds since 1970: the year 5138; beyond it are milliseconds
NO_TIMES = np.zeros(0)
FEW = 64  # texts
EXACT = 2**53  # whole numbers below it are floats


def one_time(value: object, name: str) -> float:
    """Seconds since 1970, from such a number or from an ISO time; one without a time zone is in UTC."""
    try:
        seconds = iso_seconds(value) if isinstance(value, str) else _plain_number(value)
    except (ValueError, OverflowError):
        if value is None or (isinstance(value, str) and is_missing(value)):
            raise BadLineError(f"{name!r} is missing; it is the time, so every line needs it") from None
        accepted = "an ISO time, such as 2026-01-31T09:30:00Z, or seconds since 1970 are accepted"
        raise BadLineError(f"{name!r} is {shown(str(value))}, not a time; {accepted}") from None
    if not abs(seconds) <= LATEST:
        hint = "; are these milliseconds? Seconds are accepted" if math.isfinite(seconds) else ""
        raise BadLineError(f"{name!r} is {shown(str(value))}, which is no time in seconds since 1970{hint}")
    return seconds


def iso_seconds(text: str) -> float:
    """From a text; ValueError where it is no time."""
    text = text.strip()
    try:
        moment = datetime.datetime.fromisoformat(text) if "-" in text or "T" in text else None
    except ValueError:
        moment = None
    if moment is None:
        if "_" in text:
            raise ValueError
        return float(text)
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=datetime.UTC)).timestamp()


def seconds_of(values: Sequence[Any]) -> np.ndarray:
    """Times all at once; raises where one needs a closer look."""
    kinds = set(map(type, values))
    if kinds <= {int, float}:
        seconds = np.array(values, dtype=np.float64)
    elif kinds == {str}:
        seconds = _all_iso_seconds(values)
    else:
        seconds = np.array([one_time(value, "") for value in values], dtype=np.float64)
    if not (np.abs(seconds) <= LATEST).all():
        raise ValueError
    return seconds


def _all_iso_seconds(texts: Sequence[str]) -> np.ndarray:
    """Arrow is many times as fast and takes fewer kinds of ISO times; what it takes is the same moment."""
    if len(texts) >= FEW:
        import pyarrow as pa

        for zone in ("UTC", None):  # all texts with a time zone, or all without
            with contextlib.suppress(pa.ArrowInvalid):
                moments = pa.array(texts, pa.string()).cast(pa.timestamp("us", zone)).to_numpy().view(np.int64)
                if (np.abs(moments) < EXACT).all():
                    return np.asarray(moments / 1e6)
    return np.array(list(map(iso_seconds, texts)), dtype=np.float64)


def _plain_number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError
    return float(value)
