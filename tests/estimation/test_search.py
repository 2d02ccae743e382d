"""The search for the highest point, and intervals: of functions whose answers are known, and how often they hold the truth."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom

import volatilis as vl
from volatilis._core.records import LINEAR, LOGIT
from volatilis.estimation import search
from volatilis.estimation.coordinates import Coordinate

Function = Callable[[np.ndarray], float]


def coordinates(size: int, low: float = -8.0, high: float = 8.0, scale: str = LOGIT.name) -> list[Coordinate]:
    return [Coordinate(f"x{i}", scale, 0.0, 1.0, low, high, 0.0, 2.0) for i in range(size)]


def of(function: Function) -> search.Values:
    def values(points: Sequence[np.ndarray]) -> np.ndarray:
        return np.array([function(point) for point in points])

    return values


def test_a_parabola_with_a_narrow_ridge_is_found_with_its_covariance() -> None:
    covariance = np.array([[1.0, 0.9995, 0.0], [0.9995, 1.0, 5e-4], [0.0, 5e-4, 1e-3]])
    inverse, middle = np.linalg.inv(covariance), np.array([1.0, -2.0, 0.3])
    values, axes = of(lambda u: 5000.0 + 0.5 * float((u - middle) @ inverse @ (u - middle))), coordinates(3)
    peak = search.described(values, axes, search.highest(values, axes, [np.zeros(3), np.ones(3)]))
    np.testing.assert_allclose(peak.u, middle, atol=1e-4)
    np.testing.assert_allclose(peak.covariance, covariance, rtol=1e-3, atol=1e-5)
    ends = search.with_intervals(values, axes, peak, 100.0, [True] * 3)
    reach = math.sqrt(2.0 * search.DROP) * np.sqrt(np.diag(covariance))
    np.testing.assert_allclose([ends.low, ends.high], [middle - reach, middle + reach], atol=0.02)


def test_a_curved_valley_is_followed_to_its_end() -> None:
    values, axes = of(lambda u: 100.0 * (u[1] - u[0] ** 2) ** 2 + (1.0 - u[0]) ** 2), coordinates(2)
    peak = search.described(values, axes, search.highest(values, axes, [np.array([-1.2, 1.0])]))
    assert peak.value < 1e-4
    np.testing.assert_allclose(peak.u, [1.0, 1.0], atol=0.01)  # a hundredth of its error


def test_a_curvature_that_rounding_would_spoil_is_left_as_it_is() -> None:
    rng, inverse = np.random.default_rng(0), np.diag([1e-16, 1.0, 1e16])
    for _ in range(300):
        moved, change = rng.normal(size=3) * [1e-8, 1.0, 1e8], rng.normal(size=3) * [1e8, 1.0, 1e-8]
        inverse = search._updated(inverse, moved, change)
        np.linalg.cholesky(inverse)


@pytest.mark.parametrize("end", [-1.0, 1.0])
def test_the_highest_point_at_an_end_of_the_range(end: float) -> None:
    values, axes = of(lambda u: -3.0 * end * u[0] + 0.5 * (u[1] - 0.5) ** 2), coordinates(2)
    peak = search.described(values, axes, search.highest(values, axes, [np.zeros(2)]))
    assert peak.at_end.tolist() == [True, False]
    assert peak.u[0] == 8.0 * end
    found = search.with_intervals(values, axes, peak, 100.0, [True] * 2)
    inner = found.low[0] if end > 0.0 else found.high[0]
    assert inner == pytest.approx(end * (8.0 - search.STEEP / 3.0), abs=0.05)
    assert (found.high[0] if end > 0.0 else found.low[0]) == 8.0 * end


def test_the_lower_of_two_valleys_is_found() -> None:
    def two(u: np.ndarray) -> float:
        return -math.log(
            0.1 * math.exp(-0.5 * float(np.sum((u - 3.0) ** 2)) / 0.04)
            + math.exp(-0.5 * float(np.sum((u + 3.0) ** 2)) / 0.04)
            + 1e-300
        )

    starts = [np.full(2, 2.5), np.full(2, -2.4)]
    np.testing.assert_allclose(search.highest(of(two), coordinates(2), starts).u, [-3.0, -3.0], atol=1e-2)


def test_where_nothing_is_known_the_interval_is_the_range() -> None:
    values, axes = of(lambda u: 7.0 + 0.0 * u[0]), coordinates(1)
    peak = search.described(values, axes, search.highest(values, axes, [np.zeros(1)]))
    assert np.isnan(peak.covariance).all()
    found = search.with_intervals(values, axes, peak, 100.0, [True])
    assert (found.low[0], found.high[0]) == (-8.0, 8.0)


def test_intervals_of_a_lopsided_function_are_those_of_its_profile() -> None:
    """k changes among n observations: log-odds of p, with a nuisance parameter that follows it."""
    k, n = 3, 100

    def along(x: float) -> float:
        return -k * x + n * math.log1p(math.exp(x))

    values, axes = of(lambda u: along(u[0]) + 20.0 * (u[1] - u[0] ** 2 / 4.0) ** 2), coordinates(2)
    peak = search.described(values, axes, search.highest(values, axes, [np.array([-2.0, 0.0])]))
    found = search.with_intervals(values, axes, peak, 100.0, [True, False])
    best = math.log(k / (n - k))
    assert peak.u[0] == pytest.approx(best, abs=2e-3)
    low, high = (brentq(lambda x: along(x) - along(best) - search.DROP, best, end) for end in (-8.0, 2.0))
    assert (found.low[0], found.high[0]) == pytest.approx((low, high), abs=0.03)


def test_infinite_values_are_left() -> None:
    values, axes = of(lambda u: math.inf if u[0] < -1.0 else (u[0] - 0.5) ** 2), coordinates(1, scale=LINEAR.name)
    assert search.highest(values, axes, [np.array([-3.0]), np.array([2.0])]).u[0] == pytest.approx(0.5, abs=1e-2)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """40 gaussian sets of 300: at 95 % each of four is outside in so many as a binomial has, with 1 of 1,000 to spare."""
    true = {"sigma": 2.0, "mu_0": 30.0, "sigma_0": 9.0, "p_c": 0.05}
    environment = vl.ChangingEnvironment(vl.Gaussian(2.0, 30.0, 9.0), 0.05)
    outside = dict.fromkeys(true, 0)
    for seed in range(40):
        found = vl.estimate(environment.sample(300, seed=seed).y, vl.Gaussian, check=False)
        for name, value in true.items():
            outside[name] += not found[name].low <= value <= found[name].high
    assert max(outside.values()) <= binom.ppf(0.999, 40, 0.05)
    assert 1 <= sum(outside.values()) <= binom.ppf(0.999, 160, 0.05)
