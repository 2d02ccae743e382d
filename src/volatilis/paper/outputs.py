"""What a run leaves beside its figures and its report: the claims as a page, tables of what it found and of what it cost."""

from __future__ import annotations

import pathlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from volatilis._core.files import write_text
from volatilis.paper import claims as judged
from volatilis.paper import hypotheses, tuned
from volatilis.paper.context import Context
from volatilis.paper.figures.figures import Data
from volatilis.paper.files import save_table
from volatilis.paper.ledger import Ledger
from volatilis.paper.new_learner import Promise

IN_WORDS = {  # a verdict on one claim, and on several
    judged.HOLDS: ("holds", "hold"),
    judged.PUBLISHED_ONLY: ("holds with the published code only", "hold with the published code only"),
    judged.FAILS: ("does not hold", "do not hold"),
    judged.OPEN: ("cannot be told at this size", "cannot be told at this size"),
}
HEADERS = ("claim", "where", "published", "with the published code", "done right", "verdict", "how sure")


def save_claims(claims: Sequence[judged.Claim], folder: pathlib.Path, size: str) -> None:
    """As data/claims.csv and, to be read, as claims.md."""
    if claims:
        save_table(judged.to_frame(claims), folder / "data" / "claims.csv")
        write_text(folder / "claims.md", claims_page(claims, size))


def claims_page(claims: Sequence[judged.Claim], size: str) -> str:
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


def by_figure(claims: Iterable[judged.Claim]) -> dict[str, list[judged.Claim]]:
    """The claims under "Figure 2", "Figure 3", ... and "Formulas"."""
    groups: dict[str, list[judged.Claim]] = {}
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


def _cells(claim: judged.Claim) -> Sequence[str]:
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


def save_tables(context: Context, data: Data, kept: Sequence[Promise]) -> None:
    """Tables 1 and 2 of the paper, the tuned parameters and how near Merge is, where there is the data for them."""
    folder = context.folder / "data"
    for number, table in ((1, hypotheses.table_1), (2, hypotheses.table_2)):
        if f"prediction{number}" in data:
            save_table(table(data[f"prediction{number}"]), folder / f"table_{number}.csv")
    values = tuned_table(context)
    if len(values):
        save_table(values, folder / "tuned.csv")
    if kept:
        import pandas

        save_table(pandas.DataFrame(kept), folder / "merge.csv")


def tuned_table(context: Context) -> Any:
    """Every parameter tuned so far in the output folder; tunes nothing."""
    return tuned.table(context.size, context.folder / "store", context.reference)


def save_run(facts: dict[str, str], ledger: Ledger, folder: pathlib.Path) -> None:
    """The facts of the run, and what its parts cost: seconds on the clock, of all cores, and the most memory."""
    import pandas

    save_table(pandas.DataFrame(list(facts.items()), columns=["fact", "value"]), folder / "data" / "run.csv")
    rows = [(part, f"{cost.seconds:.1f}", f"{cost.processor_seconds:.1f}", "") for part, cost in ledger.costs.items()]
    total = ledger.total()
    rows.append(("all", f"{total.seconds:.1f}", f"{total.processor_seconds:.1f}", f"{ledger.memory / 2**20:.0f}"))
    columns = ["part", "seconds", "processor_seconds", "peak_memory_mib"]
    save_table(pandas.DataFrame(rows, columns=columns), folder / "data" / "costs.csv")
