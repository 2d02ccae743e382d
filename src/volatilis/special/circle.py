"""Directions in turns: cosine and sine, and the direction of a vector. In arithmetic alone, as all that is here."""

from __future__ import annotations

from volatilis._compiler.registry import compiled_function
from volatilis.special.elementary import ROUNDING, fma

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
