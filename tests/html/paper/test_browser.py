"""The report in a browser: it fits a phone, follows the dark mode, filters its claims, and asks nothing of the network.

A page beside the report holds it in frames of several widths (a browser's window cannot be made as narrow as a phone), looks into
them, and leaves what it saw in its own text, which the browser prints. One more frame may not run scripts.
"""

from __future__ import annotations

import html
import json
import pathlib
import re
import shutil
import subprocess
from typing import Any

import pytest

from volatilis.html import paper as report
from volatilis.html.paper import Claim, Figure, NewLearner, Report
from volatilis.html.paper.page import CLASSES

from .test_report import FAILS, HOLDS, sample

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
WIDTHS = (320, 375, 768, 1280)
LONG = "unbreakable" * 20

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium, chromium-browser or google-chrome is installed")

PROBE = """<!DOCTYPE html><title>probe</title>
<body>FRAMES<iframe id="bare" src="report.html" sandbox="allow-same-origin"></iframe><pre id="seen"></pre><script>
function look(frame) {
  var view = frame.contentWindow, page = view.document, find = function (what) { return page.querySelector(what); };
  var style = function (what) { return view.getComputedStyle(find(what)); };
  var all = Array.from(page.querySelectorAll(".claims tbody tr"));
  var rows = function () { return all.filter(function (row) { return row.offsetHeight; }); };
  var verdicts = function () { return rows().map(function (row) { return row.dataset.verdict; }); };
  var seen = {
    width: page.documentElement.scrollWidth, view: view.innerWidth,
    headings: Array.from(page.querySelectorAll("h1, h2")).map(function (h) { return h.textContent; }),
    images: Array.from(page.images).map(function (image) { return image.complete && image.naturalWidth > 0; }),
    fetched: view.performance.getEntriesByType("resource").map(function (r) { return r.name.slice(0, 5); }),
    paper: style("body").backgroundColor, canvas: style(".canvas").backgroundColor, row: style(".claims tbody tr").display,
    nav: [style(".page > nav").position, find(".page > nav").offsetHeight, find(".page > nav").offsetWidth],
    rows: rows().length, controls: !find(".filter").hidden, said: find(".filter output").textContent
  };
  find('.filter button[data-verdict="does not hold"]').click();
  seen.chosen = verdicts(); seen.chosenSaid = find(".filter output").textContent;
  seen.pressed = find('.filter button[aria-pressed="true"]').dataset.verdict;
  find('.tally a[data-verdict="holds"]').click();
  seen.tile = verdicts();
  find('.filter button[data-verdict=""]').click();
  var words = find(".filter input"), type = function (text) { words.value = text; words.dispatchEvent(new view.Event("input")); };
  type("SOR20  worse"); seen.searched = rows().map(function (row) { return row.id; });
  type("no such claim"); seen.none = [rows().length, find(".nothing").offsetHeight > 0];
  type("");
  return seen;
}
window.onload = function () {
  var seen = Array.from(document.querySelectorAll("iframe:not(#bare)")).map(function (frame) {
    try { return look(frame); } catch (error) { return { error: String(error) }; }
  });
  var bare = document.getElementById("bare").contentWindow.document;
  seen[0].bare = {
    controls: bare.querySelector(".filter").offsetHeight,
    rows: Array.from(bare.querySelectorAll(".claims tbody tr")).filter(function (row) { return row.offsetHeight; }).length
  };
  document.getElementById("seen").textContent = JSON.stringify(seen);
};
</script></body>"""


def browse(page: pathlib.Path, *options: str) -> str:
    """The page's content after its scripts ran."""
    common = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--allow-file-access-from-files"]
    profile = f"--user-data-dir={page.parent / 'profile'}"
    command = [str(BROWSER), *common, profile, "--window-size=1400,900", *options, "--dump-dom", page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120, check=True).stdout


def look(folder: pathlib.Path, content: Report, *options: str) -> dict[int, dict[str, Any]]:
    """What the probe saw of the report, by width."""
    report.write(folder / "report.html", content)
    frames = "".join(f'<iframe src="report.html" style="border:0;width:{width}px;height:800px"></iframe>' for width in WIDTHS)
    (folder / "probe.html").write_text(PROBE.replace("FRAMES", frames), encoding="utf-8")
    found = re.search(r'<pre id="seen">(.*?)</pre>', browse(folder / "probe.html", *options), re.DOTALL)
    assert found
    seen = dict(zip(WIDTHS, json.loads(html.unescape(found[1])), strict=True))
    assert [view["error"] for view in seen.values() if "error" in view] == []
    return seen


@pytest.fixture(scope="module")
def light(tmp_path_factory: pytest.TempPathFactory) -> dict[int, dict[str, Any]]:
    return look(tmp_path_factory.mktemp("light"), sample())


def test_the_headings_and_figures_are_there(light: dict[int, dict[str, Any]]) -> None:
    for seen in light.values():
        assert seen["headings"] == [
            sample().title, "Summary", "Figures", "Merge: a memory that forgets nothing it needs", "Claims", "Errata", "This run",
        ]  # fmt: skip
        assert seen["images"] == [True] * len(sample().figures)


def test_nothing_is_fetched(light: dict[int, dict[str, Any]]) -> None:
    assert {name for seen in light.values() for name in seen["fetched"]} <= {"data:"}


def test_no_width_scrolls_sideways(light: dict[int, dict[str, Any]]) -> None:
    assert [seen["view"] for seen in light.values()] == list(WIDTHS)
    assert all(seen["width"] <= width for width, seen in light.items())


def lengthened(value: Any) -> Any:
    """The same content with very long words in every text but keys and verdicts."""
    if isinstance(value, str):
        return value if value in CLASSES else f"{value} {LONG} `{LONG}`"
    if isinstance(value, Figure | Claim):
        return type(value)(*map(lengthened, value))._replace(key=value.key)
    if isinstance(value, NewLearner):
        return NewLearner(*map(lengthened, value))._replace(figure_key=value.figure_key)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(lengthened, value))
    if isinstance(value, list | tuple):
        return [lengthened(item) for item in value]
    return {name: lengthened(item) for name, item in value.items()} if isinstance(value, dict) else value


def test_long_words_do_not_widen_the_page(tmp_path: pathlib.Path) -> None:
    seen = look(tmp_path, lengthened(sample()))
    assert all(view["width"] <= width for width, view in seen.items())


def test_the_menu_is_a_bar_on_a_phone_and_a_column_on_a_wide_screen(light: dict[int, dict[str, Any]]) -> None:
    assert {seen["nav"][0] for seen in light.values()} == {"sticky"}
    _, height, width = light[375]["nav"]
    assert height < 60
    assert width == 375
    assert light[1280]["nav"][2] < 300


def test_claims_are_cards_on_a_phone_and_a_table_on_a_wide_screen(light: dict[int, dict[str, Any]]) -> None:
    assert light[375]["row"] == "block"
    assert light[1280]["row"] == "table-row"


def test_the_filter_works(light: dict[int, dict[str, Any]]) -> None:
    for seen in light.values():
        assert (seen["rows"], seen["controls"], seen["said"]) == (7, True, "All 7 claims are shown.")
        assert seen["chosen"] == [FAILS]
        assert seen["pressed"] == FAILS
        assert seen["chosenSaid"] == "1 of 7 claims are shown."
        assert seen["tile"] == [HOLDS] * 4
        assert seen["searched"] == ["claim-gaussian-sor20-low-noise"]
        assert seen["none"] == [0, True]


def test_dark_mode_keeps_figures_on_white(light: dict[int, dict[str, Any]], tmp_path: pathlib.Path) -> None:
    dark = look(tmp_path, sample(), "--force-dark-mode")[375]
    assert sum(map(int, re.findall(r"\d+", light[375]["paper"]))) > 3 * 240
    assert sum(map(int, re.findall(r"\d+", dark["paper"]))) < 3 * 40
    assert light[375]["canvas"] == dark["canvas"] == "rgb(255, 255, 255)"


def test_without_scripts_all_claims_are_there_and_the_controls_are_not(light: dict[int, dict[str, Any]]) -> None:
    assert light[320]["bare"] == {"controls": 0, "rows": 7}


def test_the_page_prints(tmp_path: pathlib.Path) -> None:
    page = report.write(tmp_path / "report.html", sample())
    browse(page, "--no-pdf-header-footer", f"--print-to-pdf={tmp_path / 'report.pdf'}")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
