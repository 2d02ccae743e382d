"""Fixtures of all tests, and the marker of those that every supported version of Python and of the dependencies must pass.

Plain helpers are in tests/helpers: paths and published data, commands in this process or in one of their own, the families
with their oracles, exact tables, a Dask cluster, a browser.
"""

from __future__ import annotations

import os
import pathlib
import sys
from collections.abc import Iterator

import pytest

from tests.helpers.workshop import OwnCache, Workshop
from tests.versions import CORE

os.environ.setdefault("MPLBACKEND", "Agg")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    folder = pathlib.Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(folder) and item.path.relative_to(folder).parts[0] in CORE:
            item.add_marker(pytest.mark.core)


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def workshop(tmp_path: pathlib.Path) -> Workshop:
    """Processes with a cache of their own, which is empty."""
    return Workshop(tmp_path / "work")


@pytest.fixture
def own_cache(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> OwnCache:
    """A cache on disk for this process and test alone, which is empty."""
    return OwnCache(tmp_path / "cache", monkeypatch)


@pytest.fixture(scope="session")
def small_kernel(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The file of the small example's kernel, compiled once."""
    with pytest.MonkeyPatch.context() as patch:
        cache = OwnCache(tmp_path_factory.mktemp("small") / "cache", patch)
        assert cache.compiles_small()
        (kernel,) = cache.kernels()
    return kernel
