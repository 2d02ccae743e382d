"""A workshop for each test that asks for one."""

from __future__ import annotations

import pathlib

import pytest

from .workshop import Workshop


@pytest.fixture
def workshop(tmp_path: pathlib.Path) -> Workshop:
    return Workshop(tmp_path / "work")
