"""What the report of the paper says: plain text, numbers and pictures. What would give a wrong page is refused."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, get_args

Verdict = Literal["holds", "holds with the published code only", "does not hold", "cannot be told at this size"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
PNG_START = b"\x89PNG\r\n\x1a\n"


class TextTable(NamedTuple):
    """A table of text; the first cell of a row names the row."""

    caption: str
    headers: Sequence[str]
    rows: Sequence[Sequence[str]]


class Figure(NamedTuple):
    """A picture (PNG at twice the size it is shown), what it shows, and where its numbers are.

    comparison: the same numbers against the published ones.
    """

    key: str
    title: str
    caption: str
    png: bytes
    csv_name: str
    seconds: float
    notes: Sequence[str] = ()
    comparison: TextTable | None = None


class Claim(NamedTuple):
    """A claim of the paper: what was published, what the published code gives, what comes out done right, and the verdict.

    figure: the key of the figure below which it stands, too.
    """

    key: str
    where: str
    statement: str
    published: str
    with_published_code: str
    done_right: str
    verdict: Verdict
    uncertainty: str = ""
    figure: str = ""


class Erratum(NamedTuple):
    """A fault in the paper or its code, and what it changes, in numbers."""

    number: int
    title: str
    text: str
    effect: str = ""


class NewLearner(NamedTuple):
    """The section on the learner that is not in the paper; its figure is one of the report's, and is shown here only."""

    title: str
    paragraphs: Sequence[str]
    figure_key: str
    table: TextTable


class Report(NamedTuple):
    """Everything the report says; a part that is empty has no section."""

    title: str
    subtitle: str
    meta: Mapping[str, str]
    summary: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    claims: Sequence[Claim] = ()
    errata: Sequence[Erratum] = ()
    new_learner: NewLearner | None = None


def check(content: Report) -> None:
    """Refuse what would give a page with wrong anchors, unknown verdicts or ragged tables."""
    anchors = [anchor("figure", figure.key) for figure in content.figures]
    anchors += [anchor("claim", claim.key) for claim in content.claims]
    anchors += [anchor("erratum", str(erratum.number)) for erratum in content.errata]
    for name, times in Counter(anchors).items():
        if times > 1:
            raise ValueError(f"report: {times} entries have keys that give the anchor {name!r}; keys must differ")
    for claim in content.claims:
        if claim.verdict not in VERDICTS:
            raise ValueError(f"report: claim {claim.key!r} has the verdict {claim.verdict!r}; it must be one of {list(VERDICTS)}")
    for figure in content.figures:
        if not figure.png.startswith(PNG_START) or len(figure.png) < 24:
            raise ValueError(f"report: figure {figure.key!r} is not a PNG file")
    new = content.new_learner
    if new is not None and new.figure_key not in [figure.key for figure in content.figures]:
        raise ValueError(f"report: the new learner's figure {new.figure_key!r} is not among the figures")
    for table in [f.comparison for f in content.figures if f.comparison] + ([new.table] if new else []):
        if not table.headers:
            raise ValueError(f"report: table {table.caption!r} has no columns")
        for row in table.rows:
            if len(row) != len(table.headers):
                raise ValueError(f"report: table {table.caption!r} has {len(table.headers)} columns, but a row is {list(row)!r}")


def anchor(kind: str, key: str) -> str:
    """The anchor of a part of the page: figure-10, claim-gaussian-order."""
    return f"{kind}-" + re.sub(r"[^A-Za-z0-9]+", "-", key).strip("-").lower()
