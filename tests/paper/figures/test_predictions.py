"""The two experimental predictions: the theory by direct formula, the simulation by its bounds and against the published data.

The published averages are read where they are found (VOLATILIS_REFERENCE, or a folder `shared/release` beside the checkout).
"""

from __future__ import annotations

import csv
import math
from typing import Any

import numpy as np
import pytest
import xarray as xr
from scipy import stats

from tests.helpers.paths import REFERENCE, needs_reference
from volatilis.paper.claims import predictions as hypotheses
from volatilis.paper.figures import predictions
from volatilis.paper.figures.predictions import (
    DELTAS,
    LEARNERS,
    MEASURES,
    SIDES,
    VARIANTS,
    Subject,
    simulate_first,
    simulate_second,
)
from volatilis.predictions.estimators import slopes
from volatilis.predictions.hypotheses import NO_PRIOR, MeanTest, holm, mean_test, verdict
from volatilis.predictions.windows import SIGNS, FirstWindow, SecondWindow, SubjectTrials

SIGMA, P_C = 0.5, 0.1


@pytest.fixture(scope="module")
def first() -> Any:
    return simulate_first()


@pytest.fixture(scope="module")
def second() -> Any:
    return simulate_second()


# --- the theory, for one Gaussian belief ---------------------------------------------------------------------------------


def bayes_factor(theta: Any, delta: Any, sign: Any, sigma_c: Any) -> Any:
    p_0 = stats.norm.pdf(theta + sign * delta, 0.0, np.hypot(SIGMA, 1.0))
    return p_0 / stats.norm.pdf(delta, 0.0, np.hypot(SIGMA, sigma_c))


def shannon(theta: Any, delta: Any, sign: Any, sigma_c: Any) -> Any:
    p_0 = stats.norm.pdf(theta + sign * delta, 0.0, np.hypot(SIGMA, 1.0))
    return -np.log(P_C * p_0 + (1.0 - P_C) * stats.norm.pdf(delta, 0.0, np.hypot(SIGMA, sigma_c)))


@pytest.mark.parametrize("theta", [0.1, 1.0, 2.5])
@pytest.mark.parametrize("sigma_c", [0.05, 0.5, 0.99])
def test_the_signs_of_table_1_hold_for_a_gaussian_belief_surer_than_the_prior(theta: float, sigma_c: float) -> None:
    delta = np.linspace(0.01, 3.0, 300)
    for measure, sign in ((bayes_factor, -1.0), (shannon, 1.0)):
        difference = measure(theta, delta, 1, sigma_c) - measure(theta, delta, -1, sigma_c)
        assert np.all(sign * difference > 0.0)
        assert np.all(sign * np.diff(difference) > 0.0)


def test_the_slope_of_table_1_needs_a_belief_surer_than_the_prior() -> None:
    """The paper states it for every sigma_C > 0; its proof uses sigma_C < sigma_0, and without that it fails."""
    delta = np.linspace(1.5, 3.0, 50)
    difference = bayes_factor(0.5, delta, 1, 3.0) - bayes_factor(0.5, delta, -1, 3.0)
    assert np.all(difference < 0.0)
    assert np.all(np.diff(difference) > 0.0)


def test_without_a_prior_the_sign_bias_makes_no_difference() -> None:
    """With a prior of sigma_0 = 1000 the two observations are as probable under it, to one in a hundred thousand."""
    p_0 = stats.norm.pdf(1.0 + np.array([1.0, -1.0]) * 0.8, 0.0, math.sqrt(SIGMA**2 + 1000.0**2))
    assert p_0[0] == pytest.approx(p_0[1], rel=1e-5)


def test_where_belief_and_prior_agree_one_surprise_is_constant_and_the_other_is_minus_log_p() -> None:
    """The points where two Gaussian densities cross, by solving for them."""
    wide, narrow = math.sqrt(SIGMA**2 + 1.0), math.sqrt(SIGMA**2 + 0.09)
    for mean in (0.3, 1.0, 2.0):
        a, b = 0.5 / narrow**2 - 0.5 / wide**2, -mean / narrow**2
        for y in np.roots([a, b, 0.5 * mean**2 / narrow**2 + math.log(narrow / wide)]):
            p, p_0 = stats.norm.pdf(y, mean, narrow), stats.norm.pdf(y, 0.0, wide)
            assert p_0 / p == pytest.approx(1.0)
            assert -math.log(P_C * p_0 + (1.0 - P_C) * p) == pytest.approx(-math.log(p))


# --- the simulation ------------------------------------------------------------------------------------------------------


def test_prediction_2_stays_within_the_bounds_of_its_window(second: Any) -> None:
    width = second.attrs["p_width"]
    p = second["p"].broadcast_like(second["bayes_factor_by_subject"]).values
    values, nats = second["bayes_factor_by_subject"].values, second["shannon_by_subject"].values.copy()
    nats[VARIANTS.index("published")] *= math.log(10.0)
    there = ~np.isnan(values)
    assert there.sum() > 500
    assert np.all(np.abs(np.log(values[there])) < np.log((p + width) / (p - width))[there])
    assert np.all(nats[there] < -np.log(p - width)[there])
    assert np.all(nats[there] > -np.log(p + width)[there])
    assert np.all(second["subjects"].sel(p=[0.375, 0.4]) == 0)  # beyond the largest density under the prior, 0.357
    assert np.all(second["bayes_factor"].sel(p=[0.375, 0.4]).isnull())


class Saved:
    """Arrays of subjects x trials, of one variant and learner."""

    def __init__(self, subjects: list[Subject], variant: str) -> None:
        trials = [subject.trials for subject in subjects]
        self.before, self.delta = (np.array([own[k] for own in trials]) for k in (2, 3))
        self.spread = np.array([own.after if SIDES[variant] == "after" else own.before for own in trials])
        self.p, self.p_0 = np.array([own.p for own in trials]), np.array([own.p_0 for own in trials])
        self.bayes_factor = np.array([subject.bayes_factor for subject in subjects])
        self.shannon = np.array([subject.shannon for subject in subjects])


def saved(*setting: Any) -> list[list[Saved]]:
    """variant x learner."""
    runs = predictions._Setting(*setting).run(1.0)
    return [[Saved(subjects, variant) for subjects in row] for variant, row in zip(VARIANTS, runs, strict=True)]


def test_the_surprises_of_nas12_are_those_of_the_formulas() -> None:
    """From the belief before each observation, which is one Gaussian: the published spread is its variance."""
    right, published = (row[LEARNERS.index("Nas12*")] for row in saved(3, 100, 0, SIGMA, P_C, P_C))
    y, sigma_c = right.before + right.delta, np.sqrt(published.spread)
    p, p_0 = stats.norm.pdf(y, right.before, np.hypot(SIGMA, sigma_c)), stats.norm.pdf(y, 0.0, math.hypot(SIGMA, 1.0))
    np.testing.assert_allclose(right.p, p)
    np.testing.assert_allclose(right.p_0, p_0)
    np.testing.assert_allclose(right.bayes_factor, p_0 / p)
    np.testing.assert_allclose(right.shannon, -np.log(P_C * p_0 + (1.0 - P_C) * p), atol=1e-12)
    np.testing.assert_allclose(published.shannon, -np.log10(P_C * p_0 + (1.0 - P_C) * p), atol=1e-12)
    sign = np.sign(right.delta * right.before)[:, 1:]
    by_sign = bayes_factor(np.abs(right.before[:, 1:]), np.abs(right.delta[:, 1:]), sign, sigma_c[:, 1:])
    np.testing.assert_allclose(right.bayes_factor[:, 1:], by_sign)


def trials_by_hand(before: list[float], delta: list[float], spread: list[float]) -> SubjectTrials:
    """After a first trial, which does not count."""
    prediction, error, uncertain = (np.array([np.nan, *values]) for values in (before, delta, spread))
    unused = np.zeros_like(error)
    return SubjectTrials("", unused, prediction, error, uncertain, uncertain, unused, unused)


@pytest.mark.parametrize("side", ["before", "after"])
def test_prediction_1_selects_what_its_window_says(side: str) -> None:
    trials = trials_by_hand(
        before=[1.0, -1.0, 1.0, -1.2, 1.3, 1.0, 1.0, 1.0],
        delta=[0.5, -0.5, -0.5, 0.45, 0.5, 0.7, 0.5, -0.04],
        spread=[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 1.6, 0.5],
    )
    masks = FirstWindow(side=side, errors=(0.0, 0.5)).masks(trials)
    selected = {
        (sign, delta): (np.flatnonzero(masks[i, j]) - 1).tolist()
        for i, sign in enumerate((1, -1))
        for j, delta in enumerate((0, 0.5))
    }
    assert selected == {(1, 0): [], (1, 0.5): [0, 1], (-1, 0): [7], (-1, 0.5): [2, 3]}


def test_the_published_spread_is_the_variance_before_and_for_particles_one_with_sigma_for_its_square() -> None:
    right, published = saved(2, 50, 0, SIGMA, P_C, P_C)
    nas12, particles = (LEARNERS.index(name) for name in ("Nas12*", "pf20"))
    assert np.all(published[nas12].spread[:, 0] == 1.0)
    np.testing.assert_allclose(published[nas12].spread[:, 1:], right[nas12].spread[:, :-1] ** 2)
    np.testing.assert_allclose(published[particles].spread[:, 0], 2.0)  # sigma / rho
    one = SIGMA / (SIGMA**2 + 1.0)  # all particles have seen one observation
    np.testing.assert_allclose(published[particles].spread[:, 1], one)
    np.testing.assert_allclose(right[particles].spread[:, 0] ** 2, SIGMA * one)
    assert np.all(published[particles].spread[:, 1:] > right[particles].spread[:, :-1] ** 2)
    unit = saved(2, 50, 0, 1.0, P_C, P_C)  # sigma = sigma^2: no mistake to see
    np.testing.assert_allclose(unit[1][particles].spread[:, 1:], unit[0][particles].spread[:, :-1] ** 2)


def test_the_published_window_hardly_filters(first: Any) -> None:
    """Errata 7: for pf20, whose parameters both variants share, it makes no difference which spread is selected on."""
    both = first.sel(learner="pf20")
    np.testing.assert_allclose(both["bayes_factor"].sel(variant="right"), both["bayes_factor"].sel(variant="published"))
    nats = both["shannon"].sel(variant="published") * math.log(10.0)
    np.testing.assert_allclose(both["shannon"].sel(variant="right"), nats)


def test_a_seed_gives_the_same_numbers_and_another_gives_others() -> None:
    small = {"subjects": 3, "trials": 60, "nas12_p_c": 0.08}
    for simulate in (simulate_first, simulate_second):
        once, again, other = simulate(seed=1, **small), simulate(seed=1, **small), simulate(seed=2, **small)
        assert once.identical(again)
        assert not once.equals(other)
        more = simulate(seed=1, **small | {"subjects": 5})
        np.testing.assert_array_equal(more["shannon_by_subject"][..., :3], once["shannon_by_subject"])


def test_one_subject_has_no_standard_error_and_few_trials_leave_bins_empty() -> None:
    for simulate in (simulate_first, simulate_second):
        one = simulate(subjects=1, trials=400, nas12_p_c=0.08)
        assert np.all(one["subjects"] <= 1)
        assert one["bayes_factor"].notnull().any()
        assert one["bayes_factor_se"].isnull().all()
        few = simulate(subjects=2, trials=1, nas12_p_c=0.08)
        empty = few["subjects"] == 0
        assert empty.any()
        for measure in MEASURES:
            assert few[measure].isnull().equals(empty)
    first_trial = simulate_first(subjects=2, trials=1, nas12_p_c=0.08)
    assert np.all(first_trial["subjects"] == 0)  # the first prediction is the prior's mean, far from 1
    assert set(hypotheses.table_1(first_trial)["verdict"]) == {"cannot be told"}


def test_the_published_variant_of_prediction_2_leaves_out_the_first_trial() -> None:
    """Subjects who see one outcome: only the text counts it, and S_BF is 1 there."""
    one = simulate_second(30, 1, nas12_p_c=0.1)
    assert np.isnan(one.bayes_factor.sel(variant="published")).all()
    counted = one.bayes_factor.sel(variant="right").values
    assert counted[~np.isnan(counted)] == pytest.approx(1.0)
    assert (~np.isnan(counted)).any()


def test_nas12_is_tuned_unless_told() -> None:
    assert simulate_second(subjects=1, trials=2).attrs["nas12_p_c"] == pytest.approx(0.0838, abs=0.016)  # a grid step is 19 %
    assert simulate_second(subjects=1, trials=2, nas12_p_c=0.3).attrs["nas12_p_c"] == 0.3


@pytest.mark.parametrize(("name", "value"), [("subjects", 0), ("subjects", True), ("trials", -1), ("trials", 2.5)])
def test_counts_are_validated(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{name} = {value}"):
        simulate_first(**{name: value})


# --- the tables ----------------------------------------------------------------------------------------------------------


def test_table_1_confirms_both_surprises_and_its_control_shows_much_less(first: Any) -> None:
    table = hypotheses.table_1(first)
    assert len(table) == len(VARIANTS) * len(LEARNERS) * 4
    control = table["hypothesis"] == "the prior is not used"
    assert set(table[~control]["verdict"]) == {"confirmed"}
    assert np.all(np.sign(table[~control]["difference"]) == table[~control]["predicted_difference"])
    pairs = table[~control].merge(table[control], on=["variant", "learner", "measure"], suffixes=("", "_control"))
    assert len(pairs) == len(VARIANTS) * len(LEARNERS) * len(MEASURES)
    assert np.all(pairs["difference_control"].abs() < pairs["difference"].abs() / 2)


def test_table_2_has_a_slope_for_shannon_and_none_for_bayes_factor(second: Any) -> None:
    table = hypotheses.table_2(second)
    assert set(table[table["measure"] == "shannon"]["verdict"]) == {"confirmed"}
    assert set(table[table["measure"] == "bayes_factor"]["verdict"]) == {"consistent"}


def test_the_slope_of_bayes_factor_over_p_shrinks_with_the_window() -> None:
    """A ratio of two numbers near p is more than 1 on average, the more so the smaller p: a remainder of the wide window."""
    slopes = []
    for width in (0.0125, 0.00625):
        table = hypotheses.table_2(simulate_second(subjects=600, window=SecondWindow(p_width=width), nas12_p_c=0.08))
        slopes.append(table.query("variant == 'right' and measure == 'bayes_factor'")["slope"].mean())
    assert -0.3 < slopes[0] < -0.05
    assert abs(slopes[1]) < 0.6 * abs(slopes[0])


def test_verdicts() -> None:
    values = np.array([1.0, 1.2, 0.8, 1.1, np.nan])
    measured = mean_test(values)
    expected = stats.ttest_1samp(values[:4], 0.0)
    assert measured.value == pytest.approx(1.025)
    assert measured.error == pytest.approx(stats.sem(values[:4]))
    assert 1.0 - measured.p == pytest.approx(1.0 - expected.pvalue)
    interval = expected.confidence_interval(0.95)
    assert (measured.low, measured.high) == pytest.approx((interval.low, interval.high))
    assert [on_sign(sign, measured) for sign in (1, 0, -1)] == ["confirmed", "contradicted", "contradicted"]
    vague = mean_test(np.array([1.0, -1.2, 0.8]))
    assert [on_sign(sign, vague) for sign in (1, 0, -1)] == ["undecided", "consistent", "undecided"]
    lone = mean_test(np.array([1.0, np.nan]))
    assert on_sign(0, lone) == "cannot be told"


def on_sign(sign: int, test: MeanTest) -> str:
    """The verdict on a sign that is predicted alone."""
    return verdict(sign, test, "it" in holm({"it": test.p}, 0.05))


@pytest.mark.parametrize(("sixth", "expected"), [(0.02, "contradicted"), (-0.02, "consistent")])
def test_two_zeros_of_table_1_are_tested_together(sixth: float, expected: str) -> None:
    """Holm: with two zeros a p-value between 0.025 and 0.05 does not contradict, although its interval excludes 0."""
    level = np.array([0.1, 0.13, 0.16, 0.1, 0.02 + sixth, sixth])
    wave = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    delta = np.array([0.0, 0.5, 1.0])
    plus = np.stack([np.full(6, 5.0), level - 0.25 * wave, level + 0.25 * wave])
    means = np.array([plus, np.zeros((3, 6))])
    dims = ("variant", "learner", "sign", "delta", "subject")
    names = [f"{prefix}{measure}_by_subject" for prefix in ("", "control_") for measure in MEASURES]
    every = np.broadcast_to(means, (2, 2, *means.shape))
    coordinates = {"variant": list(VARIANTS), "learner": list(LEARNERS), "sign": list(SIGNS), "delta": delta}
    table = hypotheses.table_1(xr.Dataset(dict.fromkeys(names, (dims, every)), coordinates))
    control = table[table["hypothesis"] == NO_PRIOR]
    assert np.allclose(control["difference"], level.mean())
    assert np.all(control["difference_low"] > 0.0)
    assert np.all((control["difference_confidence"] > 0.975) == (expected == "contradicted"))
    assert np.all(control["slope_confidence"] < 0.9)
    assert set(control["verdict"]) == {expected}


def test_slope_is_that_of_least_squares() -> None:
    x, y = np.array([0.1, 0.2, 0.3, 0.5]), np.array([1.0, 3.0, np.nan, 2.0])
    there = ~np.isnan(y)
    assert slopes(x, y[None])[0] == pytest.approx(stats.linregress(x[there], y[there]).slope)
    assert math.isnan(slopes(x, np.array([[1.0, np.nan, np.nan, np.nan]]))[0])


# --- the published averages ----------------------------------------------------------------------------------------------

FILES = {"Nas12*": "GNassarNatN", "pf20": "GParticleFilter"}
PUBLISHED_NAMES = {("bayes_factor", 1): "Sgmpositive", ("bayes_factor", -1): "Sgmnegative"}
PUBLISHED_NAMES |= {("shannon", 1): "Sshpositive", ("shannon", -1): "Sshnegative"}


def standard_errors_apart(dataset: Any, learner: str, measure: str, sign: int, unit: float = 1.0) -> np.ndarray:
    """Ours less the published, for each delta, in combined standard errors."""
    name = FILES[learner]
    (path,) = REFERENCE.rglob(f"exp_{name}sigma*.csv")
    with path.open() as file:
        rows = list(csv.DictReader(file, delimiter=" "))
    column = f"{name}_{PUBLISHED_NAMES[measure, sign]}"
    published, error = (np.array([float(row[f"{column}_{kind}"]) for row in rows]) for kind in ("mean", "se"))
    assert [float(row["x"]) for row in rows] == list(DELTAS)
    ours = dataset.sel(learner=learner, sign=sign)
    return (ours[measure].values / unit - published) / np.hypot(ours[f"{measure}_se"].values / unit, error)


@needs_reference
def test_the_published_variant_agrees_with_the_published_averages(first: Any) -> None:
    """88 averages: four curves of eleven points for each learner. At least 97 % within three combined standard errors, and 90 %
    within two; neighbouring points share trials, so that a few may stray together."""
    published = first.sel(variant="published")
    apart = np.array([standard_errors_apart(published, name, *curve) for name in LEARNERS for curve in PUBLISHED_NAMES])
    assert apart.size == 88
    assert np.mean(np.abs(apart) < 3.0) >= 0.97
    assert np.mean(np.abs(apart) < 2.0) >= 0.90


@needs_reference
def test_the_published_nas12_assumed_the_true_p_c_rather_than_the_tuned() -> None:
    """Its Shannon surprises are within their errors at p_c = 0.1 and several errors away at the tuned 0.084."""
    dataset = simulate_first(subjects=200, nas12_p_c=0.0837677640068292)
    misfit = {}
    for variant, unit in (("published", 1.0), ("right", math.log(10.0))):
        chosen = dataset.sel(variant=variant)
        apart = [standard_errors_apart(chosen, "Nas12*", "shannon", sign, unit) for sign in SIGNS]
        misfit[variant] = float(np.sqrt(np.mean(np.square(apart))))
    assert misfit["published"] < 1.3
    assert misfit["right"] > 2.0
