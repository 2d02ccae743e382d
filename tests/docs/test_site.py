"""The documentation site builds without a warning; its links lead somewhere, its pictures have words, and it fetches nothing."""

from __future__ import annotations

import importlib
import pathlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from urllib.parse import unquote

import pytest

from tests.helpers.browser import BROWSER, Browser
from tests.helpers.paths import DOCS, ROOT
from tests.html.explorer.test_page import axe_source

pytest.importorskip("myst_parser", reason="the site needs the extra docs: pip install '.[docs]'")
pytest.importorskip("pydata_sphinx_theme", reason="the site needs the extra docs: pip install '.[docs]'")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Built from a copy, since the reference is written beside the pages."""
    root = tmp_path_factory.mktemp("site")
    left_out = shutil.ignore_patterns("__pycache__", "api", "commands")
    shutil.copytree(DOCS, root / "docs", ignore=left_out)
    for name in ("CONTRIBUTING.md", "CHANGELOG.md", "README.md", "CITATION.cff"):
        shutil.copy(ROOT / name, root / name)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "docs", "out"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (root / "out" / "explorer").mkdir()
    (root / "out" / "explorer" / "index.html").write_text("made by make explorer")
    return root / "out"


def pages(site: pathlib.Path) -> Iterator[tuple[pathlib.Path, str]]:
    for path in sorted(site.rglob("*.html")):
        yield path, path.read_text(encoding="utf-8")


def test_every_link_leads_somewhere(site: pathlib.Path) -> None:
    texts = dict(pages(site))
    names = {path: set(re.findall(r'\bid="([^"]+)"', text)) for path, text in texts.items()}
    dead = []
    for path, text in texts.items():
        for target in re.findall(r'<a\b[^>]*?\bhref="([^"]*)"', text):
            if re.match(r"[a-z]+:", target) or not target:
                continue
            file, _, anchor = target.partition("#")
            where = (path.parent / unquote(file)).resolve() if file else path
            if not where.is_file() or (anchor and where in names and unquote(anchor) not in names[where]):
                dead.append(f"{path.relative_to(site)}: {target}")
    assert dead == []


def test_nothing_is_fetched_and_pictures_have_words(site: pathlib.Path) -> None:
    for path, text in pages(site):
        for kind, target in re.findall(r'<(script|link|img|iframe)\b[^>]*?\b(?:src|href)="([^"]+)"', text):
            assert not target.startswith(("http:", "https:", "//")) or kind == "link", f"{path.name}: {target}"
            assert kind != "link" or not target.startswith("//"), f"{path.name}: {target}"
        for image in re.findall(r"<img\b[^>]*>", text):
            assert re.search(r'\balt="[^"]{8,}"', image), f"{path.name}: {image}"


def test_the_reference_has_every_name_and_command(site: pathlib.Path) -> None:
    import volatilis
    from volatilis import cli

    sys.path.insert(0, str(DOCS))
    page_of = importlib.import_module("apidoc").page_of
    for name in (name for name in volatilis.__all__ if callable(getattr(volatilis, name))):
        assert f'id="volatilis.{name}"' in (site / "reference" / "api" / f"{page_of(name)}.html").read_text(encoding="utf-8")
    for command in cli.app.registered_commands:
        name = command.name or command.callback.__name__.replace("_", "-")  # type: ignore[union-attr]
        assert f"volatilis {name}" in (site / "reference" / "commands" / f"{name}.html").read_text(encoding="utf-8")


def test_no_two_files_differ_by_capitals_alone(site: pathlib.Path) -> None:
    """Else one would be lost on a file system that does not tell them apart."""
    names = [str(path.relative_to(site)).lower() for path in site.rglob("*")]
    assert len(names) == len(set(names))


def test_one_can_search_and_explore(site: pathlib.Path) -> None:
    assert "merge" in (site / "searchindex.js").read_text(encoding="utf-8")
    assert 'href="explorer/index.html"' in (site / "index.html").read_text(encoding="utf-8")
    assert 'href="explorer/index.html"' in (site / "explorer.html").read_text(encoding="utf-8")
    assert "moving.svg" in (site / "index.html").read_text(encoding="utf-8")


def test_search_finds_from_a_file(site: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Opened from a disk, without a server: results come, and nothing complains."""
    if BROWSER is None:
        pytest.skip("needs Chromium")
    with Browser(tmp_path) as browser:
        browser.open(site / "search.html", "?q=DriftDetector")
        found = browser.run(
            """new Promise((done) => { const look = () => { const links = [...document.querySelectorAll('#search-results li a')];
            if (/finished/i.test(document.getElementById('search-results').textContent)) done(links.map((a) => a.textContent));
            else setTimeout(look, 50); }; look(); })"""
        )
        assert "DriftDetector" in found
        assert browser.problems == []
        assert [one for one in browser.requests if not one.startswith(("file:", "data:", "about:"))] == []


PAGES = ("index", "reference/commands/run", "results/claims", "theory/model")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_and_is_accessible(site: pathlib.Path, tmp_path: pathlib.Path, name: str, dark: bool) -> None:
    """Not wider than a phone; axe-core finds nothing serious."""
    axe = axe_source()
    if BROWSER is None or axe is None:
        pytest.skip("needs Chromium, and axe-core: npm install --prefix .node axe-core")
    with Browser(tmp_path) as browser:
        browser.look(390, 844, dark, phone=True)
        browser.open(site / f"{name}.html")
        assert browser.run("document.documentElement.scrollWidth <= innerWidth")
        browser.look(1280, 900, dark)
        browser.call("Runtime.evaluate", expression=axe)
        violations = browser.run(
            "new Promise((done) => setTimeout(done, 300)).then(() => axe.run(document, { resultTypes: ['violations'] }))"
            ".then((r) => r.violations.map((v) => [v.id, v.impact, v.nodes[0].html.slice(0, 200)]))"
        )
    assert [one for one in violations if one[1] in ("serious", "critical")] == []
