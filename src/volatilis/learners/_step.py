"""What one observation tells a learner, and how far it makes it change: the adaptation rate."""

from __future__ import annotations

from typing import NamedTuple

from volatilis._compiler.registry import compiled_function, compiled_methods
from volatilis.special import exp


@compiled_methods
class Info(NamedTuple):
    """What an update knew: log P(y; pi^(t)), log P(y; pi^(0)) and the adaptation rate gamma."""

    log_p: float
    log_p_0: float
    gamma: float


@compiled_function
def modulated(m: float, surprise: float) -> tuple[float, float]:
    """gamma(S_BF, m) and 1 - gamma from S_BF itself, which may be 0 or infinite."""
    if surprise <= 1.0:
        return m * surprise / (1.0 + m * surprise), 1.0 / (1.0 + m * surprise)
    inverse = 1.0 / surprise
    return m / (m + inverse), inverse / (m + inverse)


@compiled_function
def change_and_stay(p_c: float, log_p_0: float, scale: float) -> tuple[float, float]:
    """p_c P(y; pi_0) and (1 - p_c) e^scale in one unit, the larger of P(y; pi_0) and e^scale: neither overflows.

    With a p_c so small that its inverse would overflow, both in a smaller unit.
    """
    log_ratio = log_p_0 - scale
    larger = 1.0 if p_c > 1e-280 else 2.0**930
    smaller = larger * exp(-abs(log_ratio))
    return p_c * (smaller if log_ratio < 0.0 else larger), (1.0 - p_c) * (larger if log_ratio < 0.0 else smaller)
