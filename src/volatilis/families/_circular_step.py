"""An observation in a direction, and a bank of beliefs about directions: what they expected of it, and what they become.

The vectors are those of `_circular`. Flat loops: eight beliefs at a time.
"""

from __future__ import annotations

import math

import numpy as np

from volatilis._compiler.registry import compiled_function
from volatilis.families._base import Beliefs
from volatilis.families._circular import GAP, LENGTH, SHARE, SQUARE, C, S, aside_parts
from volatilis.special import FAR, bessel_summary, exp_in_range, far_bessel, far_summary, fma, near_bessel


@compiled_function
def length_after(beliefs: Beliefs, i: int, c: float, s: float, kappa: float) -> float:
    """R', the length with the unit vector (c, s) taken in kappa times."""
    x, z = fma(kappa, c, beliefs.chi[C, i]), fma(kappa, s, beliefs.chi[S, i])
    return math.sqrt(x * x + z * z)


@compiled_function
def count_far(lengths: np.ndarray, n: int) -> int:
    """How many come before the first, in eights, whose Bessel functions are from the power series."""
    first = n
    for i in range(n):
        place = i if lengths[i] < FAR else n
        first = place if place < first else first
    return first & -8


@compiled_function
def taken_in(
    x: float, z: float, length: float, square: float, c: float, s: float, kappa: float, after: float
) -> tuple[float, float]:
    """(ratio, exponent) with I0(R') / I0(R) = sqrt(ratio) e^(exponent + kappa); after is R', the belief (x, z) of this length."""
    ratio, exponent = taken_in_far(x, z, length, square, c, s, kappa, after)
    bessel = near_bessel(after if after < FAR else FAR)
    ratio = bessel * bessel / square if after < FAR else ratio
    return ratio, (exponent - after if after < FAR else exponent)


@compiled_function
def taken_in_by(beliefs: Beliefs, i: int, c: float, s: float, kappa: float) -> tuple[float, float]:
    """The same of column i of a bank."""
    chi = beliefs.chi
    after = length_after(beliefs, i, c, s, kappa)
    return taken_in(chi[C, i], chi[S, i], chi[LENGTH, i], chi[SQUARE, i], c, s, kappa, after)


@compiled_function
def taken_in_far(
    x: float, z: float, length: float, square: float, c: float, s: float, kappa: float, after: float
) -> tuple[float, float]:
    """The same where R' is 16 or more.

    The exponent R' - kappa - R is -2 kappa (R - (C, S) . (c, s)) / (R' + kappa + R): the difference itself would lose digits.
    """
    common = 1.0 / ((after if after > FAR else FAR) * square)  # one division for both
    bessel = far_bessel(common * square)
    above, below = aside_parts(x, z, length, c, s, 1.0)
    return bessel * bessel * common, -2.0 * kappa * above / (below * (after + kappa + length))


@compiled_function
def weigh_by_vectors(beliefs: Beliefs, w: np.ndarray, n: int, c: float, s: float, kappa: float, out: np.ndarray) -> None:
    """out[i] = w[i] times the predictive of an observation in direction (c, s), in a unit common to all.

    The shorter way for those that are concentrated, as older beliefs, which come first, mostly are. The others are views that
    begin there: a loop that begins elsewhere than at 0 would not go eight at a time.
    """
    chi = beliefs.chi
    for i in range(n):
        out[i] = length_after(beliefs, i, c, s, kappa)
    far = count_far(out, n)
    for i in range(far):
        ratio, exponent = taken_in_far(chi[C, i], chi[S, i], chi[LENGTH, i], chi[SQUARE, i], c, s, kappa, out[i])
        out[i] = w[i] * (math.sqrt(ratio) * exp_in_range(exponent))
    x, z, length, square = chi[C][far:], chi[S][far:], chi[LENGTH][far:], chi[SQUARE][far:]
    weight, result = w[far:], out[far:]
    for i in range(n - far):
        ratio, exponent = taken_in(x[i], z[i], length[i], square[i], c, s, kappa, result[i])
        result[i] = weight[i] * (math.sqrt(ratio) * exp_in_range(exponent))


@compiled_function
def take_in_all(beliefs: Beliefs, n: int, c: float, s: float, kappa: float) -> None:
    """`VonMises.absorb_all` of an observation in direction (c, s)."""
    chi = beliefs.chi
    for i in range(n):
        chi[C, i] = fma(kappa, c, chi[C, i])
        chi[S, i] = fma(kappa, s, chi[S, i])
        chi[LENGTH, i] = math.sqrt(chi[C, i] * chi[C, i] + chi[S, i] * chi[S, i])
        beliefs.nu[i] += 1.0
    far = count_far(chi[LENGTH], n)
    for i in range(far):
        chi[SQUARE, i], chi[GAP, i], chi[SHARE, i] = far_summary(1.0 / chi[LENGTH, i])
    length, square, gap, share = chi[LENGTH][far:], chi[SQUARE][far:], chi[GAP][far:], chi[SHARE][far:]
    for i in range(n - far):
        square[i], gap[i], share[i] = bessel_summary(length[i])
