"""Rows of a batch by group: subject, block or whatever the table is split by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from volatilis.tables import TableError, plain, texts

Key = tuple[str, ...]


class Group(NamedTuple):
    """The rows of one group within a batch, in their order."""

    key: Key
    rows: Any  # a slice where they stand together, else positions


def split(batch: Any, columns: Sequence[str], path: str, first_row: int) -> list[Group]:
    """The groups of a batch in the order of their first rows."""
    if not batch.num_rows:
        return []
    encoded = [_encoded(batch.column(column), path, first_row, column) for column in columns]
    begins = np.zeros(batch.num_rows, dtype=bool)
    begins[0] = True
    for codes, _ in encoded:
        begins[1:] |= codes[1:] != codes[:-1]
    starts = np.flatnonzero(begins)  # of stretches of rows of one group
    keys, group_of = _numbered([(codes[starts], labels) for codes, labels in encoded], len(starts))
    if len(keys) == len(starts):  # every group stands together
        ends = [*starts[1:].tolist(), batch.num_rows]
        return [Group(key, slice(start, end)) for key, start, end in zip(keys, starts.tolist(), ends, strict=True)]
    of_rows = np.repeat(group_of, np.diff(starts, append=batch.num_rows))
    rows = np.split(np.argsort(of_rows, kind="stable"), np.cumsum(np.bincount(of_rows))[:-1])
    return [Group(key, own) for key, own in zip(keys, rows, strict=True)]


def _numbered(encoded: Sequence[tuple[np.ndarray, list[str]]], count: int) -> tuple[list[Key], np.ndarray]:
    """The different keys in the order in which they come, and the number of each row's. Only combinations that there are."""
    codes = np.zeros(count, dtype=np.int64)
    names: list[Key] = [()]
    for own, labels in encoded:
        present, codes = np.unique(codes * len(labels) + own, return_inverse=True)
        names = [(*names[code // len(labels)], labels[code % len(labels)]) for code in present.tolist()]
    _, first = np.unique(codes, return_index=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return [names[code] for code in order.tolist()], rank[codes]


def shown(columns: Sequence[str], key: Key) -> str:
    """For messages: subject=3, block=1."""
    return ", ".join(f"{column}={value}" for column, value in zip(columns, key, strict=True)) or "the table"


def _encoded(values: Any, path: str, first_row: int, column: str) -> tuple[np.ndarray, list[str]]:
    """A number per row and the text that each stands for."""
    import pyarrow as pa
    import pyarrow.compute as pc

    encoded = values if pa.types.is_dictionary(values.type) else pc.dictionary_encode(values)
    labels = texts(encoded.dictionary)
    indices = encoded.indices.cast(pa.int64())
    codes = plain(pc.fill_null(indices, -1) if indices.null_count else indices)
    absent = np.array([label is None for label in labels] + [True])[codes]  # -1 is the last: null
    if absent.any():
        row = first_row + int(np.argmax(absent))
        raise TableError(f"{path}: row {row}, column {column!r} is missing; every row needs one, since groups are made by it")
    different = list(dict.fromkeys(label for label in labels if label is not None))
    number = {label: i for i, label in enumerate(different)}
    return np.array([number.get(label, -1) if label is not None else -1 for label in labels], dtype=np.int64)[codes], different
