"""The nine families twice, as the library's objects and as the oracles', and observations, beliefs and learners for them."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import stats
from scipy.special import multigammaln, psi

import volatilis as vl
from tests.oracles import conjugate
from tests.oracles import learners as naive
from tests.oracles.conjugate import Parameters, Vector
from volatilis.families import Beliefs, prior_beliefs

P_C = 0.15
COVARIANCE = [[0.3, 0.1], [0.1, 0.5]]
PRIOR_COVARIANCE = [[2.0, 0.4], [0.4, 1.5]]
CENTRE = [0.1, -0.2]


class Setting(NamedTuple):
    """A family and its oracle with the same parameters; a parameter from the prior, and an observation given it."""

    family: Any
    oracle: Any
    draw_parameter: Callable[[np.random.Generator], Any]
    draw_observation: Callable[[np.random.Generator, Any], Any]


def _mean_and_variance(rng: np.random.Generator) -> tuple[float, float]:
    v = 0.9 / rng.gamma(2.1)
    return rng.normal(0.2, math.sqrt(v / 0.7)), v


def _mean_and_covariance(rng: np.random.Generator) -> tuple[Vector, Vector]:
    covariance = stats.invwishart.rvs(5.5, PRIOR_COVARIANCE, random_state=rng)
    return rng.multivariate_normal(CENTRE, covariance / 0.6), covariance


SETTINGS: dict[str, Setting] = {
    "gaussian": Setting(
        vl.Gaussian(sigma=0.5, mu_0=0.3, sigma_0=2.0),
        conjugate.Gaussian(0.5, 0.3, 2.0),
        lambda rng: rng.normal(0.3, 2.0),
        lambda rng, theta: float(rng.normal(theta, 0.5)),
    ),
    "unknown-variance": Setting(
        vl.GaussianUnknownVariance(mu_0=0.2, kappa_0=0.7, alpha_0=2.1, beta_0=0.9),
        conjugate.GaussianUnknownVariance(0.2, 0.7, 2.1, 0.9),
        _mean_and_variance,
        lambda rng, theta: float(rng.normal(theta[0], math.sqrt(theta[1]))),
    ),
    "categorical": Setting(
        vl.Categorical(k=4, s=0.6),
        conjugate.Categorical(4, 0.6),
        lambda rng: rng.dirichlet([0.6] * 4),
        lambda rng, theta: int(rng.choice(4, p=theta)),
    ),
    "bernoulli": Setting(
        vl.Bernoulli(a=0.8, b=1.7),
        conjugate.Bernoulli(0.8, 1.7),
        lambda rng: rng.beta(0.8, 1.7),
        lambda rng, theta: int(rng.random() < theta),
    ),
    "poisson": Setting(
        vl.Poisson(shape=1.4, rate=0.6),
        conjugate.Poisson(1.4, 0.6),
        lambda rng: rng.gamma(1.4, 1 / 0.6),
        lambda rng, theta: int(rng.poisson(theta)),
    ),
    "exponential": Setting(
        vl.Exponential(shape=2.2, rate=1.1),
        conjugate.Exponential(2.2, 1.1),
        lambda rng: rng.gamma(2.2, 1 / 1.1),
        lambda rng, theta: float(rng.exponential(1 / theta)),
    ),
    "multivariate": Setting(
        vl.MultivariateGaussian(covariance=COVARIANCE, mu_0=CENTRE, covariance_0=PRIOR_COVARIANCE),
        conjugate.MultivariateGaussian(COVARIANCE, CENTRE, PRIOR_COVARIANCE),
        lambda rng: rng.multivariate_normal(CENTRE, PRIOR_COVARIANCE),
        lambda rng, theta: rng.multivariate_normal(theta, COVARIANCE),
    ),
    "unknown-covariance": Setting(
        vl.MultivariateGaussianUnknownCovariance(mu_0=CENTRE, kappa_0=0.6, nu_0=5.5, psi_0=PRIOR_COVARIANCE),
        conjugate.MultivariateGaussianUnknownCovariance(CENTRE, 0.6, 5.5, PRIOR_COVARIANCE),
        _mean_and_covariance,
        lambda rng, theta: rng.multivariate_normal(*theta),
    ),
    "vonmises": Setting(
        vl.VonMises(kappa=3.0, mu_0=-20.0, kappa_0=0.7, period=360.0),
        conjugate.VonMises(3.0, -20.0, 0.7, 360.0),
        lambda rng: math.degrees(rng.vonmises(math.radians(-20.0), 0.7)) % 360.0,
        lambda rng, theta: math.degrees(rng.vonmises(math.radians(theta), 3.0)),
    ),
}
FAMILIES = list(SETTINGS)
# One parameter: its support
SUPPORTS = {
    "gaussian": (-math.inf, math.inf),
    "bernoulli": (0.0, 1.0),
    "poisson": (0.0, math.inf),
    "exponential": (0.0, math.inf),
    "vonmises": (0.0, 360.0),
}
# The likelihood of one observation is a proper density of the parameter
PROPER = [*SUPPORTS, "categorical", "multivariate"]

every_family = pytest.mark.parametrize("name", FAMILIES)
every_line = pytest.mark.parametrize("name", SUPPORTS)
every_proper = pytest.mark.parametrize("name", PROPER)


@functools.cache
def observations(name: str, length: int = 10, seed: int = 1, p_c: float = 0.25) -> list[Any]:
    """A sequence with changes, as plain Python numbers or vectors; drawn here, without the library. Do not alter it."""
    setting, rng = SETTINGS[name], np.random.default_rng([seed, FAMILIES.index(name)])
    ys = []
    for t in range(length):
        if t == 0 or rng.random() < p_c:
            theta = setting.draw_parameter(rng)
        ys.append(setting.draw_observation(rng, theta))
    return ys


# Beliefs of the library


def encoded(family: Any, y: Any) -> Any:
    """One observation as the compiled methods take it."""
    values, missing = family.observations([y])
    assert not missing[0]
    return values[0]


def bank(family: Any, *pasts: Sequence[Any]) -> Beliefs:
    """A bank of beliefs: column i has absorbed the observations pasts[i]."""
    beliefs = prior_beliefs(family, len(pasts))
    for i, past in enumerate(pasts):
        for y in past:
            family.absorb(beliefs, i, encoded(family, y))
    return beliefs


def means(family: Any, beliefs: Beliefs, i: int = 0) -> Vector:
    return np.array([family.mean(beliefs, i, k) for k in range(family.size())])


def variances(family: Any, beliefs: Beliefs, i: int = 0) -> Vector:
    return np.array([family.variance(beliefs, i, k) for k in range(family.size())])


# Beliefs of the oracles, by their textbook parameters


def square(triangle: Vector, p: int) -> Vector:
    """The symmetric matrix with this upper triangle, read row by row."""
    matrix = np.zeros((p, p))
    matrix[np.triu_indices(p)] = triangle
    return matrix + np.triu(matrix, 1).T


def log_belief(oracle: Any, parameters: Parameters, theta: Any) -> float:
    """The log density of a belief at theta, for every family; theta as the library counts its elements."""
    if isinstance(oracle, conjugate.ScalarFamily):
        return oracle.log_belief_density_given(parameters, theta)
    if isinstance(oracle, conjugate.Categorical):
        return float(stats.dirichlet.logpdf(theta, parameters[0]))
    if isinstance(oracle, conjugate.MultivariateGaussian):
        return float(stats.multivariate_normal.logpdf(theta, *parameters))
    if isinstance(oracle, conjugate.GaussianUnknownVariance):
        mu, kappa, alpha, beta = parameters
        of_mu = stats.norm.logpdf(theta[0], mu, math.sqrt(theta[1] / kappa))
        return float(of_mu + stats.invgamma.logpdf(theta[1], alpha, scale=beta))
    mu, kappa, nu, scale = parameters
    covariance = square(theta[oracle.p :], oracle.p)
    of_mu = stats.multivariate_normal.logpdf(theta[: oracle.p], mu, covariance / kappa)
    return float(of_mu + stats.invwishart.logpdf(covariance, nu, scale))


def divergence(oracle: Any, p: Parameters, q: Parameters) -> float:
    """KL[p || q] between two beliefs in closed form, for every family."""
    if isinstance(oracle, conjugate.MultivariateGaussian):
        return kl_multivariate_normal(p, q)
    if isinstance(oracle, conjugate.GaussianUnknownVariance):
        one, other = ((np.array([mu]), k, 2 * a, np.array([[2 * b]])) for mu, k, a, b in (p, q))
        return kl_normal_inverse_wishart(one, other)
    if isinstance(oracle, conjugate.MultivariateGaussianUnknownCovariance):
        return kl_normal_inverse_wishart(p, q)
    return naive.kl_beliefs(oracle, p, q)


def kl_multivariate_normal(p: Parameters, q: Parameters) -> float:
    """(tr(V^-1 U) - d + log(det V / det U) + (a - b)' V^-1 (a - b)) / 2 for N(a, U) and N(b, V)."""
    (a, u), (b, v) = p, q
    inverse = np.linalg.inv(v)
    logs = np.linalg.slogdet(v)[1] - np.linalg.slogdet(u)[1]
    return float((np.trace(inverse @ u) - len(a) + logs + (a - b) @ inverse @ (a - b)) / 2)


def kl_normal_inverse_wishart(p: Parameters, q: Parameters) -> float:
    """KL of the inverse Wisharts, plus that of the normals averaged over the precision W, E[W] = nu psi^-1.

    With the precisions Wishart(nu, psi^-1): log density of W = (nu - d - 1)/2 log det W - tr(psi W)/2 - log Z,
    log Z = nu d/2 log 2 - nu/2 log det psi + log Gamma_d(nu/2).
    """
    (mu_p, kappa_p, nu_p, psi_p), (mu_q, kappa_q, nu_q, psi_q) = p, q
    d = len(mu_p)
    expected = nu_p * np.linalg.inv(psi_p)
    expected_log_det = sum(psi((nu_p - r) / 2) for r in range(d)) + d * math.log(2) - np.linalg.slogdet(psi_p)[1]

    def log_z(nu: float, scale: Vector) -> float:
        return nu * d / 2 * math.log(2) - nu / 2 * np.linalg.slogdet(scale)[1] + multigammaln(nu / 2, d)

    of_precision = (nu_p - nu_q) / 2 * expected_log_det - np.trace((psi_p - psi_q) @ expected) / 2
    of_precision += log_z(nu_q, psi_q) - log_z(nu_p, psi_p)
    apart = mu_p - mu_q
    of_mean = (d * (kappa_q / kappa_p - 1 - math.log(kappa_q / kappa_p)) + kappa_q * apart @ expected @ apart) / 2
    return float(of_precision + of_mean)


# Learners

WITH_CHANGE_PROBABILITY: dict[str, Callable[[Any], Any]] = {
    "exact": lambda family: vl.ExactBayes(family, P_C),
    "message-passing": lambda family: vl.MessagePassing(family, P_C, n=4),
    "particle-filter": lambda family: vl.ParticleFilter(family, P_C, n=8),
    "stratified": lambda family: vl.StratifiedResampling(family, P_C, n=4),
    "merge": lambda family: vl.Merge(family, P_C, n=4),
}
GAUSSIAN_ONLY: dict[str, Callable[[Any], Any]] = {
    "nas10*": lambda family: vl.Nas10Star(family, P_C),
    "nas12*": lambda family: vl.Nas12Star(family, P_C),
}


def learners_with_belief(name: str) -> dict[str, Any]:
    """Every learner that holds a belief, for one family."""
    family = SETTINGS[name].family
    makers = dict(WITH_CHANGE_PROBABILITY) | {"varsmile": lambda f: vl.VarSMiLe(f, m=0.2)}
    if name in PROPER:
        makers["smile"] = lambda f: vl.SMiLe(f, m=0.2)
    if name == "gaussian":
        makers |= GAUSSIAN_ONLY
        makers |= {"nas10": lambda f: vl.Nas10(f.sigma, P_C), "nas12": lambda f: vl.Nas12(f.sigma, P_C)}
    return {key: make(family) for key, make in makers.items()}


def every_learner(family: Any) -> list[Any]:
    """Every learner that takes the family, with few hypotheses."""
    learners = [
        vl.ExactBayes(family, 0.05),
        vl.MessagePassing(family, 0.05, 5),
        vl.ParticleFilter(family, 0.05, 7),
        vl.StratifiedResampling(family, 0.05, 5),
        vl.Merge(family, 0.05, 3),
        vl.VarSMiLe(family, 0.1),
        vl.SMiLe(family, 0.1),
        vl.Leaky(family, 0.9),
    ]
    if isinstance(family, vl.Gaussian):
        learners += [vl.Nas10Star(family, 0.05), vl.Nas12Star(family, 0.05)]
        learners += [vl.Nas10(family.sigma, 0.05), vl.Nas12(family.sigma, 0.05)]
    return learners


def name_of(value: Any) -> str | None:
    """A learner's name among the ids of a parametrised test; others have pytest's own."""
    return f"{type(value).__name__}-{type(value.family).__name__}" if hasattr(value, "family") else None
