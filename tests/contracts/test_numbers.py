"""Finite in, finite out; what is not accepted is refused by name; units do not matter.

The extremes of the design: observations from 1e-300 up to 1e150 times sigma, sigma from 1e-6 to 1e6, p_c from 1e-12 to 1 - 1e-12,
a million identical observations, alternating extremes, one observation, none.
"""

from __future__ import annotations

import faulthandler
import math
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import volatilis as vl

P_C = [1e-12, 0.5, 1.0 - 1e-12]
SIGMAS = [1e-6, 1.0, 1e6]
FUZZ = settings(derandomize=True, deadline=None, database=None, max_examples=60)


@pytest.fixture(autouse=True)
def _end_what_never_ends() -> Iterator[None]:
    """Native code that loops for ever cannot be interrupted; end the process and say where."""
    faulthandler.dump_traceback_later(100.0, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


def gaussian(sigma: float) -> vl.Gaussian:
    return vl.Gaussian(sigma, mu_0=0.0, sigma_0=1.0)


def unknown_variance(sigma: float) -> vl.GaussianUnknownVariance:
    """alpha_0 > 2, so that mean and variance of the variance exist from the start."""
    return vl.GaussianUnknownVariance(0.0, 1.0, 2.5, sigma**2)


def plane(sigma: float) -> vl.MultivariateGaussian:
    covariance = sigma**2 * np.array([[1.0, 0.3], [0.3, 2.0]])
    return vl.MultivariateGaussian(covariance, [0.0, 0.0], np.eye(2))


def wishart(sigma: float) -> vl.MultivariateGaussianUnknownCovariance:
    return vl.MultivariateGaussianUnknownCovariance([0.0, 0.0], 1.0, 7.0, sigma**2 * np.array([[1.0, 0.3], [0.3, 2.0]]))


def exponential(sigma: float) -> vl.Exponential:
    return vl.Exponential(3.0, sigma)


REAL_FAMILIES: dict[str, Callable[[float], Any]] = {
    "Gaussian": gaussian,
    "GaussianUnknownVariance": unknown_variance,
    "MultivariateGaussian": plane,
    "MultivariateGaussianUnknownCovariance": wishart,
    "Exponential": exponential,
}
COUNT_FAMILIES = {
    "Categorical": lambda s: vl.Categorical(4, s),
    "Bernoulli": lambda s: vl.Bernoulli(s, 2.0 * s),
    "Poisson": lambda s: vl.Poisson(s, s),
}


def learners(family: Any, p_c: float) -> Iterator[Any]:
    m = p_c / (1.0 - p_c)
    yield vl.ExactBayes(family, p_c)
    yield vl.MessagePassing(family, p_c, 4)
    yield vl.ParticleFilter(family, p_c, 4)
    yield vl.StratifiedResampling(family, p_c, 4)
    yield vl.Merge(family, p_c, 3)
    yield vl.VarSMiLe(family, m)
    if hasattr(family, "scaled_likelihood"):
        yield vl.SMiLe(family, m)
    yield vl.Leaky(family, min(p_c, 0.999))
    if isinstance(family, vl.Gaussian):
        yield vl.Nas10Star(family, p_c)
        yield vl.Nas12Star(family, p_c)
        yield vl.Nas10(family.sigma, p_c)
        yield vl.Nas12(family.sigma, p_c)


def sequences(scale: float) -> dict[str, np.ndarray]:
    """Real observations in units of `scale`."""
    rng = np.random.default_rng(5)
    return {
        "ordinary": scale * rng.normal(size=12),
        "tiny": np.array([1e-300, -1e-300, 5e-324, 0.0, 1e-300, 1e-200 * scale]),
        "growing": scale * 10.0 ** np.arange(-30.0, 151.0, 12.0),
        "falling": scale * 10.0 ** -np.arange(-150.0, 31.0, 12.0),
        "alternating": scale * 1e150 * np.array([1.0, -1.0] * 6),
        "alternating far and near": scale * np.array([1e150, 0.0, -1e150, 1.0, 1e150, 1e-150, 1e75, -1e75]),
        "far away": np.full(20, scale * 1e150),
        "far, then near": np.r_[np.full(6, scale * 1e150), np.full(6, scale)],
        "a sudden outlier": np.r_[scale * rng.normal(size=8), scale * 1e150, scale * rng.normal(size=8)],
        "moderate outliers": scale * np.array([0.0, 40.0, -40.0, 0.1, 1e4, 1e4, -1e8, 0.0, 1e16, 1e16]),
        "one": np.array([scale * 1e150]),
        "none": np.zeros(0),
    }


def for_family(family: Any, y: np.ndarray) -> np.ndarray:
    if isinstance(family, vl.Exponential):
        return np.abs(y)
    if hasattr(family, "mu_0") and isinstance(family.mu_0, np.ndarray):
        return np.stack([y, -0.5 * np.roll(y, 1)], axis=-1)
    return y


def assert_finite(trace: vl.Trace, y: np.ndarray, what: str = "") -> None:
    """No readout is NaN, and none is infinite unless its true value is beyond 1e308 or infinite by theory."""
    for name in trace.readouts:
        values = np.asarray(getattr(trace, name))
        assert not np.any(np.isnan(values)), f"{what}: {name} is NaN first at {np.argwhere(np.isnan(values))[0].tolist()}"
        bad = np.isinf(values) & np.logical_not(may_be_infinite(trace.learner, name, y))
        assert not np.any(bad), f"{what}: {name} is infinite first at {np.argwhere(bad)[0].tolist()}"
    if "variance" in trace.readouts:
        assert np.all(trace.variance >= 0.0), f"{what}: negative variance"
        assert np.all((trace.adaptation_rate >= 0.0) & (trace.adaptation_rate <= 1.0)), f"{what}: gamma outside [0, 1]"


def may_be_infinite(learner: Any, name: str, y: np.ndarray) -> Any:
    """Whether the true value may be infinite, for each element of theta.

    Means go with y and their variances with y^2; unknown variances with y^2 and their own variances with y^4.
    """
    if name == "bayes_factor_surprise":
        return True
    if name not in ("mean", "variance"):
        return False
    power = 2.0 * np.log10(16.0 * np.max(np.abs(np.asarray(y, dtype=float)), initial=1e-300)) * (1 if name == "mean" else 2)
    if "Unknown" not in type(learner.family).__name__:
        return name == "variance" and power / 2.0 > 308.0
    locations = np.size(learner.family.mu_0)
    unknown = np.full(learner.family.size(), power > 308.0)
    unknown[:locations] = name == "variance" and power / 2.0 > 308.0
    return unknown


# --- finite in, finite out ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sigma", SIGMAS)
@pytest.mark.parametrize("name", REAL_FAMILIES)
def test_extreme_real_observations(name: str, sigma: float) -> None:
    problems = []
    family = REAL_FAMILIES[name](sigma)
    for p_c in P_C:
        for learner in learners(family, p_c):
            for what, y in sequences(sigma).items():
                y = for_family(family, y)
                if isinstance(family, vl.Exponential) and isinstance(learner, (vl.SMiLe, vl.Leaky)):
                    y = y[y > 1e-299]  # where the scaled likelihood is proper, and the estimate 1 / (mean of y) finite
                label = f"{type(learner).__name__}(p_c={p_c:g}), {what}"
                try:
                    assert_finite(vl.run(learner, y, seed=1), y, label)
                except AssertionError as error:
                    problems.append(str(error).splitlines()[0])
    assert not problems, f"{len(problems)} problems:\n" + "\n".join(problems)


@pytest.mark.parametrize("sigma", SIGMAS)
@pytest.mark.parametrize("name", REAL_FAMILIES)
def test_the_first_adaptation_rate_is_the_prior_probability_of_a_change(name: str, sigma: float) -> None:
    """However far the observation: a belief that is the prior has the prior's predictive, to the last bit. Not so SMiLe."""
    family = REAL_FAMILIES[name](sigma)
    for p_c in P_C:
        for learner in learners(family, p_c):
            if isinstance(learner, (vl.SMiLe, vl.Leaky)):
                continue
            for far in (0.0, 0.3, 6.0, 40.0, 1e5, 1e8, 1e12, 1e140):
                y = for_family(family, np.array([sigma * far]))
                trace = vl.run(learner, y, seed=1)
                expected = learner.p_c if hasattr(learner, "p_c") else learner.m / (1.0 + learner.m)
                assert trace.adaptation_rate[0] == pytest.approx(expected, rel=1e-14), f"{type(learner).__name__}, {far}"
                assert trace.log_bayes_factor_surprise[0] == pytest.approx(
                    0.0, abs=1e-14 * max(1.0, abs(trace.log_predictive[0]))
                )


@pytest.mark.parametrize("s", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("name", COUNT_FAMILIES)
def test_extreme_counts(name: str, s: float) -> None:
    family = COUNT_FAMILIES[name](s)
    rng = np.random.default_rng(5)
    top = {"Categorical": 3, "Bernoulli": 1, "Poisson": 2**53 - 1}[name]
    ys = {
        "zeros": np.zeros(30, dtype=int),
        "tops": np.full(30, top),
        "alternating": np.array([0, top] * 10),
        "a change": np.r_[np.zeros(15, dtype=int), np.full(15, top)],
        "ordinary": rng.integers(0, min(top, 5) + 1, 20),
        "one": np.array([top]),
        "none": np.zeros(0, dtype=int),
    }
    if name == "Poisson":
        ys["growing"] = 10 ** np.arange(16)
    problems = []
    for p_c in P_C:
        for learner in learners(family, p_c):
            for what, y in ys.items():
                try:
                    assert_finite(vl.run(learner, y, seed=1), y, f"{type(learner).__name__}(p_c={p_c:g}), {what}")
                except AssertionError as error:
                    problems.append(str(error).splitlines()[0])
    assert not problems, f"{len(problems)} problems:\n" + "\n".join(problems)


@pytest.mark.parametrize("name", ["Gaussian", "GaussianUnknownVariance", "Poisson"])
def test_divergences_are_finite(name: str) -> None:
    """Bayesian and confidence-corrected surprise of one belief and of mixtures, moderate extremes: no NaN, never negative."""
    for p_c in (1e-12, 0.5):
        if name in COUNT_FAMILIES:
            family, y = (
                COUNT_FAMILIES[name](1.0),
                np.array([0, 1, 1, 0, 0, 0, 1] if name == "Bernoulli" else [0, 5, 100000, 3, 0]),
            )
        else:
            family = REAL_FAMILIES[name](1.0)
            y = for_family(family, np.array([0.1, -0.2, 30.0, 0.3, 1e6, 0.1, -1e6, 1e-9]))
        for learner in (vl.VarSMiLe(family, p_c / (1 - p_c)), vl.Merge(family, p_c, 3)):
            if name == "GaussianUnknownVariance" and getattr(learner, "n", 1) > 1:
                continue
            trace = vl.run(learner, y)
            for measure in ("bayesian_surprise", "confidence_corrected_surprise"):
                if measure == "confidence_corrected_surprise" and not hasattr(family, "scaled_likelihood"):
                    continue
                values = getattr(trace, measure)
                assert np.all(np.isfinite(values)), f"{type(learner).__name__}, p_c={p_c:g}: {measure} = {values}"
                assert np.all(values >= -1e-6), f"{type(learner).__name__}, p_c={p_c:g}: {measure} = {values}"


MILLION = 1_000_000


@pytest.mark.parametrize(
    "learner",
    [
        vl.VarSMiLe(vl.Gaussian(1.0), 0.01),
        vl.Leaky(vl.Gaussian(1.0), 1.0),
        vl.Nas10Star(vl.Gaussian(1.0), 0.01),
        vl.Nas12Star(vl.Gaussian(1.0), 0.01),
        vl.ParticleFilter(vl.Gaussian(1.0), 0.01, 4),
        vl.MessagePassing(vl.Gaussian(1.0), 0.01, 4),
        vl.StratifiedResampling(vl.Gaussian(1.0), 0.01, 4),
        vl.Merge(vl.Gaussian(1.0), 0.01, 3),
        vl.VarSMiLe(vl.Categorical(4), 0.01),
        vl.Merge(vl.Categorical(4), 0.01, 3),
        vl.VarSMiLe(unknown_variance(1.0), 0.01),
        vl.VarSMiLe(vl.Poisson(2.0, 1.0), 0.01),
        vl.VarSMiLe(vl.Exponential(2.0, 1.0), 0.01),
    ],
    ids=lambda learner: f"{type(learner).__name__}-{type(learner.family).__name__}",
)
def test_a_million_identical_observations(learner: Any) -> None:
    whole = isinstance(learner.family, (vl.Categorical, vl.Poisson))
    y = np.full(MILLION, 2 if whole else 0.7)
    trace = vl.run(learner, y)
    assert_finite(trace, y, repr(learner))
    if isinstance(learner, (vl.ParticleFilter, vl.StratifiedResampling)):
        return
    if isinstance(learner, vl.Merge) and isinstance(learner.family, vl.Categorical):
        return  # its merges go in cycles, so its estimate never quite stands still: by 0.7 % of itself here
    settled = np.reshape(trace.mean, (MILLION, -1))[-1000:]
    assert np.all(np.ptp(settled, axis=0) < 1e-3 * np.abs(settled[-1]) + 1e-4)
    if isinstance(learner.family, vl.Gaussian):
        assert 0.34 < settled[-1, 0] < 0.7 + 1e-9  # between what one observation tells and what all of them do


def test_a_million_identical_observations_exactly() -> None:
    """Exact Bayes settles: the same observation is as surprising as the last time.

    The older hypotheses lose weight as exp(-2 p_c sqrt(age)), so p_c = 0.5 keeps 1,400 of them and p_c = 0.01 all of 20,000.
    """
    for p_c, T in ((0.5, MILLION), (0.01, 20_000)):
        trace = vl.run(vl.ExactBayes(vl.Gaussian(1.0), p_c), np.full(T, 0.7))
        assert_finite(trace, np.full(1, 0.7), f"ExactBayes(p_c={p_c})")
        assert 0.34 < trace.mean[-1] < 0.7
        assert np.ptp(trace.mean[-1000:]) < 1e-4
        assert trace.adaptation_rate[-1] == pytest.approx(trace.adaptation_rate[-2], rel=1e-3)


def test_a_strong_belief_is_a_belief() -> None:
    """Priors that outweigh any number of observations: SMiLe's and the divergences' sums of log gamma functions must end.

    In another process, since native code that never ends cannot be interrupted.
    """
    program = textwrap.dedent(
        """
        import numpy as np
        import volatilis as vl
        for s in (1e12, 1e16, 1e20, 1e100):
            for family in (vl.Categorical(3, s), vl.Poisson(s, s)):
                trace = vl.run(vl.SMiLe(family, 0.1), [1, 1, 0, 1])
                for name in trace.readouts:
                    assert np.all(np.isfinite(getattr(trace, name))), (s, family, name, getattr(trace, name))
            trace = vl.run(vl.VarSMiLe(vl.Poisson(s, s), 0.1), [1, 1, 0, 1])
            for name in ("bayesian_surprise", "confidence_corrected_surprise"):
                assert np.all(np.isfinite(getattr(trace, name))), (s, name, getattr(trace, name))
        """
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr[-800:]


@settings(FUZZ, max_examples=150)
@given(
    log_sigma=st.floats(-6.0, 6.0),
    log_sigma_0=st.floats(-6.0, 6.0),
    mu_0=st.sampled_from([0.0, 1.0, -1e3, 1e6]),
    p_c=st.sampled_from([*P_C, 0.01]),
    ys=st.lists(st.tuples(st.sampled_from([-1.0, 1.0]), st.floats(-300.0, 150.0)), min_size=1, max_size=12),
    repeats=st.integers(1, 3),
)
def test_fuzz_gaussian(log_sigma: float, log_sigma_0: float, mu_0: float, p_c: float, ys: Any, repeats: int) -> None:
    sigma, sigma_0 = 10.0**log_sigma, 10.0**log_sigma_0
    y = np.repeat([sign * 10.0 ** (exponent + log_sigma) for sign, exponent in ys], repeats)
    family = vl.Gaussian(sigma, mu_0, sigma_0)
    for learner in learners(family, p_c):
        assert_finite(vl.run(learner, y, seed=3), y, repr(learner))


@settings(FUZZ, max_examples=100)
@given(
    log_scale=st.floats(-6.0, 6.0),
    p_c=st.sampled_from([*P_C, 0.01]),
    ys=st.lists(st.tuples(st.sampled_from([-1.0, 1.0]), st.floats(-300.0, 150.0)), min_size=1, max_size=8),
    name=st.sampled_from(sorted(REAL_FAMILIES)),
)
def test_fuzz_other_real_families(log_scale: float, p_c: float, ys: Any, name: str) -> None:
    scale = 10.0**log_scale
    family = REAL_FAMILIES[name](scale)
    y = for_family(family, np.array([sign * 10.0 ** (exponent + log_scale) for sign, exponent in ys]))
    for learner in learners(family, p_c):
        if not (isinstance(learner, vl.Leaky) and name == "Exponential" and y.max() < 1e-150):
            assert_finite(vl.run(learner, y, seed=3), y, repr(learner))


def test_infinite_moments_are_infinite_and_not_nan() -> None:
    """The variance has no mean up to alpha = 1, no variance up to alpha = 2."""
    trace = vl.run(vl.VarSMiLe(vl.GaussianUnknownVariance(0.0, 1.0, 0.25, 1.0), 1e-9), [0.3, 0.1, 0.2, 0.1, 0.3])
    alpha = 0.25 + 0.5 * np.arange(1, 6)
    assert np.array_equal(np.isinf(trace.mean[:, 1]), alpha <= 1.0)
    assert np.array_equal(np.isinf(trace.variance[:, 1]), alpha <= 2.0)
    assert not np.any(np.isnan(trace.mean) | np.isnan(trace.variance))
    mixture = vl.run(vl.ExactBayes(vl.GaussianUnknownVariance(0.0, 1.0, 0.25, 1.0), 0.1), [0.3, 0.1, 0.2, 0.1, 0.3])
    assert not np.any(np.isnan(mixture.mean) | np.isnan(mixture.variance))


FAR_FROM_A_NARROW_PRIOR = [
    *(4790.424775142362, 8988.000792832929, -9538.520347175132, 4098.64372461058, 289223.18748748867),
    *(-3190.3017672798046, 14169.702306225163, -8492.142488674424, 13060.27231026127),
]


@pytest.mark.parametrize("n", [1, 2, 7, 20])
def test_the_one_hypothesis_that_expected_y_has_hardly_any_weight(n: int) -> None:
    """A weight of 1e-297 times 1 - p_c = 3e-12 underflows; the evidence as its own unit does not."""
    family, p_c = vl.Gaussian(5.640489431638732, 0.0, 0.01592795646414034), 0.9999999999971244
    y = np.array(FAR_FROM_A_NARROW_PRIOR)
    exact = vl.run(vl.ExactBayes(family, p_c, cutoff=0.0), y)
    for learner in (
        vl.MessagePassing(family, p_c, n),
        vl.StratifiedResampling(family, p_c, n),
        vl.Merge(family, p_c, n),
        vl.ParticleFilter(family, p_c, n),
        vl.ExactBayes(family, p_c),
    ):
        trace = vl.run(learner, y)
        assert_finite(trace, y, repr(learner))
        if n >= y.size and not isinstance(learner, (vl.ParticleFilter, vl.ExactBayes)):
            assert np.allclose(trace.mean, exact.mean, rtol=1e-9)
            assert np.allclose(trace.log_predictive, exact.log_predictive, rtol=1e-12)
    assert_finite(exact, y)
    assert exact.mean[-1] == pytest.approx(2.4, abs=0.3)  # what the one from the far observation believes


@pytest.mark.parametrize("p_c", [5e-324, 1e-310, 1e-300, 1.0 - 2.0**-53])
def test_change_probabilities_at_the_end_of_what_a_number_can_hold(p_c: float) -> None:
    y = np.array([0.0, 0.1, 50.0, -50.0, 1e6, 0.0, 1e9, 1e9, -1e9, 0.0])
    for learner in (vl.ExactBayes(gaussian(1.0), p_c), vl.MessagePassing(gaussian(1.0), p_c, 3), vl.Merge(gaussian(1.0), p_c, 2)):
        assert_finite(vl.run(learner, y), y, repr(learner))
    assert_finite(vl.run(vl.ParticleFilter(gaussian(1.0), p_c, 4, 0.0), y), y)


@pytest.mark.parametrize("alpha_0", [1.1, 1.5, 2.1])
def test_a_merge_keeps_finite_what_was_finite(alpha_0: float) -> None:
    """Ordinary data: two beliefs that disagree about the precision have a nearest member without a mean of v."""
    family = vl.GaussianUnknownVariance(0.0, 0.1, alpha_0, 1.0)
    wishart_family = vl.MultivariateGaussianUnknownCovariance([0.0, 0.0], 0.1, 2.0 * alpha_0 + 1.0, np.eye(2))
    for made in (family, wishart_family):
        for n in (1, 2, 3):
            for seed in range(3):
                y = vl.ChangingEnvironment(made, 0.1).sample(300, seed=seed).y
                trace = vl.run(vl.Merge(made, 0.1, n), y)
                assert np.isfinite(trace.mean).all(), f"{made!r}, n = {n}"
                locations = np.size(made.mu_0)
                assert np.isfinite(trace.variance[:, :locations]).all()
                if alpha_0 > 2.0:
                    assert np.isfinite(trace.variance).all()


# --- units do not matter -----------------------------------------------------------------------------------------------


def base_sequence() -> np.ndarray:
    return vl.ChangingEnvironment(vl.Gaussian(0.5), 0.05).sample(80, seed=8).y


def gaussian_learners(family: Any) -> list[Any]:
    return list(learners(family, 0.05))


@pytest.mark.parametrize("which", range(12))
def test_scaling_a_gaussian_problem_scales_the_results(which: int) -> None:
    """By powers of two every bit is kept; by others to 1e-9."""
    y = base_sequence()
    plain = gaussian_learners(vl.Gaussian(0.5, 0.25, 1.0))[which]
    if isinstance(plain, (vl.Nas10, vl.Nas12)):
        plain = type(plain)(0.5, 0.05, 0.25, 1.0)
    reference = vl.run(plain, y, seed=4)
    for c, tolerance in ((2.0**40, 0.0), (2.0**-60, 0.0), (3.7, 1e-9), (1e-6, 1e-9)):
        family = vl.Gaussian(0.5 * c, 0.25 * c, c)
        learner = gaussian_learners(family)[which]
        if isinstance(learner, (vl.Nas10, vl.Nas12)):
            learner = type(learner)(0.5 * c, 0.05, 0.25 * c, c)
        trace = vl.run(learner, y * c, seed=4)
        exact = tolerance == 0.0
        assert np.allclose(trace.mean / c, reference.mean, rtol=1e-12 if exact else tolerance, atol=1e-12)
        assert np.allclose(trace.run_length, reference.run_length, rtol=1e-9)
        if not isinstance(learner, vl.Leaky):
            assert np.allclose(trace.variance / c / c, reference.variance, rtol=1e-10 if exact else 1e-8)
            assert np.allclose(trace.adaptation_rate, reference.adaptation_rate, rtol=1e-8, atol=1e-12)
            assert np.allclose(trace.log_predictive + math.log(c), reference.log_predictive, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("which", range(12))
def test_shifting_a_gaussian_problem_shifts_the_results(which: int) -> None:
    """To 1e-9 absolute: a shift of 1000 costs three digits."""
    y = base_sequence()
    plain, moved = (gaussian_learners(vl.Gaussian(0.5, mu, 1.0))[which] for mu in (0.25, 1000.25))
    if isinstance(plain, (vl.Nas10, vl.Nas12)):
        plain, moved = type(plain)(0.5, 0.05, 0.25, 1.0), type(plain)(0.5, 0.05, 1000.25, 1.0)
    a, b = vl.run(plain, y, seed=4), vl.run(moved, y + 1000.0, seed=4)
    assert np.allclose(b.mean - 1000.0, a.mean, rtol=0.0, atol=1e-9)
    if not isinstance(plain, vl.Leaky):
        assert np.allclose(b.variance, a.variance, rtol=1e-8)
        assert np.allclose(b.log_predictive, a.log_predictive, rtol=0.0, atol=1e-8)


def test_reflecting_and_relabelling() -> None:
    y = base_sequence()
    a, b = (vl.run(vl.Merge(vl.Gaussian(0.5), 0.05, 4), sign * y) for sign in (1.0, -1.0))
    assert np.array_equal(a.mean, -b.mean)
    assert np.array_equal(a.log_predictive, b.log_predictive)
    labels = np.random.default_rng(3).integers(0, 3, 60)
    order = np.array([2, 0, 1])
    for learner in (
        vl.ExactBayes(vl.Categorical(3), 0.05),
        vl.VarSMiLe(vl.Categorical(3), 0.1),
        vl.Merge(vl.Categorical(3), 0.05, 3),
    ):
        a, b = vl.run(learner, labels), vl.run(learner, order[labels])
        assert np.allclose(a.mean, b.mean[:, order], rtol=1e-10)
    ones, zeros = (
        vl.run(vl.ExactBayes(vl.Bernoulli(1, 2), 0.1), labels > 0),
        vl.run(vl.ExactBayes(vl.Bernoulli(2, 1), 0.1), labels == 0),
    )
    assert np.allclose(ones.mean, 1.0 - zeros.mean, rtol=1e-12)


# --- constructors ------------------------------------------------------------------------------------------------------

COVARIANCE = [[1.0, 0.2], [0.2, 1.0]]
GOOD: dict[Any, dict[str, Any]] = {
    vl.Gaussian: {"sigma": 1.0, "mu_0": 0.0, "sigma_0": 1.0},
    vl.GaussianUnknownVariance: {"mu_0": 0.0, "kappa_0": 1.0, "alpha_0": 1.0, "beta_0": 1.0},
    vl.Categorical: {"k": 3, "s": 1.0},
    vl.Bernoulli: {"a": 1.0, "b": 1.0},
    vl.Poisson: {"shape": 1.0, "rate": 1.0},
    vl.Exponential: {"shape": 1.0, "rate": 1.0},
    vl.MultivariateGaussian: {"covariance": COVARIANCE, "mu_0": [0.0, 0.0], "covariance_0": COVARIANCE},
    vl.MultivariateGaussianUnknownCovariance: {"mu_0": [0.0, 0.0], "kappa_0": 1.0, "nu_0": 3.0, "psi_0": COVARIANCE},
    vl.ExactBayes: {"family": vl.Gaussian(1.0), "p_c": 0.1, "cutoff": 0.0},
    vl.MessagePassing: {"family": vl.Gaussian(1.0), "p_c": 0.1, "n": 3},
    vl.ParticleFilter: {"family": vl.Gaussian(1.0), "p_c": 0.1, "n": 3, "resample_below": 0.5},
    vl.StratifiedResampling: {"family": vl.Gaussian(1.0), "p_c": 0.1, "n": 3},
    vl.Merge: {"family": vl.Gaussian(1.0), "p_c": 0.1, "n": 3},
    vl.VarSMiLe: {"family": vl.Gaussian(1.0), "m": 0.1},
    vl.SMiLe: {"family": vl.Gaussian(1.0), "m": 0.1},
    vl.Leaky: {"family": vl.Gaussian(1.0), "omega": 0.9},
    vl.Nas10Star: {"family": vl.Gaussian(1.0), "p_c": 0.1},
    vl.Nas12Star: {"family": vl.Gaussian(1.0), "p_c": 0.1},
    vl.Nas10: {"sigma": 1.0, "p_c": 0.1, "mu_0": 0.0, "sigma_0": 10.0},
    vl.Nas12: {"sigma": 1.0, "p_c": 0.1, "mu_0": 0.0, "sigma_0": 10.0},
    vl.ChangingEnvironment: {"family": vl.Gaussian(1.0), "p_c": 0.1},
}
NEVER = [math.nan, math.inf, -math.inf, "1", "", b"1", None, True, False, 1j, [], {}, object(), [1.0], (0.5,), 10**400]
POSITIVE, PROBABILITY, COUNT = [0.0, -1.0, -5e-324], [0.0, 1.0, -0.1, 1.1], [0, -1, 1.0, 2.5, 10**9]
BAD: dict[str, list[Any]] = {
    "sigma": POSITIVE,
    "sigma_0": POSITIVE,
    "kappa_0": POSITIVE,
    "alpha_0": POSITIVE,
    "beta_0": POSITIVE,
    "nu_0": [*POSITIVE, 1.0],
    "s": POSITIVE,
    "a": POSITIVE,
    "b": POSITIVE,
    "shape": POSITIVE,
    "rate": POSITIVE,
    "m": POSITIVE,
    "p_c": PROBABILITY,
    "cutoff": [-0.1, 0.5, 1.0],
    "resample_below": [-0.1, 1.1],
    "omega": [-0.1, 1.1],
    "n": COUNT,
    "k": [*COUNT, 1],
    "family": [1.0, 0, vl.Gaussian, vl.VarSMiLe(vl.Gaussian(1.0), 0.1), (1.0, 0.0, 1.0)],
    "covariance": [
        [[1.0, 2.0], [2.0, 1.0]],  # not positive definite
        [[1.0, 0.0], [0.0, 0.0]],
        [[1.0, 0.5], [0.4, 1.0]],  # not symmetric
        [[1.0]],
        [1.0, 1.0],
        [[1.0, 0.0, 0.0]] * 3,
        [[math.nan, 0.0], [0.0, 1.0]],
        [["a", "b"], ["c", "d"]],
        [[1.0, 0.0], [0.0]],
        1.0,
    ],
    "mu_0": [],
}
BAD["covariance_0"] = BAD["psi_0"] = BAD["covariance"]


def bad_values(cls: Any, name: str) -> list[Any]:
    never = NEVER
    if name == "mu_0" and isinstance(GOOD[cls]["mu_0"], list):
        never = [v for v in NEVER if v not in ([1.0], (0.5,))] + [[0.0, math.nan], [[0.0, 0.0]], ["a", "b"], [0.0, [1.0]]]
    return never + BAD[name]


@pytest.mark.parametrize("cls", GOOD, ids=lambda cls: cls.__name__)
def test_constructors_name_class_field_and_value_and_what_is_accepted(cls: Any) -> None:
    cls(**GOOD[cls])
    problems = []
    for name in GOOD[cls]:
        for value in bad_values(cls, name):
            try:
                made = cls(**GOOD[cls] | {name: value})
            except (ValueError, TypeError) as error:
                message = str(error)
                owner = cls.__name__ if cls not in (vl.Nas10, vl.Nas12) else ""  # their numbers belong to a Gaussian
                for part in (owner, name, "must be" if "covariance" not in name and "psi" not in name else "accepted"):
                    if part not in message and not ("must" in message and part == "accepted"):
                        problems.append(f"{name} = {value!r}: the message lacks {part!r}: {message}")
            except Exception as error:
                problems.append(f"{name} = {value!r}: {type(error).__name__}: {error}")
            else:
                problems.append(f"{name} = {value!r} was accepted: {made!r}")
    assert not problems, "\n".join(problems)


def test_a_message_in_full() -> None:
    with pytest.raises(ValueError, match=r"^Gaussian: sigma = -1 is not accepted; it must be a finite number above 0$"):
        vl.Gaussian(sigma=-1)
    with pytest.raises(TypeError, match=r"Gaussian: mu_0 = 'zero' \(str\) is not accepted; it must be a finite number"):
        vl.Gaussian(1.0, mu_0="zero")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"MultivariateGaussian: covariance .*not positive definite.*smallest eigenvalue -1"):
        vl.MultivariateGaussian([[1.0, 2.0], [2.0, 1.0]], [0.0, 0.0], COVARIANCE)
    for cls in (vl.Nas10Star, vl.Nas12Star):
        with pytest.raises(TypeError, match=r"Categorical.*Merge\(family, p_c, n=1\)"):
            cls(vl.Categorical(3), 0.1)
    with pytest.raises(TypeError, match=r"SMiLe.*GaussianUnknownVariance"):
        vl.SMiLe(unknown_variance(1.0), 0.1)


def test_numbers_of_every_kind_make_the_same_family() -> None:
    """Cast once, at construction: nothing is compiled twice for an int, a NumPy float or a nought-dimensional array."""
    for one in (1, 1.0, np.float32(1.0), np.int64(1), np.array(1.0)):
        family = vl.Gaussian(one, mu_0=one)
        assert family == vl.Gaussian(1.0, 1.0)
        assert type(family.sigma) is float
        assert type(family.mu_0) is float
    assert type(vl.Categorical(np.int32(3)).k) is int


@FUZZ
@given(sigma=st.floats(), mu_0=st.floats(), sigma_0=st.floats())
def test_fuzz_construction(sigma: float, mu_0: float, sigma_0: float) -> None:
    valid = 0.0 < sigma < math.inf and math.isfinite(mu_0) and 0.0 < sigma_0 < math.inf
    if valid:
        assert tuple(vl.Gaussian(sigma, mu_0, sigma_0)) == (sigma, mu_0, sigma_0)
    else:
        with pytest.raises(ValueError, match=r"Gaussian: .* is not accepted; it must be"):
            vl.Gaussian(sigma, mu_0, sigma_0)


@FUZZ
@given(entries=st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3))
def test_fuzz_covariances(entries: list[float]) -> None:
    a, b, c = entries
    covariance = [[a, b], [b, c]]
    definite = a > 0.0 and a * c - b * b > 1e-9
    indefinite = a < -1e-9 or c < -1e-9 or a * c - b * b < -1e-9
    if definite:
        vl.MultivariateGaussian(covariance, [0.0, 0.0], COVARIANCE)
    elif indefinite:
        with pytest.raises(ValueError, match=r"covariance .* positive definite"):
            vl.MultivariateGaussian(covariance, [0.0, 0.0], COVARIANCE)


# --- observations ------------------------------------------------------------------------------------------------------

SCALARS = [vl.Gaussian(1.0), unknown_variance(1.0), vl.Categorical(3), vl.Bernoulli(), vl.Poisson(1, 1), vl.Exponential(1, 1)]
VECTORS = [plane(1.0), wishart(1.0)]
NO_SEQUENCE = [
    "1",
    b"1",
    "abc",
    ["a"],
    [b"a"],
    [1.0, "2"],
    [1j],
    [1.0, None, 1j],
    [[1.0], [1.0, 2.0]],
    [object()],
    3.0,
    {"a": 1},
    {1.0},
]


@pytest.mark.parametrize("family", SCALARS + VECTORS, ids=lambda family: type(family).__name__)
def test_observations_that_are_none(family: Any) -> None:
    ordinary = [1.0, 1.0] if family in VECTORS else 1
    cases: list[Any] = [
        *NO_SEQUENCE,
        [ordinary, math.inf],
        [ordinary, -math.inf],
        [10**400],
        np.array(["2020-01-01"], dtype="M8[D]"),
    ]
    cases += [np.zeros((2, 2, 2)), np.zeros((3, 3))]
    cases += [[1.0, 2.0]] if family in VECTORS else [np.zeros((3, 1))]
    problems = []
    for y in cases:
        for learner in (vl.ExactBayes(family, 0.1), vl.VarSMiLe(family, 0.1)):
            try:
                vl.run(learner, y, missing="skip")
            except (ValueError, TypeError) as error:
                if type(family).__name__ not in str(error):
                    problems.append(f"{repr(y)[:40]}: {error}")
            except Exception as error:
                problems.append(f"{repr(y)[:40]}: {type(error).__name__}: {error}")
            else:
                problems.append(f"{repr(y)[:40]} was accepted")
            break
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(
    ("family", "y", "words"),
    [
        (vl.Categorical(3), [0, 3], "Categorical: observation 1 is 3.*category from 0 to 2"),
        (vl.Categorical(3), [0, -1], "Categorical: observation 1 is -1.*category from 0 to 2"),
        (vl.Categorical(3), [0.5], "Categorical: observation 0 is 0.5.*category from 0 to 2"),
        (vl.Categorical(3), [2**63], "Categorical: observation 0 is .*category from 0 to 2"),
        (vl.Bernoulli(), [1, 0, 2], "Bernoulli: observation 2 is 2.*0 or 1"),
        (vl.Poisson(1, 1), [3, -1], "Poisson: observation 1 is -1.*whole number, 0 or more"),
        (vl.Poisson(1, 1), [3, 1.5], "Poisson: observation 1 is 1.5.*whole number, 0 or more"),
        (vl.Exponential(1, 1), [0.0, -1e-300], "Exponential: observation 1 is -1e-300.*0 or more"),
        (vl.Gaussian(1.0), [0.0, math.inf], "Gaussian: observation 1 is inf.*finite number"),
        (vl.Gaussian(1.0), np.zeros((4, 2)), r"Gaussian: observations have shape \(4, 2\).*\(T,\)"),
        (vl.Gaussian(1.0), ["a"], "Gaussian: observations have dtype .*numbers are accepted"),
        (plane(1.0), np.zeros((4, 3)), r"MultivariateGaussian: observations have shape \(4, 3\).*\(T, 2\)"),
        (plane(1.0), [[0.0, 1.0], [0.0, math.inf]], "MultivariateGaussian: observation 1 is .*finite"),
    ],
)
def test_messages_about_observations(family: Any, y: Any, words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=words):
        vl.run(vl.VarSMiLe(family, 0.1), y)


@FUZZ
@given(
    y=st.lists(st.one_of(st.integers(-3, 6), st.floats(), st.sampled_from([None, "x", True])), max_size=6), k=st.integers(2, 5)
)
def test_fuzz_categories(y: list[Any], k: int) -> None:
    """Accepted are whole numbers from 0 to k - 1, missing ones aside; everything else is an error that says so."""
    numbers = [v for v in y if not (v is None or (isinstance(v, float) and math.isnan(v)))]
    valid = all(not isinstance(v, str) and float(v) == int(v) and 0 <= v < k for v in numbers if v not in (math.inf, -math.inf))
    valid = valid and not any(isinstance(v, float) and math.isinf(v) for v in numbers)
    learner = vl.VarSMiLe(vl.Categorical(k), 0.1)
    if valid:
        trace = vl.run(learner, y, missing="skip")
        assert np.count_nonzero(~np.isnan(trace.observations)) == len(numbers)
    else:
        with pytest.raises((ValueError, TypeError), match="Categorical"):
            vl.run(learner, y, missing="skip")
