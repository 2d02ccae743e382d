"""What the paper says on the steps after a change: Figures 2 (Gaussian) and 5 (Categorical)."""

from __future__ import annotations

from volatilis.paper.claims.checks import both, close_to_exact, ranking, same, serves_not_both
from volatilis.paper.claims.curves import excess_grows, excess_larger_right
from volatilis.paper.claims.ratios import CLOSE, MUCH, more
from volatilis.paper.claims.views import After, Check, Statement

ONE_UNIT_LOSERS = ("pf1", "MP1", "SOR1", "SMiLe", "Leaky", "Nas10*")  # the last is for the Gaussian task only
BEST_ONE_UNIT = ("VarSMiLe", "Nas12*")
LEFT, RIGHT = After(0), After(1)


def gaussian(key: str, statement: str, published: str, check: Check) -> Statement:
    where = "Results, Gaussian estimation task, Figure 2B"
    return Statement(key, "gaussian transient", "2", where, statement, published, check)


def categorical(key: str, statement: str, published: str, check: Check) -> Statement:
    where = "Results, Categorical estimation task, Figure 5B"
    return Statement(key, "categorical transient", "5", where, statement, published, check)


GAUSSIAN = (
    gaussian(
        "gaussian-close-to-exact",
        "pf20, VarSMiLe and Nas12* stay very close to Exact Bayes after a change (here: their mean error within 10 % of it).",
        "very close, both panels",
        close_to_exact(("pf20", "VarSMiLe", "Nas12*"), (LEFT, RIGHT), CLOSE),
    ),
    gaussian(
        "gaussian-varsmile-course",
        "At high sigma VarSMiLe is slightly better than pf20 and Nas12* soon after a change (here: the first fifth of the steps) "
        "and slightly worse later (the last fifth; slightly: by less than 10 %).",
        "slightly better, then slightly worse, right panel",
        both(
            more(("VarSMiLe",), ("pf20", "Nas12*"), at=After(1, "early"), most=CLOSE),
            more(("pf20", "Nas12*"), ("VarSMiLe",), at=After(1, "late"), most=CLOSE),
        ),
    ),
    gaussian(
        "gaussian-mp-low-noise",
        "At low sigma MP20 is the closest of all to Exact Bayes.",
        "closest, left panel",
        ranking(("MP20",), ("pf20", "SOR20", *BEST_ONE_UNIT, *ONE_UNIT_LOSERS), at=LEFT),
    ),
    gaussian(
        "gaussian-mp-high-noise",
        "At high sigma and low p_c MP20 is much worse than pf20, VarSMiLe and Nas12* (here: by more than 25 %).",
        "much worse, right panel",
        more(("pf20", "VarSMiLe", "Nas12*"), ("MP20",), at=RIGHT, least=MUCH),
    ),
    gaussian(
        "gaussian-sor-more-particles",
        "At low sigma SOR gets worse with more particles: SOR1, SOR10, SOR20.",
        "more particles, worse, left panel",
        ranking(("SOR1",), ("SOR10",), ("SOR20",), at=LEFT),
    ),
    gaussian(
        "gaussian-sor-high-noise",
        "At high sigma SOR20 is close to optimal (here: within 10 % of Exact Bayes) and later better than MP20.",
        "close to optimal; better than MP20 later, right panel",
        both(close_to_exact(("SOR20",), (RIGHT,), CLOSE), ranking(("SOR20",), ("MP20",), at=After(1, "late"))),
    ),
    gaussian(
        "gaussian-leaky-trade-off",
        "One leak cannot serve both phases: in neither panel is Leaky close to Exact Bayes (within 10 %) both early and late.",
        "a trade-off",
        serves_not_both("Leaky", (0, 1), CLOSE),
    ),
    gaussian(
        "gaussian-smile-late",
        "SMiLe does better just after a change than later (here: its excess over Exact Bayes is a larger share late; low sigma).",
        "low error at once, high error later",
        excess_grows("SMiLe", 0),
    ),
    gaussian(
        "gaussian-smile-noise", "SMiLe gets worse at higher sigma.", "worse in the right panel", excess_larger_right("SMiLe")
    ),
    gaussian(
        "gaussian-nas10-noise",
        "Nas10* does well at low sigma (here: within 10 % of Exact Bayes) and not at high sigma (here: behind pf20).",
        "well on the left, not on the right",
        both(close_to_exact(("Nas10*",), (LEFT,), CLOSE), ranking(("pf20",), ("Nas10*",), at=RIGHT)),
    ),
    gaussian(
        "gaussian-pf1-nassar",
        "pf1 is worse than Nas10* and Nas12* trial by trial, though alike in expectation.",
        "worse",
        ranking(("Nas10*", "Nas12*"), ("pf1",), at=(LEFT, RIGHT)),
    ),
    gaussian("gaussian-pf1-mp1", "pf1 is better than MP1.", "better", ranking(("pf1",), ("MP1",), at=(LEFT, RIGHT))),
    gaussian(
        "gaussian-pf1-sor1",
        "pf1 performs identically to SOR1.",
        "identical",
        both(same("pf1", "SOR1", at=LEFT), same("pf1", "SOR1", at=RIGHT)),
    ),
)

CATEGORICAL = (
    categorical(
        "categorical-order",
        "After a change pf20, MP20 and SOR20 are the closest to Exact Bayes; VarSMiLe comes next, before all others.",
        "closest, then next in the ranking, both panels",
        ranking(("pf20", "MP20", "SOR20"), ("VarSMiLe",), ONE_UNIT_LOSERS[:-1], at=(LEFT, RIGHT)),
    ),
    categorical(
        "categorical-varsmile-course",
        "After a change VarSMiLe behaves as in the Gaussian task: at high noise first better, later worse than pf20.",
        "similar",
        both(ranking(("VarSMiLe",), ("pf20",), at=After(1, "early")), ranking(("pf20",), ("VarSMiLe",), at=After(1, "late"))),
    ),
)

STATEMENTS = (*GAUSSIAN, *CATEGORICAL)
