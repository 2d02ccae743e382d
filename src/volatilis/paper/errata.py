"""The mistakes in the paper and its published code, and what each changes in numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from volatilis.paper.figures import Data
from volatilis.paper.settings import CATEGORICAL, GAUSSIAN, TASKS


class Erratum(NamedTuple):
    """A mistake, and a function that measures its effect; None where the data it needs is not there."""

    number: int
    title: str
    text: str
    effect: Callable[[Data], str | None]


def _resampling(data: Data) -> str | None:
    if GAUSSIAN not in data:
        return None
    cell = _excess(data[GAUSSIAN]).sel(noise=0.1, p_c=0.1)
    wrong, right = cell.sel(learner="SOR20 (published)"), cell.sel(learner="SOR20")
    return (
        f"at sigma 0.1, p_c 0.1, error above Exact Bayes: {_with_error(wrong)} as published, {_with_error(right)} done right "
        "(paper: 0.061)"
    )


def _edges(data: Data) -> str | None:
    """How many cells have their optimum outside the authors' grid, and the largest gain."""
    parts = []
    for task in (task for task in TASKS if task in data):
        error = data[task].error.mean("seed")
        for name in (str(name) for name in error.learner.values if f"{name} (free)" in error.learner.values):
            gain = error.sel(learner=name) - error.sel(learner=f"{name} (free)")
            cells = int((np.abs(gain) > 0.01 * error.sel(learner=f"{name} (free)")).sum())
            if cells:
                parts.append(f"{name} ({task}): {cells} cells change by over 1 %, by up to {float(gain.max()):.2g}")
    return "; ".join(parts) or "no cell changes by over 1 %" if any(task in data for task in TASKS) else None


def _bayes_factor(data: Data) -> str:
    """The appendix's formula against the ratio of densities, at sigma = 0.5, belief N(1, 0.1^2), y = 2."""
    sigma, mu, spread, y = 0.5, 1.0, 0.1, 2.0
    before, prior = sigma**2 + spread**2, sigma**2 + 1.0
    right = math.sqrt(before / prior) * math.exp(0.5 * (y - mu) ** 2 / before - 0.5 * y**2 / prior)
    without_root = right * math.sqrt(before / prior)
    return f"at sigma 0.5, belief N(1, 0.01), y = 2: S_BF = {right:.3g}; lacking the square root alone, {without_root:.3g}"


def _selection(data: Data) -> str | None:
    if "prediction1" not in data:
        return None
    surprise = data["prediction1"].bayes_factor.sel(learner="pf20").isel(delta=5)
    gap = surprise.sel(sign=1) - surprise.sel(sign=-1)
    wrong, right = float(gap.sel(variant="published")), float(gap.sel(variant="right"))
    return f"difference of S_BF between the signs at delta 0.5, pf20: {wrong:.3f} as published, {right:.3f} as in the text"


def _categorical_sum(data: Data) -> str | None:
    if CATEGORICAL not in data:
        return None
    worst = float(_excess(data[CATEGORICAL]).mean("seed").sel(learner="pf20").max())
    return f"pf20's worst case is {worst:.2g} as a sum over categories; as a mean it would be {worst / 5:.2g}"


def _excess(grid: Any) -> Any:
    return grid.error - grid.error.sel(learner="Exact Bayes", drop=True)


def _with_error(values: Any) -> str:
    spread = float(values.std(ddof=1)) / math.sqrt(values.size) if values.size > 1 else math.nan
    return f"{float(values.mean()):.3g} ± {spread:.1g}"


def _says(text: str) -> Callable[[Data], str]:
    return lambda data: text


ERRATA: tuple[Erratum, ...] = (
    Erratum(
        1,
        "SOR20 at low noise is an artefact",
        "The published resampling searches its threshold with strict inequalities. Where weights underflow to zero none passes, "
        "and hypotheses without weight survive with equal shares. That SOR gets worse with more particles follows from it.",
        _resampling,
    ),
    Erratum(
        2,
        "Tuned parameters at the edge of their grid",
        "The searches stop at omega = 0.99, p_c = 1e-4 and 0.855, m = 1e-4 and 10, where the optimum of some environments lies "
        "beyond.",
        _edges,
    ),
    Erratum(
        3,
        "Bayes Factor Surprise of the Gaussian (appendix)",
        "The prefactor lacks a square root, two terms lack squares, and signs are off; the ratio of the two densities is right.",
        _bayes_factor,
    ),
    Erratum(
        4,
        "Pseudocode of Nas10* and pf1",
        "What is called sigma is a variance.",
        _says("none, once read as a variance"),
    ),
    Erratum(
        5,
        "A line of the variance's derivation (appendix)",
        "(1 - gamma) / (rho + r + 1) must be (1 - gamma) r / (rho + r + 1).",
        _says("none: the lines after it are right"),
    ),
    Erratum(
        6,
        "The sign bias",
        "By the formula, s = +1 is a prediction too small in absolute value, not too large as the text has it.",
        _says("the labels of Figure 10 change places in words; formula and predictions are right"),
    ),
    Erratum(
        7,
        "How prediction 1 selects trials",
        "The text selects on the standard deviation after the observation, the code on the variance before it, which it computes "
        "as sigma / nu.",
        _selection,
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
        _categorical_sum,
    ),
    Erratum(
        10,
        "Patched surprises",
        "The code replaces infinite surprises by 1e16, and one particle's zero makes the surprise of all zero.",
        _says("none here: log-odds need no patch"),
    ),
    Erratum(
        11,
        "The first observation",
        "It follows a change with certainty; the published environments draw a parameter and may change again at once.",
        _says("none: the same in distribution"),
    ),
    Erratum(
        12,
        "The start of Nas10* and Nas12*",
        "The code starts with r = 1 while the variance is the prior's. With r = 0 the start is the prior itself, and Merge with "
        "one hypothesis is exactly Nas12*.",
        _says("only the first observations of a sequence"),
    ),
    Erratum(
        13,
        "The two p-values",
        "They come from Welch's test over ten seeds of the per-seed difference to Exact Bayes.",
        _says("see the claims on the worst cases"),
    ),
)
