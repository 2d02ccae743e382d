"""The report in a browser: it draws what its numbers say, goes from group to group, fits a phone, and needs no network."""

from __future__ import annotations

import base64
import pathlib
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.helpers.browser import BROWSER, Browser

from .pages import GAUSSIAN, LEAKY, MERGE, VARSMILE, Report, decoded, order, report, trials
from .test_page import EVIL

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium, chromium-browser or google-chrome is installed")
GROUPS = 15


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, pathlib.Path]:
    folder = tmp_path_factory.mktemp("report")
    content = report(order(folder, trials(GROUPS, 60), GAUSSIAN, [MERGE, VARSMILE, LEAKY], reset="start"))
    return content, written(folder, content)


def written(folder: pathlib.Path, content: Report) -> pathlib.Path:
    (folder / "report.html").write_text(content.html, encoding="utf-8")
    return folder / "report.html"


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def browser(started: Browser, made: tuple[Report, pathlib.Path]) -> Iterator[Browser]:
    """The report, opened anew; after the test nothing must have gone wrong in it."""
    started.look(1280, 800)
    started.open(made[1])
    yield started
    assert started.problems == []


def paths(browser: Browser, of: str) -> list[str]:
    return list(browser.run(f"[...document.querySelectorAll('#frame svg {of}')].map(path => path.getAttribute('d'))"))


def points(path: str) -> np.ndarray:
    """The places that a path goes through."""
    return np.array([[float(n) for n in pair] for pair in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path)])


def text(browser: Browser, of: str) -> str:
    return str(browser.run(f"document.querySelector('{of}').textContent"))


def shown_group(browser: Browser) -> str:
    return str(browser.run("document.querySelector('#group').selectedOptions[0].textContent"))


# --- what is drawn --------------------------------------------------------------------------------------------------------


def test_only_the_page_itself_is_asked_for(browser: Browser, made: tuple[Report, pathlib.Path]) -> None:
    assert browser.requests == [made[1].as_uri()]
    assert browser.run("performance.getEntriesByType('resource').length") == 0


def test_dots_and_lines_stand_where_the_numbers_say(browser: Browser, made: tuple[Report, pathlib.Path]) -> None:
    group, frame = made[0].data["groups"][0], made[0].result.frame[:60]
    dots = points(paths(browser, ".dots")[0])
    seen = frame[frame.outcome.notna()]
    assert len(dots) == len(seen)
    across, up = np.polyfit(seen.trial, dots[:, 0], 1), np.polyfit(seen.outcome, dots[:, 1], 1)
    assert across[0] > 0
    assert up[0] < 0
    np.testing.assert_allclose(dots[:, 0], np.polyval(across, seen.trial), atol=0.1)
    np.testing.assert_allclose(dots[:, 1], np.polyval(up, seen.outcome), atol=0.1)
    for i, label in enumerate(("merge", "varsmile", "leaky")):
        line = paths(browser, f".line.learner-{i}")[0]
        np.testing.assert_allclose(points(line)[:, 1], np.polyval(up, frame[f"{label}_mean"]), atol=0.1)
        assert line.count("M") == 3  # broken where the learner starts anew
    upper = points(paths(browser, ".band.learner-0")[0])[:20, 1]
    edge = (frame.merge_mean + 2 * np.sqrt(frame.merge_variance))[:20]
    np.testing.assert_allclose(upper, np.polyval(up, edge), atol=0.1)
    looked, *_ = group["changes"]
    found = np.concatenate([points(path)[:1] for path in paths(browser, ".learner-0 .triangle")])
    assert len(looked["found"]) == group["sums"]["merge"][0] > 0
    np.testing.assert_allclose(found[:, 0], np.polyval(across, [frame.trial[c[0]] - 0.5 for c in looked["found"]]), atol=0.1)
    assert len(paths(browser, ".start")) == 2
    assert len(re.findall("M", paths(browser, ".missing")[0])) == int(frame.outcome.isna().sum())


def test_surprise_and_rate_have_a_panel_each(browser: Browser, made: tuple[Report, pathlib.Path]) -> None:
    frame = made[0].result.frame[:60]
    surprise, rate = (points(path)[:, 1] for path in paths(browser, ".line.thin.learner-0"))
    known = frame[frame.outcome.notna()]
    for drawn, values in ((surprise, np.arcsinh(known.merge_log_bayes_factor_surprise)), (rate, known.merge_adaptation_rate)):
        np.testing.assert_allclose(drawn, np.polyval(np.polyfit(values, drawn, 1), values), atol=0.1)
    browser.run("(m => { m.value = '1'; m.dispatchEvent(new Event('change')); })(document.querySelector('#measure'))")
    other = points(paths(browser, ".line.thin.learner-0")[0])[:, 1]
    values = np.arcsinh(known.merge_shannon_surprise)
    np.testing.assert_allclose(other, np.polyval(np.polyfit(values, other, 1), values), atol=0.1)
    assert "Shannon surprise" in text(browser, "#frame")


def test_a_learner_can_be_switched_off(browser: Browser) -> None:
    browser.run("document.querySelector('button.key.learner-1').click()")
    assert (len(paths(browser, ".line.learner-1")), len(paths(browser, ".line.learner-0"))) == (0, 3)
    assert browser.run("document.querySelector('button.key.learner-1').getAttribute('aria-pressed')") == "false"
    browser.run("document.querySelector('button.key.person').click()")
    assert paths(browser, ".person") == []
    browser.run("document.querySelectorAll('button.key').forEach(b => b.getAttribute('aria-pressed') === 'true' && b.click())")
    assert len(paths(browser, ".dots")) == 1
    browser.run("document.querySelector('button.key.learner-1').click()")
    assert len(paths(browser, ".line.learner-1")) == 3


# --- from group to group --------------------------------------------------------------------------------------------------


def test_buttons_keys_list_and_table_change_the_group(browser: Browser) -> None:
    first = paths(browser, ".dots")
    browser.run("document.querySelector('#next').click()")
    assert (shown_group(browser), browser.run("location.hash")) == ("subject s1", "#subject=s1")
    assert paths(browser, ".dots") != first
    browser.press("ArrowRight")
    assert shown_group(browser) == "subject s2"
    browser.press("ArrowLeft")
    browser.run("document.querySelector('#previous').click()")
    assert (shown_group(browser), paths(browser, ".dots")) == ("subject s0", first)
    browser.press("ArrowLeft")
    assert shown_group(browser) == "subject s0"
    browser.run("document.querySelector('tr[data-group=\"7\"] td').click()")
    assert (shown_group(browser), browser.run("location.hash")) == ("subject s7", "#subject=s7")
    assert browser.run("[...document.querySelectorAll('tr[aria-current]')].map(row => row.dataset.group)") == ["7"]
    browser.run("(g => { g.value = '3'; g.dispatchEvent(new Event('change')); })(document.querySelector('#group'))")
    assert browser.run("location.hash") == "#subject=s3"


def test_the_address_names_the_group(browser: Browser, made: tuple[Report, pathlib.Path]) -> None:
    browser.open(made[1], "#subject=s11")
    assert shown_group(browser) == "subject s11"
    browser.run("new Promise(go => { addEventListener('hashchange', () => setTimeout(go)); location.hash = '#subject=s4'; })")
    assert shown_group(browser) == "subject s4"
    browser.open(made[1], "#subject=nobody")
    assert shown_group(browser) == "subject s0"


def test_the_table_sorts_and_searches(browser: Browser, made: tuple[Report, pathlib.Path]) -> None:
    groups = made[0].data["groups"]
    rows = "[...document.querySelectorAll('#groups tbody tr')].filter(r => !r.hidden).map(r => Number(r.dataset.group))"
    head = "[...document.querySelectorAll('#groups th')].find(h => h.textContent.startsWith('Shannon') && !h.hidden)"
    values = [group["sums"]["merge"][1] for group in groups]
    browser.run(f"{head}.click()")
    assert browser.run(rows) == list(np.argsort(values, kind="stable"))
    browser.run(f"{head}.click()")
    assert browser.run(rows) == list(np.argsort(values, kind="stable")[::-1])
    assert browser.run(f"{head}.getAttribute('aria-sort')") == "descending"
    browser.run("(s => { s.value = 's1'; s.dispatchEvent(new Event('input')); })(document.querySelector('#search'))")
    assert sorted(browser.run(rows)) == [1, *range(10, GROUPS)]
    assert text(browser, "#matches") == f"6 of {GROUPS} groups"
    browser.run("(l => { l.value = 'varsmile'; l.dispatchEvent(new Event('change')); })(document.querySelector('#learner'))")
    first = browser.run(
        "[...document.querySelectorAll('tr[data-group=\"1\"] td')].filter(c => !c.hidden).map(c => c.dataset.value)"
    )
    assert [float(value) for value in first[2:]] == groups[1]["sums"]["varsmile"]


# --- one trial, some trials -----------------------------------------------------------------------------------------------


def frame_box(browser: Browser) -> list[float]:
    script = "(b => [b.left, b.top, b.width, b.height])(document.querySelector('#frame svg').getBoundingClientRect())"
    return list(browser.run(script))


def test_pointing_at_a_trial_reads_it(browser: Browser, made: tuple[Report, pathlib.Path]) -> None:
    left, top, _, _ = frame_box(browser)
    at = points(paths(browser, ".line.learner-0")[0])[36]
    browser.mouse("mouseMoved", left + at[0], top + at[1])
    cells = browser.run("[...document.querySelectorAll('#readout tr')].map(row => [...row.cells].map(cell => cell.textContent))")
    row = made[0].result.frame.iloc[36]
    assert cells[0][0] == "trial 37"

    def numbers(of: str) -> list[float]:
        return [float(n) for n in of.replace("−", "-").split(" ± ")]

    assert numbers(cells[1][1]) == pytest.approx([row.outcome], rel=1e-3)
    assert numbers(cells[2][1]) == pytest.approx([row.prediction], rel=1e-3)
    assert numbers(cells[3][1]) == pytest.approx([row.merge_mean, 2 * np.sqrt(row.merge_variance)], rel=1e-3)
    assert numbers(cells[3][2]) == pytest.approx([row.merge_log_bayes_factor_surprise], rel=1e-3)
    assert numbers(cells[3][3]) == pytest.approx([row.merge_adaptation_rate], rel=1e-3)
    assert cells[5][2:] == ["–", "–"]  # Leaky has neither


def test_without_pointing_the_legend_has_the_sums(browser: Browser, made: tuple[Report, pathlib.Path]) -> None:
    cells = browser.run("[...document.querySelectorAll('#readout tr')].map(row => [...row.cells].map(cell => cell.textContent))")
    changes, shannon, error = made[0].data["groups"][0]["sums"]["merge"]
    assert cells[0] == ["60 trials", "mean error", "Shannon", "changes"]
    assert [float(n) for n in cells[3][1:]] == pytest.approx([error, shannon, changes], rel=1e-3)


def test_dragging_zooms_and_a_double_click_shows_the_whole(browser: Browser) -> None:
    left, top, width, _ = frame_box(browser)
    whole = paths(browser, ".dots")
    browser.mouse("mousePressed", left + 0.3 * width, top + 100, button="left", buttons=1, clickCount=1)
    browser.mouse("mouseMoved", left + 0.5 * width, top + 110, button="left", buttons=1)
    assert browser.run("document.querySelectorAll('#frame .chosen').length") == 1
    browser.mouse("mouseReleased", left + 0.5 * width, top + 110, button="left", clickCount=1)
    assert len(points(paths(browser, ".dots")[0])) < 20
    assert browser.run("document.querySelector('#whole').hidden") is False
    for count in (1, 2):
        browser.mouse("mousePressed", left + 0.5 * width, top + 110, button="left", buttons=1, clickCount=count)
        browser.mouse("mouseReleased", left + 0.5 * width, top + 110, button="left", clickCount=count)
    assert paths(browser, ".dots") == whole


def test_keys_read_and_zoom_when_the_picture_has_the_focus(browser: Browser) -> None:
    browser.run("document.querySelector('#frame').focus()")
    for key, trial in (("ArrowRight", 1), ("ArrowRight", 2), ("PageDown", 12), ("ArrowLeft", 11), ("End", 60)):
        browser.press(key)
        assert text(browser, "#readout th") == f"trial {trial}"
    assert text(browser, "#reading").startswith("trial 60: ")
    assert shown_group(browser) == "subject s0"
    whole = paths(browser, ".dots")
    browser.press("+")
    assert len(points(paths(browser, ".dots")[0])) < 40
    browser.press("0")
    assert paths(browser, ".dots") == whole


def test_the_trials_are_there_as_a_table(browser: Browser, made: tuple[Report, pathlib.Path]) -> None:
    browser.run("document.querySelector('#trials').open = true; new Promise(go => setTimeout(go, 50))")
    cells = browser.run("[...document.querySelectorAll('#trials tr')].map(row => [...row.cells].map(cell => cell.textContent))")
    assert len(cells) == 61
    column, frame = cells[0].index("merge shannon surprise"), made[0].result.frame[:60]
    found = [float(row[column]) if row[column] != "–" else np.nan for row in cells[1:]]
    np.testing.assert_allclose(found, frame.merge_shannon_surprise, rtol=1e-3)


# --- screens --------------------------------------------------------------------------------------------------------------


def test_the_first_screen_has_the_run_the_summary_and_the_picture(browser: Browser) -> None:
    box = "(b => [b.top, b.bottom])(document.querySelector('{}').getBoundingClientRect())"
    tops = {what: browser.run(box.replace("{}", what)) for what in ("h1", "#groups tbody tr", "#frame svg .dots", "#readout")}
    assert all(0 <= top < bottom <= 800 for top, bottom in tops.values())
    assert text(browser, "h1") == "trials.csv"
    assert "900" in text(browser, ".chips")
    assert "merge n=5,p_c=0.1" in text(browser, "#readout")


@pytest.mark.parametrize("width", [320, 375, 768, 1280])
def test_no_width_scrolls_sideways(browser: Browser, made: tuple[Report, pathlib.Path], width: int) -> None:
    browser.look(width, 740, phone=width < 500)
    browser.open(made[1])
    assert browser.run("[document.documentElement.scrollWidth, innerWidth]") == [width, width]
    if width < 500:  # the picture begins on a phone's first screen, and the sums of the group stand above it
        top, right = browser.run("(b => [b.top, b.right])(document.querySelector('#frame svg .dots').getBoundingClientRect())")
        assert top < 600
        assert right <= width
        assert browser.run("document.querySelector('#readout').getBoundingClientRect().bottom") < top


def test_dark_pages_have_other_colours(browser: Browser, made: tuple[Report, pathlib.Path]) -> None:
    seen = []
    for dark in (False, True):
        browser.look(1280, 800, dark=dark)
        browser.open(made[1])
        colours = ("document.body).backgroundColor", "document.querySelector('.learner-1.line')).stroke")
        script = "[" + ", ".join(f"getComputedStyle({colour}" for colour in colours) + "]"
        seen.append([sum(map(int, re.findall(r"\d+", colour))) for colour in browser.run(script)])
    assert seen[0][0] > 3 * 240 > 3 * 40 > seen[1][0]
    assert seen[1][1] > seen[0][1]


def test_it_prints_in_light_colours_with_the_name_of_the_group(browser: Browser) -> None:
    browser.press("ArrowRight")
    browser.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    assert browser.run("document.querySelector('#name').innerText") == "subject s1"
    assert browser.run("document.querySelector('#name').offsetHeight") > 10
    assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert browser.run("document.querySelector('#next').offsetHeight") == 0
    browser.call("Emulation.setEmulatedMedia", media="")
    assert base64.b64decode(browser.call("Page.printToPDF")["data"]).startswith(b"%PDF")


def test_without_scripts_the_table_is_there_and_says_why_there_is_no_picture(
    browser: Browser, made: tuple[Report, pathlib.Path]
) -> None:
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(made[1])
        assert browser.run("document.querySelectorAll('#groups tbody tr').length") == GROUPS
        assert browser.run("document.querySelector('noscript').offsetHeight") > 0
        assert browser.run("document.querySelector('.tools').offsetHeight") == 0
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)


# --- other content --------------------------------------------------------------------------------------------------------


def test_evil_names_are_shown_as_they_are_and_linked(started: Browser, tmp_path: pathlib.Path) -> None:
    names = [*EVIL, "50% + 1", "wide" * 60]
    frame = pd.DataFrame({"<b>&=": np.repeat(names, 3), "outcome": np.arange(3.0 * len(names))})
    page = written(tmp_path, report(order(tmp_path, frame, GAUSSIAN, [MERGE], by=("<b>&=",))))
    started.look(375, 740, phone=True)
    started.open(page)
    for i, name in enumerate(names):
        assert shown_group(started) == f"<b>&= {name}"
        address = started.run("location.hash")
        if i:
            started.open(page, address)
            assert shown_group(started) == f"<b>&= {name}"
        assert started.run("document.documentElement.scrollWidth") == 375
        started.run("document.querySelector('#next').click()")
    assert started.run("document.querySelectorAll('img, b').length") == 0
    assert started.problems == []


@pytest.mark.parametrize("kind", ["short", "categorical", "vector", "exponential", "no-groups", "few-measures"])
def test_every_kind_of_table_is_drawn(started: Browser, tmp_path: pathlib.Path, kind: str) -> None:
    rng, more, family = np.random.default_rng(6), {}, GAUSSIAN
    frame = pd.DataFrame({"subject": np.repeat(["a", "b"], 20), "outcome": rng.exponential(size=40)})
    strips = 1
    if kind == "short":
        frame = pd.DataFrame({"subject": ["one", "gaps", "gaps"], "outcome": [2.0, np.nan, np.nan]})
    elif kind == "categorical":
        frame["outcome"], more, family, strips = (
            rng.choice(["x", "y", "z"], 40),
            {"categories": ("x", "y", "z")},
            "categorical:k=3",
            3,
        )
        frame["prediction"] = "x"
    elif kind == "vector":
        family = "multivariate-gaussian:covariance=[[1,0],[0,1]],mu_0=[0,0],covariance_0=[[4,0],[0,4]]"
        frame["other"], more, strips = rng.normal(size=40), {"outcome": ("outcome", "other")}, 2
    elif kind == "exponential":
        family, strips = "exponential:shape=2,rate=1", 2
    elif kind == "no-groups":
        frame = frame.drop(columns="subject")
    else:
        more = {"measures": ("shannon_surprise",)}
    content = report(order(tmp_path, frame, family, [MERGE], **more))
    started.look(1280, 800)
    started.open(written(tmp_path, content))
    panels = started.run("[...document.querySelectorAll('#frame .title')].map(t => t.firstChild.textContent)")
    surprise = ["Shannon surprise"] if kind == "few-measures" else ["log Bayes Factor surprise", "adaptation rate γ"]
    assert panels == [*(strip["title"] for strip in content.data["strips"]), "probability of a change", *surprise]
    assert len(content.data["strips"]) == strips
    for group in content.data["groups"]:
        drawn = sum(len(points(path)) for path in paths(started, ".dots"))
        assert drawn == sum(int(np.isfinite(decoded(array)).sum()) for array in group["outcomes"])
        started.press("ArrowRight")
    svg: Any = started.run("document.querySelector('#frame svg').outerHTML")
    assert "NaN" not in svg
    assert "Infinity" not in svg
    assert started.problems == []


def test_a_long_group_is_drawn_with_few_points(started: Browser, tmp_path: pathlib.Path) -> None:
    rng = np.random.default_rng(7)
    frame = pd.DataFrame({"outcome": rng.normal(size=100_000)})
    frame.loc[54_321, "outcome"] = 40.0
    started.look(1280, 800)
    started.open(written(tmp_path, report(order(tmp_path, frame, GAUSSIAN, [VARSMILE]))))
    line, dots = paths(started, ".line.thin")[0], points(paths(started, ".dots")[0])
    assert len(line) < 200_000
    tip = points(line)[points(line)[:, 1].argmin()]  # the one that sticks out is kept, and stands at its trial
    first, last = dots[:, 0].min(), dots[:, 0].max()
    assert tip[0] == pytest.approx(first + (last - first) * 54_321 / 99_999, abs=1.0)
    assert started.problems == []
