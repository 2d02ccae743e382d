"""Help that reads whole at 80 columns: options under their headings, as plain text; examples as they were written."""

from __future__ import annotations

import re
import textwrap
from typing import Any

from typer.core import TyperCommand

WIDTH = 68  # of a line of an example, before it is set in
KINDS = {"<str>": "TEXT", "<int range>": "NUMBER", "<float range>": "NUMBER", "<int>": "NUMBER", "<float>": "NUMBER"}
KINDS |= {
    "<list[str]>": "TEXT",
    "<path>": "PATH",
    "INTEGER RANGE": "NUMBER",
    "FLOAT RANGE": "NUMBER",
    "INTEGER": "NUMBER",
    "FLOAT": "NUMBER",
}
ARGUMENTS, OPTIONS = "Arguments", "Options"


class Command(TyperCommand):
    """A command with the help of this module."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The arguments, the options, and then those that have a heading of their own, in the order in which they come."""
        groups: dict[str, list[tuple[str, str]]] = {ARGUMENTS: [], OPTIONS: []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                heading = getattr(parameter, "rich_help_panel", None)
                usual = ARGUMENTS if parameter.param_type_name == "argument" else OPTIONS
                groups.setdefault(heading or usual, []).append((_named(record[0]), record[1]))
        for heading, records in groups.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


def _named(usage: str) -> str:
    """Types in the words that older releases of Typer had."""
    for kind, word in KINDS.items():
        usage = usage.replace(kind, word)
    return usage


def with_examples(words: str | None, examples: str) -> str:
    """A docstring with examples after it. Paragraphs that are set in are commands: broken as in a shell, not filled as text."""
    paragraphs = examples.strip("\n").split("\n\n")
    return "\n\n".join([words or "", *(_command(text) if text.startswith("  ") else text for text in paragraphs)])


def _command(text: str) -> str:
    together = re.sub(r"(--[\w-]+) (?!-)", "\\1\0", " ".join(text.split()))  # an option and its value
    lines = textwrap.wrap(together, WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\b\n  " + " \\\n      ".join(lines).replace("\0", " ")  # \b: these lines are not filled again
