"""Tables of trials or observations, one row each: CSV, TSV, Parquet and JSON lines, plain or compressed, read in batches."""

from volatilis.tables.columns import (
    TableError,
    arrow,
    codes_of,
    column_named,
    column_of_people,
    counted,
    empty_as_missing,
    marks,
    numbers,
    plain,
    texts,
)
from volatilis.tables.formats import KINDS, kind_of
from volatilis.tables.reading import Table, open_table
from volatilis.tables.writing import check_outputs, picture_kind, save_figure, save_picture, write_columns, writer

__all__ = [
    "KINDS",
    "Table",
    "TableError",
    "arrow",
    "check_outputs",
    "codes_of",
    "column_named",
    "column_of_people",
    "counted",
    "empty_as_missing",
    "kind_of",
    "marks",
    "numbers",
    "open_table",
    "picture_kind",
    "plain",
    "save_figure",
    "save_picture",
    "texts",
    "write_columns",
    "writer",
]
