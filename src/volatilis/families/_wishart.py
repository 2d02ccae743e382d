"""Triangular matrices in the rows of a bank's column, and the degrees of freedom of a Wishart distribution.

A lower triangular p x p matrix L lives in rows first ... first + p^2 - 1 of chi, row by row.
"""

from __future__ import annotations

import math

import numpy as np

from volatilis._compiler.registry import compiled_function
from volatilis.special import exp, hypotenuse, log, log_minus_digamma, trigamma


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
