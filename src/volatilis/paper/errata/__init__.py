"""The mistakes in the paper and its published code, and what each changes in numbers (`effects`). From 14 on: found here."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from volatilis.paper.errata import effects
from volatilis.paper.figures import Data


class Erratum(NamedTuple):
    """A mistake, and a function that measures its effect; None where the data it needs is not there."""

    number: int
    title: str
    text: str
    effect: Callable[[Data], str | None]


def _says(text: str) -> Callable[[Data], str]:
    return lambda data: text


ERRATA: tuple[Erratum, ...] = (
    Erratum(
        1,
        "SOR20 at low noise is an artefact",
        "The published resampling searches its threshold with strict inequalities. Where weights underflow to zero none passes, "
        "and hypotheses without weight survive with equal shares. That SOR gets worse with more particles follows from it.",
        effects.resampling,
    ),
    Erratum(
        2,
        "Tuned parameters at the edge of their grid",
        "The searches stop at omega = 0.99, p_c = 1e-4 and 0.855, m = 1e-4 and 10, where the optimum of some environments lies "
        "beyond. Not every published value at an edge is such an optimum (14).",
        effects.edges,
    ),
    Erratum(
        3,
        "Bayes Factor Surprise of the Gaussian (appendix)",
        "The prefactor lacks a square root; the last two terms lack squares and a factor sigma^2; the signs of the two terms of "
        "the belief are reversed. The ratio of the two densities is right.",
        effects.bayes_factor,
    ),
    Erratum(
        4,
        "Pseudocode of Nas10* and pf1",
        "What is called sigma is a variance.",
        effects.variance_for_deviation,
    ),
    Erratum(
        5,
        "A line of the variance's derivation (appendix)",
        "(1 - gamma) / (rho + r + 1) must be (1 - gamma) r / (rho + r + 1).",
        effects.variance_line,
    ),
    Erratum(
        6,
        "The sign bias",
        "By the formula, s = +1 is a prediction too small in absolute value, not too large as the text has it.",
        effects.sign_word,
    ),
    Erratum(
        7,
        "How prediction 1 selects trials",
        "The text selects on the standard deviation after the observation, the code on the variance before it, which for pf20 "
        "and VarSMiLe it computes as sigma / nu instead of sigma^2 / nu. The window is so wide (0.5 ± 1) that it hardly filters.",
        effects.selection,
    ),
    Erratum(
        8,
        "The base of the logarithm",
        "Published Shannon surprises are in log base 10; here they are in nats.",
        _says(f"a factor of {math.log(10):.4f}"),
    ),
    Erratum(
        9,
        "The error of the Categorical task",
        "It is the sum over the five categories, not the mean.",
        effects.categorical_sum,
    ),
    Erratum(
        10,
        "Patched surprises",
        "The code replaces infinite surprises by 1e16, and one particle's zero makes the surprise of all zero.",
        effects.patches,
    ),
    Erratum(
        11,
        "The first observation",
        "It follows a change with certainty; the published environments draw a parameter and may change again at once.",
        _says("0: a draw from the prior in place of a draw from the prior"),
    ),
    Erratum(
        12,
        "The start of Nas10* and Nas12*",
        "The code starts with r = 1 while the variance is the prior's. With r = 0 the start is the prior itself, and Merge with "
        "one hypothesis is exactly Nas12*.",
        effects.start,
    ),
    Erratum(
        13,
        "The two p-values",
        "They come from Welch's test over ten seeds of the per-seed difference to Exact Bayes.",
        effects.p_values,
    ),
    Erratum(
        14,
        "The steps of the leak",
        "Leaky was searched in steps of 0.01 where p_c is at most 0.001 and of 0.03 above: every published "
        "value is a multiple of "
        "these. At sigma 5 and p_c 0.005 to 0.05 the best leak lies between 0.96 and 0.99, and 0.99 was taken: the coarse step "
        "decides there, not the end of the grid.",
        effects.leak,
    ),
    Erratum(
        15,
        "Nas12* in the predictions",
        "The text says that learners have their tuned parameters. The published code gives Nas12* the true p_c = 0.1.",
        effects.tuned_rate,
    ),
    Erratum(
        16,
        "The slopes of prediction 1",
        "That the differences grow with delta is claimed for every sigma_C > 0; the proof, and the result, need sigma_C < "
        "sigma_0.",
        effects.slope_needs_confidence,
    ),
    Erratum(
        17,
        "The windows of both predictions",
        "Trials that are alike within a window are not equal: where theory says that there is no effect a small one remains.",
        effects.windows,
    ),
    Erratum(
        18,
        "The ratio in words",
        "The caption of Figure 10 (red to black dot) and the Discussion (current belief to prior) give the ratio of the Bayes "
        "Factor Surprise the wrong way round; the formulas have prior to current belief.",
        effects.wrong_way_round,
    ),
    Erratum(
        19,
        "An environment that was not simulated",
        "The text on the Categorical task speaks of s = 0.001; the least s of the grid is 0.01.",
        _says("nothing at that s is shown; all statements here are about s = 0.01 and more"),
    ),
    Erratum(
        20,
        "Probabilities that cannot occur",
        "Prediction 2 is simulated for p up to 0.4, but no observation is so probable under the prior.",
        effects.highest_density,
    ),
    Erratum(
        21,
        "SMiLe's bound",
        "The text has B_max = KL[posterior || belief], with the posterior of one observation. The update moves towards the "
        "scaled likelihood, so that the divergence it can reach is KL[scaled likelihood || belief]. That one reproduces the "
        "published data.",
        effects.bound,
    ),
    Erratum(
        22,
        "Errors after a change",
        "The published standard errors of Figures 2 and 5 take all changes for independent. Those of one "
        "seed share its sequence, "
        "and a learner that goes astray stays astray over many of them.",
        effects.clustering,
    ),
    Erratum(
        23,
        "The first trial of prediction 2",
        "The text takes all trials. The code leaves a subject's first trial out, where belief and prior are "
        "the same and S_BF is 1 "
        "by construction.",
        effects.first_trial,
    ),
    Erratum(
        24,
        "What learners assume in Figures 8 and 9",
        "The text tunes for p_c'. The code takes, for pf, MP, SOR and Exact Bayes too, the value with the "
        "least error at p_c' on the "
        "three sequences that are shown.",
        effects.assumed,
    ),
    Erratum(
        25,
        "Grids that differ from the text",
        "The published values of Nas10* are of 59 log steps up to 0.855 (six lie above 0.1), where the code "
        "has 40 up to 0.1; those of "
        "SMiLe in the Categorical task are of 30 log steps, and its grid begins at 2.2e-16.",
        _says("the grids here are those that hold every published value; the best values beyond them: erratum 2"),
    ),
)
