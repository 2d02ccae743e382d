"""What docs/how-to/fit.md shows is what its commands say, and the example of one's own response model runs."""

from __future__ import annotations

import pathlib
import runpy
import shlex

import pytest

from tests.helpers.command_line import volatilis
from tests.helpers.paths import DOCS, HOW_TO


def commands() -> list[tuple[list[str], list[str]]]:
    """The words of each `volatilis fit` of the page, and the lines below it."""
    found = []
    for block in (HOW_TO / "fit.md").read_text().split("```")[1::2]:
        if "$ volatilis fit" in block:
            command, _, shown = block.strip().replace("\\\n", "").partition("\n")
            found.append((shlex.split(command)[2:], shown.split("\n")))
    return found


def test_the_page_shows_what_its_commands_say(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(HOW_TO / "people.py"))
    assert len(commands()) == 3
    for words, shown in commands():
        done = volatilis(*words, "--workers", "1")
        assert done.exit_code == 0, done.stderr
        said = [line.rstrip() for line in done.stderr.split("\n") if line.strip() and not line.startswith("fits: ")]  # progress
        assert said == [line for line in shown if line.strip()]


def test_the_response_model_of_the_page(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(HOW_TO / "people.py"))
    source = (HOW_TO / "careful.py").read_text()
    assert source.split("\n\n\n")[1].strip() in (DOCS / "reference" / "responses.md").read_text()
    words = [
        "--family",
        "gaussian:sigma=10,mu_0=150,sigma_0=50",
        "--learner",
        "varsmile:m=free",
        "--workers",
        "1",
        "--starts",
        "2",
    ]
    careful = ["--own", str(HOW_TO / "careful.py"), "--response", "careful:sd=free,care=free"]
    done = volatilis("fit", "people.csv", *words, *careful)
    assert done.exit_code == 0, done.stderr
    assert "care is at its bound" in done.stderr
