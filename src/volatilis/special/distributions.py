"""Distribution functions: normal, beta, Student's t. Absolute errors are below 1e-9, with parameters below 1e4 below 1e-12."""

from __future__ import annotations

import math

from volatilis._compiler.registry import compiled_function
from volatilis.special.elementary import exp, log, log_1p, log_normal_tail
from volatilis.special.gamma import log_beta

# Gauss-Legendre with sixteen nodes from 0 to 1: the first eight, and their weights
NODES = (
    0.0052995325041750307,
    0.0277124884633837,
    0.067184398806084122,
    0.1222977958224985,
    0.19106187779867811,
    0.27099161117138632,
    0.35919822461037054,
    0.45249374508118129,
)
WEIGHTS = (
    0.013576229705877088,
    0.031126761969323728,
    0.047579255841246303,
    0.062314485627767036,
    0.074797994408288354,
    0.084578259697501323,
    0.09130170752246182,
    0.09472530522753432,
)
BOTH_LARGE = 500.0  # from here on the density of a beta is smooth enough for a few nodes
REACH = 9.0  # standard deviations beyond which nothing is left


@compiled_function
def normal_cdf(z: float) -> float:
    """P(Z <= z) of a standard normal Z."""
    return exp(log_normal_tail(-z)) if z < 0.0 else 1.0 - exp(log_normal_tail(z))


@compiled_function
def student_cdf(square: float, dof: float, above: bool) -> float:
    """P(T <= t) of Student's t, from t^2 / dof and whether t is above 0."""
    outside = beta_cdf(0.5 * dof, 0.5, 1.0 / (1.0 + square), square / (1.0 + square)) if square < 1e300 else 0.0
    return 1.0 - 0.5 * outside if above else 0.5 * outside


@compiled_function
def beta_cdf(a: float, b: float, x: float, rest: float) -> float:
    """The regularised incomplete beta function I_x(a, b); rest is 1 - x, given apart since near x = 1 it has more digits."""
    if x <= 0.0 or rest <= 0.0:
        return 0.0 if x <= 0.0 else 1.0
    if a > BOTH_LARGE and b > BOTH_LARGE:
        return _beta_by_quadrature(a, b, x, rest)
    from_above = x * (a + b + 2.0) >= a + 1.0
    if a > 1e4 and x > 0.5:  # the terms of the fraction from below would cancel; that from above still converges
        from_above = rest * (a + b + 2.0) < 20.0 + 2.0 * b
    elif b > 1e4 and rest > 0.5:
        from_above = x * (a + b + 2.0) >= 20.0 + 2.0 * a
    return 1.0 - _beta_by_fraction(b, a, rest, x) if from_above else _beta_by_fraction(a, b, x, rest)


@compiled_function
def _beta_by_fraction(a: float, b: float, x: float, rest: float) -> float:
    """By the continued fraction (DLMF 8.17.22), below the mean, where it converges fast; evaluated forwards (Lentz)."""
    tiny = 1e-300
    fraction, c, d = 1.0, 1.0, 0.0
    for step in range(2000):
        m = step // 2
        if step == 0:
            term = 1.0
        elif step % 2 == 0:
            term = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        else:
            term = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        d = 1.0 + term * d
        d = 1.0 / (d if abs(d) > tiny else tiny)
        c = 1.0 + term / c
        c = c if abs(c) > tiny else tiny
        fraction *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    log_x, log_rest = (log_1p(-rest) if rest < 0.5 else log(x)), (log_1p(-x) if x < 0.5 else log(rest))
    return exp(a * log_x + b * log_rest - log(a) - log_beta(a, b)) * (fraction - 1.0)


@compiled_function
def _beta_by_quadrature(a: float, b: float, x: float, rest: float) -> float:
    """The integrals on both sides of x, each to where nothing is left, in pieces of sixteen nodes; their sum is the norm."""
    mean, other = a / (a + b), b / (a + b)
    reach = REACH * math.sqrt(mean * other / (a + b + 1.0))
    low, high = max(mean - reach, 0.0), min(mean + reach, 1.0)
    if x <= low or x >= high:
        return 0.0 if x <= low else 1.0
    below, above, pieces = 0.0, 0.0, 4
    for piece in range(pieces):
        below += _beta_piece(a, b, mean, other, low + (x - low) * piece / pieces, low + (x - low) * (piece + 1) / pieces)
        above += _beta_piece(a, b, mean, other, x + (high - x) * piece / pieces, x + (high - x) * (piece + 1) / pieces)
    return below / (below + above)


@compiled_function
def _beta_piece(a: float, b: float, mean: float, other: float, start: float, end: float) -> float:
    """The integral of the density, in units of that at the mean."""
    result, width = 0.0, end - start
    for j in range(8):
        for side in range(2):
            apart = start + width * (NODES[j] if side == 0 else 1.0 - NODES[j]) - mean
            result += WEIGHTS[j] * exp((a - 1.0) * log_1p(apart / mean) + (b - 1.0) * log_1p(-apart / other))
    return width * result
