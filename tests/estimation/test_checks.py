"""Checks of a model: each kind of misfit is found and mended as said, and on data from the model hardly ever."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy import stats

import volatilis as vl
from volatilis.estimation import check_model
from volatilis.estimation.laws import added, at_least, sums_of
from volatilis.running.angles import wrapping

T = 800
WORLD = vl.Gaussian(sigma=1.0, mu_0=0.0, sigma_0=5.0)
P_C = 0.02


def sampled(family: Any = WORLD, p_c: float = P_C, seed: int = 1, length: int = T) -> Any:
    return vl.ChangingEnvironment(family, p_c).sample(length, seed=seed)


def misfits(family: Any, y: Any, p_c: float = P_C) -> list[vl.Misfit]:
    return list(vl.check(vl.Merge(family, p_c, 20), y).misfits)


def autoregressive(phi: float, length: int = T) -> np.ndarray:
    noise, y = np.random.default_rng(5).normal(size=length), np.zeros(length)
    for t in range(1, length):
        y[t] = phi * y[t - 1] + noise[t]
    return y


def test_each_warning_is_rare_on_data_from_the_model() -> None:
    """200 data sets: each kind in at most 1 %, which with fixed seeds is at most 2."""
    counts: Counter[str] = Counter()
    for seed in range(100):
        for family, p_c in ((WORLD, P_C), (vl.Poisson(3.0, 0.3), 0.1)):
            counts.update(misfit.kind for misfit in misfits(family, sampled(family, p_c, seed, 300).y, p_c))
    assert all(count <= 2 for count in counts.values()), counts


@pytest.mark.parametrize("learner", [vl.VarSMiLe(WORLD, 0.02), vl.ParticleFilter(WORLD, P_C, 1), vl.SMiLe(WORLD, 0.1)])
def test_whatever_learner_is_used(learner: Any) -> None:
    """One that approximates badly is not a model that does not fit."""
    assert all(vl.check(learner, sampled(seed=seed).y).fits for seed in range(20))


@pytest.mark.parametrize(
    ("family", "kind"),
    [
        (vl.Gaussian(0.6, 0.0, 5.0), "too narrow"),
        (vl.Gaussian(1.5, 0.0, 5.0), "too wide"),
        (vl.Gaussian(1.0, 0.0, 0.5), "prior"),
        (vl.Gaussian(1.0, 200.0, 5.0), "prior"),
    ],
)
def test_wrong_parameters_are_named_with_better_ones(family: Any, kind: str) -> None:
    (misfit,) = misfits(family, sampled().y)
    assert misfit.kind == kind
    assert misfit.p_value < 0.002
    assert "nothing is wrong" in misfit.remedy
    sigma = float(misfit.remedy.split("sigma=")[1].split(",")[0])
    assert 0.9 < sigma < 1.15


def test_a_wrong_change_probability() -> None:
    (misfit,) = misfits(WORLD, sampled(p_c=0.1).y, 0.005)
    assert misfit.kind == "changes"
    assert "p_c=0.1" in misfit.remedy


@pytest.mark.parametrize(("sigma", "level"), [(10.0, 150.0), (10.0, 15000.0)])
def test_a_level_that_the_default_prior_does_not_reach(sigma: float, level: float) -> None:
    y = sampled(vl.Gaussian(10.0, level, 80.0), 0.1).y
    (misfit,) = misfits(vl.Gaussian(sigma), y, 0.1)
    assert misfit.kind == "prior"
    assert "the prior expects 99.9 % between -33.07 and 33.07" in misfit.message


def test_heavy_tails() -> None:
    for seed in range(5):
        y = sampled().theta + np.random.default_rng(seed).standard_t(3, T)
        (misfit,) = misfits(WORLD, y)
        assert misfit.kind in ("heavy tails", "outliers", "too narrow")
        assert "contaminated" in misfit.remedy


@pytest.mark.parametrize(("phi", "sigma"), [(0.9, 1.0), (0.9, 2.3), (0.5, 1.0)])
def test_autocorrelation(phi: float, sigma: float) -> None:
    (misfit,) = misfits(vl.Gaussian(sigma, 0.0, 5.0), autoregressive(phi))
    assert misfit.kind == "autocorrelated"
    assert misfit.found > 0.2
    assert "autoregression" in misfit.remedy


def test_counts_that_vary_more_than_poisson() -> None:
    y = np.random.default_rng(3).negative_binomial(3, 3 / 13, T)
    (misfit,) = misfits(vl.Poisson(3.0, 0.3), y, 0.01)
    assert misfit.kind == "overdispersed"
    assert "gaussian-unknown-variance" in misfit.remedy


@pytest.mark.parametrize("seed", range(3))
def test_a_trend_leaves_errors_behind_and_a_wave_makes_them_hang_together(seed: int) -> None:
    time, noise = np.arange(T) / T, np.random.default_rng(seed).normal(size=T)
    for sign in (1.0, -1.0):
        (misfit,) = vl.estimate(sign * 12.0 * time + noise, vl.Gaussian).check.misfits
        assert misfit.kind == "trend"
        assert (misfit.found > 0.53) if sign > 0.0 else (misfit.found < 0.47)
        assert "take a season or a trend out first" in misfit.remedy
    (misfit,) = vl.estimate(5.0 * np.sin(20.0 * time) + noise, vl.Gaussian).check.misfits
    assert misfit.kind in ("drift", "autocorrelated")
    assert "autoregression" in misfit.remedy


def test_noise_of_another_form() -> None:
    """The width is right, the form is not: one-sided noise, and positive numbers that are log-normal."""
    rng = np.random.default_rng(1)
    skewed = sampled().theta + 5.0 * rng.beta(1.0, 3.0, T) - 1.25
    (misfit,) = vl.check(vl.Merge(WORLD, P_C, 20), skewed).misfits
    assert misfit.kind in ("trend", "shape")
    assert "take logarithms" in misfit.remedy
    for scale in (0.5, 1.0):
        (misfit,) = vl.estimate(np.exp(scale * rng.normal(size=T)), vl.Exponential).check.misfits
        assert "of the logarithms of these positive numbers" in misfit.remedy
    found = vl.estimate(np.exp(1.5 * rng.normal(size=T)), vl.Exponential)  # each from a prior of its own: as wide as it is
    assert "a change at more than every second observation" in found.warnings[0]
    assert "WARNING: changes: p_c = " in str(found)


def test_sums_of_parts_add_up_and_stretches_end_with_their_block() -> None:
    rng = np.random.default_rng(2)
    u, rates, starts = rng.uniform(size=(57, 2)), np.full(57, 0.1), np.isin(np.arange(57), (0, 13, 33))
    whole = sums_of(u, rates, starts, 0.1)
    assert whole.stretches == 2 * (1 + 2 + 2)
    assert sum(whole.parts) == whole.n == 114
    pieces = [sums_of(u[a:b], rates[a:b], starts[a:b], 0.1) for a, b in ((0, 13), (13, 33), (33, 57))]
    both = added(pieces)
    assert both.parts == whole.parts
    assert (both.stretches, both.n) == (whole.stretches, whole.n)
    assert both.slow == pytest.approx(whole.slow, rel=1e-12)
    means = [u[a : a + 10].mean(axis=0) - 0.5 for a in (0, 13, 23, 33, 43)]
    assert whole.slow == pytest.approx(120.0 * np.sum(np.square(means)), rel=1e-12)


def test_degrees_on_a_line() -> None:
    circle = vl.VonMises(10.0, period=360.0)
    y = np.mod(sampled(circle, 0.1, seed=2).y, 360.0)
    (misfit,) = misfits(vl.Gaussian(20.0, 180.0, 104.0), y, 0.1)
    assert misfit.kind == "angles"
    assert "period=360" in misfit.remedy
    assert misfits(circle, y, 0.1) == []
    radians = np.mod(y, 360.0) * np.pi / 180.0 - np.pi
    assert misfits(vl.Gaussian(0.3, 0.0, 1.8), radians, 0.1)[0].remedy.endswith("period=6.28319")


def test_a_line_that_fills_0_to_360_is_no_circle() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        levels = np.repeat(rng.uniform(20.0, 340.0, 60), 10)
        assert wrapping([np.clip(levels + rng.normal(0.0, 8.0, 600), 0.0, 360.0)]) is None


def test_a_sensor_that_sticks_is_no_outlier() -> None:
    y = sampled(vl.Gaussian(1.0, 20.0, 3.0), 0.01, seed=5).y
    held = np.concatenate([y, np.full(200, 20.37), y])
    for family in (vl.Gaussian(1.0, 20.0, 3.0), vl.GaussianUnknownVariance(20.0, 1.0, 2.0, 2.0)):
        (misfit,) = misfits(family, held, 0.01)
        assert (misfit.kind, misfit.found) == ("stuck", 200.0)
        assert "200 observations in a row are exactly 20.37, where 0 % of the others" in misfit.message
        assert "as missing" in misfit.remedy
    assert [one.kind for one in misfits(vl.Gaussian(1.0, 20.0, 3.0), np.concatenate([y, np.full(9, 20.37)]), 0.01)] != ["stuck"]


def test_numbers_that_are_all_the_same_are_said_to_be() -> None:
    (misfit,) = misfits(vl.Gaussian(1.0, 0.0, 3.0), np.zeros(300), 0.01)
    assert (misfit.kind, misfit.message) == ("stuck", "all 300 observations are exactly 0")


def test_rounded_numbers_are_no_stuck_sensor() -> None:
    y = np.random.default_rng(6).normal(20.0, 1.0, 3000)
    for step in (0.1, 0.5, 1.0, 2.0, 5.0):
        assert "stuck" not in [one.kind for one in misfits(vl.Gaussian(1.0, 20.0, 3.0), np.round(y / step) * step, 0.01)]
    slow = np.round(2.0 * np.cumsum(np.random.default_rng(7).normal(0.0, 0.05, 3000))) / 2.0  # half degrees, and calm nights
    assert "stuck" not in [one.kind for one in misfits(vl.Gaussian(1.0, 0.0, 3.0), slow, 0.01)]


def test_degrees_of_few_changes_leave_parts_of_the_circle_empty() -> None:
    rng = np.random.default_rng(0)
    levels = np.array([5.0, 130.0, 350.0, 95.0, 200.0, 3.0, 150.0, 170.0, 110.0, 220.0]).repeat(30)
    y = (levels + rng.normal(0.0, 12.0, 300)) % 360.0
    assert np.histogram(y, 12, (0.0, 360.0))[0].min() == 0
    check = vl.check(vl.Merge(vl.Gaussian(12.0, 180.0, 104.0), 0.03, 20), y)
    assert [misfit.kind for misfit in check.misfits] == ["angles"]
    assert "period=360" in check.misfits[0].remedy
    signal = np.where(rng.random(300) < 0.5, 4.0, 356.0) + rng.normal(0.0, 1.0, 300)  # two levels, no circle
    assert wrapping([signal]) is None


def test_what_everybody_saw_counts_once() -> None:
    """A hint in one sequence is no proof when forty people saw that one; short sequences of symbols may well be the same."""
    family, numbers = vl.Gaussian(1.0, 0.0, 3.0), []
    for seed in range(20):
        y = vl.ChangingEnvironment(family, 0.05).sample(100, seed=seed).y
        once, often = check_model(family, [y], 0.05), check_model(family, [y] * 40, 0.05)
        assert often.misfits == once.misfits
        assert often.observations == 100
        numbers.append(len(once.misfits))
    assert sum(numbers) <= 2
    rng = np.random.default_rng(1)
    other = [vl.ChangingEnvironment(family, 0.05).sample(100, seed=seed).y for seed in (50, 51)]
    drifting = np.cumsum(rng.normal(0.0, 2.0, 100))
    check = check_model(family, [other[0], drifting, drifting, drifting, other[1], *other], 0.05)
    assert {misfit.sequences for misfit in check.misfits} == {(1, 2, 3)}
    coins = [rng.integers(0, 2, 10) for _ in range(200)]
    assert check_model(vl.Bernoulli(), coins, 0.05).observations == 2000


def test_one_sequence_among_many() -> None:
    good = [sampled(seed=seed, length=200).y for seed in range(12)]
    found = check_model(WORLD, [*good, sampled(seed=99, length=200).y * 3.0], P_C)
    assert {misfit.kind for misfit in found.misfits} <= {"too narrow", "heavy tails", "changes", "prior"}
    assert all(misfit.sequences == (12,) for misfit in found.misfits)
    assert len(found.misfits) == 1


def test_too_few_observations_say_nothing() -> None:
    found = vl.check(vl.Merge(vl.Gaussian(1.0), 0.1, 5), [3.0] * 10)
    assert found.fits
    assert "10 observations are too few" in str(found)


def test_but_where_the_prior_expects_nothing_like_them_few_are_enough() -> None:
    found = vl.check(vl.Merge(vl.Gaussian(1.0), 0.1, 5), [1e6] * 10)
    assert [misfit.kind for misfit in found.misfits] == ["prior"]
    for seed in range(200):  # one in 500 sets at most, each of which may find the prior alone
        y = vl.ChangingEnvironment(vl.Gaussian(1.0), 0.1).sample(10, seed=seed).y
        assert vl.check(vl.Merge(vl.Gaussian(1.0), 0.1, 5), y).fits


def test_counts_that_vary_less_than_counts_of_events() -> None:
    y = np.round(20 + 0.3 * np.random.default_rng(15).normal(size=400)).astype(int)
    (misfit,) = vl.check(vl.Merge(vl.Poisson(1.0, 0.05), 0.005, n=10), y).misfits
    assert misfit.kind == "too wide"
    assert "vary less" in misfit.remedy


@pytest.mark.parametrize(
    ("family", "y"),
    [
        (vl.Categorical(7, s=50.0), np.random.default_rng(0).choice(7, 300, p=[0.9, *[0.1 / 6] * 6])),
        (vl.Bernoulli(50.0, 50.0), np.random.default_rng(0).binomial(1, 0.05, 300)),
        (vl.Bernoulli(50.0, 50.0), np.random.default_rng(0).binomial(1, 0.05, 1000)),
        (vl.transitions(3), np.array([0, 1, 2] * 60)),
    ],
)
def test_priors_of_symbols_that_are_too_strong_have_weaker_ones_as_the_remedy(family: Any, y: np.ndarray) -> None:
    (misfit,) = vl.check(vl.Merge(family, 0.02, n=10), y).misfits
    assert "nothing is wrong" in misfit.remedy
    assert "With s=" in misfit.remedy or "With a=" in misfit.remedy


def test_a_family_without_a_distribution_function_is_told_so() -> None:
    class Lacking:
        def lacks(self, *methods: str) -> list[str]:
            return list(methods)

    with pytest.raises(TypeError, match="Lacking does not define predictive_cdf"):
        check_model(Lacking(), [np.zeros(3)])  # type: ignore[arg-type]


@pytest.mark.parametrize("y", [[5.0] * 100, [1e300, -1e300] * 50, [0.0, 1e-300] * 50])
def test_odd_numbers_have_an_answer(y: list[float]) -> None:
    assert str(vl.check(vl.Merge(vl.Gaussian(1.0), 0.1, 20), y))


@pytest.mark.parametrize("learner", [vl.VarSMiLe(vl.Gaussian(10.0), 0.1), vl.Merge(vl.Gaussian(10.0), 0.1, 20)])
def test_run_warns_of_the_gross_case(learner: Any) -> None:
    y = 15000.0 + 1000.0 * sampled().y
    with pytest.warns(vl.ModelMismatchWarning, match=r"the prior is contradicted: 800 of 800 observations"):
        vl.run(learner, y)


def test_run_does_not_warn_of_outliers_nor_of_the_model() -> None:
    y = sampled().y
    y[::100] += 1e6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vl.run(vl.Merge(WORLD, P_C, 20), y)
        for seed in range(20):
            vl.run(vl.Merge(WORLD, P_C, 20), sampled(seed=seed).y)
        vl.run(vl.Merge(WORLD, P_C, 20), [7.0] * 100)


def test_the_families_that_mend_it_pass() -> None:
    """What a remedy names has nothing wrong with it: autocorrelation, a chain of symbols."""
    assert vl.check(vl.Merge(vl.AutoRegression(1), 0.003, 20), autoregressive(0.9)).fits
    y = np.cumsum(np.random.default_rng(6).random(T) < 0.1) % 2
    (misfit,) = misfits(vl.Bernoulli(), y)
    assert misfit.kind == "autocorrelated"
    assert "transitions" in misfit.remedy
    found = vl.check(vl.Merge(vl.Transitions(2), 0.003, 20), y)
    assert found.fits
    assert found.observations == T - 1  # the first is conditioned on


def test_contexts_are_checked_with_what_is_given() -> None:
    x = np.tile([0, 1], T // 2)
    y = np.random.default_rng(7).random(T) < np.where(x == 0, 0.1, 0.8)
    assert vl.check(vl.Merge(vl.Given(vl.Bernoulli(), 2), 0.003, 20), y.astype(int), given=x).fits


@pytest.mark.parametrize(("unit", "period", "said"), [(360.0, 2 * np.pi, "period=360"), (2 * np.pi, 360.0, "period=6.28319")])
def test_angles_of_another_unit_than_the_period(unit: float, period: float, said: str) -> None:
    y = vl.ChangingEnvironment(vl.VonMises(8.0, period=unit), 0.1).sample(300, seed=2).y % unit
    assert vl.check(vl.Merge(vl.VonMises(8.0, period=unit), 0.1, 20), y).fits
    (misfit,) = vl.check(vl.Merge(vl.VonMises(8.0, period=period), 0.1, 20), y).misfits
    assert misfit.kind == "angles"
    assert said in str(misfit)


def test_the_tail_of_a_count_is_that_of_scipy() -> None:
    for count, n, p in (
        (0, 10, 0.3),
        (1, 10, 0.3),
        (7, 10, 0.3),
        (10, 10, 0.3),
        (11, 10, 0.3),
        (-2, 5, 0.1),
        (3, 5, 1.0),
        (2, 5, 0.0),
    ):
        assert at_least(count, n, p) == pytest.approx(stats.binom.sf(count - 1, n, p), rel=1e-12)
    for count, p in ((1030, 1e-3), (1200, 1e-3), (900_000, 0.9), (998_800, 1 - 1e-3), (999_500, 1 - 1e-3)):
        assert at_least(count, 1_000_000, p) == pytest.approx(stats.binom.sf(count - 1, 1_000_000, p), rel=1e-9)
