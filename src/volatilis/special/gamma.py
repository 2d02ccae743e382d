"""The gamma function, its logarithm and derivatives without cancellation; and the normal, beta and Student's t distributions."""

from __future__ import annotations

import math

import numpy as np

from volatilis._compiler.registry import compiled_function
from volatilis.special.elementary import LOG_2_PI, exp, fma, log, log_1p, log_normal_tail

EULER = 0.5772156649015329  # -digamma(1)
E_TO_8 = math.exp(8.0)


@compiled_function
def _stirling_remainder(u: float) -> float:
    """log Gamma(x) - ((x - 1/2) log x - x + log(2 pi)/2) for u = 1 / x, x >= 8, to 1e-17."""
    z = u * u
    p = 43867.0 / 244188.0
    p = fma(p, z, -3617.0 / 122400.0)
    p = fma(p, z, 1.0 / 156.0)
    p = fma(p, z, -691.0 / 360360.0)
    p = fma(p, z, 1.0 / 1188.0)
    p = fma(p, z, -1.0 / 1680.0)
    p = fma(p, z, 1.0 / 1260.0)
    p = fma(p, z, -1.0 / 360.0)
    p = fma(p, z, 1.0 / 12.0)
    return p * u


@compiled_function
def _eight_steps(x: float) -> tuple[float, float, float]:
    """Where Gamma(x) = Gamma(x + 8) / product needs it, x + 8, the product x (x + 1) ... (x + 7), and its derivative.

    The factors pair up into t, t + 6, t + 10 and t + 12 with t = x (x + 7). From 8 on it is x itself, 1 and 0.
    """
    t = x * (x + 7.0)
    outer, inner = t * (t + 6.0), (t + 10.0) * (t + 12.0)
    slope = (2.0 * x + 7.0) * ((2.0 * t + 6.0) * inner + outer * (2.0 * t + 22.0))
    near = x < 8.0
    return (x + 8.0 if near else x), (outer * inner if near else 1.0), (slope if near else 0.0)


@compiled_function
def log_gamma(x: float) -> float:
    """log Gamma(x) for x > 0, else NaN; exactly 0 at 1 and 2."""
    return log_gamma_and_digamma(x)[0]


@compiled_function
def log_gamma_and_digamma(x: float) -> tuple[float, float]:
    """Both at once, for x > 0: they share the recurrence and the logarithm. Free of branches: a loop goes eight at a time."""
    far, product, slope = _eight_steps(x)
    log_far, u = log(far), 1.0 / far
    z = u * u
    # Stirling's (far - 1/2) log far - far, less the log of the product, with (far / e)^8 taken out of both: less to cancel
    rest = product * ((z * z) * (z * z) * E_TO_8) if x < 8.0 else 1.0
    value = fma(x - 0.5, log_far, 0.5 * LOG_2_PI + _stirling_remainder(u) - x) - log(rest)
    rate = log_far - 0.5 * u + _digamma_series(z) * z - slope / product
    value = 0.0 if x == 1.0 or x == 2.0 else value
    rate = x - 1.0 - EULER if x == 1.0 or x == 2.0 else rate
    return (value if x > 0.0 else np.nan), (rate if x > 0.0 else np.nan)


@compiled_function
def _digamma_series(z: float) -> float:
    """(digamma(x) - log x + 1 / (2 x)) x^2 for z = 1 / x^2, x >= 8."""
    p = -43867.0 / 14364.0
    p = fma(p, z, 3617.0 / 8160.0)
    p = fma(p, z, -1.0 / 12.0)
    p = fma(p, z, 691.0 / 32760.0)
    p = fma(p, z, -1.0 / 132.0)
    p = fma(p, z, 1.0 / 240.0)
    p = fma(p, z, -1.0 / 252.0)
    p = fma(p, z, 1.0 / 120.0)
    return fma(p, z, -1.0 / 12.0)


@compiled_function
def log_gamma_ratio(x: float, d: float) -> float:
    """log Gamma(x + d) - log Gamma(x) for x > 0 and x + d > 0, else NaN; without cancellation where x is large."""
    if not (x > 0.0 and x + d > 0.0):
        return np.nan
    if abs(d) > 0.5 * x:  # nothing to cancel
        return log_gamma(x + d) - log_gamma(x)
    product = 1.0
    while x < 10.0 or x + d < 10.0:
        product *= x / (x + d)
        x += 1.0
    change = (x - 0.5) * log_1p(d / x) + d * (log(x + d) - 1.0)
    return change + _stirling_remainder(1.0 / (x + d)) - _stirling_remainder(1.0 / x) + log(product)


@compiled_function
def log_beta(a: float, b: float) -> float:
    """log of the beta function."""
    low, high = (a, b) if a < b else (b, a)
    return log_gamma(low) - log_gamma_ratio(high, low)


@compiled_function
def digamma(x: float) -> float:
    """The derivative of log Gamma for x > 0."""
    return log(x) - log_minus_digamma(x)


@compiled_function
def log_minus_digamma(x: float) -> float:
    """log x - digamma(x) for x > 0: 1/(2x) and smaller terms, without cancellation where x is large."""
    start, shift = x, 0.0
    while x < 10.0:
        shift += 1.0 / x
        x += 1.0
    z = 1.0 / (x * x)
    return log(start / x) + shift + 0.5 / x - _digamma_series(z) * z


@compiled_function
def trigamma(x: float) -> float:
    """The second derivative of log Gamma for x > 0."""
    shift = 0.0
    while x < 10.0:
        shift += 1.0 / (x * x)
        x += 1.0
    u = 1.0 / x
    z = u * u
    p = -3617.0 / 510.0
    p = p * z + 7.0 / 6.0
    p = p * z - 691.0 / 2730.0
    p = p * z + 5.0 / 66.0
    p = p * z - 1.0 / 30.0
    p = p * z + 1.0 / 42.0
    p = p * z - 1.0 / 30.0
    p = p * z + 1.0 / 6.0
    return u + 0.5 * z + p * z * u + shift


# --- distribution functions: absolute errors are below 1e-9, with parameters below 1e4 below 1e-12 --------------------------

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
