"""The modified Bessel functions I0 and I1 of a concentration x >= 0: scaled, their ratio, its inverse, divergences.

A von Mises distribution of concentration x has the normalizer 2 pi I0(x) and the mean resultant length A(x) = I1(x) / I0(x).
Up to 8 from the power series, whose terms are all positive; beyond from polynomials in 1 / x. Where a loop takes eight at a
time, both are computed, each with its argument held within its range, and one is taken.
"""

from __future__ import annotations

import math

from volatilis._compiler.registry import compiled_function
from volatilis.special.elementary import exp_in_range, fma, log, log_1p

FAR = 8.0  # from here on the polynomials in 1 / x
GAP_AT_FAR = 0.0647645064705614  # 1 - A(8)
# Gauss-Legendre with eight nodes from 0 to 1: the first four, and their weights
NODES = (0.019855071751231884, 0.10166676129318664, 0.2372337950418355, 0.4082826787521751)
WEIGHTS = (0.05061426814518813, 0.11119051722668724, 0.15685332293894363, 0.181341891689181)


@compiled_function
def bessel_parts(x: float) -> tuple[float, float]:
    """(factor, exponent) with I0(x) e^-x = factor e^exponent: for a loop that has an exponential to take anyway."""
    near, far = (x if x < FAR else FAR), 1.0 / (FAR if x < FAR else x)
    t = 0.25 * near * near
    factor = math.sqrt(far) * _far_scaled(fma(16.0, far, -1.0))
    return (fma(t, _near_0(t), 1.0) if x < FAR else factor), (-x if x < FAR else 0.0)


@compiled_function
def scaled_bessel(x: float) -> float:
    """I0(x) e^-x."""
    factor, exponent = bessel_parts(x)
    return factor * exp_in_range(exponent)


@compiled_function
def scaled_bessel_and_gap(x: float) -> tuple[float, float]:
    """I0(x) e^-x and 1 - A(x), neither of which loses digits where x is large: they share most of their work."""
    near, far = (x if x < FAR else FAR), 1.0 / (FAR if x < FAR else x)
    t, u = 0.25 * near * near, fma(16.0, far, -1.0)
    bessel = fma(t, _near_0(t), 1.0)
    near_gap, far_gap = 1.0 - 0.5 * near * _near_1(t) / bessel, far * _far_gap(u)
    scaled = bessel * exp_in_range(-near) if x < FAR else math.sqrt(far) * _far_scaled(u)
    return scaled, (near_gap if x < FAR else far_gap)


@compiled_function
def bessel_ratio(x: float) -> float:
    """A(x) = I1(x) / I0(x), which is x / 2 where x is small."""
    near, far = (x if x < FAR else FAR), 1.0 / (FAR if x < FAR else x)
    t = 0.25 * near * near
    ratio = 0.5 * near * _near_1(t) / fma(t, _near_0(t), 1.0)
    return ratio if x < FAR else 1.0 - far * _far_gap(fma(16.0, far, -1.0))


@compiled_function
def _ratio_and_slope(x: float) -> tuple[float, float]:
    """A(x) and A'(x) = 1 - A / x - A^2 from the power series, for x up to about 9."""
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
            h = _far_gap(fma(16.0, inverse, -1.0))
            slope = (2.0 * h - 1.0) / inverse + h * (1.0 - h)
            inverse = min(inverse - (inverse * h - gap) / slope, 1.0 / FAR)
        return 1.0 / inverse
    square = length * length
    x = length * (2.0 + square * (1.0 + square * (5.0 / 6.0)))  # Best & Fisher (1981)
    if length > 0.53:
        x = 0.43 / gap + 1.39 * length - 0.4
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
        rest = v * _far_log(fma(16.0, v, -1.0)) - u * _far_log(fma(16.0, u, -1.0))
        series = u * (0.125 + u * (0.125 + u * (25.0 / 128.0 + u * (13.0 / 32.0))))
        above = series if x > 1000.0 else _far_gap(fma(16.0, u, -1.0)) - 0.5  # x (1 - A(x)) - 1/2
        return max(fma(above, ratio, fma(0.5, _beyond_log_1p(ratio), rest)), 0.0)
    if max(x, y) < FAR:
        t, s = 0.25 * x * x, 0.25 * y * y
        return max(log_1p(s * _near_0(s)) - log_1p(t * _near_0(t)) - bessel_ratio(x) * apart, 0.0)
    scaled, gap = scaled_bessel_and_gap(x)
    return max(fma(gap, apart, log(scaled_bessel(y) / scaled)), 0.0)


@compiled_function
def _beyond_log_1p(x: float) -> float:
    """x - log(1 + x): where x is small from the series of log(1 + x) = 2 artanh(s), s = x / (2 + x)."""
    if abs(x) > 0.01:
        return x - log_1p(x)
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
    h = _far_gap(fma(16.0, inverse, -1.0))
    return fma(2.0 * h - 1.0, x, h * (1.0 - h)) * inverse * inverse


# --- the polynomials ---------------------------------------------------------------------------------------------------


@compiled_function
def _near_0(t: float) -> float:
    """(I0(x) - 1) / t for t = x^2 / 4, x <= 8: its power series."""
    p = 1.4962740468957016e-45
    p = fma(p, t, 7.915289708078262e-43)
    p = fma(p, t, 3.8310002187098785e-40)
    p = fma(p, t, 1.6894710964510564e-37)
    p = fma(p, t, 6.757884385804225e-35)
    p = fma(p, t, 2.4395962632753253e-32)
    p = fma(p, t, 7.904291893012054e-30)
    p = fma(p, t, 2.2843403570804838e-27)
    p = fma(p, t, 5.8479113141260385e-25)
    p = fma(p, t, 1.3157800456783586e-22)
    p = fma(p, t, 2.5789288895295828e-20)
    p = fma(p, t, 4.358389823304995e-18)
    p = fma(p, t, 6.276081345559193e-16)
    p = fma(p, t, 7.594058428126623e-14)
    p = fma(p, t, 7.594058428126624e-12)
    p = fma(p, t, 6.151187326782565e-10)
    p = fma(p, t, 3.936759889140842e-08)
    p = fma(p, t, 1.9290123456790124e-06)
    p = fma(p, t, 6.944444444444444e-05)
    p = fma(p, t, 0.001736111111111111)
    p = fma(p, t, 0.027777777777777776)
    p = fma(p, t, 0.25)
    return fma(p, t, 1.0)


@compiled_function
def _near_1(t: float) -> float:
    """2 I1(x) / x for t = x^2 / 4, x <= 8: its power series."""
    p = 6.234475195398757e-47
    p = fma(p, t, 3.4414303078601135e-44)
    p = fma(p, t, 1.7413637357772174e-41)
    p = fma(p, t, 8.045100459290744e-39)
    p = fma(p, t, 3.3789421929021126e-36)
    p = fma(p, t, 1.2839980333028028e-33)
    p = fma(p, t, 4.391273273895586e-31)
    p = fma(p, t, 1.3437296218120491e-28)
    p = fma(p, t, 3.654944571328774e-26)
    p = fma(p, t, 8.771866971189057e-24)
    p = fma(p, t, 1.842092063949702e-21)
    p = fma(p, t, 3.352607556388458e-19)
    p = fma(p, t, 5.230067787965994e-17)
    p = fma(p, t, 6.903689480115112e-15)
    p = fma(p, t, 7.594058428126623e-13)
    p = fma(p, t, 6.834652585313961e-11)
    p = fma(p, t, 4.920949861426052e-09)
    p = fma(p, t, 2.755731922398589e-07)
    p = fma(p, t, 1.1574074074074073e-05)
    p = fma(p, t, 0.00034722222222222224)
    p = fma(p, t, 0.006944444444444444)
    p = fma(p, t, 0.08333333333333333)
    p = fma(p, t, 0.5)
    return fma(p, t, 1.0)


@compiled_function
def _far_log(u: float) -> float:
    """x log(sqrt(2 pi x) e^-x I0(x)) for x >= 8, u = 16 / x - 1: Chebyshev interpolation, error 2e-15."""
    p = -1.9200535176070668e-09
    p = fma(p, u, 1.297826434498135e-09)
    p = fma(p, u, 1.3939045327608413e-08)
    p = fma(p, u, -8.875213721973969e-09)
    p = fma(p, u, -4.7679589499615785e-08)
    p = fma(p, u, 2.7294060090033056e-08)
    p = fma(p, u, 1.0538939614752532e-07)
    p = fma(p, u, -4.7774034339554874e-08)
    p = fma(p, u, -1.7690482785719866e-07)
    p = fma(p, u, 3.9115538466640796e-08)
    p = fma(p, u, 2.47048965776984e-07)
    p = fma(p, u, 5.2940628726545175e-08)
    p = fma(p, u, -2.604921080030322e-07)
    p = fma(p, u, -2.699126179285834e-07)
    p = fma(p, u, -2.143079112379113e-09)
    p = fma(p, u, 2.9477448244346176e-07)
    p = fma(p, u, 5.4827327254446e-07)
    p = fma(p, u, 9.823909899120266e-07)
    p = fma(p, u, 2.4287026676697966e-06)
    p = fma(p, u, 8.801156940125166e-06)
    p = fma(p, u, 4.5968426231477255e-05)
    p = fma(p, u, 0.00035517033965981474)
    p = fma(p, u, 0.004505415249697581)
    return fma(p, u, 0.12918919514135868)


@compiled_function
def _far_gap(u: float) -> float:
    """x (1 - I1(x) / I0(x)) for x >= 8, u = 16 / x - 1: likewise, error 1e-15."""
    p = -3.842383033001945e-09
    p = fma(p, u, 2.5908256759468746e-09)
    p = fma(p, u, 2.7894652818611214e-08)
    p = fma(p, u, -1.77150261819111e-08)
    p = fma(p, u, -9.541433322601925e-08)
    p = fma(p, u, 5.446300413873326e-08)
    p = fma(p, u, 2.1088682954058086e-07)
    p = fma(p, u, -9.525311135113304e-08)
    p = fma(p, u, -3.539209166554483e-07)
    p = fma(p, u, 7.769472112467384e-08)
    p = fma(p, u, 4.940012312267264e-07)
    p = fma(p, u, 1.0659975726030256e-07)
    p = fma(p, u, -5.201997851848e-07)
    p = fma(p, u, -5.398760162199618e-07)
    p = fma(p, u, -5.474533571229257e-09)
    p = fma(p, u, 5.870500669978501e-07)
    p = fma(p, u, 1.0911986466536695e-06)
    p = fma(p, u, 1.9487292811070348e-06)
    p = fma(p, u, 4.7884902843977894e-06)
    p = fma(p, u, 1.7201732138027843e-05)
    p = fma(p, u, 8.890591444237945e-05)
    p = fma(p, u, 0.0006827867171637714)
    p = fma(p, u, 0.008963486348110093)
    return fma(p, u, 0.5083559131494414)


@compiled_function
def _far_scaled(u: float) -> float:
    """sqrt(x) e^-x I0(x) for x >= 8, u = 16 / x - 1: likewise, error 1e-16."""
    p = -2.4421972688131832e-11
    p = fma(p, u, 9.114760157514253e-11)
    p = fma(p, u, 1.7698085539456536e-10)
    p = fma(p, u, -6.494591114401118e-10)
    p = fma(p, u, -6.327909921997027e-10)
    p = fma(p, u, 2.163681278413876e-09)
    p = fma(p, u, 1.6084886155781772e-09)
    p = fma(p, u, -4.5305710768621196e-09)
    p = fma(p, u, -3.5862834111582305e-09)
    p = fma(p, u, 6.522264862032271e-09)
    p = fma(p, u, 7.600254486433509e-09)
    p = fma(p, u, -5.0175940345046716e-09)
    p = fma(p, u, -1.3427511481900905e-08)
    p = fma(p, u, -6.856484545962442e-09)
    p = fma(p, u, 7.559364098665437e-09)
    p = fma(p, u, 2.156780676115673e-08)
    p = fma(p, u, 3.932512321137824e-08)
    p = fma(p, u, 8.872014585661555e-08)
    p = fma(p, u, 2.9735992084667734e-07)
    p = fma(p, u, 1.4838476780922646e-06)
    p = fma(p, u, 1.114303378845176e-05)
    p = fma(p, u, 0.00013621607438951463)
    p = fma(p, u, 0.0033605519836678913)
    return fma(p, u, 0.4021765094450081)
