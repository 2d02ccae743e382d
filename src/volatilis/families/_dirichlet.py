"""Dirichlet beliefs: chi holds the concentrations, nu their sum. Bernoulli is the case of two rows."""

from __future__ import annotations

import numpy as np

from volatilis._registry import compiled_function
from volatilis.families._base import Beliefs
from volatilis.special import digamma, largest, log, log_gamma, log_gamma_ratio


@compiled_function
def weighted_shares(beliefs: Beliefs, w: np.ndarray, n: int, row: int, out: np.ndarray) -> float:
    """out[i] = w[i] chi[row, i] / nu[i] / e^scale; returns scale, which is 0 unless all of them are near underflow."""
    enough = 0
    for i in range(n):
        out[i] = w[i] * (beliefs.chi[row, i] / beliefs.nu[i])
        enough += 1 if out[i] > 1e-200 else 0
    if enough > 0:
        return 0.0
    for i in range(n):
        out[i] = beliefs.chi[row, i] / beliefs.nu[i]
    top = largest(out, n)
    for i in range(n):
        out[i] = w[i] * (out[i] / top)
    return log(top)


@compiled_function
def heterogeneity(beliefs: Beliefs, i: int) -> float:
    """sum_k p_k (1 - p_k) at the mean p, exact also where one category has all but nothing."""
    nu, top = beliefs.nu[i], 0
    for k in range(beliefs.chi.shape[0]):
        if beliefs.chi[k, i] > beliefs.chi[top, i]:
            top = k
    rest, total = 0.0, 0.0
    for k in range(beliefs.chi.shape[0]):
        if k != top:
            p = beliefs.chi[k, i] / nu
            rest += p
            total += p * (1.0 - p)
    return total + beliefs.chi[top, i] / nu * rest


@compiled_function
def merge_dirichlets(beliefs: Beliefs, i: int, j: int, a: float, b: float) -> None:
    """Column i becomes the Dirichlet with the mean and the total variance of a pi_i + b pi_j."""
    nu_i, nu_j = beliefs.nu[i], beliefs.nu[j]
    spread_i, spread_j = heterogeneity(beliefs, i) / (nu_i + 1.0), heterogeneity(beliefs, j) / (nu_j + 1.0)
    apart = 0.0
    for k in range(beliefs.chi.shape[0]):
        difference = beliefs.chi[k, i] / nu_i - beliefs.chi[k, j] / nu_j
        apart += difference * difference
    variance = a * spread_i + b * spread_j + a * b * apart
    nu = (a * nu_i * spread_i + b * nu_j * spread_j) / variance
    for k in range(beliefs.chi.shape[0]):
        beliefs.chi[k, i] = (a * (beliefs.chi[k, i] / nu_i) + b * (beliefs.chi[k, j] / nu_j)) * nu
    beliefs.nu[i] = nu


@compiled_function
def dirichlet_dissimilarity(beliefs: Beliefs, i: int, j: int, a: float, b: float) -> float:
    """In the metric 1 / p_k: |m_i - m_j|^2 + (V_i + V_j) log^2(V_i / V_j), V = (rows - 1) / (nu + 1)."""
    nu_i, nu_j = beliefs.nu[i], beliefs.nu[j]
    apart = 0.0
    for k in range(beliefs.chi.shape[0]):
        p_i, p_j = beliefs.chi[k, i] / nu_i, beliefs.chi[k, j] / nu_j
        apart += (p_i - p_j) * ((p_i - p_j) / (a * p_i + b * p_j))
    spread_i, spread_j = 1.0 / (nu_i + 1.0), 1.0 / (nu_j + 1.0)
    ratio = log(spread_i / spread_j)
    return apart + (beliefs.chi.shape[0] - 1) * (spread_i + spread_j) * ratio * ratio


@compiled_function
def dirichlet_divergence(beliefs: Beliefs, i: int, others: Beliefs, j: int) -> float:
    """KL[Dir(alpha) || Dir(beta)]."""
    nu_i, nu_j = beliefs.nu[i], others.nu[j]
    psi = digamma(nu_i)
    result = log_gamma_ratio(nu_j, nu_i - nu_j)
    for k in range(beliefs.chi.shape[0]):
        more = beliefs.chi[k, i] - others.chi[k, j]
        result += more * (digamma(beliefs.chi[k, i]) - psi) - (log_gamma(beliefs.chi[k, i]) - log_gamma(others.chi[k, j]))
    return result
