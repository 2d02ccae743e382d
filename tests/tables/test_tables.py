"""Tables in and out: every kind, compressed or not, in batches; what is no table is said to be none."""

from __future__ import annotations

import bz2
import contextlib
import errno
import gzip
import lzma
import os
import pathlib
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from volatilis import tables
from volatilis.tables import TableError, marks, reading

FRAME = pd.DataFrame(
    {"subject": ["a", "a", "ü"], "trial": [1, 2, 3], "outcome": [0.1, np.nan, -2.5e-7], "note": ['say "hi"', "x,y", "two\nlines"]}
)
ENDINGS = ["csv", "tsv", "parquet", "jsonl", "csv.gz", "tsv.bz2", "jsonl.xz", "csv.zst", "ndjson.zst", "pq"]


def write(path: pathlib.Path, frame: pd.DataFrame = FRAME) -> pathlib.Path:
    table = pa.Table.from_pandas(frame, preserve_index=False)
    with tables.writer(path, table.schema) as put:
        for batch in table.to_batches():
            put(batch)
    return path


def column(path: pathlib.Path, name: str) -> Any:
    table = tables.open_table(path)
    return pa.Table.from_batches(list(table.batches()), table.schema).column(name).combine_chunks()


@pytest.mark.parametrize("ending", ENDINGS)
def test_there_and_back(tmp_path: pathlib.Path, ending: str) -> None:
    path = write(tmp_path / f"t.{ending}")
    table = tables.open_table(path)
    assert table.columns == list(FRAME.columns)
    assert [batch.num_rows for batch in table.batches()] == [3]
    assert table.share == 1.0
    np.testing.assert_array_equal(tables.numbers(column(path, "outcome"), "t", 1, "outcome"), FRAME.outcome)
    np.testing.assert_array_equal(tables.numbers(column(path, "trial"), "t", 1, "trial"), FRAME.trial)
    assert column(path, "note").to_pylist() == list(FRAME.note)
    assert tables.texts(column(path, "subject")) == ["a", "a", "ü"]
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "csv.bz2", "csv.xz", "csv.zst", "tsv", "jsonl.gz", "parquet"])
def test_others_read_what_we_write(tmp_path: pathlib.Path, ending: str) -> None:
    """pandas, which shares no code with ours but Arrow's for Parquet."""
    path = write(tmp_path / f"t.{ending}")
    if "zst" in ending:
        pytest.importorskip("zstandard", reason="pandas needs the package zstandard for .zst")
    if ending.startswith("parquet"):
        found = pd.read_parquet(path)
    elif ending.startswith("jsonl"):
        found = pd.read_json(path, lines=True)
    else:
        found = pd.read_csv(path, sep="\t" if ending.startswith("tsv") else ",")
    pd.testing.assert_frame_equal(found, FRAME, check_exact=True, check_dtype=False)


def test_missing_values_are_written_as_each_kind_has_them(tmp_path: pathlib.Path) -> None:
    frame = pd.DataFrame({"a": [1.5, np.nan], "b": ["x", ""], "c": [np.inf, 2.0]})
    assert write(tmp_path / "t.csv", frame).read_text() == "a,b,c\n1.5,x,inf\n,,2\n"
    assert write(tmp_path / "t.tsv", frame).read_text() == "a\tb\tc\n1.5\tx\tinf\nn/a\tn/a\t2\n"
    assert write(tmp_path / "t.jsonl", frame).read_text() == '{"a": 1.5, "b": "x", "c": 1e999}\n{"a": null, "b": "", "c": 2.0}\n'


def test_numbers_survive_to_the_last_bit(tmp_path: pathlib.Path) -> None:
    values = np.random.default_rng(0).normal(size=500) * 10.0 ** np.random.default_rng(1).integers(-300, 300, 500)
    for ending in ("csv", "tsv", "jsonl", "parquet"):
        path = write(tmp_path / f"t.{ending}", pd.DataFrame({"v": values}))
        np.testing.assert_array_equal(tables.numbers(column(path, "v"), "t", 1, "v"), values)


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfa,b\n1,2\n3,4\n",  # a byte-order mark
        b"a,b\r\n1,2\n3,4\r\n",  # mixed line endings
        b"a,b\r1,2\r3,4\r",  # an old Mac
        b"a,b\n1,2\n\n3,4",  # an empty line, and none at the end
        b"a;b\n1;2\n3;4\n",  # a European spreadsheet
        b"a\tb\n1\t2\n3\t4\n",  # tabs under another name
        b' a , b \n 1 , 2 \n"3",4\n'.replace(b" a , b ", b"a,b"),
    ],
)
def test_many_a_csv(tmp_path: pathlib.Path, content: bytes) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    assert tables.open_table(path).columns == ["a", "b"]
    np.testing.assert_array_equal(tables.numbers(column(path, "a"), "t", 1, "a"), [1, 3])
    np.testing.assert_array_equal(tables.numbers(column(path, "b"), "t", 1, "b"), [2, 4])


def test_one_column_with_a_gap(tmp_path: pathlib.Path) -> None:
    """There an empty line is a missing value."""
    path = tmp_path / "t.csv"
    path.write_text("outcome\n1\n\n3\n")
    np.testing.assert_array_equal(tables.numbers(column(path, "outcome"), "t", 1, "outcome"), [1, np.nan, 3])


def test_what_means_missing() -> None:
    values = pa.array(["1", "n/a", " NA ", "", "NaN", "null", "None", ".", "+2", "-.5e1"])
    expected = [1, *[np.nan] * 7, 2, -5]
    np.testing.assert_array_equal(tables.numbers(values, "t", 1, "v"), expected)


def test_numbers_of_every_type() -> None:
    for values in (pa.array([True, None]), pa.array([1, None], pa.int8()), pa.array(["1", None]).dictionary_encode()):
        np.testing.assert_array_equal(tables.numbers(values, "t", 1, "v"), [1, np.nan])
    with pytest.raises(TableError, match="column 'v' holds values of type list"):
        tables.numbers(pa.array([[1]]), "t", 1, "v")
    assert tables.texts(pa.array([3.0, 2.5, None, 1e6])) == ["3", "2.5", None, "1000000"]


@pytest.mark.parametrize(("text", "hint"), [("abc", ""), ("1,5", "a decimal point, not a comma"), ("1_000", ""), ("0x10", "")])
def test_a_text_among_numbers(text: str, hint: str) -> None:
    with pytest.raises(TableError, match=f"data.csv: row 103, column 'v': '{text}' is not a number.*{hint}"):
        tables.numbers(pa.array(["1", "2", text]), "data.csv", 101, "v")


def test_texts_stay_as_they_are(tmp_path: pathlib.Path) -> None:
    """CSV to CSV: nothing that was there is changed, not even the way a number is written."""
    (tmp_path / "t.csv").write_text("id,v\n007,1.10\n008,1e3\n")
    table = tables.open_table(tmp_path / "t.csv")
    with tables.writer(tmp_path / "u.csv", table.schema) as put:
        for batch in table.batches():
            put(batch)
    assert (tmp_path / "u.csv").read_bytes() == (tmp_path / "t.csv").read_bytes()
    assert [str(kind) for kind in table.typed_schema().types] == ["string", "double"]


def test_types_of_text_columns_hold_for_all_batches(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A column of whole numbers whose last is a text, far behind the first batch, is one of texts."""
    monkeypatch.setattr(reading, "ROWS", 10)
    rows = "".join(f"{i},{i},{i}\n" for i in range(35))
    (tmp_path / "t.csv").write_text(f"a,b,c\n{rows}x,1.5,\n")
    table = tables.open_table(tmp_path / "t.csv")
    assert [str(kind) for kind in table.typed_schema().types] == ["string", "double", "int64"]
    assert [batch.num_rows for batch in table.batches()] == [10, 10, 10, 6]


def test_json_lines_of_different_shapes(tmp_path: pathlib.Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n\n{"b": "x", "a": 2.5}\n{"a": null, "c": [1, 2], "b": 3}\n')
    table = tables.open_table(tmp_path / "t.jsonl")
    batch = next(iter(table.batches()))
    assert batch.to_pydict() == {"a": [1.0, 2.5, None], "b": [None, "x", "3"], "c": [None, None, "[1, 2]"]}


# --- what is no table ----------------------------------------------------------------------------------------------------


def cut_parquet(path: pathlib.Path) -> None:
    write(path)
    path.write_bytes(path.read_bytes()[:-20])


def cut_gzip(path: pathlib.Path) -> None:
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 10_000)[:-30])


CASES: dict[str, tuple[str, Any, str]] = {
    "empty": ("t.csv", b"", "t.csv is empty; a table with a header"),
    "empty gzip": ("t.csv.gz", gzip.compress(b"", mtime=0), "is empty"),
    "binary": ("t.csv", bytes(range(256)), "is a binary file; its name says csv"),
    "Parquet as CSV": ("t.csv", b"PAR1xxxx", "is a Parquet file, but its name says otherwise"),
    "CSV as Parquet": ("t.parquet", b"a,b\n1,2\n", "is not a Parquet file"),
    "cut Parquet": ("t.parquet", cut_parquet, "is damaged or cut short"),
    "cut gzip": ("t.csv.gz", cut_gzip, "is damaged or cut short"),
    "cut xz": ("t.csv.xz", lzma.compress(b"a\n" * 10_000)[:-30], "is damaged or cut short"),
    "cut bzip2": ("t.csv.bz2", bz2.compress(b"a\n" * 10_000)[:-30], "is damaged or cut short"),
    "UTF-16": ("t.csv", "a,b\n1,2\n".encode("utf-16"), "UTF-16; save it as UTF-8"),
    "Latin-1": ("t.csv", b"a,b\n1,caf\xe9\n", "not text in UTF-8"),
    "Latin-1 JSON": ("t.jsonl", b'{"a": "caf\xe9"}\n', "not text in UTF-8"),
    "ragged": ("t.csv", b"a,b\n1,2\n3,4,5\n", "row 2 has 3 values, the header 2: '3,4,5'"),
    "twice": ("t.csv", b"a,b,a\n1,2,3\n", "two columns are named 'a'"),
    "not JSON": ("t.jsonl", b'{"a": 1}\n{"a": \n', "row 2 is not JSON"),
    "no object": ("t.jsonl", b"[1, 2]\n", "row 1 is not an object"),
    "no columns": ("t.jsonl", b"{}\n", "no row has a column"),
    "unknown ending": ("t.xlsx", b"PK", "the ending of the name does not tell the kind of table; accepted are .csv, .tsv"),
    "compressed Parquet": ("t.parquet.gz", b"", "Parquet is compressed inside"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_no_table(tmp_path: pathlib.Path, case: str) -> None:
    name, content, message = CASES[case]
    path = tmp_path / name
    if callable(content):
        content(path)
    else:
        path.write_bytes(content)
    with pytest.raises(TableError, match=message) as error:
        list(tables.open_table(path).batches())
    assert name in str(error.value)


def test_a_folder_a_loop_and_nothing(tmp_path: pathlib.Path) -> None:
    (tmp_path / "d.csv").mkdir()
    with pytest.raises(TableError, match="is a folder"):
        tables.open_table(tmp_path / "d.csv")
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    with pytest.raises(OSError, match="Too many levels of symbolic links"):
        tables.open_table(tmp_path / "loop.csv")
    with pytest.raises(FileNotFoundError):
        tables.open_table(tmp_path / "none.csv")


def test_the_nearest_column_is_named() -> None:
    with pytest.raises(
        TableError, match=r"no column 'Outcom' \(the outcome\); the columns are 'x', 'outcome'; did you mean 'outcome'"
    ):
        tables.column_named(["x", "outcome"], "Outcom", "t.csv", "the outcome")


# --- whole or not at all -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_failure_leaves_what_was_there(tmp_path: pathlib.Path, ending: str) -> None:
    path = write(tmp_path / f"t.{ending}")
    before = path.read_bytes()
    table = pa.Table.from_pandas(FRAME, preserve_index=False)
    with contextlib.suppress(ZeroDivisionError), tables.writer(path, table.schema) as put:
        put(table.to_batches()[0])
        put(1 // 0)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_disk_on_standard_output() -> None:
    table = pa.Table.from_pandas(FRAME, preserve_index=False)
    with open("/dev/full", "wb", buffering=0) as full, tables.writing._batch_writer(full, table.schema, "jsonl") as put:
        try:
            put(table.to_batches()[0])
        except OSError as error:
            assert error.errno == errno.ENOSPC  # noqa: PT017
        else:
            pytest.fail("the disk was not full")


def test_a_folder_that_is_not_there(tmp_path: pathlib.Path) -> None:
    with pytest.raises(OSError, match=r"cannot write .*none/t.csv: No such file"):
        write(tmp_path / "none" / "t.csv")


def test_parquet_of_any_row_group_is_read_in_batches(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "ROWS", 100)
    parquet.write_table(pa.table({"v": np.arange(1000.0)}), tmp_path / "t.parquet", row_group_size=1000)
    table = tables.open_table(tmp_path / "t.parquet")
    assert [batch.num_rows for batch in table.batches()] == [100] * 10


def test_marks_are_numbers_or_true_and_false() -> None:
    texts = pa.array(["True", "false", None, "1", "0", " TRUE ", "2.5", ""])
    for values in (texts, texts.dictionary_encode(), texts.cast(pa.large_string())):
        assert marks(values, "t.csv", 1, "new").tolist() == [True, False, False, True, False, True, True, False]
    assert marks(pa.array([True, None, False]), "t.csv", 1, "new").tolist() == [True, False, False]
    with pytest.raises(TableError, match="row 8, column 'new': 'maybe' is not 0 or 1, true or false"):
        marks(pa.array(["1", "maybe"]), "t.csv", 7, "new")
