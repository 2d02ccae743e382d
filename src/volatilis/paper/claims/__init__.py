"""Every checkable statement of the paper, what our data says on it with the published code and done right, and a verdict.

    evaluate({"gaussian": dataset, "prediction1": dataset, ...}) -> list[Claim]

Verdicts are computed. A statement is checked twice: with what the authors ran (their SOR, errata 1; tuning within their bounds,
errata 2; their selection of trials, errata 7) and with the same done right. It *holds* if the data shows it done right; it
*holds with the published code only* if the data shows it with what they ran and not done right; else it *does not hold* if the
data speaks against it done right, and *cannot be told at this size* if the noise leaves it open. Differences count at 1 %
(see `statistics`).

A formula holds if it holds as printed; what it should have been stands under `done_right`.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from volatilis.paper.claims import both_tasks, categorical, formulas, gaussian, identities, predictions, proofs, robustness
from volatilis.paper.claims.formulas import EXACT_TO, Formula
from volatilis.paper.claims.statistics import STATED, MissingDataError, Outcome, Reading, read_as
from volatilis.paper.claims.views import Statement, View

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

HOLDS, PUBLISHED_ONLY, FAILS = "holds", "holds with the published code only", "does not hold"
OPEN = "cannot be told at this size"
DATASETS = (
    "gaussian",
    "categorical",
    "gaussian transient",
    "categorical transient",
    "gaussian robustness",
    "categorical robustness",
    "gaussian confirmation",
    "categorical confirmation",
    "prediction1",
    "prediction2",
    both_tasks.BOTH,
    robustness.BOTH,
)
STATEMENTS: tuple[Statement, ...] = (
    *both_tasks.AFTER_CHANGE,
    *gaussian.STATEMENTS,
    *categorical.STATEMENTS,
    *both_tasks.ALL_ENVIRONMENTS,
    *robustness.STATEMENTS,
    *predictions.STATEMENTS,
)
FORMULAS: tuple[Formula, ...] = (*formulas.FORMULAS, *identities.FORMULAS, *proofs.FORMULAS)


class Claim(NamedTuple):
    """A statement of the paper and what became of it. `figure` is the paper's number ("2", "S2") or "equations"."""

    key: str
    figure: str
    where: str
    statement: str
    published: str
    with_published_code: str
    done_right: str
    verdict: str
    uncertainty: str


def evaluate(datasets: Mapping[str, xr.Dataset]) -> list[Claim]:
    """All claims whose dataset is there, under its name of DATASETS, and the formulas, which need none.

    Both grids make up "both tasks" by themselves, and both tasks' regrets "both robustness".
    """
    datasets = dict(datasets)
    if "gaussian" in datasets and "categorical" in datasets:
        datasets[both_tasks.BOTH] = both_tasks.joined_grids(datasets)
    if "gaussian robustness" in datasets and "categorical robustness" in datasets:
        datasets[robustness.BOTH] = robustness.joined_regrets(datasets)
    judged = [judge(statement, datasets[statement.dataset]) for statement in STATEMENTS if statement.dataset in datasets]
    return [*judged, *(judge_formula(formula) for formula in FORMULAS)]


def to_frame(claims: Iterable[Claim]) -> pd.DataFrame:
    """As a pandas table, one row a claim."""
    import pandas as pd

    return pd.DataFrame(list(claims), columns=list(Claim._fields))


def judge(statement: Statement, dataset: xr.Dataset) -> Claim:
    """Check a statement with the published code and done right."""
    published, right = (outcome_of(statement, View(dataset, mended)) for mended in (False, True))
    uncertainty = right.uncertainty
    if right.uncertainty != published.uncertainty:
        uncertainty = f"published code: {published.uncertainty}. Done right: {right.uncertainty}"
    return Claim(
        key=statement.key,
        figure=statement.figure,
        where=statement.where,
        statement=statement.statement,
        published=statement.published,
        with_published_code=published.text,
        done_right=right.text,
        verdict=verdict(published.truth, right.truth),
        uncertainty=uncertainty,
    )


def outcome_of(statement: Statement, view: View) -> Outcome:
    """What the check says; unknown where the dataset lacks what it needs."""
    try:
        return statement.check(view)
    except MissingDataError as missing:
        return Outcome("not available", None, str(missing))


def verdict(with_published_code: bool | None, done_right: bool | None) -> str:
    """The verdict on a statement that is true, false or unknown (None) with the published code and done right."""
    if done_right:
        return HOLDS
    if with_published_code:
        return PUBLISHED_ONLY
    return OPEN if done_right is None else FAILS


def judge_formula(formula: Formula) -> Claim:
    """A formula holds if it is right as printed."""
    printed, mended = formula.errors()
    return Claim(
        key=formula.key,
        figure="equations",
        where=formula.where,
        statement=formula.statement,
        published=formula.published,
        with_published_code=f"as printed: largest error {printed:.2g}",
        done_right=formula.mended if mended is None else f"{formula.mended}: largest error {mended:.2g}",
        verdict=HOLDS if printed <= EXACT_TO else FAILS,
        uncertainty=f"computed, no simulation; equal means to {EXACT_TO:g}",
    )


# --- other readings of the words: stricter and looser ones, and other levels of a test ----------------------------------

READINGS = (
    STATED,
    Reading("words of degree twice as wide (close 20 %, similar 50 %)", stretch=2.0),
    Reading("half as wide (close 5 %, similar 12.5 %)", stretch=0.5),
    Reading("a difference counts below p = 0.05", level=0.05),
    Reading("a difference counts below p = 0.001", level=0.001),
)


def counts_by_reading(datasets: Mapping[str, xr.Dataset]) -> pd.DataFrame:
    """One row per reading: how many claims have which verdict, and how many have another than as stated."""
    import pandas as pd

    rows: list[dict[str, str | int]] = []
    stated: dict[str, str] = {}
    for reading in READINGS:
        with read_as(reading):
            verdicts = {claim.key: claim.verdict for claim in evaluate(datasets)}
        stated = stated or verdicts
        counted = Counter(verdicts.values())
        changed = sum(verdicts[key] != stated[key] for key in verdicts)
        rows.append(
            {"reading": reading.name} | {v: counted[v] for v in (HOLDS, PUBLISHED_ONLY, FAILS, OPEN)} | {"changed": changed}
        )
    return pd.DataFrame(rows)


# --- on a terminal or in a pipe: one paragraph each ----------------------------------------------------------------------

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
    yield from textwrap.wrap(claim.statement, width, break_on_hyphens=False)
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
