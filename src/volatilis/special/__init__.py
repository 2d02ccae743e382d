"""Scalar mathematics for compiled loops, in arithmetic alone.

Every function here is plain additions, multiplications and bit patterns: Python and native code give the same
bits, loops over them vectorise, and a compiled kernel needs no mathematics library.
"""

from volatilis.special.bessel import (
    bessel_divergence,
    bessel_parts,
    bessel_ratio,
    concentration,
    scaled_bessel,
    scaled_bessel_and_gap,
)
from volatilis.special.circle import TURN, cosine_and_sine, direction
from volatilis.special.elementary import (
    LOG_2,
    LOG_2_PI,
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
    "LOG_2",
    "LOG_2_PI",
    "SMALLEST_NORMAL",
    "TURN",
    "bessel_divergence",
    "bessel_parts",
    "bessel_ratio",
    "bounded",
    "concentration",
    "cosine_and_sine",
    "digamma",
    "direction",
    "eight_zeros",
    "exp",
    "exp_in_range",
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
    "scaled_bessel",
    "scaled_bessel_and_gap",
    "skip",
    "total",
    "trigamma",
    "uniform",
    "uniform_ahead",
]
