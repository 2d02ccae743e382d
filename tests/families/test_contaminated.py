"""Contaminated: the law of outliers, exactness against all histories of changes and outliers, and what it is for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

import volatilis as vl
from tests.helpers.settings import FAMILIES, P_C, SETTINGS, bank, encoded, observations
from tests.oracles import integrals
from tests.oracles.enumeration import enumerate_outliers
from volatilis.learners import _exact_step

P_O = 0.1
UNIFORM = ("categorical", "bernoulli", "vonmises")


def contaminated(name: str, p_o: float = P_O) -> Any:
    return vl.Contaminated(SETTINGS[name].family, p_o)


def log_broad(name: str, y: Any, spread: float = 1.0) -> float:
    family = SETTINGS[name].family
    return family.log_broad(spread, encoded(family, y))


# The law of outliers


@pytest.mark.parametrize("name", ["gaussian", "unknown-variance", "exponential", "vonmises"])
def test_outliers_on_a_line_have_a_density(name: str) -> None:
    lower, upper = {"exponential": (0.0, math.inf), "vonmises": (0.0, 360.0)}.get(name, (-math.inf, math.inf))
    for spread in (1.0,) if name in UNIFORM else (0.5, 3.0):
        mass = integrals.total_probability(
            lambda y, s=spread: SETTINGS[name].family.log_broad(s, y), lower, upper, [-10.0, -1.0, 0.0, 1.0, 10.0]
        )
        assert_allclose(mass, 1.0, atol=1e-7)


def test_outliers_that_are_symbols_or_counts_have_probabilities() -> None:
    assert_allclose(sum(math.exp(log_broad("categorical", k)) for k in range(4)), 1.0)
    assert_allclose(sum(math.exp(log_broad("bernoulli", k)) for k in range(2)), 1.0)
    # s / ((k + s)(k + s + 1)) sums to 1 - s / (K + s) below K
    s, top = 3.0 * (1 + 1.4 / 0.6), 1000
    assert_allclose(sum(math.exp(log_broad("poisson", k, 3.0)) for k in range(top)), 1 - s / (top + s), rtol=1e-12)


@pytest.mark.parametrize("name", ["multivariate", "unknown-covariance"])
def test_outliers_that_are_vectors_are_t_with_one_degree_of_freedom(name: str) -> None:
    family, spread = SETTINGS[name].family, 1.7
    if name == "multivariate":
        scale = family.covariance + family.covariance_0
    else:
        scale = family.psi_0 * (family.kappa_0 + 1) / (family.kappa_0 * (family.nu_0 - 1))
    for y in observations(name, 5):
        expected = stats.multivariate_t.logpdf(y, family.mu_0, spread**2 * scale, df=1)
        assert_allclose(log_broad(name, y, spread), expected, rtol=1e-12)


@pytest.mark.parametrize(
    "name", ["gaussian", "unknown-variance", "exponential", "vonmises", "categorical", "bernoulli", "poisson"]
)
def test_the_distribution_of_outliers_is_the_integral_of_their_law(name: str) -> None:
    family, spread = SETTINGS[name].family, 1.0 if name in UNIFORM else 2.0
    for y in observations(name, 3):
        code = encoded(family, y)
        if isinstance(y, int):
            expected = sum(math.exp(log_broad(name, k, spread)) for k in range(y)) + 0.3 * math.exp(log_broad(name, y, spread))
        else:
            lower = {"exponential": 0.0, "vonmises": -100.0}.get(name, -math.inf)  # on a circle the antipode of 80
            upper = (y + 100.0) % 360.0 - 100.0 if name == "vonmises" else y
            expected = integrals.total_probability(lambda v: family.log_broad(spread, v), lower, upper, [-10.0, 0.0, 1.0])
        assert_allclose(family.broad_cdf(spread, code, 0.3, 80.0), expected, rtol=1e-7)


@pytest.mark.parametrize("name", FAMILIES)
def test_outliers_are_drawn_from_their_law(name: str) -> None:
    """20,000 draws against the law's own distribution function or its probabilities, at the level 0.001 for each family."""
    family, spread, rng = SETTINGS[name].family, 1.0 if name in UNIFORM else 2.0, np.random.default_rng(5)
    draws = family.sample_broad(spread, 20_000, rng)
    if name == "gaussian":
        p = stats.kstest(draws, stats.cauchy(0.3, spread * math.hypot(0.5, 2.0)).cdf).pvalue
    elif name == "unknown-variance":
        p = stats.kstest(draws, stats.cauchy(0.2, spread * math.sqrt(0.9 * (1 + 1 / 0.7) / 2.1)).cdf).pvalue
    elif name == "exponential":
        p = stats.kstest(draws, lambda y: y / (y + spread * 1.1 / 2.2)).pvalue
    elif name == "vonmises":
        p = stats.kstest(draws, stats.uniform(0, 360).cdf).pvalue
    elif name in ("multivariate", "unknown-covariance"):  # the squared length of round Cauchy vectors over p is F with (p, 1)
        axes = family.axes * np.sqrt(1 + 1 / family.prior_precision) if name == "multivariate" else family.root_0
        size = spread if name == "multivariate" else spread * math.sqrt(1.6 / (0.6 * 4.5))
        round_ones = np.linalg.solve(axes, (draws - family.mu_0).T) / size
        p = stats.kstest(np.sum(round_ones**2, axis=0) / 2, stats.f(2, 1).cdf).pvalue
    else:
        top = {"categorical": 4, "bernoulli": 2, "poisson": 30}[name]
        expected = np.array([math.exp(log_broad(name, k, spread)) for k in range(top)])
        counts = np.bincount(np.minimum(draws, top), minlength=top + 1)
        expected = np.append(expected, max(1 - expected.sum(), 0.0)) * len(draws)
        filled = expected > 1
        p = stats.chisquare(counts[filled], expected[filled] * counts.sum() / expected[filled].sum()).pvalue
    assert p > 0.001


@pytest.mark.parametrize("name", FAMILIES)
def test_the_predictive_is_the_mixture(name: str) -> None:
    inner, family = SETTINGS[name].family, contaminated(name)
    beliefs = bank(inner, [], observations(name, 6))
    for y in observations(name, 4, seed=2):
        code = encoded(inner, y)
        for i in (0, 1):
            expected = np.logaddexp(math.log1p(-P_O) + inner.log_predictive(beliefs, i, code), math.log(P_O) + log_broad(name, y))
            assert_allclose(family.log_predictive(beliefs, i, code), expected, rtol=1e-12)
        w, out = np.array([0.3, 0.7]), np.empty(2)
        evidence, scale = family.predictives(beliefs, w, 2, code, out)
        expected = [math.log(w[i]) + family.log_predictive(beliefs, i, code) for i in (0, 1)]
        assert_allclose(scale + np.log(out), expected, rtol=1e-12)
        assert_allclose(scale + math.log(evidence), np.logaddexp(*expected), rtol=1e-12)


# Against all histories of changes and outliers


@pytest.mark.parametrize("name", FAMILIES)
def test_with_room_for_all_histories_it_is_exact(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As plain Python, with nothing left out and nothing merged: 2^(2T-1) histories, every readout that follows from them."""
    monkeypatch.setattr(_exact_step, "UNSEEN", 0.0)
    monkeypatch.setattr(_exact_step, "NEAR", 0.0)
    ys = observations(name, 4)
    with vl.plain_python():
        trace = vl.run(vl.MessagePassing(contaminated(name), P_C, n=600), ys)
    for t in (2, 4):
        exact = enumerate_outliers(SETTINGS[name].oracle, P_C, P_O, lambda y: log_broad(name, y), ys[:t])
        assert_allclose(trace.log_predictive[:t].sum(), exact.log_evidence, rtol=1e-10)
        assert_allclose(trace.outlier_probability[t - 1], exact.outlier, rtol=1e-9)
        if name != "vonmises":  # whose moments are those of vectors: tests/contracts
            assert_allclose(np.ravel(trace.mean[t - 1]), exact.mean, rtol=1e-9, atol=1e-12)
            assert_allclose(np.ravel(trace.variance[t - 1]), exact.variance, rtol=1e-8)


def test_merge_with_20_is_within_a_thousandth_of_the_evidence() -> None:
    """30 sequences of 7: on average; with 3 hypotheses it is far worse, so there is something to lose."""
    family, p_c = vl.Contaminated(vl.Gaussian(0.5, 0.3, 2.0), 0.05), 0.1
    off: dict[int, list[float]] = {3: [], 20: []}
    for seed in range(30):
        ys = np.clip(vl.ChangingEnvironment(family, p_c).sample(7, seed=seed).y, -50, 50)
        exact = enumerate_outliers(SETTINGS["gaussian"].oracle, p_c, 0.05, lambda y: log_broad("gaussian", y), list(ys))
        for n, differences in off.items():
            differences.append(abs(vl.run(vl.Merge(family, p_c, n), ys).log_predictive.sum() - exact.log_evidence))
    assert np.mean(off[20]) < 0.001
    assert np.mean(off[3]) > 0.01


# Learners


@pytest.mark.parametrize("learner", [vl.StratifiedResampling, vl.MessagePassing, vl.Merge])
def test_a_change_next_to_impossible_leaves_all_finite(learner: Any) -> None:
    """1 / p_c overflows, and an outlier's weight underflows."""
    family = vl.Contaminated(vl.Gaussian(1.0, 0.0, 50.0), p_o=1e-12, spread=1e300)
    trace = vl.run(learner(family, p_c=1e-310, n=2), [100.0] * 5 + [0.0] * 20)
    assert np.isfinite(trace.mean).all()
    assert np.isfinite(trace.adaptation_rate).all()


def some_learners(family: Any, p_c: float) -> list[Any]:
    learners = [vl.Merge(family, p_c, 5), vl.MessagePassing(family, p_c, 5), vl.StratifiedResampling(family, p_c, 5)]
    return [*learners, vl.ParticleFilter(family, p_c, 7), vl.VarSMiLe(family, p_c)]


@pytest.mark.parametrize("kind", range(5))
def test_compiled_stepped_and_saved_agree(kind: int) -> None:
    family = vl.Contaminated(vl.Gaussian(0.5, 0.0, 3.0), 0.05)
    learner = some_learners(family, 0.02)[kind]
    ys = list(vl.ChangingEnvironment(family, 0.1).sample(60, seed=3).y)
    ys[20] = None
    trace = vl.run(learner, ys, missing="elapse", reset=[40])
    with vl.plain_python():
        plain = vl.run(learner, ys, missing="elapse", reset=[40])
    for name in trace.readouts:
        assert_array_equal(getattr(plain, name), getattr(trace, name))
    stream, steps = vl.Stream(learner, missing="elapse"), []
    for t, y in enumerate(ys):
        if t == 40:
            stream.reset()
        if t == 50:
            stream = vl.Stream.from_bytes(stream.to_bytes())
        steps.append(stream.update(y))
    for name in trace.readouts:
        assert_array_equal([getattr(step, name) for step in steps], getattr(trace, name))
    many = vl.run_many(learner, [ys[:20], ys[21:30]])
    assert_array_equal(many[1].mean, vl.run(learner, ys[21:30], seed=np.random.SeedSequence(0).spawn(2)[1]).mean)


def test_one_outlier_does_not_erase_what_was_learned() -> None:
    """Without outliers in the model, one far observation among 200 makes two changes; with them none, in every learner."""
    inner, rng = vl.Gaussian(1.0, 0.0, 10.0), np.random.default_rng(1)
    ys = rng.normal(0.0, 1.0, 200)
    ys[150] = 25.0
    erased = vl.run(vl.Merge(inner, 0.001, 20), ys)
    assert erased.run_length[150] < 2
    for learner in some_learners(vl.Contaminated(inner, 0.01), 0.001):
        trace = vl.run(learner, ys)
        assert trace.outlier_probability[150] > 0.85
        assert trace.run_length[155] > 100
        assert abs(trace.mean[155] - trace.mean[149]) < 0.2


def test_a_change_is_still_found() -> None:
    inner, rng = vl.Gaussian(1.0, 0.0, 10.0), np.random.default_rng(2)
    ys = rng.normal(np.repeat([0.0, 15.0], [100, 20]), 1.0)
    for learner in some_learners(vl.Contaminated(inner, 0.01), 0.01):
        assert abs(vl.run(learner, ys).mean[105] - 15.0) < 1.5


def test_surprise_is_capped_and_lets_go() -> None:
    """gamma is near p_c / (p_c + p_o) where outliers are as likely as anything under the prior, and p_c far beyond its reach."""
    family, p_c = vl.Contaminated(vl.VonMises(50.0), 0.02), 0.03  # on a circle with a flat prior the two are the same
    ys = [*np.random.default_rng(3).vonmises(0.0, 50.0, 300), math.pi]
    assert_allclose(vl.run(vl.Merge(family, p_c, 20), ys).adaptation_rate[-1], p_c / (p_c + 0.02 * (1 - p_c)), rtol=0.03)
    line, far = vl.Contaminated(vl.Gaussian(1.0, 0.0, 3.0), 0.02), [*np.random.default_rng(3).normal(0, 1, 300), 1e6]
    assert_allclose(vl.run(vl.Merge(line, p_c, 20), far).adaptation_rate[-1], p_c, rtol=1e-6)


def test_what_cannot_tell_outliers_refuses() -> None:
    family = vl.Contaminated(vl.Gaussian(1.0), 0.01)
    for make in (lambda: vl.SMiLe(family, 0.1), lambda: vl.Leaky(family, 0.9), lambda: vl.Nas12Star(family, 0.1)):
        with pytest.raises(TypeError, match=r"cannot tell outliers.*these do: .*Merge"):
            make()
    with pytest.raises(ValueError, match="outliers already"):
        vl.Contaminated(family, 0.1)
    with pytest.raises(ValueError, match=r"spread = 2\.0 has no effect"):
        vl.Contaminated(vl.Bernoulli(), 0.1, spread=2.0)
    with pytest.raises(TypeError, match="finite integral"):
        _ = vl.run(vl.VarSMiLe(family, 0.1), [1.0, 2.0]).confidence_corrected_surprise
    with pytest.raises(AttributeError, match="no outliers"):
        _ = vl.run(vl.VarSMiLe(vl.Gaussian(1.0), 0.1), [1.0]).outlier_probability


def test_exact_bayes_says_that_it_is_not_exact() -> None:
    family = vl.Contaminated(vl.Gaussian(0.5, 0.3, 2.0), P_O)
    with pytest.warns(UserWarning, match="not exact where observations may be outliers"):
        learner, patient = vl.ExactBayes(family, P_C), vl.ExactBayes(family, 1e-5)
    ys = observations("gaussian", 7)
    exact = enumerate_outliers(SETTINGS["gaussian"].oracle, P_C, P_O, lambda y: log_broad("gaussian", y), ys)
    trace = vl.run(learner, ys)
    assert 1e-6 < abs(trace.log_predictive.sum() - exact.log_evidence) < 1.0
    long = vl.run(patient, np.random.default_rng(0).normal(0.0, 0.5, 1000))
    assert long.run_length[-1] > 900  # its room grows


def test_environments_have_outliers() -> None:
    """Of 20,000 observations around 0 with a narrow prior, the share beyond 6 is that of outliers there: 3 standard errors."""
    family = vl.Contaminated(vl.Gaussian(1.0, 0.0, 0.01), 0.1)
    ys = vl.ChangingEnvironment(family, 0.5).sample(20_000, seed=4).y
    expected = 0.1 * 2 * stats.cauchy(0, math.hypot(1.0, 0.01)).sf(6.0)
    assert abs(np.mean(np.abs(ys) > 6) - expected) < 3 * math.sqrt(expected / 20_000)
