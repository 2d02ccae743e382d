"""Scalar mathematics for compiled loops, in arithmetic alone.

Every function here is plain additions, multiplications and bit patterns: Python and native code give the same
bits, loops over them vectorise, and a compiled kernel needs no mathematics library.
"""

from volatilis.special.bessel import (
    FAR,
    bessel_divergence,
    bessel_ratio,
    bessel_summary,
    concentration,
    far_bessel,
    far_summary,
    near_bessel,
    scaled_bessel,
)
from volatilis.special.circle import TURN, cosine_and_sine, direction
from volatilis.special.elementary import (
    LOG_2,
    LOG_2_PI,
    ROUNDING,
    SMALLEST_NORMAL,
    bounded,
    exp,
    exp_in_range,
    fma,
    hypotenuse,
    log,
    log_1p,
    log_normal_tail,
)
from volatilis.special.gamma import (
    digamma,
    log_beta,
    log_gamma,
    log_gamma_and_digamma,
    log_gamma_ratio,
    log_minus_digamma,
    trigamma,
)
from volatilis.special.sequences import eight_zeros, largest, least, skip, total, uniform, uniform_ahead

__all__ = [
    "FAR",
    "LOG_2",
    "LOG_2_PI",
    "ROUNDING",
    "SMALLEST_NORMAL",
    "TURN",
    "bessel_divergence",
    "bessel_ratio",
    "bessel_summary",
    "bounded",
    "concentration",
    "cosine_and_sine",
    "digamma",
    "direction",
    "eight_zeros",
    "exp",
    "exp_in_range",
    "far_bessel",
    "far_summary",
    "fma",
    "hypotenuse",
    "largest",
    "least",
    "log",
    "log_1p",
    "log_beta",
    "log_gamma",
    "log_gamma_and_digamma",
    "log_gamma_ratio",
    "log_minus_digamma",
    "log_normal_tail",
    "near_bessel",
    "scaled_bessel",
    "skip",
    "total",
    "trigamma",
    "uniform",
    "uniform_ahead",
]
