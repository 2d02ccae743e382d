"""What the paper says on the two experimental predictions: Figures 10 and 11, and its two tables of hypotheses.

Differences and slopes are those of Tables 1 and 2 (below): of each subject, every delta or p alike, then over subjects.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from volatilis.paper.claims.statistics import (
    Difference,
    MissingDataError,
    Outcome,
    all_of,
    below,
    every,
    known,
    stratified,
    weakest,
)
from volatilis.paper.claims.views import Check, Statement, View
from volatilis.paper.figures.predictions import LEARNERS, MEASURES, VARIANTS
from volatilis.predictions import estimators
from volatilis.predictions.estimators import DIFFERENCE, SLOPE, mean_of, slopes
from volatilis.predictions.hypotheses import BAYES_FACTOR, NO_PRIOR, SHANNON, MeanTest, judge, mean_test
from volatilis.predictions.windows import SIGNS

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

SUBJECTS = ("Nas12*", "pf20")
SUBJECTS_EACH = 20  # that the paper, and every size here, simulates: Student's t, not the normal distribution
FEWEST = 5  # subjects; the standard error over fewer says little
METHOD = "t-test over subjects, of each the mean over delta above 0 (Table 1)"


def variant(view: View) -> str:
    return "right" if view.mended else "published"


def over_subjects(values: np.ndarray) -> Difference:
    """The mean of the subjects that have a value."""
    if np.isfinite(values).sum() < FEWEST:
        raise MissingDataError("too few subjects with such trials")
    return stratified(values)


def sign_differences(view: View, measure: str, learner: str) -> tuple[np.ndarray, np.ndarray]:
    """delta above 0, and surprise at s = +1 less surprise at s = -1, subject by subject (Table 1)."""
    need(view, measure, learner)
    return differences_of(view.dataset, variant(view), learner, measure)


def need(view: View, measure: str, learner: str) -> None:
    """Refuse a dataset without this measure of this learner."""
    if f"{measure}_by_subject" not in view.dataset or learner not in view.dataset.learner:
        raise MissingDataError(f"{measure} of {learner} is not in the dataset")


def sign_effect(measure: str, direction: int) -> Check:
    """The surprise at s = +1 lies above (direction +1) or below (-1) that at s = -1: on average over delta, nowhere against."""

    def check(view: View) -> Outcome:
        tests, answers = {}, []
        for who in SUBJECTS:
            differences = sign_differences(view, measure, who)[1]
            tests[who] = over_subjects(direction * mean_of(differences))
            usable = [column for column in differences.T if np.isfinite(column).sum() >= FEWEST]
            singles = [stratified(direction * column) for column in usable]
            against = any(test.sign(len(singles)) < 0 for test in singles)
            answers.append(False if against else every({who: tests[who]}))
        return Outcome(f"s = +1 minus s = -1: {signed(tests, direction)}", all_of(answers), f"{weakest(tests)}; {METHOD}")

    return check


def signed(tests: dict[str, Difference], direction: int) -> str:
    return ", ".join(f"{who} {direction * test.estimate:+.3g} ± {test.standard_error:.2g}" for who, test in tests.items())


def sign_effect_slope(measure: str, direction: int) -> Check:
    """The same difference grows with delta in this direction."""

    def check(view: View) -> Outcome:
        tests = {}
        for who in SUBJECTS:
            delta, differences = sign_differences(view, measure, who)
            tests[who] = over_subjects(direction * slopes(delta, differences))
        text = f"slope of the difference against delta: {signed(tests, direction)}"
        return Outcome(
            text, every(tests), f"{weakest(tests)}; t-test over subjects, of each the slope over delta above 0 (Table 1)"
        )

    return check


def no_sign_effect(view: View) -> Outcome:
    """Where the prior is as good as unused there is no difference: within 5 % of the Bayes factor, 0.05 of Shannon Surprise."""
    tests = {}
    for who in SUBJECTS:
        for measure in ("bayes_factor", "shannon"):
            name = f"control_{measure}"
            differences = mean_of(sign_differences(view, name, who)[1])
            chosen = view.dataset[f"{name}_by_subject"].sel(variant=variant(view), learner=who, sign=1)
            scale = float(chosen.mean()) if measure == "bayes_factor" else 1.0
            tests[f"{who} {measure.replace('_', ' ')}"] = over_subjects(differences / scale)
    text = ", ".join(f"{name} {test.estimate:+.3f} ± {test.standard_error:.2g}" for name, test in tests.items())
    return Outcome(
        f"{text} (the Bayes factor's as a share of its mean)",
        all_of(within(test, 0.05) for test in tests.values()),
        f"{METHOD}; nothing: the 99 % interval within ± 0.05",
    )


def probability_curve(view: View, measure: str, learner: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """p, and the mean and standard error over subjects, where enough of them had such trials."""
    if measure not in view.dataset or learner not in view.dataset.learner:
        raise MissingDataError(f"{measure} of {learner} is not in the dataset")
    chosen = view.dataset.sel(variant=variant(view), learner=learner)
    values, errors = (np.asarray(chosen[name].values, dtype=float) for name in (measure, f"{measure}_se"))
    usable = np.isfinite(values) & (errors > 0.0) & (chosen["subjects"].values >= FEWEST)
    if usable.sum() < 2:
        raise MissingDataError("too few subjects with such trials")
    return view.coordinate("p")[usable], values[usable], errors[usable]


def constant_one(view: View) -> Outcome:
    """The Bayes Factor Surprise stays at 1 for all p: mean within 5 % of 1, no slope worth 10 % over the range."""
    texts, answers, errors = [], [], []
    for who in SUBJECTS:
        p, value, error = probability_curve(view, "bayes_factor", who)
        level, line = weighted_mean(value - 1.0, error), line_slope(p, value, error)
        rise = Difference(line.estimate * np.ptp(p), line.standard_error * np.ptp(p), line.freedom)
        answers += [within(level, 0.05), within(rise, 0.1)]
        texts.append(f"{who}: mean {1.0 + level.estimate:.3f}, change over the range {rise.estimate:+.3f}")
        errors.append(f"{level.standard_error:.2g}, {rise.standard_error:.2g}")
    return Outcome(
        "; ".join(texts),
        all_of(answers),
        f"standard errors {'; '.join(errors)}; within 5 % of 1, changing by less than 10 %; points weighted by their precision, "
        "where Table 2 weighs every p alike, with more noise",
    )


def within(test: Difference, room: float) -> bool | None:
    """Whether the 99 % interval lies inside ± room, outside, or across its edge."""
    return below(test if test.estimate >= 0.0 else test._replace(estimate=-test.estimate), room)


def shannon_falls(view: View) -> Outcome:
    """The Shannon Surprise falls with p."""
    tests = {}
    for who in SUBJECTS:
        need(view, "shannon", who)
        tests[who] = over_subjects(-slopes_over_p(view.dataset, variant(view), who, "shannon"))
    return Outcome(
        f"slope against p: {signed(tests, -1)}",
        every(tests),
        f"fall of {weakest(tests)}; t-test over subjects, of each the slope over p (Table 2)",
    )


def weighted_mean(values: np.ndarray, errors: np.ndarray) -> Difference:
    weights = errors**-2.0
    return known(float(np.sum(weights * values) / weights.sum()), float(np.sqrt(1.0 / weights.sum())), SUBJECTS_EACH)


def line_slope(x: np.ndarray, values: np.ndarray, errors: np.ndarray) -> Difference:
    weights = errors**-2.0
    centred = x - np.sum(weights * x) / weights.sum()
    size = float(np.sum(weights * centred**2))
    return known(float(np.sum(weights * centred * values) / size), float(np.sqrt(1.0 / size)), SUBJECTS_EACH)


# --- the statements ------------------------------------------------------------------------------------------------------


def first(key: str, statement: str, published: str, check: Check) -> Statement:
    where = "Results, Experimental prediction, Prediction 1, Figure 10B"
    return Statement(f"prediction-1-{key}", "prediction1", "10", where, statement, published, check)


def second(key: str, statement: str, published: str, check: Check) -> Statement:
    where = "Results, Experimental prediction, Prediction 2, Figure 11B"
    return Statement(f"prediction-2-{key}", "prediction2", "11", where, statement, published, check)


STATEMENTS = (
    first(
        "bayes-factor",
        "The Bayes Factor Surprise is lower for positive than for negative sign bias, for Nas12* and pf20.",
        "difference below 0",
        sign_effect("bayes_factor", -1),
    ),
    first(
        "bayes-factor-slope",
        "That difference grows in size with the prediction error delta.",
        "slope below 0",
        sign_effect_slope("bayes_factor", -1),
    ),
    first(
        "shannon",
        "The Shannon Surprise is higher for positive than for negative sign bias, for Nas12* and pf20.",
        "difference above 0",
        sign_effect("shannon", 1),
    ),
    first(
        "shannon-slope",
        "That difference grows with the prediction error delta.",
        "slope above 0",
        sign_effect_slope("shannon", 1),
    ),
    first(
        "prior-unused",
        "If the prior is not used for inference there is no difference between the sign biases (here: sigma_0 = 1000).",
        "difference 0 (Table 1)",
        no_sign_effect,
    ),
    second(
        "bayes-factor",
        "Where prior and belief give an observation the same probability p, the Bayes Factor Surprise is 1 whatever p is.",
        "constant, equal to 1",
        constant_one,
    ),
    second("shannon", "There the Shannon Surprise falls as p grows.", "slope below 0", shannon_falls),
)


# --- Tables 1 and 2 put to the test on the simulated subjects, by the rules of `volatilis.predictions` --------------------

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
    import pandas as pd

    rows = []
    for variant, learner in ((variant, learner) for variant in VARIANTS for learner in LEARNERS):
        for hypothesis, (prefix, measures) in SIMULATED.items():
            for measure in measures:
                delta, differences = differences_of(dataset, variant, learner, f"{prefix}{measure}")
                values = {DIFFERENCE: estimators.mean_of(differences), SLOPE: estimators.slopes(delta, differences)}
                names = {"variant": variant, "learner": learner, "hypothesis": hypothesis, "measure": measure}
                rows.append({**names, **_judged(1, hypothesis, values)})
    return pd.DataFrame(rows)


def table_2(dataset: xr.Dataset) -> pd.DataFrame:
    """Table 2 put to the test: the slope of the average surprise over p, per subject and then over subjects; see `table_1`."""
    import pandas as pd

    rows = []
    for variant, learner in ((variant, learner) for variant in VARIANTS for learner in LEARNERS):
        for hypothesis, measure in ((BAYES_FACTOR, "bayes_factor"), (SHANNON, "shannon")):
            names = {"variant": variant, "learner": learner, "hypothesis": hypothesis, "measure": measure}
            values = {SLOPE: slopes_over_p(dataset, variant, learner, measure)}
            rows.append({**names, **_judged(2, hypothesis, values)})
    return pd.DataFrame(rows)


def differences_of(dataset: xr.Dataset, variant: str, learner: str, measure: str) -> tuple[np.ndarray, np.ndarray]:
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
