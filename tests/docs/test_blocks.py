"""Every Python block and every shell block of README and documentation runs, page by page, in the order in which it stands.

A page's blocks share one folder and one namespace. What a block needs, what it is run with instead, and what is not run stand in
comments of the page's source (pages.py).
"""

from __future__ import annotations

import collections
import json
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.docs import workshop
from tests.docs.pages import with_blocks
from tests.helpers.paths import DOCS, ROOT

# Pages whose blocks another test runs, and compares what they print
ELSEWHERE = {
    "docs/how-to/sensor-stream.md": "tests/watching/test_page.py",
}
PAGES = with_blocks()


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The place where commands are served, by a process that has imported everything."""
    place = str(tmp_path_factory.mktemp("docs") / "door")
    path = os.pathsep.join(filter(None, [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, "PYTHONPATH": path, "MPLBACKEND": "Agg"}
    command = [sys.executable, "-m", "tests.docs.workshop", place]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        assert server.stdout.readline() == "ready\n"
        yield place
        server.stdin.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.parametrize("name", [one for one in PAGES if one not in ELSEWHERE])
def test_the_blocks_of_a_page_run(name: str, door: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / "docs").symlink_to(DOCS)
    for command in ("volatilis", "python"):
        text = f'#!/bin/sh\nexec "{sys.executable}" -I -S "{workshop.__file__}" "{door}" {command} "$@"\n'
        (tmp_path / command).write_text(text, encoding="utf-8")
        (tmp_path / command).chmod(0o755)
    parts = [(f"{name}:{one.line}", one.language, one.text) for one in PAGES[name] if not one.not_run]
    done = subprocess.run(
        [sys.executable, "-I", "-S", workshop.__file__, door, "page"],
        input=json.dumps(parts),
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]


def test_what_is_not_run_is_counted() -> None:
    """Each with its reason, in the page. A new one is a new line here."""
    reasons = collections.Counter(one.not_run for parts in PAGES.values() for one in parts if one.not_run)
    assert reasons == {"sets up an environment of its own": 1, "tests/html/explorer builds the page": 1}


def test_pages_that_are_run_elsewhere_are() -> None:
    for page, test in ELSEWHERE.items():
        assert page in PAGES
        assert pathlib.PurePath(page).name in (ROOT / test).read_text(encoding="utf-8")


def test_commands_stand_in_blocks_that_are_run() -> None:
    """A block without a language shows what a command printed; one that begins with a command would not be run."""
    for page in sorted(DOCS.rglob("*.md")):
        unmarked = re.findall(r"^```\n(volatilis [\w-]+ .*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert unmarked == [], page
