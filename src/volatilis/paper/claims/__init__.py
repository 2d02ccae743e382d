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

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from volatilis.paper.claims import both_tasks, categorical, formulas, gaussian, identities, predictions, robustness
from volatilis.paper.claims.formulas import EXACT_TO, Formula
from volatilis.paper.claims.statistics import MissingDataError, Outcome
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
    "prediction1",
    "prediction2",
    both_tasks.BOTH,
)
STATEMENTS: tuple[Statement, ...] = (
    *both_tasks.AFTER_CHANGE,
    *gaussian.STATEMENTS,
    *categorical.STATEMENTS,
    *both_tasks.ALL_ENVIRONMENTS,
    *robustness.STATEMENTS,
    *predictions.STATEMENTS,
)
FORMULAS: tuple[Formula, ...] = (*formulas.FORMULAS, *identities.FORMULAS)


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

    Both grids make up "both tasks" by themselves.
    """
    datasets = dict(datasets)
    if "gaussian" in datasets and "categorical" in datasets:
        datasets[both_tasks.BOTH] = both_tasks.joined_grids(datasets)
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
