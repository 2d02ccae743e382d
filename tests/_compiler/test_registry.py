"""Mistakes in a family that are refused when the class is defined; the names that are reserved."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

import volatilis as vl
from tests.helpers.paths import HOW_TO
from volatilis._compiler.registry import compiled_methods

# --- mistakes in a family ----------------------------------------------------------------------------------------------


def test_a_method_that_raises_is_refused_at_definition() -> None:
    with pytest.raises(TypeError, match=r"Raises\.absorb raises an exception.*python_only"):

        @vl.family
        class Raises(NamedTuple):
            rate: float

            def absorb(self, beliefs: Any, i: int, y: Any) -> None:
                if y < 0.0:
                    raise ValueError("negative")


def test_a_method_with_the_name_of_a_tuples_is_refused_at_definition() -> None:
    for name in ("count", "index"):
        cls = type("Counts", (tuple,), {"_fields": ("rate",), name: lambda self, x: x})
        with pytest.raises(TypeError, match=f"Counts.*{name}"):
            compiled_methods(cls)


def test_a_field_named_like_a_method_is_refused_at_definition() -> None:
    assert vl.Leaky.__name__  # methods are known once their module is imported
    for field in ("mean", "variance", "update", "rows"):
        with pytest.raises(TypeError, match=f"Fields.*field.*{field!r}"):
            vl.family(NamedTuple("Fields", [(field, float)]))  # type: ignore[misc]


def test_a_method_named_like_a_field_is_refused_at_definition() -> None:
    with pytest.raises(TypeError, match=r"Methods.*'sigma'.*field"):

        @vl.family
        class Methods(NamedTuple):
            rate: float

            def sigma(self) -> float:
                return self.rate


def test_a_method_with_other_arguments_is_refused_at_definition() -> None:
    with pytest.raises(TypeError, match=r"Arguments\.absorb"):

        @vl.family
        class Arguments(NamedTuple):
            rate: float

            def absorb(self, beliefs: Any, y: Any) -> None:
                pass


def test_a_scalar_family_that_lacks_something_says_what() -> None:
    with pytest.raises(TypeError, match=r"Lacking lacks .*log_normalizer"):

        @vl.scalar_family
        class Lacking(NamedTuple):
            rate: float

            def prior_chi(self, row: int) -> float:
                return self.rate


def test_the_page_on_own_families_names_every_compiled_method() -> None:
    """They are reserved: no field may be called so."""
    import re

    from volatilis import surprise
    from volatilis._compiler import registry

    assert surprise.__name__  # classes are known once their module is imported
    page = (HOW_TO / "own-family.md").read_text(encoding="utf-8")
    reserved = page.split("## Reserved names")[1].split("once a scalar family exists")[0]
    ours = [cls for name, cls in registry.classes.items() if name.startswith(("volatilis.families", "volatilis.learners"))]
    ours += [cls for name, cls in registry.classes.items() if name.startswith("volatilis.surprise")]
    methods = {name for cls in ours for name in vars(cls) if name in registry.method_signatures}
    assert set(re.findall(r"`(\w+)`", reserved)) == methods
