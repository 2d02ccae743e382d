"""Observations as a user gives them, made arrays of numbers: checked once, with the place of the first that is refused."""

from __future__ import annotations

import numbers
import sys
from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np


@runtime_checkable
class _HasToNumpy(Protocol):
    """Series and arrays of pandas, xarray and polars."""

    def to_numpy(self) -> np.ndarray: ...


def real_observations(
    owner: str, ys: object, accepts: Callable[[np.ndarray], np.ndarray] | None = None, words: str = "a finite number"
) -> tuple[np.ndarray, np.ndarray]:
    """A sequence of numbers as float64, and which of them are missing (NaN, None or masked)."""
    values, missing = numbers_of(owner, ys, words)
    if values.ndim != 1:
        raise ValueError(
            f"{owner}: observations have shape {values.shape}; a sequence of T single numbers, shape (T,), is accepted"
        )
    if not _surely_finite(values):
        _refuse(owner, values, ~missing & ~np.isfinite(values), words)
    if accepts is not None:
        with np.errstate(invalid="ignore"):
            _refuse(owner, values, ~(missing | accepts(values)), words)
    return values, missing


def whole_observations(
    owner: str, ys: object, accepts: Callable[[np.ndarray], np.ndarray], words: str
) -> tuple[np.ndarray, np.ndarray]:
    """A sequence of whole numbers as int64, and which of them are missing; a missing one reads 0."""
    if type(ys) is np.ndarray and np.can_cast(ys.dtype, np.int64) and ys.ndim == 1 and accepts(ys).all():
        return ys.astype(np.int64), np.zeros(ys.size, dtype=bool)
    values, missing = real_observations(owner, ys, lambda v: (v == np.floor(v)) & accepts(v), words)
    return np.where(missing, 0.0, values).astype(np.int64), missing


def vector_observations(owner: str, ys: object, p: int) -> tuple[np.ndarray, np.ndarray]:
    """A sequence of vectors as float64 (T, p), and which of them are missing (any element NaN)."""
    if isinstance(ys, (list, tuple)):
        ys = [[np.nan] * p if _is_absent(y) else y for y in ys]
    values, missing = numbers_of(owner, ys, "a vector of finite numbers")
    if values.size == 0 and values.ndim == 1:
        values, missing = values.reshape(0, p), missing.reshape(0, p)
    if values.ndim != 2 or values.shape[1] != p:
        raise ValueError(
            f"{owner}: observations have shape {values.shape}; T vectors of {p} numbers, shape (T, {p}), are accepted"
        )
    absent = np.asarray(missing.any(axis=1))
    _refuse(owner, values, ~absent & ~np.isfinite(values).all(axis=1), "a vector of finite numbers")
    return np.ascontiguousarray(values), absent


def noise_scale(differences: np.ndarray) -> float:
    """The standard deviation of noise, from differences of neighbours: those that a change or an outlier made are left out.

    The median of |d| / (0.6745 sqrt 2), where larger ones than 3.5 standard deviations do not count.
    """
    sizes = np.abs(differences)
    sizes = sizes[np.isfinite(sizes)]
    scale = 0.0
    for _ in range(4):
        scale = float(np.median(sizes)) / 0.9538726 if sizes.size else 0.0
        sizes = sizes[sizes <= 3.5 * np.sqrt(2.0) * scale]
    return scale


def level_and_spread(values: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation of all but the outermost hundredth."""
    inner = np.clip(values, *np.quantile(values, (0.005, 0.995)))
    return float(np.mean(inner)), float(np.std(inner))


def as_array(owner: str, ys: object, what: str = "observation") -> np.ndarray:
    """What a user gave as an array of numbers, or of anything."""
    if isinstance(ys, _HasToNumpy):
        ys = ys.to_numpy()
    if isinstance(ys, (list, tuple)) and any(y is np.ma.masked for y in ys):
        ys = [np.nan if y is np.ma.masked else y for y in ys]
    try:
        return np.asarray(ys)
    except ValueError:
        raise ValueError(f"{owner}: {what}s are ragged; rows of one length are accepted") from None


def numbers_of(owner: str, ys: object, words: str, what: str = "observation") -> tuple[np.ndarray, np.ndarray]:
    """Numbers as float64, and which of them are missing; `what` they are, where one of them is refused."""
    masked = np.ma.getmaskarray(ys) if isinstance(ys, np.ma.MaskedArray) else None
    array = as_array(owner, ys, what)
    if array.dtype == object:
        flat = [np.nan if _is_absent(v) else v for v in array.ravel()]
        for place, value in enumerate(flat):
            position = place * (len(array) if array.ndim else 1) // max(array.size, 1)
            if not isinstance(value, (numbers.Real, np.number)) or isinstance(value, np.complexfloating):
                raise TypeError(f"{owner}: {what} {position} is {value!r} ({type(value).__name__}); it must be {words}")
            if isinstance(value, int) and abs(value) > 1 << 1000:
                raise ValueError(f"{owner}: {what} {position} has {len(str(abs(value)))} digits; it must be {words}")
        array = np.array([float(v) for v in flat]).reshape(array.shape)
    if array.dtype.kind not in "iufb":
        raise TypeError(f"{owner}: {what}s have dtype {array.dtype}; numbers are accepted, each {words}")
    values = np.array(array, dtype=np.float64, order="C")
    missing = np.zeros(values.shape, dtype=bool) if _surely_finite(values) else np.isnan(values)
    return values, missing if masked is None else missing | masked


def _surely_finite(values: np.ndarray) -> bool:
    """True only if all are finite: one fast pass (a sum of finite numbers that overflows is looked at again, slowly)."""
    with np.errstate(all="ignore"):
        return bool(np.isfinite(values.sum()))


def _is_absent(value: object) -> bool:
    if value is None or value is np.ma.masked:
        return True
    pandas = sys.modules.get("pandas")  # whoever has one of its missing values has imported it
    return pandas is not None and (value is pandas.NA or value is pandas.NaT)


def _refuse(owner: str, values: np.ndarray, bad: np.ndarray, words: str) -> None:
    if bad.any():
        position = int(np.argmax(bad))
        shown = values[position].tolist()
        raise ValueError(f"{owner}: observation {position} is {shown!r}; it must be {words}")
