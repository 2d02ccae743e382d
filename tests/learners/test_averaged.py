"""Averaged against sums over all histories and values, and against the recursion of Wilson, Nassar & Gold."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy.special import roots_jacobi

import volatilis as vl
from tests.helpers.settings import SETTINGS, observations
from tests.oracles import conjugate
from tests.oracles.hazard import average_over, unknown_hazard
from volatilis.learners._grids import beta_nodes

VALUES = [0.003, 0.02, 0.08, 0.15, 0.3, 0.45, 0.6, 0.85, 0.99]
GAUSSIAN = vl.Gaussian(sigma=0.5, mu_0=0.3, sigma_0=2.0)


def exact(family: Any) -> Any:
    return vl.ExactBayes(family, 0.1, cutoff=0.0)


def assert_same(trace: vl.Trace, expected: Any, tolerance: float = 1e-8) -> None:
    size = len(expected[0].mean)
    close = {"rtol": tolerance, "atol": tolerance}
    np.testing.assert_allclose(trace.mean.reshape(-1, size), [one.mean for one in expected], **close)
    np.testing.assert_allclose(trace.variance.reshape(-1, size), [one.variance for one in expected], **close)
    for name in ("log_p", "log_p_0", "log_predictive"):
        np.testing.assert_allclose(getattr(trace, name), [getattr(one, name) for one in expected], **close)
    np.testing.assert_allclose(trace.adaptation_rate, [one.gamma for one in expected], **close)
    np.testing.assert_allclose(trace.shannon_surprise, [-one.log_predictive for one in expected], **close)
    np.testing.assert_allclose(trace.log_bayes_factor_surprise, [one.log_p_0 - one.log_p for one in expected], **close)


@pytest.mark.parametrize("name", ["gaussian", "categorical"])
def test_it_is_the_sum_over_all_histories_and_values(name: str) -> None:
    setting, ys = SETTINGS[name], observations(name, 10)
    weights = np.linspace(1.0, 3.0, len(VALUES))
    expected = average_over([(setting.oracle, p) for p in VALUES], weights, ys)
    trace = vl.run(vl.Averaged(exact(setting.family), p_c=VALUES, weights=weights), ys)
    assert_same(trace, expected)
    learned = [one.weights @ VALUES for one in expected]
    np.testing.assert_allclose(trace.parameter("p_c").mean, learned, rtol=1e-8)
    np.testing.assert_allclose(trace.change_probability[1:], learned[:-1], rtol=1e-8)


def test_noise_and_prior_may_be_unknown_too() -> None:
    ys, sigmas, spreads = observations("gaussian", 8), [0.2, 0.5, 1.5], [0.7, 2.0]
    members = [(conjugate.Gaussian(s, 0.3, s0), p) for p in VALUES[:3] for s in sigmas for s0 in spreads]
    expected = average_over(members, np.ones(len(members)), ys)
    trace = vl.run(vl.Averaged(exact(GAUSSIAN), p_c=VALUES[:3], sigma=sigmas, sigma_0=spreads), ys)
    assert_same(trace, expected)
    by_sigma = np.array([one.weights.reshape(3, 3, 2).sum(axis=(0, 2)) for one in expected])
    np.testing.assert_allclose(trace.parameter("sigma").mean, by_sigma @ sigmas, rtol=1e-8)


def test_directions_are_averaged_on_the_circle() -> None:
    family, oracle = SETTINGS["vonmises"].family, SETTINGS["vonmises"].oracle
    ys, kappas = observations("vonmises", 7), [1.0, 3.0, 9.0]
    parts = [vl.run(exact(family._replace(kappa=kappa)), ys) for kappa in kappas]
    evidence = np.exp([np.cumsum(part.log_predictive) for part in parts])
    shares = evidence / evidence.sum(axis=0)
    # a variance is (period / 2 pi)^2 times 2 (1 - length)
    unit = family.period / (2 * np.pi)
    vectors = [(1 - p.variance / (2 * unit**2)) * np.exp(1j * p.mean / unit) for p in parts]
    both = sum(share * vector for share, vector in zip(shares, vectors, strict=True))
    trace = vl.run(vl.Averaged(exact(family), kappa=kappas), ys)
    np.testing.assert_allclose(trace.mean, np.angle(both) % (2 * np.pi) * unit, rtol=1e-10)
    np.testing.assert_allclose(trace.variance, 2 * unit**2 * (1 - np.abs(both)), rtol=1e-9)
    assert oracle.kappa == family.kappa


def jacobi(count: int, a: float, b: float) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of Beta(a, b): integrals of polynomials of degree up to 2 count - 1 are exact."""
    nodes, weights = roots_jacobi(count, b - 1, a - 1)
    return (nodes + 1) / 2, weights / weights.sum()


@pytest.mark.parametrize(("a", "b"), [(1.0, 9.0), (1.0, 1.0), (0.5, 0.5), (0.3, 0.7), (0.01, 1e4), (1e3, 1e4)])
def test_values_for_a_beta_prior_have_its_moments(a: float, b: float) -> None:
    nodes, weights = beta_nodes(6, a, b)
    moment = 1.0
    for k in range(12):
        np.testing.assert_allclose(weights @ nodes**k, moment, rtol=1e-10)
        moment *= (a + k) / (a + b + k)


def test_it_is_the_recursion_over_run_length_and_number_of_changes() -> None:
    """The evidence of 200 observations is a polynomial of p_c of degree 199, so 100 nodes are exact."""
    a, b = 1.0, 9.0
    y, *_ = vl.ChangingEnvironment(GAUSSIAN, 0.05).sample(200, seed=3)
    expected = unknown_hazard(y, *GAUSSIAN, a, b)
    nodes, weights = jacobi(101, a, b)
    trace = vl.run(vl.Averaged(exact(GAUSSIAN), p_c=nodes, weights=weights), y)
    np.testing.assert_allclose(trace.mean, expected.mean, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(trace.log_predictive, expected.log_predictive, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(trace.parameter("p_c").mean, expected.p_c, rtol=1e-9)
    prior = {"prior_changes": a, "prior_stays": b}
    own = vl.run(vl.Averaged(exact(GAUSSIAN), p_c=vl.Unknown(101), **prior), y)
    np.testing.assert_allclose(own.mean, expected.mean, rtol=1e-9, atol=1e-9)
    twenty = vl.run(vl.Averaged(exact(GAUSSIAN), p_c="unknown", **prior), y)
    np.testing.assert_allclose(twenty.parameter("p_c").mean, expected.p_c, rtol=0.01)  # a posterior SD is a third of it
    few = vl.run(vl.Averaged(exact(GAUSSIAN), p_c="unknown"), y)
    assert abs(np.sum(few.log_predictive) - np.sum(expected.log_predictive)) < 2.5  # another prior, 20 values


LEARNERS = {
    "merge": lambda family: vl.Merge(family, 0.1, n=4),
    "exact": exact,
    "particles": lambda family: vl.ParticleFilter(family, 0.1, n=8),
    "varsmile": lambda family: vl.VarSMiLe(family, m=0.1),
}


@pytest.mark.parametrize("kind", LEARNERS)
def test_plain_python_stream_batch_and_file_agree_to_the_last_bit(kind: str) -> None:
    inner, y = LEARNERS[kind](GAUSSIAN), [0.2, np.nan, 3.0, 3.2, -2.0, -1.9, 0.4]
    grid = {"m": [0.02, 0.2]} if kind == "varsmile" else {"p_c": [0.02, 0.2]}
    learner = vl.Averaged(inner, sigma=[0.4, 0.8], forget=0.01, **grid)
    trace = vl.run(learner, y, missing="elapse", seed=5)
    with vl.plain_python():
        slow = vl.run(learner, y, missing="elapse", seed=5)
    stream = vl.Stream(learner, missing="elapse", seed=5)
    steps = []
    for value in y:
        steps.append(stream.update(value))
        stream = vl.Stream.from_bytes(stream.to_bytes())
    for name in trace.readouts:
        np.testing.assert_array_equal(getattr(trace, name), getattr(slow, name))
        np.testing.assert_array_equal(getattr(trace, name), [getattr(step, name) for step in steps])
    assert stream.learner == learner == pickle.loads(pickle.dumps(learner))
    for name in learner.parameters():
        assert stream.parameter(name) == tuple(part[-1] for part in trace.parameter(name))
    belief = stream.belief
    np.testing.assert_allclose([belief.mean, belief.variance], [trace.mean[-1], trace.variance[-1]], rtol=1e-12)
    many = vl.run_many(learner, [y, y], missing="elapse", seed=5)
    assert inner.samples() != np.array_equal(many[0].mean, many[1].mean)


def test_blocks_begin_with_nothing_learned() -> None:
    learner = vl.Averaged(vl.Merge(GAUSSIAN, 0.1, n=4), p_c=VALUES)
    y = observations("gaussian", 10)
    trace = vl.run(learner, [*y, *y], reset=[10])
    np.testing.assert_array_equal(trace.mean[10:], trace.mean[:10])


def test_a_surprise_that_is_asked_for_alone_knows_its_change_probability() -> None:
    learner, y = vl.Averaged(vl.Merge(GAUSSIAN, 0.1, n=4), p_c=VALUES), observations("gaussian", 10)
    alone, whole = vl.run(learner, y, readouts=("mean", "log_predictive")), vl.run(learner, y)
    np.testing.assert_array_equal(alone.log_predictive, whole.log_predictive)


def test_one_value_is_the_learner_itself() -> None:
    y = observations("gaussian", 10)
    alone, trace = vl.run(vl.Merge(GAUSSIAN, 0.1, n=4), y), vl.run(vl.Averaged(vl.Merge(GAUSSIAN, 0.1, n=4), p_c=0.1), y)
    for name in alone.readouts:
        np.testing.assert_allclose(getattr(trace, name), getattr(alone, name), rtol=1e-12, atol=1e-14)


def test_it_learns_the_parameters() -> None:
    """Within 4 standard errors of the true values: of sigma, sigma / sqrt(2 T) and the grid's step."""
    y, *_ = vl.ChangingEnvironment(vl.Gaussian(0.7, 0.0, 3.0), 0.04).sample(3000, seed=11)
    learner = vl.Averaged(vl.Merge(vl.Gaussian(1.0, 0.0, 3.0), 0.1, n=10), p_c="unknown", sigma=vl.Unknown(25, 0.3, 2.0))
    trace = vl.run(learner, y)
    assert abs(trace.parameter("sigma").mean[-1] - 0.7) < 4 * 0.7 / np.sqrt(6000) + 0.03
    p_c = trace.parameter("p_c")
    assert p_c.low[-1] < 0.04 < p_c.high[-1] < 0.1
    assert np.ptp([p_c.low[50], p_c.high[50]]) > np.ptp([p_c.low[-1], p_c.high[-1]])


def test_volatility_that_changes_is_followed_with_forgetting() -> None:
    family, rng = vl.Gaussian(0.5, 0.0, 3.0), np.random.default_rng(4)
    rates = np.repeat([0.01, 0.2, 0.01], 2000)
    theta, y = 0.0, []
    for rate in rates:
        theta = rng.normal(0.0, 3.0) if rng.random() < rate else theta
        y.append(rng.normal(theta, 0.5))
    grid = vl.Unknown(count=15, low=1e-3, high=0.5)
    follows = vl.run(vl.Averaged(vl.Merge(family, 0.1, n=10), p_c=grid, forget=0.002), y).parameter("p_c").mean
    ends = [follows[1000 + 2000 * k : 2000 + 2000 * k].mean() for k in range(3)]
    assert max(ends[0], ends[2]) < 0.04
    assert 0.12 < ends[1] < 0.3
    stays = vl.run(vl.Averaged(vl.Merge(family, 0.1, n=10), p_c=grid), y).parameter("p_c").mean
    assert stays[-1] > 0.05  # without it all observations count alike


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda learner: vl.Averaged(vl.Leaky(GAUSSIAN, 0.9), sigma=[1.0]), "Leaky does not predict"),
        (lambda learner: vl.Averaged(learner), "nothing is unknown"),
        (lambda learner: vl.Averaged(learner, p=[0.1]), "no parameter 'p'; it has p_c, sigma, mu_0, sigma_0"),
        (lambda learner: vl.Averaged(learner, p_c=[0.1, 1.5]), "p_c = 1.5 is not accepted"),
        (lambda learner: vl.Averaged(learner, p_c=[0.1, 0.1]), "a value twice"),
        (lambda learner: vl.Averaged(learner, p_c=[]), "a list of numbers"),
        (lambda learner: vl.Averaged(learner, p_c="auto"), '"unknown" is, or values'),
        (lambda learner: vl.Averaged(learner, mu_0="unknown"), "no range of its own"),
        (lambda learner: vl.Averaged(learner, p_c=vl.Unknown(count=1)), "count a whole number"),
        (lambda learner: vl.Averaged(learner, p_c=[0.1, 0.2], weights=[1.0]), "2 numbers above 0"),
        (lambda learner: vl.Averaged(learner, p_c=[0.1, 0.2], weights=[1.0, -1.0]), "2 numbers above 0"),
        (lambda learner: vl.Averaged(learner, p_c=[0.1, 0.2], forget=1.0), "forget = 1.0"),
        (lambda learner: vl.Averaged(learner, p_c=vl.Unknown(400), sigma=vl.Unknown(400)), "too many"),
        (lambda learner: vl.Averaged(vl.Averaged(learner, p_c=[0.1]), sigma=[1.0]), "not averaged again"),
        (lambda learner: vl.Averaged(3, p_c=[0.1]), "not a learner"),
        (lambda learner: vl.run(learner, [1.0]).parameter("p_c"), "Merge knows its parameters"),
        (lambda learner: vl.run(vl.Averaged(learner, p_c=[0.1]), [1.0]).parameter("sigma"), "not among what this learner"),
        (lambda learner: vl.run(vl.Averaged(learner, p_c=[0.1]), [1.0]).bayesian_surprise, "values of unknown parameters"),
    ],
)
def test_what_cannot_be_is_said(make: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message.replace("(", r"\(")):
        make(vl.Merge(GAUSSIAN, 0.1, n=4))
