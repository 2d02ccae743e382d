"""The learners, step by step as the paper writes them, corrected by the errata.

Each function runs a whole sequence and returns one `Step` for each observation. Log odds stand for the
Bayes Factor Surprise: gamma = m S / (1 + m S) with S = P(y; pi_0) / P(y; pi).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, gammaln, logsumexp, psi

from .conjugate import Bernoulli, Categorical, Exponential, Family, Gaussian, Parameters, Poisson, Vector, VonMises, log_i0


class Step(NamedTuple):
    """What one observation y leaves; `log_p` and `log_p_0` are under the beliefs before y."""

    mean: Vector  # of theta, after y
    variance: Vector  # of theta, after y
    gamma: float  # the adaptation rate
    log_p: float  # log P(y; pi), pi the learner's belief without a change
    log_p_0: float  # log P(y; pi_0), pi_0 the prior
    weights: dict[int, float] | None = None  # run length -> weight, after y (message passing)
    run_length: float | None = None  # the expected run length, after y (message passing, Nassar)


def adaptation_rate(log_p: float, log_p_0: float, m: float) -> float:
    """gamma = m S / (1 + m S), S = P(y; pi_0) / P(y; pi)."""
    return float(expit(math.log(m) + log_p_0 - log_p))


def message_passing(family: Family, p_c: float, ys: Sequence[Any], n: int | None = None) -> list[Step]:
    """MPN (Algorithm 2): drop the lightest hypothesis, renormalise; exact without n.

    w_r+1 = (1 - gamma) w_r P(y; pi_r) / P(y; pi), and w_1 = gamma for the new one. As c_1 = 1, the first
    observation leaves one hypothesis, so that t <= n is exact. Of equally light ones the longest run goes.
    """
    ys, m, steps = list(ys), p_c / (1 - p_c), []
    log_weights = {0: 0.0}  # by run length
    for t, y in enumerate(ys):
        log_p_0 = family.log_predictive([], y)
        log_joint = {r: w + family.log_predictive(ys[t - r : t], y) for r, w in log_weights.items()}
        log_p = float(logsumexp(list(log_joint.values())))
        gamma = adaptation_rate(log_p, log_p_0, m)
        if t == 0:
            log_weights = {1: 0.0}
        else:
            stay, change = math.log1p(-p_c), math.log(p_c)
            log_weights = {1: change + log_p_0} | {r + 1: stay + log_joint[r] for r in log_joint}
            while n is not None and len(log_weights) > n:
                del log_weights[min(log_weights, key=lambda r: (log_weights[r], -r))]
            total = float(logsumexp(list(log_weights.values())))
            log_weights = {r: log_weights[r] - total for r in log_weights}
        weights = {r: math.exp(log_weights[r]) for r in log_weights}
        parts = [family.posterior(ys[t + 1 - r : t + 1]) for r in weights]
        mean, variance = family.mixture_moments(list(weights.values()), parts)
        run_length = math.fsum(w * r for r, w in weights.items())
        steps.append(Step(mean, variance, gamma, log_p, log_p_0, weights, run_length))
    return steps


def var_smile_by_weights(family: Family, m: float, ys: Sequence[Any]) -> list[Step]:
    """VarSMiLe (Algorithm 1) for any family: each step scales the weights of the past by 1 - gamma.

    chi_t+1 = (1 - gamma) chi_t + gamma chi_0 + phi(y) is chi_t = chi_0 + sum w_k phi(y_k), and so for nu.
    """
    ys, steps = list(ys), []
    weights: list[float] = []
    for t, y in enumerate(ys):
        log_p, log_p_0 = family.log_predictive(ys[:t], y, weights), family.log_predictive([], y)
        gamma = adaptation_rate(log_p, log_p_0, m)
        weights = [(1 - gamma) * w for w in weights] + [1.0]
        past = ys[: t + 1]
        steps.append(Step(family.mean(past, weights), family.variance(past, weights), gamma, log_p, log_p_0))
    return steps


def to_natural(family: Family, parameters: Parameters) -> Vector:
    """The parameters in which log beliefs average linearly: (mean/variance, 1/variance) for the Gaussian."""
    if isinstance(family, Gaussian):
        mean, variance = parameters
        return np.array([mean / variance, 1 / variance])
    return np.array(parameters).ravel()


def from_natural(family: Family, natural: Vector) -> Parameters:
    """The inverse of `to_natural`."""
    if isinstance(family, Gaussian):
        return natural[0] / natural[1], 1 / natural[1]
    return (natural,) if isinstance(family, Categorical) else tuple(float(x) for x in natural)


def natural_increment(family: Family, y: Any) -> Vector:
    """What one observation adds to the natural parameters: the logarithm of the likelihood in theta."""
    if isinstance(family, Gaussian):  # theta y / sigma^2 - theta^2 / (2 sigma^2)
        return np.array([y / family.sigma**2, 1 / family.sigma**2])
    if isinstance(family, Bernoulli):  # y log theta + (1 - y) log(1 - theta)
        return np.array([float(y), 1.0 - y])
    if isinstance(family, Poisson):  # y log theta - theta
        return np.array([float(y), 1.0])
    if isinstance(family, Exponential):  # log theta - y theta
        return np.array([1.0, float(y)])
    if isinstance(family, Categorical):  # log theta_y
        return np.array([1.0 if i == y else 0.0 for i in range(family.k)])
    if isinstance(family, VonMises):  # kappa cos(theta - y)
        z = family.kappa * family.unit(y)
        return np.array([z.real, z.imag])
    raise TypeError(family)


def var_smile(family: Family, m: float, ys: Sequence[Any]) -> list[Step]:
    """VarSMiLe (Algorithm 1) in natural parameters: eta <- (1 - gamma) eta + gamma eta_0 + increment(y)."""
    prior = to_natural(family, family.posterior([]))
    belief, steps = prior, []
    for y in ys:
        log_p = family.log_predictive_given(from_natural(family, belief), y)
        log_p_0 = family.log_predictive([], y)
        gamma = adaptation_rate(log_p, log_p_0, m)
        belief = (1 - gamma) * belief + gamma * prior + natural_increment(family, y)
        after = from_natural(family, belief)
        steps.append(Step(family.mean_given(after), family.variance_given(after), gamma, log_p, log_p_0))
    return steps


def scaled_likelihood(family: Family, y: Any) -> Parameters:
    """The likelihood as a density of theta: P(y | theta) / integral of P(y | theta) dtheta.

    N(y, sigma^2), Beta(1 + y, 2 - y), Gamma(y + 1, 1), Gamma(2, y) (for y > 0), Dirichlet(1 + e_y).
    """
    if isinstance(family, Gaussian):
        return float(y), family.sigma**2
    if isinstance(family, Bernoulli):
        return 1.0 + y, 2.0 - y
    if isinstance(family, Poisson):
        return y + 1.0, 1.0
    if isinstance(family, Exponential):
        return 2.0, float(y)
    if isinstance(family, Categorical):
        return (1.0 + np.eye(family.k)[int(y)],)
    if isinstance(family, VonMises):
        return tuple(natural_increment(family, y))
    raise TypeError(family)


def kl_normal(p: Parameters, q: Parameters) -> float:
    """KL[N(a, u) || N(b, v)] = (u/v - 1 - log(u/v) + (a - b)^2 / v) / 2."""
    (a, u), (b, v) = p, q
    excess = (u - v) / v
    return float((excess - math.log1p(excess) + (a - b) ** 2 / v) / 2)


def kl_gamma(p: Parameters, q: Parameters) -> float:
    """KL between Gamma(shape, rate) distributions."""
    (a, b), (c, d) = p, q
    return float((a - c) * psi(a) - gammaln(a) + gammaln(c) + c * math.log(b / d) + a * (d - b) / b)


def kl_dirichlet(p: Vector, q: Vector) -> float:
    """KL between Dirichlet distributions; Beta(a, b) is Dirichlet((a, b))."""
    terms = [gammaln(q_i) - gammaln(p_i) + (p_i - q_i) * psi(p_i) for p_i, q_i in zip(p, q, strict=True)]
    rest = gammaln(sum(p)) - gammaln(sum(q)) - (sum(p) - sum(q)) * psi(sum(p))
    return math.fsum([*terms, rest])


def kl_von_mises(family: VonMises, p: Parameters, q: Parameters) -> float:
    """log I0(|q|) - log I0(|p|) + E_p[e^(i theta)] . (p - q), p and q as vectors."""
    m, apart = family.mean_vector(p), complex(*p) - complex(*q)
    return log_i0(abs(complex(*q))) - log_i0(abs(complex(*p))) + m.real * apart.real + m.imag * apart.imag


def kl_beliefs(family: Family, p: Parameters, q: Parameters) -> float:
    """KL[p || q] between two beliefs about the family's theta."""
    if isinstance(family, Gaussian):
        return kl_normal(p, q)
    if isinstance(family, Poisson | Exponential):
        return kl_gamma(p, q)
    if isinstance(family, VonMises):
        return kl_von_mises(family, p, q)
    return kl_dirichlet(np.array(p).ravel(), np.array(q).ravel())


def between(family: Family, belief: Parameters, other: Parameters, gamma: float) -> Parameters:
    """log q = (1 - gamma) log belief + gamma log other + constant."""
    natural = (1 - gamma) * to_natural(family, belief) + gamma * to_natural(family, other)
    return from_natural(family, natural)


def smile_gamma(family: Family, belief: Parameters, scaled: Parameters, m: float) -> float:
    """The gamma for which KL[q_gamma || belief] = B = B_max m S_CC / (1 + m S_CC); 0 where B is 0.

    B_max = KL[scaled likelihood || belief], S_CC = KL[belief || scaled likelihood].
    """
    b_max, s_cc = kl_beliefs(family, scaled, belief), kl_beliefs(family, belief, scaled)
    bound = b_max / (1 + 1 / (m * s_cc)) if b_max > 0 and s_cc > 0 else 0.0
    if bound == 0.0:
        return 0.0

    def excess(gamma: float) -> float:
        return kl_beliefs(family, between(family, belief, scaled, gamma), belief) - bound

    return float(brentq(excess, 0.0, 1.0, xtol=1e-15, rtol=1e-14)) if excess(1.0) > 0 else 1.0


def smile(family: Family, m: float, ys: Sequence[Any]) -> list[Step]:
    """SMiLe (Faraji et al. 2018): between the belief and the scaled likelihood, bounded by the surprise."""
    belief, steps = family.posterior([]), []
    for y in ys:
        log_p, log_p_0 = family.log_predictive_given(belief, y), family.log_predictive([], y)
        scaled = scaled_likelihood(family, y)
        gamma = smile_gamma(family, belief, scaled, m)
        belief = between(family, belief, scaled, gamma)
        steps.append(Step(family.mean_given(belief), family.variance_given(belief), gamma, log_p, log_p_0))
    return steps


def nassar(family: Gaussian, p_c: float, ys: Sequence[float], year: int) -> list[Step]:
    """Nas10* and Nas12* (appendix), started at the prior with r_0 = 0; rho = sigma^2 / sigma_0^2.

    mu <- (1 - gamma) (mu + (y - mu) / (rho + r + 1)) + gamma (mu_0 + (y - mu_0) / (rho + 1)).
    Nas10*: r <- (1 - gamma) (r + 1) + gamma, variance = 1 / (1 / sigma_0^2 + r / sigma^2).
    Nas12*: variance <- alpha sigma^2 / (rho + 1) + (1 - gamma) gamma B^2, r = sigma^2 / variance - rho.
    """
    sigma2, mu_0, rho = family.sigma**2, family.mu_0, family.sigma**2 / family.sigma_0**2
    mu, variance, r = mu_0, family.sigma_0**2, 0.0
    steps = []
    for y in ys:
        log_p = family.log_predictive_given((mu, variance), y)
        log_p_0 = family.log_predictive([], y)
        gamma = adaptation_rate(log_p, log_p_0, p_c / (1 - p_c))
        mu_stay = mu + (y - mu) / (rho + r + 1)
        mu_change = mu_0 + (y - mu_0) / (rho + 1)
        mu = (1 - gamma) * mu_stay + gamma * mu_change
        if year == 2010:
            r = (1 - gamma) * (r + 1) + gamma
            variance = 1 / (1 / family.sigma_0**2 + r / sigma2)
        else:
            alpha = (rho + gamma * r + 1) / (rho + r + 1)
            variance = sigma2 / (rho + 1) * alpha + (1 - gamma) * gamma * (mu_stay - mu_change) ** 2
            r = sigma2 / variance - rho
        steps.append(Step(np.array([mu]), np.array([variance]), gamma, log_p, log_p_0, run_length=r))
    return steps


def nas10_star(family: Gaussian, p_c: float, ys: Sequence[float]) -> list[Step]:
    """Nas10*: the expected run length follows its own recursion."""
    return nassar(family, p_c, ys, year=2010)


def nas12_star(family: Gaussian, p_c: float, ys: Sequence[float]) -> list[Step]:
    """Nas12*: the expected run length follows from the variance."""
    return nassar(family, p_c, ys, year=2012)


def leaky(family: Family, omega: float, ys: Sequence[Any]) -> list[Vector]:
    """theta_t = sum_k omega^(t-k) phi(y_k) / sum_k omega^(t-k), phi(y) = y or, for categories, e_y."""
    phis = [np.eye(family.k)[int(y)] if isinstance(family, Categorical) else np.atleast_1d(y) for y in ys]
    means = []
    for t in range(len(phis)):
        weights = [float(omega) ** (t - k) for k in range(t + 1)]
        columns = np.array(phis[: t + 1], dtype=float).T
        totals = [math.fsum(w * x for w, x in zip(weights, column, strict=True)) for column in columns]
        means.append(np.array(totals) / math.fsum(weights))
    return means


def optimal_threshold(weights: Sequence[float | Fraction], n: int) -> Fraction:
    """The c with sum_i min(w_i / c, 1) = n (Fearnhead & Liu 2007), in exact fractions.

    With k weights kept whole, c = (sum of the others) / (n - k); every k is tried. c is unique when more than
    n weights are positive; otherwise none has to go, and 0 is returned: every positive weight is above it.
    """
    exact = sorted((Fraction(w) for w in weights), reverse=True)
    if sum(w > 0 for w in exact) <= n:
        return Fraction(0)
    for k in range(n):
        c = sum(exact[k:], Fraction(0)) / (n - k)
        if c > 0 and sum(min(w / c, Fraction(1)) for w in exact) == n:
            return c
    raise AssertionError("unreachable: the sum falls continuously from more than n to 0 as c grows")


def optimal_resampling(weights: Sequence[float | Fraction], n: int, u: float | Fraction) -> list[Fraction]:
    """Fearnhead & Liu's resampling: the weights after it (0: dropped), for a uniform u in [0, 1).

    Weights of at least c stay as they are. The others lie end to end on a line; those hit by one of the
    points c u, c (u + 1), c (u + 2) .. survive, with weight c.
    """
    c, survivors, left = optimal_threshold(weights, n), [], Fraction(0)
    for w in (Fraction(w) for w in weights):
        if w >= c:
            survivors.append(w)
            continue
        hits = math.ceil((left + w) / c - Fraction(u)) - math.ceil(left / c - Fraction(u))
        survivors.append(hits * c)
        left += w
    return survivors
