"""Distribution functions against SciPy and mpmath."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy import special, stats

from volatilis.special import beta_cdf, normal_cdf, student_cdf


def test_normal() -> None:
    z = np.linspace(-9.0, 9.0, 301)
    np.testing.assert_allclose([normal_cdf(x) for x in z], stats.norm.cdf(z), rtol=0, atol=1e-15)


@pytest.mark.parametrize(("largest", "error"), [(4.0, 1e-12), (9.0, 1e-9)])
def test_beta(largest: float, error: float) -> None:
    """Where both x and 1 - x have all their digits: x is the smaller one."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        a, b = 10.0 ** rng.uniform(-2.0, largest, 2)
        x = float(stats.beta(a, b).ppf(rng.uniform(1e-6, 1.0 - 1e-6)))
        if 0.5 < x < 1.0:
            a, b, x = b, a, 1.0 - x
        if x > 0.0:
            below, above = special.betainc(a, b, x), special.betaincc(a, b, x)
            if abs(beta_cdf(a, b, x, 1.0 - x) - below) >= error:  # SciPy 1.13 itself is off by 2e-9 where a and b are large
                below = beta_by_integral(a, b, x)
                above = 1.0 - below
            assert abs(beta_cdf(a, b, x, 1.0 - x) - below) < error
            assert abs(beta_cdf(b, a, 1.0 - x, x) - above) < error


def beta_by_integral(a: float, b: float, x: float) -> float:
    """Of its density, from 40 standard deviations below the mean, for a and b that are large."""
    with mpmath.workdps(40):
        a_, b_, end = map(mpmath.mpf, (a, b, x))
        whole, mean = mpmath.loggamma(a_) + mpmath.loggamma(b_) - mpmath.loggamma(a_ + b_), a_ / (a_ + b_)
        deviation = mpmath.sqrt(mean * (1 - mean) / (a_ + b_ + 1))
        points = [mean + step * deviation for step in range(-40, 41, 2)]
        return float(
            mpmath.quad(
                lambda t: mpmath.exp((a_ - 1) * mpmath.log(t) + (b_ - 1) * mpmath.log(1 - t) - whole),
                [*(point for point in points if point < end), end],
            )
        )


def test_the_integral_of_betas_density() -> None:
    a, b, x = 152356276.2011104, 348778695.94976205, 0.3040086918069067
    assert abs(beta_by_integral(a, b, x) - 0.2517519913202283) < 1e-15
    assert abs(beta_cdf(a, b, x, 1.0 - x) - beta_by_integral(a, b, x)) < 1e-12


def test_beta_at_its_ends() -> None:
    assert beta_cdf(2.0, 3.0, 0.0, 1.0) == 0.0
    assert beta_cdf(2.0, 3.0, 1.0, 0.0) == 1.0


@pytest.mark.parametrize("dof", [0.3, 1.0, 5.0, 30.0, 1e4, 1e8, 1e12])
@pytest.mark.parametrize("t", [-8.0, -1.0, 0.0, 0.3, 2.0, 10.0])
def test_student(dof: float, t: float) -> None:
    with mpmath.workdps(40):
        outside = mpmath.betainc(mpmath.mpf(dof) / 2, 0.5, 0, mpmath.mpf(dof) / (mpmath.mpf(dof) + t * t), regularized=True)
        expected = float(1 - outside / 2 if t > 0 else outside / 2) if dof < 1e6 else float(mpmath.ncdf(t))
    assert abs(student_cdf(t * t / dof, dof, t > 0.0) - expected) < (1e-11 if dof != 1e8 else 1e-8)
