"""Exponential, logarithm and what follows from them; cosine, sine and direction, in turns."""

from __future__ import annotations

import contextlib
import math

import numpy as np

from volatilis._compiler.registry import compiled_function, instruction

LOG_2 = math.log(2.0)
LOG_2_HIGH = 6.93145751953125e-1  # the leading bits of log 2: an exact product with any exponent
LOG_2_LOW = 1.42860682030941723212e-6  # the rest of log 2
LOG_2_PI = math.log(2.0 * math.pi)
LOG_PI = math.log(math.pi)
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


TURN = 6.283185307179586  # 2 pi
TAN_SIXTEENTH = 0.41421356237309503  # tan(pi / 8): a sixteenth of a turn


@compiled_function
def cosine_and_sine(turns: float) -> tuple[float, float]:
    """Of an angle in turns, at most 2^50 of them: exact at whole quarters, elsewhere to within 1e-16."""
    quarters = fma(4.0, turns, ROUNDING) - ROUNDING
    x = TURN * fma(-0.25, quarters, turns)  # within an eighth of a turn
    z = x * x
    s = 1.5918129294866608e-10  # (sin(x) / x - 1) / x^2 and (cos(x) - 1 + x^2 / 2) / x^4 by Chebyshev interpolation
    s = fma(s, z, -2.5051131845003624e-08)
    s = fma(s, z, 2.755731610255244e-06)
    s = fma(s, z, -0.00019841269836758574)
    s = fma(s, z, 0.008333333333330948)
    s = fma(s, z, -0.16666666666666666)
    c = -1.1382632425521717e-11
    c = fma(c, z, 2.08761462684032e-09)
    c = fma(c, z, -2.7557317271729793e-07)
    c = fma(c, z, 2.480158729876569e-05)
    c = fma(c, z, -0.0013888888888887398)
    c = fma(c, z, 0.041666666666666664)
    sine, cosine = fma(x * z, s, x), fma(z * z, c, fma(-0.5, z, 1.0))
    rest = quarters - 4.0 * (fma(0.25, quarters, ROUNDING) - ROUNDING)  # -2, -1, 0, 1 or 2 quarters are left
    odd = abs(rest) == 1.0
    first, second = (sine if odd else cosine), (cosine if odd else sine)
    return (-first if rest == 1.0 or abs(rest) == 2.0 else first), (-second if rest == -1.0 or abs(rest) == 2.0 else second)


@compiled_function
def direction(c: float, s: float) -> float:
    """The angle of the vector (c, s) in turns, from 0 up to, not including, 1; 0 for the vector (0, 0)."""
    a, b = abs(c), abs(s)
    large, small = (b if b > a else a), (a if b > a else b)
    steep = small > TAN_SIXTEENTH * large
    below = small + large if steep else large
    x = (small - large if steep else small) / (1.0 if below == 0.0 else below)
    z = x * x
    p = -0.002833816978957124  # atan(x) / (2 pi x) by Chebyshev interpolation
    p = fma(p, z, 0.0060423583895391885)
    p = fma(p, z, -0.008013614449422824)
    p = fma(p, z, 0.00930559582676933)
    p = fma(p, z, -0.010604417167221946)
    p = fma(p, z, 0.01224227036900023)
    p = fma(p, z, -0.014468611643008781)
    p = fma(p, z, 0.01768388198295435)
    p = fma(p, z, -0.022736420431411494)
    p = fma(p, z, 0.03183098861828499)
    p = fma(p, z, -0.05305164769729811)
    p = fma(p, z, 0.15915494309189535)
    turns = fma(p, x, 0.125 if steep else 0.0)
    turns = 0.25 - turns if b > a else turns
    turns = 0.5 - turns if c < 0.0 else turns
    turns = 1.0 - turns if s < 0.0 else turns
    return 0.0 if turns >= 1.0 else turns
