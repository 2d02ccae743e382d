"""Every Python block and every shell block of the documentation runs, page by page, in the order in which it stands.

A page's blocks share one folder and one namespace. What is not run is listed here with its reason.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
from typing import NamedTuple

import pytest

from tests.helpers.paths import DOCS, ROOT

FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)
SHELL = ("sh", "bash", "console")
# A page, or a block of it by words that it contains, and why the block is not run here
NOT_RUN = {
    "how-to/real-people.md": "needs published data of 225 people and an hour; tests/behaviour/test_real_people.py runs its parts",
    "how-to/helicopter-events.md": "needs published data; tests/events/test_helicopter.py runs it where they are",
    "how-to/sensor-stream.md": "tests/watching/test_page.py runs it and compares what it prints",
    "how-to/compare.md": "takes minutes; tests/behaviour/comparison/test_page.py runs it small",
    "how-to/fit.md": "takes minutes; tests/behaviour/fitting/test_page.py runs it and compares what it prints",
    "how-to/design.md": "200 experiments for each of 12 designs take an hour; tests/behaviour/design runs it small",
    "how-to/predictions.md": "fits of 20 people with 500 trials take minutes; tests/behaviour/indicators runs it small",
    "how-to/separate.md": "needs published data; tests/separation runs its commands on a task of its own",
    "how-to/paper.md": "the paper takes an hour; tests/paper runs it small",
    "how-to/own-family.md": "tests/_compiler/test_user_families.py runs it",
    "how-to/circle.md": "needs published data and an hour; tests/behaviour runs models on a circle",
    "how-to/bandits.md": "takes minutes and tables of the reader's; tests/behaviour/test_bandits.py runs it small",
    "how-to/changes.md": "needs a table of the reader's; tests/changepoints run its commands",
    "how-to/contexts.md": "needs tables of the reader's; tests/learners/test_contexts.py runs its Python",
    "how-to/does-it-fit.md": "needs a table of the reader's; tests/estimation run its commands",
    "how-to/unknown-environment.md": "needs a table of the reader's; tests/estimation run its commands",
    "how-to/own.md": "its commands need tables of the reader's; tests/behaviour runs docs/how-to/geometric.py with --own",
    "how-to/report.md": "tests/html/trials runs it",
    "explorer.md": "builds a page; tests/html/explorer does the same",
    "reference/responses.md": "tests/behaviour/fitting/test_page.py runs it",
}


# The blocks of a page, one after the other; `volatilis` and `python` are this package's own. To install something is left out.
RUN = """
import json, shlex, subprocess, sys
python = shlex.quote(sys.executable)
heading = f'python() {{ {python} "$@"; }}\\nvolatilis() {{ {python} -c "from volatilis.cli import main; main()" "$@"; }}\\n'
namespace = {"__name__": "__main__"}
for place, language, text in json.load(sys.stdin):
    print(place, file=sys.stderr)
    if language == "python":
        exec(compile(text, place, "exec"), namespace)
    elif "pip install" not in text:
        subprocess.run(["bash", "-e", "-o", "pipefail", "-c", heading + text], check=True)
"""


class Block(NamedTuple):
    line: int
    language: str
    text: str


def blocks(page: pathlib.Path) -> list[Block]:
    """The blocks of a page that can be run: Python, shell, and what follows `$ `."""
    text, found = page.read_text(encoding="utf-8"), []
    for match in FENCE.finditer(text):
        language, content = match.groups()
        line = text.count("\n", 0, match.start()) + 1
        if language == "python":
            found.append(Block(line, "python", content))
        elif language in SHELL:
            found.append(Block(line, "sh", content))
        elif not language and content.startswith("$ "):
            found.append(Block(line, "sh", commands(content)))
    return found


def commands(content: str) -> str:
    """The commands of a block that shows a terminal: lines after `$ `, with those that go on after a backslash."""
    lines, going = [], False
    for line in content.splitlines():
        if line.startswith("$ ") or going:
            lines.append(line.removeprefix("$ "))
            going = line.endswith("\\")
    return "\n".join(lines)


PAGES = sorted(
    str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md") if "/api/" not in str(path) and "/commands/" not in str(path)
)
WITH_BLOCKS = [name for name in PAGES if blocks(DOCS / name)]


def test_reasons_are_for_pages_that_are_there() -> None:
    assert [name for name in NOT_RUN if name not in WITH_BLOCKS] == []


@pytest.mark.parametrize("name", [one for one in WITH_BLOCKS if one not in NOT_RUN])
def test_the_blocks_of_a_page_run(name: str, tmp_path: pathlib.Path) -> None:
    """In a process of its own: what a page defines is known for the rest of a process."""
    (tmp_path / "docs").symlink_to(DOCS)
    path = os.pathsep.join(filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, "PYTHONPATH": path, "MPLBACKEND": "Agg"}
    parts = json.dumps([(f"docs/{name}:{one.line}", one.language, one.text) for one in blocks(DOCS / name)])
    done = subprocess.run(
        [sys.executable, "-c", RUN], input=parts, cwd=tmp_path, capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
