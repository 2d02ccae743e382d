"""Gamma beliefs about a positive rate, for counts (Poisson) and for waiting times (Exponential)."""

from __future__ import annotations

import math
from typing import Annotated

from volatilis._compiler.registry import compiled_function
from volatilis._core.fields import Positive
from volatilis._core.records import LOG, Range
from volatilis.special import digamma, exp, log, log_gamma, log_gamma_ratio

Shape = Annotated[Positive, Range(LOG, 1e-3, 1e3, 0.5, 5.0)]
Rate = Annotated[Positive, Range(LOG, 1e-4, 1e4, 0.1, 10.0)]


@compiled_function
def merged_gamma(shape_i: float, rate_i: float, shape_j: float, rate_j: float, a: float, b: float) -> tuple[float, float]:
    """Shape and rate of the gamma distribution with the mean and variance of the pair, weighted a and b."""
    mean_i, mean_j = shape_i / rate_i, shape_j / rate_j
    mean = a * mean_i + b * mean_j
    # relative variance: 1/shape of the result
    r_i, r_j, apart = mean_i / mean, mean_j / mean, (mean_i - mean_j) / mean
    relative = a * r_i * r_i / shape_i + b * r_j * r_j / shape_j + a * b * apart * apart
    return 1.0 / relative, 1.0 / (relative * mean)


@compiled_function
def gamma_divergence(shape_i: float, rate_i: float, shape_j: float, rate_j: float) -> float:
    """KL[Gamma(shape_i, rate_i) || Gamma(shape_j, rate_j)]."""
    more = shape_i - shape_j
    shapes = more * digamma(shape_i) - log_gamma_ratio(shape_j, more)
    return shapes + shape_j * log(rate_i / rate_j) + shape_i * (rate_j / rate_i - 1.0)


@compiled_function
def gamma_log_density(shape: float, rate: float, x: float) -> float:
    """Of x = log theta."""
    return shape * (x + log(rate)) - rate * exp(x) - log_gamma(shape)


@compiled_function
def gamma_lower(shape: float, rate: float) -> float:
    """x with P(log theta < x) < 1e-16."""
    if shape > 200.0:
        return log(shape / rate) - 10.0 / math.sqrt(shape)
    return (log_gamma(shape + 1.0) - 37.0) / shape - log(rate)


@compiled_function
def gamma_upper(shape: float, rate: float) -> float:
    """x with P(log theta > x) < 1e-16."""
    return log((shape + 9.0 * math.sqrt(shape) + 45.0) / rate)
