"""More formulas of the paper beside what they should equal: predictions, surprises, particles, what holds by construction."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from volatilis.paper.claims.formulas import Draws, Formula, FormulaErrors, Number, draws, formula, largest, normal

FORMULAS: list[Formula] = []  # those below, in their order


@formula(
    FORMULAS,
    "pseudocode-sigma",
    "Appendix, pseudocode of Nas10* and pf1",
    "What is computed as sigma_{t+1} is the standard deviation that the Bayes Factor Surprise then takes.",
    "a standard deviation",
    "taken as a variance",
)
def pseudocode_spread() -> FormulaErrors:
    """What the pseudocode calls sigma_{t+1}, against the standard deviation it names; mended: as a variance (errata 4)."""
    d = draws()
    printed = 1.0 / (1.0 / d.sigma_0**2 + d.r / d.sigma**2)
    return FormulaErrors(largest(printed, np.sqrt(d.variance)), largest(printed, d.variance))


# --- predictions -----------------------------------------------------------------------------------------------------------


@formula(
    FORMULAS,
    "sign-bias-word",
    "Results, Prediction 1",
    "A sign bias s = sign(delta y_hat) = +1 means that the prediction was an overestimation in absolute value.",
    "overestimation",
    "as an underestimation",
)
def sign_bias_word() -> FormulaErrors:
    """Share of predictions that s = +1 calls an overestimation in absolute value and that are not; mended: underestimation."""
    random = np.random.default_rng(4)
    prediction = random.normal(0.0, 1.0, 1000)
    delta = np.sign(prediction) * random.uniform(0.0, 2.0, 1000)  # s = sign(delta * prediction) = +1
    over = np.abs(prediction) > np.abs(prediction + delta)
    return FormulaErrors(float(np.mean(~over)), float(np.mean(over)))


@formula(
    FORMULAS,
    "prediction-1-all-confidences",
    "Methods, Theoretical proofs for prediction 1",
    "The difference in Bayes Factor Surprise between both sign biases grows with delta for every sigma_C > 0.",
    "for all sigma_C > 0 (the proof uses sigma_C < sigma_0 = 1)",
    "for sigma_C up to 1 only",
)
def effect_grows_for_every_confidence() -> FormulaErrors:
    """d/d delta of the difference in Bayes Factor Surprise: largest positive value, for sigma_C up to 3; mended: up to 1."""
    return FormulaErrors(largest_rise(3.0), largest_rise(1.0))


def largest_rise(widest: float) -> float:
    """Relative to the difference itself; 0 where the difference only falls."""
    sigma_c, theta, delta = np.meshgrid(np.linspace(0.05, widest, 30), np.linspace(0.1, 3.0, 30), np.linspace(0.01, 6.0, 200))
    broad, narrow = 1.25, 0.25 + sigma_c**2  # sigma = 0.5, as in the simulations
    # The difference is -2 c exp(delta^2 (1/narrow - 1/broad) / 2) sinh(theta delta / broad): minus its logarithmic derivative.
    growth = delta * (1.0 / narrow - 1.0 / broad) + theta / broad / np.tanh(theta * delta / broad)
    return float(max(0.0, np.max(-growth)))


@formula(
    FORMULAS,
    "prediction-1-all-confidences-shannon",
    "Methods, Theoretical proofs for prediction 1",
    "The difference in Shannon Surprise between both sign biases grows with delta for every sigma_C > 0.",
    "for all sigma_C > 0 (the proof rests on that for the Bayes Factor Surprise)",
    "for sigma_C up to 1 only",
)
def shannon_effect_grows_for_every_confidence() -> FormulaErrors:
    """d/d delta of the difference in Shannon Surprise: its largest fall for sigma_C up to 3; mended: up to 1."""
    return FormulaErrors(largest_fall(3.0), largest_fall(1.0))


def largest_fall(widest: float) -> float:
    """0 where the difference only grows; sigma = 0.5 and p_c = 0.1 as in the simulations."""
    sigma_c, theta, delta = np.meshgrid(np.linspace(0.05, widest, 30), np.linspace(0.1, 3.0, 30), np.linspace(0.01, 6.0, 200))
    broad, narrow, m = 1.25, 0.25 + sigma_c**2, 0.1 / 0.9

    def slope(sign: int) -> np.ndarray:
        f = np.sqrt(narrow / broad) * np.exp(0.5 * delta**2 / narrow - 0.5 * (delta + sign * theta) ** 2 / broad)
        return (delta / narrow - (delta + sign * theta) / broad) * m * f / (1.0 + m * f)

    return float(max(0.0, np.max(slope(1) - slope(-1))))


# --- surprises -------------------------------------------------------------------------------------------------------------


@formula(
    FORMULAS,
    "flat-prior",
    "Results, Experimental prediction",
    "With an uninformative prior the Shannon Surprise is an invertible function of the adaptation rate.",
    "invertible",
)
def flat_prior_links_both_surprises() -> FormulaErrors:
    """Where the prior gives every observation the same p_0, gamma = p_c p_0 exp(S_Sh): each is a function of the other."""
    random = np.random.default_rng(11)
    p, p_0, p_c = random.uniform(0.001, 1.0, 200), 0.05, random.uniform(0.01, 0.5, 200)
    shannon = -np.log((1.0 - p_c) * p + p_c * p_0)
    odds = p_c / (1.0 - p_c) * p_0 / p
    return FormulaErrors(largest(p_c * p_0 * np.exp(shannon), odds / (1.0 + odds)))


@formula(
    FORMULAS,
    "equal-probabilities",
    "Results, Prediction 2",
    "Where prior and belief give an observation the same probability p, S_BF is 1 and S_Sh is -log p.",
    "1 and -log p",
)
def equal_probabilities() -> FormulaErrors:
    """Where prior and belief give y the same probability p: S_BF = 1, S_Sh = -log p; at a crossing of two normal densities."""
    d = draws()
    narrow, broad = d.sigma**2 + d.variance, d.sigma**2 + d.sigma_0**2
    # (y - mu)^2 / narrow - (y - mu_0)^2 / broad = log(broad / narrow)
    a, b = 1.0 / narrow - 1.0 / broad, d.mu / narrow - d.mu_0 / broad
    c = d.mu**2 / narrow - d.mu_0**2 / broad - np.log(broad / narrow)
    far = b + np.copysign(np.sqrt(b**2 - a * c), b)  # of a y^2 - 2 b y + c = 0, without cancellation
    roots = np.array([far / a, c / far])
    crossing = d._replace(y=roots[np.argmin(np.abs(roots - d.mu), axis=0), np.arange(len(d.mu))])
    p = normal(crossing.y, d.mu, narrow)
    shannon = -np.log((1.0 - d.p_c) * p + d.p_c * normal(crossing.y, d.mu_0, broad))
    return FormulaErrors(max(largest(crossing.bayes_factor, 1.0), largest(np.exp(-shannon), p)))


@formula(
    FORMULAS,
    "corrected-surprise",
    "Discussion, Bayes Factor Surprise as a novel measure of surprise",
    "The confidence-corrected surprise is the same for both sign biases.",
    "no difference",
)
def corrected_surprise_has_no_sign() -> FormulaErrors:
    """The confidence-corrected surprise KL[belief || scaled likelihood] of mu + delta and of mu - delta, by integration."""
    d, theta = draws(50), np.linspace(-40.0, 40.0, 20_001)[:, None]
    belief = normal(theta, d.mu, d.variance)
    delta = np.abs(d.y - d.mu)

    def surprise(y: np.ndarray) -> np.ndarray:
        gap = 0.5 * (theta - y) ** 2 / d.sigma**2 - 0.5 * (theta - d.mu) ** 2 / d.variance
        gap += 0.5 * np.log(d.sigma**2 / d.variance)
        return np.asarray(np.sum(belief * gap, axis=0) / np.sum(belief, axis=0))

    return FormulaErrors(largest(surprise(d.mu + delta), surprise(d.mu - delta)))


@formula(
    FORMULAS,
    "exponential-family",
    "Methods, Application to the exponential family",
    "S_BF is a ratio of normalisers of the conjugate prior (here: Gaussian, Poisson, Categorical).",
    "equal to the general formula",
)
def exponential_family() -> FormulaErrors:
    """The compact form of S_BF with the normaliser f of the conjugate prior, for three families, against the predictives."""
    return FormulaErrors(max(gaussian_family(draws()), poisson_family(), categorical_family()))


def gaussian_family(d: Draws) -> float:
    """phi(y) = y / sigma, A(theta) = theta^2 / 2, theta = mu / sigma: f(chi, nu) = sqrt(nu / 2 pi) exp(-chi^2 / 2 nu)."""

    def log_f(chi: Number, nu: Number) -> Number:
        return 0.5 * np.log(nu) - 0.5 * chi**2 / nu

    nu_0, nu = d.rho, d.rho + d.r
    return largest(compact(log_f, nu_0 * d.mu_0 / d.sigma, nu_0, nu * d.mu / d.sigma, nu, d.y / d.sigma), d.bayes_factor)


def poisson_family() -> float:
    """phi(y) = y, A(theta) = exp(theta): f(chi, nu) = nu^chi / Gamma(chi). The predictive: negative binomial."""
    from scipy.special import gammaln
    from scipy.stats import nbinom

    y, (chi_0, nu_0), (chi, nu) = np.arange(12.0), (1.4, 0.6), (9.5, 3.6)
    truth = nbinom.pmf(y, chi_0, nu_0 / (nu_0 + 1.0)) / nbinom.pmf(y, chi, nu / (nu + 1.0))
    return largest(compact(lambda c, n: c * np.log(n) - gammaln(c), chi_0, nu_0, chi, nu, y), truth)


def categorical_family() -> float:
    """The Dirichlet: f(alpha) = Gamma(sum alpha) / prod Gamma(alpha). The predictive: alpha_k / sum alpha."""
    from scipy.special import gammaln

    prior, belief, one = np.full(5, 0.3), np.array([0.3, 2.3, 7.3, 1.3, 0.3]), np.eye(5)

    def log_f(chi: Number, nu: Number) -> Number:
        return gammaln(np.sum(chi, axis=-1)) - np.sum(gammaln(chi), axis=-1)

    return largest(compact(log_f, prior, 0.0, belief, 0.0, one), (prior / prior.sum()) / (belief / belief.sum()))


def compact(
    log_f: Callable[[Number, Number], Number], chi_0: Number, nu_0: Number, chi: Number, nu: Number, phi: Number
) -> np.ndarray:
    """f(chi + phi, nu + 1) / f(chi_0 + phi, nu_0 + 1) * f(chi_0, nu_0) / f(chi, nu)."""
    return np.asarray(np.exp(log_f(chi + phi, nu + 1.0) - log_f(chi_0 + phi, nu_0 + 1.0) + log_f(chi_0, nu_0) - log_f(chi, nu)))


# --- particles -------------------------------------------------------------------------------------------------------------


def particles(count: int = 20) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Weights, predictive probabilities under each particle, that under the prior, p_c."""
    random = np.random.default_rng(12)
    return random.dirichlet(np.ones(count)), random.uniform(0.001, 1.0, count), 0.08, 0.15


@formula(
    FORMULAS,
    "harmonic-mean",
    "Results, Algorithms 2 and 3",
    "The surprise of a set of weighted particles is the weighted harmonic mean of theirs.",
    "harmonic mean",
)
def harmonic_mean() -> FormulaErrors:
    """The surprise of a weighted sum of beliefs is the weighted harmonic mean of the particles' surprises."""
    w, p, p_0, _ = particles()
    return FormulaErrors(largest(1.0 / np.sum(w / (p_0 / p)), p_0 / np.sum(w * p)))


@formula(
    FORMULAS,
    "particle-weights",
    "Results, Particle Filtering",
    "The particles' weights are a mixture, with rate gamma, of the Bayesian weights and those before.",
    "w = (1 - gamma) w_B + gamma w",
)
def particle_weights() -> FormulaErrors:
    """(1 - gamma) w_B + gamma w against the importance weights of the optimal proposal: w P(y | its past), normalised."""
    w, p, p_0, p_c = particles()
    mixture = np.sum(w * p)
    odds = p_c / (1.0 - p_c) * p_0 / mixture
    gamma = odds / (1.0 + odds)
    importance = w * ((1.0 - p_c) * p + p_c * p_0)
    return FormulaErrors(largest((1.0 - gamma) * w * p / mixture + gamma * w, importance / importance.sum()))


# --- by construction -------------------------------------------------------------------------------------------------------


@formula(
    FORMULAS,
    "nassar-limit",
    "Methods, Nas10* and Nas12* algorithms",
    "For sigma_0 much larger than sigma the update of Nas10* becomes that of the original.",
    "alpha = (1 + gamma r) / (1 + r)",
)
def without_a_prior_the_original_rule() -> FormulaErrors:
    """The update of Nas10* for rho -> 0 (sigma_0 a million times sigma): mu + (1 + gamma r) / (1 + r) (y - mu)."""
    d = draws()
    rho, gamma = 1e-12, d.gamma
    alpha = (rho + gamma * d.r + 1.0) / (rho + d.r + 1.0)
    first = rho / (rho + 1.0) * (d.mu + gamma * (d.mu_0 - d.mu))
    full = first + (d.mu + alpha * (d.y - d.mu)) / (rho + 1.0)
    return FormulaErrors(float(np.max(np.abs(full - d.mu - (1.0 + gamma * d.r) / (1.0 + d.r) * (d.y - d.mu)))))


@formula(
    FORMULAS,
    "smile-width",
    "Results, Gaussian estimation task",
    "SMiLe, by construction, never narrows its belief below a minimal value (here: the variance below the lesser of sigma^2 "
    "and sigma_0^2).",
    "by construction",
)
def smile_stays_wide() -> FormulaErrors:
    """How far the variance of SMiLe falls below the lesser of sigma^2 and sigma_0^2, as a share; six runs of 100 steps."""
    from volatilis._compiler import plain_python
    from volatilis.families import Gaussian
    from volatilis.learners import SMiLe
    from volatilis.running.run import run

    ys, worst = np.random.default_rng(13).normal(0.0, 1.0, 100), 0.0
    with plain_python():
        for sigma in (0.3, 2.0):
            least = min(sigma**2, 1.0)
            for m in (1e-3, 0.1, 10.0):
                variance = run(SMiLe(Gaussian(sigma), m), sigma * ys, readouts=("variance",)).variance
                worst = max(worst, float(np.max(1.0 - variance / least)))
    return FormulaErrors(worst)
