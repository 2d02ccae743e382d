"""Tables 1 and 2 of the paper put to the test on the simulated subjects."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from volatilis.paper.figures.predictions import LEARNERS, MEASURES, VARIANTS, mean_and_error

# hypothesis, the prefix of its variables, the measures that stand for the indicator, the predicted sign of the difference between
# the sign biases and of its slope over delta
TABLE_1 = (
    ("the indicator reflects S_BF", "", ("bayes_factor",), -1, -1),
    ("the indicator reflects S_Sh", "", ("shannon",), 1, 1),
    ("the prior is not used", "control_", MEASURES, 0, 0),
)
# hypothesis, measure, the predicted sign of the slope over p
TABLE_2 = (("the indicator reflects S_BF", "bayes_factor", 0), ("the indicator reflects S_Sh", "shannon", -1))
LEVEL = 0.95


def table_1(dataset: Any) -> Any:
    """Table 1 put to the test: the difference of surprise between the sign biases, and its slope over delta > 0.

    Both are computed for each subject over the deltas where it has trials of both signs, then averaged over subjects.
    `confidence` is 1 - p of Student's two-sided test against zero, low and high the 95 % interval. The verdict on a predicted
    sign is "confirmed" or "contradicted" where the interval excludes zero, else "undecided"; on a predicted zero it is
    "consistent" where the interval holds zero, else "contradicted". Zero is exact only for equal delta or equal p: trials that
    are alike within a window leave a small remainder, which shrinks with the window and which many subjects reveal.
    """
    rows = []
    for variant, learner in ((v, n) for v in VARIANTS for n in LEARNERS):
        for hypothesis, prefix, measures, sign, slope_sign in TABLE_1:
            for measure in measures:
                delta, differences = sign_differences(dataset, variant, learner, f"{prefix}{measure}")
                parts = {"difference": (sign, mean_and_error(differences)[0]), "slope": (slope_sign, slopes(delta, differences))}
                rows.append(_row(variant, learner, hypothesis, measure, parts))
    return _frame(rows)


def table_2(dataset: Any) -> Any:
    """Table 2 put to the test: the slope of the average surprise over p, per subject and then over subjects; see `table_1`."""
    rows = []
    for variant, learner in ((v, n) for v in VARIANTS for n in LEARNERS):
        for hypothesis, measure, sign in TABLE_2:
            values = dataset[f"{measure}_by_subject"].sel(variant=variant, learner=learner).transpose("subject", "p").values
            parts = {"slope": (sign, slopes(dataset["p"].values, values))}
            rows.append(_row(variant, learner, hypothesis, measure, parts))
    return _frame(rows)


def sign_differences(dataset: Any, variant: str, learner: str, measure: str) -> tuple[np.ndarray, np.ndarray]:
    """The delta above 0, and the surprise at s = +1 less that at s = -1: subject x delta, NaN where one of them is missing."""
    delta = dataset["delta"].values
    chosen = dataset[f"{measure}_by_subject"].sel(variant=variant, learner=learner, delta=delta[delta > 0])
    return delta[delta > 0], (chosen.sel(sign=1) - chosen.sel(sign=-1)).transpose("subject", "delta").values


def slopes(x: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Of each subject's values over x."""
    return np.array([slope(x, own) for own in values])


def slope(x: np.ndarray, y: np.ndarray) -> float:
    """The least-squares slope over the points where y is there; NaN where they are fewer than two."""
    there = ~np.isnan(y)
    if there.sum() < 2:
        return math.nan
    from_middle = x[there] - x[there].mean()
    return float(from_middle @ y[there] / (from_middle @ from_middle))


def _row(variant: str, learner: str, hypothesis: str, measure: str, parts: dict[str, tuple[int, np.ndarray]]) -> dict[str, Any]:
    """One row: for each quantity its predicted sign and what was measured; the row's verdict is the worst of its quantities'."""
    row: dict[str, Any] = {"variant": variant, "learner": learner, "hypothesis": hypothesis, "measure": measure}
    verdicts = []
    for name, (sign, values) in parts.items():
        measured = measure_sign(values)
        row |= {f"predicted_{name}": sign, name: measured.value, f"{name}_se": measured.error}
        row |= {f"{name}_low": measured.low, f"{name}_high": measured.high, f"{name}_confidence": measured.confidence}
        verdicts.append(verdict(sign, measured))
    return row | {"verdict": next(v for v in ("contradicted", "undecided", "consistent", "confirmed") if v in verdicts)}


class Measured(NamedTuple):
    """A mean over subjects with its standard error, its 95 % interval, and the confidence that it is not zero."""

    value: float
    error: float
    low: float
    high: float
    confidence: float


def measure_sign(values: np.ndarray) -> Measured:
    """Student's t over subjects, those without a value aside; NaN where fewer than two have one or all are the same."""
    from scipy import stats

    value, error = (float(number) for number in mean_and_error(values))
    degrees = int(np.sum(~np.isnan(values))) - 1
    if not error > 0.0:
        return Measured(value, error, math.nan, math.nan, math.nan)
    reach = error * stats.t.ppf((1.0 + LEVEL) / 2.0, degrees)
    return Measured(value, error, value - reach, value + reach, float(1.0 - 2.0 * stats.t.sf(abs(value) / error, degrees)))


def verdict(sign: int, measured: Measured) -> str:
    """What a measurement says about a predicted sign (-1, 0 or 1)."""
    if math.isnan(measured.low):
        return "undecided"
    if measured.low <= 0.0 <= measured.high:
        return "consistent" if sign == 0 else "undecided"
    return "confirmed" if sign * measured.value > 0.0 else "contradicted"


def _frame(rows: list[dict[str, Any]]) -> Any:
    import pandas as pd

    return pd.DataFrame(rows)
