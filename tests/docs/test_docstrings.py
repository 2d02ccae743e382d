"""Descriptions of what users import: every parameter, what is returned, what is raised, an example that runs.

All names of `volatilis` and their public methods. (Families and learners: tests/contracts/test_docstrings.py.)
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import inspect
import re
import sys
from typing import Any

import pytest

import volatilis as vl
from tests.helpers.paths import DOCS
from volatilis import families, learners

sys.path.insert(0, str(DOCS))
apidoc = importlib.import_module("apidoc")

COMBINED = {record.cls for record in (*families.records(), *learners.records())}  # they have a test of their own
PUBLIC = {name: getattr(vl, name) for name in vl.__all__ if callable(getattr(vl, name)) and getattr(vl, name) not in COMBINED}
FUNCTIONS = [name for name, value in PUBLIC.items() if not inspect.isclass(value)]
CLASSES = [name for name, value in PUBLIC.items() if inspect.isclass(value) and not issubclass(value, Exception)]
METHODS = [(name, method) for name in CLASSES for method, _ in apidoc.members(PUBLIC[name])]
LONG = ("calibrate", "check", "check_many", "Check", "estimate")  # examples with thousands of steps: compiled


def test_nothing_is_left_out() -> None:
    assert {"run", "changes", "estimate", "calibrate", "check", "family"} <= set(FUNCTIONS)
    assert {"Stream", "Trace", "Changes", "Environment", "AlarmRule"} <= set(CLASSES)
    assert len(METHODS) > 40


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_says_what_it_takes_returns_and_raises(name: str) -> None:
    text = inspect.getdoc(PUBLIC[name]) or ""
    described = apidoc.described(text).parameters()
    assert [one for one in inspect.signature(PUBLIC[name]).parameters if one.lstrip("*") not in described] == []
    assert "Returns" in text
    assert "Raises" in text or "raises" in text


@pytest.mark.parametrize("name", [name for name in CLASSES if name not in apidoc.RESULTS])
def test_a_class_says_what_it_takes(name: str) -> None:
    described = apidoc.described(inspect.getdoc(PUBLIC[name]) or "").parameters()
    assert [one for one in inspect.signature(PUBLIC[name]).parameters if one not in described] == []


@pytest.mark.parametrize(("name", "method"), METHODS)
def test_a_method_says_what_it_does_with_what_it_takes(name: str, method: str) -> None:
    value: Any = inspect.getattr_static(PUBLIC[name], method)
    text = inspect.getdoc(getattr(PUBLIC[name], method)) or ""
    taken = [] if isinstance(value, property) else list(inspect.signature(getattr(PUBLIC[name], method)).parameters)
    assert text
    assert [one for one in taken if one != "self" and not re.search(rf"\b{one}\b", text)] == []


@pytest.mark.parametrize("name", [*FUNCTIONS, *CLASSES])
def test_the_example_runs(name: str) -> None:
    value = getattr(PUBLIC[name], "__wrapped__", PUBLIC[name])
    examples = doctest.DocTestFinder(recurse=False).find(value, name, globs={}, module=sys.modules[value.__module__])
    # plain Python gives the same bits as compiled code, without waiting for the compiler
    with contextlib.nullcontext() if name in LONG else vl.plain_python():
        result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples[0])
    assert result.attempted >= 2
    assert result.failed == 0


def test_examples_of_methods_run() -> None:
    ran = 0
    for name, method in METHODS:
        value: Any = getattr(PUBLIC[name], method)
        if inspect.isfunction(value):
            for example in doctest.DocTestFinder(recurse=False).find(value, f"{name}.{method}", globs={}):
                with vl.plain_python():
                    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example)
                assert result.failed == 0, f"{name}.{method}"
                ran += result.attempted
    assert ran >= 4


def test_every_public_thing_has_a_description() -> None:
    """Its first sentence stands in the reference's list."""
    assert [one.name for one in apidoc.public() if not inspect.getdoc(one.value)] == []
