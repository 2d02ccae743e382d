"""What the paper says on both tasks: the steps after a change (Figures 2 and 5), and learners over all environments together.

The latter is from the Abstract, the Introduction, the Summary of simulation results and the Discussion.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from volatilis.paper.claims.checks import both, close_to_exact, ranking, same, serves_not_both, steadier
from volatilis.paper.claims.curves import excess_grows, excess_larger_right, ratio_grows
from volatilis.paper.claims.ratios import CLOSE, MUCH, SIMILAR, at_most, more, typically
from volatilis.paper.claims.views import EXACT, After, Check, Statement
from volatilis.paper.settings import CATEGORICAL, GAUSSIAN, NOISE_NAMES

if TYPE_CHECKING:
    import xarray as xr

ONE_UNIT_LOSERS = ("pf1", "MP1", "SOR1", "SMiLe", "Leaky", "Nas10*")  # the last is for the Gaussian task only
BEST_ONE_UNIT = ("VarSMiLe", "Nas12*")
LEFT, RIGHT = After(0), After(1)


def gaussian_after(key: str, statement: str, published: str, check: Check) -> Statement:
    where = "Results, Gaussian estimation task, Figure 2B"
    return Statement(key, "gaussian transient", "2", where, statement, published, check)


def categorical_after(key: str, statement: str, published: str, check: Check) -> Statement:
    where = "Results, Categorical estimation task, Figure 5B"
    return Statement(key, "categorical transient", "5", where, statement, published, check)


AFTER_CHANGE = (
    gaussian_after(
        "gaussian-close-to-exact",
        "pf20, VarSMiLe and Nas12* stay very close to Exact Bayes after a change (here: their mean error within 10 % of it).",
        "very close, both panels",
        close_to_exact(("pf20", "VarSMiLe", "Nas12*"), (LEFT, RIGHT), CLOSE),
    ),
    gaussian_after(
        "gaussian-varsmile-course",
        "At high sigma VarSMiLe is slightly better than pf20 and Nas12* soon after a change (here: the first fifth of the steps) "
        "and slightly worse later (the last fifth; slightly: by less than 10 %).",
        "slightly better, then slightly worse, right panel",
        both(
            more(("VarSMiLe",), ("pf20", "Nas12*"), at=After(1, "early"), most=CLOSE),
            more(("pf20", "Nas12*"), ("VarSMiLe",), at=After(1, "late"), most=CLOSE),
        ),
    ),
    gaussian_after(
        "gaussian-mp-low-noise",
        "At low sigma MP20 is the closest of all to Exact Bayes.",
        "closest, left panel",
        ranking(("MP20",), ("pf20", "SOR20", *BEST_ONE_UNIT, *ONE_UNIT_LOSERS), at=LEFT),
    ),
    gaussian_after(
        "gaussian-mp-high-noise",
        "At high sigma and low p_c MP20 is much worse than pf20, VarSMiLe and Nas12* (here: by more than 25 %).",
        "much worse, right panel",
        more(("pf20", "VarSMiLe", "Nas12*"), ("MP20",), at=RIGHT, least=MUCH),
    ),
    gaussian_after(
        "gaussian-sor-more-particles",
        "At low sigma SOR gets worse with more particles: SOR1, SOR10, SOR20.",
        "more particles, worse, left panel",
        ranking(("SOR1",), ("SOR10",), ("SOR20",), at=LEFT),
    ),
    gaussian_after(
        "gaussian-sor-high-noise",
        "At high sigma SOR20 is close to optimal (here: within 10 % of Exact Bayes) and later better than MP20.",
        "close to optimal; better than MP20 later, right panel",
        both(close_to_exact(("SOR20",), (RIGHT,), CLOSE), ranking(("SOR20",), ("MP20",), at=After(1, "late"))),
    ),
    gaussian_after(
        "gaussian-leaky-trade-off",
        "One leak cannot serve both phases: in neither panel is Leaky close to Exact Bayes (within 10 %) both early and late.",
        "a trade-off",
        serves_not_both("Leaky", (0, 1), CLOSE),
    ),
    gaussian_after(
        "gaussian-smile-late",
        "SMiLe does better just after a change than later (here: its excess over Exact Bayes is a larger share late; low sigma).",
        "low error at once, high error later",
        excess_grows("SMiLe", 0),
    ),
    gaussian_after(
        "gaussian-smile-noise", "SMiLe gets worse at higher sigma.", "worse in the right panel", excess_larger_right("SMiLe")
    ),
    gaussian_after(
        "gaussian-nas10-noise",
        "Nas10* does well at low sigma (here: within 10 % of Exact Bayes) and not at high sigma (here: behind pf20).",
        "well on the left, not on the right",
        both(close_to_exact(("Nas10*",), (LEFT,), CLOSE), ranking(("pf20",), ("Nas10*",), at=RIGHT)),
    ),
    gaussian_after(
        "gaussian-pf1-nassar",
        "pf1 is worse than Nas10* and Nas12* trial by trial, though alike in expectation.",
        "worse",
        ranking(("Nas10*", "Nas12*"), ("pf1",), at=(LEFT, RIGHT)),
    ),
    gaussian_after("gaussian-pf1-mp1", "pf1 is better than MP1.", "better", ranking(("pf1",), ("MP1",), at=(LEFT, RIGHT))),
    gaussian_after(
        "gaussian-pf1-sor1",
        "pf1 performs identically to SOR1.",
        "identical",
        both(same("pf1", "SOR1", at=LEFT), same("pf1", "SOR1", at=RIGHT)),
    ),
    categorical_after(
        "categorical-order",
        "After a change pf20, MP20 and SOR20 are the closest to Exact Bayes; VarSMiLe comes next, before all others.",
        "closest, then next in the ranking, both panels",
        ranking(("pf20", "MP20", "SOR20"), ("VarSMiLe",), ONE_UNIT_LOSERS[:-1], at=(LEFT, RIGHT)),
    ),
    categorical_after(
        "categorical-varsmile-course",
        "After a change VarSMiLe behaves similarly to the Gaussian task, a strict reading: at high noise first better, later "
        "worse than pf20.",
        "similar",
        both(ranking(("VarSMiLe",), ("pf20",), at=After(1, "early")), ranking(("pf20",), ("VarSMiLe",), at=After(1, "late"))),
    ),
    categorical_after(
        "categorical-varsmile-course-loose",
        "The same, a loose reading: at high noise VarSMiLe loses ground to pf20 (here: the ratio of their errors is larger in "
        "the last fifth of the steps than in the first).",
        "similar",
        ratio_grows("VarSMiLe", "pf20", 1),
    ),
)


# --- all environments together --------------------------------------------------------------------------------------------

BOTH = "both tasks"


def joined_grids(datasets: Mapping[str, xr.Dataset]) -> xr.Dataset:
    """The cells of both grids as one, for the learners that both have; everything in units of Exact Bayes' mean error there."""
    import xarray as xr

    parts: list[xr.Dataset] = []
    rows: list[str] = []
    for task in (GAUSSIAN, CATEGORICAL):
        grid = datasets[task][["error", "distance"]]
        relative = grid / grid.error.sel(learner=EXACT, drop=True).mean("seed")
        parts.append(relative.assign_coords(noise=[len(rows) + i for i in range(grid.sizes["noise"])]))
        rows += [f"{task.capitalize()}, {NOISE_NAMES[task]} {noise:g}" for noise in grid.noise.values]
    return xr.concat(parts, "noise", join="inner").assign_attrs(rows=rows)


def across(key: str, where: str, statement: str, published: str, check: Check, figures: str = "4") -> Statement:
    return Statement(f"both-{key}", BOTH, figures, where, statement, published, check)


HERE = {
    "cells": "by the typical ratio of mean squared errors, every cell alike",
    "means": "by the ratio of their means over all cells",
}


def both_readings(
    statement: Statement, learners: tuple[str, ...], others: tuple[str, ...], share: float
) -> tuple[Statement, ...]:
    """A sentence that may be meant cell by cell or of absolute differences: one statement for each."""
    return tuple(
        statement._replace(
            key=f"{statement.key}{'' if of == 'cells' else '-means'}",
            statement=f"{statement.statement} (here: {HERE[of]}, below {1.0 + share:g}).",
            check=at_most(learners, others, share, of=of),
        )
        for of in HERE
    )


def summary(task: str, figure: str, key: str, words: str, other: str) -> tuple[Statement, ...]:
    """The summary's sentence for one task: against more memory (Exact Bayes), or against as much (SOR)."""
    sentence = f"{task.capitalize()} task: pf20 and MP20 perform very close to {words} memory"
    where = "Results, Summary of simulation results"
    empty = Statement(f"{task}-summary-{key}", task, figure, where, sentence, "very close", both())
    return both_readings(empty, ("pf20", "MP20"), (other,), CLOSE)


ALL_ENVIRONMENTS = (
    *summary(GAUSSIAN, "4", "exact", "Exact Bayes, which needs more", EXACT),
    *summary(GAUSSIAN, "4", "sor", "SOR20, which needs as much", "SOR20"),
    *summary(CATEGORICAL, "7", "exact", "Exact Bayes, which needs more", EXACT),
    *summary(CATEGORICAL, "7", "sor", "SOR20, which needs as much", "SOR20"),
    *both_readings(
        across(
            "comparable",
            "Abstract; Discussion, first paragraph; Results, Approximate algorithms modulated by surprise",
            "The new learners (pf20, MP20, VarSMiLe) perform comparably to more expensive ones (Exact Bayes), "
            "over the cells of both "
            "tasks",
            "comparable",
            both(),
        ),
        ("pf20", "MP20", "VarSMiLe"),
        (EXACT,),
        SIMILAR,
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
