"""The page: nothing that came from the table is markup or code, its size is bounded, and it is whole or not there."""

from __future__ import annotations

import pathlib
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

import volatilis as vl
from tests.helpers.command_line import volatilis
from volatilis.html.trials import collecting, report_to
from volatilis.trials import run_table

from .pages import GAUSSIAN, MERGE, VARSMILE, data_of, decoded, elements, order, report, trials

EVIL = ["<script>alert(1)</script>", "</script><img src=x onerror=alert(2)>", '"><svg onload=alert(3)>', "a&b=c #d'e"]


def test_names_from_the_table_are_only_text(tmp_path: pathlib.Path) -> None:
    column = "<b>subject</b>"
    frame = pd.DataFrame({column: np.repeat(EVIL, 3), "</title>": np.arange(12.0)})
    folder = tmp_path / "<i>"
    folder.mkdir()
    made = report(order(folder, frame, GAUSSIAN, [MERGE], by=(column,), outcome=("</title>",)))
    page = elements(made.html)
    found = {tag for tag, _ in page.tags}
    assert not found & {"b", "img", "svg", "i"}
    assert [attributes.get("type") for tag, attributes in page.tags if tag == "script"] == ["application/json", None]
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert [group["key"][0] for group in made.data["groups"]] == EVIL
    assert [text for _, text in page.texts if text in EVIL][:1] == EVIL[:1]


def test_the_policy_admits_one_script_and_one_style_and_no_network(tmp_path: pathlib.Path) -> None:
    made = report(order(tmp_path, trials(1), GAUSSIAN, [MERGE]))
    policies = [a["content"] for tag, a in elements(made.html).tags if a.get("http-equiv") == "Content-Security-Policy"]
    kinds = r"default-src 'none'; img-src data:; style-src 'sha256-[^ ']+'; script-src 'sha256-[^ ']+'"
    assert len(policies) == 1
    assert re.fullmatch(kinds, policies[0] or "")
    assert not [a for _, a in elements(made.html).tags if "src" in a or (a.get("href") or "#")[0] != "#" or "style" in a]


def test_too_many_groups_are_left_out_and_it_is_said(tmp_path: pathlib.Path) -> None:
    made = report(order(tmp_path, trials(5), GAUSSIAN, [MERGE]), groups=2)
    assert [group["key"] for group in made.data["groups"]] == [["s0"], ["s1"]]
    assert "Drawn: the first 2 of 5 groups. --report-groups 5 draws all" in made.html
    assert "draws all" not in report(order(tmp_path, trials(5), GAUSSIAN, [MERGE]), groups=5).html


def test_a_group_that_is_too_long_is_cut_and_its_sums_are_of_all_trials(tmp_path: pathlib.Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(collecting, "NUMBERS_PER_GROUP", 100)
    asked = order(tmp_path, trials(3), GAUSSIAN, [MERGE])
    made = report(asked, groups=3)
    width = 4 + len(made.data["computed"])  # trial, outcome, prediction, probability of a change
    first = made.data["groups"][0]
    assert sum(len(decoded(group["trial"])) for group in made.data["groups"]) == 300 // width
    assert len(made.data["groups"]) == 1
    assert (first["rows"], len(decoded(first["trial"]))) == (40, 300 // width)
    assert first["sums"]["merge"][1] == pytest.approx(made.result.frame.merge_shannon_surprise[:40].mean())
    assert "Drawn: the first 1 of 3 groups, of 1 of them only the first trials (changes are found among these; " in made.html
    enough = int(re.search(r"--report-groups (\d+) draws all", made.html)[1])  # type: ignore[index]
    whole = report(asked, groups=enough)
    assert [len(decoded(group["trial"])) for group in whole.data["groups"]] == [40] * 3
    assert "draws all" not in whole.html


def test_a_long_table_does_not_make_a_long_page(tmp_path: pathlib.Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(collecting, "NUMBERS_PER_GROUP", 50)
    sizes = [
        len(report(order(tmp_path, trials(2, length), GAUSSIAN, [MERGE]), groups=10).html.encode()) for length in (1_000, 5_000)
    ]
    assert abs(sizes[1] - sizes[0]) < 200


# --- files and the command ------------------------------------------------------------------------------------------------


@pytest.fixture
def table(tmp_path: pathlib.Path) -> pathlib.Path:
    trials().to_csv(tmp_path / "trials.csv", index=False)
    return tmp_path / "trials.csv"


def common(table: pathlib.Path) -> list[object]:
    return [table, "--family", GAUSSIAN, "--learner", MERGE, "--learner", VARSMILE, "--missing", "elapse", "--reset", "start"]


def test_table_and_report_come_from_one_command(table: pathlib.Path) -> None:
    out, page = table.with_name("out.csv"), table.with_name("report.html")
    got = volatilis("run", *common(table), "--out", out, "--report", page)
    assert got.exit_code == 0, got.output
    frame, data = pd.read_csv(out), data_of(page.read_text(encoding="utf-8"))
    found = np.concatenate([decoded(group["outcomes"][0]) for group in data["groups"]])
    np.testing.assert_allclose(found, frame.outcome, rtol=0, atol=1e-5)
    first = vl.changes(
        frame.outcome[:40], vl.ExactBayes(vl.Gaussian(1.0, 0.0, 4.0), 0.1), reset=frame.start[:40] == 1, missing="elapse"
    )
    assert data["groups"][0]["sums"]["merge"][0] == len(first.points) > 0
    assert str(page) in got.stderr.replace("\n", "")


def test_a_report_alone_prints_no_table(table: pathlib.Path) -> None:
    page = table.with_name("report.html")
    got = volatilis("run", *common(table), "--report", page, "--quiet")
    assert (got.exit_code, got.stdout) == (0, "")
    assert page.exists()
    assert volatilis("run", *common(table), "--report", page, "--out", "-").stdout.startswith("subject,")


def test_the_options_are_passed_on(table: pathlib.Path) -> None:
    page = table.with_name("report.html")
    assert volatilis("run", *common(table), "--report", page, "--report-groups", 1, "--prediction", "outcome").exit_code == 0
    data = data_of(page.read_text(encoding="utf-8"))
    assert len(data["groups"]) == 1
    assert data["predictions"] == ["outcome"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--report", "report.txt"], "its name must end in .html"),
        (["--report", "nowhere/report.html"], "cannot write nowhere/report.html: there is no such folder"),
        (["--report", "report.html", "--prediction", "predicted"], "did you mean 'prediction'?"),
        (["--prediction", "prediction"], "give --report OUT.html too"),
        (["--report-groups", "9"], "give --report OUT.html too"),
        (["--report", "report.html", "--report-groups", "10001"], "a report of 10,001 groups is not accepted; 1 to 10,000 are"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(
    table: pathlib.Path, arguments: list[str], said: str, monkeypatch: Any
) -> None:
    monkeypatch.chdir(table.parent)
    got = volatilis("run", *common(table), "--out", "out.csv", *arguments)
    assert got.exit_code == 2
    assert said in got.stderr
    assert [path.name for path in table.parent.iterdir()] == ["trials.csv"]


def test_a_table_that_is_not_there_is_not_taken_for_the_report(table: pathlib.Path) -> None:
    got = volatilis("run", *common(table.with_name("other.csv")), "--report", table.with_name("report.html"))
    assert got.exit_code == 2
    assert "other.csv: No such file or directory" in got.stderr.replace("\n", "")
    assert [path.name for path in table.parent.iterdir()] == ["trials.csv"]


def test_the_report_does_not_overwrite_a_table(tmp_path: pathlib.Path) -> None:
    with (
        pytest.raises(ValueError, match="is also the name of a table"),
        report_to(tmp_path / "a.html", others=(tmp_path / "a.html",)),
    ):
        pass


def test_a_run_that_fails_leaves_the_old_report(tmp_path: pathlib.Path) -> None:
    frame = trials(1).astype({"outcome": object})
    frame.loc[30, "outcome"] = "many"
    page = tmp_path / "report.html"
    page.write_text("old")
    with pytest.raises(ValueError, match="row 31"), report_to(page) as watcher:
        run_table(order(tmp_path, frame, GAUSSIAN, [MERGE]), None, watchers=[watcher])
    assert page.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "trials.csv"]


def test_the_same_run_makes_the_same_page(table: pathlib.Path) -> None:
    pages = [table.with_name(name) for name in ("a.html", "b.html")]
    for page, workers in zip(pages, (1, 2), strict=True):
        assert volatilis("run", *common(table), "--report", page, "--workers", workers).exit_code == 0
    assert pages[0].read_bytes() == pages[1].read_bytes()
