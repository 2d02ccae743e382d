"""What is printed for people to read: one console, and one style of table.

console = console_of()                       # standard output; console_of(stderr=True) where a table goes to standard output
console.print(table("lr", ("model", "BIC"), rows))
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from volatilis._core.files import standard_output

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

PLAIN_WIDTH = 118  # columns in a file or a pipe


def console_of(stderr: bool = False) -> Console:
    """A console as wide as the terminal; in a file or a pipe as wide as $COLUMNS says, or 118 columns."""
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False)
    if console.is_terminal or "COLUMNS" in os.environ:
        return console
    return Console(stderr=stderr, highlight=False, width=PLAIN_WIDTH)


@contextlib.contextmanager
def printed_at_once() -> Iterator[Console]:
    """A console whose text goes to standard output at the end of the context.

    Rich itself would end the program where the reader of a pipe has gone away; here that is an ordinary BrokenPipeError.
    """
    console = console_of()
    with console.capture() as captured:
        yield console
    with standard_output() as stream:
        stream.write(captured.get().encode(sys.stdout.encoding, "replace"))


def table(
    alignment: str,
    headings: Iterable[str],
    rows: Iterable[Sequence[str]] = (),
    *,
    title: str = "",
    lines: bool = False,
    whole: Sequence[str] = (),
) -> Table:
    """A table for the terminal; cells may hold Rich's markup, and `plain` protects texts of users from it.

    alignment   a letter for each column: l for texts, r for numbers
    title       printed in bold above it
    lines       a line between rows, for cells of several lines
    whole       the headings of columns whose cells are never broken, such as names that a user types
    """
    from rich import box
    from rich.table import Table

    result = Table(title=title or None, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, show_lines=lines)
    for side, heading in zip(alignment, headings, strict=True):
        result.add_column(heading, justify="left" if side == "l" else "right", overflow="fold", no_wrap=heading in whole)
    for row in rows:
        result.add_row(*row)
    return result


def plain(text: str) -> str:
    """The text itself, where Rich would read square brackets as markup."""
    return text.replace("[", "\\[")
