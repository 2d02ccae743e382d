"""Descriptions of what users import: every parameter, what is returned, what is raised, an example that runs.

(Families and learners: tests/contracts/test_docstrings.py.)
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import sys

import pytest

import volatilis as vl
from tests.helpers.paths import DOCS

sys.path.insert(0, str(DOCS))
apidoc = importlib.import_module("apidoc")

FUNCTIONS = ("cache_directory", "compiled_function", "plain_python", "python_only", "run", "run_many")
CLASSES = ("Belief", "ChangingEnvironment")
METHODS = [(vl.ChangingEnvironment, "sample"), (vl.ChangingEnvironment, "pieces"), (vl.Belief, "pdf"), (vl.Belief, "sample")]


@pytest.mark.parametrize("value", [*(getattr(vl, name) for name in FUNCTIONS), *(getattr(c, n) for c, n in METHODS)])
def test_a_function_says_what_it_takes_returns_and_raises(value: object) -> None:
    text = inspect.getdoc(value) or ""
    described = apidoc.described(text)
    given = [name for name in inspect.signature(value).parameters if name != "self"]  # type: ignore[arg-type]
    assert [name for name in given if name not in described.parameters()] == []
    assert "Returns" in text
    assert "Raises" in text or "raises" in text


@pytest.mark.parametrize("name", [*FUNCTIONS, *CLASSES])
def test_the_example_runs(name: str) -> None:
    value = getattr(vl, name)
    value = getattr(value, "__wrapped__", value)
    examples = doctest.DocTestFinder(recurse=False).find(value, name, globs={}, module=sys.modules[value.__module__])
    with vl.plain_python():  # the same bits as compiled code, without waiting for the compiler
        result = doctest.DocTestRunner().run(examples[0])
    assert result.attempted >= 2
    assert result.failed == 0


def test_every_public_thing_has_a_description() -> None:
    """Its first sentence stands in the reference's list."""
    assert [one.name for one in apidoc.public() if not inspect.getdoc(one.value)] == []
