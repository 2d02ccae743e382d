"""The numbers of an array: their sum in one fixed order, the largest, the least; and a sequence of random numbers."""

from __future__ import annotations

import numpy as np

from volatilis._compiler.registry import compiled_function, instruction
from volatilis.special.elementary import log

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_SHIFT_30, _SHIFT_27, _SHIFT_31, _SHIFT_11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_TO_UNIT = 2.0**-53
PLACES = 2**48 - 1  # i & PLACES is i, but a compiler sees that it is not negative: so no place counts from an array's end


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
    return first & PLACES


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


FAINT = 1e-280  # of a sum of weighted predictives: times 1 - p_c, which is 1e-16 or more, it would lose digits to underflow


LIFT = 2.0**800


@compiled_function
def not_faint(out: np.ndarray, n: int, scale: float) -> tuple[float, float]:
    """The sum of n weighted predictives in units of e^scale, and the scale: another one where the sum is faint, so that it is 1.

    With the likeliest belief as the unit all is next to nothing where that belief has hardly any weight.
    """
    evidence = total(out, n)
    if evidence >= FAINT:
        return evidence, scale
    factor = 1.0 / (LIFT * evidence)  # a particle's weight may be so small that its inverse alone would overflow
    for i in range(n):
        out[i] = LIFT * out[i] * factor
    return total(out, n), scale + log(evidence)
