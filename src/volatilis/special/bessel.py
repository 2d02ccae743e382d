"""The modified Bessel functions I0 and I1 of a concentration x >= 0: scaled, their ratio, its inverse, divergences.

A von Mises distribution of concentration x has the normalizer 2 pi I0(x) and the mean resultant length A(x) = I1(x) / I0(x).
Up to 16 from the power series, whose terms are all positive; beyond from polynomials in 1 / x. Where a loop takes eight at a
time, both are computed, each with its argument held within its range, and one is taken.
"""

from __future__ import annotations

import math

from volatilis._compiler.registry import compiled_function
from volatilis.special.elementary import exp_in_range, fma, log, log_1p

FAR = 16.0  # from here on the polynomials in 1 / x
GAP_AT_FAR = 0.03177224457184007  # 1 - A(16)
# Gauss-Legendre with eight nodes from 0 to 1: the first four, and their weights
NODES = (0.019855071751231884, 0.10166676129318664, 0.2372337950418355, 0.4082826787521751)
WEIGHTS = (0.05061426814518813, 0.11119051722668724, 0.15685332293894363, 0.181341891689181)


@compiled_function
def near_bessel(x: float) -> float:
    """I0(x) for x <= 16."""
    t = 0.25 * x * x
    return fma(t, _near_0(t), 1.0)


@compiled_function
def far_bessel(inverse: float) -> float:
    """sqrt(x) e^-x I0(x) for x >= 16, from 1 / x."""
    return _far_scaled(fma(32.0, inverse, -1.0))


@compiled_function
def scaled_bessel(x: float) -> float:
    """I0(x) e^-x."""
    return math.sqrt(bessel_summary(x)[0])


@compiled_function
def bessel_summary(x: float) -> tuple[float, float, float]:
    """(I0(x) e^-x)^2, 1 - A(x) and A(x) / x: they share most of their work, and none loses digits where x is large or small."""
    near, inverse = (x if x < FAR else FAR), 1.0 / (FAR if x < FAR else x)
    t = 0.25 * near * near
    bessel = fma(t, _near_0(t), 1.0)
    share = 0.5 * _near_1(t) / bessel
    square, gap, far_share = far_summary(inverse)
    square = bessel * bessel * exp_in_range(-2.0 * near) if x < FAR else square
    return square, (1.0 - near * share if x < FAR else gap), (share if x < FAR else far_share)


@compiled_function
def far_summary(inverse: float) -> tuple[float, float, float]:
    """The same for x >= 16, from 1 / x."""
    bessel, gap = far_bessel(inverse), inverse * _far_gap(fma(32.0, inverse, -1.0))
    return inverse * (bessel * bessel), gap, inverse * (1.0 - gap)


@compiled_function
def bessel_ratio(x: float) -> float:
    """A(x) = I1(x) / I0(x), which is x / 2 where x is small."""
    near, far = (x if x < FAR else FAR), 1.0 / (FAR if x < FAR else x)
    t = 0.25 * near * near
    ratio = 0.5 * near * _near_1(t) / fma(t, _near_0(t), 1.0)
    return ratio if x < FAR else 1.0 - far * _far_gap(fma(32.0, far, -1.0))


@compiled_function
def _ratio_and_slope(x: float) -> tuple[float, float]:
    """A(x) and A'(x) = 1 - A / x - A^2 from the power series, for x up to about 17."""
    t = 0.25 * x * x
    bessel, half = fma(t, _near_0(t), 1.0), 0.5 * _near_1(t)
    ratio = x * half / bessel
    return ratio, 1.0 - half / bessel - ratio * ratio


@compiled_function
def concentration(length: float, gap: float) -> float:
    """The x with A(x) = length; gap = 1 - length, given apart since near 1 it holds the digits. For 0 <= length < 1.

    Newton's method in 1 / x where x is large, as 1 - A is nearly linear in that; Halley's method in x where it is not.
    """
    if gap < GAP_AT_FAR:
        inverse = gap * (1.0 - gap) * (2.0 + gap)
        for _ in range(3):
            h = _far_gap(fma(32.0, inverse, -1.0))
            slope = (2.0 * h - 1.0) / inverse + h * (1.0 - h)
            inverse = min(inverse - (inverse * h - gap) / slope, 1.0 / FAR)
        return 1.0 / inverse
    square = length * length
    x = length * (2.0 + square * (1.0 + square * (5.0 / 6.0)))  # Best & Fisher (1981)
    if length > 0.53:
        x = 0.43 / gap + 1.39 * length - 0.4 if length < 0.85 else 1.0 / (gap * length * (2.0 + gap))
    for _ in range(3):
        ratio, slope = _ratio_and_slope(x)
        step = (ratio - length) / slope
        # A'' = -A' (1 / x + 2 A) + A / x^2, and (1 - A') / x = A / x^2 + A^2 / x
        curvature = (1.0 - slope - ratio * ratio - slope) / x - 2.0 * ratio * slope if x > 1e-3 else -0.375 * x
        x -= step / (1.0 - 0.5 * step * curvature / slope)
    return x


@compiled_function
def bessel_divergence(x: float, y: float) -> float:
    """log(I0(y) / I0(x)) - A(x) (y - x): the divergence of concentration y from x, directions the same. Never below 0.

    Its terms cancel where x and y are close. Up to 1,000 it is then the integral of (y - z) A'(z) from x to y; beyond, what
    cancels is taken out: log I0(x) = x - log(2 pi x) / 2 + smaller terms.
    """
    apart = y - x
    low = min(x, y)
    if low < 1000.0 and abs(apart) < max(1.0, 0.1 * low):
        return apart * apart * _weighted_slopes(x, apart)
    if low >= FAR:
        u, v = 1.0 / x, 1.0 / y
        ratio = apart * u
        rest = v * _far_log(fma(32.0, v, -1.0)) - u * _far_log(fma(32.0, u, -1.0))
        series = u * (0.125 + u * (0.125 + u * (25.0 / 128.0 + u * (13.0 / 32.0))))
        above = series if x > 1000.0 else _far_gap(fma(32.0, u, -1.0)) - 0.5  # x (1 - A(x)) - 1/2
        return max(fma(above, ratio, fma(0.5, _beyond_log(ratio, y * u), rest)), 0.0)
    if max(x, y) < FAR:
        t, s = 0.25 * x * x, 0.25 * y * y
        return max(log_1p(s * _near_0(s)) - log_1p(t * _near_0(t)) - bessel_ratio(x) * apart, 0.0)
    square, gap, _ = bessel_summary(x)
    return max(fma(gap, apart, 0.5 * log(bessel_summary(y)[0] / square)), 0.0)


@compiled_function
def _beyond_log(x: float, y: float) -> float:
    """x - log(y), y = 1 + x: where x is small from the series of log(1 + x) = 2 artanh(s), s = x / (2 + x)."""
    if abs(x) > 0.01:
        return x - (log_1p(x) if x > -0.5 else log(y))
    s = x / (2.0 + x)
    z = s * s
    return s * (x - z * (2.0 / 3.0 + z * (0.4 + z * (2.0 / 7.0))))


@compiled_function
def _weighted_slopes(x: float, apart: float) -> float:
    """The integral of (1 - s) A'(x + s apart) over s from 0 to 1: Gauss-Legendre with eight nodes, error 1e-16."""
    result = 0.0
    for k in range(4):
        node = NODES[k]
        result += WEIGHTS[k] * ((1.0 - node) * _slope(x + node * apart) + node * _slope(x + (1.0 - node) * apart))
    return result


@compiled_function
def _slope(x: float) -> float:
    """A'(x), for x up to some thousands to nearly all digits."""
    if x < FAR:
        return _ratio_and_slope(x)[1]
    inverse = 1.0 / x
    h = _far_gap(fma(32.0, inverse, -1.0))
    return fma(2.0 * h - 1.0, x, h * (1.0 - h)) * inverse * inverse


# --- the polynomials: even and odd powers side by side, a shorter chain ------------------------------------------------


@compiled_function
def _near_0(t: float) -> float:
    """(I0(x) - 1) / t for t = x^2 / 4, x <= 16: its power series."""
    s = t * t
    even, odd = 1.4789601166935458e-68, 1.4212806721424974e-65
    even = fma(even, s, 1.2791526049282477e-62)
    odd = fma(odd, s, 1.0757673407446564e-59)
    even = fma(even, s, 8.434015951438106e-57)
    odd = fma(odd, s, 6.14839762859838e-54)
    even = fma(even, s, 4.156316796932504e-51)
    odd = fma(odd, s, 2.5976979980828152e-48)
    even = fma(even, s, 1.4962740468957016e-45)
    odd = fma(odd, s, 7.915289708078262e-43)
    even = fma(even, s, 3.8310002187098785e-40)
    odd = fma(odd, s, 1.6894710964510564e-37)
    even = fma(even, s, 6.757884385804225e-35)
    odd = fma(odd, s, 2.4395962632753253e-32)
    even = fma(even, s, 7.904291893012054e-30)
    odd = fma(odd, s, 2.2843403570804838e-27)
    even = fma(even, s, 5.8479113141260385e-25)
    odd = fma(odd, s, 1.3157800456783586e-22)
    even = fma(even, s, 2.5789288895295828e-20)
    odd = fma(odd, s, 4.358389823304995e-18)
    even = fma(even, s, 6.276081345559193e-16)
    odd = fma(odd, s, 7.594058428126623e-14)
    even = fma(even, s, 7.594058428126624e-12)
    odd = fma(odd, s, 6.151187326782565e-10)
    even = fma(even, s, 3.936759889140842e-08)
    odd = fma(odd, s, 1.9290123456790124e-06)
    even = fma(even, s, 6.944444444444444e-05)
    odd = fma(odd, s, 0.001736111111111111)
    even = fma(even, s, 0.027777777777777776)
    odd = fma(odd, s, 0.25)
    even = fma(even, s, 1.0)
    return fma(odd, t, even)


@compiled_function
def _near_1(t: float) -> float:
    """2 I1(x) / x for t = x^2 / 4, x <= 16: its power series."""
    s = t * t
    even, odd = 4.5847763617499917e-67, 4.6217503646673306e-70
    even = fma(even, s, 3.7095425542919185e-61)
    odd = fma(odd, s, 4.263842016427493e-64)
    even = fma(even, s, 2.2771843068882885e-55)
    odd = fma(odd, s, 3.0121485540850376e-58)
    even = fma(even, s, 1.0390791992331261e-49)
    odd = fma(odd, s, 1.5985833834355786e-52)
    even = fma(even, s, 3.4414303078601135e-44)
    odd = fma(odd, s, 6.234475195398757e-47)
    even = fma(even, s, 8.045100459290744e-39)
    odd = fma(odd, s, 1.7413637357772174e-41)
    even = fma(even, s, 1.2839980333028028e-33)
    odd = fma(odd, s, 3.3789421929021126e-36)
    even = fma(even, s, 1.3437296218120491e-28)
    odd = fma(odd, s, 4.391273273895586e-31)
    even = fma(even, s, 8.771866971189057e-24)
    odd = fma(odd, s, 3.654944571328774e-26)
    even = fma(even, s, 3.352607556388458e-19)
    odd = fma(odd, s, 1.842092063949702e-21)
    even = fma(even, s, 6.903689480115112e-15)
    odd = fma(odd, s, 5.230067787965994e-17)
    even = fma(even, s, 6.834652585313961e-11)
    odd = fma(odd, s, 7.594058428126623e-13)
    even = fma(even, s, 2.755731922398589e-07)
    odd = fma(odd, s, 4.920949861426052e-09)
    even = fma(even, s, 0.00034722222222222224)
    odd = fma(odd, s, 1.1574074074074073e-05)
    even = fma(even, s, 0.08333333333333333)
    odd = fma(odd, s, 0.006944444444444444)
    even = fma(even, s, 1.0)
    odd = fma(odd, s, 0.5)
    return fma(odd, t, even)


@compiled_function
def _far_log(u: float) -> float:
    """x log(sqrt(2 pi x) e^-x I0(x)) for x >= 16, u = 32 / x - 1: Chebyshev interpolation, error 3e-16."""
    s = u * u
    even, odd = 1.033534090593894e-12, 3.402855470016817e-13
    even = fma(even, s, 4.904029416827089e-12)
    odd = fma(odd, s, 1.6771505194315244e-12)
    even = fma(even, s, 9.972833217768821e-11)
    odd = fma(odd, s, 2.1144915346070598e-11)
    even = fma(even, s, 3.7221324895451003e-09)
    odd = fma(odd, s, 5.550281473584515e-10)
    even = fma(even, s, 3.106157267610205e-07)
    odd = fma(odd, s, 3.0445178951041304e-08)
    even = fma(even, s, 7.426282872713108e-05)
    odd = fma(odd, s, 4.096720424521378e-06)
    even = fma(even, s, 0.12702002029842702)
    odd = fma(odd, s, 0.0020904698268853178)
    return fma(odd, u, even)


@compiled_function
def _far_gap(u: float) -> float:
    """x (1 - I1(x) / I0(x)) for x >= 16, u = 32 / x - 1: likewise, error 1e-16."""
    s = u * u
    even, odd = 2.0631970654421282e-12, 6.792462259930719e-13
    even = fma(even, s, 9.771202516652774e-12)
    odd = fma(odd, s, 3.346234518073142e-12)
    even = fma(even, s, 1.9809138459785059e-10)
    odd = fma(odd, s, 4.2079407483111204e-11)
    even = fma(even, s, 7.341864060206969e-09)
    odd = fma(odd, s, 1.0993356787117264e-09)
    even = fma(even, s, 6.042078073373131e-07)
    odd = fma(odd, s, 5.969713679928869e-08)
    even = fma(even, s, 0.00014264199870738656)
    odd = fma(odd, s, 7.897124751421898e-06)
    even = fma(even, s, 0.504034702816416)
    odd = fma(odd, s, 0.004169998607391821)
    return fma(odd, u, even)


@compiled_function
def _far_scaled(u: float) -> float:
    """sqrt(x) e^-x I0(x) for x >= 16, u = 32 / x - 1: likewise, error 1e-16."""
    s = u * u
    even, odd = 4.602623363982948e-13, 1.3600410262654207e-13
    even = fma(even, s, 8.30791241121794e-12)
    odd = fma(odd, s, 1.4931017180746552e-12)
    even = fma(even, s, 4.506494115888458e-10)
    odd = fma(odd, s, 5.57731947969453e-11)
    even = fma(even, s, 6.026315086890642e-08)
    odd = fma(odd, s, 4.5697939171782966e-09)
    even = fma(even, s, 3.0355013469233138e-05)
    odd = fma(odd, s, 1.0944942087260208e-06)
    even = fma(even, s, 0.40052897918718267)
    odd = fma(odd, s, 0.0016160154003827469)
    return fma(odd, u, even)
