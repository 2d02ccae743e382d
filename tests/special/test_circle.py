"""Directions and Bessel functions against mpmath, to its own forty digits; the same bits from Python and from native code."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from volatilis import special

from .test_special import both

mpmath.mp.dps = 40
RNG = np.random.default_rng(5)
CONCENTRATIONS = np.concatenate(
    [
        10.0 ** RNG.uniform(-9, 8.5, 120),
        RNG.uniform(0.0, 40.0, 120),
        [0.0, 1e-300, 1e-20, 7.5, math.nextafter(16.0, 0.0), 16.0, math.nextafter(16.0, 17.0), 1e8, 1e12, 1e15],
    ]
)


def drive_scaled(x: Any, out: Any) -> None:
    for i in range(x.size):
        out[i] = special.scaled_bessel(x[i])


def drive_near(x: Any, out: Any) -> None:
    for i in range(x.size):
        out[i] = special.near_bessel(x[i])


def drive_far(x: Any, out: Any) -> None:
    for i in range(x.size):
        out[i] = special.far_bessel(x[i])


def drive_far_summary(x: Any, out: Any) -> None:
    for i in range(x.size):
        out[3 * i], out[3 * i + 1], out[3 * i + 2] = special.far_summary(1.0 / x[i])


def drive_summary(x: Any, out: Any) -> None:
    for i in range(x.size):
        out[3 * i], out[3 * i + 1], out[3 * i + 2] = special.bessel_summary(x[i])


def drive_ratio(x: Any, out: Any) -> None:
    for i in range(x.size):
        out[i] = special.bessel_ratio(x[i])


def drive_concentration(length: Any, gap: Any, out: Any) -> None:
    for i in range(length.size):
        out[i] = special.concentration(length[i], gap[i])


def drive_divergence(x: Any, y: Any, out: Any) -> None:
    for i in range(x.size):
        out[i] = special.bessel_divergence(x[i], y[i])


def drive_cosine_and_sine(x: Any, out: Any) -> None:
    for i in range(x.size):
        out[2 * i], out[2 * i + 1] = special.cosine_and_sine(x[i])


def drive_direction(c: Any, s: Any, out: Any) -> None:
    for i in range(c.size):
        out[i] = special.direction(c[i], s[i])


def scaled(x: float) -> Any:
    """I0(x) e^-x; where mpmath's series would be long, from its asymptotic form."""
    return mpmath.besseli(0, mpmath.mpf(x)) * mpmath.exp(-mpmath.mpf(x))


def ratio(x: float) -> Any:
    return mpmath.besseli(1, mpmath.mpf(x)) / mpmath.besseli(0, mpmath.mpf(x))


def test_scaled_bessel_function() -> None:
    expected = [float(scaled(x)) for x in CONCENTRATIONS]
    assert_allclose(both(drive_scaled, CONCENTRATIONS), expected, rtol=4e-15)
    near, far = (CONCENTRATIONS[CONCENTRATIONS < special.FAR], CONCENTRATIONS[CONCENTRATIONS >= special.FAR])
    assert_allclose(both(drive_near, near) * np.exp(-near), [float(scaled(x)) for x in near], rtol=4e-15)
    assert_allclose(both(drive_far, 1.0 / far) / np.sqrt(far), [float(scaled(x)) for x in far], rtol=4e-15)


def test_ratio_and_what_it_lacks_of_one() -> None:
    expected = [ratio(x) for x in CONCENTRATIONS]
    assert_allclose(both(drive_ratio, CONCENTRATIONS), [float(a) for a in expected], rtol=2e-15)
    together = both(drive_summary, CONCENTRATIONS, size=3 * CONCENTRATIONS.size).reshape(-1, 3)
    some = CONCENTRATIONS > 0.0
    per_x = [float(a / mpmath.mpf(x)) for a, x in zip(expected, CONCENTRATIONS, strict=True) if x > 0.0]
    assert_allclose(together[some, 2], per_x, rtol=2e-15)
    assert_array_equal(together[~some, 2], 0.5)
    assert_allclose(together[:, 1], [float(1 - a) for a in expected], rtol=1e-14)
    assert_allclose(np.sqrt(together[:, 0]), [float(scaled(x)) for x in CONCENTRATIONS], rtol=4e-15)
    far = CONCENTRATIONS >= special.FAR
    assert_array_equal(both(drive_far_summary, CONCENTRATIONS[far], size=3 * far.sum()).reshape(-1, 3), together[far])


def test_concentration_inverts_the_ratio() -> None:
    """From the length and from what it lacks of one, each to the last digits of a double."""
    xs = CONCENTRATIONS[CONCENTRATIONS < 1e13]
    lengths = [ratio(x) for x in xs]
    found = both(drive_concentration, np.array([float(a) for a in lengths]), np.array([float(1 - a) for a in lengths]))
    assert_allclose(found, xs, rtol=1e-13)


def divergence(x: float, y: float) -> float:
    with mpmath.workdps(60):
        a, b = mpmath.mpf(x), mpmath.mpf(y)
        return float(mpmath.log(mpmath.besseli(0, b) / mpmath.besseli(0, a)) - ratio(x) * (b - a))


@pytest.mark.parametrize("apart", [1.0, 0.3, 1e-2, 1e-3], ids=lambda d: f"{d:g}")
def test_divergence_of_concentrations(apart: float) -> None:
    """Also of those that are close, by a hundredth or a thousandth of themselves: where the terms all but cancel."""
    x = np.concatenate([10.0 ** RNG.uniform(-8, 8, 60), RNG.uniform(5.0, 25.0, 40), [15.9999, 16.0, 1e8]])
    y = x * (1.0 + apart * RNG.choice([-0.9, 1.0], x.size))
    found = both(drive_divergence, x, y)
    assert_allclose(found, [divergence(a, b) for a, b in zip(x, y, strict=True)], rtol=1e-12)


def test_divergence_of_any_two_concentrations() -> None:
    x, y = (RNG.permutation(10.0 ** RNG.uniform(-8, 8, 100)) for _ in range(2))
    x, y = np.append(x, [0.0, 3.0, 0.0, 1e8]), np.append(y, [3.0, 0.0, 0.0, 0.0])
    found = both(drive_divergence, x, y)
    assert_allclose(found, [divergence(a, b) for a, b in zip(x, y, strict=True)], rtol=1e-12)


def test_cosine_and_sine_of_turns() -> None:
    turns = np.concatenate([RNG.uniform(-0.5, 0.5, 300), RNG.uniform(-1e4, 1e4, 100), 10.0 ** RNG.uniform(-300, -1, 50)])
    c, s = both(drive_cosine_and_sine, turns, size=2 * turns.size).reshape(-1, 2).T
    angles = [2 * mpmath.pi * mpmath.mpf(x) for x in turns]
    assert_allclose(c, [float(mpmath.cos(x)) for x in angles], rtol=0, atol=2.5e-16)
    assert_allclose(s, [float(mpmath.sin(x)) for x in angles], rtol=0, atol=2.5e-16)
    assert_allclose(s[-50:], [float(mpmath.sin(x)) for x in angles[-50:]], rtol=1e-15)


def test_cosine_and_sine_of_whole_quarters_are_exact() -> None:
    quarters = np.arange(-9, 10)
    c, s = both(drive_cosine_and_sine, quarters / 4, size=2 * quarters.size).reshape(-1, 2).T
    assert_array_equal(c, np.array([1.0, 0.0, -1.0, 0.0])[quarters % 4])
    assert_array_equal(s, np.array([0.0, 1.0, 0.0, -1.0])[quarters % 4])


def test_direction_of_a_vector() -> None:
    turns, lengths = RNG.uniform(0.0, 1.0, 400), 10.0 ** RNG.uniform(-150, 150, 400)
    c, s = lengths * np.cos(2 * np.pi * turns), lengths * np.sin(2 * np.pi * turns)
    expected = [mpmath.atan2(mpmath.mpf(b), mpmath.mpf(a)) / (2 * mpmath.pi) for a, b in zip(c, s, strict=True)]
    found = both(drive_direction, c, s)
    assert_allclose(found, [float(t if t >= 0 else 1 + t) for t in expected], rtol=0, atol=1.2e-16)
    small = 10.0 ** RNG.uniform(-300, -3, 40)
    assert_allclose(both(drive_direction, np.ones(40), small), small / (2 * np.pi), rtol=1e-6)


def test_direction_is_below_one_and_exact_at_eighths() -> None:
    """A direction a hair below 0 is 0, never a whole turn; the vector without one has 0."""
    c, s = np.array([1, 1, 0, -1, -1, -1, 0, 1, 1, 0.0]), np.array([0, 1, 1, 1, 0, -1, -1, -1, -1e-30, 0.0])
    assert_array_equal(both(drive_direction, c, s), [0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 0, 0])
