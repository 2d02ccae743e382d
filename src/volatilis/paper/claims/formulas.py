"""What the paper proves or prints as a formula, each computed beside what it should equal; here: inference and Nassar's learners.

An error is the worst over random settings. Nothing is simulated.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

Number = float | np.ndarray
EXACT_TO = 1e-9  # two sides of an identity may differ by this much, relative to their size


class FormulaErrors(NamedTuple):
    """The largest relative error of a formula as printed and, where it is wrong, of the mended one (None: nothing to mend)."""

    printed: float
    mended: float | None = None


class Formula(NamedTuple):
    """A formula of the paper, what is claimed of it, how far it is off, and where needed what it should have been."""

    key: str
    where: str
    statement: str
    published: str
    errors: Callable[[], FormulaErrors]
    mended: str = "nothing to mend"


FORMULAS: list[Formula] = []  # those below, in their order


def formula(
    register: list[Formula], key: str, where: str, statement: str, published: str, mended: str = "nothing to mend"
) -> Callable[[Callable[[], FormulaErrors]], Callable[[], FormulaErrors]]:
    """Put a formula into a register; the function below the decorator computes its errors."""

    def add(errors: Callable[[], FormulaErrors]) -> Callable[[], FormulaErrors]:
        register.append(Formula(key, where, statement, published, errors, mended))
        return errors

    return add


def largest(got: Number, wanted: Number) -> float:
    """The largest relative error."""
    got, wanted = np.asarray(got, dtype=float), np.asarray(wanted, dtype=float)
    return float(np.max(np.abs(got - wanted) / np.maximum(np.abs(wanted), 1e-12)))


def normal(y: Number, mean: Number, variance: Number) -> np.ndarray:
    """The density of a normal distribution."""
    return np.asarray(np.exp(-0.5 * (y - mean) ** 2 / variance) / np.sqrt(2.0 * math.pi * variance))


class Draws(NamedTuple):
    """Random settings: a Gaussian belief and prior, an observation, an interval since the last change, p_c."""

    sigma: np.ndarray
    mu_0: np.ndarray
    sigma_0: np.ndarray
    mu: np.ndarray
    r: np.ndarray
    y: np.ndarray
    p_c: np.ndarray

    @property
    def rho(self) -> np.ndarray:
        return self.sigma**2 / self.sigma_0**2

    @property
    def variance(self) -> np.ndarray:
        """Of the belief after r observations."""
        return self.sigma**2 / (self.rho + self.r)

    @property
    def bayes_factor(self) -> np.ndarray:
        under_prior = normal(self.y, self.mu_0, self.sigma**2 + self.sigma_0**2)
        return np.asarray(under_prior / normal(self.y, self.mu, self.sigma**2 + self.variance))

    @property
    def gamma(self) -> np.ndarray:
        odds = self.p_c / (1.0 - self.p_c) * self.bayes_factor
        return odds / (1.0 + odds)

    @property
    def stay(self) -> np.ndarray:
        """The mean after y if nothing changed."""
        return self.mu + (self.y - self.mu) / (self.rho + self.r + 1.0)

    @property
    def change(self) -> np.ndarray:
        return self.mu_0 + (self.y - self.mu_0) / (self.rho + 1.0)


def draws(count: int = 200) -> Draws:
    random = np.random.default_rng(1)
    sigma, sigma_0 = random.uniform(0.3, 3.0, count), random.uniform(0.5, 2.0, count)
    mu_0, mu, r = random.normal(0.0, 1.0, count), random.normal(0.0, 1.0, count), random.uniform(1.0, 30.0, count)
    y = mu + 1.5 * sigma * random.uniform(-2.0, 2.0, count)  # not so far out that gamma rounds to 1
    return Draws(sigma, mu_0, sigma_0, mu, r, y, random.uniform(0.01, 0.5, count))


# --- exact inference -------------------------------------------------------------------------------------------------------


@formula(
    FORMULAS,
    "proposition",
    "Results, Online Bayesian inference modulated by surprise, Proposition",
    "Exact inference is the recursion that mixes integration and reset with rate gamma.",
    "exact",
)
def recursion() -> FormulaErrors:
    """The proposition's recursion on a grid of theta against the sum over all histories of changes."""
    p_c, sigma, theta = 0.2, 0.8, np.linspace(-6.0, 6.0, 601)
    ys = np.random.default_rng(2).normal(0.0, 1.5, 6)
    prior = normal(theta, 0.0, 1.0)
    prior /= prior.sum()
    belief = prior * normal(ys[0], theta, sigma**2)
    belief /= belief.sum()
    for y in ys[1:]:
        likelihood = normal(y, theta, sigma**2)
        p, p_0 = np.sum(likelihood * belief), np.sum(likelihood * prior)
        odds = p_c / (1.0 - p_c) * p_0 / p
        gamma = odds / (1.0 + odds)
        belief = (1.0 - gamma) * likelihood * belief / p + gamma * likelihood * prior / p_0
    return FormulaErrors(float(np.max(np.abs(belief - over_histories(ys, theta, prior, p_c, sigma))) / belief.max()))


def over_histories(ys: np.ndarray, theta: np.ndarray, prior: np.ndarray, p_c: float, sigma: float) -> np.ndarray:
    total = np.zeros_like(theta)
    for history in itertools.product((0, 1), repeat=len(ys) - 1):
        weight, current = 1.0, prior.copy()
        for y, changed in zip(ys, (1, *history), strict=True):
            if changed:
                weight, current = weight * current.sum(), prior.copy()
            current = current * normal(y, theta, sigma**2)
        changes = sum(history)
        total += p_c**changes * (1.0 - p_c) ** (len(history) - changes) * weight * current
    return total / total.sum()


@formula(
    FORMULAS,
    "gamma-shannon",
    "Results, Theoretical difference between both surprises; Discussion, Difference in Shannon Surprise",
    "The adaptation rate is p_c exp(difference in Shannon Surprise); the Bayes Factor Surprise is a function of the same.",
    "gamma = p_c e^D, S_BF = (1 - p_c) e^D / (1 - p_c e^D), D = Delta S_Sh",
)
def adaptation_rate_and_shannon() -> FormulaErrors:
    """gamma from the difference in Shannon Surprise, and the Bayes Factor Surprise from the same."""
    d = draws()
    p_0 = normal(d.y, d.mu_0, d.sigma**2 + d.sigma_0**2)
    p = p_0 / d.bayes_factor
    ratio = np.exp(-np.log((1.0 - d.p_c) * p + d.p_c * p_0) + np.log(p_0))
    bayes_factor = (1.0 - d.p_c) * ratio / (1.0 - d.p_c * ratio)
    return FormulaErrors(max(largest(d.p_c * ratio, d.gamma), largest(bayes_factor, d.bayes_factor)))


@formula(
    FORMULAS,
    "mp-exact-at-first",
    "Results, Message-Passing N",
    "MPN is exact for the first N observations (here: N = 1, 10, 20; mean and variance; both tasks).",
    "exact for t <= N",
)
def message_passing_starts_exact() -> FormulaErrors:
    """MP1, MP10 and MP20 beside Exact Bayes over their first N observations: mean and variance, Gaussian and Categorical."""
    from volatilis._compiler import plain_python
    from volatilis.families import Categorical, Gaussian
    from volatilis.learners import ExactBayes, MessagePassing
    from volatilis.running.run import run

    random = np.random.default_rng(3)
    worlds = ((Gaussian(1.0), random.normal(0.0, 1.5, 20)), (Categorical(5, 0.5), random.integers(0, 5, 20)))
    worst = 0.0
    with plain_python():
        for family, ys in worlds:
            exact = run(ExactBayes(family, 0.1), ys)
            for n in (1, 10, 20):
                passed = run(MessagePassing(family, 0.1, n), ys[:n])
                worst = max(worst, *(largest(getattr(passed, of), getattr(exact, of)[:n]) for of in ("mean", "variance")))
    return FormulaErrors(worst)


@formula(
    FORMULAS,
    "varsmile-bound",
    "Methods, Derivation of the optimization-based formulation of VarSMiLe",
    "The bound B in VarSMiLe's optimisation problem falls as surprise rises.",
    "decreasing",
)
def bound_falls_with_surprise() -> FormulaErrors:
    """VarSMiLe's bound, KL[q || P(theta|y)] of the averaged logarithms, against gamma: its largest rise (0: it only falls)."""
    d, gammas = draws(50), np.linspace(0.0, 1.0, 101)[:, None]
    precision_stay, precision_change = (d.rho + d.r + 1.0) / d.sigma**2, (d.rho + 1.0) / d.sigma**2
    precision = (1.0 - gammas) * precision_stay + gammas * precision_change
    mean = ((1.0 - gammas) * precision_stay * d.stay + gammas * precision_change * d.change) / precision
    ratio = precision_change / precision
    bound = 0.5 * (ratio - 1.0 - np.log(ratio) + precision_change * (mean - d.change) ** 2)
    return FormulaErrors(float(max(0.0, np.max(np.diff(bound, axis=0)))))


# --- Nassar's learners -----------------------------------------------------------------------------------------------------


@formula(
    FORMULAS,
    "pf1-expectation",
    "Methods, Nassar's algorithm and Particle Filtering with one particle",
    "In expectation over its sampling, the mean of pf1 is updated as by Nas10*, in both forms of that update.",
    "identical",
)
def one_particle_on_average() -> FormulaErrors:
    """The expectation of pf1's mean over its sampled change, against both forms of the update of Nas10*."""
    d = draws()
    printed = (1.0 - d.gamma) * d.stay + d.gamma * d.change
    stay = (d.mu * (d.rho + d.r) + d.y) / (d.rho + d.r + 1.0)  # the conjugate update of the one particle
    change = (d.mu_0 * d.rho + d.y) / (d.rho + 1.0)
    alpha = (d.rho + d.gamma * d.r + 1.0) / (d.rho + d.r + 1.0)
    rewritten = d.rho / (d.rho + 1.0) * (d.mu + d.gamma * (d.mu_0 - d.mu)) + (d.mu + alpha * (d.y - d.mu)) / (d.rho + 1.0)
    truth = (1.0 - d.gamma) * stay + d.gamma * change
    return FormulaErrors(max(largest(printed, truth), largest(rewritten, truth)))


@formula(
    FORMULAS,
    "nassar-variance",
    "Appendix, Recursive update of the estimated variance",
    "The variance of Nas12* is sigma^2 alpha / (rho + 1) + (1 - gamma) gamma B^2.",
    "equal",
)
def variance_update() -> FormulaErrors:
    """The final formula against the variance of the mixture of both Gaussians."""
    d = draws()
    alpha = (d.rho + d.gamma * d.r + 1.0) / (d.rho + d.r + 1.0)
    gain = 1.0 / (d.rho + 1.0) - d.r / ((d.rho + 1.0) * (d.rho + d.r + 1.0))
    b = d.mu + gain * (d.y - d.mu) - d.mu_0 - (d.y - d.mu_0) / (d.rho + 1.0)
    printed = d.sigma**2 / (d.rho + 1.0) * alpha + (1.0 - d.gamma) * d.gamma * b**2
    stay, change = d.sigma**2 / (d.rho + d.r + 1.0), d.sigma**2 / (d.rho + 1.0)
    mean = (1.0 - d.gamma) * d.stay + d.gamma * d.change
    second = (1.0 - d.gamma) * (stay + d.stay**2) + d.gamma * (change + d.change**2)
    return FormulaErrors(largest(printed, second - mean**2))


@formula(
    FORMULAS,
    "nassar-variance-line",
    "Appendix, Recursive update of the estimated variance, line after 'Using, as before'",
    "On the way: A = sigma^2 / (rho + 1) (1 - (1 - gamma) / (rho + r + 1)).",
    "equal",
    "with (1 - gamma) r / (rho + r + 1)",
)
def variance_line() -> FormulaErrors:
    """A = (1 - gamma) sigma_B^2 + gamma sigma_change^2, as the line after 'Using, as before' has it (errata 5)."""
    d = draws()
    truth = (1.0 - d.gamma) * d.sigma**2 / (d.rho + d.r + 1.0) + d.gamma * d.sigma**2 / (d.rho + 1.0)
    scale, share = d.sigma**2 / (d.rho + 1.0), (1.0 - d.gamma) / (d.rho + d.r + 1.0)
    return FormulaErrors(largest(scale * (1.0 - share), truth), largest(scale * (1.0 - share * d.r), truth))


@formula(
    FORMULAS,
    "gaussian-bayes-factor",
    "Appendix, Implementation of Nas10*, Nas12* and pf1",
    "The printed Bayes Factor Surprise of a Gaussian belief.",
    "equal to the general formula",
    "as the ratio N(y; mu_0, sigma^2 + sigma_0^2) / N(y; mu_t, sigma^2 + sigma_t^2)",
)
def gaussian_bayes_factor() -> FormulaErrors:
    """The appendix's formula (errata 3); mended: the ratio of two normal densities. The truth: integrals over theta."""
    d, theta = draws(50), np.linspace(-40.0, 40.0, 20_001)[:, None]
    s = d.variance
    evidence = [
        np.sum(normal(d.y, theta, d.sigma**2) * normal(theta, m, v), axis=0) for m, v in ((d.mu_0, d.sigma_0**2), (d.mu, s))
    ]
    truth = np.log(evidence[0]) - np.log(evidence[1])
    exponent = -(d.mu_0**2) / (2.0 * d.sigma_0**2) - d.mu**2 / (2.0 * s)
    exponent += (d.mu / s + d.y / d.sigma**2) / (2.0 * (d.sigma**2 / s + 1.0))
    exponent += (d.mu_0 / d.sigma_0**2 + d.y / d.sigma**2) / (2.0 * (d.rho + 1.0))
    printed = np.log((d.sigma**2 + s) / (d.sigma**2 + d.sigma_0**2)) + exponent
    return FormulaErrors(*(float(np.max(np.abs(np.expm1(form - truth)))) for form in (printed, np.log(d.bayes_factor))))
