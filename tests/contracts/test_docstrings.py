"""The descriptions of families and learners name every parameter, and their examples run."""

from __future__ import annotations

import doctest
import inspect
import sys

import pytest

from volatilis import families, learners, plain_python

CLASSES = [record.cls for record in (*families.records(), *learners.records())]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_parameter_is_described(cls: type) -> None:
    text = inspect.getdoc(cls) or ""
    for name in inspect.signature(cls).parameters:
        assert f"\n    {name} " in text, name


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_the_example_runs(cls: type) -> None:
    examples = doctest.DocTestFinder(recurse=False).find(cls, globs={}, module=sys.modules[cls.__module__])
    with plain_python():  # the same bits as compiled code, without waiting for the compiler
        result = doctest.DocTestRunner().run(examples[0])
    assert result.attempted >= 2
    assert result.failed == 0
