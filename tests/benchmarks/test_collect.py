"""Collecting a finished run into docs/results: what is copied, what is written, what is refused."""

from __future__ import annotations

import io
import pathlib

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from benchmarks import collect
from tests.helpers.paths import DOCS, ROOT
from volatilis.paper.figures import FIGURES


def picture() -> bytes:
    """A PNG of coloured noise: many more than 256 colours."""
    shades = np.random.default_rng(1).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    stored = io.BytesIO()
    Image.fromarray(shades).save(stored, "PNG")
    return stored.getvalue()


PICTURE = picture()
PARTS = "".join(f"text\n<!-- {name} -->\nstale {name}\n<!-- end {name} -->\n" for name in collect.WRITERS)


@pytest.fixture
def out(tmp_path: pathlib.Path) -> pathlib.Path:
    """The least that counts as a finished run."""
    data = tmp_path / "out" / "data"
    data.mkdir(parents=True)
    (tmp_path / "out" / "figures").mkdir()
    frames = {
        "claims": pd.DataFrame({"verdict": ["holds", "holds", "does not hold"]}),
        "merge": pd.DataFrame(
            {"statement": ["Merge3 is closer than pf20"], "cells": [71], "of": [72], "least": [0.9], "most": [71543]}
        ),
        "costs": pd.DataFrame(
            {
                "part": ["gaussian", "tuning", "all"],
                "seconds": [120.0, 60.0, 180.0],
                "processor_seconds": [240.0, 90.0, 330.0],
                "peak_memory_mib": ["", "", "1536"],
            }
        ),
        "readings": pd.DataFrame({"reading": ["as stated"], "holds": [2], "changed": [0]}),
        "run": pd.DataFrame({"fact": ["command", "cores"], "value": ["volatilis paper all", "3"]}),
        "agreement": pd.DataFrame(
            {
                "figure": ["S2", "10"],
                "published": [3, 2],
                "compared": [3, 1],
                "agree": [2, 1],
                "samples": [30, 120],
                "not_compared": ["", "1: no such trial here"],
            }
        ),
        "beyond": pd.DataFrame({"figure": ["S2"], "learner": ["Nas10"], "why": ["unexplained"]}),
    }
    for name in collect.NEEDED:
        frames.setdefault(name, pd.DataFrame({"x": [1]}))
    for name, frame in frames.items():
        frame.to_csv(data / f"{name}.csv", index=False)
    for figure in FIGURES:
        (tmp_path / "out" / "figures" / f"figure_{figure.key}.png").write_bytes(PICTURE)
        (tmp_path / "out" / "figures" / f"figure_{figure.key}.svg").write_bytes(b"vectors")
    (tmp_path / "out" / "claims.md").write_text("# claims")
    return tmp_path / "out"


@pytest.fixture
def near(tmp_path: pathlib.Path) -> pathlib.Path:
    """The least of a finished run with the near benchmark."""
    data = tmp_path / "near" / "data"
    data.mkdir(parents=True)
    tables = {
        "costs": "part,seconds,processor_seconds,peak_memory_mib\nnearness,6,12,\nall,90,150,512\n",
        "nearness_gaussian": "sigma,p_c,distance\n1,0.1,1e-12\n2,0.1,2.5e-11\n",
        "nearness_categorical": "s,p_c,distance\n1,0.1,4e-10\n",
    }
    for name, text in tables.items():
        (data / f"{name}.csv").write_text(text)
    return tmp_path / "near"


@pytest.fixture
def results(tmp_path: pathlib.Path) -> pathlib.Path:
    folder = tmp_path / "docs" / "results"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "gone.csv").write_text("old")
    (folder / "README.md").write_text(f"# Results\n{PARTS}last")
    (folder / "reading.md").write_text("words\n<!-- readings -->\nstale\n<!-- end readings -->\n")
    (tmp_path / "README.md").write_text("first\n<!-- paper -->\nstale\n<!-- end paper -->\nlast")
    return folder


def test_files_are_copied_and_old_ones_removed(out: pathlib.Path, near: pathlib.Path, results: pathlib.Path) -> None:
    assert collect.main([str(out), str(near), str(results)]) == 0
    assert (results / "claims.md").read_text() == "# claims"
    copied = {path.name for path in (out / "data").iterdir()} | {path.rsplit("/", 1)[1] for path in collect.NEAR}
    assert {path.name for path in (results / "data").iterdir()} == copied
    assert (results / "data" / "costs_near.csv").read_bytes() == (near / "data" / "costs.csv").read_bytes()
    assert {path.suffix for path in (results / "figures").iterdir()} == {".png"}
    for path in (results / "figures").iterdir():
        with Image.open(path) as copied, Image.open(out / "figures" / path.name) as original:
            assert (copied.mode, copied.size) == ("P", original.size)
            far = np.abs(np.asarray(copied.convert("RGB"), dtype=int) - np.asarray(original, dtype=int)).mean()
        assert path.stat().st_size < len(PICTURE)
        assert far < 32  # of 255; a picture of another colour is 85 away


def test_comparisons_on_more_seeds_take_the_place_of_others(
    out: pathlib.Path, near: pathlib.Path, results: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again = tmp_path / "again"
    assert collect.main([str(out), str(near), str(results), str(again)]) == 2
    assert "comparison_figure_" in capsys.readouterr().err
    (again / "data").mkdir(parents=True)
    (out / "data" / "comparison_figure_S2.csv").write_text("of,ten\n")
    (again / "data" / "comparison_figure_S2.csv").write_text("of,thirty\n")
    heads = "figure,published,compared,agree,samples,not_compared\n"
    (again / "data" / "agreement.csv").write_text(f"{heads}S2,3,3,3,40,\n")
    (again / "data" / "beyond.csv").write_text("figure,learner,why\n")
    assert collect.main([str(out), str(near), str(results), str(again)]) == 0
    assert (results / "data" / "comparison_figure_S2.csv").read_text() == "of,thirty\n"
    page = (results / "README.md").read_text()
    assert "In all 4 of 4 agree, 100.00%." in page
    assert "| S2 | 3 | 3 of 3 | 40 | none |  |" in page
    assert "| 10 | 2 | 1 of 1 | 120 | none | 1: no such trial here |" in page


def test_the_numbers_of_the_page_come_from_the_tables(out: pathlib.Path, near: pathlib.Path, results: pathlib.Path) -> None:
    for _ in range(2):  # a second time gives the same page
        collect.main([str(out), str(near), str(results)])
        page = (results / "README.md").read_text()
        assert "stale" not in page
        assert page.startswith("# Results\ntext\n")
        assert page.endswith("last")
        assert page.count("text\n") == len(collect.WRITERS)
        for line in (
            "3 claims of the paper: 2 hold, 1 does not hold.",
            "| Merge3 is closer than pf20 | 71 of 72 | 0.9 times | 71,500 times |",
            "In all 3 of 4 agree, 75.00%.",
            "| S2 | 3 | 2 of 3 | 30 | 1: unexplained |  |",
            "| 10 | 2 | 1 of 1 | 120 | none | 1: no such trial here |",
            "| grid, Gaussian | 3, 4, S2 | 2.0 | 4.0 |",
            "| all |  | 3.0 | 5.5 |",
            "Most memory: 1.50 GiB.",
            "| how near the benchmark is |  | 0.1 | 0.2 |",
            "Most memory: 0.50 GiB.",
            "worst cell: 2.5e-11 in the [Gaussian](data/nearness_gaussian.csv) and 4e-10 in the [Categorical]",
            "| command | `volatilis paper all` |",
        ):
            assert line in page
        assert page.index("| 10 |") < page.index("| S2 |")
        assert page.index("| tuning") < page.index("| grid")
        readings = "| reading | holds | changed |\n| --- | --- | --- |\n| as stated | 2 | 0 |"
        reading = (results / "reading.md").read_text()
        assert reading == f"words\n<!-- readings -->\n\n{readings}\n\n<!-- end readings -->\n"
        outer = (results.parents[1] / "README.md").read_text()
        assert outer.startswith("first\n<!-- paper -->\n\nAt full size, of 3 claims of the paper's text 2 hold, 1 does not hold")
        assert "at least 0.9 times closer" in outer
        assert "3 of 4 published values lie within their 99.73 % interval" in outer
        assert outer.endswith("<!-- end paper -->\nlast")


@pytest.mark.parametrize("name", ["claims.md", "data/tuned.csv", "figures/figure_3.png"])
def test_an_unfinished_run_changes_nothing(
    name: str, out: pathlib.Path, near: pathlib.Path, results: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (out / name).unlink()
    before = (results / "README.md").read_text()
    assert collect.main([str(out), str(near), str(results)]) == 2
    assert f"lacks {name}" in capsys.readouterr().err
    assert (results / "README.md").read_text() == before
    assert (results / "data" / "gone.csv").exists()


def test_an_unfinished_near_run_changes_nothing(
    out: pathlib.Path, near: pathlib.Path, results: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (near / "data" / "nearness_gaussian.csv").unlink()
    assert collect.main([str(out), str(near), str(results)]) == 2
    assert "lacks data/nearness_gaussian.csv" in capsys.readouterr().err
    assert (results / "data" / "gone.csv").exists()


def test_too_much_changes_nothing(
    out: pathlib.Path, near: pathlib.Path, results: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (out / "data" / "big.csv").write_bytes(b"x" * (collect.MOST + 1))
    assert collect.main([str(out), str(near), str(results)]) == 2
    assert "at most 10 MB" in capsys.readouterr().err
    assert (results / "data" / "gone.csv").exists()


def test_a_page_without_its_marks_is_refused(
    out: pathlib.Path, near: pathlib.Path, results: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (results / "README.md").write_text("no marks")
    assert collect.main([str(out), str(near), str(results)]) == 2
    assert "<!-- run -->" in capsys.readouterr().err
    assert collect.main([]) == 2


def test_the_page_in_the_repository_has_its_marks() -> None:
    page = (DOCS / "results" / "README.md").read_text()
    for name in collect.WRITERS:
        assert page.count(f"<!-- {name} -->") == page.count(f"<!-- end {name} -->") == 1
    assert (DOCS / "results" / "reading.md").read_text().count("<!-- readings -->") == 1
    assert (ROOT / "README.md").read_text().count("<!-- paper -->") == 1
