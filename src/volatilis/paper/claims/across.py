"""What the paper says on both tasks together: Abstract, Introduction, Summary of simulation results, Discussion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from volatilis.paper.claims.cells import typically
from volatilis.paper.claims.checks import both, steadier
from volatilis.paper.claims.ratios import CLOSE, SIMILAR, at_most
from volatilis.paper.claims.views import EXACT, Check, Statement
from volatilis.paper.settings import CATEGORICAL, GAUSSIAN, NOISE_NAMES

BOTH = "both tasks"


def both_tasks(datasets: Mapping[str, Any]) -> Any:
    """The cells of both grids as one, for the learners that both have; everything in units of Exact Bayes' mean error there."""
    import xarray

    parts: list[Any] = []
    rows: list[str] = []
    for task in (GAUSSIAN, CATEGORICAL):
        grid = datasets[task][["error", "distance"]]
        relative = grid / grid.error.sel(learner=EXACT, drop=True).mean("seed")
        parts.append(relative.assign_coords(noise=[len(rows) + i for i in range(grid.sizes["noise"])]))
        rows += [f"{task.capitalize()}, {NOISE_NAMES[task]} {noise:g}" for noise in grid.noise.values]
    return xarray.concat(parts, "noise", join="inner").assign_attrs(rows=rows)


def across(key: str, where: str, statement: str, published: str, check: Check, figures: str = "4") -> Statement:
    return Statement(f"both-{key}", BOTH, figures, where, statement, published, check)


def very_close(task: str, figure: str) -> tuple[Statement, Statement]:
    """The summary's statement for one task: against more memory (Exact Bayes), and against as much (SOR)."""

    def close_to(key: str, words: str, other: str) -> Statement:
        here = "(here: with 20 particles, the typical ratio of mean squared errors over cells below 1.1)"
        statement = f"{task.capitalize()} task: pfN and MPN perform very close to {words} memory {here}."
        check = at_most(("pf20", "MP20"), (other,), CLOSE)
        where = "Results, Summary of simulation results"
        return Statement(f"{task}-summary-{key}", task, figure, where, statement, "very close", check)

    return close_to("exact", "Exact Bayes, which needs more", EXACT), close_to("sor", "SORN, which needs as much", "SOR20")


STATEMENTS = (
    *very_close(GAUSSIAN, "4"),
    *very_close(CATEGORICAL, "7"),
    across(
        "comparable",
        "Abstract; Discussion, first paragraph",
        "The new learners perform comparably to more expensive ones (here: pf20, MP20 and VarSMiLe, the typical ratio of their "
        "mean squared errors to that of Exact Bayes over the cells of both tasks below 1.25).",
        "comparable",
        at_most(("pf20", "MP20", "VarSMiLe"), (EXACT,), SIMILAR),
    ),
    across(
        "comparable-approximations",
        "Results, Approximate algorithms modulated by surprise",
        "They perform comparably to other state-of-the-art approximations (here: the same ratio to the error of SOR20, for pf20 "
        "and MP20, below 1.25).",
        "comparable",
        at_most(("pf20", "MP20"), ("SOR20",), SIMILAR),
    ),
    Statement(
        "gaussian-comparable-approximations",
        GAUSSIAN,
        "4",
        "Results, Approximate algorithms modulated by surprise",
        "The same for VarSMiLe beside Nas10* and Nas12*, which are for the Gaussian task only.",
        "comparable",
        at_most(("VarSMiLe",), ("Nas10*", "Nas12*"), SIMILAR),
    ),
    across(
        "better",
        "Abstract",
        "The new learners estimate better than other approximations (here: with as much memory, pf20 and MP20 against SOR20, "
        "VarSMiLe against SMiLe and Leaky; by a typical ratio of distances over the cells of both tasks).",
        "better",
        both(typically(("pf20", "MP20"), ("SOR20",)), typically(("VarSMiLe",), ("SMiLe", "Leaky"))),
    ),
    across(
        "consistent",
        "Results, Summary of simulation results",
        "pfN and MPN behave more consistently across tasks than SORN (here: the excess of pf20 and MP20, relative to the error "
        "of Exact Bayes, varies less over the cells of both tasks).",
        "more consistent",
        steadier(("pf20", "MP20"), ("SOR20",)),
    ),
    across(
        "resilient",
        "Introduction; Discussion, first paragraph",
        "The new learners are more robust across environments than others with similar memory (here: the same excess varies "
        "less; pf20 and MP20 against SOR20, VarSMiLe against SMiLe and Leaky).",
        "more robust, more resilient",
        both(steadier(("pf20", "MP20"), ("SOR20",)), steadier(("VarSMiLe",), ("SMiLe", "Leaky"))),
    ),
    Statement(
        "gaussian-resilient",
        GAUSSIAN,
        "4",
        "Introduction; Discussion, first paragraph",
        "The same against the learners of the Gaussian task only: VarSMiLe is more robust than Nas10* and Nas12*.",
        "more robust, more resilient",
        steadier(("VarSMiLe",), ("Nas10*", "Nas12*")),
    ),
    across(
        "fewer-particles",
        "Discussion, Biological interpretation",
        "In the sampling-based learners fewer particles perform worse (here: pf and SOR with 20, 10 and 1, by a typical ratio "
        "of distances).",
        "deteriorates",
        both(typically(("pf20",), ("pf10",), ("pf1",)), typically(("SOR20",), ("SOR10",), ("SOR1",))),
    ),
)
