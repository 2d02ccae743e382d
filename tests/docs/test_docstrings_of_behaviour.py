"""Descriptions of `volatilis.behaviour`: parameters, what is returned and raised; every name is used in an example that runs."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pathlib
import re
import subprocess
import sys
from typing import Any

import pytest

import volatilis as vl
from tests.helpers.paths import DOCS
from volatilis import behaviour

sys.path.insert(0, str(DOCS))
apidoc = importlib.import_module("apidoc")


def is_own(name: str) -> bool:
    """Not a type for fields, such as Positive, nor what belongs to another room."""
    return str(getattr(getattr(behaviour, name), "__module__", "")).startswith("volatilis.behaviour")


OWN: dict[str, Any] = {name: getattr(behaviour, name) for name in behaviour.__all__ if is_own(name)}
FUNCTIONS = [name for name, value in OWN.items() if not inspect.isclass(value)]
CLASSES = [name for name, value in OWN.items() if inspect.isclass(value) and name != "ResponseModel"]  # a protocol: not made
EXAMPLES = [name for name, value in OWN.items() if ">>>" in (inspect.getdoc(value) or "")]
# What functions return, and nobody makes: seen in the example of the function
RETURNED = (
    *("Comparison", "Failure", "Fit", "Group", "Moment", "People", "Person", "PredictResult", "Recovery", "Selection", "Trials"),
)


def test_nothing_is_left_out() -> None:
    assert {"fit", "fit_all", "compare", "recover", "simulate", "predict", "power"} <= set(FUNCTIONS)
    assert {"Model", "Source", "GaussianNoise", "Softmax", "Setting"} <= set(CLASSES)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_says_what_it_takes_returns_and_raises(name: str) -> None:
    text = inspect.getdoc(OWN[name]) or ""
    described = apidoc.described(text).parameters()
    assert [one for one in inspect.signature(OWN[name]).parameters if one not in described] == []
    assert "Returns" in text
    assert "aises" in text


@pytest.mark.parametrize("name", [name for name in CLASSES if name not in RETURNED])
def test_a_class_says_what_it_takes(name: str) -> None:
    described = apidoc.described(inspect.getdoc(OWN[name]) or "").parameters()
    assert [one for one in inspect.signature(OWN[name]).parameters if one not in described] == []


def test_every_name_is_used_in_an_example() -> None:
    texts = [example.source for name in EXAMPLES for example in doctest.DocTestParser().get_examples(inspect.getdoc(OWN[name]))]
    used = set(re.findall(r"\w+", " ".join(texts)))
    assert [name for name in OWN if name not in used and name not in RETURNED and name != "ResponseModel"] == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """With the table that examples read."""
    place = tmp_path_factory.mktemp("examples")
    subprocess.run([sys.executable, DOCS / "how-to" / "people.py"], cwd=place, check=True)
    return place


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_runs(name: str, folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (example,) = doctest.DocTestFinder(recurse=False).find(OWN[name], name, globs={}, module=sys.modules[OWN[name].__module__])
    if "people.csv" in (inspect.getdoc(OWN[name]) or ""):
        result = doctest.DocTestRunner().run(example)
    else:  # short: plain Python gives the same bits without waiting for the compiler
        with vl.plain_python():
            result = doctest.DocTestRunner().run(example)
    assert result.attempted >= 2
    assert result.failed == 0
