"""Dirichlet beliefs: chi holds the concentrations, nu their sum. Bernoulli is the case of two categories.

Two more rows of chi hold 1 / nu and 1 / (nu + 1): an observation moves the second into the first, so that it costs one division
where the readouts would need three for each category.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from volatilis._compiler.registry import compiled_function
from volatilis.families._base import Beliefs
from volatilis.special import SMALLEST_NORMAL, eight_zeros, fma, largest, log, log_gamma_and_digamma, not_faint, total


@compiled_function
def categories(beliefs: Beliefs) -> int:
    return beliefs.chi.shape[0] - 2


@compiled_function
def set_total(beliefs: Beliefs, i: int, nu: float) -> None:
    k = categories(beliefs)
    beliefs.nu[i] = nu
    beliefs.chi[k, i] = 1.0 / nu if nu > 0.0 else 0.0  # a column without a prior that has seen nothing
    beliefs.chi[k + 1, i] = 1.0 / (nu + 1.0)


@compiled_function
def count_one(beliefs: Beliefs, i: int, row: int) -> None:
    k = categories(beliefs)
    beliefs.chi[row, i] += 1.0
    beliefs.nu[i] += 1.0
    beliefs.chi[k, i] = beliefs.chi[k + 1, i]
    beliefs.chi[k + 1, i] = 1.0 / (beliefs.nu[i] + 1.0)


@compiled_function
def share(beliefs: Beliefs, i: int, row: int) -> float:
    """The mean of p_row."""
    return beliefs.chi[row, i] * beliefs.chi[categories(beliefs), i]


@compiled_function
def share_variance(beliefs: Beliefs, i: int, row: int) -> float:
    p = share(beliefs, i, row)
    return p * (1.0 - p) * beliefs.chi[categories(beliefs) + 1, i]


@compiled_function
def mixture_share(beliefs: Beliefs, w: np.ndarray, n: int, row: int, room: np.ndarray) -> float:
    inverse = categories(beliefs)
    for i in range(n):
        room[i] = w[i] * (beliefs.chi[row, i] * beliefs.chi[inverse, i])
    return total(room, n)


@compiled_function
def mixture_share_variance(beliefs: Beliefs, w: np.ndarray, n: int, row: int, mean: float, room: np.ndarray) -> float:
    inverse = categories(beliefs)
    for i in range(n):
        p = beliefs.chi[row, i] * beliefs.chi[inverse, i]
        apart = p - mean
        room[i] = fma(w[i] * apart, apart, w[i] * (p * (1.0 - p) * beliefs.chi[inverse + 1, i]))
    return total(room, n)


@compiled_function
def blend_dirichlets(beliefs: Beliefs, i: int, others: Beliefs, j: int, a: float, b: float) -> None:
    for row in range(categories(beliefs)):
        beliefs.chi[row, i] = a * beliefs.chi[row, i] + b * others.chi[row, j]
    set_total(beliefs, i, a * beliefs.nu[i] + b * others.nu[j])


@compiled_function
def weighted_shares(beliefs: Beliefs, w: np.ndarray, n: int, row: int, out: np.ndarray) -> tuple[float, float]:
    """out[i] = w[i] chi[row, i] / nu[i] / e^scale; returns their sum, and scale, which is 0 unless all are near underflow."""
    inverse = categories(beliefs)
    for i in range(n):
        out[i] = w[i] * (beliefs.chi[row, i] * beliefs.chi[inverse, i])
    evidence = total(out, n)
    if evidence > 1e-200:
        return evidence, 0.0
    for i in range(n):
        out[i] = beliefs.chi[row, i] * beliefs.chi[inverse, i] if w[i] > 0.0 else 0.0
    top = largest(out, n)
    for i in range(n):
        out[i] = w[i] * (out[i] / top)
    return not_faint(out, n, log(top))


@compiled_function
def heterogeneity(beliefs: Beliefs, i: int) -> float:
    """sum_k p_k (1 - p_k) at the mean p, exact also where one category has all but nothing."""
    top = 0
    for k in range(categories(beliefs)):
        top = k if beliefs.chi[k, i] > beliefs.chi[top, i] else top
    rest, result = 0.0, 0.0
    for k in range(categories(beliefs)):
        if k != top:
            p = share(beliefs, i, k)
            rest += p
            result += p * (1.0 - p)
    return result + share(beliefs, i, top) * rest


@compiled_function
def merge_dirichlets(beliefs: Beliefs, i: int, j: int, a: float, b: float) -> None:
    """Column i becomes the Dirichlet with the mean and the total variance of a pi_i + b pi_j."""
    last = categories(beliefs) + 1
    spread_i, spread_j = heterogeneity(beliefs, i) * beliefs.chi[last, i], heterogeneity(beliefs, j) * beliefs.chi[last, j]
    apart = 0.0
    for k in range(categories(beliefs)):
        difference = share(beliefs, i, k) - share(beliefs, j, k)
        apart += difference * difference
    variance = a * spread_i + b * spread_j + a * b * apart
    nu = (a * beliefs.nu[i] * spread_i + b * beliefs.nu[j] * spread_j) / variance
    for k in range(categories(beliefs)):
        beliefs.chi[k, i] = (a * share(beliefs, i, k) + b * share(beliefs, j, k)) * nu
    set_total(beliefs, i, nu)


@compiled_function
def dirichlet_dissimilarity(beliefs: Beliefs, i: int, j: int, a: float, b: float) -> float:
    """In the metric 1 / p_k: |m_i - m_j|^2 + (V_i + V_j) log^2(V_i / V_j), V = (categories - 1) / (nu + 1)."""
    apart = 0.0
    for k in range(categories(beliefs)):
        p_i, p_j = share(beliefs, i, k), share(beliefs, j, k)
        apart += (p_i - p_j) * (p_i - p_j) / (a * p_i + b * p_j)
    spread_i, spread_j = beliefs.chi[categories(beliefs) + 1, i], beliefs.chi[categories(beliefs) + 1, j]
    ratio = log(spread_i / spread_j)
    return apart + (categories(beliefs) - 1) * (spread_i + spread_j) * ratio * ratio


@compiled_function
def dirichlet_dissimilarities(beliefs: Beliefs, w: np.ndarray, n: int, out: np.ndarray) -> None:
    """The same for all neighbours, category by category: flat loops."""
    inverse, last = categories(beliefs), categories(beliefs) + 1
    for i in range(n - 1):
        spread_i, spread_j = beliefs.chi[last, i], beliefs.chi[last, i + 1]
        ratio = log(spread_i / spread_j)
        out[i] = (inverse - 1) * (spread_i + spread_j) * ratio * ratio
    for k in range(categories(beliefs)):
        for i in range(n - 1):
            p_i = beliefs.chi[k, i] * beliefs.chi[inverse, i]
            p_j = beliefs.chi[k, i + 1] * beliefs.chi[inverse, i + 1]
            apart = (w[i] + w[i + 1]) * (p_i - p_j) * (p_i - p_j)
            out[i] += apart / (w[i] * p_i + w[i + 1] * p_j + SMALLEST_NORMAL)  # 0 / 0 where all underflows is 0


@compiled_function
def next_eight(beliefs: Beliefs, i: int, first: int, alpha: np.ndarray, log_gammas: np.ndarray, digammas: np.ndarray) -> int:
    """Of alpha, its sum before its items, those from the given one on; returns how many there are, and beyond the last are ones.

    log Gamma and digamma of all eight together cost about as much as of one.
    """
    count = categories(beliefs) + 1 - first
    for lane in range(8):
        alpha[lane] = beliefs.chi[first + lane - 1, i] if first + lane > 0 and lane < count else 1.0
    if first == 0:
        alpha[0] = beliefs.nu[i]
    for lane in range(8):
        log_gammas[lane], digammas[lane] = log_gamma_and_digamma(alpha[lane])
    return min(count, 8)


@compiled_function
def dirichlet_divergence_parts(beliefs: Beliefs, i: int, others: Beliefs, j: int) -> tuple[float, float]:
    """The log norm of Dir(alpha), the log of the integral of prod_k p_k^(alpha_k - 1), and E[(alpha - beta) log p] under it."""
    alpha, log_gammas, digammas = eight_zeros(), eight_zeros(), eight_zeros()
    log_norm, apart, psi = 0.0, 0.0, 0.0
    for first in range(0, categories(beliefs) + 1, 8):
        count = next_eight(beliefs, i, first, alpha, log_gammas, digammas)
        if first == 0:
            log_norm, psi = -log_gammas[0], digammas[0]
        for lane in range(1 if first == 0 else 0, count):
            log_norm += log_gammas[lane]
            apart += (alpha[lane] - others.chi[first + lane - 1, j]) * (digammas[lane] - psi)
    return log_norm, apart


@compiled_function
def dirichlet_divergence(beliefs: Beliefs, i: int, others: Beliefs, j: int) -> float:
    """KL[Dir(alpha) || Dir(beta)]."""
    log_norm, apart = dirichlet_divergence_parts(beliefs, i, others, j)
    log_norm_j, _ = dirichlet_divergence_parts(others, j, beliefs, i)
    return log_norm_j - log_norm + apart


def plausible_count(k: int, sequences: Sequence[np.ndarray]) -> float:
    """The prior's pseudo-count of each of k symbols that these sequences suggest, roughly: 1, or less where some are rare.

    Two observations of one level p are alike with probability E[sum of p_k^2] = (s + 1) / (k s + 1). Levels that change, or a
    chain, make pairs of a sequence less alike than that, so 1 is the most.
    """
    counts = [np.bincount(one, minlength=k).astype(float) for one in sequences]
    pairs = sum(float(one.sum() * (one.sum() - 1.0)) for one in counts)
    alike = (sum(float(np.sum(one * (one - 1.0))) for one in counts) + 1.0) / (pairs + 2.0)
    return float(np.clip((1.0 - alike) / max(k * alike - 1.0, 1e-3), 0.02, 1.0))
