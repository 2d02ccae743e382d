"""Exponential, logarithm and what follows from them."""

from __future__ import annotations

import contextlib
import math

import numpy as np

from volatilis._compiler.registry import compiled_function, instruction

LOG_2 = math.log(2.0)
LOG_2_HIGH = 6.93145751953125e-1  # the leading bits of log 2: an exact product with any exponent
LOG_2_LOW = 1.42860682030941723212e-6  # the rest of log 2
LOG_2_PI = math.log(2.0 * math.pi)
ROUNDING = 1.5 * 2.0**52  # adding it rounds to a whole number
SMALLEST_NORMAL = 2.2250738585072014e-308
TWO_TO_54 = 2.0**54

_FRACTION_BITS = np.int64(52)
_EXPONENT_BIAS = np.int64(1023)
_FRACTION_MASK = np.int64((1 << 52) - 1)
_ONE_BITS = np.int64(1023 << 52)


@instruction
def fma(a: float, b: float, c: float) -> float:
    """a b + c, rounded once: one machine instruction; in Python by exact arithmetic."""
    with contextlib.suppress(OverflowError, ValueError):  # an infinity, NaN, or a result beyond the largest number
        (a_top, a_bottom), (b_top, b_bottom), (c_top, c_bottom) = (float(x).as_integer_ratio() for x in (a, b, c))
        bottom = a_bottom * b_bottom
        return (a_top * b_top * c_bottom + c_top * bottom) / (bottom * c_bottom)  # of whole numbers: rounded once
    return a * b + c


@compiled_function
def exp(x: float) -> float:
    """e^x to within 1 unit in the last place; 0 below the smallest normal number (x < -708), infinite for x > 709."""
    value = exp_in_range(709.0 if x > 709.0 else x)
    value = np.inf if x > 709.0 else value
    return 0.0 if x < -708.0 else value


@compiled_function
def exp_in_range(x: float) -> float:
    """e^x for -708 <= x <= 709, the same to the last bit as `exp`; any smaller x gives e^-708. For hot loops."""
    z = -708.0 if x < -708.0 else x
    rounded = fma(z, 1.0 / LOG_2, ROUNDING)  # its last bits are the whole number k nearest to z / log 2
    k = rounded - ROUNDING
    r = fma(k, -LOG_2_LOW, fma(k, -LOG_2_HIGH, z))  # |r| <= log(2) / 2
    # (e^r - 1 - r) / r^2 by Chebyshev interpolation, error 2e-17: even and odd powers side by side, a shorter chain
    s = r * r
    even = fma(2.7620138719733994e-07, s, 2.480152119021773e-05)
    odd = fma(2.5100424157005067e-08, s, 2.7557268378684192e-06)
    even = fma(even, s, 0.0013888888917281794)
    odd = fma(odd, s, 0.00019841269863105968)
    even = fma(even, s, 0.04166666666662399)
    odd = fma(odd, s, 0.008333333333330051)
    even = fma(even, s, 0.5)
    odd = fma(odd, s, 0.16666666666666669)
    p = fma(fma(odd, r, even), s, r) + 1.0
    return p * np.int64((np.float64(rounded).view(np.int64) + _EXPONENT_BIAS) << _FRACTION_BITS).view(np.float64)


@compiled_function
def log(x: float) -> float:
    """The natural logarithm to within 1 unit in the last place; -inf at 0, NaN below."""
    tiny = x < SMALLEST_NORMAL
    scaled = np.float64(x * TWO_TO_54 if tiny else x)
    bits = scaled.view(np.int64)
    exponent = (bits >> _FRACTION_BITS) - _EXPONENT_BIAS
    mantissa = np.int64((bits & _FRACTION_MASK) | _ONE_BITS).view(np.float64)
    large = mantissa > 1.4142135623730951
    mantissa = mantissa * 0.5 if large else mantissa
    k = float(exponent) + (1.0 if large else 0.0) - (54.0 if tiny else 0.0)
    f = mantissa - 1.0
    s = f / (2.0 + f)  # log(1 + f) = 2 artanh(s), |s| < 0.172
    z = s * s
    # (2 artanh(s) - 2 s) / s^3 by Chebyshev interpolation in z, error 4e-18: even and odd powers of z side by side
    u = z * z
    even = fma(0.14617807153417325, u, 0.1818289243253687)
    odd = fma(0.15331611722055008, u, 0.22222211089379496)
    even = fma(even, u, 0.28571428626253836)
    odd = fma(odd, u, 0.3999999999989889)
    p = fma(fma(even, z, odd), z, 0.666666666666667)
    tail = s * z * p  # 2 artanh(s) = 2 s + tail, and 2 s = f - s f
    value = fma(k, LOG_2_HIGH, f - (s * f - fma(k, LOG_2_LOW, tail)))
    value = x if x == np.inf else value
    value = np.nan if x < 0.0 else value
    return -np.inf if x == 0.0 else value


@compiled_function
def log_1p(x: float) -> float:
    """log(1 + x) without losing a small x."""
    u = 1.0 + x
    rounding = u - 1.0
    safe = 1.0 if rounding == 0.0 else rounding
    return x if rounding == 0.0 else log(u) * (x / safe)


@compiled_function
def bounded(z: float) -> float:
    """z, but no further out than 1e150: its square is finite."""
    z = 1e150 if z > 1e150 else z
    return -1e150 if z < -1e150 else z


@compiled_function
def hypotenuse(a: float, b: float) -> float:
    """sqrt(a^2 + b^2) that neither overflows nor underflows on the way."""
    a, b = abs(a), abs(b)
    large, small = (a, b) if a > b else (b, a)
    ratio = small / (1.0 if large == 0.0 else large)
    return large * math.sqrt(1.0 + ratio * ratio)


@compiled_function
def log_normal_tail(z: float) -> float:
    """log P(Z > z) for a standard normal Z, exact also where the tail is next to nothing.

    Up to 3 from the series of the distribution function, whose terms are all positive; beyond from Laplace's continued fraction.
    """
    far = abs(z)
    density = -0.5 * far * far - 0.5 * LOG_2_PI
    if far < 3.0:
        term, below, k = far, far, 1.0
        while term > 1e-17 * below:
            k += 2.0
            term *= far * far / k
            below += term
        tail = log(0.5 - exp(density) * below)
    else:
        fraction = far
        for j in range(60, 0, -1):
            fraction = far + j / fraction
        tail = density - log(fraction)
    return tail if z >= 0.0 else log_1p(-exp(tail))
