"""The claims on a terminal or in a pipe: one paragraph each, figure by figure, and the verdicts counted at the end."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from volatilis.paper.claims import FAILS, HOLDS, OPEN, PUBLISHED_ONLY, Claim
from volatilis.paper.outputs import by_figure

WIDEST, NARROWEST = 100, 50  # columns; longer lines are hard to read
LABELS = ("paper", "where", "as published", "done right", "how sure")
COLOURS = {HOLDS: 32, PUBLISHED_ONLY: 33, FAILS: 31, OPEN: 36}


def show(claims: Sequence[Claim]) -> None:
    """On standard output: as wide as the terminal, 80 columns in a pipe; colours on a terminal only."""
    width = min(max(shutil.get_terminal_size((80, 24)).columns, NARROWEST), WIDEST)
    colours = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    for line in lines(claims, width, colours):
        print(line)


def lines(claims: Sequence[Claim], width: int = 80, colours: bool = False) -> Iterator[str]:
    for title, group in by_figure(claims).items():
        yield from (title, "=" * len(title), "")
        for claim in group:
            yield from _paragraph(claim, width, colours)
    yield from _totals((claim.verdict for claim in claims), len(claims))


def _paragraph(claim: Claim, width: int, colours: bool) -> Iterator[str]:
    """The statement, its verdict, and what there is to it; what is the same in both columns is said once."""
    yield from textwrap.wrap(claim.statement, width)
    yield f"  {_coloured(claim.verdict.upper(), COLOURS[claim.verdict] if colours else None)}"
    texts = [claim.published, claim.where, claim.with_published_code, claim.done_right, claim.uncertainty]
    named = list(zip(LABELS, texts, strict=True))
    if claim.with_published_code == claim.done_right:
        named[2:4] = [("found", claim.done_right)]
    for label, text in named:
        yield from textwrap.wrap(text, width, initial_indent=f"  {label + ':':14}", subsequent_indent=" " * 16)
    yield ""


def _totals(verdicts: Iterable[str], count: int) -> Iterator[str]:
    counted = Counter(verdicts)
    for verdict in (HOLDS, PUBLISHED_ONLY, FAILS, OPEN):
        yield f"{counted[verdict]:5}  {verdict}"
    yield f"{count:5}  claims in all"


def _coloured(text: str, colour: int | None) -> str:
    return text if colour is None else f"\033[1;{colour}m{text}\033[0m"
