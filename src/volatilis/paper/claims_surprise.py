"""Statements about the two predictions: surprise against what was observed."""

from __future__ import annotations

import numpy as np

from volatilis.paper.claims_statistics import LEVEL, Estimate, NotThere, Outcome, all_of, below, every, known, weakest
from volatilis.paper.claims_views import Check, View

SUBJECTS = ("Nas12*", "pf20")
SUBJECTS_EACH = 20  # that the paper, and every size here, simulates: Student's t, not the normal distribution
FEWEST = 5  # subjects; the standard error over fewer says little
OVERLAP = 2.0  # neighbouring windows of delta share half their trials, so variances count double


def surprise(view: View, measure: str, learner: str, **where: int) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard errors over subjects along the remaining dimension; NaN where too few subjects had such trials."""
    if measure not in view.dataset or learner not in view.dataset.learner:
        raise NotThere(f"{measure} of {learner} is not in the dataset")
    chosen = view.dataset.sel(variant="right" if view.mended else "published", learner=learner, **where)
    subjects = chosen["control_subjects" if measure.startswith("control_") else "subjects"].values
    mean, error = (np.asarray(chosen[name].values, dtype=float) for name in (measure, f"{measure}_se"))
    return mean, np.where((subjects >= FEWEST) & (error > 0.0), error, np.nan)


def sign_difference(view: View, measure: str, learner: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """delta, surprise at s = +1 minus surprise at s = -1, and its standard error."""
    (plus, plus_se), (minus, minus_se) = (surprise(view, measure, learner, sign=sign) for sign in (1, -1))
    return complete(view.coordinate("delta"), plus - minus, np.hypot(plus_se, minus_se))


def complete(x: np.ndarray, values: np.ndarray, errors: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    usable = np.isfinite(values) & np.isfinite(errors)
    if usable.sum() < 2:
        raise NotThere("too few subjects with such trials")
    return x[usable], values[usable], errors[usable]


def sign_effect(measure: str, direction: int) -> Check:
    """The surprise at s = +1 lies above (direction +1) or below (-1) that at s = -1: on average over delta, nowhere against."""

    def check(view: View) -> Outcome:
        tests, answers = {}, []
        for who in SUBJECTS:
            delta, gap, error = sign_difference(view, measure, who)
            tests[who] = weighted_mean(direction * gap, error, OVERLAP)
            singles = {f"{d:g}": known(direction * g, e, SUBJECTS_EACH) for d, g, e in zip(delta, gap, error, strict=True)}
            against = any(test.sign(LEVEL / len(singles)) < 0 for test in singles.values())
            answers.append(False if against else every({who: tests[who]}))
        text = ", ".join(f"{who} {direction * test.estimate:+.3g}" for who, test in tests.items())
        return Outcome(f"s = +1 minus s = -1: {text}", all_of(answers), f"{weakest(tests)}; Student's t over subjects")

    return check


def sign_effect_slope(measure: str, direction: int) -> Check:
    """The same difference grows with delta in this direction."""

    def check(view: View) -> Outcome:
        tests = {}
        for who in SUBJECTS:
            delta, gap, error = sign_difference(view, measure, who)
            tests[who] = line_slope(delta, direction * gap, error, OVERLAP)
        text = ", ".join(f"{who} {direction * test.estimate:+.3g}" for who, test in tests.items())
        return Outcome(
            f"slope of the difference against delta: {text}", every(tests), f"{weakest(tests)}; weighted straight line"
        )

    return check


def no_sign_effect(view: View) -> Outcome:
    """Where the prior is as good as unused there is no difference: within 5 % of the Bayes factor, 0.05 of Shannon Surprise."""
    tests = {}
    for who in SUBJECTS:
        for measure in ("bayes_factor", "shannon"):
            _, gap, error = sign_difference(view, f"control_{measure}", who)
            scale = np.nanmean(surprise(view, f"control_{measure}", who, sign=1)[0]) if measure == "bayes_factor" else 1.0
            tests[f"{who} {measure.replace('_', ' ')}"] = weighted_mean(gap / scale, error / scale, OVERLAP)
    text = ", ".join(f"{name} {test.estimate:+.3f}" for name, test in tests.items())
    errors = ", ".join(f"{test.standard_error:.2g}" for test in tests.values())
    return Outcome(
        text, all_of(within(test, 0.05) for test in tests.values()), f"standard errors {errors}; nothing: within ± 0.05"
    )


def probability_curve(view: View, measure: str, learner: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return complete(view.coordinate("p"), *surprise(view, measure, learner))


def constant_one(view: View) -> Outcome:
    """The Bayes Factor Surprise stays at 1 for all p: mean within 5 % of 1, no slope worth 10 % over the range."""
    texts, answers, errors = [], [], []
    for who in SUBJECTS:
        p, value, error = probability_curve(view, "bayes_factor", who)
        level, line = weighted_mean(value - 1.0, error), line_slope(p, value, error)
        rise = Estimate(line.estimate * np.ptp(p), line.standard_error * np.ptp(p), line.freedom)
        answers += [within(level, 0.05), within(rise, 0.1)]
        texts.append(f"{who}: mean {1.0 + level.estimate:.3f}, change over the range {rise.estimate:+.3f}")
        errors.append(f"{level.standard_error:.2g}, {rise.standard_error:.2g}")
    return Outcome(
        "; ".join(texts), all_of(answers), f"standard errors {'; '.join(errors)}; within 5 % of 1, changing by less than 10 %"
    )


def within(test: Estimate, room: float) -> bool | None:
    """Whether the 99 % interval lies inside ± room, outside, or across its edge."""
    return below(test if test.estimate >= 0.0 else test._replace(estimate=-test.estimate), room)


def shannon_falls(view: View) -> Outcome:
    """The Shannon Surprise falls with p."""
    tests = {}
    for who in SUBJECTS:
        p, value, error = probability_curve(view, "shannon", who)
        tests[who] = line_slope(p, -value, error)
    text = ", ".join(f"{who} {-test.estimate:+.3g}" for who, test in tests.items())
    return Outcome(f"slope against p: {text}", every(tests), f"fall of {weakest(tests)}; weighted straight line")


def weighted_mean(values: np.ndarray, errors: np.ndarray, overlap: float = 1.0) -> Estimate:
    weights = errors**-2.0
    return known(float(np.sum(weights * values) / weights.sum()), float(np.sqrt(overlap / weights.sum())), SUBJECTS_EACH)


def line_slope(x: np.ndarray, values: np.ndarray, errors: np.ndarray, overlap: float = 1.0) -> Estimate:
    weights = errors**-2.0
    centred = x - np.sum(weights * x) / weights.sum()
    size = float(np.sum(weights * centred**2))
    return known(float(np.sum(weights * centred * values) / size), float(np.sqrt(overlap / size)), SUBJECTS_EACH)
