"""The claims to be read: one paragraph each on a terminal or in a pipe, and one table per figure in Markdown."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from volatilis.paper.claims import FAILS, HOLDS, OPEN, PUBLISHED_ONLY, Claim

WIDEST, NARROWEST = 100, 50  # columns; longer lines are hard to read
LABELS = ("paper", "where", "as published", "done right", "how sure")
COLOURS = {HOLDS: 32, PUBLISHED_ONLY: 33, FAILS: 31, OPEN: 36}
IN_WORDS = {  # a verdict on one claim, and on several
    HOLDS: ("holds", "hold"),
    PUBLISHED_ONLY: ("holds with the published code only", "hold with the published code only"),
    FAILS: ("does not hold", "do not hold"),
    OPEN: ("cannot be told at this size", "cannot be told at this size"),
}
HEADERS = ("claim", "where", "published", "with the published code", "done right", "verdict", "how sure")


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


# --- Markdown -------------------------------------------------------------------------------------------------------------


def markdown(claims: Sequence[Claim], size: str) -> str:
    """Every claim with all it has, in one table per figure."""
    parts = [
        "# The claims of the paper",
        f"Computed by `volatilis paper` at size {size}. {len(claims)} claims: {tally(claim.verdict for claim in claims)}.",
        "A claim is checked twice, with what the authors ran and with the same done right, and holds if the data shows it done "
        "right. ± is a standard error; a difference counts below p = 0.01.",
    ]
    for title, group in by_figure(claims).items():
        counted = tally(claim.verdict for claim in group)
        rows = [_row(HEADERS), _row(["---"] * len(HEADERS)), *(_row(_cells(claim)) for claim in group)]
        parts += [f"## {title}", f"{counted[0].upper()}{counted[1:]}.", "\n".join(rows)]
    return "\n\n".join(parts) + "\n"


def by_figure(claims: Iterable[Claim]) -> dict[str, list[Claim]]:
    """The claims under "Figure 2", "Figure 3", ... and "Formulas"."""
    groups: dict[str, list[Claim]] = {}
    for claim in sorted(claims, key=lambda claim: _place(claim.figure)):  # a stable sort: within a figure in the paper's order
        groups.setdefault("Formulas" if claim.figure == "equations" else f"Figure {claim.figure}", []).append(claim)
    return groups


def tally(verdicts: Iterable[str]) -> str:
    """'3 hold, 1 does not hold': verdicts that occur, counted, in words."""
    counts = Counter(verdicts)
    return ", ".join(f"{counts[v]} {one if counts[v] == 1 else many}" for v, (one, many) in IN_WORDS.items() if counts[v])


def _place(figure: str) -> tuple[int, int, str]:
    """Figures by number, the supplementary ones after them, formulas last."""
    return (0, int(figure), "") if figure.isdigit() else (2 if figure == "equations" else 1, 0, figure)


def _cells(claim: Claim) -> Sequence[str]:
    return (
        claim.statement,
        claim.where,
        claim.published,
        claim.with_published_code,
        claim.done_right,
        f"**{claim.verdict}**",
        claim.uncertainty,
    )


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(_escaped(cell) for cell in cells) + " |"


def _escaped(text: str) -> str:
    """A star within a word (Nas12*) is no emphasis, a bar no border; a pair of stars around the whole text stays."""
    bold = text.startswith("**") and text.endswith("**")
    plain = text[2:-2] if bold else text
    plain = plain.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;").replace("_", "\\_")
    return f"**{plain}**" if bold else plain
