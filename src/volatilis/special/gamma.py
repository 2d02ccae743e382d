"""The gamma function: its logarithm, the derivatives of that, and differences without cancellation."""

from __future__ import annotations

import math

import numpy as np

from volatilis._compiler.registry import compiled_function
from volatilis.special.elementary import LOG_2_PI, fma, log, log_1p

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
