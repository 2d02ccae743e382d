"""Observations and contexts as a user gives them, made arrays of numbers: checked once, with the place of what is refused."""

from __future__ import annotations

import numbers
import sys
from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np

from volatilis._compiler.registry import compiled_function
from volatilis.families._base import AcceptedNumbers, Beliefs, Family


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
        have = "has" if " of " in what else "have"
        raise TypeError(f"{owner}: {what}s {have} dtype {array.dtype}; numbers are accepted, each {words}")
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


# --- contexts ----------------------------------------------------------------------------------------------------------

ALL, UNKNOWN = -1, -2  # in the place of a context: a row holds an observation of each; no observation, so no context is needed


def context_numbers(owner: str, given: object, contexts: int, more: int) -> tuple[np.ndarray, np.ndarray | None]:
    """The context of each observation, NaN where it is missing; and what is given besides for the inner family."""
    words = f"a whole number from 0 to {contexts - 1}"
    values, missing = numbers_of(owner, given, words, "the context of observation")
    if more == 0 and values.ndim == 2 and values.shape[1] == 1:
        values, missing = values[:, 0], missing[:, 0]
    if values.ndim != 1 + (more > 0) or (more and values.shape[1] != 1 + more):
        shape = f"(T, {1 + more}): a context and {more} more numbers" if more else "(T,)"
        raise ValueError(f"{owner}: given has shape {values.shape}; one context for each observation, shape {shape}, is accepted")
    first = values if more == 0 else values[:, 0]
    absent = missing if more == 0 else missing[:, 0]
    with np.errstate(invalid="ignore"):
        bad = ~absent & ~((first == np.floor(first)) & (first >= 0) & (first < contexts))
    if bad.any():
        position = int(np.argmax(bad))
        raise ValueError(f"{owner}: the context of observation {position} is {first[position]:g}; it must be {words}")
    return np.where(absent, np.nan, first), values[:, 1:] if more else None


def regressors(owner: str, given: object, absent: np.ndarray, p: int) -> np.ndarray:
    """p numbers for each observation, (T, p); 0 where the observation is missing."""
    values, missing = numbers_of(owner, given, "a finite number", "a regressor of observation")
    if p == 1 and values.ndim == 1:
        values, missing = values[:, None], missing[:, None]
    if values.shape != (len(absent), p):
        raise ValueError(f"{owner}: given has shape {values.shape}; {p} numbers each, shape ({len(absent)}, {p}), are accepted")
    bad = ~absent & (missing | ~np.isfinite(values)).any(axis=1)
    if bad.any():
        position = int(np.argmax(bad))
        shown = values[position].tolist()
        raise ValueError(f"{owner}: the regressors of observation {position} are {shown}; they must be finite numbers")
    return np.where(absent[:, None], 0.0, values)


def rows_of_all(owner: str, family: Family, contexts: int, ys: object) -> tuple[np.ndarray, np.ndarray]:
    """Observations of each context in a row: ALL, their values, and which are there.

    A sequence that has none, such as that of one missing observation, needs no contexts.
    """
    example = family.observations([])[0]
    width, array = example.shape[1] if example.ndim > 1 else 1, as_array(owner, ys)
    if array.ndim == 1 and family.observations(ys)[1].all():
        rows = np.full((len(array), 1 + width), UNKNOWN, dtype=example.dtype)
        return rows, np.ones(len(array), dtype=bool)
    if array.ndim != 1 + example.ndim or array.shape[1] != contexts:
        every = f"(T, {contexts}{', p' if example.ndim > 1 else ''})"
        raise ValueError(
            f"{owner}: observations have shape {array.shape}, and no contexts: say with given= to which context each belongs, or "
            f"give observations of all {contexts} contexts, shape {every}, NaN where there is none"
        )
    if family.memory_size():
        raise TypeError(f"{owner}: {type(family).__name__} takes one context at a time: say which with given=")
    rows = np.zeros((len(array), 1 + contexts * (width + 1)), dtype=example.dtype)
    rows[:, 0] = ALL
    for c in range(contexts):
        try:
            values, absent = family.observations(array[:, c])
        except (ValueError, TypeError) as error:
            raise type(error)(f"context {c}: {error}") from None
        rows[:, 1 + c * width : 1 + (c + 1) * width] = np.where(absent[:, None], 0, values.reshape(-1, width))
        rows[:, 1 + contexts * width + c] = ~absent
    return rows, np.asarray(~(rows[:, 1 + contexts * width :] > 0).any(axis=1))


def inner_observations(family: Family, contexts: int, rows: np.ndarray) -> np.ndarray:
    """All observations in rows, as the inner family encodes them."""
    example = family.observations([])[0]
    width = example.shape[1] if example.ndim > 1 else 1
    if rows.shape[1] == 1 + width and not (rows[:, 0] == ALL).any():
        inner = rows[rows[:, 0] != UNKNOWN, 1:]
    else:
        blocks = [rows[:, 1 + c * width : 1 + (c + 1) * width] for c in range(contexts)]
        inner = np.concatenate([b[rows[:, 1 + contexts * width + c] > 0] for c, b in enumerate(blocks)])
    return np.ascontiguousarray(inner.reshape((-1, *example.shape[1:])))


def observed_of(family: Family, contexts: int, rows: np.ndarray) -> np.ndarray:
    """What a user gave of rows: one observation each or, where they hold several, one for each context."""
    example = family.observations([])[0]
    width, shape = (example.shape[1], (-1, example.shape[1])) if example.ndim > 1 else (1, (-1,))
    if rows.shape[1] == 1 + width and not (rows[:, 0] == ALL).any():
        return family.as_observed(rows[:, 1:].reshape(shape))
    columns = []
    for c in range(contexts):
        block = rows[:, 1 + c * width : 1 + (c + 1) * width].reshape(shape)
        column = np.array(family.as_observed(block), dtype=float)
        column[rows[:, 1 + contexts * width + c] <= 0] = np.nan
        columns.append(column)
    return np.stack(columns, axis=1)


def sampled_in_contexts(
    owner: str, family: Family, contexts: int, theta: np.ndarray, rng: np.random.Generator, given: np.ndarray | None
) -> np.ndarray:
    """An observation for each of the contexts that are given, from the parameters of that context."""
    if given is None:
        raise ValueError(
            f"{owner}: the contexts decide from what to draw; say with given= what they are, one for each observation"
        )
    chosen, rest = context_numbers(owner, given, contexts, family.context_width())
    size, nothing, parts = family.size(), np.zeros(0), []
    for t, c in enumerate(chosen.astype(int)):
        one = None if rest is None else rest[t : t + 1]
        parts.append(family.sample_segment(theta[c * size : (c + 1) * size], 1, rng, one, nothing))
    return np.concatenate(parts) if parts else family.as_observed(family.observations([])[0])


def row_by_row(rows: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """rows @ matrix.T in one fixed order: a matrix product would round differently for one row and for many."""
    result = np.zeros((len(rows), len(matrix)))
    for k in range(matrix.shape[1]):
        result += rows[:, k : k + 1] * matrix[:, k]
    return result


def rows_with_contexts(owner: str, family: Family, count: int, ys: object, given: object) -> tuple[np.ndarray, np.ndarray]:
    """One observation with its context in each row, and which are missing."""
    contexts, rest = context_numbers(owner, given, count, family.context_width())
    values, absent = family.observations(ys, rest)
    if len(values) != len(contexts):
        raise ValueError(f"{owner}: given has {len(contexts)} contexts for {len(values)} observations; one each is accepted")
    lacking = np.isnan(contexts) & ~absent
    if lacking.any():
        raise ValueError(f"{owner}: the context of observation {int(np.argmax(lacking))} is missing; every observation needs one")
    rows = np.empty((len(values), 1 + (values.shape[1] if values.ndim > 1 else 1)), dtype=values.dtype)
    rows[:, 0], rows[:, 1:] = np.where(np.isnan(contexts), UNKNOWN, contexts), values.reshape(len(values), -1)
    return rows, absent


def accepted_in_contexts(family: Family, contexts: int) -> tuple[int, AcceptedNumbers] | None:
    accepted = family.accepted_numbers()
    return None if accepted is None or family.context_width() else (contexts, accepted)


def invalid_contexts(family: Family, contexts: int, chi: np.ndarray) -> str | None:
    """Why the columns of one of the contexts cannot be beliefs."""
    rows = family.rows()
    for c in range(contexts):
        start = c * (rows + 1)
        reason = family.invalid_state(chi[..., start : start + rows, :], chi[..., start + rows, :])
        if reason is not None:
            return f"context {c}: {reason}"
    return None


@compiled_function
def is_seen(row: np.ndarray, contexts: int, c: int) -> bool:
    """Whether a row with an observation of each context has one of context c: that stands at its end."""
    return row[row.size - contexts + c] > 0.0


@compiled_function
def beliefs_in(family: Family, beliefs: Beliefs, c: int) -> Beliefs:
    """The bank of the inner family's beliefs about context c: rows of the whole, the last of them its counts."""
    rows = family.rows()
    start = c * (rows + 1)
    return Beliefs(beliefs.chi[start : start + rows], beliefs.chi[start + rows])
