"""What `from volatilis.behaviour import ...` offers, and that asking for it costs no more than what is used."""

from __future__ import annotations

import ast
import importlib
import pathlib
import subprocess
import sys

import pytest

from volatilis import behaviour


def test_everything_that_is_named_is_there() -> None:
    for name in behaviour.__all__:
        value = getattr(behaviour, name)
        assert getattr(importlib.import_module(f"volatilis.behaviour.{behaviour._PLACES[name]}"), name) is value
    assert set(behaviour.__all__) <= set(dir(behaviour))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        behaviour.nothing  # noqa: B018


def test_type_checkers_see_the_same_names() -> None:
    stub = ast.parse(pathlib.Path(str(behaviour.__file__) + "i").read_text())
    places = {alias.name: str(node.module) for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert places == {name: f"volatilis.behaviour.{module}" for name, module in behaviour._PLACES.items()}


def test_the_import_alone_loads_nothing_heavy() -> None:
    heavy = ("numpy", "scipy", "pandas", "matplotlib", "numba", "pyarrow", "xarray", "rich")
    program = f"import sys, volatilis.behaviour; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout == "[]\n"
