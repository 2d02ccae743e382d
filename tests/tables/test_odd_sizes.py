"""Tables that are very wide, and files that unpack to far more than they are."""

from __future__ import annotations

import bz2
import gzip
import lzma
import pathlib
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from volatilis.tables import TableError, formats, open_table, writer, writing


def all_rows(path: pathlib.Path) -> int:
    return sum(batch.num_rows for batch in open_table(path).batches())


@pytest.mark.parametrize(("ending", "packed"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)])
def test_a_file_made_to_fill_the_disk_is_refused(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, ending: str, packed: Any
) -> None:
    path = tmp_path / f"bomb.csv.{ending}"
    path.write_bytes(packed(b"outcome\n" + b"1.5\n" * 3_000_000))
    assert path.stat().st_size < 12_000_000 / 200
    assert all_rows(path) == 3_000_000  # below the least size that is looked at
    monkeypatch.setattr(formats, "MOST_UNPACKED", 1 << 22)
    with pytest.raises(TableError, match="unpacks to more than 100 times its size and 4 MiB"):
        all_rows(path)
    usual = tmp_path / f"usual.csv.{ending}"
    text = "outcome\n" + "".join(f"{value:.6f}\n" for value in np.random.default_rng(1).normal(size=600_000))
    usual.write_bytes(packed(text.encode()))
    assert all_rows(usual) == 600_000


def test_few_rows_and_many_are_written_alike(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    columns: dict[str, list[Any]] = {
        "text": ["a", "b,c", 'say "x"', "", None, "line\nbreak", "tab\tx", "ü", " ", "\r"],
        "number": [1.0, 0.1, float("nan"), None, 1e300, 1e-5, -0.0, float("inf"), 123456789.123, 5e-324],
        "whole": [1, 2, None, -3, 2**60, 0, 1, 1, 1, 1],
        "true": [True, False, None, True, True, True, True, True, True, True],
    }
    batch = pa.RecordBatch.from_pydict(columns)
    for kind in ("csv", "tsv"):
        texts = []
        for few in (0, 1000):
            monkeypatch.setattr(writing, "FEW", few)
            with writer(tmp_path / f"t.{kind}", batch.schema) as write:
                write(batch)
            texts.append((tmp_path / f"t.{kind}").read_bytes())
        assert texts[0] == texts[1]


def test_a_name_that_comes_twice_among_very_many(tmp_path: pathlib.Path) -> None:
    names = [f"c{i}" for i in range(30_000)]
    path = tmp_path / "wide.csv"
    path.write_text(",".join(names) + "\n" + ",".join("1" for _ in names) + "\n")
    assert len(open_table(path).columns) == 30_000
    path.write_text(",".join([*names, "c7"]) + "\n" + "1," * 30_000 + "1\n")
    with pytest.raises(TableError, match="two columns are named 'c7'"):
        open_table(path)
