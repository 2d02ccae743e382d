"""Tables 1 and 2 of the paper put to the test on the simulated subjects, by the rules of `volatilis.predictions`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from volatilis.paper.figures.predictions import LEARNERS, MEASURES, VARIANTS
from volatilis.predictions import estimators
from volatilis.predictions.estimators import DIFFERENCE, SLOPE
from volatilis.predictions.hypotheses import BAYES_FACTOR, NO_PRIOR, SHANNON, MeanTest, judge, mean_test
from volatilis.predictions.windows import SIGNS

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

# hypothesis -> the variables of the dataset that stand for the indicator where it is true: their prefix, and their measures
SIMULATED = {
    BAYES_FACTOR: ("", ("bayes_factor",)),
    SHANNON: ("", ("shannon",)),
    NO_PRIOR: ("control_", MEASURES),
}


def table_1(dataset: xr.Dataset) -> pd.DataFrame:
    """Table 1 put to the test: the difference of surprise between the sign biases, and its slope over delta > 0.

    Both are computed for each subject over the deltas where it has trials of both signs, then averaged over subjects.
    `confidence` is 1 - p of Student's two-sided test against zero, low and high the 95 % interval. The verdicts are those of
    `volatilis.predictions.hypotheses`: the two zeros of the third row are tested together (Holm). Zero is exact only for equal
    delta or equal p: trials that are alike within a window leave a small remainder, which shrinks with the window and which many
    subjects reveal.
    """
    rows = []
    for variant, learner in ((variant, learner) for variant in VARIANTS for learner in LEARNERS):
        for hypothesis, (prefix, measures) in SIMULATED.items():
            for measure in measures:
                delta, differences = sign_differences(dataset, variant, learner, f"{prefix}{measure}")
                values = {DIFFERENCE: estimators.mean_of(differences), SLOPE: estimators.slopes(delta, differences)}
                names = {"variant": variant, "learner": learner, "hypothesis": hypothesis, "measure": measure}
                rows.append({**names, **_judged(1, hypothesis, values)})
    return _frame(rows)


def table_2(dataset: xr.Dataset) -> pd.DataFrame:
    """Table 2 put to the test: the slope of the average surprise over p, per subject and then over subjects; see `table_1`."""
    rows = []
    for variant, learner in ((variant, learner) for variant in VARIANTS for learner in LEARNERS):
        for hypothesis, measure in ((BAYES_FACTOR, "bayes_factor"), (SHANNON, "shannon")):
            names = {"variant": variant, "learner": learner, "hypothesis": hypothesis, "measure": measure}
            values = {SLOPE: slopes_over_p(dataset, variant, learner, measure)}
            rows.append({**names, **_judged(2, hypothesis, values)})
    return _frame(rows)


def sign_differences(dataset: xr.Dataset, variant: str, learner: str, measure: str) -> tuple[np.ndarray, np.ndarray]:
    """The delta above 0, and the surprise at s = +1 less that at s = -1: subject x delta, NaN where one of them is missing."""
    chosen = dataset[f"{measure}_by_subject"].sel(variant=variant, learner=learner, sign=list(SIGNS))
    return estimators.sign_differences(dataset["delta"].values, chosen.transpose("subject", "sign", "delta").values)


def slopes_over_p(dataset: xr.Dataset, variant: str, learner: str, measure: str) -> np.ndarray:
    """The slope of each subject's average surprise over p."""
    chosen = dataset[f"{measure}_by_subject"].sel(variant=variant, learner=learner)
    return estimators.slopes(dataset["p"].values, chosen.transpose("subject", "p").values)


def _judged(prediction: int, hypothesis: str, values: Mapping[str, np.ndarray]) -> dict[str, float | str]:
    """The columns of one row: for each quantity its predicted sign and its test over subjects, and the hypothesis' verdict."""
    tests: dict[str, MeanTest] = {quantity: mean_test(of_subjects) for quantity, of_subjects in values.items()}
    columns: dict[str, float | str] = {}
    for row in judge(prediction, estimators.PAPER, tests):
        if row.hypothesis == hypothesis:
            name, test = row.quantity, row.test
            columns |= {f"predicted_{name}": row.predicted, name: test.value, f"{name}_se": test.error}
            columns |= {f"{name}_low": test.low, f"{name}_high": test.high, f"{name}_confidence": 1.0 - test.p}
            verdict = row.hypothesis_verdict
    return columns | {"verdict": verdict}


def _frame(rows: list[dict[str, float | str]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows)
