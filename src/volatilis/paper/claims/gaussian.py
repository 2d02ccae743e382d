"""What the paper says on the Gaussian task: Figures 3 and 4 (all cells)."""

from __future__ import annotations

from volatilis.paper.claims.checks import both, opposite, ranking, same, smaller_at, steadier
from volatilis.paper.claims.ratios import nearest, typically, worse_somewhere
from volatilis.paper.claims.views import Check, DistanceGrid, Statement
from volatilis.paper.claims.worst import (
    Published,
    decomposition,
    never_below_zero,
    worst_case,
    worst_case_within,
    worst_cases_differ,
)

GRID = "gaussian"
TEXT = "Results, Gaussian estimation task"
ONE_UNIT_LOSERS = ("pf1", "MP1", "SOR1", "SMiLe", "Leaky", "Nas10*")
BEST_ONE_UNIT = ("VarSMiLe", "Nas12*")
IN_FIGURE = ("pf20", "MP20", "SOR20", *BEST_ONE_UNIT, *ONE_UNIT_LOSERS)

LOWEST_NOISE = DistanceGrid(lambda sigma, p_c: (sigma < 0.3) & (p_c > 0.0))
MORE_NOISE = DistanceGrid(lambda sigma, p_c: (sigma > 0.3) & (p_c > 0.0))
LOW_NOISE = DistanceGrid(lambda sigma, p_c: (sigma <= 0.5) & (p_c > 0.0))
HIGH_NOISE = DistanceGrid(lambda sigma, p_c: (sigma >= 2.0) & (p_c > 0.0))
RARE_CHANGES = DistanceGrid(lambda sigma, p_c: (sigma > 0.0) & (p_c <= 0.001))
OFTEN_CHANGES = DistanceGrid(lambda sigma, p_c: (sigma > 0.0) & (p_c >= 0.05))
LOW_AND_RARE = DistanceGrid(lambda sigma, p_c: (sigma <= 0.5) & (p_c <= 0.001))
HIGH_AND_OFTEN = DistanceGrid(lambda sigma, p_c: (sigma >= 2.0) & (p_c >= 0.05))
HIGHEST_AND_RARE = DistanceGrid(lambda sigma, p_c: (sigma >= 5.0) & (p_c <= 0.01))


def steady(key: str, figure: str, statement: str, published: str, check: Check) -> Statement:
    return Statement(key, GRID, figure, f"{TEXT}, Figure {figure}", statement, published, check)


SINGLE_LEARNERS = (
    steady(
        "gaussian-pf1-nassar-cells",
        "3",
        "The same over all cells: pf1 is worse than Nas10* and Nas12*.",
        "worse",
        ranking(("Nas10*", "Nas12*"), ("pf1",)),
    ),
    steady(
        "gaussian-pf1-mp1-cells",
        "3",
        "The same over all cells: pf1 is better than MP1.",
        "better",
        ranking(("pf1",), ("MP1",)),
    ),
    steady(
        "gaussian-pf1-sor1-cells",
        "3",
        "The same over all cells and in each: pf1 performs identically to SOR1.",
        "identical",
        same("pf1", "SOR1"),
    ),
    steady(
        "gaussian-varsmile-worst",
        "3",
        "VarSMiLe deviates most at high sigma and low p_c (here: sigma 2 or more, p_c 0.01 or less).",
        "largest at high sigma, low p_c",
        worst_case_within(("VarSMiLe",), lambda sigma, p_c: (sigma >= 2.0) & (p_c <= 0.01)),
    ),
    steady(
        "gaussian-varsmile-mp",
        "3",
        "There VarSMiLe still does better than MP1, MP10 and MP20 (here: sigma 5, p_c 0.01 or less).",
        "more resilient",
        ranking(("VarSMiLe",), ("MP1", "MP10", "MP20"), at=HIGHEST_AND_RARE),
    ),
    steady(
        "gaussian-leaky-pattern",
        "3",
        "Leaky deviates more as sigma and as p_c increase.",
        "well at low sigma and p_c, worse as they grow",
        both(smaller_at(("Leaky",), LOW_NOISE, HIGH_NOISE), smaller_at(("Leaky",), RARE_CHANGES, OFTEN_CHANGES)),
    ),
    steady(
        "gaussian-smile-pattern",
        "3",
        "SMiLe is at its best at low sigma (here: sigma 0.1 against all others).",
        "best at lower sigma",
        smaller_at(("SMiLe",), LOWEST_NOISE, MORE_NOISE),
    ),
    steady(
        "gaussian-negative",
        "3",
        "Negative Delta MSE (black cells of MP20) is due to the finite sample: no learner beats Exact Bayes.",
        "noise",
        never_below_zero(("MP20", "pf20", *BEST_ONE_UNIT)),
    ),
    Statement(
        "gaussian-decomposition",
        GRID,
        "3",
        "Methods, Mean squared error as an optimality measure",
        "Delta MSE is the mean squared distance between the estimate and that of Exact Bayes.",
        "an identity in expectation",
        decomposition(("pf20", "MP20", "SOR20", *BEST_ONE_UNIT, "Leaky")),
    ),
)

COMPARISONS = (
    steady(
        "gaussian-worst-pf20",
        "4",
        "The worst case of pf20 is Delta MSE = 0.033, at sigma 5, p_c 0.0001.",
        "0.033 (standard error 0.0030 in the authors' data)",
        worst_case(("pf20",), Published(0.033, 0.0005, 0.002965, 5.0, 0.0001)),
    ),
    steady(
        "gaussian-worst-sor20",
        "4",
        "The worst case of SOR20 is Delta MSE = 0.061, at sigma 0.1, p_c 0.1.",
        "0.061 (standard error 0.00084 in the authors' data)",
        worst_case(("SOR20",), Published(0.061, 0.0005, 0.000842, 0.1, 0.1)),
    ),
    steady(
        "gaussian-worst-test",
        "4",
        "The worst case of SOR20 is significantly above that of pf20.",
        "p = 2.79e-6 (Welch's test on the authors' means and standard errors: 2.796e-6)",
        worst_cases_differ(("pf20",), ("SOR20",)),
    ),
    steady(
        "gaussian-lowest-worst",
        "4",
        "pf20, Nas12* and VarSMiLe have the lowest worst cases, significantly below the other eight learners.",
        "lowest three of eleven",
        worst_cases_differ(("pf20", *BEST_ONE_UNIT), ("MP20", "SOR20", *ONE_UNIT_LOSERS)),
    ),
    steady(
        "gaussian-smallest",
        "3",
        "pf20 and MP20 are the closest to the optimum (here: by a typical ratio of distances, every cell alike).",
        "smallest difference",
        nearest(("pf20", "MP20"), ("SOR20", *BEST_ONE_UNIT, *ONE_UNIT_LOSERS)),
    ),
    steady(
        "gaussian-next",
        "3",
        "Next in performance, after pf20, MP20 and SOR20, are Nas12* and VarSMiLe (here: by a typical ratio of distances).",
        "next",
        typically(("pf20", "MP20", "SOR20"), ("Nas12*", "VarSMiLe"), ONE_UNIT_LOSERS),
    ),
    Statement(
        "gaussian-resampling",
        GRID,
        "3",
        "Results, Message-Passing N",
        "In some cases the errors of SOR's resampling made it worse than MP with as many particles (here: SOR20, MP20, a cell).",
        "in some cases",
        worse_somewhere("SOR20", "MP20"),
    ),
    steady(
        "gaussian-one-unit",
        "3",
        "Among the learners with one unit of memory VarSMiLe and Nas12* win.",
        "the winners",
        ranking(BEST_ONE_UNIT, ONE_UNIT_LOSERS),
    ),
    Statement(
        "gaussian-one-unit-summary",
        GRID,
        "3",
        "Results, Summary of simulation results",
        "Among the learners with one unit of memory VarSMiLe performs best (Gaussian task: also better than Nas12*).",
        "best",
        ranking(("VarSMiLe",), ("Nas12*", *ONE_UNIT_LOSERS)),
    ),
    steady(
        "gaussian-pattern",
        "3",
        "All learners but SOR20 deviate less at low sigma and low p_c than at high sigma and high p_c; SOR20 deviates more.",
        "all but SOR20",
        both(
            smaller_at(tuple(who for who in IN_FIGURE if who != "SOR20"), LOW_AND_RARE, HIGH_AND_OFTEN),
            opposite(smaller_at(("SOR20",), LOW_AND_RARE, HIGH_AND_OFTEN)),
        ),
    ),
    steady(
        "gaussian-mp20-pf20",
        "3",
        "At high sigma and low p_c MP20 is worse than pf20 (here: sigma 5, p_c 0.01 or less).",
        "worse",
        ranking(("pf20",), ("MP20",), at=HIGHEST_AND_RARE),
    ),
    steady(
        "gaussian-pf20-robust",
        "3",
        "pf20 is more robust across environments than MP20 (here: its deviation varies less over cells).",
        "more robust",
        steadier(("pf20",), ("MP20",)),
    ),
    steady(
        "gaussian-sor20-low-noise",
        "3",
        "SOR20 has an unexpectedly high error in environments of low noise (here: above pf20 at sigma 0.1).",
        "unexpectedly high",
        ranking(("pf20",), ("SOR20",), at=LOWEST_NOISE),
    ),
    steady(
        "gaussian-sor20-elsewhere",
        "3",
        "Otherwise the error of SOR20 is low (here: below pf20 at all sigma above 0.1).",
        "low overall",
        ranking(("SOR20",), ("pf20",), at=MORE_NOISE),
    ),
)

STATEMENTS = (*SINGLE_LEARNERS, *COMPARISONS)
