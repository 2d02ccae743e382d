"""Contexts against separate runs, and an ideal observer on a grid; tests/contracts/test_worlds.py has the sums over histories."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import volatilis as vl
from tests.oracles.ideal_observer import transition_probabilities

P_C = 0.15


def test_transitions_are_those_of_an_ideal_observer_on_a_grid() -> None:
    """Meyniel, Maheu & Dehaene (2016): a grid over both transition probabilities; to its accuracy."""
    y = np.random.default_rng(5).integers(0, 2, 12)
    trace = vl.run(vl.ExactBayes(vl.transitions(2), P_C, cutoff=0.0), y)
    coarse, fine = (transition_probabilities(y, P_C, points) for points in (40, 80))
    found = trace.mean[:, [1, 3]]  # p[1|0] and p[1|1]
    assert_allclose(found, fine, rtol=0, atol=2e-4)
    assert np.abs(found - fine).max() < 0.5 * np.abs(found - coarse).max()  # what is left is the grid's


LEARNERS = [vl.Merge(vl.Bernoulli(), P_C, 3), vl.VarSMiLe(vl.Gaussian(1.0), 0.2), vl.Merge(vl.AutoRegression(1), P_C, 3)]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: type(one.family).__name__)
@pytest.mark.parametrize("unseen", ["elapse", "wait"])
def test_per_context_is_a_run_for_each_context(learner: Any, unseen: str) -> None:
    """To the last bit: "elapse" with the other observations missing, "wait" without them; with a missing one and a reset."""
    rng = np.random.default_rng(7)
    y, x = rng.integers(0, 2, 40).astype(float), rng.integers(0, 3, 40)
    y[11] = np.nan
    both = vl.run(vl.PerContext(learner, 3, unseen), y, given=x, missing="elapse", reset=[25])
    size = learner.family.size()
    for c in range(3):
        mine = x == c
        if unseen == "elapse":
            alone = vl.run(learner, np.where(mine, y, np.nan), missing="elapse", reset=[25])
            assert_array_equal(both.mean.reshape(40, -1)[:, c * size : (c + 1) * size], alone.mean.reshape(40, -1))
            here = np.flatnonzero(mine)
        else:
            first = int(mine[:25].sum())  # of this context after the reset
            alone = vl.run(learner, y[mine], missing="elapse", reset=[first])
            here = np.arange(int(mine.sum()))
        for name in ("log_p", "log_p_0", "adaptation_rate", "run_length"):
            assert_array_equal(getattr(both, name)[mine], getattr(alone, name)[here])
        moments = both.variance[mine, c * size : (c + 1) * size]
        assert_array_equal(moments, alone.variance.reshape(len(alone), -1)[here])


def test_all_arms_at_once_are_one_step_of_time() -> None:
    y = np.array([[1.0, 0.0], [np.nan, 1.0], [np.nan, np.nan], [0.0, np.nan]])
    apart = vl.run(vl.PerContext(vl.Merge(vl.Bernoulli(), P_C, 4), 2), y, missing="elapse")
    for c in range(2):
        assert_array_equal(apart.mean[:, c], vl.run(vl.Merge(vl.Bernoulli(), P_C, 4), y[:, c], missing="elapse").mean)
    together = vl.run(vl.ExactBayes(vl.Given(vl.Bernoulli(), 2), P_C), y[:1])
    assert together.log_p[0] == pytest.approx(2 * math.log(0.5), rel=1e-14)
    assert_array_equal(together.mean[0], [2 / 3, 1 / 3])


def test_a_gap_and_a_reset_begin_the_past_anew() -> None:
    learner, y = vl.Merge(vl.AutoRegression(2), P_C, 3), np.random.default_rng(1).normal(size=12)
    y[6] = np.nan
    trace = vl.run(learner, y, missing="elapse", reset=[9])
    assert_array_equal(np.flatnonzero(np.isnan(trace.log_p)), [0, 1, 6, 7, 8, 9, 10])
    stream = vl.Stream(learner, missing="elapse")
    for t, value in enumerate(y):
        stream = vl.Stream.from_bytes(stream.to_bytes())
        if t == 9:
            stream.reset()
        assert_array_equal(stream.update(value).mean, trace.mean[t])


def test_a_million_observations_at_a_large_offset() -> None:
    """Least squares by NumPy of the same data without the offset."""
    rng, n, offset = np.random.default_rng(2), 1_000_000, 1e9
    x = np.stack([np.ones(n), rng.normal(size=n)], axis=1)
    noise = np.round(x @ [0.3, -1.2] + rng.normal(size=n), 6)
    y = offset + noise
    trace = vl.run(vl.VarSMiLe(vl.LinearRegression(2, mu_0=offset), m=1e-12), y, given=x, readouts=("mean",))
    exact = y - offset
    expected = np.linalg.solve(x.T @ x + np.eye(2), x.T @ exact)
    residual = exact @ exact - expected @ (x.T @ x + np.eye(2)) @ expected
    assert_allclose(trace.mean[-1, :2], expected, rtol=1e-6)  # m = 1e-12 forgets about that much
    assert_allclose(trace.mean[-1, 2], (2.0 + residual / 2) / (3.0 + n / 2 - 1.0), rtol=1e-6)


@pytest.mark.parametrize(
    ("y", "given", "message"),
    [
        ([1, 0], [0, 2], "the context of observation 1 is 2; it must be a whole number from 0 to 1"),
        ([1, 0], [0, 0.5], "the context of observation 1 is 0.5"),
        ([1, 0], [0, np.nan], "the context of observation 1 is missing"),
        ([1, 0], [0], "given has 1 contexts for 2 observations"),
        ([1, 0], None, "no contexts: say with given="),
        ([[1, 2]], None, "context 1: Bernoulli: observation 0 is 2.0"),
    ],
)
def test_wrong_contexts_are_named(y: Any, given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        vl.run(vl.Merge(vl.Given(vl.Bernoulli(), 2), P_C, 3), y, given=given)
