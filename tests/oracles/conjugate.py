"""Nine conjugate families from textbook batch formulas.

Every method takes the plain list `past` of the observations since the last change and goes back to all of
them. With `weights`, observation k counts w_k times: its likelihood is raised to the power w_k.

`posterior(past)` gives the textbook parameters of the belief; the methods ending in `_given` take these
parameters instead of a list, for beliefs that no list of observations leads to.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

Vector = NDArray[np.float64]
Weights = Sequence[float] | None
Parameters = tuple[Any, ...]


def ones_unless_given(past: Sequence[Any], weights: Weights) -> list[float]:
    """One weight for each observation: 1 where none are given."""
    return [1.0] * len(past) if weights is None else [float(w) for w in weights]


class Family:
    """What all families share: the belief after a list of observations, and its readouts."""

    def posterior(self, past: Sequence[Any], weights: Weights = None) -> Parameters:
        raise NotImplementedError

    def log_predictive_given(self, parameters: Parameters, y: Any) -> float:
        raise NotImplementedError

    def mean_given(self, parameters: Parameters) -> Vector:
        raise NotImplementedError

    def variance_given(self, parameters: Parameters) -> Vector:
        raise NotImplementedError

    def log_predictive(self, past: Sequence[Any], y: Any, weights: Weights = None) -> float:
        """log P(y | past) = log of the integral of P(y | theta) P(theta | past)."""
        return self.log_predictive_given(self.posterior(past, weights), y)

    def mean(self, past: Sequence[Any], weights: Weights = None) -> Vector:
        """E[theta | past]."""
        return self.mean_given(self.posterior(past, weights))

    def variance(self, past: Sequence[Any], weights: Weights = None) -> Vector:
        """Var[theta | past], one for each element of theta."""
        return self.variance_given(self.posterior(past, weights))

    def mixture_moments(self, weights: Sequence[float], parameters: Sequence[Parameters]) -> tuple[Vector, Vector]:
        """Mean and variance of a mixture of beliefs: sum w m, and by the law of total variance sum w (v + (m - mean)^2).

        One component of infinite variance makes the mixture's infinite, however small its (positive) weight.
        """
        means, variances = (np.array([read(p) for p in parameters]) for read in (self.mean_given, self.variance_given))
        return moments_of_mixture(weights, means, variances)


def moments_of_mixture(weights: Sequence[float], means: Vector, variances: Vector) -> tuple[Vector, Vector]:
    """The same of components with these means and variances; rows are components."""
    kept = [i for i, w in enumerate(weights) if w > 0]
    mean, variance = [], []
    for d in range(means.shape[1]):
        average = math.fsum(weights[i] * means[i, d] for i in kept)
        mean.append(average)
        if math.isinf(average) or any(math.isinf(variances[i, d]) for i in kept):
            variance.append(math.inf)
        else:
            variance.append(math.fsum(weights[i] * (variances[i, d] + (means[i, d] - average) ** 2) for i in kept))
    return np.array(mean), np.array(variance)


class ScalarFamily(Family):
    """A family whose theta is one number, so that belief and likelihood have densities on a line."""

    def log_belief_density_given(self, parameters: Parameters, theta: float) -> float:
        raise NotImplementedError

    def log_likelihood(self, theta: float, y: float) -> float:
        """log P(y | theta)."""
        raise NotImplementedError

    def log_belief_density(self, past: Sequence[Any], theta: float, weights: Weights = None) -> float:
        """log P(theta | past)."""
        return self.log_belief_density_given(self.posterior(past, weights), theta)


class Gaussian(ScalarFamily):
    """y ~ N(theta, sigma^2), theta ~ N(mu_0, sigma_0^2)."""

    def __init__(self, sigma: float, mu_0: float = 0.0, sigma_0: float = 1.0) -> None:
        self.sigma, self.mu_0, self.sigma_0 = float(sigma), float(mu_0), float(sigma_0)

    def posterior(self, past: Sequence[float], weights: Weights = None) -> Parameters:
        """(mean, variance) with 1/variance = 1/sigma_0^2 + n/sigma^2 and
        mean/variance = mu_0/sigma_0^2 + (sum y)/sigma^2.
        """
        w = ones_unless_given(past, weights)
        precision = 1 / self.sigma_0**2 + math.fsum(w) / self.sigma**2
        total = math.fsum(w_k * y_k for w_k, y_k in zip(w, past, strict=True))
        return (self.mu_0 / self.sigma_0**2 + total / self.sigma**2) / precision, 1 / precision

    def log_predictive_given(self, parameters: Parameters, y: float) -> float:
        """y ~ N(mean, variance + sigma^2)."""
        mean, variance = parameters
        return float(stats.norm.logpdf(y, mean, math.sqrt(variance + self.sigma**2)))

    def mean_given(self, parameters: Parameters) -> Vector:
        return np.array([parameters[0]])

    def variance_given(self, parameters: Parameters) -> Vector:
        return np.array([parameters[1]])

    def log_belief_density_given(self, parameters: Parameters, theta: float) -> float:
        mean, variance = parameters
        return float(stats.norm.logpdf(theta, mean, math.sqrt(variance)))

    def log_likelihood(self, theta: float, y: float) -> float:
        return float(stats.norm.logpdf(y, theta, self.sigma))


class Bernoulli(ScalarFamily):
    """P(y = 1) = theta, theta ~ Beta(a, b)."""

    def __init__(self, a: float = 1.0, b: float = 1.0) -> None:
        self.a, self.b = float(a), float(b)

    def posterior(self, past: Sequence[int], weights: Weights = None) -> Parameters:
        """(a + number of ones, b + number of zeros)."""
        w = ones_unless_given(past, weights)
        n_ones = math.fsum(w_k for w_k, y_k in zip(w, past, strict=True) if y_k == 1)
        n_zeros = math.fsum(w_k for w_k, y_k in zip(w, past, strict=True) if y_k == 0)
        return self.a + n_ones, self.b + n_zeros

    def log_predictive_given(self, parameters: Parameters, y: int) -> float:
        """P(1) = a / (a + b)."""
        a, b = parameters
        return math.log((a if y == 1 else b) / (a + b))

    def mean_given(self, parameters: Parameters) -> Vector:
        return np.array([stats.beta.mean(*parameters)])

    def variance_given(self, parameters: Parameters) -> Vector:
        return np.array([stats.beta.var(*parameters)])

    def log_belief_density_given(self, parameters: Parameters, theta: float) -> float:
        return float(stats.beta.logpdf(theta, *parameters))

    def log_likelihood(self, theta: float, y: float) -> float:
        return float(stats.bernoulli.logpmf(y, theta))


class Poisson(ScalarFamily):
    """y ~ Poisson(theta), theta ~ Gamma(shape, rate)."""

    def __init__(self, shape: float, rate: float) -> None:
        self.shape, self.rate = float(shape), float(rate)

    def posterior(self, past: Sequence[int], weights: Weights = None) -> Parameters:
        """(shape + sum y, rate + n)."""
        w = ones_unless_given(past, weights)
        total = math.fsum(w_k * y_k for w_k, y_k in zip(w, past, strict=True))
        return self.shape + total, self.rate + math.fsum(w)

    def log_predictive_given(self, parameters: Parameters, y: int) -> float:
        """y ~ NegativeBinomial(shape, rate / (rate + 1))."""
        shape, rate = parameters
        return float(stats.nbinom.logpmf(y, shape, rate / (rate + 1)))

    def mean_given(self, parameters: Parameters) -> Vector:
        shape, rate = parameters
        return np.array([shape / rate])

    def variance_given(self, parameters: Parameters) -> Vector:
        shape, rate = parameters
        return np.array([shape / rate**2])

    def log_belief_density_given(self, parameters: Parameters, theta: float) -> float:
        shape, rate = parameters
        return float(stats.gamma.logpdf(theta, shape, scale=1 / rate))

    def log_likelihood(self, theta: float, y: float) -> float:
        return float(stats.poisson.logpmf(y, theta))


class Exponential(ScalarFamily):
    """y ~ Exponential with rate theta, theta ~ Gamma(shape, rate)."""

    def __init__(self, shape: float, rate: float) -> None:
        self.shape, self.rate = float(shape), float(rate)

    def posterior(self, past: Sequence[float], weights: Weights = None) -> Parameters:
        """(shape + n, rate + sum y)."""
        w = ones_unless_given(past, weights)
        total = math.fsum(w_k * y_k for w_k, y_k in zip(w, past, strict=True))
        return self.shape + math.fsum(w), self.rate + total

    def log_predictive_given(self, parameters: Parameters, y: float) -> float:
        """y ~ Lomax(shape) on the scale rate: shape rate^shape / (rate + y)^(shape + 1)."""
        shape, rate = parameters
        return float(stats.lomax.logpdf(y, shape, scale=rate))

    def mean_given(self, parameters: Parameters) -> Vector:
        shape, rate = parameters
        return np.array([shape / rate])

    def variance_given(self, parameters: Parameters) -> Vector:
        shape, rate = parameters
        return np.array([shape / rate**2])

    def log_belief_density_given(self, parameters: Parameters, theta: float) -> float:
        shape, rate = parameters
        return float(stats.gamma.logpdf(theta, shape, scale=1 / rate))

    def log_likelihood(self, theta: float, y: float) -> float:
        return float(stats.expon.logpdf(y, scale=1 / theta))


class VonMises(ScalarFamily):
    """y ~ vonMises(theta, kappa), theta ~ vonMises(mu_0, kappa_0) on a circle of this period.

    Mean and variance are those of a vector: its direction within [0, period), and 2 (1 - its length) in units of the period.
    """

    def __init__(self, kappa: float, mu_0: float = 0.0, kappa_0: float = 0.0, period: float = 2 * math.pi) -> None:
        self.kappa, self.mu_0, self.kappa_0, self.period = float(kappa), float(mu_0), float(kappa_0), float(period)

    def posterior(self, past: Sequence[float], weights: Weights = None) -> Parameters:
        """kappa_0 e^(i mu_0) + kappa sum e^(i y), as real and imaginary part."""
        w = ones_unless_given(past, weights)
        terms = [self.kappa_0 * self.unit(self.mu_0), *(self.kappa * v * self.unit(y) for v, y in zip(w, past, strict=True))]
        return math.fsum(z.real for z in terms), math.fsum(z.imag for z in terms)

    def unit(self, angle: float) -> complex:
        return cmath.exp(2j * math.pi * angle / self.period)

    def log_predictive_given(self, parameters: Parameters, y: float) -> float:
        """I0(|z + kappa e^iy|) / (period I0(|z|) I0(kappa))."""
        z = complex(*parameters)
        after = z + self.kappa * self.unit(y)
        return log_i0(abs(after)) - log_i0(abs(z)) - log_i0(self.kappa) - math.log(self.period)

    def mean_vector(self, parameters: Parameters) -> complex:
        """E[e^(i theta)] = A e^(i mu), A = I1 / I0."""
        z = complex(*parameters)
        return float(special.i1e(abs(z)) / special.i0e(abs(z))) * z / abs(z) if z else 0j

    def of_vector(self, vector: complex) -> tuple[Vector, Vector]:
        turns = cmath.phase(vector) / (2 * math.pi) if vector else self.mu_0 / self.period
        chord = 2 * (1 - abs(vector)) * (self.period / (2 * math.pi)) ** 2
        return np.array([turns % 1.0 * self.period]), np.array([chord])

    def mixture_moments(self, weights: Sequence[float], parameters: Sequence[Parameters]) -> tuple[Vector, Vector]:
        vectors = [w * self.mean_vector(p) for w, p in zip(weights, parameters, strict=True)]
        return self.of_vector(complex(math.fsum(v.real for v in vectors), math.fsum(v.imag for v in vectors)))

    def mean_given(self, parameters: Parameters) -> Vector:
        return self.of_vector(self.mean_vector(parameters))[0]

    def variance_given(self, parameters: Parameters) -> Vector:
        return self.of_vector(self.mean_vector(parameters))[1]

    def log_belief_density_given(self, parameters: Parameters, theta: float) -> float:
        z = complex(*parameters)
        return (z * self.unit(-theta)).real - log_i0(abs(z)) - math.log(self.period)

    def log_likelihood(self, theta: float, y: float) -> float:
        return self.kappa * self.unit(y - theta).real - log_i0(self.kappa) - math.log(self.period)


def log_i0(x: float) -> float:
    return x + math.log(special.i0e(x))


class Categorical(Family):
    """P(y = i) = theta_i for i = 0 .. k-1, theta ~ Dirichlet(s, .., s)."""

    def __init__(self, k: int, s: float = 1.0) -> None:
        self.k, self.s = int(k), float(s)

    def posterior(self, past: Sequence[int], weights: Weights = None) -> Parameters:
        """alpha_i = s + number of observations of category i."""
        w = ones_unless_given(past, weights)
        counts = [math.fsum(w_k for w_k, y_k in zip(w, past, strict=True) if y_k == i) for i in range(self.k)]
        return (self.s + np.array(counts),)

    def log_predictive_given(self, parameters: Parameters, y: int) -> float:
        """P(i) = alpha_i / sum alpha."""
        (alpha,) = parameters
        return math.log(alpha[int(y)] / math.fsum(alpha))

    def mean_given(self, parameters: Parameters) -> Vector:
        (alpha,) = parameters
        return np.array([a / math.fsum(alpha) for a in alpha])

    def variance_given(self, parameters: Parameters) -> Vector:
        """alpha_i (A - alpha_i) / (A^2 (A + 1)) with A = sum alpha."""
        (alpha,) = parameters
        total = math.fsum(alpha)
        return np.array([a * (total - a) / (total**2 * (total + 1)) for a in alpha])


class GaussianUnknownVariance(Family):
    """y ~ N(mu, s2), mu | s2 ~ N(mu_0, s2 / kappa_0), s2 ~ InverseGamma(alpha_0, beta_0); theta = (mu, s2).

    Where the mean of mu does not exist (alpha <= 1/2, a prior only) its location stands for it; all other
    moments that do not exist are infinite.
    """

    def __init__(self, mu_0: float, kappa_0: float, alpha_0: float, beta_0: float) -> None:
        self.mu_0, self.kappa_0 = float(mu_0), float(kappa_0)
        self.alpha_0, self.beta_0 = float(alpha_0), float(beta_0)

    def posterior(self, past: Sequence[float], weights: Weights = None) -> Parameters:
        """(mu, kappa, alpha, beta) with ybar the mean of the past:

        kappa = kappa_0 + n, mu = (kappa_0 mu_0 + n ybar) / kappa, alpha = alpha_0 + n / 2,
        beta = beta_0 + sum (y - ybar)^2 / 2 + kappa_0 n (ybar - mu_0)^2 / (2 kappa).
        """
        w = ones_unless_given(past, weights)
        n = math.fsum(w)
        if n == 0:
            return self.mu_0, self.kappa_0, self.alpha_0, self.beta_0
        average = math.fsum(w_k * y_k for w_k, y_k in zip(w, past, strict=True)) / n
        scatter = math.fsum(w_k * (y_k - average) ** 2 for w_k, y_k in zip(w, past, strict=True))
        kappa = self.kappa_0 + n
        mu = (self.kappa_0 * self.mu_0 + n * average) / kappa
        shift = self.kappa_0 * n * (average - self.mu_0) ** 2 / kappa
        return mu, kappa, self.alpha_0 + n / 2, self.beta_0 + (scatter + shift) / 2

    def log_predictive_given(self, parameters: Parameters, y: float) -> float:
        """y ~ Student t with 2 alpha degrees of freedom, scale^2 = beta (kappa + 1) / (alpha kappa)."""
        mu, kappa, alpha, beta = parameters
        return float(stats.t.logpdf(y, 2 * alpha, mu, math.sqrt(beta * (kappa + 1) / (alpha * kappa))))

    def mean_given(self, parameters: Parameters) -> Vector:
        """E[s2] = beta / (alpha - 1)."""
        mu, _, alpha, beta = parameters
        return np.array([mu, beta / (alpha - 1) if alpha > 1 else math.inf])

    def variance_given(self, parameters: Parameters) -> Vector:
        """Var[mu] = E[s2] / kappa, Var[s2] = E[s2]^2 / (alpha - 2)."""
        _, kappa, alpha, beta = parameters
        of_mu = beta / ((alpha - 1) * kappa) if alpha > 1 else math.inf
        of_s2 = (beta / (alpha - 1)) ** 2 / (alpha - 2) if alpha > 2 else math.inf
        return np.array([of_mu, of_s2])


class MultivariateGaussian(Family):
    """y ~ N(theta, covariance), theta ~ N(mu_0, covariance_0)."""

    def __init__(self, covariance: ArrayLike, mu_0: ArrayLike, covariance_0: ArrayLike) -> None:
        self.covariance = np.array(covariance, dtype=float)
        self.mu_0 = np.array(mu_0, dtype=float)
        self.covariance_0 = np.array(covariance_0, dtype=float)

    def posterior(self, past: Sequence[Vector], weights: Weights = None) -> Parameters:
        """(mean, covariance): the Gaussian's equations with matrices for the precisions."""
        w = ones_unless_given(past, weights)
        prior_precision, precision = np.linalg.inv(self.covariance_0), np.linalg.inv(self.covariance)
        total = np.zeros(len(self.mu_0))
        for w_k, y_k in zip(w, past, strict=True):
            total += w_k * np.asarray(y_k)
        posterior_covariance = np.linalg.inv(prior_precision + math.fsum(w) * precision)
        return posterior_covariance @ (prior_precision @ self.mu_0 + precision @ total), posterior_covariance

    def log_predictive_given(self, parameters: Parameters, y: Vector) -> float:
        """y ~ N(mean, posterior covariance + covariance)."""
        mean, covariance = parameters
        return float(stats.multivariate_normal.logpdf(y, mean, covariance + self.covariance))

    def mean_given(self, parameters: Parameters) -> Vector:
        return np.array(parameters[0])

    def variance_given(self, parameters: Parameters) -> Vector:
        return np.diag(parameters[1]).copy()


class MultivariateGaussianUnknownCovariance(Family):
    """y ~ N(mu, Sigma), mu | Sigma ~ N(mu_0, Sigma / kappa_0), Sigma ~ InverseWishart(nu_0, psi_0).

    theta is mu, then the upper triangle of Sigma row by row. Where the mean of mu does not exist (nu <= p, a
    prior only) its location stands for it; all other moments that do not exist are infinite.
    """

    def __init__(self, mu_0: ArrayLike, kappa_0: float, nu_0: float, psi_0: ArrayLike) -> None:
        self.mu_0, self.psi_0 = np.array(mu_0, dtype=float), np.array(psi_0, dtype=float)
        self.kappa_0, self.nu_0 = float(kappa_0), float(nu_0)
        self.p = len(self.mu_0)

    def posterior(self, past: Sequence[Vector], weights: Weights = None) -> Parameters:
        """(mu, kappa, nu, psi) with ybar the mean of the past:

        kappa = kappa_0 + n, mu = (kappa_0 mu_0 + n ybar) / kappa, nu = nu_0 + n,
        psi = psi_0 + sum (y - ybar)(y - ybar)' + (kappa_0 n / kappa) (ybar - mu_0)(ybar - mu_0)'.
        """
        w = ones_unless_given(past, weights)
        n = math.fsum(w)
        if n == 0:
            return self.mu_0, self.kappa_0, self.nu_0, self.psi_0
        observations = [np.asarray(y_k, dtype=float) for y_k in past]
        average = np.average(observations, axis=0, weights=w)
        psi = self.psi_0.copy()
        for w_k, y_k in zip(w, observations, strict=True):
            psi += w_k * np.outer(y_k - average, y_k - average)
        kappa = self.kappa_0 + n
        psi += self.kappa_0 * n / kappa * np.outer(average - self.mu_0, average - self.mu_0)
        return (self.kappa_0 * self.mu_0 + n * average) / kappa, kappa, self.nu_0 + n, psi

    def log_predictive_given(self, parameters: Parameters, y: Vector) -> float:
        """y ~ Student t, nu - p + 1 degrees of freedom, shape psi (kappa + 1) / (kappa (nu - p + 1))."""
        mu, kappa, nu, psi = parameters
        df = nu - self.p + 1
        return float(stats.multivariate_t.logpdf(y, mu, psi * (kappa + 1) / (kappa * df), df))

    def mean_given(self, parameters: Parameters) -> Vector:
        """E[Sigma] = psi / (nu - p - 1)."""
        mu, _, nu, psi = parameters
        excess = nu - self.p - 1
        of_sigma = psi / excess if excess > 0 else np.full_like(psi, math.inf)
        return np.concatenate([mu, of_sigma[np.triu_indices(self.p)]])

    def variance_given(self, parameters: Parameters) -> Vector:
        """With e = nu - p - 1: Var[mu_i] = psi_ii / (kappa e), and

        Var[Sigma_ij] = ((e + 2) psi_ij^2 + e psi_ii psi_jj) / ((e + 1) e^2 (e - 2)).
        """
        _, kappa, nu, psi = parameters
        e, variances = nu - self.p - 1, []
        for i in range(self.p):
            variances.append(psi[i, i] / (kappa * e) if e > 0 else math.inf)
        for i in range(self.p):
            for j in range(i, self.p):
                spread = (e + 2) * psi[i, j] ** 2 + e * psi[i, i] * psi[j, j]
                variances.append(spread / ((e + 1) * e**2 * (e - 2)) if e > 2 else math.inf)
        return np.array(variances)
