"""What the paper says on the Categorical task: Figures 6 and 7 (all cells)."""

from __future__ import annotations

from volatilis.paper.claims.checks import both, ranking, smaller_at, steadier
from volatilis.paper.claims.ratios import nearer_in_cells
from volatilis.paper.claims.views import Check, DistanceGrid, Statement
from volatilis.paper.claims.worst import (
    Published,
    decomposition,
    never_below_zero,
    worst_case,
    worst_case_within,
    worst_cases_differ,
)

GRID = "categorical"
TEXT = "Results, Categorical estimation task"
ONE_UNIT_LOSERS = ("pf1", "MP1", "SOR1", "SMiLe", "Leaky")

LOW, HIGH = 0.05, 2.0  # s below is nearly deterministic, s from here up highly stochastic
CORNERS = {
    "high s, often": DistanceGrid(lambda s, p_c: (s >= HIGH) & (p_c >= 0.05)),
    "high s, rare": DistanceGrid(lambda s, p_c: (s >= HIGH) & (p_c <= 0.001)),
    "low s, often": DistanceGrid(lambda s, p_c: (s <= LOW) & (p_c >= 0.05)),
    "low s, rare": DistanceGrid(lambda s, p_c: (s <= LOW) & (p_c <= 0.001)),
}
EXTREMES = DistanceGrid(lambda s, p_c: ((s <= LOW) | (s >= 5.0)) & (p_c > 0.0))
UP_TO_2 = DistanceGrid(lambda s, p_c: (s <= 2.0) & (p_c > 0.0))
ABOVE_2 = DistanceGrid(lambda s, p_c: (s > 2.0) & (p_c > 0.0))


def steady(key: str, figure: str, statement: str, published: str, check: Check) -> Statement:
    return Statement(key, GRID, figure, f"{TEXT}, Figure {figure}", statement, published, check)


def corner(low: str, high: str) -> Check:
    return smaller_at(("VarSMiLe",), CORNERS[low], CORNERS[high])


STATEMENTS = (
    steady(
        "categorical-worst-sor20",
        "7",
        "The worst case of SOR20 is Delta MSE = 8.16e-5, at s 2, p_c 0.01.",
        "8.16e-5",
        worst_case(("SOR20",), Published(8.16e-5, 5e-8, noise=2.0, p_c=0.01)),
    ),
    steady(
        "categorical-worst-pf20",
        "7",
        "The worst case of pf20 is Delta MSE = 0.0048, at s 0.25, p_c 0.005.",
        "0.0048 (standard error 0.00009, from the published p-value)",
        worst_case(("pf20",), Published(0.0048, 0.00005, 0.00009, 0.25, 0.005)),
    ),
    steady(
        "categorical-worst-test",
        "7",
        "The worst case of pf20 is significantly above that of SOR20.",
        "p = 1.148e-12",
        worst_cases_differ(("SOR20",), ("pf20",)),
    ),
    steady(
        "categorical-lowest-worst",
        "7",
        "SOR20 and pf20 have the lowest worst cases.",
        "lowest two",
        worst_cases_differ(("SOR20", "pf20"), ("MP20", "VarSMiLe", *ONE_UNIT_LOSERS)),
    ),
    steady(
        "categorical-maximum",
        "7",
        "MP1 and SMiLe have the largest errors, up to 0.53.",
        "0.53",
        both(
            worst_case(("MP1", "SMiLe"), Published(0.53, 0.005)),
            worst_cases_differ(("SOR20", "pf20", "MP20", "VarSMiLe", "Leaky", "pf1", "SOR1"), ("MP1", "SMiLe")),
        ),
    ),
    steady(
        "categorical-top-four",
        "7",
        "SOR20, pf20, MP20 and VarSMiLe are significantly better than all others.",
        "top four",
        ranking(("SOR20", "pf20", "MP20", "VarSMiLe"), ONE_UNIT_LOSERS),
    ),
    steady(
        "categorical-winner",
        "6",
        "SOR20 is the best learner.",
        "the winner",
        ranking(("SOR20",), ("pf20", "MP20", "VarSMiLe", *ONE_UNIT_LOSERS)),
    ),
    steady(
        "categorical-consistent",
        "6",
        "SOR20 behaves most consistently (here: its deviation varies least over cells).",
        "most consistent",
        steadier(("SOR20",), ("pf20", "MP20", "VarSMiLe", *ONE_UNIT_LOSERS)),
    ),
    steady(
        "categorical-pf20-high",
        "6",
        "pf20 is better than MP20 for s above 2 (here: at s 5, whatever p_c).",
        "better for s > 2",
        nearer_in_cells("pf20", "MP20", ABOVE_2),
    ),
    steady(
        "categorical-mp20-low",
        "6",
        "MP20 is better than pf20 for s up to 2 (here: in every such cell).",
        "better for s <= 2",
        nearer_in_cells("MP20", "pf20", UP_TO_2),
    ),
    steady(
        "categorical-medium",
        "6",
        "All others but MP20 deviate most at medium stochasticity (here: s from 0.1 to 1).",
        "highest at medium s",
        worst_case_within(("pf20", "VarSMiLe", *ONE_UNIT_LOSERS), lambda s, p_c: (s > LOW) & (s <= 1.0) & (p_c > 0.0)),
    ),
    steady(
        "categorical-extremes",
        "6",
        "pf20 is the most resilient to extreme s (here: the smallest deviation at s 0.01 and 5, SOR20 set apart as the winner).",
        "most resilient",
        ranking(("pf20",), ("MP20", "VarSMiLe", *ONE_UNIT_LOSERS), at=EXTREMES),
    ),
    steady(
        "categorical-varsmile-corners",
        "6",
        "VarSMiLe deviates least where s and p_c are both high or both low.",
        "lowest in these two corners",
        both(*(corner(low, high) for low in ("high s, often", "low s, rare") for high in ("high s, rare", "low s, often"))),
    ),
    Statement(
        "categorical-one-unit",
        GRID,
        "6",
        "Results, Summary of simulation results",
        "Among the learners with one unit of memory VarSMiLe performs best.",
        "best",
        ranking(("VarSMiLe",), ONE_UNIT_LOSERS),
    ),
    Statement(
        "categorical-decomposition",
        GRID,
        "6",
        "Methods, Mean squared error as an optimality measure",
        "Delta MSE is the mean squared distance to the estimate of Exact Bayes, and never below 0 but by noise.",
        "an identity in expectation",
        both(
            decomposition(("pf20", "MP20", "SOR20", "VarSMiLe", "Leaky")), never_below_zero(("pf20", "MP20", "SOR20", "VarSMiLe"))
        ),
    ),
)
