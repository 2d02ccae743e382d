"""The blocks of a page that can be run, in their order, and what comments in the page's source say about them.

<!-- tests: data            Python that makes the tables which a reader has; it runs before the next block
...
-->

<!-- tests: with            what the next block is run with instead, so that it takes seconds
--people 60 => --people 2
-->

<!-- tests: not run, REASON -->        of the next block
"""

from __future__ import annotations

import pathlib
import re
from typing import NamedTuple

from tests.helpers.paths import DOCS, ROOT

SHELL = ("sh", "bash", "console")
TOKEN = re.compile(
    r"^<!-- tests: (?P<kind>data|with|not run)(?P<words>.*?)-->$|^```(?P<language>\w*)[^\n]*\n(?P<content>.*?)^```",
    flags=re.MULTILINE | re.DOTALL,
)


class Block(NamedTuple):
    """A piece of a page: where it begins, "python" or "sh", its text as it is run, and why it is not run, or nothing."""

    line: int
    language: str
    text: str
    not_run: str = ""


def blocks(page: pathlib.Path) -> list[Block]:
    """The blocks of a page, and the data that its comments make for them."""
    text, found, said = page.read_text(encoding="utf-8"), [], {"with": "", "not run": ""}
    for match in TOKEN.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        if match["kind"] == "data":
            found.append(Block(line, "data", match["words"]))
        elif match["kind"]:
            said[match["kind"]] = match["words"].strip(" ,\n")
        elif (block := runnable(match["language"], match["content"])) is not None:
            language, content = block
            for one in said["with"].splitlines():
                before, _, after = one.partition(" => ")
                assert before in content, f"{page.name}:{line}: the block has no {before!r}"
                content = content.replace(before, after)
            found.append(Block(line, language, content, said["not run"]))
            said = {"with": "", "not run": ""}
    assert not any(said.values()), f"{page.name}: no block follows {said}"
    return found


def runnable(language: str, content: str) -> tuple[str, str] | None:
    """A fence as Python or as shell; None where it shows output."""
    if language == "python":
        return "python", content
    if language in SHELL:
        return "sh", content
    return ("sh", commands(content)) if not language and content.startswith("$ ") else None


def commands(content: str) -> str:
    """The commands of a block that shows a terminal: lines after `$ `, with those that go on after a backslash."""
    lines, going = [], False
    for line in content.splitlines():
        if line.startswith("$ ") or going:
            lines.append(line.removeprefix("$ "))
            going = line.endswith("\\")
    return "\n".join(lines)


def with_blocks() -> dict[str, list[Block]]:
    """All pages that have blocks, by their path from the root of the repository; generated ones are not pages."""
    pages = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
    pages = [path for path in pages if path.parent.name not in ("api", "commands")]
    found = {str(path.relative_to(ROOT)): blocks(path) for path in pages}
    return {name: parts for name, parts in found.items() if parts}
