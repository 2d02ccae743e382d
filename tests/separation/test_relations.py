"""Correlations, variance inflation and carriers against SciPy, direct regression and cases computed by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from volatilis.separation.regressors import centred, within_runs_ranked
from volatilis.separation.relations import carried, correlations, inflations, pairs, residual, trials_needed


def made_up(trials: int = 400, seed: int = 3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    common = rng.normal(size=trials)
    return np.stack([common + scale * rng.normal(size=trials) for scale in (0.3, 1.0, 3.0)] + [np.exp(common)], axis=1)


ONE_RUN = np.zeros(400, dtype=np.int64)
UNEQUAL_RUNS = np.repeat([0, 1, 2], [50, 250, 100])


def test_one_run_is_scipy() -> None:
    values = made_up()
    pearson, spearman = (
        correlations(centred(values, ONE_RUN)),
        correlations(centred(within_runs_ranked(values, ONE_RUN), ONE_RUN)),
    )
    for i in range(4):
        for j in range(4):
            assert pearson[i, j] == pytest.approx(stats.pearsonr(values[:, i], values[:, j]).statistic, abs=1e-12)
            assert spearman[i, j] == pytest.approx(stats.spearmanr(values[:, i], values[:, j]).statistic, abs=1e-12)


def test_ties_share_a_rank_as_in_scipy() -> None:
    values = np.round(made_up(), 0)
    spearman = correlations(centred(within_runs_ranked(values, ONE_RUN), ONE_RUN))
    assert spearman[0, 3] == pytest.approx(stats.spearmanr(values[:, 0], values[:, 3]).statistic, abs=1e-12)


def test_numbers_that_differ_by_rounding_tie() -> None:
    values = np.array([[1.0], [1.0 + 1e-15], [2.0], [3.0], [1e-20], [-1e-20]])
    ranks = within_runs_ranked(values, np.zeros(6, dtype=np.int64))[:, 0]
    assert ranks[0] == ranks[1] < ranks[2] < ranks[3]
    assert ranks[4] == ranks[5] < ranks[0]


def test_pooled_over_runs_is_a_regression_with_a_constant_per_run() -> None:
    """The square of the pooled correlation is what one explains of the other beyond one constant per run."""
    values = made_up() + 5.0 * UNEQUAL_RUNS[:, None]
    constants = np.eye(3)[UNEQUAL_RUNS]
    pearson = correlations(centred(values, UNEQUAL_RUNS))

    def left_over(design: np.ndarray) -> float:
        fitted = design @ np.linalg.lstsq(design, values[:, 0], rcond=None)[0]
        return float(np.sum((values[:, 0] - fitted) ** 2))

    explained = 1.0 - left_over(np.column_stack([constants, values[:, 1]])) / left_over(constants)
    assert pearson[0, 1] ** 2 == pytest.approx(explained, abs=1e-12)
    assert abs(pearson[0, 1]) < abs(np.corrcoef(values[:, 0], values[:, 1])[0, 1])  # the runs' levels would have added to it


def test_differences_between_runs_do_not_count_for_ranks() -> None:
    values = made_up()
    shifted = values + np.array([0.0, 1e3, -1e3, 7.0]) * UNEQUAL_RUNS[:, None]
    plain, moved = within_runs_ranked(values, UNEQUAL_RUNS), within_runs_ranked(shifted, UNEQUAL_RUNS)
    np.testing.assert_array_equal(plain, moved)


def test_inflation_is_that_of_a_direct_regression() -> None:
    values = centred(made_up(), UNEQUAL_RUNS)
    for j, found in enumerate(inflations(values)):
        others = np.delete(values, j, axis=1)
        left = values[:, j] - others @ np.linalg.lstsq(others, values[:, j], rcond=None)[0]
        r_squared = 1.0 - np.sum(left**2) / np.sum(values[:, j] ** 2)
        assert found.factor == pytest.approx(1.0 / (1.0 - r_squared), rel=1e-9)
        assert found.depends_on == ()


def test_exact_dependence_is_infinite_and_named() -> None:
    a, b, c, d = centred(made_up(), ONE_RUN).T
    found = inflations(np.stack([a, b, 2.0 * a - 3.0 * b, c, d, -d], axis=1))
    assert [math.isinf(one.factor) for one in found] == [True, True, True, False, True, True]
    assert [one.depends_on for one in found] == [(1, 2), (0, 2), (0, 1), (), (5,), (4,)]
    others = np.stack([a, b, d], axis=1)
    left = c - others @ np.linalg.lstsq(others, c, rcond=None)[0]
    assert found[3].factor == pytest.approx((c @ c) / (left @ left), rel=1e-9)


def test_near_dependence_is_large_and_finite() -> None:
    a, b = centred(made_up(), ONE_RUN)[:, :2].T
    found = inflations(np.stack([a, a + 1e-6 * b], axis=1))
    assert 1e11 < found[0].factor < 1e14
    assert found[0].depends_on == ()


def test_more_regressors_than_trials() -> None:
    rng = np.random.default_rng(0)
    values = centred(rng.normal(size=(4, 6)), np.zeros(4, dtype=np.int64))
    assert all(math.isinf(one.factor) for one in inflations(values))


@pytest.mark.parametrize(
    ("left", "effective", "most"),
    [
        ([1.0, -1.0, 1.0, -1.0], 4.0, 4),  # each the same: 4^2 / 4; three hold 75 %
        ([0.0, 5.0, 0.0], 1.0, 1),  # one holds all
        ([3.0, 1.0, 0.0, 0.0], 100.0 / 82.0, 1),  # (9 + 1)^2 / (81 + 1); the first holds 90 %
        ([2.0, 1.0, 1.0], 36.0 / 18.0, 3),  # (4 + 1 + 1)^2 / (16 + 1 + 1); two hold 83 %
        ([0.0, 0.0], 0.0, 0),
        ([1e200, 1e200], 2.0, 2),
    ],
)
def test_carriers_by_hand(left: list[float], effective: float, most: int) -> None:
    found = carried(np.array(left))
    assert found.effective == pytest.approx(effective)
    assert found.most == most


def test_the_share_of_first_trials_by_hand() -> None:
    left, starts = np.array([3.0, 1.0, 1.0, -1.0]), np.array([True, False, False, True])
    assert carried(left, starts).at_starts == pytest.approx(10.0 / 12.0)
    assert carried(left).at_starts == 0.0


def test_one_trial_that_differs_carries_it_all() -> None:
    rng = np.random.default_rng(1)
    one = rng.normal(size=1000)
    other = one.copy()
    other[17] += 40.0
    (pair,) = pairs(np.stack([one, other], axis=1), np.stack([one, other], axis=1), 0.2)
    assert pair.effective < 1.1
    assert pair.most == 1


def test_residual_is_orthogonal_and_nothing_where_the_two_are_one() -> None:
    a, b = made_up()[:, :2].T
    assert residual(a, b) @ b == pytest.approx(0.0, abs=1e-9)
    assert not residual(a, -3.0 * a).any()


@pytest.mark.parametrize(("r", "effect"), [(0.0, 0.2), (0.9, 0.2), (-0.5, 0.5)])
def test_trials_needed_by_simulation(r: float, effect: float) -> None:
    """The mean log likelihood ratio of two fitted linear models, over many long data sets, is log 20 at that number of trials."""
    needed = trials_needed(1.0 - r * r, effect)
    trials, rng = 200_000, np.random.default_rng(5)
    right = rng.normal(size=trials)
    wrong = r * right + math.sqrt(1.0 - r * r) * rng.normal(size=trials)
    indicator = effect * right + math.sqrt(1.0 - effect**2) * rng.normal(size=trials)
    fit = [1.0 - np.corrcoef(indicator, x)[0, 1] ** 2 for x in (right, wrong)]
    per_trial = 0.5 * math.log(fit[1] / fit[0])
    assert needed == pytest.approx(math.log(20.0) / per_trial, rel=0.12)


def test_identical_needs_infinitely_many() -> None:
    assert math.isinf(trials_needed(0.0, 0.2))


def test_effect_must_be_a_correlation() -> None:
    for effect in (0.0, 1.0, -0.2, math.nan):
        with pytest.raises(ValueError, match="between 0 and 1"):
            pairs(made_up(), made_up(), effect)
