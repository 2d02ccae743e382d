"""What docs/generate.py writes from the records is up to date, and one name has one range wherever it stands."""

from __future__ import annotations

import runpy

from tests.helpers.paths import DOCS
from volatilis import families, learners
from volatilis._core.records import parameters_of
from volatilis.behaviour.responses.registry import RESPONSES, Habits


def test_reference_pages_and_names_are_up_to_date() -> None:
    for path, text in runpy.run_path(str(DOCS / "generate.py"))["generated"]().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} is out of date: python docs/generate.py"


def test_one_range_per_parameter() -> None:
    """A name that two records share is one parameter of a fit, so both say the same range."""
    known: dict[str, object] = {}
    records = [one.parameters for one in (*learners.records(), *families.records())]
    for parameters in [*records, *map(parameters_of, (*RESPONSES.values(), Habits))]:
        for one in parameters:
            if one.search is not None:
                assert known.setdefault(one.name, one.search) == one.search, one.name
    assert len(known) > 20


def test_what_is_tuned_has_a_range() -> None:
    tuned = [one for one in learners.records() if one.tuned is not None]
    assert len(tuned) >= 7
    assert all(any(p.name == one.tuned and p.search is not None for p in one.parameters) for one in tuned)
