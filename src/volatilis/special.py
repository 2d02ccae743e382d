"""Scalar mathematics for compiled loops, in arithmetic alone.

Every function here is plain additions, multiplications and bit patterns: Python and native code give the same
bits, loops over them vectorise, and a compiled kernel needs no mathematics library.
"""

from __future__ import annotations

import contextlib
import math
from fractions import Fraction

import numpy as np

from volatilis._compiler.registry import compiled_function, instruction

LOG_2 = math.log(2.0)
EULER = 0.5772156649015329  # -digamma(1)
LOG_2_HIGH = 6.93145751953125e-1  # the leading bits of log 2: an exact product with any exponent
LOG_2_LOW = 1.42860682030941723212e-6  # the rest of log 2
LOG_2_PI = math.log(2.0 * math.pi)
E_TO_8 = math.exp(8.0)
ROUNDING = 1.5 * 2.0**52  # adding it rounds to a whole number
SMALLEST_NORMAL = 2.2250738585072014e-308
TWO_TO_54 = 2.0**54

_FRACTION_BITS = np.int64(52)
_EXPONENT_BIAS = np.int64(1023)
_FRACTION_MASK = np.int64((1 << 52) - 1)
_ONE_BITS = np.int64(1023 << 52)

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_SHIFT_30, _SHIFT_27, _SHIFT_31, _SHIFT_11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_TO_UNIT = 2.0**-53


@instruction
def fma(a: float, b: float, c: float) -> float:
    """a b + c, rounded once: one machine instruction; in Python by exact arithmetic."""
    if math.isfinite(a) and math.isfinite(b) and math.isfinite(c):
        with contextlib.suppress(OverflowError):
            return float(Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c)))
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


@instruction
def eight_zeros() -> np.ndarray:
    """Room for eight numbers, for a loop that goes eight at a time; in native code a place on the stack."""
    return np.zeros(8)


@instruction
def total(x: np.ndarray, n: int) -> float:
    """x[0] + ... + x[n-1] in eight interleaved sums, one fixed order; in native code the eight are one register."""
    lanes = [0.0] * 8
    for i in range(n):
        lanes[i % 8] += float(x[i])
    a, b, c, d = (lanes[i] + lanes[i + 4] for i in range(4))
    return (a + c) + (b + d)


@compiled_function
def largest(x: np.ndarray, n: int) -> float:
    """The largest of x[0] ... x[n-1], -inf if there is none."""
    top = -np.inf
    for i in range(n):
        top = x[i] if x[i] > top else top
    return top


@compiled_function
def least(x: np.ndarray, n: int) -> int:
    """Where the smallest of n >= 1 numbers that are not negative first stands.

    Such numbers are ordered as the whole numbers of the same bits, and a loop over those goes eight at a time.
    """
    smallest = np.float64(x[0]).view(np.int64)
    for i in range(n):
        bits = np.float64(x[i]).view(np.int64)
        smallest = bits if bits < smallest else smallest
    first = n
    for i in range(n):
        place = i if np.float64(x[i]).view(np.int64) == smallest else n
        first = place if place < first else first
    return first


@compiled_function
def uniform(random: np.ndarray) -> float:
    """The next number in [0, 1) of a counter-based generator (SplitMix64); random[0] is its state.

    Each call moves the state by a fixed odd step and mixes a copy of it, so the sequence is a function of the first
    state alone (Steele, Lea & Flood 2014, Fast splittable pseudorandom number generators).
    """
    number = uniform_ahead(random, 0)
    skip(random, 1)
    return number


@compiled_function
def uniform_ahead(random: np.ndarray, i: int) -> float:
    """The number that i + 1 calls of `uniform` from here would give last; a loop over i goes eight at a time."""
    z = random[0] + np.uint64(i + 1) * _GOLDEN
    z = (z ^ (z >> _SHIFT_30)) * _MIX_1
    z = (z ^ (z >> _SHIFT_27)) * _MIX_2
    z = z ^ (z >> _SHIFT_31)
    return float(z >> _SHIFT_11) * _TO_UNIT


@compiled_function
def skip(random: np.ndarray, n: int) -> None:
    """What n calls of `uniform` do to the state."""
    random[0] = random[0] + np.uint64(n) * _GOLDEN
