"""The report as a file: whole, self-contained, escaped, and never half written."""

from __future__ import annotations

import functools
import io
import itertools
import os
import pathlib
import re
from collections import Counter
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import Any, get_args

import numpy as np
import pytest

from volatilis.html import paper as report
from volatilis.html.paper import Claim, Erratum, Figure, NewLearner, Report, TextTable
from volatilis.html.paper.page import CLASSES, SHAPES, _text

VOID = {"br", "circle", "img", "input", "link", "meta", "path", "rect"}
HOLDS, PARTLY, FAILS, OPEN = get_args(report.Verdict)
NASTY = """<script>alert("x")</script>'&"><img src=x onerror=y>"""


@functools.cache
def heatmaps() -> bytes:
    """Eight panels of noise against p_c, as in the steady-state figures."""
    from matplotlib.figure import Figure as Canvas

    rng = np.random.default_rng(1)
    canvas = Canvas(figsize=(10, 4.6), layout="constrained")
    for axis, name in zip(
        canvas.subplots(2, 4, sharex=True, sharey=True).flat, ["Nas12*", "pf20", "MP20", "SOR20"] * 2, strict=True
    ):
        image = axis.pcolormesh(np.sort(rng.gamma(1.0, 0.4, (5, 6)), axis=0), cmap="viridis", vmin=0.0, vmax=1.5)
        axis.set_title(name, fontsize=10)
        axis.set_xticks(np.arange(6) + 0.5, ["0.1", "0.05", "0.01", "0.005", "0.001", "1e-4"], fontsize=7)
        axis.set_yticks(np.arange(5) + 0.5, ["0.1", "0.5", "1", "2", "5"], fontsize=7)
    canvas.colorbar(image, ax=canvas.axes, label="distance to Exact Bayes")
    return _png(canvas)


@functools.cache
def curves() -> bytes:
    """Errors that fall with the observations after a change, or with the size of the memory."""
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(8, 4), layout="constrained")
    n = np.arange(1, 51)
    for axis in canvas.subplots(1, 2):
        for k, name in enumerate(["Exact Bayes", "VarSMiLe", "Nas12*", "pf20", "Merge20"]):
            axis.plot(n, np.exp(-n / (4 + 3 * k)) + 0.02 * (k + 1), label=name)
        axis.set(xlabel="observations since the change", ylabel="mean squared error", yscale="log")
        axis.spines[["top", "right"]].set_visible(False)
    canvas.axes[0].legend(frameon=False, fontsize=8)
    return _png(canvas)


def _png(canvas: Any) -> bytes:
    file = io.BytesIO()
    canvas.savefig(file, format="png", dpi=200)
    return file.getvalue()


@functools.cache
def sample() -> Report:
    """A report with all its parts, about as long as a real one."""
    cells = [[f"σ {sigma}, p_c {p_c}", f"{0.061 * sigma:.4f}", f"{0.0618 * sigma:.4f}", "1.2 ± 0.1", "within 2 standard errors"]
             for sigma in (0.1, 0.5, 1, 2, 5) for p_c in (0.1, 0.05, 0.01, 0.005, 0.001, 0.0001)]  # fmt: skip
    headers = ["cell", "published", "this run", "ratio", "agreement"]
    figures = [
        Figure("3", "Figure 3: After a change, Gaussian task",
               "How fast each learner finds the new mean after a change. Left: little noise, frequent changes (σ 0.1, p_c 0.1). "
               "Right: much noise and rare changes (σ 5, p_c 0.01).",
               curves(), "gaussian_transient.csv", 48.2, [],
               TextTable("Mean squared error 1 and 10 steps after a change", headers, cells[:4])),
        Figure("4", "Figure 4: Steady state, Gaussian task",
               "Mean squared distance of each learner's estimate to that of Exact Bayes, for all 30 pairs of noise σ and "
               "probability of change p_c.",
               heatmaps(), "gaussian_grid.csv", 1312.0,
               ["SOR20 is shown twice: with the published resampling and done right (erratum 1).",
                "Leaky, SMiLe and Nas12* are tuned within the published bounds; `--free` lifts them."],
               TextTable("Difference to Exact Bayes, all 30 cells", headers, cells)),
        Figure("7", "Figure 7: Steady state, Categorical task",
               "The same for five categories; s is the concentration of the prior.", heatmaps(), "categorical_grid.csv", 2011.0),
        Figure("10", "Figure 10: Experimental prediction 1",
               "Bayes Factor Surprise and Shannon Surprise at equal prediction error, by the sign of the bias.",
               curves(), "prediction1.csv", 6.4, ["Shannon Surprise is in nats (erratum 8)."]),
        Figure("memory", "Distance to Exact Bayes by memory",
               "How the distance falls with the number of hypotheses a learner may keep. Merge falls about as n⁻⁵.",
               curves(), "memory.csv", 95.0),
    ]  # fmt: skip
    claims = [
        Claim("gaussian-sor20-low-noise", "Results, Figure 4F",
              "At σ = 0.1 and p_c = 0.1, SOR20 is worse than SOR10: more particles lead to worse performance.",
              "0.061 above Exact Bayes", "0.0618 ± 0.0003", "below 0.000001", PARTLY,
              "10 seeds; 95 % interval of the difference: −7e-7 to 9e-7"),
        Claim("gaussian-varsmile-pf20", "Results, p. 12", "pf20 and VarSMiLe are close to each other over the whole grid.",
              "p = 0.42", "p = 0.44", "p = 0.45", HOLDS, "Welch's t-test over 10 seeds"),
        Claim("gaussian-nas12-best-one-unit", "Figure 5A", "Nas12* is the best of the learners with one unit of memory.",
              "26 of 30 cells", "27 of 30 cells", "27 of 30 cells", HOLDS, "3 cells within two standard errors"),
        Claim("gaussian-leaky-high-noise", "Figure 4B",
              "Leaky integration is far behind for σ = 5 whatever the probability of change.",
              "up to 0.94", "up to 0.93", "up to 0.21 with a free ω", FAILS, "bounded search stopped at ω = 0.99"),
        Claim("categorical-mp20", "Figure 7D", "MP20 is nearly indistinguishable from Exact Bayes.",
              "below 0.001", "below 0.001", "below 0.0009", HOLDS, "10 seeds"),
        Claim("categorical-robust-smile", "Figure 9C", "SMiLe is the most robust when changes are rarer than assumed.",
              "regret 0.012", "regret 0.013 ± 0.004", "regret 0.013 ± 0.004", OPEN, "1 seed at this size; needs `--size full`"),
        Claim("prediction1-sign", "Prediction 1, Figure 10",
              "The difference of the Bayes Factor Surprise between the two signs grows with the size of the error; that of the "
              "Shannon Surprise has the opposite sign.",
              "yes, 20 subjects", "yes", "yes", HOLDS, "20 subjects of 500 trials"),
    ]  # fmt: skip
    errata = [
        Erratum(1, "SOR20 at low noise is a numerical artefact",
                "The published resampling seeks its threshold with strict inequalities. Most weights underflow to zero, no "
                "threshold satisfies the test, and every particle gets the same weight.",
                "0.0618 becomes below 0.000001 at σ = 0.1, p_c = 0.1; the p-value 2.79e-6 goes away."),
        Erratum(2, "Tuned parameters lie at the edge of their grid",
                "The published searches stop at ω = 0.99, p_c = 1e-4 and m = 10. Those learners are better when tuned freely.",
                "Leaky at σ = 5: 0.94 becomes 0.21."),
        Erratum(8, "Shannon Surprise is in log base 10", "The formula, and this project, use nats."),
    ]  # fmt: skip
    table = TextTable("Mean squared distance to Exact Bayes", ["cell", "pf20", "MP20", "SOR20", "Merge5", "Merge10", "Merge20"], [
        ["Gaussian σ 0.1, p_c 0.1", "8.9e-5", "3.4e-8", "3.9e-8", "2.2e-8", "1.6e-10", "5e-13"],
        ["Gaussian σ 1, p_c 0.01", "9.5e-3", "7.8e-4", "6.2e-4", "4.9e-5", "1.4e-6", "2.3e-8"],
        ["Categorical s 5, p_c 0.01", "5.5e-4", "8.6e-4", "7.1e-5", "1.0e-5", "7e-7", "7e-8"],
    ])  # fmt: skip
    new = NewLearner("Merge: a memory that forgets nothing it needs", [
        "Message passing drops its lightest hypotheses, particle filters draw theirs at random. Merge joins the two neighbours "
        "in run length whose joining costs least, and keeps their weight, mean and variance.",
        "With one hypothesis it is Nas12*, for every family. With five it is ahead of every learner of the paper with twenty.",
    ], "memory", table)  # fmt: skip
    meta = {
        "version": "0.1.0", "python": "3.11.7", "numpy": "2.3.1", "size": "full", "seeds": "10", "benchmark": "exact",
        "run time per figure": "figure 3: 48 s, figure 4: 21 min 52 s, figure 7: 33 min 31 s, figure 10: 6.4 s",
        "command": "volatilis reproduce --size full --reference published/Data --output results/2021-full --workers 8",
    }  # fmt: skip
    return Report(
        "Learning in Volatile Environments with the Bayes Factor Surprise",
        "Every figure computed anew, every claim checked, and a learner closer to Exact Bayes than any of the paper's.",
        meta,
        ["Of seven claims, four hold as published, one holds with the published code only, and one does not hold.",
         "SOR20 is not worse than SOR10 at low noise: that was an underflow in the published resampling.",
         "Merge with five hypotheses is nearer to Exact Bayes than every learner of the paper with twenty."],
        figures, claims, errata, new,
    )  # fmt: skip


class Page(HTMLParser):
    """A page read strictly: every element closed in order; its elements with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.path: list[str] = []
        self.text: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert self.path == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert len(dict(attributes)) == len(attributes), f"an attribute twice in <{tag}>"
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.path.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert tag in VOID
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag: str) -> None:
        assert self.path.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append((self.path[-1] if self.path else "", data))

    def all(self, tag: str, name: str | None = None) -> list[dict[str, str | None]]:
        return [a for t, a in self.elements if t == tag and (name is None or name in (a.get("class") or "").split())]

    def said(self) -> str:
        """The text a reader sees."""
        return " ".join("".join(data for parent, data in self.text if parent not in ("script", "style")).split())


@pytest.fixture(scope="module")
def page() -> Page:
    return Page(report.page(sample()))


def marked(value: Any, numbers: Iterator[int]) -> Any:
    """The same content with markup and a number of its own in place of every text but the verdicts."""
    if isinstance(value, str):
        return value if value in get_args(report.Verdict) else f"{NASTY}[{next(numbers)}]"
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[marked(item, numbers) for item in value])
    if isinstance(value, list | tuple):
        return [marked(item, numbers) for item in value]
    if isinstance(value, dict):
        names = [key if key in ("version", "command") else marked(key, numbers) for key in value]
        return dict(zip(names, marked(list(value.values()), numbers), strict=True))
    return value


def test_headings_descend_one_level_at_a_time(page: Page) -> None:
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_the_page_is_semantic(page: Page) -> None:
    assert page.all("html")[0]["lang"] == "en"
    assert len(page.all("main")) == len(page.all("header")) == len(page.all("nav")) == 1
    assert len(page.all("table")) == len(page.all("caption")) == 1 + 2 + 1
    assert all(header["scope"] in ("col", "row") for header in page.all("th"))


def test_every_figure_has_an_alternative_text_a_caption_and_its_size(page: Page) -> None:
    images = page.all("img")
    assert len(images) == len(page.all("figure")) == len(page.all("figcaption")) == len(sample().figures)
    assert [image["alt"] for image in images] == [f"Plot: {figure.title}" for figure in sample().figures]
    assert (images[0]["width"], images[0]["height"]) == ("800", "400")


def test_nothing_outside_is_needed() -> None:
    text = report.page(sample())
    assert not re.search(r"https?://|@import|url\(", text)
    for tag, attributes in Page(text).elements:
        assert tag not in ("link", "iframe", "object", "embed")
        assert (attributes.get("src") or "data:image/png;base64,").startswith("data:image/png;base64,")
        assert (attributes.get("href") or "#").startswith("#")
    assert len(text) < 12_000_000


def test_every_link_has_its_target_and_every_anchor_is_unique(page: Page) -> None:
    anchors = Counter(attributes["id"] for _, attributes in page.elements if "id" in attributes)
    assert set(anchors.values()) == {1}
    assert {str(link["href"])[1:] for link in page.all("a")} <= set(anchors)


def test_the_verdicts_are_counted(page: Page) -> None:
    counts = Counter(claim.verdict for claim in sample().claims)
    assert Counter(row["data-verdict"] for row in page.all("tr") if "data-verdict" in row) == counts
    tiles = re.findall(r'data-verdict="([^"]+)"><b>(\d+)</b>', report.page(sample()))
    assert {verdict: int(count) for verdict, count in tiles} == {HOLDS: 4, PARTLY: 1, FAILS: 1, OPEN: 1}
    assert [rect["width"] for rect in page.all("rect")] == ["4", "1", "1", "1"]


def test_a_badge_says_its_verdict_in_words_and_by_its_shape() -> None:
    assert len(set(SHAPES.values())) == len(CLASSES)
    text = report.page(sample())
    badges = re.findall(r'<span class="badge (\w+)"><svg [^>]*>(.+?)</svg>([^<]+)</span>', text)
    assert [words for _, _, words in badges] == [claim.verdict for claim in sample().claims]
    assert all(CLASSES[words] == name and SHAPES[name] == shape for name, shape, words in badges)


def test_all_content_is_said(page: Page) -> None:
    said = page.said()
    content = sample()
    for claim in content.claims:
        assert claim.published in said
        assert claim.key in said
    for figure in content.figures:
        assert figure.csv_name in said
        assert figure.title in said
    for erratum in content.errata:
        assert erratum.title in said
    assert content.meta["command"] in said


def test_markup_in_any_text_stays_text() -> None:
    numbers = itertools.count()
    content = marked(sample(), numbers)
    content = content._replace(new_learner=content.new_learner._replace(figure_key=content.figures[-1].key))
    page, clean = Page(report.page(content)), Page(report.page(sample()))
    said = page.said()
    unsaid = {number for number in range(next(numbers)) if f"{NASTY}[{number}]" not in said}
    # The keys of figures are only in anchors, those that claims name too; that of the new learner's figure was numbered twice.
    assert len(unsaid) == len(content.figures) + 1 + len(content.claims)
    assert len(page.all("script")) == 1
    assert len(page.all("img")) == len(clean.all("img"))
    assert {name for _, attributes in page.elements for name in attributes} <= {n for _, a in clean.elements for n in a}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("p_c = 0.1 and sp_c", "<i>p</i><sub>c</sub> = 0.1 and sp_c"),
        ("2.79e-06", '<span class="power">2.79×10<sup>−6</sup></span>'),
        ("p < 1e-4", 'p &lt; <span class="power">10<sup>−4</sup></span>'),
        ("run 3e5a, v1.2e", "run 3e5a, v1.2e"),
        ("`--size <full>`", "<code><span>--size</span> <span>&lt;full&gt;</span></code>"),
    ],
)
def test_what_is_set_in_type(text: str, shown: str) -> None:
    assert _text(text) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.04, "under 0.1 s"), (9.94, "9.9 s"), (59.7, "1 min 00 s"), (1312.0, "21 min 52 s"), (7500.0, "2 h 05 min")],
)
def test_durations(seconds: float, shown: str) -> None:
    assert report.duration(seconds) == shown


def test_a_part_that_is_empty_has_no_section() -> None:
    page = Page(report.page(Report("Title", "Subtitle", {})))
    assert [section["id"] for section in page.all("section")] == ["run"]
    whole = Page(report.page(sample()))
    assert [s["id"] for s in whole.all("section")] == ["summary", "figures", "new-learner", "claims", "errata", "run"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"claims": lambda old: [old[0]._replace(verdict="maybe")]}, "'maybe'; it must be one of"),
        ({"claims": lambda old: [old[0], old[0]]}, "claim-gaussian-sor20-low-noise"),
        ({"errata": lambda old: [old[0], old[0]]}, "erratum-1"),
        ({"figures": lambda old: [old[4], old[4]]}, "figure-memory"),
        ({"figures": lambda old: old[:4]}, "'memory' is not among the figures"),
        ({"figures": lambda old: [old[4]._replace(png=b"GIF89a")]}, "'memory' is not a PNG"),
        ({"figures": lambda old: [old[4]._replace(comparison=TextTable("T", ["a", "b"], [["1"]]))]}, "'T' has 2 columns"),
        ({"figures": lambda old: [old[4]._replace(comparison=TextTable("T", [], []))]}, "'T' has no columns"),
    ],
)
def test_content_that_would_give_a_wrong_page_is_refused(
    change: dict[str, Callable[[Any], Any]], message: str, tmp_path: pathlib.Path
) -> None:
    content = sample()._replace(**{name: to(getattr(sample(), name)) for name, to in change.items()})
    with pytest.raises(ValueError, match=re.escape(message)):
        report.write(tmp_path / "report.html", content)
    assert list(tmp_path.iterdir()) == []


def test_write_replaces_the_file_and_leaves_nothing_else(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")
    assert report.write(str(path), sample()) == path
    assert path.read_text(encoding="utf-8") == report.page(sample())
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_the_old_file_stays_when_writing_fails(step: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "report.html"
    path.write_text("old")
    monkeypatch.setattr(os, step, fail)
    with pytest.raises(report.ReportError, match=r"cannot write 'report.html' in the folder .*: No space left on device"):
        report.write(path, sample())
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_named(tmp_path: pathlib.Path) -> None:
    with pytest.raises(report.ReportError, match=re.escape(f"in the folder {str(tmp_path / 'missing')!r}: No such file")):
        report.write(tmp_path / "missing" / "report.html", sample())


def test_a_folder_cannot_be_the_report(tmp_path: pathlib.Path) -> None:
    with pytest.raises(report.ReportError, match="directory"):
        report.write(tmp_path, sample())
    assert list(tmp_path.iterdir()) == []


def test_claims_stand_below_their_figure_and_in_the_table() -> None:
    content = sample()
    own = content.claims[0]._replace(figure=content.figures[0].key)
    page = report.page(content._replace(claims=[own, *content.claims[1:]]))
    assert "1 claim of the paper on this figure" in page
    assert page.index("1 claim of the paper on this figure") < page.index('<table class="claims"')
