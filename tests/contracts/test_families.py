"""What every family promises: proper predictives, conjugate updates, divergences, merging, blending, sampling.

Families are called as plain Python here: the same definitions that learners compile.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate, linalg, stats
from scipy.special import gammaln, logsumexp, psi

import volatilis as vl
from tests.helpers.settings import (
    COVARIANCE,
    FAMILIES,
    P_C,
    PRIOR_COVARIANCE,
    PROPER,
    SETTINGS,
    SUPPORTS,
    bank,
    divergence,
    encoded,
    every_family,
    every_line,
    every_proper,
    log_belief,
    means,
    observations,
    square,
    variances,
)
from tests.oracles import integrals
from tests.oracles import learners as naive
from tests.oracles.conjugate import Parameters, Vector
from tests.oracles.enumeration import enumerate_histories
from volatilis.families import Beliefs, prior_beliefs
from volatilis.learners._hypotheses import hypotheses

WEIGHTS = [(0.5, 0.5), (0.9, 0.1), (1e-3, 1 - 1e-3), (1 - 1e-9, 1e-9)]
weights_of_a_pair = pytest.mark.parametrize("weights", WEIGHTS, ids=lambda w: f"{w[0]:.3g}")


def pasts(name: str) -> list[list[Any]]:
    """Lists of observations that lead to quite different beliefs; the first is empty, the prior."""
    ys = observations(name, 20)
    return [[], ys[:1], ys[1:4], ys[4:12], ys]


PAIRS = [(1, 3), (3, 1), (0, 4), (2, 4)]
every_pair = pytest.mark.parametrize("pair", PAIRS, ids=lambda p: f"{p[0]}-{p[1]}")


def around(oracle: Any, *beliefs: Parameters) -> list[float]:
    """Where the mass of these beliefs about one parameter is."""
    points = []
    for belief in beliefs:
        mean, deviation = float(oracle.mean_given(belief)[0]), math.sqrt(oracle.variance_given(belief)[0])
        points += [mean + step * deviation for step in (-8, -4, -2, -1, 0, 1, 2, 4, 8, 20)]
    return points


def some_parameters(name: str, count: int = 6) -> list[Any]:
    """Values of theta with density everywhere: a number, or all elements in a row."""
    rng = np.random.default_rng(3)
    draws = [SETTINGS[name].draw_parameter(rng) for _ in range(count)]
    if name == "unknown-covariance":
        return [np.concatenate([mu, covariance[np.triu_indices(2)]]) for mu, covariance in draws]
    return [np.array(theta) if np.ndim(theta) else float(theta) for theta in draws]


# Predictives


@every_family
def test_the_predictive_distribution_function_is_the_integral_of_the_predictive(name: str) -> None:
    """Element by element; on a circle from the antipode of a place that is not the belief's own middle."""
    family, v = SETTINGS[name].family, 0.3
    for past in pasts(name):
        beliefs = bank(family, past)
        somewhere = float(family.mean(beliefs, 0, 0)) + 0.7
        for y in observations(name, 20)[:3]:
            value = encoded(family, y)
            parts = [family.log_predictive_part(beliefs, 0, value, k) for k in range(family.coordinates())]
            assert_allclose(sum(parts), family.log_predictive(beliefs, 0, value), rtol=1e-12, atol=1e-12)
            for k in range(family.coordinates()):
                found = family.predictive_cdf(beliefs, 0, value, k, v, somewhere)
                assert_allclose(found, predicted_below(family, beliefs, value, k, v, somewhere), atol=2e-9)


def predicted_below(family: Any, beliefs: Beliefs, y: Any, k: int, v: float, somewhere: float) -> float:
    """Sums and integrals of the predictive density, by SciPy."""
    if np.asarray(y).dtype.kind == "i":
        shares = [math.exp(family.log_predictive(beliefs, 0, j)) for j in range(int(y) + 1)]
        return sum(shares[:-1]) + v * shares[-1]

    def density(x: float) -> float:
        at = x if np.ndim(y) == 0 else np.array([*y[:k], x, *y[k + 1 :]])
        return math.exp(family.log_predictive_part(beliefs, 0, at, k))

    end = float(np.atleast_1d(y)[k])
    if family.range_ends(np.zeros(2)):
        start = somewhere - 0.5 * family.period
        return integrate.quad(density, start, start + (end - start) % family.period, limit=500, epsabs=1e-12)[0]
    accepted = family.accepted_numbers()
    low = -math.inf if accepted is None else accepted.low
    below, above = (integrate.quad(density, *ends, limit=500, epsabs=1e-12)[0] for ends in ((low, end), (end, math.inf)))
    return below / (below + above)  # encoded numbers may have another unit than the density


@pytest.mark.parametrize("past", [0, 1, 4], ids=["prior", "one", "many"])
@pytest.mark.parametrize(("name", "upper"), [("categorical", 4), ("bernoulli", 2), ("poisson", 400)])
def test_discrete_predictives_sum_to_one(name: str, upper: int, past: int) -> None:
    family, oracle = SETTINGS[name].family, SETTINGS[name].oracle
    beliefs = bank(family, pasts(name)[past])
    if name == "poisson":  # what the sum leaves out: SciPy's tail of the negative binomial
        shape, rate = oracle.posterior(pasts(name)[past])
        assert stats.nbinom.sf(upper - 1, shape, rate / (rate + 1)) < 1e-12
    mass = integrals.total_mass(lambda y: family.log_predictive(beliefs, 0, y), range(upper))
    assert_allclose(mass, 1.0, rtol=0, atol=2e-12)


@pytest.mark.parametrize("past", [0, 1, 4], ids=["prior", "one", "many"])
@pytest.mark.parametrize("name", ["gaussian", "unknown-variance", "exponential", "vonmises"])
def test_continuous_predictives_integrate_to_one(name: str, past: int) -> None:
    """On a circle over any one period."""
    family = SETTINGS[name].family
    beliefs = bank(family, pasts(name)[past])
    lower, upper = {"exponential": (0.0, math.inf), "vonmises": (-500.0, -140.0)}.get(name, (-math.inf, math.inf))
    points = [-30, -10, -3, -1, 0, 0.1, 0.3, 1, 3, 10, 30]
    mass = integrals.total_probability(lambda y: family.log_predictive(beliefs, 0, y), lower, upper, points)
    assert_allclose(mass, 1.0, rtol=0, atol=1e-9)


@pytest.mark.parametrize("past", [0, 1, 4], ids=["prior", "one", "many"])
@pytest.mark.parametrize("name", ["multivariate", "unknown-covariance"])
def test_predictives_of_vectors_integrate_to_one(name: str, past: int) -> None:
    """In polar coordinates that make the density round, so that few directions suffice."""
    family, oracle = SETTINGS[name].family, SETTINGS[name].oracle
    beliefs, parameters = bank(family, pasts(name)[past]), oracle.posterior(pasts(name)[past])
    shape = parameters[1] + np.array(COVARIANCE) if name == "multivariate" else parameters[3] / (parameters[2] - 1)
    root = np.linalg.cholesky(shape)

    def along(angle: float) -> float:
        direction = root @ np.array([math.cos(angle), math.sin(angle)])

        def density(radius: float) -> float:
            y = encoded(family, parameters[0] + radius * direction)
            return radius * math.exp(family.log_predictive(beliefs, 0, y))

        return integrals.integral(density, 0.0, math.inf, [1.0, 3.0, 10.0])

    angles = np.arange(5) * 2 * math.pi / 5
    mass = 2 * math.pi * np.mean([along(angle) for angle in angles]) * np.linalg.det(root)
    assert_allclose(mass, 1.0, rtol=0, atol=1e-9)


@every_family
def test_predictive_mean_and_variance_after_k_observations(name: str) -> None:
    family, oracle = SETTINGS[name].family, SETTINGS[name].oracle
    ys, others = observations(name, 12), observations(name, 4, seed=2)
    for k in range(len(ys)):
        beliefs = bank(family, ys[:k])
        for y in [ys[k], *others]:
            assert_allclose(
                family.log_predictive(beliefs, 0, encoded(family, y)), oracle.log_predictive(ys[:k], y), rtol=1e-10, atol=1e-12
            )
        assert_allclose(means(family, beliefs), oracle.mean(ys[:k]), rtol=1e-10, atol=1e-13)
        assert_allclose(variances(family, beliefs), oracle.variance(ys[:k]), rtol=1e-10)


SURPRISING = {
    "gaussian": [40.0, -1e3],  # beyond what a double can hold as a probability
    "unknown-variance": [40.0, -1e8],
    "categorical": [0, 3],
    "bernoulli": [0, 1],
    "poisson": [60, 5000],
    "exponential": [1e3, 1e9],
    "vonmises": [160.0, 1e6],
    "multivariate": [np.array([40.0, -40.0]), np.array([1e3, 1e3])],
    "unknown-covariance": [np.array([40.0, -40.0]), np.array([1e8, 1e8])],
}


@every_family
@pytest.mark.parametrize("lightest", [0.1, 1e-250])
def test_predictives_of_a_bank_are_those_of_its_columns(name: str, lightest: float) -> None:
    """out[i] = w[i] P(y; pi_i) / e^scale for i < n, and their sum; the columns behind n left alone."""
    family = SETTINGS[name].family
    beliefs = bank(family, *pasts(name))
    n = len(pasts(name)) - 1
    for y in [*observations(name, 4, seed=2), *SURPRISING[name]]:
        code = encoded(family, y)
        w, out = np.array([0.4, 0.3, 0.2, lightest, 7.0]), np.full(n + 1, -5.0)
        logs = np.array([family.log_predictive(beliefs, i, code) for i in range(n)]) + np.log(w[:n])
        with np.errstate(under="ignore"):
            evidence, scale = family.predictives(beliefs, w, n, code, out)
        assert out[n] == -5.0
        assert_allclose(evidence, math.fsum(out[:n]), rtol=1e-15)
        assert_allclose(scale + math.log(out[:n].sum()), logsumexp(logs), rtol=1e-12, atol=1e-12)
        visible = logs > logs.max() - 600  # lighter ones may underflow
        assert_allclose(scale + np.log(out[:n][visible]), logs[visible], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("alpha_0", [0.4, 0.9, 1.6])
def test_moments_that_do_not_exist_are_infinite(alpha_0: float) -> None:
    one = vl.GaussianUnknownVariance(0.2, 0.7, alpha_0, 0.9)
    many = vl.MultivariateGaussianUnknownCovariance([0.2, 0.0], 0.7, 2 * alpha_0 + 1, PRIOR_COVARIANCE)
    for beliefs, family in ((prior_beliefs(one), one), (prior_beliefs(many), many)):
        size = 1 if family is one else 2
        found, spread = means(family, beliefs), variances(family, beliefs)
        assert np.all(np.isfinite(found[:size]))
        assert np.all(np.isinf(found[size:]) == (alpha_0 <= 1))
        assert np.all(np.isinf(spread[:size]) == (alpha_0 <= 1))
        assert np.all(np.isinf(spread[size:]))


# Divergences


@every_family
def test_divergence_has_its_closed_form(name: str) -> None:
    family, oracle = SETTINGS[name].family, SETTINGS[name].oracle
    lists = pasts(name)
    one, other = bank(family, *lists), bank(family, *lists)
    for i, j in itertools.product(range(len(lists)), repeat=2):
        expected = divergence(oracle, oracle.posterior(lists[i]), oracle.posterior(lists[j]))
        for others in (one, other):  # between columns of one bank and of two
            assert_allclose(family.divergence(one, i, others, j), expected, rtol=1e-9, atol=1e-12)


@every_family
def test_divergence_in_parts_is_the_divergence(name: str) -> None:
    """To the last bit, between columns of one bank and of two."""
    family, lists = SETTINGS[name].family, pasts(name)
    one, other = bank(family, *lists), bank(family, *lists)
    for j in range(len(lists)):
        for others in (one, other):
            for i in range(len(lists)):
                (a_i, rest), (a_j, _) = family.divergence_parts(one, i, others, j), family.divergence_parts(others, j, one, i)
                assert a_j - a_i + rest == family.divergence(one, i, others, j)


@pytest.mark.parametrize("name", ["categorical", "bernoulli"])
def test_divergence_has_the_normalizer_of_a_dirichlet(name: str) -> None:
    family, oracle = SETTINGS[name].family, SETTINGS[name].oracle
    for past in pasts(name):
        counts = np.atleast_1d(oracle.posterior(past)[0] if name == "categorical" else oracle.posterior(past))
        expected = gammaln(counts).sum() - gammaln(counts.sum())
        beliefs = bank(family, past)
        assert_allclose(family.divergence_parts(beliefs, 0, beliefs, 0)[0], expected, rtol=1e-13, atol=1e-13)


@every_family
def test_prior_predictive_is_that_of_the_prior(name: str) -> None:
    family = SETTINGS[name].family
    pi_0 = prior_beliefs(family)
    for y in [*observations(name, 6, seed=2), *SURPRISING[name]]:
        code = encoded(family, y)
        assert family.log_prior_predictive(pi_0, code) == family.log_predictive(pi_0, 0, code)


@every_family
def test_whole_is_n_or_fits_the_room(name: str) -> None:
    """Room for hypotheses is a multiple of eight, so a loop to `whole(n)` stays within it."""
    family = SETTINGS[name].family
    for n in range(1, 40):
        assert n <= family.whole(n) <= (n + 7) // 8 * 8 == hypotheses(family, n, 0).weights.size


@every_line
@every_pair
def test_divergence_is_its_integral(name: str, pair: tuple[int, int]) -> None:
    family, oracle = SETTINGS[name].family, SETTINGS[name].oracle
    p, q = (oracle.posterior(pasts(name)[k]) for k in pair)
    numerical = integrals.kl_divergence(
        lambda x: oracle.log_belief_density_given(p, x),
        lambda x: oracle.log_belief_density_given(q, x),
        *SUPPORTS[name],
        around(oracle, p, q),
    )
    beliefs = bank(family, *pasts(name))
    assert_allclose(family.divergence(beliefs, pair[0], beliefs, pair[1]), numerical, rtol=1e-7)


@every_pair
def test_divergence_of_unknown_variance_is_its_double_integral(pair: tuple[int, int]) -> None:
    """Over the mean by a Gauss-Hermite rule (exact: the log ratio is quadratic in mu), over log v by quadrature."""
    family, oracle = SETTINGS["unknown-variance"].family, SETTINGS["unknown-variance"].oracle
    p, q = (oracle.posterior(pasts("unknown-variance")[k]) for k in pair)
    nodes, node_weights = np.polynomial.hermite_e.hermegauss(8)

    def over_the_mean(log_v: float) -> float:
        v = math.exp(log_v)
        mus = p[0] + nodes * math.sqrt(v / p[1])
        ratios = [log_belief(oracle, p, (mu, v)) - log_belief(oracle, q, (mu, v)) for mu in mus]
        density = stats.invgamma.pdf(v, p[2], scale=p[3]) * v
        return float(density * (node_weights @ ratios) / node_weights.sum())

    middle = math.log(p[3] / p[2])
    numerical = integrals.integral(over_the_mean, middle - 12, middle + 20, [middle - 2, middle, middle + 2, middle + 6])
    beliefs = bank(family, *pasts("unknown-variance"))
    assert_allclose(family.divergence(beliefs, pair[0], beliefs, pair[1]), numerical, rtol=1e-7)


@pytest.mark.parametrize("name", ["categorical", "unknown-covariance"])
@every_pair
def test_divergence_is_an_average_over_the_belief(name: str, pair: tuple[int, int]) -> None:
    """4,000 draws by SciPy; the difference is within 5 standard errors, and these are below a quarter of the value."""
    family, oracle = SETTINGS[name].family, SETTINGS[name].oracle
    p, q = (oracle.posterior(pasts(name)[k]) for k in pair)
    draws, rng = 4_000, np.random.default_rng(11)
    if name == "categorical":
        thetas = stats.dirichlet.rvs(p[0], draws, random_state=rng)
        thetas = np.maximum(thetas, 1e-300)
        ratios = np.array([log_belief(oracle, p, x / x.sum()) - log_belief(oracle, q, x / x.sum()) for x in thetas])
    else:
        covariances = stats.invwishart.rvs(p[2], p[3], size=draws, random_state=rng)
        mus = p[0] + np.einsum("nij,nj->ni", np.linalg.cholesky(covariances / p[1]), rng.standard_normal((draws, 2)))
        ratios = np.zeros(draws)
        for sign, (mu, kappa, nu, scale) in ((1, p), (-1, q)):
            solved = np.linalg.solve(covariances, (mus - mu)[..., None])[..., 0]
            quadratic = kappa * np.sum((mus - mu) * solved, axis=1)
            of_mu = -quadratic / 2 + math.log(kappa) - np.linalg.slogdet(covariances)[1] / 2
            ratios += sign * (of_mu + stats.invwishart.logpdf(np.moveaxis(covariances, 0, -1), nu, scale))
    error = ratios.std() / math.sqrt(draws)
    beliefs = bank(family, *pasts(name))
    value = family.divergence(beliefs, pair[0], beliefs, pair[1])
    assert error < 0.25 * value
    assert abs(ratios.mean() - value) < 5 * error


# The scaled likelihood


def log_likelihood(name: str, theta: Any, y: Any) -> float:
    oracle = SETTINGS[name].oracle
    if name == "categorical":
        return math.log(theta[y])
    if name == "multivariate":
        return float(stats.multivariate_normal.logpdf(y, theta, COVARIANCE))
    return oracle.log_likelihood(theta, y)


@every_proper
def test_scaled_likelihood_is_the_likelihood_and_integrates_to_one(name: str) -> None:
    """log density - log likelihood is one constant, and that constant is -log of the likelihood's integral over theta."""
    family, oracle = SETTINGS[name].family, SETTINGS[name].oracle
    for y in observations(name, 4):
        beliefs = prior_beliefs(family)
        family.scaled_likelihood(beliefs, 0, encoded(family, y))
        distribution = family.distribution(beliefs, 0)
        constants = [math.log(distribution.pdf(theta)) - log_likelihood(name, theta, y) for theta in some_parameters(name)]
        if name == "categorical":  # theta_y over the simplex: 1 / k times its volume 1 / (k - 1)!
            constant = math.lgamma(family.k + 1)
        elif name == "multivariate":  # N(y; theta, C) is also N(theta; y, C)
            constant = 0.0
        else:
            scaled = naive.scaled_likelihood(oracle, y)
            mass = integrals.integral(
                lambda x, y=y: math.exp(oracle.log_likelihood(x, y)),  # type: ignore[misc]
                *SUPPORTS[name],
                around(oracle, scaled),
            )
            constant = -math.log(mass)
        assert_allclose(constants, constant, rtol=1e-8, atol=1e-8)
        parameters = (y, np.array(COVARIANCE)) if name == "multivariate" else naive.scaled_likelihood(oracle, y)
        assert_allclose(means(family, beliefs), oracle.mean_given(parameters), rtol=1e-12)
        assert_allclose(variances(family, beliefs), oracle.variance_given(parameters), rtol=1e-12)


def test_improper_scaled_likelihoods_are_named() -> None:
    for name in FAMILIES:
        assert hasattr(SETTINGS[name].family, "scaled_likelihood") == (name in PROPER)
    for name in ("unknown-variance", "unknown-covariance"):
        assert "no finite integral" in SETTINGS[name].family.improper_scaled_likelihood(np.array([1.0]))
    waiting = SETTINGS["exponential"].family
    assert waiting.improper_scaled_likelihood(np.array([0.5, 2.0])) is None
    assert "observation 1 is 0" in waiting.improper_scaled_likelihood(np.array([0.5, 0.0]))


# Merging


def merged(name: str, pair: tuple[int, int], weights: tuple[float, float]) -> Beliefs:
    family = SETTINGS[name].family
    beliefs = bank(family, *(pasts(name)[k] for k in pair))
    family.merge(beliefs, 0, 1, *weights)
    return beliefs


def mixture_moments(name: str, pair: tuple[int, int], weights: Sequence[float]) -> tuple[Vector, Vector]:
    oracle = SETTINGS[name].oracle
    return oracle.mixture_moments(weights, [oracle.posterior(pasts(name)[k]) for k in pair])


@every_line
@every_pair
@weights_of_a_pair
def test_merge_keeps_mean_and_variance(name: str, pair: tuple[int, int], weights: tuple[float, float]) -> None:
    family, beliefs = SETTINGS[name].family, merged(name, pair, weights)
    mean, variance = mixture_moments(name, pair, weights)
    assert_allclose(means(family, beliefs), mean, rtol=1e-11, atol=1e-13)
    assert_allclose(variances(family, beliefs), variance, rtol=1e-11)


@every_pair
@weights_of_a_pair
def test_merge_of_dirichlets_keeps_means_and_total_variance(pair: tuple[int, int], weights: tuple[float, float]) -> None:
    family, beliefs = SETTINGS["categorical"].family, merged("categorical", pair, weights)
    mean, variance = mixture_moments("categorical", pair, weights)
    assert_allclose(means(family, beliefs), mean, rtol=1e-11)
    assert_allclose(variances(family, beliefs).sum(), variance.sum(), rtol=1e-11)
    size = np.sum(mean * (1 - mean)) / variance.sum() - 1  # the sum of the concentrations
    assert_allclose(family.distribution(beliefs, 0).pdf(mean), stats.dirichlet.pdf(mean, size * mean), rtol=1e-9)


@every_pair
@weights_of_a_pair
def test_merge_of_vectors_keeps_mean_and_variance_along_each_axis(pair: tuple[int, int], weights: tuple[float, float]) -> None:
    """The axes in which both covariances are diagonal: generalised eigenvectors, by SciPy."""
    family, oracle = SETTINGS["multivariate"].family, SETTINGS["multivariate"].oracle
    beliefs = merged("multivariate", pair, weights)
    parts = [oracle.posterior(pasts("multivariate")[k]) for k in pair]
    mean = sum(w * m for w, (m, _) in zip(weights, parts, strict=True))
    covariance = sum(w * (c + np.outer(m - mean, m - mean)) for w, (m, c) in zip(weights, parts, strict=True))
    _, axes = linalg.eigh(PRIOR_COVARIANCE, COVARIANCE)
    found = family.distribution(beliefs, 0).cov
    assert_allclose(means(family, beliefs), mean, rtol=1e-10, atol=1e-13)
    assert_allclose(variances(family, beliefs), np.diag(found), rtol=1e-10)
    assert_allclose(np.diag(axes.T @ found @ axes), np.diag(axes.T @ covariance @ axes), rtol=1e-10)


def statistics_of_unknown_covariance(parameters: Parameters) -> Vector:
    """E[W], E[W mu], E[mu' W mu] and E[log det W] for the precision W of a normal-inverse-Wishart belief."""
    mu, kappa, nu, scale = parameters
    d = len(mu)
    w = nu * np.linalg.inv(scale)
    log_det = sum(psi((nu - r) / 2) for r in range(d)) + d * math.log(2) - np.linalg.slogdet(scale)[1]
    return np.array([*w.ravel(), *(w @ mu), d / kappa + mu @ w @ mu, log_det])


def as_unknown_covariance(name: str, parameters: Parameters) -> Parameters:
    if name == "unknown-covariance":
        return parameters
    mu, kappa, alpha, beta = parameters
    return np.array([mu]), kappa, 2 * alpha, np.array([[2 * beta]])


def parameters_from_moments(family: Any, beliefs: Beliefs, d: int) -> Parameters:
    """(mu, kappa, nu, psi) of a normal-inverse-Wishart belief from its moments, with e = nu - d - 1:

    E[S] = psi / e, Var[mu_0] = E[S_00] / kappa, Var[S_00] = 2 E[S_00]^2 / (e - 2).
    """
    mean, variance = means(family, beliefs), variances(family, beliefs)
    assert np.all(np.isfinite(variance))
    e = 2 + 2 * mean[d] ** 2 / variance[d]
    return mean[:d], mean[d] / variance[0], e + d + 1, e * square(mean[d:], d)


@pytest.mark.parametrize("name", ["unknown-variance", "unknown-covariance"])
@every_pair
@weights_of_a_pair
def test_merge_keeps_the_expected_sufficient_statistics(name: str, pair: tuple[int, int], weights: tuple[float, float]) -> None:
    family, oracle, d = SETTINGS[name].family, SETTINGS[name].oracle, 1 if name == "unknown-variance" else 2
    parts = [as_unknown_covariance(name, oracle.posterior(pasts(name)[k])) for k in pair]
    expected = sum(w * statistics_of_unknown_covariance(part) for w, part in zip(weights, parts, strict=True))
    found = statistics_of_unknown_covariance(parameters_from_moments(family, merged(name, pair, weights), d))
    assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@every_family
def test_merging_a_belief_with_itself_changes_nothing(name: str) -> None:
    family, oracle, past = SETTINGS[name].family, SETTINGS[name].oracle, pasts(name)[3]
    beliefs = bank(family, past, past)
    assert family.dissimilarity(beliefs, 0, 1, 0.3, 0.7) == pytest.approx(0.0, abs=1e-12)
    family.merge(beliefs, 0, 1, 0.3, 0.7)
    assert_allclose(means(family, beliefs), oracle.mean(past), rtol=1e-9)
    assert_allclose(variances(family, beliefs), oracle.variance(past), rtol=1e-8)


@every_family
def test_dissimilarity_is_symmetric_and_positive(name: str) -> None:
    family, lists = SETTINGS[name].family, pasts(name)
    beliefs = bank(family, *lists)
    for i, j in itertools.combinations(range(len(lists)), 2):
        apart = family.dissimilarity(beliefs, i, j, 0.3, 0.7)
        assert apart > 0
        assert_allclose(family.dissimilarity(beliefs, j, i, 0.7, 0.3), apart, rtol=1e-12)


# Blending


@every_family
@every_pair
@pytest.mark.parametrize("share", [0.0, 0.35, 1.0])
def test_blend_averages_the_logarithms_of_densities(name: str, pair: tuple[int, int], share: float) -> None:
    """log pi = a log pi_i + b log pi_j + constant, for a + b = 1: the same constant for all theta."""
    family, oracle = SETTINGS[name].family, SETTINGS[name].oracle
    parts = [oracle.posterior(pasts(name)[k]) for k in pair]
    beliefs, others = bank(family, pasts(name)[pair[0]]), bank(family, [], pasts(name)[pair[1]])
    family.blend(beliefs, 0, others, 1, 1 - share, share)
    distribution = family.distribution(beliefs, 0)
    thetas = [theta for theta in some_parameters(name, 12) if distribution.pdf(theta) > 1e-250]
    assert len(thetas) >= 3
    constants = [
        math.log(distribution.pdf(theta))
        - (1 - share) * log_belief(oracle, parts[0], theta)
        - share * log_belief(oracle, parts[1], theta)
        for theta in thetas
    ]
    assert_allclose(constants, constants[0], rtol=1e-8, atol=1e-8)


# Beliefs


def belief_after(name: str, length: int) -> vl.Belief:
    """Of ExactBayes, a mixture with `length` parts."""
    with vl.plain_python():
        stream = vl.Stream(vl.ExactBayes(SETTINGS[name].family, P_C, cutoff=0.0))
        for y in observations(name)[:length]:
            stream.update(y)
        return stream.belief


def mixture_density(name: str, length: int, theta: Any) -> float:
    """By brute force over all histories."""
    oracle, ys = SETTINGS[name].oracle, observations(name)[:length]
    weights = enumerate_histories(oracle, P_C, ys)[-1].run_lengths if length else [1.0]
    runs = range(1, length + 1) if length else [0]
    return sum(
        w * math.exp(log_belief(oracle, oracle.posterior(ys[length - r :]), theta)) for r, w in zip(runs, weights, strict=True)
    )


@every_family
@pytest.mark.parametrize("length", [0, 1, 6])
def test_density_of_a_belief_is_that_of_the_exact_mixture(name: str, length: int) -> None:
    """At one theta, and at many: the last axis goes over the parameters where there are several."""
    belief, thetas = belief_after(name, length), some_parameters(name)
    expected = [mixture_density(name, length, theta) for theta in thetas]
    assert_allclose([float(belief.pdf(theta)) for theta in thetas], expected, rtol=1e-9)
    assert_allclose(belief.pdf(np.array(thetas)), expected, rtol=1e-9)
    shaped = np.array(thetas).reshape(3, 2, *np.shape(thetas[0]))
    assert_allclose(belief.pdf(shaped), np.reshape(expected, (3, 2)), rtol=1e-9)


@every_family
@pytest.mark.parametrize("length", [0, 1, 6])
def test_moments_of_a_belief_are_those_of_the_exact_mixture(name: str, length: int) -> None:
    oracle, ys, belief = SETTINGS[name].oracle, observations(name)[:length], belief_after(name, length)
    mean, variance = oracle.mean([]), oracle.variance([])
    if length:
        mean, variance = enumerate_histories(oracle, P_C, ys)[-1][:2]
    assert np.shape(belief.mean) == (() if mean.size == 1 else mean.shape)
    assert_allclose(np.atleast_1d(belief.mean), mean, rtol=1e-10, atol=1e-13)
    assert_allclose(np.atleast_1d(belief.variance), variance, rtol=1e-10)


@every_line
def test_density_of_a_belief_integrates_to_one(name: str) -> None:
    """In the unbounded coordinate log theta or logit theta, where the density has no poles; on a circle once around."""
    belief = belief_after(name, 6)
    if name == "vonmises":
        assert_allclose(integrals.integral(lambda x: float(belief.pdf(x)), 0.0, 360.0, [90, 180, 270]), 1.0, rtol=0, atol=1e-9)
        return
    transforms = {
        "gaussian": (lambda x: x, lambda x: 1.0),
        "bernoulli": (lambda x: 1 / (1 + math.exp(-x)), lambda x: 1 / (2 + math.exp(x) + math.exp(-x))),
    }
    theta, jacobian = transforms.get(name, (math.exp, math.exp))
    mass = integrals.integral(
        lambda x: float(belief.pdf(theta(x))) * jacobian(x), -40, 40, [-10, -5, -3, -2, -1, 0, 1, 2, 3, 5, 10]
    )
    assert_allclose(mass, 1.0, rtol=0, atol=1e-9)


def test_density_of_a_belief_integrates_to_one_over_mean_and_variance() -> None:
    """Trapezoids over log v and z = (mu - mean) / sqrt(v); the tail beyond them holds less than 1e-9."""
    belief = belief_after("unknown-variance", 6)
    log_v, z = np.meshgrid(np.linspace(-8, 14, 240), np.linspace(-40, 40, 1001), indexing="ij")
    v = np.exp(log_v)
    density = belief.pdf(np.stack([belief.mean[0] + z * np.sqrt(v), v], axis=-1)) * np.sqrt(v) * v
    mass = density.sum() * (22 / 239) * (80 / 1000)
    assert_allclose(mass, 1.0, rtol=0, atol=1e-8)


def test_density_of_a_belief_integrates_to_one_over_two_means() -> None:
    belief = belief_after("multivariate", 6)
    grid = np.stack(np.meshgrid(np.linspace(-15, 15, 601), np.linspace(-15, 15, 601), indexing="ij"), axis=-1)
    assert_allclose(belief.pdf(grid).sum() * 0.05**2, 1.0, rtol=0, atol=1e-9)


class FromZero:
    """A belief about a direction; its distribution function counts from 0."""

    def __init__(self, oracle: Any, parameters: Parameters) -> None:
        self.oracle, self.parameters = oracle, parameters

    def cdf(self, points: Vector) -> Vector:
        def share(x: float) -> float:
            return integrals.total_probability(
                lambda theta: self.oracle.log_belief_density_given(self.parameters, theta), 0.0, x, np.arange(30.0, 360.0, 30.0)
            )

        return np.vectorize(share)(points)


@every_line
@pytest.mark.parametrize("length", [0, 6])
def test_quantiles_invert_the_distribution_function(name: str, length: int) -> None:
    oracle, ys, belief = SETTINGS[name].oracle, observations(name)[:length], belief_after(name, length)
    weights = enumerate_histories(oracle, P_C, ys)[-1].run_lengths if length else [1.0]
    parts = [oracle.posterior(ys[length - r :]) for r in (range(1, length + 1) if length else [0])]
    if name == "gaussian":
        laws: list[Any] = [stats.norm(mean, math.sqrt(variance)) for mean, variance in parts]
    elif name == "vonmises":
        laws = [FromZero(oracle, part) for part in parts]
    else:
        laws = [stats.beta(a, b) if name == "bernoulli" else stats.gamma(a, scale=1 / b) for a, b in parts]
    levels = np.array([[1e-12, 1e-3, 0.05], [0.5, 0.9, 1 - 1e-9]])
    points = belief.quantile(levels)
    assert points.shape == levels.shape
    assert_allclose(sum(w * law.cdf(points) for w, law in zip(weights, laws, strict=True)), levels, rtol=1e-9)
    assert belief.quantile(0.5) == points[1, 0]
    assert (belief.quantile(0.0), belief.quantile(1.0)) == SUPPORTS[name]


def test_quantiles_that_are_refused() -> None:
    with pytest.raises(TypeError, match="one parameter"):
        belief_after("categorical", 2).quantile(0.5)
    with pytest.raises(ValueError, match="from 0 to 1"):
        belief_after("gaussian", 2).quantile([0.2, 1.2])


def assert_directions(draws: Vector, mean: float, variance: float) -> None:
    """Within [0, 360); aside of the mean 0 on average, and twice 1 - cos the variance: within 5 standard errors."""
    assert np.all((draws >= 0.0) & (draws < 360.0))
    angles = np.radians(draws - mean)
    chords = 2 * (1 - np.cos(angles)) * np.degrees(1.0) ** 2
    assert abs(np.mean(np.sin(angles))) < 5 * np.std(np.sin(angles)) / math.sqrt(draws.size)
    assert abs(np.mean(chords) - variance) < 5 * np.std(chords) / math.sqrt(draws.size)


@every_family
@pytest.mark.parametrize("length", [1, 6])
def test_draws_from_a_belief_have_its_moments(name: str, length: int) -> None:
    """The mean of n draws within 5 standard errors, these from the exact variance; where tails are light, the variance too."""
    n = 3_000 if name == "unknown-covariance" else 20_000
    belief = belief_after(name, length)
    draws = belief.sample(n, seed=5).reshape(n, -1)
    mean, variance = np.atleast_1d(belief.mean), np.atleast_1d(belief.variance)
    if name == "vonmises":
        assert_directions(draws[:, 0], mean[0], variance[0])
        return
    assert draws.shape == (n, mean.size)
    assert np.all(np.abs(draws.mean(axis=0) - mean) < 5 * np.sqrt(variance / n))
    if name not in ("unknown-variance", "unknown-covariance"):  # whose fourth moments need not exist
        squares = (draws - mean) ** 2
        assert np.all(np.abs(squares.mean(axis=0) - variance) < 5 * squares.std(axis=0) / math.sqrt(n))
    assert_array_equal(belief.sample(n, seed=5).reshape(n, -1), draws)


# The unconstrained coordinate of one parameter


@every_line
@pytest.mark.parametrize("past", range(5))
def test_density_of_the_coordinate_and_its_bounds(name: str, past: int) -> None:
    """log theta or logit theta by the change of variables; the bounds leave out less than 1e-16 on each side (SciPy's tails)."""
    family, oracle = SETTINGS[name].family, SETTINGS[name].oracle
    beliefs, parameters = bank(family, pasts(name)[past]), oracle.posterior(pasts(name)[past])
    law = family.distribution(beliefs, 0)
    low, high = family.lower(beliefs, 0), family.upper(beliefs, 0)
    for x in np.linspace(low, high, 9):
        if name in ("gaussian", "vonmises"):
            theta, log_jacobian = x, 0.0
        elif name == "bernoulli":
            theta = 1 / (1 + math.exp(-x))
            log_jacobian = -math.log1p(math.exp(-x)) - math.log1p(math.exp(x))
        else:
            theta, log_jacobian = math.exp(x), x
        if name == "bernoulli" and theta > 0.5:  # 1 - theta loses digits: mirror the coin
            expected = stats.beta.logpdf(1 / (1 + math.exp(x)), *parameters[::-1]) + log_jacobian
        else:
            expected = oracle.log_belief_density_given(parameters, theta) + log_jacobian
        assert_allclose(family.log_density(beliefs, 0, x), expected, rtol=1e-9, atol=1e-9)
    if name == "vonmises":  # what is not within them, on one side of the direction opposite to the mean and on the other
        opposite = means(family, beliefs)[0] - 180.0
        below, above = (
            integrals.total_probability(lambda x: oracle.log_belief_density_given(parameters, x), a, b)
            for a, b in ((opposite, low), (high, opposite + 360.0))
        )
    elif name == "gaussian":
        below, above = law.cdf(low), law.sf(high)
    elif name == "bernoulli":
        below = stats.beta.cdf(1 / (1 + math.exp(-low)), *parameters)
        above = stats.beta.cdf(1 / (1 + math.exp(high)), *parameters[::-1])
    else:
        below, above = law.cdf(math.exp(low)), law.sf(math.exp(high))
    assert 0 <= below < 1e-16
    assert 0 <= above < 1e-16


# Families that are special cases of others


def readouts(family: Any, beliefs: Beliefs, ys: Sequence[Any]) -> Vector:
    """Everything that two families with the same meaning must agree on, for a bank of two beliefs."""
    with np.errstate(all="ignore"):
        values = [family.log_predictive(beliefs, i, encoded(family, y)) for i in range(2) for y in ys]
        values += [*means(family, beliefs, 0), *means(family, beliefs, 1), *variances(family, beliefs, 0)]
        values += [family.divergence(beliefs, 0, beliefs, 1), family.divergence(beliefs, 1, beliefs, 0)]
        values += [family.dissimilarity(beliefs, 0, 1, 0.3, 0.7), *(family.estimate(beliefs, 0, k) for k in range(family.size()))]
        for combine in (
            lambda: family.blend(beliefs, 0, beliefs, 1, 0.6, 0.4),
            lambda: family.merge(beliefs, 0, 1, 0.3, 0.7),
        ):
            combine()
            values += [*means(family, beliefs), *variances(family, beliefs), family.divergence(beliefs, 0, beliefs, 1)]
    return np.array(values)


NUMBERS = [0.3, -1.0, 0.8, 2.0, 2.5]


@pytest.mark.parametrize("alpha_0", [0.7, 2.4])
def test_unknown_covariance_of_one_number_is_unknown_variance(alpha_0: float) -> None:
    one = vl.GaussianUnknownVariance(0.2, 0.7, alpha_0, 0.9)
    many = vl.MultivariateGaussianUnknownCovariance([0.2], 0.7, 2 * alpha_0, [[1.8]])
    vectors = [[y] for y in NUMBERS]
    expected = readouts(one, bank(one, NUMBERS[:4], NUMBERS[4:]), NUMBERS)
    assert_allclose(readouts(many, bank(many, vectors[:4], vectors[4:]), vectors), expected, rtol=1e-10, atol=1e-12)


def test_multivariate_of_one_number_is_gaussian() -> None:
    one, many = vl.Gaussian(0.7, 0.2, 1.5), vl.MultivariateGaussian([[0.49]], [0.2], [[2.25]])
    vectors = [[y] for y in NUMBERS]
    expected = readouts(one, bank(one, NUMBERS[:4], NUMBERS[4:]), NUMBERS)
    assert_allclose(readouts(many, bank(many, vectors[:4], vectors[4:]), vectors), expected, rtol=1e-10, atol=1e-12)
    here, there = prior_beliefs(one), prior_beliefs(many)
    one.scaled_likelihood(here, 0, 1.3)
    many.scaled_likelihood(there, 0, encoded(many, [1.3]))
    assert_allclose(means(many, there), means(one, here), rtol=1e-12)
    assert_allclose(variances(many, there), variances(one, here), rtol=1e-12)


def test_bernoulli_is_categorical_with_two_categories() -> None:
    coin, die = vl.Bernoulli(0.7, 0.7), vl.Categorical(2, 0.7)
    ys = [1, 1, 0, 1, 0]
    two, six = bank(coin, ys[:4], ys[4:]), bank(die, ys[:4], ys[4:])

    def compare() -> None:
        assert_allclose(means(die, six)[1], means(coin, two)[0], rtol=1e-12)
        assert_allclose(variances(die, six), variances(coin, two)[0], rtol=1e-12)
        assert_allclose(die.divergence(six, 0, six, 1), coin.divergence(two, 0, two, 1), rtol=1e-10)
        assert_allclose(die.dissimilarity(six, 0, 1, 0.3, 0.7), coin.dissimilarity(two, 0, 1, 0.3, 0.7), rtol=1e-12)
        for y in (0, 1):
            assert_allclose(die.log_predictive(six, 0, y), coin.log_predictive(two, 0, y), rtol=1e-12)

    compare()
    for family, beliefs in ((coin, two), (die, six)):
        family.merge(beliefs, 0, 1, 0.3, 0.7)
    compare()
    for family, beliefs in ((coin, two), (die, six)):
        family.scaled_likelihood(beliefs, 0, 1)
    compare()


# Sampling


@every_family
def test_parameters_from_the_prior_have_its_moments(name: str) -> None:
    """The mean of n draws within 5 standard errors of the prior's."""
    family, oracle, n = SETTINGS[name].family, SETTINGS[name].oracle, 4_000
    rng = np.random.default_rng(8)
    draws = np.array([family.sample_parameter(rng) for _ in range(n)])
    assert draws.shape == (n, family.size())
    if name == "vonmises":
        assert_directions(draws[:, 0], oracle.mean([])[0], oracle.variance([])[0])
        return
    spread = np.where(np.isfinite(oracle.variance([])), oracle.variance([]), draws.var(axis=0))
    assert np.all(np.abs(draws.mean(axis=0) - oracle.mean([])) < 5 * np.sqrt(spread / n))


def spread_of_directions() -> float:
    """The variance, as numbers, of directions with kappa = 3 in degrees, cut opposite to their mean."""
    density = stats.vonmises(3.0).pdf
    return math.degrees(1.0) ** 2 * integrals.integral(lambda x: x * x * density(x), -math.pi, math.pi, [0.0])


OBSERVED: dict[str, tuple[Any, Any, Any]] = {  # theta, the mean and the variance of an observation given theta
    "gaussian": ([1.3], 1.3, 0.25),
    "unknown-variance": ([1.3, 0.4], 1.3, 0.4),
    "categorical": ([0.1, 0.2, 0.3, 0.4], [0.1, 0.2, 0.3, 0.4], [0.09, 0.16, 0.21, 0.24]),
    "bernoulli": ([0.3], 0.3, 0.21),
    "poisson": ([2.7], 2.7, 2.7),
    "exponential": ([2.5], 0.4, 0.16),
    "vonmises": ([180.0], 180.0, spread_of_directions()),  # as numbers: symmetric about the middle
    "multivariate": ([1.0, -2.0], [1.0, -2.0], [0.3, 0.5]),
    "unknown-covariance": ([1.0, -2.0, 0.8, -0.5, 0.6], [1.0, -2.0], [0.8, 0.6]),
}


@every_family
def test_observations_given_the_parameter_have_its_moments(name: str) -> None:
    """The mean and the variance of n draws within 5 standard errors."""
    theta, mean, variance = OBSERVED[name]
    family, n = SETTINGS[name].family, 20_000
    draws = family.sample_observations(np.array(theta), n, np.random.default_rng(9))
    values, missing = family.observations(draws)
    assert len(values) == n
    assert not missing.any()
    ys = np.eye(4)[draws] if name == "categorical" else np.asarray(draws, dtype=float)
    assert np.all(np.abs(ys.mean(axis=0) - mean) < 5 * np.sqrt(np.array(variance) / n))
    squares = (ys - mean) ** 2
    assert np.all(np.abs(squares.mean(axis=0) - variance) < 5 * squares.std(axis=0) / math.sqrt(n))
    if ys.ndim == 2 and name != "categorical":
        products = np.prod(ys - mean, axis=1)
        expected = COVARIANCE[0][1] if name == "multivariate" else theta[3]
        assert abs(products.mean() - expected) < 5 * products.std() / math.sqrt(n)


@pytest.mark.parametrize("k", [2, 3, 6, 7, 8, 9, 15, 16, 30])
def test_dirichlets_of_any_number_of_categories(k: int) -> None:
    """Their sums of log gamma functions go eight at a time; here the last eight are full, or all but full, or hold one."""
    ys = np.random.default_rng(k).integers(0, k, 3 * k)
    die = vl.Categorical(k, 0.3)
    beliefs = bank(die, ys[:k].tolist(), ys[k:].tolist())
    p, q = beliefs.chi[:k, 0], beliefs.chi[:k, 1]
    log_norms = [gammaln(x).sum() - gammaln(x.sum()) for x in (p, q)]
    expected = log_norms[1] - log_norms[0] + np.sum((p - q) * (psi(p) - psi(p.sum())))
    assert_allclose(die.divergence_parts(beliefs, 0, beliefs, 1)[0], log_norms[0], rtol=1e-13)
    assert_allclose(die.divergence(beliefs, 0, beliefs, 1), expected, rtol=1e-12)
    smile = vl.SMiLe(die, 0.1)
    with vl.plain_python():
        plain = vl.run(smile, ys)
    assert_array_equal(vl.run(smile, ys).mean, plain.mean)
