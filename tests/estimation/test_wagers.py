"""Wagers against a model: what one-step errors hardly show is found, and on data from the model hardly anything."""

from __future__ import annotations

import numpy as np
import pytest

import volatilis as vl
from volatilis.estimation import wagers
from volatilis.estimation.evidence import joined
from volatilis.estimation.models import Sequences

FAMILY = vl.Gaussian(1.0, 0.0, 5.0)


def steady(y: np.ndarray) -> Sequences:
    return Sequences([y], [np.zeros(len(y), dtype=np.uint8)])


def test_the_average_gain_on_data_from_the_model_is_at_most_none() -> None:
    """E is 1 on average, or below: of 100 sets none gains 6.2 nats, and the mean of E is not above 1 by 4 standard errors."""
    gains = []
    for seed in range(100):
        y = vl.ChangingEnvironment(FAMILY, 0.05).sample(100, seed=seed).y
        data = steady(y)
        steps = joined(*data)
        own = vl.run(vl.Merge(FAMILY, 0.05, 20), y).log_predictive.sum()
        bets = wagers._all_bets(FAMILY, 0.05, data, steps)
        gains.append([wagers._gain(some, own) for _, some in bets])
        assert not wagers.misfits_by_wager(FAMILY, 0.05, data, 0.002)
    e = np.exp(np.array(gains))
    assert (e.mean(axis=0) <= 1.0 + 4.0 * e.std(axis=0) / 10.0).all()
    assert (e.max(axis=0) < 500.0).all()


def test_heavy_tails_that_look_like_changes() -> None:
    """300 numbers of Student's t(3), with the parameters that fit best: a quarter of such sets passes one-step errors alone."""
    found = [vl.estimate(5.0 + np.random.default_rng(seed).standard_t(3, 300), vl.Gaussian, workers=1) for seed in range(8)]
    assert sum(one.check.fits for one in found) <= 1
    by_wager = [m for one in found for m in one.check.misfits if "not changes" in m.message]
    assert by_wager, "one of these sets at least passes the one-step errors"
    assert all(m.kind == "outliers" and "contaminated" in m.remedy for m in by_wager)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_trend_that_looks_like_steps(sign: float) -> None:
    """300 numbers that rise by 4.5 standard deviations of their noise: told with the slope."""
    found = []
    for seed in range(4):
        y = sign * np.linspace(0.0, 4.5, 300) + np.random.default_rng(seed).normal(size=300)
        (misfit,) = vl.estimate(y, vl.Gaussian, workers=1).check.misfits
        assert misfit.kind == "trend"
        if "at each observation" in misfit.message:
            found.append(misfit)
            slope = float(misfit.message.split(" by ")[1].split()[0])
            assert slope == pytest.approx(4.5 / 299, abs=4 * np.sqrt(12 / 300**3))
            assert ("rise" if sign > 0 else "fall") in misfit.message
    assert found


def test_wrong_parameters_are_no_outliers() -> None:
    """A noise 15 % too large or a p_c twice too high is not what a wager is about: the same family would do as well."""
    for seed in range(10):
        y = vl.ChangingEnvironment(FAMILY, 0.02).sample(500, seed=seed).y
        for family, p_c in ((FAMILY._replace(sigma=1.15), 0.02), (FAMILY._replace(sigma=0.9), 0.02), (FAMILY, 0.04)):
            assert not wagers.misfits_by_wager(family, p_c, steady(y), 0.002)


def test_a_step_is_no_trend_and_short_sequences_have_none() -> None:
    y = np.repeat([0.0, 6.0], 150) + np.random.default_rng(0).normal(size=300)
    assert vl.estimate(y, vl.Gaussian, workers=1).check.fits
    assert vl.check(vl.Merge(FAMILY, 0.05, 20), y[:20]).fits


def test_missing_observations_and_blocks() -> None:
    """A trend within each block of twenty people, with gaps."""
    rng = np.random.default_rng(3)
    ys = [np.linspace(0.0, 3.0, 100) + rng.normal(size=100) for _ in range(5)]
    for y in ys:
        y[rng.integers(0, 100, 10)] = np.nan
    found = vl.estimate(ys, vl.Gaussian, workers=1)
    assert [one.kind for one in found.check.misfits] == ["trend"]
