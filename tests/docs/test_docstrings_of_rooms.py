"""Descriptions of the rooms that pages use beside `volatilis` itself: tables, what they tell apart, other packages' habits."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pathlib
import sys

import pytest

import volatilis as vl
from tests.helpers.paths import DOCS

pytest.importorskip("river", reason="DriftDetector needs river: pip install 'volatilis[adapters]'")
sys.path.insert(0, str(DOCS))
apidoc = importlib.import_module("apidoc")
ROOMS = ("volatilis.trials", "volatilis.separation", "volatilis.adapters")
PUBLIC = {one.name: one.value for one in apidoc.public() if one.module in ROOMS}
FUNCTIONS = [name for name, value in PUBLIC.items() if not inspect.isclass(value)]
CLASSES = ("ChangePointDetector", "DriftDetector", "Result", "RunRequest", "RunSummary", "SeparateRequest", "Separation")
EXAMPLES = [name for name, value in PUBLIC.items() if ">>>" in (inspect.getdoc(value) or "")]


def test_nothing_is_left_out() -> None:
    assert {"run_table", "compute", "separate", "advice", "verdict"} == set(FUNCTIONS)
    assert set(CLASSES) <= set(PUBLIC)
    assert {"run_table", "compute", "separate", "ChangePointDetector", "DriftDetector"} == set(EXAMPLES)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_says_what_it_takes_returns_and_raises(name: str) -> None:
    text = inspect.getdoc(PUBLIC[name]) or ""
    described = apidoc.described(text).parameters()
    assert [one for one in inspect.signature(PUBLIC[name]).parameters if one not in described] == []
    assert "Returns" in text
    assert "Raises" in text


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_says_what_it_takes(name: str) -> None:
    described = apidoc.described(inspect.getdoc(PUBLIC[name]) or "").parameters()
    assert [one for one in inspect.signature(PUBLIC[name]).parameters if one not in described] == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_runs(name: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = doctest.DocTestFinder(recurse=False).find(PUBLIC[name], name, globs={}, module=sys.modules[PUBLIC[name].__module__])
    with vl.plain_python():  # the same bits without waiting for the compiler
        result = doctest.DocTestRunner().run(found[0])
    assert result.attempted >= 2
    assert result.failed == 0
