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
    codes = np.zeros(batch.num_rows, dtype=np.int64)
    names: list[Key] = [()]
    for column in columns:
        own, labels = _encoded(batch.column(column), path, first_row, column)
        codes, names = codes * len(labels) + own, [(*name, label) for name in names for label in labels]
    starts = np.flatnonzero(np.diff(codes, prepend=codes[:1] - 1)) if len(codes) else np.zeros(0, dtype=np.intp)
    if len(np.unique(codes[starts])) == len(starts):  # every group stands together
        ends = [*starts[1:], len(codes)]
        return [Group(names[codes[start]], slice(int(start), int(end))) for start, end in zip(starts, ends, strict=True)]
    order = np.argsort(codes, kind="stable")
    present, first = np.unique(codes[order], return_index=True)
    rows = np.split(order, first[1:])
    groups = [Group(names[code], own) for code, own in zip(present, rows, strict=True)]
    return sorted(groups, key=lambda group: int(group.rows[0]))


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
