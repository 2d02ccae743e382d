"""The house as CONTRIBUTING.md describes it."""

from __future__ import annotations

import tomllib

from tests.helpers.paths import ROOT

MOST_LINES = 300
PACKAGE = ROOT / "src" / "volatilis"


def test_no_source_file_is_too_long_to_be_read_at_once() -> None:
    lines = {path.relative_to(ROOT): len(path.read_text(encoding="utf-8").splitlines()) for path in (ROOT / "src").rglob("*.py")}
    assert len(lines) > 100
    assert {str(path): count for path, count in lines.items() if count > MOST_LINES} == {}


def test_every_room_has_a_layer_and_stands_in_the_readme_and_in_the_layout() -> None:
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    modules = {path.name for path in PACKAGE.glob("*.py") if not path.name.startswith("__")}
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"][0]
    layers = {name.strip() for layer in contract["layers"] for name in layer.split("|")}
    assert layers == rooms | {name.removesuffix(".py") for name in modules}
    for page, heading in (("README.md", "## What is where"), ("CONTRIBUTING.md", "## Layout")):
        section = (ROOT / page).read_text(encoding="utf-8").split(heading)[1].split("\n## ")[0]
        assert [name for name in sorted({f"{room}/" for room in rooms} | modules) if name not in section] == [], page
