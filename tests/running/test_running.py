"""Running: a stream, a batch, many sequences, any number of threads, Python and native code all give the same bits."""

from __future__ import annotations

import copy
import json
import pathlib
import pickle
import sys
import threading
import warnings
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import volatilis as vl
import volatilis.running.fast_steps as fast_steps
from tests.helpers.settings import every_learner, name_of
from volatilis.families._kinds import AnyFamily
from volatilis.learners._base import Info
from volatilis.learners._hypotheses import Hypotheses
from volatilis.learners._kinds import learner_with_one_belief as own_learner
from volatilis.learners._one_belief import OneBelief

GAUSSIAN = vl.Gaussian(0.7, mu_0=0.2, sigma_0=2.0)
CATEGORICAL = vl.Categorical(3, s=0.5)
PLANE = vl.MultivariateGaussian([[1.0, 0.3], [0.3, 0.5]], [0.1, -0.2], [[2.0, 0.0], [0.0, 1.0]])
FAMILIES = {
    "Gaussian": GAUSSIAN,
    "Categorical": CATEGORICAL,
    "Bernoulli": vl.Bernoulli(0.6, 1.5),
    "Poisson": vl.Poisson(2.0, 0.5),
    "Exponential": vl.Exponential(3.0, 2.0),
    "GaussianUnknownVariance": vl.GaussianUnknownVariance(0.1, 0.5, 2.5, 1.5),
    "MultivariateGaussian": PLANE,
    "MultivariateGaussianUnknownCovariance": vl.MultivariateGaussianUnknownCovariance(
        [0.0, 1.0], 0.5, 5.5, [[1.0, 0.2], [0.2, 2.0]]
    ),
}


def sequence(family: Any, T: int, seed: int = 11) -> np.ndarray:
    return vl.ChangingEnvironment(family, 0.1).sample(T, seed=seed).y


EVERY_LEARNER = [*every_learner(GAUSSIAN), *every_learner(CATEGORICAL)]
SPOT_CHECKS = [
    vl.ExactBayes(FAMILIES["Bernoulli"], 0.05),
    vl.SMiLe(FAMILIES["Bernoulli"], 0.3),
    vl.Merge(FAMILIES["Poisson"], 0.05, 3),
    vl.VarSMiLe(FAMILIES["Poisson"], 0.1),
    vl.StratifiedResampling(FAMILIES["Exponential"], 0.05, 3),
    vl.SMiLe(FAMILIES["Exponential"], 0.2),
    vl.Merge(FAMILIES["GaussianUnknownVariance"], 0.05, 3),
    vl.ParticleFilter(FAMILIES["GaussianUnknownVariance"], 0.05, 5),
    vl.MessagePassing(PLANE, 0.05, 3),
    vl.Leaky(PLANE, 0.8),
    vl.ExactBayes(FAMILIES["MultivariateGaussianUnknownCovariance"], 0.05),
    vl.VarSMiLe(FAMILIES["MultivariateGaussianUnknownCovariance"], 0.1),
]
ALL_CASES = EVERY_LEARNER + SPOT_CHECKS
DETERMINISTIC = [learner for learner in EVERY_LEARNER if not isinstance(learner, (vl.ParticleFilter, vl.StratifiedResampling))]


def every(learner_list: list[Any]) -> Any:
    return pytest.mark.parametrize("learner", learner_list, ids=name_of)


def columns(trace: vl.Trace) -> dict[str, np.ndarray]:
    return {name: getattr(trace, name) for name in trace.readouts}


def assert_same(trace: Any, other: Any) -> None:
    """Every readout equal to the last bit."""
    assert len(trace) == len(other)
    assert trace.readouts == other.readouts
    for name in trace.readouts:
        a, b = np.asarray(getattr(trace, name)), np.asarray(getattr(other, name))
        assert a.shape == b.shape
        assert np.array_equal(a, b, equal_nan=True), f"{name} differs first at {np.flatnonzero(np.ravel(a != b))[:1]}"


def assert_steps_are_rows(steps: list[vl.Step], trace: vl.Trace, start: int = 0) -> None:
    for name in trace.readouts:
        stepped = np.array([getattr(step, name) for step in steps])
        assert np.array_equal(stepped, getattr(trace, name)[start : start + len(steps)], equal_nan=True), name


# --- the same bits, however it runs ------------------------------------------------------------------------------------


@every(ALL_CASES)
def test_stepping_equals_batch(learner: Any) -> None:
    y = sequence(learner.family, 60)
    stream = vl.Stream(learner, seed=5)
    assert_steps_are_rows([stream.update(v) for v in y], vl.run(learner, y, seed=5))
    assert stream.seen == 60


@every(ALL_CASES)
def test_many_equal_one_at_a_time_whatever_the_number_of_threads(learner: Any) -> None:
    """Sequence i runs with the i-th child of the seed."""
    children = np.random.SeedSequence(9).spawn(4)
    for lengths in ((20, 20, 20, 20), (20, 0, 1, 33)):
        ys = [sequence(learner.family, T, seed=i) for i, T in enumerate(lengths)]
        one, two = vl.run_many(learner, ys, seed=9, workers=1), vl.run_many(learner, ys, seed=9, workers=2)
        assert len(one) == len(two) == 4
        for i in range(4):
            alone = vl.run(learner, ys[i], seed=children[i])
            assert_same(one[i], alone)
            assert_same(two[i], alone)


@every([vl.VarSMiLe(GAUSSIAN, 0.1), vl.Nas12Star(GAUSSIAN, 0.05), vl.VarSMiLe(CATEGORICAL, 0.1), vl.ExactBayes(GAUSSIAN, 0.1)])
def test_many_sequences_across_blocks_of_lock_step(learner: Any) -> None:
    """More sequences than run side by side, as an array and as a list."""
    ys = np.array([sequence(learner.family, 15, seed=s) for s in range(150)])
    array, listed = vl.run_many(learner, ys, workers=2), vl.run_many(learner, list(ys), workers=2)
    for i in (0, 1, 63, 64, 127, 128, 149, -1):
        assert_same(array[i], vl.run(learner, ys[i]))
        assert_same(listed[i], array[i])


@every(ALL_CASES)
def test_python_equals_native_code(learner: Any) -> None:
    y = sequence(learner.family, 5 if isinstance(learner, vl.SMiLe) else 12, seed=4)
    if isinstance(learner.family, vl.Gaussian):
        y[3] += 60.0  # so surprising that predictives underflow
    native = vl.run(learner, y, seed=2)
    with vl.plain_python():
        python = vl.run(learner, y, seed=2)
        stream = vl.Stream(learner, seed=2)
        steps = [stream.update(v) for v in y[:4]]
        many = vl.run_many(learner, [y, y], seed=2, workers=1) if isinstance(learner.init(0), OneBelief) else None
    assert_same(python, native)
    assert_steps_are_rows(steps, native)
    if many is not None:
        assert_same(many[1], native)


@every([vl.VarSMiLe(GAUSSIAN, 0.1), vl.ExactBayes(GAUSSIAN, 0.1), vl.Merge(GAUSSIAN, 0.1, 2), vl.VarSMiLe(CATEGORICAL, 0.1)])
def test_python_equals_native_code_for_divergences(learner: Any) -> None:
    y = sequence(learner.family, 3)
    native = vl.run(learner, y)
    with vl.plain_python():
        python = vl.run(learner, y)
        assert np.array_equal(python.bayesian_surprise, native.bayesian_surprise)
        assert np.array_equal(python.confidence_corrected_surprise, native.confidence_corrected_surprise)


@every(EVERY_LEARNER)
def test_saved_and_restored_equals_never_stopped(learner: Any, tmp_path: pathlib.Path) -> None:
    y, path = sequence(learner.family, 40), tmp_path / "state.json"
    batch, stream = vl.run(learner, y, seed=5), vl.Stream(learner, seed=5)
    for part in np.split(np.arange(40), 4):
        stream.save(path)
        stream = vl.Stream.load(path)
        assert_steps_are_rows([stream.update(y[t]) for t in part], batch, start=part[0])


@every([vl.ParticleFilter(GAUSSIAN, 0.05, 7), vl.StratifiedResampling(CATEGORICAL, 0.2, 3)])
def test_the_seed_decides(learner: Any) -> None:
    y = sequence(learner.family, 60)
    assert_same(vl.run(learner, y, seed=3), vl.run(learner, y, seed=np.random.SeedSequence(3)))
    assert not np.array_equal(vl.run(learner, y, seed=3).mean, vl.run(learner, y, seed=4).mean)
    seeds = np.random.SeedSequence(3)
    first, second = vl.run_many(learner, [y, y], seed=seeds), vl.run_many(learner, [y, y], seed=seeds)
    assert_same(first[1], second[1])  # running does not use up the caller's seed
    assert not np.array_equal(first[0].mean, first[1].mean)


def test_running_changes_neither_the_observations_nor_another_run() -> None:
    y = sequence(GAUSSIAN, 30)
    kept = y.copy()
    first = vl.run(vl.Merge(GAUSSIAN, 0.1, 3), y)
    before = {name: values.copy() for name, values in columns(first).items()}
    vl.run(vl.Merge(GAUSSIAN, 0.1, 3), -y)
    assert np.array_equal(y, kept)
    assert all(np.array_equal(before[name], values) for name, values in columns(first).items())


def test_a_belief_is_a_snapshot() -> None:
    stream = vl.Stream(vl.ExactBayes(GAUSSIAN, 0.1))
    stream.update(1.0)
    belief, mean = stream.belief, stream.belief.mean
    stream.update(9.0)
    assert belief.mean == mean
    assert stream.belief.mean != mean


@every(ALL_CASES)
def test_the_belief_has_the_moments_of_the_step(learner: Any) -> None:
    """To 1e-12 of the largest: the belief sums in another order."""
    stream = vl.Stream(learner, seed=1)
    for v in sequence(learner.family, 25):
        step = stream.update(v)
    belief = stream.belief
    assert np.allclose(belief.mean, step.mean, rtol=1e-12, atol=1e-12 * np.max(np.abs(step.mean)))
    if "variance" in step.readouts:
        assert np.allclose(belief.variance, step.variance, rtol=1e-10, atol=0.0)
        assert belief.weights.sum() == pytest.approx(1.0, abs=1e-12)
        assert belief.weights @ belief.run_lengths == pytest.approx(step.run_length, rel=1e-12)


# --- blocks ------------------------------------------------------------------------------------------------------------


@every(DETERMINISTIC)
def test_resets_equal_running_the_blocks_apart(learner: Any) -> None:
    y = sequence(learner.family, 30)
    mask = np.zeros(30, dtype=bool)
    mask[[12, 13, 25]] = True
    whole = vl.run(learner, y, reset=mask)
    assert_same(vl.run(learner, y, reset=[12, 13, 25]), whole)
    assert_same(vl.run(learner, y, reset=[25, 12, 13, 13]), whole)
    for start, stop in ((0, 12), (12, 13), (13, 25), (25, 30)):
        block = vl.run(learner, y[start:stop])
        for name in whole.readouts:
            assert np.array_equal(getattr(block, name), getattr(whole, name)[start:stop], equal_nan=True), name


@pytest.mark.parametrize("labels", [[0, 0, 1, 0], np.array([1, 1, 2, 2]), pd.Series([0, 1, 0, 0])])
def test_a_number_for_each_observation_is_no_list_of_positions(labels: Any) -> None:
    with pytest.raises(ValueError, match="a number for each of 4 observations, and some come again"):
        vl.run(vl.VarSMiLe(GAUSSIAN, 0.1), [1.0, 1.0, 5.0, 5.0], reset=labels)


@every(EVERY_LEARNER)
def test_a_reset_at_the_start_changes_nothing_and_a_stream_resets_alike(learner: Any) -> None:
    y = sequence(learner.family, 16)
    plain = vl.run(learner, y, seed=2)
    assert_same(vl.run(learner, y, seed=2, reset=[0]), plain)
    stream = vl.Stream(learner, seed=2)
    steps = [stream.update(v) for v in y[:9]]
    stream.reset()
    steps += [stream.update(v) for v in y[9:]]
    assert_steps_are_rows(steps, vl.run(learner, y, seed=2, reset=[9]))


def test_resets_of_many_sequences() -> None:
    learner, ys = vl.VarSMiLe(GAUSSIAN, 0.1), [sequence(GAUSSIAN, T, seed=T) for T in (10, 12)]
    traces = vl.run_many(learner, ys, reset=[[3], None])
    assert_same(traces[0], vl.run(learner, ys[0], reset=[3]))
    assert_same(traces[1], vl.run(learner, ys[1]))


def test_surprise_at_a_reset_is_measured_from_the_prior() -> None:
    for learner in (vl.VarSMiLe(GAUSSIAN, 0.1), vl.ExactBayes(GAUSSIAN, 0.1)):
        y = sequence(GAUSSIAN, 8)
        whole, block = vl.run(learner, y, reset=[5]), vl.run(learner, y[5:])
        for name in ("bayesian_surprise", "confidence_corrected_surprise"):
            assert np.array_equal(getattr(whole, name)[5:], getattr(block, name))
            assert np.array_equal(getattr(whole, name)[:5], getattr(vl.run(learner, y[:5]), name))


@pytest.mark.parametrize("reset", [[5], [-1], [True] * 4, [[True] * 5], [0.5], "01", 3, [[1, 2]]])
def test_resets_that_make_no_sense(reset: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="reset"):
        vl.run(vl.VarSMiLe(GAUSSIAN, 0.1), np.zeros(5), reset=reset)


# --- missing observations ----------------------------------------------------------------------------------------------


@every(EVERY_LEARNER)
def test_skipping_equals_dropping_the_row(learner: Any) -> None:
    y = sequence(learner.family, 20).astype(float)
    gaps = np.zeros(20, dtype=bool)
    gaps[[0, 4, 5, 19]] = True
    with_gaps = np.where(gaps, np.nan, y)
    trace, dropped = vl.run(learner, with_gaps, seed=3, missing="skip"), vl.run(learner, y[~gaps], seed=3)
    for name in trace.readouts:
        values = getattr(trace, name)
        assert np.array_equal(values[~gaps], getattr(dropped, name), equal_nan=True), name
        if name in ("mean", "variance", "run_length"):  # the belief stays; of Leaky's estimate from nothing nothing is said
            assert np.array_equal(values[4], values[3])
            assert np.array_equal(values[5], values[3])
        else:
            assert np.all(np.isnan(values[gaps]))


def test_elapsed_time_relaxes_the_exact_belief_towards_the_prior() -> None:
    """pi <- (1 - p_c) pi + p_c pi_0: weights, mean and variance to 1e-14 relative."""
    p_c, prior = 0.3, (GAUSSIAN.mu_0, GAUSSIAN.sigma_0**2)
    stream = vl.Stream(vl.ExactBayes(GAUSSIAN, p_c), missing="elapse")
    for v in (1.0, 1.5, -3.0):
        stream.update(v)
    for _ in range(3):
        before, weights = stream.belief, stream.belief.weights
        mean, second = before.mean, before.variance + before.mean**2
        step, after = stream.update(None), stream.belief
        new = (1.0 - p_c) * mean + p_c * prior[0]
        assert step.mean == pytest.approx(new, rel=1e-14)
        expected = (1.0 - p_c) * second + p_c * (prior[1] + prior[0] ** 2) - new**2
        assert step.variance == pytest.approx(expected, rel=1e-13)
        old = weights if before.run_lengths[-1] > 0.0 else weights[:-1]
        on_prior = p_c + (0.0 if before.run_lengths[-1] > 0.0 else (1.0 - p_c) * weights[-1])
        assert after.weights[:-1] == pytest.approx((1.0 - p_c) * old, rel=1e-14)
        assert after.weights[-1] == pytest.approx(on_prior, rel=1e-14)
        assert after.run_lengths[-1] == 0.0
        assert np.isnan(step.adaptation_rate)
    theta = np.linspace(-3.0, 3.0, 7)
    assert after.pdf(theta) == pytest.approx(
        (1 - p_c) * before.pdf(theta) + p_c * GAUSSIAN.distribution(stream._state.pi_0, 0).pdf(theta), rel=1e-12
    )


def test_time_elapsed_before_the_first_observation_changes_nothing() -> None:
    """The belief is the prior, and so is its mixture with the prior."""
    for learner in (
        vl.ExactBayes(GAUSSIAN, 0.3),
        vl.Merge(CATEGORICAL, 0.3, 2),
        vl.VarSMiLe(GAUSSIAN, 0.3),
        vl.Nas12Star(GAUSSIAN, 0.3),
    ):
        y = sequence(learner.family, 3).astype(float)
        late, now = vl.run(learner, np.r_[np.nan, np.nan, y], missing="elapse"), vl.run(learner, y)
        for name in now.readouts:
            assert getattr(late, name)[2:] == pytest.approx(getattr(now, name), rel=1e-13), name


def test_after_a_long_time_only_the_prior_is_left() -> None:
    gone = np.r_[4.0, 4.1, 3.9, np.full(2000, np.nan)]
    for learner in every_learner(GAUSSIAN):
        if not isinstance(learner, (vl.Leaky, vl.ParticleFilter, vl.StratifiedResampling)):
            trace = vl.run(learner, gone, missing="elapse")
            family = learner.family
            assert trace.mean[-1] == pytest.approx(family.mu_0, abs=1e-9), name_of(learner)
            assert trace.variance[-1] == pytest.approx(family.sigma_0**2, rel=1e-9), name_of(learner)
    assert vl.run(vl.Leaky(GAUSSIAN, 0.9), gone, missing="elapse").run_length[-1] < 1e-80


def test_elapsed_time_of_approximate_learners_follows_the_mixture_in_the_mean() -> None:
    for learner in (
        vl.MessagePassing(GAUSSIAN, 0.2, 8),
        vl.Merge(GAUSSIAN, 0.2, 8),
        vl.Nas10Star(GAUSSIAN, 0.2),
        vl.Nas12Star(GAUSSIAN, 0.2),
    ):
        trace = vl.run(learner, [1.0, 2.0, np.nan], missing="elapse")
        assert trace.mean[2] == pytest.approx(0.8 * trace.mean[1] + 0.2 * GAUSSIAN.mu_0, rel=1e-13)


def test_elapsed_time_of_the_particle_filter_in_expectation() -> None:
    """40,000 particles: the mean moves by p_c within 5 standard errors."""
    n, p_c = 40_000, 0.2
    trace = vl.run(vl.ParticleFilter(GAUSSIAN, p_c, n), [3.0, np.nan], missing="elapse")
    apart = trace.mean[0] - GAUSSIAN.mu_0
    error = abs(apart) * np.sqrt(p_c * (1 - p_c) / n)
    assert abs(trace.mean[1] - (GAUSSIAN.mu_0 + (1 - p_c) * apart)) < 5.0 * error


@every(EVERY_LEARNER)
def test_streams_and_batches_treat_missing_observations_alike(learner: Any) -> None:
    y = sequence(learner.family, 12).astype(float)
    y[[0, 5, 6]] = np.nan
    for policy in ("elapse", "skip"):
        trace, stream = vl.run(learner, y, seed=4, missing=policy), vl.Stream(learner, seed=4, missing=policy)
        assert_steps_are_rows([stream.update(None if np.isnan(v) else v) for v in y], trace)
        assert stream.seen == 9
        assert np.array_equal(trace.observations, y, equal_nan=True)


def test_ways_to_say_missing() -> None:
    learner = vl.ExactBayes(GAUSSIAN, 0.1)
    expected = vl.run(learner, np.array([1.0, np.nan, 2.0]), missing="elapse")
    ways = [
        [1.0, None, 2.0],
        [1.0, float("nan"), 2.0],
        np.ma.masked_array([1.0, 7.0, 2.0], mask=[False, True, False]),
        np.ma.masked_array([1.0, np.inf, 2.0], mask=[False, True, False]),
        [1.0, np.ma.masked, 2.0],
        pd.Series([1.0, None, 2.0]),
        pd.Series([1, None, 2], dtype="Int64"),
        pd.array([1, None, 2], dtype="Int64"),
        [1, pd.NA, 2],
    ]
    for way in ways:
        assert_same(vl.run(learner, way, missing="elapse"), expected)
        with pytest.raises(ValueError, match="observation 1 is missing"):
            vl.run(learner, way)
    stream = vl.Stream(learner, missing="elapse")
    stream.update(1.0)
    for absent in (None, np.nan, np.float64("nan"), pd.NA, np.ma.masked):
        assert np.isnan(stream.update(absent).adaptation_rate)
    assert stream.seen == 1
    for absent in (None, np.nan, pd.NA):
        with pytest.raises(ValueError, match="missing"):
            vl.Stream(learner).update(absent)


def test_missing_counts_and_vectors() -> None:
    counts = vl.run(vl.VarSMiLe(CATEGORICAL, 0.1), np.ma.masked_array([1, -7, 2], mask=[False, True, False]), missing="skip")
    assert np.array_equal(counts.observations, [1.0, np.nan, 2.0], equal_nan=True)
    learner = vl.ExactBayes(PLANE, 0.1)
    expected = vl.run(learner, np.array([[1.0, 2.0], [np.nan, np.nan], [3.0, 4.0]]), missing="skip")
    ways = [
        np.array([[1.0, 2.0], [np.nan, 5.0], [3.0, 4.0]]),  # one element unknown: the vector is
        [[1.0, 2.0], [None, None], [3.0, 4.0]],
        [[1.0, 2.0], None, [3.0, 4.0]],
        np.ma.masked_array([[1.0, 2.0], [8.0, 9.0], [3.0, 4.0]], mask=[[0, 0], [1, 0], [0, 0]]),
    ]
    for way in ways:
        assert_same(vl.run(learner, way, missing="skip"), expected)
    stream = vl.Stream(learner, missing="skip")
    assert_steps_are_rows([stream.update([1.0, 2.0]), stream.update(None), stream.update(np.array([3.0, 4.0]))], expected)


def test_readouts_of_missing_observations_warn_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trace = vl.run(vl.ExactBayes(GAUSSIAN, 0.1), [1.0, np.nan, 2.0], missing="elapse")
        assert all(len(values) == 3 for values in columns(trace).values())
        assert np.isnan(trace.log_predictive[1])
        assert np.isnan(trace.bayesian_surprise[1])
        stream = vl.Stream(vl.ExactBayes(GAUSSIAN, 0.1), missing="skip")
        assert np.isnan(stream.update(None).shannon_surprise)
        assert "shannon_surprise=nan" in repr(stream.update(None)).replace("np.float64(nan)", "nan")
        trace.to_pandas()
        trace.plot()


@pytest.mark.parametrize("missing", ["drop", "", None, 1, ["skip"], True])
def test_unknown_policies(missing: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=r"missing = .*'error', 'elapse', 'skip'"):
        vl.run(vl.VarSMiLe(GAUSSIAN, 0.1), [1.0], missing=missing)
    with pytest.raises((ValueError, TypeError), match=r"missing = .*'error', 'elapse', 'skip'"):
        vl.Stream(vl.VarSMiLe(GAUSSIAN, 0.1), missing=missing)


# --- short sequences ---------------------------------------------------------------------------------------------------


@every(ALL_CASES)
def test_no_observation_gives_an_empty_trace(learner: Any) -> None:
    size = learner.family.size()
    for y in ([], np.zeros(0), learner.family.observations([])[0]):
        trace = vl.run(learner, y)
        assert len(trace) == 0
        for name in trace.readouts:
            vector = name in ("mean", "variance") and size > 1
            assert getattr(trace, name).shape == ((0, size) if vector else (0,))
    assert len(trace.to_pandas()) == 0
    assert trace.to_xarray().sizes["t"] == 0
    assert len(vl.run_many(learner, [])) == 0
    assert [len(t) for t in vl.run_many(learner, [[], []])] == [0, 0]


def test_one_observation() -> None:
    """The first observation follows a change with certainty: the belief is the prior's posterior, whatever the learner."""
    rho = (GAUSSIAN.sigma / GAUSSIAN.sigma_0) ** 2
    for learner in every_learner(GAUSSIAN):
        if isinstance(learner, (vl.Nas10, vl.Nas12, vl.SMiLe)):
            continue
        trace = vl.run(learner, [1.7])
        if isinstance(learner, vl.Leaky):
            assert trace.mean[0] == 1.7
            continue
        assert trace.mean[0] == pytest.approx((rho * GAUSSIAN.mu_0 + 1.7) / (rho + 1.0), rel=1e-14)
        assert trace.variance[0] == pytest.approx(GAUSSIAN.sigma**2 / (rho + 1.0), rel=1e-14)
        assert trace.bayes_factor_surprise[0] == pytest.approx(1.0, rel=1e-14)
        assert trace.run_length[0] == pytest.approx(1.0, rel=1e-14)


# --- readouts ----------------------------------------------------------------------------------------------------------


@every(ALL_CASES)
def test_steps_and_traces_have_the_same_names(learner: Any) -> None:
    y = sequence(learner.family, 3)
    trace, step = vl.run(learner, y), vl.Stream(learner).update(y[0])
    assert trace.readouts == step.readouts
    public = {"mean", "variance", "run_length", "bayes_factor_surprise", "shannon_surprise", "adaptation_rate", "log_predictive"}
    assert public <= {*trace.readouts} or isinstance(learner, vl.Leaky)
    for name in trace.readouts:
        assert np.shape(getattr(step, name)) == getattr(trace, name).shape[1:]
        assert f"{name}=" in repr(step)
        assert name in repr(trace)


def test_the_measures_follow_from_each_other() -> None:
    """Identities of the paper, to 1e-10: gamma = p_c exp(Delta S_Sh), and S_BF from Delta S_Sh."""
    p_c, y = 0.05, sequence(GAUSSIAN, 200)
    trace = vl.run(vl.ExactBayes(GAUSSIAN, p_c), y)
    assert trace.shannon_surprise == pytest.approx(-trace.log_predictive, rel=1e-15)
    assert np.exp(trace.log_bayes_factor_surprise) == pytest.approx(trace.bayes_factor_surprise, rel=1e-12)
    from scipy.stats import norm

    of_prior = -norm.logpdf(y, GAUSSIAN.mu_0, np.hypot(GAUSSIAN.sigma, GAUSSIAN.sigma_0))
    difference = trace.shannon_surprise - of_prior
    assert trace.adaptation_rate == pytest.approx(p_c * np.exp(difference), rel=1e-10)
    surprising = (1 - p_c) * np.exp(difference) / (1 - p_c * np.exp(difference))
    assert trace.bayes_factor_surprise == pytest.approx(surprising, rel=1e-8)


LEAKY_LACKS = (
    "variance",
    "bayes_factor_surprise",
    "log_bayes_factor_surprise",
    "shannon_surprise",
    "adaptation_rate",
    "log_predictive",
)


@pytest.mark.parametrize("name", LEAKY_LACKS)
def test_undefined_readouts_are_absent(name: str) -> None:
    learner = vl.Leaky(GAUSSIAN, 0.9)
    for owner in (vl.run(learner, [1.0, 2.0]), vl.Stream(learner).update(1.0)):
        assert not hasattr(owner, name)
        with pytest.raises(AttributeError, match=f"Leaky.*{name}.*mean, run_length"):
            getattr(owner, name)
        assert name not in owner.readouts


@pytest.mark.parametrize("name", ["bayesian_surprise", "confidence_corrected_surprise"])
def test_undefined_divergences_are_absent_too(name: str) -> None:
    trace = vl.run(vl.Leaky(GAUSSIAN, 0.9), [1.0, 2.0])
    with pytest.raises(AttributeError, match=f"Leaky.*{name.replace('_', '.')}"):
        getattr(trace, name)
    belief = vl.Stream(vl.Leaky(GAUSSIAN, 0.9)).belief
    for what in ("variance", "pdf", "quantile", "sample"):
        with pytest.raises(AttributeError, match=f"Leaky.*{what}"):
            getattr(belief, what)(0.5)


def test_what_could_only_be_approximated_is_refused() -> None:
    trace = vl.run(vl.ExactBayes(CATEGORICAL, 0.1), [0, 1])
    with pytest.raises((TypeError, AttributeError), match="ExactBayes with Categorical"):
        _ = trace.bayesian_surprise
    trace = vl.run(vl.VarSMiLe(FAMILIES["GaussianUnknownVariance"], 0.1), [0.0, 1.0])
    with pytest.raises((TypeError, AttributeError), match="GaussianUnknownVariance"):
        _ = trace.confidence_corrected_surprise
    with pytest.raises((TypeError, ValueError), match="observation 1"):
        _ = vl.run(vl.VarSMiLe(FAMILIES["Exponential"], 0.1), [1.0, 0.0]).confidence_corrected_surprise


def test_to_pandas() -> None:
    trace = vl.run(vl.VarSMiLe(GAUSSIAN, 0.1), sequence(GAUSSIAN, 6))
    frame = trace.to_pandas()
    assert list(frame.columns) == list(trace.readouts)
    assert frame.index.name == "t"
    assert all(np.array_equal(frame[name], getattr(trace, name)) for name in trace.readouts)
    _ = trace.bayesian_surprise
    assert np.array_equal(trace.to_pandas()["bayesian_surprise"], trace.bayesian_surprise)
    several = vl.run(vl.ExactBayes(CATEGORICAL, 0.1), [0, 1, 2, 2])
    frame = several.to_pandas()
    assert [c for c in frame.columns if c.startswith("mean")] == ["mean_p[0]", "mean_p[1]", "mean_p[2]"]
    assert np.array_equal(frame["variance_p[2]"], several.variance[:, 2])
    assert list(vl.run(vl.Leaky(GAUSSIAN, 0.9), [1.0]).to_pandas().columns) == ["mean", "run_length"]


class Measured(pd.DataFrame):
    """As in packages that build on pandas: a frame of another module, with another name."""


def test_frames_of_pandas_and_polars() -> None:
    polars = pytest.importorskip("polars")
    learner, columns = vl.VarSMiLe(GAUSSIAN, 0.1), {"a": [0.1, 2.0, 2.5], "b": [1.0, -1.0, 0.0]}
    expected = [vl.run(learner, y).mean for y in columns.values()]
    for frame in (pd.DataFrame(columns), Measured(columns), polars.DataFrame(columns)):
        np.testing.assert_array_equal(np.stack([trace.mean for trace in vl.run_many(learner, frame)]), expected)
        np.testing.assert_array_equal(vl.run(learner, frame["a"]).mean, expected[0])
    days = pd.date_range("2020-01-01", periods=3)
    assert vl.run(learner, Measured(columns, index=days)["a"]).to_pandas().index.equals(days)


def test_to_xarray() -> None:
    trace = vl.run(vl.ExactBayes(CATEGORICAL, 0.1), [0, 1, 2, 2])
    data = trace.to_xarray()
    assert data["mean"].dims == ("t", "parameter")
    assert data["adaptation_rate"].dims == ("t",)
    assert list(data["parameter"].values) == ["p[0]", "p[1]", "p[2]"]
    assert data["mean"].sel(t=2, parameter="p[1]") == trace.mean[2, 1]
    assert "ExactBayes" in data.attrs["learner"]
    single = vl.run(vl.Leaky(GAUSSIAN, 0.9), [1.0, 2.0]).to_xarray()
    assert set(single.data_vars) == {"mean", "run_length"}
    assert single["mean"].dims == ("t",)


@every(
    [
        vl.ExactBayes(GAUSSIAN, 0.05),
        vl.VarSMiLe(CATEGORICAL, 0.1),
        vl.Merge(vl.Categorical(12), 0.1, 3),
        vl.ExactBayes(FAMILIES["GaussianUnknownVariance"], 0.1),
        vl.MessagePassing(PLANE, 0.05, 3),
        vl.ExactBayes(FAMILIES["MultivariateGaussianUnknownCovariance"], 0.05),
        vl.ExactBayes(FAMILIES["Bernoulli"], 0.05),
        vl.VarSMiLe(FAMILIES["Poisson"], 0.1),
        vl.Leaky(GAUSSIAN, 0.9),
        vl.Leaky(CATEGORICAL, 0.9),
    ]
)
def test_the_picture(learner: Any, tmp_path: pathlib.Path) -> None:
    y, theta, _ = vl.ChangingEnvironment(learner.family, 0.1).sample(30, seed=2)
    panels = 1 if isinstance(learner, vl.Leaky) else 3
    trace = vl.run(learner, y)
    figure = trace.plot(theta=theta)
    assert len(figure.axes) == panels
    assert all(axis.has_data() for axis in figure.axes)
    assert all(axis.get_ylabel() for axis in figure.axes)
    assert type(learner).__name__ in figure.axes[0].get_title(loc="left")
    assert len(figure.axes[0].lines) > len(trace.plot().axes[0].lines)  # the truth is drawn where it is known
    figure.savefig(tmp_path / "trace.png")
    assert (tmp_path / "trace.png").stat().st_size > 5000


def test_the_picture_on_given_axes_and_of_short_traces() -> None:
    figure, axes = plt.subplots(3, 1)
    assert vl.run(vl.ExactBayes(GAUSSIAN, 0.1), [1.0, 2.0]).plot(axes=axes) is figure
    with pytest.raises(ValueError, match="3"):
        vl.run(vl.ExactBayes(GAUSSIAN, 0.1), [1.0]).plot(axes=plt.subplots(2, 1)[1])
    assert len(vl.run(vl.ExactBayes(GAUSSIAN, 0.1), []).plot().axes) == 3
    assert len(vl.run(vl.ExactBayes(GAUSSIAN, 0.1), [1.0]).plot().axes) == 3
    assert len(vl.run(vl.ExactBayes(GAUSSIAN, 0.1), [1.0, np.nan], missing="elapse").plot().axes) == 3


def test_observations_are_given_back_in_the_users_coordinates() -> None:
    y = np.array([[1.0, 2.0], [3.0, 5.0], [-1.0, 0.5]])
    assert vl.run(vl.ExactBayes(PLANE, 0.1), y).observations == pytest.approx(y, rel=1e-14)


# --- errors ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("learner", "ys", "words"),
    [
        (vl.VarSMiLe(GAUSSIAN, 0.1), [[1.0], [2.0, np.inf]], "sequence 1.*observation 1"),
        (vl.VarSMiLe(GAUSSIAN, 0.1), np.array([[1.0, 1.0], [np.inf, 2.0]]), "sequence 1.*observation 0"),
        (vl.VarSMiLe(GAUSSIAN, 0.1), [[1.0], "text"], "sequence 1"),
        (vl.VarSMiLe(GAUSSIAN, 0.1), [[1.0], [1.0, None]], "sequence 1.*observation 1"),
        (vl.VarSMiLe(GAUSSIAN, 0.1), np.array([[1.0, 1.0], [1.0, np.nan]]), "sequence 1.*observation 1"),
        (vl.VarSMiLe(GAUSSIAN, 0.1), [1.0, 2.0], "sequence 0"),
        (vl.VarSMiLe(GAUSSIAN, 0.1), [[1.0], [[1.0]]], "sequence 1"),
        (vl.VarSMiLe(CATEGORICAL, 0.1), [[0], [1], [3]], "sequence 2.*observation 0"),
        (vl.VarSMiLe(CATEGORICAL, 0.1), np.array([[0, 1], [1, 2], [2, 3]]), "sequence 2.*observation 1"),
        (vl.ExactBayes(PLANE, 0.1), [[[0.0, 1.0]], [[0.0, 1.0, 2.0]]], "sequence 1"),
        (vl.SMiLe(FAMILIES["Exponential"], 0.1), [[1.0, 2.0], [1.0, 0.0]], "sequence 1.*observation 1"),
    ],
)
def test_errors_of_many_name_the_sequence(learner: Any, ys: Any, words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=words):
        vl.run_many(learner, ys)


def test_an_error_counts_missing_observations_too() -> None:
    with pytest.raises(ValueError, match="observation 2 is 0"):
        vl.run(vl.SMiLe(FAMILIES["Exponential"], 0.1), [np.nan, 1.0, 0.0], missing="skip")


@pytest.mark.parametrize("reset", [[[0]], [[0], [0], [0]], [[5], None], [None, [True]]])
def test_resets_of_many_that_make_no_sense(reset: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="reset"):
        vl.run_many(vl.VarSMiLe(GAUSSIAN, 0.1), [[1.0, 2.0], [1.0, 2.0]], reset=reset)


@pytest.mark.parametrize("workers", [0, -1, 1.5, "2", True])
def test_workers_that_make_no_sense(workers: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="workers = "):
        vl.run_many(vl.VarSMiLe(GAUSSIAN, 0.1), [[1.0]], workers=workers)


@pytest.mark.parametrize("seed", [-1, 1.5, "1", None, True, [1]])
def test_seeds_that_make_no_sense(seed: Any) -> None:
    for call in (
        lambda: vl.run(vl.VarSMiLe(GAUSSIAN, 0.1), [1.0], seed=seed),
        lambda: vl.Stream(vl.ExactBayes(GAUSSIAN, 0.1), seed),
    ):
        with pytest.raises((ValueError, TypeError), match="seed = "):
            call()


@pytest.mark.parametrize("learner", [3, None, GAUSSIAN, vl.VarSMiLe, "VarSMiLe"])
def test_what_is_not_a_learner(learner: Any) -> None:
    for call in (lambda: vl.run(learner, [1.0]), lambda: vl.run_many(learner, [[1.0]]), lambda: vl.Stream(learner)):
        with pytest.raises(TypeError, match="not a learner"):
            call()


def test_a_stream_takes_one_observation_and_stays_whole_after_a_mistake() -> None:
    for learner, good, mistakes in (
        (vl.ExactBayes(GAUSSIAN, 0.1), 1.0, ([1.0, 2.0], "1", np.inf, -np.inf, [[1.0]], 1j, object(), 10**400)),
        (vl.Merge(CATEGORICAL, 0.1, 3), 1, (3, -1, 1.5, "a", 2**64, [0, 1])),
        (vl.VarSMiLe(PLANE, 0.1), [1.0, 2.0], (1.0, [1.0], [1.0, 2.0, 3.0], [1.0, np.inf], "ab")),
    ):
        stream, untouched = vl.Stream(learner), vl.Stream(learner)
        stream.update(good)
        untouched.update(good)
        for mistake in mistakes:
            with pytest.raises((ValueError, TypeError), match=type(learner.family).__name__):
                stream.update(mistake)
        assert stream.seen == 1
        assert tuple(stream.update(good)) == tuple(untouched.update(good))


def test_whole_numbers_of_every_kind_are_the_same_observation() -> None:
    expected = vl.Stream(vl.ExactBayes(CATEGORICAL, 0.1)).update(2)
    for y in (2, 2.0, np.int8(2), np.uint64(2), np.float32(2.0), np.array(2)):
        assert tuple(vl.Stream(vl.ExactBayes(CATEGORICAL, 0.1)).update(y)) == tuple(expected)


# --- numbers of every kind ---------------------------------------------------------------------------------------------

SCALARS = [family for family in FAMILIES.values() if family.observations([])[0].ndim == 1]
WHOLE_KINDS = (int, bool, np.bool_, np.int64, np.int32, np.int8, np.uint8, np.uint64)
KINDS = (*WHOLE_KINDS, float, np.float64, np.float32, np.float16, np.longdouble)


@pytest.mark.parametrize("family", SCALARS, ids=lambda family: type(family).__name__)
def test_numbers_of_every_kind_are_the_same_observation(family: Any) -> None:
    expected = [vl.Stream(vl.VarSMiLe(family, 0.1)).update(np.array(y)) for y in (0, 1)]  # checked one by one
    for kind in KINDS:
        for y in (0, 1):
            assert vl.Stream(vl.VarSMiLe(family, 0.1)).update(kind(y)) == expected[y], kind


def test_a_number_that_is_not_accepted_is_refused_whatever_its_kind() -> None:
    for family, bad in (
        (FAMILIES["Exponential"], -1),
        (FAMILIES["Poisson"], -1),
        (FAMILIES["Bernoulli"], 2),
        (FAMILIES["Bernoulli"], 0.5),
        (CATEGORICAL, 3),
        (CATEGORICAL, 1.5),
        (FAMILIES["Poisson"], 2.0**53),
        (GAUSSIAN, np.inf),
        (GAUSSIAN, -np.inf),
    ):
        whole = np.isfinite(bad) and bad == np.trunc(bad)
        for kind in (float, np.float64, np.float32, *((int, np.int64) if whole else ())):
            stream = vl.Stream(vl.VarSMiLe(family, 0.1))
            with pytest.raises(ValueError, match=type(family).__name__):
                stream.update(kind(bad))
            assert stream.seen == 0


def test_one_observation_for_each_of_many_sequences_is_said() -> None:
    y = np.random.default_rng(1).normal(size=300)
    with pytest.warns(UserWarning, match=r"shape \(300, 1\) is 300 sequences of one observation each"):
        vl.run_many(vl.VarSMiLe(GAUSSIAN, 0.1), y[:, None])
    assert len(vl.run_many(vl.VarSMiLe(GAUSSIAN, 0.1), y[None, :])) == 1


def test_several_numbers_at_once_are_refused_in_words() -> None:
    stream = vl.Stream(vl.VarSMiLe(GAUSSIAN, 0.1))
    for several in ([1.0], (1.0, 2.0), np.array([1.0]), [[1.0], [1.0, 2.0]]):
        with pytest.raises(ValueError, match=rf"one number at a time, not {len(several)} in {type(several).__name__}: "):
            stream.update(several)
    assert stream.seen == 0


def test_whole_numbers_too_large_for_an_integer_and_for_a_float() -> None:
    for y in (2**53 + 1, 2**62 + 1, 2**64 - 1, 2**64 + 1, -(2**63)):
        assert vl.Stream(vl.VarSMiLe(GAUSSIAN, 0.1)).update(y) == vl.Stream(vl.VarSMiLe(GAUSSIAN, 0.1)).update(float(y))
    for y in (10**305, 10**400, -(10**400)):
        with pytest.raises(ValueError, match="digits"):
            vl.Stream(vl.VarSMiLe(GAUSSIAN, 0.1)).update(y)
    assert vl.Stream(vl.VarSMiLe(GAUSSIAN, 0.1)).update(1e305).run_length == 1.0


@own_learner
class Fussy(NamedTuple):
    """Takes in all observations alike, but not the number 13."""

    family: AnyFamily

    def update(self, state: OneBelief, y: float) -> Info:
        self.family.absorb(state.beliefs, state.i, y)
        state.run_lengths[state.i] += 1.0
        return Info(0.0, 0.0, 0.5)

    def elapse(self, state: OneBelief) -> None:
        state.run_lengths[state.i] += 0.0

    @vl.python_only
    def check_observations(self, values: np.ndarray) -> None:
        if (values == 13.0).any():
            raise ValueError("Fussy does not take in 13")


def test_the_check_of_a_users_own_learner_is_made_on_every_way() -> None:
    with vl.plain_python():
        streams = [vl.Stream(Fussy(GAUSSIAN))]
    streams += [vl.Stream(Fussy(GAUSSIAN))]
    for stream in streams:
        assert stream.update(1.0).run_length == 1.0
        for y in (13.0, 13, np.float64(13.0)):
            with pytest.raises(ValueError, match="Fussy"):
                stream.update(y)
        assert stream.seen == 1


# --- threads -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("free_threaded", [False, True])
@every([vl.VarSMiLe(GAUSSIAN, 1e-9), vl.ExactBayes(GAUSSIAN, 1e-9, cutoff=0.0)])
def test_threads_share_a_stream(learner: Any, free_threaded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Updates come one after another, on the fast way and on the checked one: every row of the batch is somebody's step, once."""
    monkeypatch.setattr(fast_steps, "FREE_THREADED", free_threaded)
    each, y = 250, 1.25
    stream, steps = vl.Stream(learner), [[] for _ in range(4)]  # type: ignore[var-annotated]

    def observe(mine: list[vl.Step], value: Any) -> None:
        for _ in range(each):
            mine.append(stream.update(value))
            _ = stream.belief

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        values = (y, np.float64(y), np.array(y), y)
        threads = [threading.Thread(target=observe, args=pair) for pair in zip(steps, values, strict=True)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    together = sorted((step for mine in steps for step in mine), key=lambda step: step.run_length)
    assert_steps_are_rows(together, vl.run(learner, np.full(4 * each, y)))
    assert stream.seen == 4 * each


# --- steps and traces as data ----------------------------------------------------------------------------------------------


@every(ALL_CASES)
def test_a_step_is_a_named_tuple_that_starts_with_mean_and_variance(learner: Any) -> None:
    y = sequence(learner.family, 3)
    stream = vl.Stream(learner)
    for step in [stream.update(v) for v in y]:
        mean, variance, run_length, *_ = step
        assert step._fields == ("mean", "variance", "run_length", "adaptation_rate", "log_p", "log_p_0")
        assert len(step) == len(step._fields)
        assert np.array_equal(mean, step.mean)
        assert run_length == step.run_length
        content = step._asdict()
        assert list(content)[:1] == ["mean"]
        assert set(content) == {*step.readouts, *(() if isinstance(learner, vl.Leaky) else step._fields)}
        if not isinstance(learner, vl.Leaky):
            assert np.array_equal(variance, step.variance)
            assert tuple(content)[:6] == step._fields
        for text in (json.dumps(content), step.to_json()):
            assert all(np.array_equal(value, getattr(step, name)) for name, value in json.loads(text).items())


def test_json_without_what_json_does_not_have() -> None:
    stream = vl.Stream(vl.VarSMiLe(vl.GaussianUnknownVariance(0.0, 1.0, 0.6, 1.0), 0.1), missing="elapse")
    content = json.loads(stream.update(1.0).to_json(), parse_constant=lambda name: pytest.fail(name))
    assert content["variance"][1] is None  # infinite
    content = json.loads(stream.update(None).to_json(), parse_constant=lambda name: pytest.fail(name))
    assert content["shannon_surprise"] is None
    assert content["run_length"] > 0.0


def copies(value: Any) -> list[Any]:
    return [pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)]


@every(ALL_CASES)
def test_steps_and_traces_can_be_copied_and_pickled(learner: Any) -> None:
    y = sequence(learner.family, 6)
    stream, trace = vl.Stream(learner), vl.run(learner, y)
    for step in [stream.update(v) for v in y[:2]]:
        for other in copies(step):
            assert repr(other) == repr(step)
            assert repr(tuple(other)) == repr(tuple(step))  # to the last digit, NaN as well
            assert type(other) is type(step)
            if not isinstance(learner, vl.Leaky):  # what it does not define is NaN, which equals nothing
                assert other == step
                assert hash(other) == hash(step) == hash(tuple(step))
    many = vl.run_many(learner, [y, y[:3]])
    for one, others in ((trace, copies(trace)), (many[1], [traces[1] for traces in copies(many)])):
        for other in others:
            assert_same(other, one)
            assert other.learner == learner
            assert np.array_equal(other.observations, one.observations)


def test_a_copied_trace_still_computes_its_divergences() -> None:
    y = sequence(GAUSSIAN, 12)
    for learner in (vl.ParticleFilter(GAUSSIAN, 0.2, 4), vl.VarSMiLe(GAUSSIAN, 0.1)):
        trace = vl.run_many(learner, [y, y, y], seed=5)[2]
        for other in copies(trace):
            assert np.array_equal(other.bayesian_surprise, trace.bayesian_surprise)


def test_equal_numbers_of_different_families_are_different_steps() -> None:
    """NamedTuples of different classes may be equal: Bernoulli(1, 1) == Poisson(1, 1)."""
    steps = [vl.Stream(vl.VarSMiLe(family, 0.1)).update(1) for family in (vl.Bernoulli(1.0, 1.0), vl.Poisson(1.0, 1.0))]
    assert [type(s._learner.family) for s in copies(steps[0]) + copies(steps[1])] == [vl.Bernoulli] * 3 + [vl.Poisson] * 3


# --- room --------------------------------------------------------------------------------------------------------------


def test_exact_bayes_makes_room_as_it_needs() -> None:
    """Nothing is dropped: 200 hypotheses after 200 observations, and stepping grows as the batch does."""
    learner, y = vl.ExactBayes(vl.Gaussian(5.0), 0.001, cutoff=0.0), np.random.default_rng(3).normal(0.0, 5.0, 200)
    stream, trace = vl.Stream(learner), vl.run(learner, y)
    assert_steps_are_rows([stream.update(v) for v in y], trace)
    assert stream.belief.weights.size == 200
    assert_same(vl.run(learner, y, reset=[0]), trace)
    elapsed = vl.Stream(learner, missing="elapse")
    for v in y[:130]:
        elapsed.update(v)
        elapsed.update(None)
    assert_steps_are_rows(
        [elapsed.update(1.0)], vl.run(learner, np.r_[np.c_[y[:130], y[:130] * np.nan].ravel(), 1.0], missing="elapse"), 260
    )


def test_traces_are_a_sequence() -> None:
    traces = vl.run_many(vl.VarSMiLe(GAUSSIAN, 0.1), [sequence(GAUSSIAN, T, seed=T) for T in (3, 4, 5)])
    assert [len(t) for t in traces] == [3, 4, 5]
    assert len(traces[-1]) == 5
    assert [len(t) for t in traces[1:]] == [4, 5]
    with pytest.raises(IndexError):
        traces[3]
    with pytest.raises(IndexError):
        traces[-4]


def test_the_states_are_of_two_kinds() -> None:
    """What the tests above rely on when they choose."""
    kinds = {type(learner.init(0)) for learner in ALL_CASES}
    assert kinds == {OneBelief, Hypotheses}
