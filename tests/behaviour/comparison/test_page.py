"""What docs/how-to/compare.md shows is what its commands say."""

from __future__ import annotations

import pathlib
import runpy
import shlex
import sys

import pytest

from tests.helpers.command_line import volatilis
from tests.helpers.paths import HOW_TO


def commands() -> dict[tuple[str, str], tuple[list[str], list[str]]]:
    """The words of each command of the page and the lines shown below it, by command and table."""
    blocks, found = (HOW_TO / "compare.md").read_text().split("```"), {}
    for block, below in zip(blocks[1::2], blocks[3::2], strict=False):
        for line in block.replace("\\\n", "").split("\n"):
            if line.startswith("volatilis "):
                words = shlex.split(line)[1:]
                found[words[0], words[1]] = words, below.strip("\n").split("\n")
    return found


@pytest.mark.parametrize("which", [("compare", "trials.csv"), ("recover", "short.csv")], ids=lambda which: which[0])
def test_the_page_shows_what_its_commands_say(
    which: tuple[str, str], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert set(commands()) == {("compare", "trials.csv"), ("recover", "trials.csv"), ("recover", "short.csv")}
    words, shown = commands()[which]
    monkeypatch.setattr(sys, "argv", ["mixed_people.py", which[1], "80" if which[1] == "trials.csv" else "15"])
    runpy.run_path(str(HOW_TO / "mixed_people.py"))
    done = volatilis(*words, "--workers", "1")
    assert done.exit_code == 0, done.stderr
    said = [line.rstrip() for line in done.stdout.split("\n")]
    assert [line for line in shown if line not in said] == []
    assert len(shown) > 10
