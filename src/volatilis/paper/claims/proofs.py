"""What the paper proves or states of its surprises and of VarSMiLe, computed beside what it should equal."""

from __future__ import annotations

import numpy as np

from volatilis.paper.claims.formulas import Formula, FormulaErrors, draws, formula, largest, normal

FORMULAS: list[Formula] = []  # those below, in their order


@formula(
    FORMULAS,
    "prediction-1-signs",
    "Methods, Theoretical proofs for prediction 1",
    "For any estimate, error and uncertainty the Bayes Factor Surprise is lower, and the Shannon "
    "Surprise higher, for s = +1 than for "
    "s = -1 (here: sigma 0.1 to 5, sigma_C 0.01 to 10, 0.01 to 4 for the rest).",
    "for all",
)
def signs_of_prediction_1() -> FormulaErrors:
    """By how much the wrong side is ever ahead: of log S_BF, and of S_Sh; 0 if never. p_c = 0.1."""
    sigma, spread, theta, delta = np.meshgrid(
        np.geomspace(0.1, 5.0, 7), np.geomspace(0.01, 10.0, 12), np.geomspace(0.01, 4.0, 12), np.geomspace(0.01, 4.0, 12)
    )
    broad, narrow = sigma**2 + 1.0, sigma**2 + spread**2
    log_p = -0.5 * delta**2 / narrow - 0.5 * np.log(narrow)
    log_p_0 = [-0.5 * (theta + sign * delta) ** 2 / broad - 0.5 * np.log(broad) for sign in (1, -1)]  # y = theta + s delta
    shannon = [-np.logaddexp(np.log(0.9) + log_p, np.log(0.1) + prior) for prior in log_p_0]
    return FormulaErrors(float(max(0.0, np.max(log_p_0[0] - log_p_0[1]), np.max(shannon[1] - shannon[0]))))


@formula(
    FORMULAS,
    "varsmile-minimiser",
    "Methods, Derivation of the optimization-based formulation of VarSMiLe",
    "VarSMiLe's belief is the one nearest to that without a change, by KL[q || P(theta | no change)], "
    "among all whose divergence from "
    "that after a change is within its bound (here: among 2,000 normal beliefs around it, for 50 settings).",
    "the minimiser",
)
def varsmile_minimises() -> FormulaErrors:
    """By how much a normal belief within the bound is nearer than VarSMiLe's: relative; 0 if none is."""
    d, random = draws(50), np.random.default_rng(21)
    stay, change = (d.rho + d.r + 1.0) / d.sigma**2, (d.rho + 1.0) / d.sigma**2  # precisions
    precision = (1.0 - d.gamma) * stay + d.gamma * change
    mean = ((1.0 - d.gamma) * stay * d.stay + d.gamma * change * d.change) / precision

    def divergence(m: np.ndarray, p: np.ndarray, centre: np.ndarray, other: np.ndarray) -> np.ndarray:
        return np.asarray(0.5 * (other / p - 1.0 - np.log(other / p) + other * (m - centre) ** 2))

    bound, least = divergence(mean, precision, d.change, change), divergence(mean, precision, d.stay, stay)
    scale = 10.0 ** random.uniform(-3.0, 0.0, (2000, 1))
    tried_mean = mean + scale * random.normal(size=(2000, 50)) / np.sqrt(precision)
    tried = precision * np.exp(scale * random.normal(size=(2000, 50)))
    allowed = divergence(tried_mean, tried, d.change, change) <= bound
    gain = np.where(allowed, least - divergence(tried_mean, tried, d.stay, stay), -np.inf)
    return FormulaErrors(float(max(0.0, np.max(gain / np.maximum(least, 1e-12)))))


@formula(
    FORMULAS,
    "varsmile-limits",
    "Results, Variational SMiLe Rule",
    "VarSMiLe is exact where p_c is 0 or 1: it integrates perfectly, or begins anew at each observation.",
    "exact",
)
def varsmile_at_the_ends() -> FormulaErrors:
    """With gamma 0 and 1 its natural parameters are those of the belief without a change, and of the one after it."""
    d = draws()
    stay, change, worst = (d.rho + d.r + 1.0) / d.sigma**2, (d.rho + 1.0) / d.sigma**2, 0.0
    for p_c, centre, wanted in ((0.0, d.stay, stay), (1.0, d.change, change)):
        gamma = p_c * d.bayes_factor / ((1.0 - p_c) + p_c * d.bayes_factor)  # m S / (1 + m S) with m = p_c / (1 - p_c)
        precision = (1.0 - gamma) * stay + gamma * change
        mean = ((1.0 - gamma) * stay * d.stay + gamma * change * d.change) / precision
        worst = max(worst, largest(precision, wanted), largest(mean - centre + 1.0, np.ones_like(mean)))
    return FormulaErrors(worst)


@formula(
    FORMULAS,
    "gamma-alone",
    "Results, Theoretical difference between both surprises; Discussion",
    "The adaptation rate gamma is no function of the Shannon, the confidence-corrected or the Bayesian "
    "surprise alone (here: pairs of "
    "settings, p_c and sigma the same, with equal surprise and gamma apart by more than 0.1, for each of the three).",
    "no function",
)
def gamma_is_no_function_of_one_surprise() -> FormulaErrors:
    """0 if for each measure two settings exist with equal surprise (to 1e-9) and different gamma; else the number that fail."""
    from scipy.optimize import brentq

    sigma, p_c = 0.5, 0.1

    def measures(y: float, mu: float, variance: float) -> tuple[float, float, float, float]:
        p, p_0 = float(normal(y, mu, sigma**2 + variance)), float(normal(y, 0.0, sigma**2 + 1.0))
        odds = p_c / (1.0 - p_c) * p_0 / p
        shannon = -np.log((1.0 - p_c) * p + p_c * p_0)
        corrected = 0.5 * (variance / sigma**2 - 1.0 - np.log(variance / sigma**2) + (y - mu) ** 2 / sigma**2)
        after = 1.0 / (1.0 / variance + 1.0 / sigma**2)
        shift = after / sigma**2 * (y - mu)
        bayesian = 0.5 * (after / variance - 1.0 - np.log(after / variance) + shift**2 / variance)  # KL[after || before]
        return shannon, corrected, bayesian, odds / (1.0 + odds)

    failed, first = 0, measures(2.5, 1.0, 0.05)
    for which in range(3):
        gap = [
            abs(first[3] - measures(_equal(measures, which, mu, first[which], brentq), mu, 0.05)[3]) for mu in (0.0, 2.0, -1.5)
        ]
        failed += max(gap) <= 0.1
    return FormulaErrors(float(failed))


def _equal(measures: object, which: int, mu: float, wanted: float, solve: object) -> float:
    """The y on the far side of mu at which a measure has the wanted value."""
    assert callable(measures)
    assert callable(solve)
    return float(solve(lambda y: measures(y, mu, 0.05)[which] - wanted, mu + 1e-6, mu + 20.0, xtol=1e-12))
