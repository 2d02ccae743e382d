"""The oracles checked against each other, against quadrature and against SciPy's own distributions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.special import logsumexp

from . import conjugate, integrals, learners
from .conjugate import moments_of_mixture
from .enumeration import enumerate_histories, log_evidence_without_change

PSI = np.array([[2.0, 0.4], [0.4, 1.5]])
POINTS = [np.array(y) for y in ([0.1, 0.4], [-0.3, 0.2], [0.0, 0.6], [2.1, -1.9], [2.5, -1.4], [1.9, -1.6], [2.2, -2.0])]

CASES: dict[str, tuple[conjugate.Family, list[Any]]] = {
    "gaussian": (conjugate.Gaussian(0.5, 0.3, 2.0), [0.1, -0.2, 0.4, 3.0, 2.7, 3.3, -1.0]),
    "gaussian low noise": (conjugate.Gaussian(0.1), [0.1, 0.2, 0.15, 2.0, 2.1, 1.9, -1.0]),
    "unknown variance": (
        conjugate.GaussianUnknownVariance(0.2, 0.7, 1.3, 0.9),
        [0.1, -0.2, 0.4, 3.0, 2.7, 3.3, -1.0],
    ),
    "categorical": (conjugate.Categorical(5, 0.25), [0, 0, 1, 4, 4, 4, 2]),
    "bernoulli": (conjugate.Bernoulli(0.8, 1.7), [1, 1, 0, 0, 0, 0, 1]),
    "poisson": (conjugate.Poisson(1.4, 0.6), [2, 3, 1, 12, 9, 0, 0]),
    "exponential": (conjugate.Exponential(2.2, 1.1), [0.2, 0.1, 0.4, 5.0, 7.0, 3.0, 0.05]),
    "multivariate": (conjugate.MultivariateGaussian([[0.3, 0.1], [0.1, 0.5]], [0.1, -0.2], PSI), POINTS),
    "unknown covariance": (
        conjugate.MultivariateGaussianUnknownCovariance([0.1, -0.2], 0.6, 3.5, PSI),
        POINTS,
    ),
}
SUPPORTS = {
    "gaussian": (-math.inf, math.inf),
    "gaussian low noise": (-math.inf, math.inf),
    "bernoulli": (0.0, 1.0),
    "poisson": (0.0, math.inf),
    "exponential": (0.0, math.inf),
}
NATURAL = [name for name in CASES if name in SUPPORTS or name == "categorical"]
every_case = pytest.mark.parametrize("name", CASES)
every_line = pytest.mark.parametrize("name", SUPPORTS)


def break_points(family: conjugate.Family, *beliefs: conjugate.Parameters) -> list[float]:
    """Where the mass of these beliefs is: their means and a few standard deviations around."""
    points = []
    for belief in beliefs:
        mean, deviation = float(family.mean_given(belief)[0]), math.sqrt(family.variance_given(belief)[0])
        points += [mean + step * deviation for step in (-8, -4, -2, -1, 0, 1, 2, 4, 8, 20)]
    return points


# The families


@every_case
def test_evidence_does_not_depend_on_the_order(name: str) -> None:
    family, ys = CASES[name]
    evidence = log_evidence_without_change(family, ys)
    assert_allclose(log_evidence_without_change(family, ys[::-1]), evidence, rtol=1e-11)
    assert_allclose(log_evidence_without_change(family, ys[3:] + ys[:3]), evidence, rtol=1e-11)


@every_case
def test_a_weight_of_two_is_an_observation_made_twice(name: str) -> None:
    family, ys = CASES[name]
    assert_allclose(family.mean(ys, [2.0] * len(ys)), family.mean(ys + ys), rtol=1e-12)
    assert_allclose(family.variance(ys, [2.0] * len(ys)), family.variance(ys + ys), rtol=1e-12)


@every_line
@pytest.mark.parametrize("n", [0, 1, 5])
def test_belief_is_normalised_and_has_its_mean_and_variance(name: str, n: int) -> None:
    family, ys = CASES[name]
    assert isinstance(family, conjugate.ScalarFamily)
    past, points = ys[:n], break_points(family, family.posterior(ys[:n]))

    def moment(f: integrals.Function) -> float:
        return integrals.expectation(f, lambda x: family.log_belief_density(past, x), *SUPPORTS[name], points)

    mean = family.mean(past)[0]
    assert_allclose(moment(lambda _: 1.0), 1.0, rtol=1e-8)
    assert_allclose(moment(lambda x: x), mean, rtol=1e-8, atol=1e-12)
    assert_allclose(moment(lambda x: (x - mean) ** 2), family.variance(past)[0], rtol=1e-8)


@every_line
@pytest.mark.parametrize("n", [0, 1, 5])
def test_predictive_is_the_integral_of_likelihood_times_belief(name: str, n: int) -> None:
    family, ys = CASES[name]
    assert isinstance(family, conjugate.ScalarFamily)
    past, y = ys[:n], ys[n]
    points = break_points(family, family.posterior(past), family.posterior([*past, y]))

    def integrand(theta: float) -> float:
        return math.exp(family.log_belief_density(past, theta) + family.log_likelihood(theta, y))

    assert_allclose(
        integrals.integral(integrand, *SUPPORTS[name], points),
        math.exp(family.log_predictive(past, y)),
        rtol=1e-8,
    )


@every_line
def test_belief_is_prior_times_likelihood_over_evidence(name: str) -> None:
    family, ys = CASES[name]
    assert isinstance(family, conjugate.ScalarFamily)
    for theta in (0.1, 0.5, 0.9):
        log_joint = family.log_belief_density([], theta) + sum(family.log_likelihood(theta, y) for y in ys)
        expected = log_joint - log_evidence_without_change(family, ys)
        assert_allclose(family.log_belief_density(ys, theta), expected, rtol=1e-10)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_predictives_sum_to_one(n: int) -> None:
    for name, upper in {"categorical": 5, "bernoulli": 2, "poisson": 2000}.items():
        family, ys = CASES[name]
        mass = integrals.total_mass(lambda y, f=family, past=ys[:n]: f.log_predictive(past, y), range(upper))  # type: ignore[misc]
        assert_allclose(mass, 1.0, rtol=1e-9)
    for name in ("gaussian", "gaussian low noise", "unknown variance", "exponential"):
        family, ys = CASES[name]
        lower = 0.0 if name == "exponential" else -math.inf
        mass = integrals.total_probability(
            lambda y, f=family, past=ys[:n]: f.log_predictive(past, y),  # type: ignore[misc]
            lower,
            math.inf,
            [-10, -1, 0, 0.1, 1, 10],
        )
        assert_allclose(mass, 1.0, rtol=1e-7)


def test_bernoulli_and_categorical_are_the_same_with_two_categories() -> None:
    ys = [1, 1, 0, 1, 0]
    coin, die = conjugate.Bernoulli(0.7, 0.7), conjugate.Categorical(2, 0.7)
    assert_allclose(die.mean(ys)[1], coin.mean(ys)[0])
    assert_allclose(die.variance(ys), coin.variance(ys)[0])
    for y in (0, 1):
        assert_allclose(die.log_predictive(ys, y), coin.log_predictive(ys, y))
        assert_allclose(coin.log_predictive(ys, y), stats.betabinom.logpmf(y, 1, *coin.posterior(ys)))


def test_categorical_against_dirichlet() -> None:
    family, ys = CASES["categorical"]
    dirichlet = stats.dirichlet(*family.posterior(ys))
    assert_allclose(family.mean(ys), dirichlet.mean())
    assert_allclose(family.variance(ys), dirichlet.var())


def test_one_dimensional_multivariate_is_the_gaussian() -> None:
    ys = [0.3, -1.0, 0.8]
    vectors = [np.array([y]) for y in ys]
    one, many = conjugate.Gaussian(0.7, 0.2, 1.5), conjugate.MultivariateGaussian([[0.49]], [0.2], [[2.25]])
    assert_allclose(many.mean(vectors), one.mean(ys))
    assert_allclose(many.variance(vectors), one.variance(ys))
    assert_allclose(many.log_predictive(vectors, np.array([0.4])), one.log_predictive(ys, 0.4))


def test_diagonal_multivariate_is_independent_gaussians() -> None:
    many = conjugate.MultivariateGaussian(np.diag([0.25, 4.0]), [0.1, -1.0], np.diag([1.0, 9.0]))
    parts = [conjugate.Gaussian(0.5, 0.1, 1.0), conjugate.Gaussian(2.0, -1.0, 3.0)]
    past, y = POINTS[:-1], POINTS[-1]
    pasts = [[float(x[d]) for x in past] for d in (0, 1)]
    expected = sum(parts[d].log_predictive(pasts[d], y[d]) for d in (0, 1))
    assert_allclose(many.log_predictive(past, y), expected)
    assert_allclose(many.mean(past), [parts[d].mean(pasts[d])[0] for d in (0, 1)])
    assert_allclose(many.variance(past), [parts[d].variance(pasts[d])[0] for d in (0, 1)])


@pytest.mark.parametrize("alpha_0", [0.4, 0.9, 1.3, 2.5])
def test_one_dimensional_unknown_covariance_is_unknown_variance(alpha_0: float) -> None:
    ys = [0.3, -1.0, 0.8]
    one = conjugate.GaussianUnknownVariance(0.2, 0.7, alpha_0, 0.9)
    many = conjugate.MultivariateGaussianUnknownCovariance([0.2], 0.7, 2 * alpha_0, [[1.8]])
    for n in range(len(ys)):
        past = [np.array([y]) for y in ys[:n]]
        assert_allclose(many.mean(past), one.mean(ys[:n]))
        assert_allclose(many.variance(past), one.variance(ys[:n]))
        assert_allclose(many.log_predictive(past, np.array([ys[n]])), one.log_predictive(ys[:n], ys[n]))


def test_unknown_variance_against_scipy_moments() -> None:
    family, ys = CASES["unknown variance"]
    mu, kappa, alpha, beta = family.posterior(ys)
    of_mu, of_s2 = (
        stats.t(2 * alpha, mu, math.sqrt(beta / (alpha * kappa))),
        stats.invgamma(alpha, scale=beta),
    )
    assert_allclose(family.mean(ys), [of_mu.mean(), of_s2.mean()])
    assert_allclose(family.variance(ys), [of_mu.var(), of_s2.var()])


@pytest.mark.parametrize("n", [0, 1, 4])
def test_unknown_variance_predictive_is_an_integral_over_the_variance(n: int) -> None:
    """The integral over s2 of N(y; mu_n, s2 (1 + 1/kappa)) InverseGamma(s2); mu is integrated out already."""
    family, ys = CASES["unknown variance"]
    mu, kappa, alpha, beta = family.posterior(ys[:n])

    def integrand(s2: float) -> float:
        density = stats.norm.pdf(ys[n], mu, math.sqrt(s2 * (1 + 1 / kappa)))
        return float(density * stats.invgamma.pdf(s2, alpha, scale=beta))

    expected = integrals.integral(integrand, 0.0, math.inf, [0.05, 0.2, 0.5, 1, 2, 5, 20])
    assert_allclose(math.exp(family.log_predictive(ys[:n], ys[n])), expected, rtol=1e-8)


def test_unknown_covariance_against_scipy_moments() -> None:
    family, ys = CASES["unknown covariance"]
    mu, kappa, nu, psi = family.posterior(ys)
    of_sigma, upper = stats.invwishart(nu, psi), np.triu_indices(2)
    of_mu = stats.multivariate_t(mu, psi / (kappa * (nu - 1)), nu - 1)
    spread = np.diag(of_mu.shape) * (nu - 1) / (nu - 3)
    assert_allclose(family.mean(ys), [*mu, *of_sigma.mean()[upper]])
    assert_allclose(family.variance(ys), [*spread, *of_sigma.var()[upper]])


def test_unknown_covariance_predictive_is_an_average_over_its_belief() -> None:
    family, ys = CASES["unknown covariance"]
    mu, kappa, nu, psi = family.posterior(ys[:3])
    draws = stats.invwishart(nu, psi).rvs(20_000, random_state=np.random.default_rng(3))
    densities = [stats.multivariate_normal.pdf(ys[3], mu, sigma * (1 + 1 / kappa)) for sigma in draws]
    error = np.std(densities) / math.sqrt(len(densities))
    assert abs(np.mean(densities) - math.exp(family.log_predictive(ys[:3], ys[3]))) < 4 * error


# Enumeration and message passing


@every_case
def test_enumeration_follows_the_chain_rule_and_the_proposition(name: str) -> None:
    family, ys = CASES[name]
    p_c, evidence = 0.15, 0.0
    for t, step in enumerate(enumerate_histories(family, p_c, ys), start=1):
        log_predictive = float(logsumexp([math.log(1 - p_c) + step.log_p, math.log(p_c) + step.log_p_0]))
        if t == 1:
            assert step.log_p == step.log_p_0
        assert_allclose(step.log_evidence - evidence, log_predictive, rtol=1e-10)
        assert_allclose(step.run_lengths.sum(), 1.0, rtol=1e-12)
        assert_allclose(step.gamma, learners.adaptation_rate(step.log_p, step.log_p_0, p_c / (1 - p_c)), rtol=1e-9)
        evidence = step.log_evidence


@every_case
def test_enumeration_with_hardly_any_or_almost_certain_change(name: str) -> None:
    family, ys = CASES[name]
    never = enumerate_histories(family, 1e-300, ys)[-1]
    always = enumerate_histories(family, 1 - 1e-15, ys)[-1]
    finite = np.isfinite(family.variance(ys[-1:]))  # where it is not, no mixture with a run of 1 has a variance
    assert_allclose(never.log_evidence, log_evidence_without_change(family, ys), rtol=1e-11)
    assert_allclose(never.mean, family.mean(ys), rtol=1e-11)
    assert_allclose(never.variance[finite], family.variance(ys)[finite], rtol=1e-11)
    assert np.all(np.isinf(never.variance[~finite]))
    assert_allclose(always.log_evidence, sum(family.log_predictive([], y) for y in ys), rtol=1e-7)
    assert_allclose(always.mean, family.mean(ys[-1:]), rtol=1e-7)


@every_case
def test_message_passing_is_exact_while_it_holds_all(name: str) -> None:
    family, ys = CASES[name]
    exact = enumerate_histories(family, 0.1, ys)
    for n in (None, 1, 3):
        steps = learners.message_passing(family, 0.1, ys, n)
        for t in range(len(ys) if n is None else n):
            weights = [steps[t].weights[r] for r in range(1, t + 2)]  # type: ignore[index]
            assert_allclose(weights, exact[t].run_lengths, rtol=1e-9, atol=1e-300)
            assert_allclose(steps[t].mean, exact[t].mean, rtol=1e-9)
            assert_allclose(steps[t].variance, exact[t].variance, rtol=1e-9)
            assert_allclose(steps[t][2:5], (exact[t].gamma, exact[t].log_p, exact[t].log_p_0), rtol=1e-9)
        if n is not None:
            assert all(len(step.weights or ()) == min(n, t) for t, step in enumerate(steps, start=1))
            assert all(math.isclose(sum((step.weights or {}).values()), 1.0) for step in steps)


def test_message_passing_drops_the_lightest() -> None:
    family, ys = CASES["gaussian"]
    exact = enumerate_histories(family, 0.1, ys[:4])[-1].run_lengths
    kept = np.where(np.arange(4) == exact.argmin(), 0.0, exact)
    steps = learners.message_passing(family, 0.1, ys[:4], 3)
    weights = [(steps[-1].weights or {}).get(r, 0.0) for r in range(1, 5)]
    assert_allclose(weights, kept / kept.sum(), rtol=1e-9)


# VarSMiLe and SMiLe


@pytest.mark.parametrize("name", NATURAL)
def test_both_forms_of_var_smile_agree(name: str) -> None:
    family, ys = CASES[name]
    pairs = zip(learners.var_smile(family, 0.2, ys), learners.var_smile_by_weights(family, 0.2, ys), strict=True)
    for natural, weighted in pairs:
        assert_allclose(natural.mean, weighted.mean, rtol=1e-10)
        assert_allclose(natural.variance, weighted.variance, rtol=1e-10)
        assert_allclose(natural[2:5], weighted[2:5], rtol=1e-9)


@every_case
def test_var_smile_between_never_and_always_forgetting(name: str) -> None:
    family, ys = CASES[name]
    never = learners.var_smile_by_weights(family, 1e-300, ys)[-1]
    always = learners.var_smile_by_weights(family, 1e300, ys)[-1]
    assert_allclose(never.mean, family.mean(ys), rtol=1e-10)
    assert_allclose(always.mean, family.mean(ys[-1:]), rtol=1e-10)


@every_line
def test_var_smile_averages_the_logarithms_of_the_beliefs(name: str) -> None:
    """log pi = (1 - gamma) log pi_B + gamma log P(theta | y) + constant: the same constant for all theta."""
    family, ys = CASES[name]
    assert isinstance(family, conjugate.ScalarFamily)
    first, second = learners.var_smile_by_weights(family, 0.2, ys[:2])
    weights = [1 - second.gamma, 1.0]
    assert first.log_p == pytest.approx(first.log_p_0)
    constants = [
        family.log_belief_density(ys[:2], theta, weights)
        - (1 - second.gamma) * family.log_belief_density(ys[:2], theta)
        - second.gamma * family.log_belief_density([ys[1]], theta)
        for theta in (0.05, 0.3, 0.6, 0.95)
    ]
    assert_allclose(constants, constants[0], rtol=1e-9, atol=1e-9)


@every_line
def test_closed_divergences_equal_their_integrals(name: str) -> None:
    family, ys = CASES[name]
    assert isinstance(family, conjugate.ScalarFamily)
    belief, other = family.posterior(ys[:3]), learners.scaled_likelihood(family, ys[3])
    points = break_points(family, belief, other)
    for p, q in itertools.permutations([belief, other], 2):
        numerical = integrals.kl_divergence(
            lambda x, b=p: family.log_belief_density_given(b, x),  # type: ignore[misc]
            lambda x, b=q: family.log_belief_density_given(b, x),  # type: ignore[misc]
            *SUPPORTS[name],
            points,
        )
        assert_allclose(learners.kl_beliefs(family, p, q), numerical, rtol=1e-7)


def test_dirichlet_divergence_is_an_average_over_its_belief() -> None:
    p, q = np.array([1.2, 3.0, 0.8]), np.array([2.0, 1.0, 1.5])
    draws = stats.dirichlet(p).rvs(20_000, random_state=np.random.default_rng(5))
    ratios = [stats.dirichlet.logpdf(x, p) - stats.dirichlet.logpdf(x, q) for x in draws]
    error = np.std(ratios) / math.sqrt(len(ratios))
    assert abs(np.mean(ratios) - learners.kl_dirichlet(p, q)) < 4 * error


@every_line
def test_scaled_likelihood_is_the_likelihood_up_to_a_constant(name: str) -> None:
    family, ys = CASES[name]
    assert isinstance(family, conjugate.ScalarFamily)
    for y in ys[:4]:
        scaled = learners.scaled_likelihood(family, y)
        constants = [
            family.log_belief_density_given(scaled, theta) - family.log_likelihood(theta, y) for theta in (0.1, 0.4, 0.9)
        ]
        assert_allclose(constants, constants[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", NATURAL)
@pytest.mark.parametrize("m", [1e-4, 0.3, 10.0])
def test_smile_meets_its_bound(name: str, m: float) -> None:
    family, ys = CASES[name]
    belief = family.posterior(ys[:2])
    for y in ys:
        scaled = learners.scaled_likelihood(family, y)
        gamma = learners.smile_gamma(family, belief, scaled, m)
        after = learners.between(family, belief, scaled, gamma)
        s_cc = learners.kl_beliefs(family, belief, scaled)
        share = learners.kl_beliefs(family, after, belief) / learners.kl_beliefs(family, scaled, belief)
        assert 0 < gamma <= 1
        assert_allclose(share, m * s_cc / (1 + m * s_cc), rtol=1e-8)
        belief = after


@pytest.mark.parametrize("name", NATURAL)
def test_smile_between_never_and_always_moving(name: str) -> None:
    family, ys = CASES[name]
    always = learners.smile(family, 1e300, ys)[-1]
    never = learners.smile(family, 1e-300, ys)[-1]
    assert_allclose(always.mean, family.mean_given(learners.scaled_likelihood(family, ys[-1])), rtol=1e-6)
    assert_allclose(never.mean, family.mean([]), rtol=1e-6, atol=1e-6)


def test_smile_of_the_coin_is_smile_of_two_categories() -> None:
    ys = [1, 1, 0, 1, 0, 0]
    coin = learners.smile(conjugate.Bernoulli(0.7, 0.7), 0.3, ys)
    die = learners.smile(conjugate.Categorical(2, 0.7), 0.3, ys)
    for one, two in zip(coin, die, strict=True):
        assert_allclose(one.mean[0], two.mean[1], rtol=1e-10)
        assert_allclose(one.gamma, two.gamma, rtol=1e-8)


# Nassar, leaky integration, resampling


@pytest.mark.parametrize("name", ["gaussian", "gaussian low noise"])
def test_nas12_star_keeps_the_moments_of_the_mixture(name: str) -> None:
    """One hypothesis after each observation: the Gaussian with the mean and variance of stay and change."""
    family, ys = CASES[name]
    assert isinstance(family, conjugate.Gaussian)
    mean, variance = family.mu_0, family.sigma_0**2
    for y, step in zip(ys, learners.nas12_star(family, 0.1, ys), strict=True):
        stay = conjugate.Gaussian(family.sigma, mean, math.sqrt(variance)).posterior([y])
        (m, v) = np.transpose([stay, family.posterior([y])])
        matched = moments_of_mixture([1 - step.gamma, step.gamma], m[:, None], v[:, None])
        assert_allclose([step.mean, step.variance], matched, rtol=1e-9)
        mean, variance = float(matched[0][0]), float(matched[1][0])


@pytest.mark.parametrize("learner", [learners.nas10_star, learners.nas12_star])
def test_nassar_is_exact_at_the_first_observation_and_without_changes(learner: Any) -> None:
    family, ys = conjugate.Gaussian(0.5, 0.3, 2.0), [0.1, -0.2, 0.4, 3.0]
    first = learner(family, 0.1, ys)[0]
    assert_allclose([first.mean, first.variance], [family.mean(ys[:1]), family.variance(ys[:1])], rtol=1e-12)
    assert_allclose([first.gamma, first.run_length], [0.1, 1.0], rtol=1e-12)
    last = learner(family, 1e-300, ys)[-1]
    assert_allclose([last.mean, last.variance], [family.mean(ys), family.variance(ys)], rtol=1e-12)
    assert_allclose(last.run_length, len(ys), rtol=1e-12)


def test_nas10_star_written_as_two_delta_rules() -> None:
    """mu <- rho/(rho+1) (mu + gamma (mu_0 - mu)) + 1/(rho+1) (mu + alpha (y - mu)), as in the paper."""
    family, ys = CASES["gaussian"]
    assert isinstance(family, conjugate.Gaussian)
    rho, mu, r = family.sigma**2 / family.sigma_0**2, family.mu_0, 0.0
    for y, step in zip(ys, learners.nas10_star(family, 0.1, ys), strict=True):
        alpha = (rho + step.gamma * r + 1) / (rho + r + 1)
        toward_prior, toward_y = mu + step.gamma * (family.mu_0 - mu), mu + alpha * (y - mu)
        mu = (rho * toward_prior + toward_y) / (rho + 1)
        r = (1 - step.gamma) * (r + 1) + step.gamma
        assert_allclose(step.mean, mu, rtol=1e-12)
        assert step.run_length == pytest.approx(r, rel=1e-12)


def test_leaky_integration() -> None:
    family, ys = CASES["gaussian"]
    assert_allclose(learners.leaky(family, 1.0, ys)[-1], np.mean(ys))
    assert_allclose(learners.leaky(family, 0.0, ys), np.reshape(ys, (-1, 1)))
    assert_allclose(learners.leaky(family, 0.5, ys)[1], (0.5 * ys[0] + ys[1]) / 1.5)
    family, ys = CASES["categorical"]
    assert_allclose(learners.leaky(family, 0.5, ys)[2], [1.5 * 0.5 / 1.75, 1 / 1.75, 0, 0, 0])


WEIGHTS: list[tuple[Sequence[Any], int]] = [
    ([0.5, 0.2, 0.2, 0.05, 0.05], 3),
    ([0.25, 0.25, 0.25, 0.25], 3),
    ([0.9, 0.1, 0.0, 0.0, 0.0], 1),
    ([1.0, 1e-300, 1e-320, 0.0, 0.0], 2),
    ([0.0, 0.4, 0.0, 0.3, 0.3, 0.0], 2),
    ([Fraction(1, 2), Fraction(1, 4), Fraction(1, 8), Fraction(1, 8)], 3),
    (list(np.random.default_rng(1).dirichlet(np.full(21, 0.1))), 20),
]


@pytest.mark.parametrize(("weights", "n"), WEIGHTS)
def test_threshold_solves_its_equation_exactly(weights: Sequence[Any], n: int) -> None:
    c = learners.optimal_threshold(weights, n)
    assert sum(min(Fraction(w) / c, Fraction(1)) for w in weights) == n


def test_threshold_by_hand() -> None:
    assert learners.optimal_threshold([Fraction(1, 4)] * 4, 3) == Fraction(1, 3)
    assert learners.optimal_threshold([8, 4, 2, 2], 3) == 4  # ties with the threshold itself
    assert learners.optimal_threshold([1, 0, 0, 0], 2) == 0
    assert learners.optimal_threshold([1, 2, 0], 2) == 0


@pytest.mark.parametrize(("weights", "n"), WEIGHTS)
def test_resampling_keeps_n_and_is_unbiased(weights: Sequence[Any], n: int) -> None:
    """The survivors only change where c u crosses an edge, so one u in each stretch gives the expectation."""
    exact, c = [Fraction(w) for w in weights], learners.optimal_threshold(weights, n)
    light = [w for w in exact if w < c]
    edges = sorted({Fraction(0), Fraction(1), *(s / c % 1 for s in itertools.accumulate(light))})
    expected = [Fraction(0)] * len(exact)
    for a, b in itertools.pairwise(edges):
        after = learners.optimal_resampling(weights, n, (a + b) / 2)
        assert sum(w > 0 for w in after) == n
        expected = [e + (b - a) * w for e, w in zip(expected, after, strict=True)]
    assert expected == exact


def test_resampling_leaves_few_weights_alone() -> None:
    assert learners.optimal_resampling([0.25, 0.0, 0.75], 2, 0.3) == [0.25, 0.0, 0.75]
