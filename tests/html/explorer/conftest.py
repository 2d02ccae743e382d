"""One page and one browser for all tests of the explorer."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import pytest

from tests.helpers.browser import BROWSER, Browser
from tests.html.explorer.page import Explorer
from volatilis._compiler import wasm


@pytest.fixture(scope="session")
def explorer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Explorer]:
    if BROWSER is None:
        pytest.skip("no Chromium here: apt-get install chromium")
    if wasm.linker() is None:
        pytest.skip("no wasm-ld here: apt-get install lld")
    from volatilis.html.explorer import page

    folder = tmp_path_factory.mktemp("explorer")
    file: pathlib.Path = folder / "index.html"
    file.write_text(page(), encoding="utf-8")
    with Browser(folder / "profile") as browser:
        shared = Explorer(browser, file)
        shared.open()
        yield shared
