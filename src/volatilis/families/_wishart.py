"""Normal-inverse-Wishart beliefs: triangular matrices in the rows of a bank's column, degrees of freedom, the joint distribution.

A lower triangular p x p matrix L lives in rows first ... first + p^2 - 1 of chi, row by row.
"""

from __future__ import annotations

import math

import numpy as np

from volatilis._compiler.registry import compiled_function
from volatilis.families._base import Beliefs
from volatilis.special import (
    LOG_2_PI,
    LOG_PI,
    bounded,
    exp,
    hypotenuse,
    log,
    log_1p,
    log_gamma,
    log_gamma_ratio,
    log_minus_digamma,
    student_cdf,
    trigamma,
)


@compiled_function
def dof_gap(nu: float, p: int) -> float:
    """log det E[W] - E[log det W] of a p x p Wishart matrix W with nu degrees of freedom; it falls from inf to 0."""
    gap = 0.0
    for r in range(p):
        half = 0.5 * (nu - r)
        gap += log_minus_digamma(half) + log(nu / (nu - r))
    return gap


@compiled_function
def degrees_of_freedom(gap: float, p: int) -> float:
    """The nu with dof_gap(nu, p) = gap, by Newton's method on log(nu - p + 1), safeguarded by its monotony."""
    excess = 0.5 * p * (p + 1.0) / gap  # right for large nu, where the gap is p (p + 1) / (2 nu)
    lower, upper = 0.0, np.inf
    for _ in range(100):
        nu = excess + (p - 1.0)
        error = dof_gap(nu, p) - gap
        if error > 0.0:
            lower = excess
        else:
            upper = excess
        slope = p / nu
        for r in range(p):
            slope -= 0.5 * trigamma(0.5 * (nu - r))
        step = exp(min(max(-error / (slope * excess), -2.0), 2.0))
        proposal = excess * step
        if proposal <= lower or proposal >= upper:
            proposal = 0.5 * (lower + upper) if upper < np.inf else 2.0 * excess
        done = abs(proposal - excess) <= 4e-16 * excess
        excess = proposal
        if done:
            break
    return excess + (p - 1.0)


@compiled_function
def cholesky(chi: np.ndarray, first: int, p: int, i: int) -> None:
    """The lower triangle of a positive definite matrix becomes its Cholesky factor, in place.

    A pivot that rounding took away is what rounding leaves of the diagonal: the factor is always finite.
    """
    for r in range(p):
        for c in range(r + 1):
            value = chi[first + r * p + c, i]
            least = 1e-15 * value + 1e-310
            for k in range(c):
                value -= chi[first + r * p + k, i] * chi[first + c * p + k, i]
            if c == r:
                chi[first + r * p + c, i] = math.sqrt(value if value > least else least)
            else:
                chi[first + r * p + c, i] = value / chi[first + c * p + c, i]


@compiled_function
def solve_lower(chi: np.ndarray, first: int, p: int, i: int, vector: int) -> None:
    """The vector in rows vector ... becomes L^-1 times it."""
    for r in range(p):
        value = chi[vector + r, i]
        for c in range(r):
            value -= chi[first + r * p + c, i] * chi[vector + c, i]
        chi[vector + r, i] = value / chi[first + r * p + r, i]


@compiled_function
def solve_upper(chi: np.ndarray, first: int, p: int, i: int, vector: int) -> None:
    """The vector in rows vector ... becomes L^-T times it."""
    for back in range(p):
        r = p - 1 - back
        value = chi[vector + r, i]
        for c in range(r + 1, p):
            value -= chi[first + c * p + r, i] * chi[vector + c, i]
        chi[vector + r, i] = value / chi[first + r * p + r, i]


@compiled_function
def add_outer_product(chi: np.ndarray, first: int, p: int, i: int, vector: int) -> None:
    """L becomes the factor of L L^T + x x^T for the vector x in rows vector ..., which is used up. Givens rotations."""
    for c in range(p):
        old, x = chi[first + c * p + c, i], chi[vector + c, i]
        new = hypotenuse(old, x)
        cosine = old / new if new > 0.0 else 1.0
        sine = x / new if new > 0.0 else 0.0
        chi[first + c * p + c, i] = new
        for r in range(c + 1, p):
            element = chi[first + r * p + c, i]
            chi[first + r * p + c, i] = cosine * element + sine * chi[vector + r, i]
            chi[vector + r, i] = cosine * chi[vector + r, i] - sine * element


@compiled_function
def log_diagonal(chi: np.ndarray, first: int, p: int, i: int) -> float:
    """log det L."""
    result = 0.0
    for r in range(p):
        result += log(chi[first + r * p + r, i])
    return result


@compiled_function
def sum_of_squares(chi: np.ndarray, first: int, n: int, i: int) -> float:
    result = 0.0
    for r in range(n):
        result += chi[first + r, i] * chi[first + r, i]
    return result


# --- beliefs: chi = (mu, the Cholesky factor of psi, degrees of freedom, room to work in), nu = kappa -----------------------


@compiled_function
def triangle_position(k: int, p: int) -> tuple[int, int]:
    """Row and column of element k of an upper triangle that is read row by row."""
    row = 0
    while k >= p - row:
        k -= p - row
        row += 1
    return row, row + k


@compiled_function
def psi_element(beliefs: Beliefs, i: int, p: int, row: int, column: int) -> float:
    result = 0.0
    for c in range(min(row, column) + 1):
        result += beliefs.chi[p + row * p + c, i] * beliefs.chi[p + column * p + c, i]
    return result


@compiled_function
def log_det_expected_precision(beliefs: Beliefs, i: int, p: int) -> float:
    """log det E[S^-1]."""
    return p * log(beliefs.chi[p + p * p, i]) - 2.0 * log_diagonal(beliefs.chi, p, p, i)


@compiled_function
def expected_precision(beliefs: Beliefs, i: int, p: int, at: int, weight: float) -> None:
    """Rows at ... of column i become weight * dof * psi^-1."""
    chi, work = beliefs.chi, p + p * p + 1
    for c in range(p):
        for r in range(p):
            chi[work + r, i] = weight * chi[p + p * p, i] if r == c else 0.0
        solve_lower(chi, p, p, i, work)
        solve_upper(chi, p, p, i, work)
        for r in range(p):
            chi[at + r * p + c, i] = chi[work + r, i]


@compiled_function
def trace_of_ratio(beliefs: Beliefs, i: int, others: Beliefs, j: int, p: int) -> float:
    """trace(psi_i^-1 psi_j) = |L_i^-1 L_j|^2."""
    chi, work = beliefs.chi, p + p * p + 1
    trace = 0.0
    for c in range(p):
        for r in range(p):
            chi[work + r, i] = others.chi[p + r * p + c, j]
        solve_lower(chi, p, p, i, work)
        trace += sum_of_squares(chi, work, p, i)
    return trace


@compiled_function
def distance_in_precision(beliefs: Beliefs, i: int, j: int, p: int) -> float:
    """(m_i - m_j)^T E_i[S^-1] (m_i - m_j) + trace(S_i^-1 S_j), with S = psi / dof."""
    chi, work = beliefs.chi, p + p * p + 1
    trace = trace_of_ratio(beliefs, i, beliefs, j, p) * chi[p + p * p, i] / chi[p + p * p, j]
    for r in range(p):
        chi[work + r, i] = chi[r, i] - chi[r, j]
    solve_lower(chi, p, p, i, work)
    return chi[p + p * p, i] * sum_of_squares(chi, work, p, i) + trace


# --- the predictive, one element after another: given those before it each is a Student's t with one more degree of freedom ----


@compiled_function
def element_part(beliefs: Beliefs, i: int, y: np.ndarray, k: int, p: int) -> tuple[float, float, float]:
    """Of element k given those before it: t / sqrt(dof), dof, and log of 1 + the squared distance of those before it."""
    chi, work = beliefs.chi, p + p * p + 1
    for r in range(k + 1):
        chi[work + r, i] = y[r] - chi[r, i]
    share, before = beliefs.nu[i] / (beliefs.nu[i] + 1.0), 1.0
    for r in range(k + 1):
        for c in range(r):
            chi[work + r, i] -= chi[p + r * p + c, i] * chi[work + c, i]
        chi[work + r, i] = bounded(chi[work + r, i] / chi[p + r * p + r, i])
        before += share * chi[work + r, i] * chi[work + r, i] if r < k else 0.0
    before = min(before, 1e300)
    return math.sqrt(share) * chi[work + k, i] / math.sqrt(before), chi[p + p * p, i] - p + 1.0 + k, log(before)


@compiled_function
def element_cdf(beliefs: Beliefs, i: int, y: np.ndarray, k: int, p: int) -> float:
    z, dof, _ = element_part(beliefs, i, y, k, p)
    return student_cdf(z * z, dof, z > 0.0)


@compiled_function
def element_log_density(beliefs: Beliefs, i: int, y: np.ndarray, k: int, p: int) -> float:
    z, dof, log_before = element_part(beliefs, i, y, k, p)
    log_unit = log(beliefs.chi[p + k * p + k, i]) - 0.5 * log(2.0 * beliefs.nu[i] / (beliefs.nu[i] + 1.0))
    return log_gamma_ratio(0.5 * dof, 0.5) - 0.5 * (LOG_2_PI + log_before) - log_unit - 0.5 * (dof + 1.0) * log_1p(z * z)


@compiled_function
def log_round_cauchy(p: int, quadratic: float) -> float:
    """The Cauchy law in p dimensions with the identity as its scale, at a point of this squared length."""
    half = 0.5 * (p + 1.0)
    return log_gamma(half) - half * (LOG_PI + log_1p(min(quadratic, 1e300)))


@compiled_function
def merge_wisharts(beliefs: Beliefs, i: int, j: int, a: float, b: float, p: int) -> None:
    """`MultivariateGaussianUnknownCovariance.merge`."""
    chi, at_dof, work = beliefs.chi, p + p * p, p + p * p + 1
    first, second = work + 2 * p, work + 2 * p + p * p  # room for two p x p matrices
    expected_precision(beliefs, i, p, first, a)
    expected_precision(beliefs, j, p, first, b)
    # W = a E_i[W] + b E_j[W]; the mean solves W m = a E_i[W] m_i + b E_j[W] m_j
    for r in range(p):
        value = 0.0
        for c in range(p):
            value += chi[first + r * p + c, j] * (chi[c, j] - chi[c, i])
        chi[work + r, i] = value
    for r in range(p * p):
        chi[second + r, i] = chi[first + r, i] + chi[first + r, j]
    cholesky(chi, second, p, i)
    solve_lower(chi, second, p, i, work)
    solve_upper(chi, second, p, i, work)  # work = m - m_i
    between = 0.0
    for r in range(p):
        for c in range(p):
            to_j_r, to_j_c = chi[r, j] - chi[r, i] - chi[work + r, i], chi[c, j] - chi[c, i] - chi[work + c, i]
            between += chi[first + r * p + c, i] * chi[work + r, i] * chi[work + c, i]
            between += chi[first + r * p + c, j] * to_j_r * to_j_c
    log_det = 2.0 * log_diagonal(chi, second, p, i)
    gap = a * (dof_gap(chi[at_dof, i], p) + log_det - log_det_expected_precision(beliefs, i, p))
    gap += b * (dof_gap(chi[at_dof, j], p) + log_det - log_det_expected_precision(beliefs, j, p))
    dof = max(degrees_of_freedom(gap, p), min(chi[at_dof, i], chi[at_dof, j], p + 4.0))
    kappa, new_kappa = beliefs.nu[i], 1.0 / (a / beliefs.nu[i] + b / beliefs.nu[j] + between / p)
    dof_i = chi[at_dof, i]
    for r in range(p * p):  # kept in case the result is lost to rounding
        chi[second + r, j] = chi[p + r, i]
    # psi = dof W^-1, column by column
    for c in range(p):
        for r in range(p):
            chi[work + p + r, i] = dof if r == c else 0.0
        solve_lower(chi, second, p, i, work + p)
        solve_upper(chi, second, p, i, work + p)
        for r in range(p):
            chi[p + r * p + c, i] = chi[work + p + r, i]
    cholesky(chi, p, p, i)
    sound = 0.0 < new_kappa < np.inf and 0.0 < dof < np.inf
    for r in range(p):
        chi[work + p + r, j] = chi[r, i]
        chi[r, i] += chi[work + r, i]
        sound = sound and abs(chi[r, i]) < np.inf and 0.0 < chi[p + r * p + r, i] < np.inf
    chi[at_dof, i] = dof if sound else (dof_i if a >= b else chi[at_dof, j])
    beliefs.nu[i] = new_kappa if sound else (kappa if a >= b else beliefs.nu[j])
    if not sound:  # two scales too far apart for 16 digits: the heavier one stands for both
        for r in range(p):
            chi[r, i] = chi[work + p + r, j] if a >= b else chi[r, j]
        for r in range(p * p):
            chi[p + r, i] = chi[second + r, j] if a >= b else chi[p + r, j]
