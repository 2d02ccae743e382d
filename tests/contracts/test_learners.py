"""What every learner promises, against brute force, naive oracles and each other."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import volatilis as vl
from tests.helpers.settings import (
    COVARIANCE,
    FAMILIES,
    P_C,
    PRIOR_COVARIANCE,
    SETTINGS,
    WITH_CHANGE_PROBABILITY,
    every_family,
    kl_multivariate_normal,
    learners_with_belief,
    observations,
)
from tests.oracles import conjugate
from tests.oracles import learners as naive
from tests.oracles.conjugate import Vector
from tests.oracles.enumeration import Posterior, enumerate_histories
from volatilis.families._base import copy_column
from volatilis.learners._hypotheses import Hypotheses, hypotheses
from volatilis.learners.particle_filter import resample
from volatilis.learners.stratified_resampling import optimal_threshold, resample_optimally
from volatilis.special import uniform

# Definitions called as plain Python, outside `plain_python`: the generator's whole numbers overflow on purpose
as_python = pytest.mark.usefixtures("silent")
SAMPLED = ["gaussian", "unknown-variance", "categorical"]  # families for the learners that sample


@pytest.fixture
def silent() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def rows(values: Any) -> Vector:
    """A readout with one row per observation and one column per parameter."""
    values = np.asarray(values, dtype=float)
    return values.reshape(len(values), -1)


def column(steps: Sequence[Any], name: str) -> Vector:
    """One field of an oracle's steps, as such rows."""
    return rows([getattr(step, name) for step in steps])


def assert_same(trace: vl.Trace, other: vl.Trace, until: int | None = None, rtol: float = 1e-12) -> None:
    for name in trace.readouts:
        assert_allclose(getattr(trace, name)[:until], getattr(other, name)[:until], rtol=rtol, atol=1e-13, err_msg=name)


# Exact inference


def assert_exact(trace: vl.Trace, exact: Sequence[Posterior]) -> None:
    """To 1e-10; the sum of the log predictives is the log evidence."""
    lengths = [float(step.run_lengths @ np.arange(1, t + 1)) for t, step in enumerate(exact, start=1)]
    assert_allclose(rows(trace.mean), column(exact, "mean"), rtol=1e-10, atol=1e-12)
    assert_allclose(rows(trace.variance), column(exact, "variance"), rtol=1e-10)
    assert_allclose(np.cumsum(trace.log_predictive), [step.log_evidence for step in exact], rtol=1e-10, atol=1e-12)
    assert_allclose(trace.adaptation_rate, [step.gamma for step in exact], rtol=1e-10)
    assert_allclose(trace.log_bayes_factor_surprise, [step.log_p_0 - step.log_p for step in exact], rtol=1e-10, atol=1e-12)
    assert_allclose(trace.run_length, lengths, rtol=1e-10)


@every_family
@pytest.mark.parametrize("p_c", [0.5, 0.15, 1e-3])
@pytest.mark.parametrize("cutoff", [0.0, None], ids=["all", "default"])
def test_exact_bayes_is_the_sum_over_all_histories(name: str, p_c: float, cutoff: float | None) -> None:
    """2^9 histories of ten observations. (The default cutoff drops weights below 1e-16, which 1e-10 cannot see here.)"""
    family, oracle = SETTINGS[name].family, SETTINGS[name].oracle
    learner = vl.ExactBayes(family, p_c) if cutoff is None else vl.ExactBayes(family, p_c, cutoff)
    for seed in (1, 2):
        ys = observations(name, 10, seed)
        assert_exact(vl.run(learner, ys), enumerate_histories(oracle, p_c, ys))


@pytest.mark.parametrize("sigma", [0.01, 0.1, 5.0])
@pytest.mark.parametrize("p_c", [1e-6, 0.1])
def test_exact_bayes_at_low_and_at_high_noise(sigma: float, p_c: float) -> None:
    """Far jumps: weights as small as 1e-300 matter at the next observation, so nothing is cut off."""
    ys = [0.1, 0.2, 0.15, 1.9, 2.0, 1.95, -1.0, -1.1, 0.12, 0.1]
    exact = enumerate_histories(conjugate.Gaussian(sigma, 0.3, 2.0), p_c, ys)
    assert_exact(vl.run(vl.ExactBayes(vl.Gaussian(sigma, 0.3, 2.0), p_c, cutoff=0.0), ys), exact)


@pytest.mark.parametrize("name", ["gaussian", "categorical"])
def test_exact_bayes_beyond_enumeration(name: str) -> None:
    """90 observations, more than the room that a state starts with, against naive message passing that drops nothing."""
    ys = observations(name, 90)
    trace = vl.run(vl.ExactBayes(SETTINGS[name].family, P_C, cutoff=0.0), ys)
    steps = naive.message_passing(SETTINGS[name].oracle, P_C, ys)
    assert_steps(trace, steps, rtol=1e-10)
    assert_allclose(trace.run_length, [step.run_length for step in steps], rtol=1e-10)


@pytest.mark.parametrize("alpha_0", [0.4, 0.7, 1.3])
def test_exact_bayes_where_moments_do_not_exist(alpha_0: float) -> None:
    """A broad prior: infinite moments are infinite, never NaN, and the others are right."""
    one, naive_one = (kind.GaussianUnknownVariance(0.2, 0.7, alpha_0, 0.9) for kind in (vl, conjugate))
    many, naive_many = (
        kind.MultivariateGaussianUnknownCovariance([0.1, -0.2], 0.6, 2 * alpha_0 + 1, PRIOR_COVARIANCE)
        for kind in (vl, conjugate)
    )
    for name, family, oracle in (("unknown-variance", one, naive_one), ("unknown-covariance", many, naive_many)):
        ys = observations(name)
        assert_exact(vl.run(vl.ExactBayes(family, P_C), ys), enumerate_histories(oracle, P_C, ys))


class WithGaps(conjugate.Family):
    """An oracle for which None is an observation that says nothing."""

    def __init__(self, oracle: Any) -> None:
        self.oracle = oracle

    def posterior(self, past: Sequence[Any], weights: Any = None) -> Any:
        return self.oracle.posterior([y for y in past if y is not None])

    def log_predictive_given(self, parameters: Any, y: Any) -> float:
        return 0.0 if y is None else self.oracle.log_predictive_given(parameters, y)

    def mixture_moments(self, weights: Sequence[float], parameters: Sequence[Any]) -> tuple[Vector, Vector]:
        return self.oracle.mixture_moments(weights, parameters)

    def mean_given(self, parameters: Any) -> Vector:
        return self.oracle.mean_given(parameters)

    def variance_given(self, parameters: Any) -> Vector:
        return self.oracle.variance_given(parameters)


@pytest.mark.parametrize("name", ["gaussian", "categorical", "vonmises", "unknown-covariance"])
@pytest.mark.parametrize("gaps", [[3], [0, 4, 5], [2, 9]], ids=str)
def test_exact_bayes_with_time_that_elapses_unobserved(name: str, gaps: list[int]) -> None:
    """Brute force with a likelihood of one at the gaps. Before the first observation time changes nothing."""
    ys: list[Any] = list(observations(name))
    for t in gaps:
        ys[t] = None
    exact = enumerate_histories(WithGaps(SETTINGS[name].oracle), P_C, ys)
    missing = [np.full(2, np.nan) if y is None and name == "unknown-covariance" else y for y in ys]
    trace = vl.run(vl.ExactBayes(SETTINGS[name].family, P_C), missing, missing="elapse")
    assert_allclose(rows(trace.mean), column(exact, "mean"), rtol=1e-10, atol=1e-12)
    assert_allclose(rows(trace.variance), column(exact, "variance"), rtol=1e-10)
    seen = [t for t in range(len(ys)) if t not in gaps]
    assert_array_equal(np.isnan(trace.log_predictive), [t in gaps for t in range(len(ys))])
    assert_allclose(np.cumsum(trace.log_predictive[seen]), [exact[t].log_evidence for t in seen], rtol=1e-10, atol=1e-12)


@every_family
@pytest.mark.parametrize("kind", [vl.MessagePassing, vl.Merge])
@pytest.mark.parametrize("gaps", [[3], [0, 4, 5], [2, 9, 13]], ids=str)
def test_bounded_learners_are_exact_with_time_that_elapses(name: str, kind: Any, gaps: list[int]) -> None:
    """While t <= n, gaps counted: each may add one hypothesis, "it changed then, and nothing was observed since"."""
    family, ys = SETTINGS[name].family, list(observations(name, 14))
    for t in gaps:
        ys[t] = np.full(2, np.nan) if np.ndim(ys[t]) else None
    exact = vl.run(vl.ExactBayes(family, P_C, cutoff=0.0), ys, missing="elapse")
    assert_same(vl.run(kind(family, P_C, n=14), ys, missing="elapse"), exact)
    for n in (1, 4, 9):
        assert_same(vl.run(kind(family, P_C, n), ys, missing="elapse"), exact, until=n)


@pytest.mark.parametrize("kind", ["exact", "message-passing", "stratified", "merge"])
def test_a_gap_too_long_for_a_weight(kind: str) -> None:
    """0.5^gap below 1e-300 is nothing: then only the prior is left, also where the old belief alone expects what comes next.

    Not a weight of few digits, which would give a belief between the two.
    """
    family, p_c = vl.Gaussian(1.0, 0.0, 1.0), 0.5
    learner = {
        "exact": vl.ExactBayes(family, p_c, cutoff=0.0),
        "message-passing": vl.MessagePassing(family, p_c, 10),
        "stratified": vl.StratifiedResampling(family, p_c, 10),
        "merge": vl.Merge(family, p_c, 10),
    }[kind]
    for gap in (1000, 1010, 1040, 1060, 1070, 1080, 1200):
        trace = vl.run(learner, [80.0] * 12 + [None] * gap + [80.0, 80.0], missing="elapse")
        assert_allclose(trace.mean[-2:], [40.0, 160.0 / 3.0], rtol=1e-9)
        assert_allclose(trace.variance[-2:], [1.0 / 2.0, 1.0 / 3.0], rtol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 5, 7, 8, 20])
def test_message_passing_keeps_the_newest_last_and_its_room_empty(n: int) -> None:
    """It replaces in place, so a state's hypotheses are in no order but for the newest; a belief lists the oldest first."""
    family, learner = SETTINGS["gaussian"].family, vl.MessagePassing(SETTINGS["gaussian"].family, P_C, n)
    unordered = 0
    with vl.plain_python():
        stream = vl.Stream(learner, missing="elapse")
        for t, y in enumerate(observations("gaussian", 60), start=1):
            stream.update(None if t % 9 == 0 else y)
            state, live = stream._state, int(stream._state.count[0])
            lengths, weights = state.run_lengths[:live], state.weights[:live]
            assert live <= n
            assert lengths[-1] == lengths.min()
            assert not state.weights[live:].any()
            assert_allclose(weights.sum(), 1.0, rtol=1e-13)
            belief = stream.belief
            assert np.all(np.diff(belief.run_lengths) < 0.0)
            unordered += np.any(np.diff(lengths) >= 0.0)
            order = np.argsort(-lengths)
            alive = order[weights[order] > 0.0]
            assert_array_equal(belief.run_lengths, lengths[alive])
            assert_array_equal(belief.weights, weights[alive])
            moments = [family.mean(state.beliefs, i, 0) for i in range(live)]
            assert_allclose(belief.mean, weights @ moments, rtol=1e-12)
    assert unordered > 0 or n < 3, "the sequence never disturbed the order"


@every_family
@pytest.mark.parametrize("kind", [vl.MessagePassing, vl.Merge])
def test_bounded_learners_are_exact_while_they_hold_all(name: str, kind: Any) -> None:
    """While t <= n; and beyond it they are not, or n would not matter."""
    family, ys = SETTINGS[name].family, observations(name, 14)
    exact = vl.run(vl.ExactBayes(family, P_C, cutoff=0.0), ys)
    assert_same(vl.run(kind(family, P_C, n=14), ys), exact)
    for n in (1, 4):
        trace = vl.run(kind(family, P_C, n), ys)
        assert_same(trace, exact, until=n)
        assert np.max(np.abs(rows(trace.mean)[n:] - rows(exact.mean)[n:])) > 1e-9


@every_family
@pytest.mark.parametrize("n", [1, 3, 6])
def test_message_passing_drops_the_lightest(name: str, n: int) -> None:
    family, oracle, ys = SETTINGS[name].family, SETTINGS[name].oracle, observations(name, 30)
    trace, steps = vl.run(vl.MessagePassing(family, P_C, n), ys), naive.message_passing(oracle, P_C, ys, n)
    assert_steps(trace, steps)
    assert_allclose(trace.run_length, [step.run_length for step in steps], rtol=1e-9)


def assert_steps(trace: vl.Trace, steps: Sequence[naive.Step], rtol: float = 1e-9) -> None:
    assert_allclose(rows(trace.mean), column(steps, "mean"), rtol=rtol, atol=1e-12)
    assert_allclose(rows(trace.variance), column(steps, "variance"), rtol=rtol)
    assert_allclose(trace.adaptation_rate, [step.gamma for step in steps], rtol=rtol, atol=1e-300)
    assert_allclose(trace.log_bayes_factor_surprise, [step.log_p_0 - step.log_p for step in steps], rtol=rtol, atol=1e-10)


def naive_merge(oracle: conjugate.Gaussian, p_c: float, ys: Sequence[float], n: int) -> list[naive.Step]:
    """Message passing with (weight, mean, variance, run length) for each hypothesis, the oldest first.

    While there are more than n, the neighbours of least sqrt(w w') (|m - m'|^2 + (V + V') log^2(V / V')), lengths in units of
    sigma, become one.
    """
    hypotheses, steps = [(1.0, oracle.mu_0, oracle.sigma_0**2, 0.0)], []
    for t, y in enumerate(ys):
        log_p_0 = oracle.log_predictive([], y)
        logs = [math.log(w) + oracle.log_predictive_given((m, v), y) for w, m, v, _ in hypotheses]
        log_p = float(np.logaddexp.reduce(logs))
        gamma = naive.adaptation_rate(log_p, log_p_0, p_c / (1 - p_c))
        stay = [((1 - gamma) * math.exp(log - log_p), *h[1:]) for h, log in zip(hypotheses, logs, strict=True)]
        grown = [*stay, (gamma, oracle.mu_0, oracle.sigma_0**2, 0.0)] if t else hypotheses
        hypotheses = []
        for w, m, v, r in grown:
            after = conjugate.Gaussian(oracle.sigma, m, math.sqrt(v)).posterior([y])
            hypotheses.append((w, *after, r + 1))
        while len(hypotheses) > n:
            costs = []
            for (w, m, v, _), (x, k, u, _) in itertools.pairwise(hypotheses):
                apart = ((m - k) ** 2 + (v + u) * math.log(v / u) ** 2) / oracle.sigma**2
                costs.append(math.sqrt(w * x) * apart)
            i = int(np.argmin(costs))
            (w, m, v, r), (x, k, u, q) = hypotheses[i : i + 2]
            a, b = w / (w + x), x / (w + x)
            hypotheses[i : i + 2] = [(w + x, a * m + b * k, a * v + b * u + a * b * (m - k) ** 2, a * r + b * q)]
        weights, ms, vs, rs = np.array(hypotheses).T
        mean = weights @ ms
        variance = weights @ (vs + (ms - mean) ** 2)
        steps.append(naive.Step(np.array([mean]), np.array([variance]), gamma, log_p, log_p_0, None, float(weights @ rs)))
    return steps


@pytest.mark.parametrize("n", [1, 2, 3, 8])
@pytest.mark.parametrize("p_c", [0.01, 0.15])
def test_merge_joins_the_cheapest_neighbours(n: int, p_c: float) -> None:
    setting, ys = SETTINGS["gaussian"], observations("gaussian", 60)
    trace, steps = vl.run(vl.Merge(setting.family, p_c, n), ys), naive_merge(setting.oracle, p_c, ys, n)
    assert_steps(trace, steps)
    assert_allclose(trace.run_length, [step.run_length for step in steps], rtol=1e-9)


# Learners that sample


@pytest.mark.parametrize("name", SAMPLED)
def test_particle_filter_converges_to_exact_bayes(name: str) -> None:
    """n = 20,000, twelve seeds. The average over seeds is within 5 of its standard errors (and 1/n for the bias) of Exact Bayes

    at every step, and one filter's own error is a few 1 / sqrt(n) of the belief's width.
    """
    n, seeds = 20_000, 12
    family, ys = SETTINGS[name].family, observations(name, 25)
    exact = vl.run(vl.ExactBayes(family, P_C), ys)
    traces = [vl.run(vl.ParticleFilter(family, P_C, n), ys, seed) for seed in range(seeds)]
    width = np.sqrt(rows(exact.variance))
    found = np.array([rows(trace.mean) for trace in traces])
    spread = found.std(axis=0, ddof=1)
    assert np.all(np.abs(found.mean(axis=0) - rows(exact.mean)) <= 5 * spread / math.sqrt(seeds) + 5 * width / n)
    assert np.all(spread < 5 * width / math.sqrt(n))
    assert spread[5:].max() > 0.0
    gammas = np.array([trace.adaptation_rate for trace in traces])
    error = 5 * gammas.std(axis=0, ddof=1) / math.sqrt(seeds) + 5 / n
    assert np.all(np.abs(gammas.mean(axis=0) - exact.adaptation_rate) <= error)
    evidence = np.array([trace.log_predictive.sum() for trace in traces])
    error = 5 * evidence.std(ddof=1) / math.sqrt(seeds) + 5 * len(ys) / n
    assert abs(evidence.mean() - exact.log_predictive.sum()) <= error


@pytest.mark.parametrize("below", [0.0, 0.5, 1.0])
def test_particles_are_resampled_when_few_are_effective(below: float) -> None:
    """N_eff = 1 / sum w^2 <= below * n: never for 0; for 1 always, so that all weights are the same; in between both happen."""
    n, effective = 20, []
    with vl.plain_python():
        stream = vl.Stream(vl.ParticleFilter(SETTINGS["gaussian"].family, P_C, n, resample_below=below), seed=1)
        for y in observations("gaussian", 30):
            stream.update(y)
            effective.append(1 / np.sum(stream.belief.weights**2))
    assert np.all(np.array(effective) > below * n * (1 - 1e-12))
    fresh = np.isclose(effective, n, rtol=1e-12)[10:]  # at first all particles are the same, resampled or not
    if below == 0.0:
        assert min(effective) < 0.5 * n
        assert not fresh.any()
    elif below == 1.0:
        assert fresh.all()
    else:
        assert 2 <= fresh.sum() <= 18


@pytest.mark.parametrize("name", SAMPLED)
def test_stratified_resampling_converges_to_exact_bayes(name: str) -> None:
    """n = 20,000 is more than there are hypotheses, so there it is exact; with fewer the error falls faster than 1 / n.

    Errors are root mean squares over 200 steps and 4 seeds, known to about 15 %.
    """
    family, ys = SETTINGS[name].family, observations(name, 200)
    exact = vl.run(vl.ExactBayes(family, P_C), ys)
    assert_same(vl.run(vl.StratifiedResampling(family, P_C, 20_000), ys), exact, rtol=1e-10)

    def error(n: int) -> float:
        means = [rows(vl.run(vl.StratifiedResampling(family, P_C, n), ys, seed).mean) for seed in range(4)]
        return float(np.sqrt(np.mean((np.array(means) - rows(exact.mean)) ** 2)))

    errors = [error(n) for n in (4, 16, 64)]
    assert errors[0] > 4 * errors[1] > 16 * errors[2]


def test_stratified_resampling_beyond_its_hypotheses() -> None:
    """n = 20,000 with 20,600 observations and so small a change probability that all hypotheses keep some weight.

    Then the last 600 steps resample. Their error is far below the belief's width, 0.01: below 1e-4.
    """
    family, rng = vl.Gaussian(1.0, 0.0, 1.0), np.random.default_rng(4)
    ys = rng.normal(0.3, 1.0, 20_600)
    exact = vl.run(vl.ExactBayes(family, 1e-5, cutoff=0.0), ys)
    trace = vl.run(vl.StratifiedResampling(family, 1e-5, 20_000), ys)
    assert_same(trace, exact, until=20_000, rtol=1e-9)
    apart = np.abs(trace.mean - exact.mean)[20_000:]
    assert 0.0 < apart.max() < 1e-4


def weighted_state(weights: Sequence[float], seed: int = 0) -> Hypotheses:
    """Hypotheses with these weights, each known by its run length 1, 2, ..."""
    state = hypotheses(vl.Bernoulli(), len(weights), seed)
    n = len(weights)  # what lies beyond is room
    state.weights[:n] = weights
    state.run_lengths[:n] = np.arange(1, n + 1)
    state.count[0] = n
    return state


def weights_by_name(state: Hypotheses, size: int) -> Vector:
    n = state.count[0]
    return np.bincount(state.run_lengths[:n].astype(int) - 1, state.weights[:n], minlength=size)


def normalised(weights: Sequence[float]) -> list[float]:
    return [float(w) for w in np.array(weights, dtype=float) / np.sum(weights)]


WEIGHTS: list[tuple[list[float], int]] = [
    ([0.5, 0.2, 0.2, 0.05, 0.05], 3),
    ([0.25, 0.25, 0.25, 0.25], 3),  # all the same
    ([0.5, 0.25, 0.125, 0.125], 3),  # ties with the threshold itself
    ([0.125, 0.5, 0.125, 0.25], 3),
    ([0.0, 0.4, 0.0, 0.3, 0.3, 0.0], 2),  # some have none
    ([0.9, 0.1, 0.0, 0.0, 0.0], 1),
    ([1.0 - 1e-12, 5e-13, 5e-13], 2),
    (normalised([1.0, 1e-30, 1e-60, 1e-90, 1e-200]), 3),
    *((normalised(np.random.default_rng(seed).dirichlet(np.full(21, 0.1))), 20) for seed in range(4)),
    *((normalised(np.random.default_rng(seed).dirichlet(np.full(40, 0.5))), 9) for seed in range(4)),
]
every_weights = pytest.mark.parametrize(
    ("weights", "n"), WEIGHTS, ids=[f"{len(w)}-to-{n}-{i}" for i, (w, n) in enumerate(WEIGHTS)]
)


@every_weights
def test_optimal_threshold_is_the_exact_one(weights: list[float], n: int) -> None:
    w = np.array(weights)
    light = np.empty(w.size)
    c, heavy = optimal_threshold(w, light, w.size, n)
    assert_allclose(c, float(naive.optimal_threshold(weights, n)), rtol=1e-12)
    assert heavy == np.sum(w >= c)
    assert_array_equal(light, np.where(w < c, w, 0.0))


@as_python
@every_weights
def test_optimal_resampling_is_fearnheads_and_lius(weights: list[float], n: int) -> None:
    """The survivors and their weights are those of exact fractions with the same uniform number."""
    for seed in range(20):
        state = weighted_state(weights, seed)
        u = uniform(state.random.copy())
        expected = [float(w) for w in naive.optimal_resampling(weights, n, Fraction(u))]
        resample_optimally(state, n)
        assert state.count[0] == min(n, sum(w > 0 for w in weights))
        assert_allclose(weights_by_name(state, len(weights)), expected, rtol=1e-9, atol=1e-300)
        assert np.all(np.diff(state.run_lengths[: state.count[0]]) > 0)  # in their old order
        assert not state.weights[state.count[0] :].any()


@as_python
def test_optimal_resampling_of_weights_that_are_no_numbers_keeps_no_more_than_n() -> None:
    """A family of somebody's own may answer NaN; then the answers are NaN, but nothing is written beyond the room."""
    state = weighted_state([0.2] * 5, 0)
    state.weights[:5] = np.nan
    resample_optimally(state, 3)
    assert state.count[0] == 3


@as_python
@every_weights
def test_optimal_resampling_is_unbiased(weights: list[float], n: int) -> None:
    """The average weight over 1,000 seeds is the old weight within 5 standard errors; heavy ones never change."""
    after = []
    for seed in range(1_000):
        state = weighted_state(weights, 10_000 + 7 * seed)
        resample_optimally(state, n)
        after.append(weights_by_name(state, len(weights)))
    c, old = float(naive.optimal_threshold(weights, n)), np.array(weights)
    error = np.where(old < c, np.sqrt(old * np.maximum(c - old, 0.0)), 0.0) / math.sqrt(len(after))  # c with probability w / c
    assert np.all(np.abs(np.mean(after, axis=0) - old) <= 5 * error + 1e-12 * old)


@as_python
@pytest.mark.parametrize("weights", [[0.5, 0.2, 0.2, 0.05, 0.05], [0.0, 0.4, 0.0, 0.3, 0.3], [1.0, 0.0, 0.0]], ids=str)
def test_particle_resampling_is_unbiased(weights: list[float]) -> None:
    """Multinomial: over 2,000 seeds the average count is n w within 5 standard errors sqrt(n w (1 - w) / 2000), its variance
    n w (1 - w) within 25 % (7 standard errors), and a particle without weight never survives.
    """
    n, draws = len(weights), 2_000
    counts = []
    for seed in range(draws):
        state = weighted_state(weights, 1_000 * seed)
        resample(state)
        assert_allclose(state.weights[:n], 1 / n, rtol=1e-15)
        counts.append(np.bincount(state.run_lengths[:n].astype(int) - 1, minlength=n))
        assert not state.weights[n:].any()
    w = np.array(weights)
    spread = n * w * (1 - w)
    assert np.all(np.sum(counts, axis=1) == n)
    assert np.all(np.abs(np.mean(counts, axis=0) - n * w) <= 5 * np.sqrt(spread / draws))
    assert_allclose(np.var(counts, axis=0), spread, rtol=0.25, atol=1e-12)


@as_python
def test_particle_resampling_moves_beliefs_with_their_names() -> None:
    state = weighted_state([0.5, 0.2, 0.2, 0.05, 0.05])
    state.beliefs.chi[0, :] = state.run_lengths
    resample(state)
    assert_array_equal(state.beliefs.chi[0, :5], state.run_lengths[:5])
    assert len(set(state.run_lengths[:5])) < 5


@as_python
def test_one_particle_is_nas10_star_on_average() -> None:
    """E[mean of pf1 after y] over its one coin = Nas10*'s mean, from the same belief with the same run length (paper, Methods).

    Exactly, with both outcomes weighted by gamma; and the coin lands on change with probability gamma: 600 seeds, within 5
    standard errors.
    """
    family = vl.Gaussian(0.5, 0.3, 2.0)
    particle, delta_rule = vl.ParticleFilter(family, P_C, n=1), vl.Nas10Star(family, P_C)
    before = particle.init(0)
    for y in (0.1, 0.4, -0.2):  # so ordinary that this seed stays
        particle.update(before, y)
    assert before.run_lengths[0] == 3.0
    for y in (0.2, 1.8, 2.6):
        star = delta_rule.init()
        copy_column(before.beliefs, 0, star.beliefs, 0)
        star.run_lengths[0] = before.run_lengths[0]
        info = delta_rule.update(star, y)
        outcomes: dict[float, float] = {}
        changes, seeds = 0, 600
        for seed in range(seeds):
            state = particle.init(12_345 + 17 * seed)
            copy_column(before.beliefs, 0, state.beliefs, 0)
            state.run_lengths[0] = before.run_lengths[0]
            assert_allclose(particle.update(state, y), info, rtol=1e-12)
            outcomes[float(state.run_lengths[0])] = family.mean(state.beliefs, 0, 0)
            changes += state.run_lengths[0] == 1.0
        assert abs(changes / seeds - info.gamma) < 5 * math.sqrt(info.gamma * (1 - info.gamma) / seeds)
        if changes not in (0, seeds):
            expected = info.gamma * outcomes[1.0] + (1 - info.gamma) * outcomes[4.0]
            assert_allclose(family.mean(star.beliefs, 0, 0), expected, rtol=1e-12)
    assert set(outcomes) == {1.0, 4.0}


# One belief


@every_family
@pytest.mark.parametrize("m", [0.02, 0.5])
def test_varsmile_is_its_oracle(name: str, m: float) -> None:
    family, oracle, ys = SETTINGS[name].family, SETTINGS[name].oracle, observations(name, 40)
    assert_steps(vl.run(vl.VarSMiLe(family, m), ys), naive.var_smile_by_weights(oracle, m, ys))


@pytest.mark.parametrize("name", ["gaussian", "categorical", "bernoulli", "poisson", "exponential", "vonmises"])
@pytest.mark.parametrize("m", [0.02, 0.5, 10.0])
def test_smile_is_its_oracle(name: str, m: float) -> None:
    """The belief to 1e-8, gamma to 1e-6: it is the root of a divergence, which both sum from terms of order 1, to 1e-16. Where
    belief and scaled likelihood all but coincide the divergence is 1e-10 and less; then gamma is ill-determined, the belief not.
    """
    family, oracle, ys = SETTINGS[name].family, SETTINGS[name].oracle, observations(name, 40)
    trace, steps = vl.run(vl.SMiLe(family, m), ys), naive.smile(oracle, m, ys)
    assert_allclose(rows(trace.mean), column(steps, "mean"), rtol=1e-8, atol=1e-12)
    assert_allclose(rows(trace.variance), column(steps, "variance"), rtol=1e-8)
    assert_allclose(trace.adaptation_rate, [step.gamma for step in steps], rtol=1e-8, atol=1e-6)
    assert_allclose(trace.log_bayes_factor_surprise, [step.log_p_0 - step.log_p for step in steps], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("m", [0.02, 0.5, 10.0])
def test_smile_of_vectors_meets_its_bound(m: float) -> None:
    """Between the belief and the scaled likelihood in natural parameters, as far as B_max m S_CC / (1 + m S_CC) allows."""
    family, oracle, ys = SETTINGS["multivariate"].family, SETTINGS["multivariate"].oracle, observations("multivariate", 20)
    trace = vl.run(vl.SMiLe(family, m), ys)
    mean, covariance = oracle.posterior([])
    for t, y in enumerate(ys):
        gamma, scaled = trace.adaptation_rate[t], (y, np.array(COVARIANCE))
        precisions = np.linalg.inv(covariance), np.linalg.inv(COVARIANCE)
        after = np.linalg.inv((1 - gamma) * precisions[0] + gamma * precisions[1])
        moved = after @ ((1 - gamma) * precisions[0] @ mean + gamma * precisions[1] @ y), after
        s_cc, b_max = kl_multivariate_normal((mean, covariance), scaled), kl_multivariate_normal(scaled, (mean, covariance))
        assert 0 < gamma < 1
        assert_allclose(kl_multivariate_normal(moved, (mean, covariance)), b_max * m * s_cc / (1 + m * s_cc), rtol=1e-8)
        mean, covariance = moved
        assert_allclose(trace.mean[t], mean, rtol=1e-9)
        assert_allclose(trace.variance[t], np.diag(covariance), rtol=1e-9)


GAUSSIANS = [(0.1, 0.3, 2.0), (1.0, 0.0, 1.0), (5.0, -0.4, 1.0)]
every_gaussian = pytest.mark.parametrize("parameters", GAUSSIANS, ids=lambda p: f"sigma={p[0]}")


@every_gaussian
@pytest.mark.parametrize("p_c", [1e-4, 0.1])
@pytest.mark.parametrize(("kind", "oracle"), [(vl.Nas10Star, naive.nas10_star), (vl.Nas12Star, naive.nas12_star)])
def test_nassar_is_its_oracle(kind: Any, oracle: Any, parameters: tuple[float, float, float], p_c: float) -> None:
    family = vl.Gaussian(*parameters)
    ys = vl.ChangingEnvironment(family, max(p_c, 0.02)).sample(400, seed=3).y
    trace, steps = vl.run(kind(family, p_c), ys), oracle(conjugate.Gaussian(*parameters), p_c, ys.tolist())
    assert_steps(trace, steps)
    assert_allclose(trace.run_length, [step.run_length for step in steps], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("kind", "oracle"), [(vl.Nas10, naive.nas10_star), (vl.Nas12, naive.nas12_star)])
def test_original_nassar_has_a_broad_prior(kind: Any, oracle: Any) -> None:
    """sigma_0 = 1000. Nas12's run length is sigma^2 / variance less a rho of 1e-6; the variance is good to 1e-9 of itself."""
    ys = vl.ChangingEnvironment(vl.Gaussian(1.0, 0.0, 5.0), 0.05).sample(300, seed=3).y
    trace, steps = vl.run(kind(1.0, 0.05), ys), oracle(conjugate.Gaussian(1.0, 0.0, 1000.0), 0.05, ys.tolist())
    assert_steps(trace, steps)
    assert_allclose(trace.run_length, [step.run_length for step in steps], rtol=1e-9, atol=1e-9)
    other = vl.run(kind(1.0, 0.05, mu_0=0.5, sigma_0=10.0), ys)
    assert_steps(other, oracle(conjugate.Gaussian(1.0, 0.5, 10.0), 0.05, ys.tolist()))


@every_gaussian
@pytest.mark.parametrize("p_c", [1e-4, 0.01, 0.1])
def test_merge_with_one_hypothesis_is_nas12_star(parameters: tuple[float, float, float], p_c: float) -> None:
    """5,000 steps to 1e-12."""
    family = vl.Gaussian(*parameters)
    ys = vl.ChangingEnvironment(family, max(p_c, 0.01)).sample(5_000, seed=6).y
    merge, star = vl.run(vl.Merge(family, p_c, n=1), ys), vl.run(vl.Nas12Star(family, p_c), ys)
    assert_allclose(merge.mean, star.mean, rtol=1e-12, atol=1e-12)
    assert_allclose(merge.variance, star.variance, rtol=1e-12)
    assert_allclose(merge.adaptation_rate, star.adaptation_rate, rtol=1e-12, atol=1e-12)


@every_family
@pytest.mark.parametrize("omega", [0.0, 0.8, 1.0])
def test_leaky_integrates_the_weighted_observations(name: str, omega: float) -> None:
    """The maximum-likelihood estimate from observations weighted by omega^age; its weight is the run length."""
    ys = observations(name, 30)
    trace = vl.run(vl.Leaky(SETTINGS[name].family, omega), ys)
    averages = np.array(naive.leaky(SETTINGS[name].oracle, omega, ys))
    if name == "exponential":
        averages = 1 / averages
    if name == "vonmises":  # the direction of the weighted sum of unit vectors
        units = np.exp(2j * np.pi * np.array(ys) / 360.0)
        sums = [units[: t + 1] @ float(omega) ** np.arange(t, -1, -1) for t in range(len(ys))]
        averages = np.degrees(np.angle(sums))[:, None] % 360.0
    if name.startswith("unknown"):
        points, upper = np.reshape(ys, (len(ys), -1)), np.triu_indices(averages.shape[1])
        spreads = []
        for t in range(len(ys)):
            ages = float(omega) ** np.arange(t, -1, -1)
            apart = points[: t + 1] - averages[t]
            spreads.append(((apart.T * ages) @ apart / ages.sum())[upper])
        averages = np.hstack([averages, spreads])
    assert_allclose(rows(trace.mean), averages, rtol=1e-9, atol=1e-12)
    weights = np.cumsum(float(omega) ** np.arange(len(ys)))
    assert_allclose(trace.run_length, weights, rtol=1e-12)


def test_leaky_has_no_belief() -> None:
    trace = vl.run(vl.Leaky(vl.Gaussian(1.0), 0.8), [0.1, 0.2])
    assert trace.readouts == ("mean", "run_length")
    for name in ("variance", "adaptation_rate", "shannon_surprise", "bayes_factor_surprise", "log_predictive"):
        with pytest.raises(AttributeError, match=r"Leaky.*no belief.*mean, run_length"):
            getattr(trace, name)


# What holds for all


@every_family
@pytest.mark.parametrize("kind", WITH_CHANGE_PROBABILITY)
def test_weights_sum_to_one_and_the_oldest_comes_first(name: str, kind: str) -> None:
    learner, ys = WITH_CHANGE_PROBABILITY[kind](SETTINGS[name].family), observations(name, 12)
    with vl.plain_python():
        stream = vl.Stream(learner, seed=2)
        for t, y in enumerate(ys, start=1):
            step, belief = stream.update(y), stream.belief
            assert_allclose(belief.weights.sum(), 1.0, rtol=1e-13)
            assert np.all(belief.weights >= 0.0)
            assert_allclose(belief.weights @ belief.run_lengths, step.run_length, rtol=1e-12)
            assert belief.run_lengths.max() <= t * (1 + 1e-12)
            if kind == "particle-filter":
                assert belief.weights.size == 8
            else:
                assert belief.weights.size <= (t if kind == "exact" else 4)
                assert np.all(np.diff(belief.run_lengths) < 0.0)


def belief_and_family() -> list[Any]:
    """Every learner with a belief on the Gaussian; on the other families those that are compiled for other tests too."""
    chosen = ["exact", "message-passing", "merge", "varsmile"]
    cases = [("gaussian", key) for key in learners_with_belief("gaussian")]
    cases += [(name, key) for name in FAMILIES[1:] for key in chosen]
    cases += [(name, key) for name in SAMPLED[1:] for key in ("particle-filter", "stratified")]
    cases += [(name, "smile") for name in ("categorical", "bernoulli", "poisson", "exponential", "vonmises", "multivariate")]
    return [pytest.param(name, key, id=f"{key}-{name}") for name, key in cases]


@pytest.mark.parametrize(("name", "key"), belief_and_family())
def test_adaptation_rate_and_bayes_factor_follow_from_shannon_surprise(name: str, key: str) -> None:
    """gamma = p_c e^D and S_BF = (1 - p_c) e^D / (1 - p_c e^D), D = S_Sh(y; pi) - S_Sh(y; pi_0) (paper, Eq. for gamma and S_BF).

    The prior's Shannon surprise is the oracle's. The second formula divides by 1 - gamma, so it loses what gamma is near 1:
    1e-10 holds for gamma below 0.999. SMiLe's gamma is another quantity.
    """
    learner, ys = learners_with_belief(name)[key], observations(name, 40)
    oracle = SETTINGS[name].oracle if key not in ("nas10", "nas12") else conjugate.Gaussian(0.5, 0.0, 1000.0)
    p_c = 0.2 / 1.2 if key in ("varsmile", "smile") else P_C
    trace = vl.run(learner, ys, seed=3)
    d = trace.shannon_surprise + np.array([oracle.log_predictive([], y) for y in ys])
    if key != "smile":
        assert_allclose(trace.adaptation_rate, p_c * np.exp(d), rtol=1e-10)
    mild = p_c * np.exp(d) < 0.999
    assert mild.sum() >= 20
    expected = (1 - p_c) * np.exp(d[mild]) / (1 - p_c * np.exp(d[mild]))
    assert_allclose(trace.bayes_factor_surprise[mild], expected, rtol=1e-10)
    assert_allclose(trace.bayes_factor_surprise, np.exp(trace.log_bayes_factor_surprise), rtol=1e-14)
    assert_allclose(trace.shannon_surprise, -trace.log_predictive, rtol=0)


@pytest.mark.parametrize("kind", [vl.Nas10Star, vl.Nas12Star])
def test_nassar_refuses_other_families_and_points_to_merge(kind: Any) -> None:
    for name in FAMILIES[1:]:
        with pytest.raises(
            TypeError, match=rf"{kind.__name__}.*{type(SETTINGS[name].family).__name__}.*Merge\(family, p_c, n=1\)"
        ):
            kind(SETTINGS[name].family, P_C)


def test_smile_refuses_improper_likelihoods() -> None:
    for name in ("unknown-variance", "unknown-covariance"):
        with pytest.raises(
            TypeError, match=rf"SMiLe cannot learn with {type(SETTINGS[name].family).__name__}.*no finite integral"
        ):
            vl.SMiLe(SETTINGS[name].family, 0.1)
    learner = vl.SMiLe(vl.Exponential(2.2, 1.1), 0.1)
    with pytest.raises(ValueError, match="observation 2 is 0"):
        vl.run(learner, [0.3, 0.1, 0.0])
    with vl.plain_python():
        stream = vl.Stream(learner)
        stream.update(0.3)
        mean = stream.belief.mean
        with pytest.raises(ValueError, match="is 0"):
            stream.update(0.0)
        assert stream.belief.mean == mean


def test_change_probability_near_its_ends() -> None:
    """Near 1 every observation is the first since a change; near 0 none but the first is."""
    family, oracle, ys = SETTINGS["gaussian"].family, SETTINGS["gaussian"].oracle, observations("gaussian")
    always = vl.run(vl.ExactBayes(family, 1 - 1e-12), ys)
    never = vl.run(vl.ExactBayes(family, 1e-300, cutoff=0.0), ys)
    assert_allclose(always.log_predictive, [oracle.log_predictive([], y) for y in ys], rtol=1e-9)
    assert_allclose(never.log_predictive, [oracle.log_predictive(ys[:t], y) for t, y in enumerate(ys)], rtol=1e-10)
    assert_allclose(always.mean, [oracle.mean([y])[0] for y in ys], rtol=1e-9)
    assert_allclose(never.mean, [oracle.mean(ys[: t + 1])[0] for t in range(len(ys))], rtol=1e-10)
