"""The house as CONTRIBUTING.md describes it."""

from __future__ import annotations

from tests.helpers.paths import ROOT

MOST_LINES = 300


def test_no_source_file_is_too_long_to_be_read_at_once() -> None:
    lines = {path.relative_to(ROOT): len(path.read_text(encoding="utf-8").splitlines()) for path in (ROOT / "src").rglob("*.py")}
    assert len(lines) > 100
    assert {str(path): count for path, count in lines.items() if count > MOST_LINES} == {}
