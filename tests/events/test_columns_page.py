"""The page that defines every column says what the code says."""

from __future__ import annotations

import re

import pytest

import volatilis as vl
from tests.helpers.paths import DOCS
from volatilis.events.formats import FORMULAS, LONG_NAMES, PAPER
from volatilis.trials import MEASURES

PAGE = (DOCS / "reference" / "columns.md").read_text()


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_has_its_units_time_and_section(name: str) -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| [`{name}`]"))
    _, _, _, units, time, _, _ = (cell.strip() for cell in row.split("|"))
    assert units == MEASURES[name].units
    assert time == {"before": "the outcome, under the belief before it", "after": "after the outcome"}[MEASURES[name].of]
    assert f"\n### {name}\n" in PAGE


def test_the_sidecar_knows_every_measure() -> None:
    assert FORMULAS.keys() == MEASURES.keys() == LONG_NAMES.keys()


def test_the_version_and_the_paper_to_cite() -> None:
    assert f"volatilis (version {vl.__version__})" in PAGE
    assert PAPER in PAGE.replace("*", "")


@pytest.mark.parametrize("page", ["reference/columns.md", "how-to/helicopter-events.md"])
def test_links_lead_somewhere(page: str) -> None:
    own = DOCS / page
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", own.read_text()):
        assert (own.parent / target).exists(), target
    index = (own.parent / "index.md").read_text()  # lists its pages by name, or all of its folder
    assert own.stem in index or "\n*\n" in index
