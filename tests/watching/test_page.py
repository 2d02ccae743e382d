"""docs/how-to/sensor-stream.md: its commands give the output that it shows."""

from __future__ import annotations

import itertools
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

from tests.helpers.paths import HOW_TO

PAGE = HOW_TO / "sensor-stream.md"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
WAIT = 'until [ "$(cat estimates.jsonl 2> /dev/null | wc -l)" = 2000 ]; do sleep 0.1; done'


def shown_outputs(text: str) -> list[tuple[str, str]]:
    """Each command block that a block without a language follows, and that block."""
    blocks = [match.groups() for match in BLOCK.finditer(text)]
    return [(code, output) for (kind, code), (after, output) in itertools.pairwise(blocks) if (kind, after) == ("sh", "")]


@pytest.mark.skipif(shutil.which("bash") is None, reason="the page is written for a shell")
def test_the_page_shows_what_its_commands_print(tmp_path: pathlib.Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    (tmp_path / "sensors.py").write_text(next(code for kind, code in BLOCK.findall(text) if kind == "python"))
    commands = {"volatilis": "-c 'from volatilis.cli import main; main()'", "python": ""}
    for name, arguments in commands.items():
        (tmp_path / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n')
        (tmp_path / name).chmod(0o755)
    pairs = shown_outputs(text)
    assert len(pairs) == 10
    assert sum("sleep 8" in code for code, _ in pairs) == 1
    script = "PATH=.:$PATH\n" + "echo @@@\n".join(code.replace("sleep 8", WAIT) for code, _ in pairs)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
        check=False,
    )
    printed = re.sub(r"^.* Killed .*\n", "", done.stdout, flags=re.MULTILINE).split("@@@\n")
    for (code, expected), found in zip(pairs, printed, strict=True):
        assert NUMBER.sub("#", found) == NUMBER.sub("#", expected), code
        np.testing.assert_allclose([*map(float, NUMBER.findall(found))], [*map(float, NUMBER.findall(expected))], rtol=1e-9)
