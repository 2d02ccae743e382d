"""Bayesian and confidence-corrected surprise: divergences between whole beliefs, against closed forms and quadrature."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.integrate import trapezoid
from scipy.special import logsumexp

import volatilis as vl
from tests.helpers.settings import (
    COVARIANCE,
    FAMILIES,
    P_C,
    PROPER,
    SETTINGS,
    divergence,
    every_line,
    observations,
)
from tests.oracles import conjugate, integrals
from tests.oracles import learners as naive
from tests.oracles.conjugate import Vector
from tests.oracles.enumeration import enumerate_histories

MEASURES = ["bayesian_surprise", "confidence_corrected_surprise"]


def scaled_likelihood(name: str, y: Any) -> Any:
    """The parameters of the likelihood of one observation as a density of theta."""
    return (y, np.array(COVARIANCE)) if name == "multivariate" else naive.scaled_likelihood(SETTINGS[name].oracle, y)


# One belief: closed forms


def varsmile_beliefs(name: str, m: float, ys: Sequence[Any]) -> list[Any]:
    """The parameters of VarSMiLe's beliefs, the prior first: each step scales the weights of the past by 1 - gamma."""
    oracle = SETTINGS[name].oracle
    beliefs, weights = [oracle.posterior([])], []
    for t, step in enumerate(naive.var_smile_by_weights(oracle, m, ys), start=1):
        weights = [(1 - step.gamma) * w for w in weights] + [1.0]
        beliefs.append(oracle.posterior(ys[:t], weights))
    return beliefs


def as_python_or_compiled(names: Sequence[str], compiled: Sequence[str]) -> Any:
    """Every family as plain Python; some also compiled, which takes time."""
    cases = [pytest.param(name, False, id=f"{name}-python") for name in names]
    return pytest.mark.parametrize(("name", "native"), [*cases, *(pytest.param(n, True, id=f"{n}-compiled") for n in compiled)])


def surprise_of(learner: Any, ys: Sequence[Any], measure: str, native: bool) -> Vector:
    if native:
        return getattr(vl.run(learner, ys), measure)
    with vl.plain_python():
        return getattr(vl.run(learner, ys), measure)


@as_python_or_compiled(FAMILIES, ["gaussian", "categorical"])
def test_bayesian_surprise_of_one_belief(name: str, native: bool) -> None:
    """KL[pi^(t) || pi^(t+1)] in closed form, for VarSMiLe."""
    ys, oracle, m = observations(name, 8), SETTINGS[name].oracle, 0.2
    beliefs = varsmile_beliefs(name, m, ys)
    expected = [divergence(oracle, beliefs[t], beliefs[t + 1]) for t in range(len(ys))]
    found = surprise_of(vl.VarSMiLe(SETTINGS[name].family, m), ys, "bayesian_surprise", native)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@as_python_or_compiled(PROPER, ["gaussian"])
def test_confidence_corrected_surprise_of_one_belief(name: str, native: bool) -> None:
    """KL[pi^(t) || scaled likelihood of y_t+1] in closed form, for VarSMiLe."""
    ys, oracle, m = observations(name, 8), SETTINGS[name].oracle, 0.2
    beliefs = varsmile_beliefs(name, m, ys)
    expected = [divergence(oracle, beliefs[t], scaled_likelihood(name, y)) for t, y in enumerate(ys)]
    found = surprise_of(vl.VarSMiLe(SETTINGS[name].family, m), ys, "confidence_corrected_surprise", native)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "learner",
    [
        vl.Nas12Star(vl.Gaussian(0.5, 0.3, 2.0), P_C),
        vl.Nas10Star(vl.Gaussian(0.5, 0.3, 2.0), P_C),
        vl.SMiLe(vl.Gaussian(0.5, 0.3, 2.0), 0.2),
        vl.Merge(vl.Gaussian(0.5, 0.3, 2.0), P_C, n=1),
        vl.MessagePassing(vl.Gaussian(0.5, 0.3, 2.0), P_C, n=1),
        vl.StratifiedResampling(vl.Gaussian(0.5, 0.3, 2.0), P_C, n=1),
        vl.ParticleFilter(vl.Gaussian(0.5, 0.3, 2.0), P_C, n=1),
        vl.Nas12(0.5, P_C),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_surprises_of_every_learner_with_one_gaussian(learner: Any) -> None:
    """From the means and variances before and after, which other tests check."""
    ys, family = observations("gaussian", 12), learner.family
    with vl.plain_python():
        trace = vl.run(learner, ys, seed=1)
        bayesian, corrected = trace.bayesian_surprise, trace.confidence_corrected_surprise
    before = [(family.mu_0, family.sigma_0**2), *zip(trace.mean, trace.variance, strict=True)]
    assert_allclose(bayesian, [naive.kl_normal(before[t], before[t + 1]) for t in range(12)], rtol=1e-9, atol=1e-12)
    assert_allclose(corrected, [naive.kl_normal(before[t], (y, 0.25)) for t, y in enumerate(ys)], rtol=1e-9)


@pytest.mark.parametrize("name", ["categorical", "unknown-variance", "unknown-covariance"])
def test_merge_with_one_hypothesis_has_surprises_in_every_family(name: str) -> None:
    """Its belief is one member of the family, so its divergence is that family's: here from the members themselves."""
    family, ys = SETTINGS[name].family, observations(name, 8)
    learner = vl.Merge(family, P_C, n=1)
    with vl.plain_python():
        found = vl.run(learner, ys).bayesian_surprise
        state, before, values = learner.init(), learner.init(), family.observations(ys)[0]
        for t, y in enumerate(values):
            before.copy_from(state)
            learner.update(state, y)
            expected = family.divergence(before.beliefs, 0, state.beliefs, 0)
            assert_allclose(found[t], expected, rtol=1e-12)
    assert np.all(found > 0)


# Mixtures over one parameter: quadrature to 1e-6


# A grid of an unbounded coordinate: the mean itself, log lambda, logit p. Beyond it lies less than 1e-12 of every belief here.
GRID = {"gaussian": np.linspace(-14.0, 14.0, 14_001), "bernoulli": np.linspace(-35.0, 35.0, 7_001)}
GRID |= dict.fromkeys(("poisson", "exponential"), np.linspace(-34.0, 6.0, 8_001)) | {"vonmises": np.linspace(0.0, 360.0, 4_001)}


def theta_on_the_grid(name: str) -> tuple[Vector, Vector]:
    """theta and log |d theta / dx|."""
    x = GRID[name]
    if name in ("gaussian", "vonmises"):
        return x, np.zeros_like(x)
    if name == "bernoulli":
        return 1 / (1 + np.exp(-x)), -np.logaddexp(0, x) - np.logaddexp(0, -x)
    return np.exp(x), x


def log_density(name: str, parameters: Any) -> Vector:
    """Of one member of the family, on the grid."""
    theta, log_jacobian = theta_on_the_grid(name)
    if name == "gaussian":
        return stats.norm.logpdf(theta, parameters[0], math.sqrt(parameters[1]))
    if name == "vonmises":
        return np.array([SETTINGS[name].oracle.log_belief_density_given(parameters, x) for x in theta])
    if name == "bernoulli":
        return stats.beta.logpdf(theta, *parameters) + log_jacobian
    return stats.gamma.logpdf(theta, parameters[0], scale=1 / parameters[1]) + log_jacobian


def exact_log_density(name: str, length: int) -> Vector:
    """Of the exact mixture after so many observations, on the grid: by brute force over all histories."""
    oracle, ys = SETTINGS[name].oracle, observations(name)[:length]
    weights = enumerate_histories(oracle, P_C, ys)[-1].run_lengths if length else np.ones(1)
    runs = range(1, length + 1) if length else [0]
    parts = [math.log(w) + log_density(name, oracle.posterior(ys[length - r :])) for r, w in zip(runs, weights, strict=True)]
    return logsumexp(parts, axis=0)


def shown_log_density(name: str, belief: vl.Belief) -> Vector:
    """Of the mixture that a stream shows, on the grid."""
    theta, log_jacobian = theta_on_the_grid(name)
    return np.log(np.maximum(belief.pdf(theta), 1e-300)) + log_jacobian


def grid_divergence(name: str, log_p: Vector, log_q: Vector) -> float:
    """KL[p || q] by the trapezoidal rule, whose error falls exponentially for densities that are smooth on the whole line.

    Twice the step changes it by less than 1e-8, and p integrates to one.
    """
    x, p = GRID[name], np.exp(log_p)
    assert trapezoid(p, x) == pytest.approx(1.0, abs=1e-9)
    value = float(trapezoid(p * (log_p - log_q), x))
    assert float(trapezoid((p * (log_p - log_q))[::2], x[::2])) == pytest.approx(value, abs=1e-8)
    return value


@every_line
def test_surprises_of_the_exact_mixture(name: str) -> None:
    """Against brute force and quadrature, to 1e-6 nats."""
    ys = observations(name)
    trace = vl.run(vl.ExactBayes(SETTINGS[name].family, P_C, cutoff=0.0), ys)
    densities = [exact_log_density(name, t) for t in range(len(ys) + 1)]
    for t, y in enumerate(ys):
        bayesian = grid_divergence(name, densities[t], densities[t + 1])
        corrected = grid_divergence(name, densities[t], log_density(name, scaled_likelihood(name, y)))
        assert abs(trace.bayesian_surprise[t] - bayesian) < 1e-6
        assert abs(trace.confidence_corrected_surprise[t] - corrected) < 1e-6


@pytest.mark.parametrize(
    ("name", "make"),
    [
        pytest.param("gaussian", lambda f: vl.Merge(f, P_C, n=3), id="merge-gaussian"),
        pytest.param("gaussian", lambda f: vl.ParticleFilter(f, P_C, n=5), id="particle-filter-gaussian"),
        pytest.param("bernoulli", lambda f: vl.Merge(f, P_C, n=2), id="merge-bernoulli"),
        pytest.param("vonmises", lambda f: vl.Merge(f, P_C, n=3), id="merge-vonmises"),
    ],
)
def test_surprises_of_bounded_mixtures(name: str, make: Any) -> None:
    """Against quadrature of the densities that a stream shows before and after each observation, to 1e-6 nats."""
    learner, ys = make(SETTINGS[name].family), observations(name)
    trace = vl.run(learner, ys, seed=4)
    with vl.plain_python():
        stream = vl.Stream(learner, seed=4)
        densities = [shown_log_density(name, stream.belief)]
        for y in ys:
            stream.update(y)
            densities.append(shown_log_density(name, stream.belief))
        assert stream.belief.weights.size > 1
    for t, y in enumerate(ys):
        bayesian = grid_divergence(name, densities[t], densities[t + 1])
        corrected = grid_divergence(name, densities[t], log_density(name, scaled_likelihood(name, y)))
        assert abs(trace.bayesian_surprise[t] - bayesian) < 1e-6
        assert abs(trace.confidence_corrected_surprise[t] - corrected) < 1e-6


@pytest.mark.parametrize("sigma", [1e-3, 0.1])
def test_surprises_of_narrow_mixtures(sigma: float) -> None:
    """At low noise the mixture is sharp peaks far apart. Against quadrature with break points around every peak.

    Divergences of 1e5: to 1e-6 nats or, there, 1e-9 of the value.
    """
    family, oracle = vl.Gaussian(sigma, 0.3, 2.0), conjugate.Gaussian(sigma, 0.3, 2.0)
    ys = [0.1, 0.1 + sigma, 1.9, 1.9 - sigma, 0.1]
    trace = vl.run(vl.ExactBayes(family, 0.01, cutoff=0.0), ys)
    posteriors = enumerate_histories(oracle, 0.01, ys)
    for t in range(1, len(ys)):
        sides = []
        for length in (t, t + 1):
            weights = posteriors[length - 1].run_lengths
            parts = [oracle.posterior(ys[length - r : length]) for r in range(1, length + 1)]
            sides.append([(math.log(w), part) for w, part in zip(weights, parts, strict=True) if w > 0])

        def log_normals(x: float, side: list[Any]) -> float:
            logs = [w - (x - m) ** 2 / (2 * v) - math.log(2 * math.pi * v) / 2 for w, (m, v) in side]
            return max(logs) + math.log(math.fsum(math.exp(value - max(logs)) for value in logs))

        points = [m + k * math.sqrt(v) for side in sides for _, (m, v) in side for k in (-9, -5, -2, 0, 2, 5, 9)]
        expected = integrals.kl_divergence(
            lambda x, side=sides[0]: log_normals(x, side),  # type: ignore[misc]
            lambda x, side=sides[1]: log_normals(x, side),  # type: ignore[misc]
            min(points),
            max(points),
            points,
        )
        assert_allclose(trace.bayesian_surprise[t], expected, rtol=1e-9, atol=1e-6)


EXTREME = """
import volatilis as vl
for y in (1e4, 1e8, 1e150):
    trace = vl.run(vl.ExactBayes(vl.Gaussian(1.0), 0.1), [0.0, 0.3, y])
    print(y, trace.bayesian_surprise[2], trace.confidence_corrected_surprise[2])
"""


def test_surprises_of_extreme_observations() -> None:
    """In another process, so that an integral that does not end is a failure and not a hang.

    Afterwards the belief is N(y/2, 1/2), the scaled likelihood is N(y, 1): the divergences from a belief of order 1 about 0 are
    y^2 / 4 and y^2 / 2 but for terms of order y.
    """
    done = subprocess.run([sys.executable, "-c", EXTREME], capture_output=True, text=True, timeout=60, check=True)
    found = np.array([[float(word) for word in line.split()] for line in done.stdout.splitlines()])
    assert_array_equal(found[:, 0], [1e4, 1e8, 1e150])
    for y, bayesian, corrected in found:
        assert_allclose([bayesian / y / y, corrected / y / y], [0.25, 0.5], rtol=10 / y + 1e-9)


def test_surprises_beyond_the_room_that_a_state_starts_with() -> None:
    """70 observations leave 70 hypotheses; the state grows on the way, and what came before stays as it was."""
    family, ys = SETTINGS["gaussian"].family, observations("gaussian", 70)
    whole = vl.run(vl.ExactBayes(family, P_C, cutoff=0.0), ys)
    part = vl.run(vl.ExactBayes(family, P_C, cutoff=0.0), ys[:40])
    for measure in MEASURES:
        assert_array_equal(getattr(whole, measure)[:40], getattr(part, measure))
        assert np.all(getattr(whole, measure) > -1e-9)
        assert np.all(np.isfinite(getattr(whole, measure)))


# Blocks and missing observations


@pytest.mark.parametrize(
    "learner", [vl.VarSMiLe(vl.Gaussian(0.5), 0.2), vl.ExactBayes(vl.Gaussian(0.5), P_C)], ids=["one", "mixture"]
)
def test_surprises_at_resets_and_gaps(learner: Any) -> None:
    """A block begins at the prior, so it is as if it were alone; a missing observation surprises nobody."""
    ys = [0.1, 0.4, 1.9, math.nan, 2.1, -0.3]
    trace, alone = vl.run(learner, ys, reset=[2], missing="skip"), vl.run(learner, [1.9, 2.1, -0.3])
    for measure in MEASURES:
        found = getattr(trace, measure)
        assert np.isnan(found[3])
        assert_allclose(found[[2, 4, 5]], getattr(alone, measure), rtol=1e-12)
        assert_allclose(found[:2], getattr(vl.run(learner, ys[:2]), measure), rtol=1e-12)


# Refusals


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("name", ["categorical", "multivariate"])
@pytest.mark.parametrize("make", [lambda f: vl.ExactBayes(f, P_C), lambda f: vl.Merge(f, P_C, n=4)], ids=["ExactBayes", "Merge"])
def test_mixtures_over_several_parameters_are_refused(name: str, make: Any, measure: str) -> None:
    learner = make(SETTINGS[name].family)
    with vl.plain_python():
        trace = vl.run(learner, observations(name)[:3])
    with pytest.raises(TypeError, match=rf"{type(learner).__name__} with {type(learner.family).__name__}.*not approximated"):
        getattr(trace, measure)


@pytest.mark.parametrize("name", ["unknown-variance", "unknown-covariance"])
def test_improper_likelihoods_have_no_confidence_corrected_surprise(name: str) -> None:
    family = SETTINGS[name].family
    with vl.plain_python():
        trace = vl.run(vl.VarSMiLe(family, 0.2), observations(name)[:3])
    with pytest.raises(TypeError, match=rf"{type(family).__name__} has no confidence-corrected surprise.*no finite integral"):
        _ = trace.confidence_corrected_surprise


def test_a_waiting_time_of_zero_has_no_confidence_corrected_surprise() -> None:
    with vl.plain_python():
        trace = vl.run(vl.VarSMiLe(vl.Exponential(2.2, 1.1), 0.2), [0.3, 0.0, 0.1])
    with pytest.raises(ValueError, match="observation 1 is 0"):
        _ = trace.confidence_corrected_surprise
    assert np.all(np.isfinite(trace.shannon_surprise))


@pytest.mark.parametrize("measure", MEASURES)
def test_leaky_has_no_divergences(measure: str) -> None:
    with vl.plain_python():
        trace = vl.run(vl.Leaky(vl.Gaussian(1.0), 0.8), [0.1, 0.2])
    with pytest.raises((TypeError, AttributeError), match=r"Leaky.*no belief"):
        getattr(trace, measure)
