"""Contexts as a user gives them, checked; rows that hold observations of several contexts; beliefs about each."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from volatilis.families._base import Family
from volatilis.families._observations import as_array, numbers_of

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


class Independent:
    """Independent beliefs about each context, with the methods of a SciPy distribution."""

    def __init__(self, parts: list[Any], size: int) -> None:
        self._parts, self._size = parts, size

    def pdf(self, theta: npt.ArrayLike) -> np.ndarray:
        values = np.asarray(theta, dtype=float)
        density = np.ones(values.shape[:-1])
        for c, part in enumerate(self._parts):
            block = values[..., c * self._size : (c + 1) * self._size]
            density = density * part.pdf(block[..., 0] if self._size == 1 else block)
        return density

    def rvs(self, size: int, random_state: np.random.Generator) -> np.ndarray:
        draws = [np.asarray(part.rvs(size=size, random_state=random_state)).reshape(size, -1) for part in self._parts]
        return np.concatenate(draws, axis=1)
