"""Scalar mathematics: against SciPy over wide ranges, and the same bits from Python and from native code."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special as reference

from volatilis import special
from volatilis._compile import Call, plain_python

RNG = np.random.default_rng(17)


def spread(low: float, high: float, count: int) -> np.ndarray:
    """Numbers of every magnitude."""
    return 10.0 ** RNG.uniform(math.log10(low), math.log10(high), count)


POSITIVE = np.concatenate(
    [spread(1e-300, 1e300, 400), spread(1e-3, 1e3, 400), np.arange(1.0, 40.0), [0.5, 1.5, 2.5, 9.999, 10.0]]
)
MODERATE = np.concatenate([spread(1e-10, 1e10, 400), spread(0.1, 30.0, 200), np.arange(1.0, 30.0)])


# The drivers: what is compiled is a loop over arrays, the function as a learner would call it.


def drive_exp(x: Any, out: Any) -> None:
    for i in range(x.size):
        out[i] = special.exp(x[i])


def drive_exp_in_range(x: Any, out: Any) -> None:
    for i in range(x.size):
        out[i] = special.exp_in_range(x[i])


def drive_log(x: Any, out: Any) -> None:
    for i in range(x.size):
        out[i] = special.log(x[i])


def drive_log_1p(x: Any, out: Any) -> None:
    for i in range(x.size):
        out[i] = special.log_1p(x[i])


def drive_log_gamma(x: Any, out: Any) -> None:
    for i in range(x.size):
        out[i] = special.log_gamma(x[i])


def drive_digamma(x: Any, out: Any) -> None:
    for i in range(x.size):
        out[i] = special.digamma(x[i])


def drive_trigamma(x: Any, out: Any) -> None:
    for i in range(x.size):
        out[i] = special.trigamma(x[i])


def drive_log_minus_digamma(x: Any, out: Any) -> None:
    for i in range(x.size):
        out[i] = special.log_minus_digamma(x[i])


def drive_log_gamma_ratio(x: Any, d: Any, out: Any) -> None:
    for i in range(x.size):
        out[i] = special.log_gamma_ratio(x[i], d[i])


def drive_log_beta(x: Any, d: Any, out: Any) -> None:
    for i in range(x.size):
        out[i] = special.log_beta(x[i], d[i])


def drive_hypotenuse(x: Any, d: Any, out: Any) -> None:
    for i in range(x.size):
        out[i] = special.hypotenuse(x[i], d[i])


def drive_total(x: Any, lanes: Any, out: Any) -> None:
    for n in range(out.size):
        out[n] = special.total(x, n, lanes)


def drive_largest(x: Any, out: Any) -> None:
    for n in range(out.size):
        out[n] = special.largest(x, n)


def drive_uniform(random: Any, out: Any) -> None:
    for i in range(out.size):
        out[i] = special.uniform(random)


def both(driver: Callable[..., None], *args: np.ndarray, size: int | None = None) -> np.ndarray:
    """The driver's results from native code, after checking that Python's are the same bits."""
    results = []
    for native in (True, False):
        copies = [np.array(a) for a in args]
        out = np.empty(args[0].size if size is None else size)
        if native:
            Call(driver, *copies, out)()
        else:
            with plain_python():
                Call(driver, *copies, out)()
        results.append(out)
    a, b = results
    same = (a.view(np.int64) == b.view(np.int64)) | (np.isnan(a) & np.isnan(b))
    assert same.all(), f"Python and native code differ at {[x[~same][:3] if x.size == same.size else x for x in args]}"
    return a


def assert_close(found: np.ndarray, expected: np.ndarray, relative: float, absolute: float = 0.0) -> None:
    """|found - expected| <= absolute + relative |expected|, infinities equal."""
    finite = np.isfinite(expected)
    assert np.array_equal(found[~finite], expected[~finite], equal_nan=True)
    error = np.abs(found[finite] - expected[finite]) - absolute - relative * np.abs(expected[finite])
    worst = int(np.argmax(error)) if error.size else 0
    assert not np.any(error > 0.0), f"at {worst}: {found[finite][worst]!r}, not {expected[finite][worst]!r}"


# --- one argument ------------------------------------------------------------------------------------------------------

ULP = 2.3e-16


def test_exp() -> None:
    """Within 1 unit in the last place where the result is a normal number; exactly 0 below and infinite above."""
    x = np.concatenate([RNG.uniform(-708.0, 709.0, 1500), RNG.uniform(-1.0, 1.0, 500), spread(1e-300, 1.0, 50), [0.0, -0.0, 1.0]])
    assert_close(both(drive_exp, x), np.exp(x), ULP)
    edges = np.array([-np.inf, -1e300, -745.0, -709.0, 710.0, 1e300, np.inf])
    assert np.array_equal(both(drive_exp, edges), [0.0, 0.0, 0.0, 0.0, np.inf, np.inf, np.inf])
    assert special.exp(0.0) == 1.0


def test_exp_in_range_is_exp() -> None:
    x = RNG.uniform(-708.0, 709.0, 500)
    assert np.array_equal(both(drive_exp_in_range, x), both(drive_exp, x))


def test_log() -> None:
    """Within 1 unit in the last place, subnormal numbers included; -inf at 0."""
    x = np.concatenate([POSITIVE, 1.0 + RNG.uniform(-1e-3, 1e-3, 300), spread(5e-324, 1e-307, 50), [5e-324, 1.0, 1.7e308]])
    assert_close(both(drive_log, x), np.log(x), ULP)
    assert np.array_equal(both(drive_log, np.array([0.0, np.inf, 1.0])), [-np.inf, np.inf, 0.0])


def test_log_1p() -> None:
    x = np.concatenate(
        [spread(1e-300, 1e300, 300), -spread(1e-300, 0.999, 300), RNG.uniform(-0.5, 2.0, 300), [0.0, -1.0 + 1e-15]]
    )
    assert_close(both(drive_log_1p, x), np.log1p(x), 4.0 * ULP)


def test_log_gamma() -> None:
    """Relative to the larger of 1 and the value: log Gamma is 0 at 1 and 2."""
    x = POSITIVE
    assert_close(both(drive_log_gamma, x), reference.gammaln(x), 4e-15, 4e-15)


def test_log_gamma_of_whole_numbers() -> None:
    n = np.arange(1.0, 60.0)
    exact = np.array([math.log(math.factorial(int(k) - 1)) for k in n])
    assert_close(both(drive_log_gamma, n), exact, 2e-15, 4e-15)


def test_digamma() -> None:
    """Absolute 4e-15 as well: it is 0 at 1.46."""
    x = np.concatenate([spread(1e-200, 1e200, 400), MODERATE])
    assert_close(both(drive_digamma, x), reference.psi(x), 4e-15, 4e-15)


def test_trigamma() -> None:
    x = np.concatenate([spread(1e-100, 1e100, 400), MODERATE])
    assert_close(both(drive_trigamma, x), reference.polygamma(1, x), 4e-15)


def test_log_minus_digamma() -> None:
    """1 / (2 x) where x is large: no digit is lost to the difference. SciPy's own difference serves below 100."""
    x = np.concatenate([spread(1e-100, 100.0, 300), RNG.uniform(1.0, 100.0, 300)])
    assert_close(both(drive_log_minus_digamma, x), np.log(x) - reference.psi(x), 1e-13, 2e-15)
    large = spread(100.0, 1e150, 300)
    series = (
        1.0 / (2.0 * large) + 1.0 / (12.0 * large) / large - 1.0 / (120.0 * large) / large / large / large
    )  # + 1e-15 relative
    series += 1.0 / (252.0 * large) / large / large / large / large / large
    assert_close(both(drive_log_minus_digamma, large), series, 1e-14)


@pytest.mark.parametrize("driver", [drive_log_gamma, drive_digamma, drive_trigamma, drive_log_minus_digamma])
def test_outside_the_domain_nothing_hangs(driver: Callable[..., None]) -> None:
    """The promise is x > 0; a broken promise may give nonsense but must come back: native code cannot be interrupted."""
    out = np.empty(4)
    with plain_python():
        Call(driver, np.array([np.nan, np.inf, -0.5, 0.0]), out)()


# --- two arguments -----------------------------------------------------------------------------------------------------


def test_log_gamma_ratio() -> None:
    """Small steps of large arguments, where the difference of two log Gamma functions has no digit left."""
    x, d = spread(1e-3, 1e3, 500), RNG.uniform(0.0, 20.0, 500)
    exact = reference.gammaln(x + d) - reference.gammaln(x)
    assert_close(both(drive_log_gamma_ratio, x, d), exact, 1e-12, 1e-11)
    x, d = spread(1e8, 1e15, 300), RNG.choice([0.5, 1.0, 2.0, 3.5], 300)
    steps = d * np.log(x) + d * (d - 1.0) / (2.0 * x)  # + O(1 / x^2)
    assert_close(both(drive_log_gamma_ratio, x, d), steps, 1e-14)
    whole = np.arange(1.0, 50.0)
    assert_close(both(drive_log_gamma_ratio, whole, np.ones(49)), np.log(whole), 2e-15, 4e-15)  # Gamma(x + 1) = x Gamma(x)
    x = RNG.uniform(30.0, 100.0, 200)
    d = -RNG.uniform(0.0, 29.0, 200)
    assert_close(both(drive_log_gamma_ratio, x, d), reference.gammaln(x + d) - reference.gammaln(x), 1e-12, 1e-12)
    assert np.array_equal(both(drive_log_gamma_ratio, whole, np.zeros(49)), np.zeros(49))


def test_log_beta() -> None:
    a, b = spread(1e-6, 1e6, 600), spread(1e-6, 1e6, 600)
    near = 1e-15 * np.max(np.abs(reference.gammaln(a + b)))  # what SciPy's differences of log Gamma functions lose
    assert_close(both(drive_log_beta, a, b), reference.betaln(a, b), 1e-12, near)
    a, b = RNG.uniform(0.1, 5.0, 300), RNG.uniform(0.1, 5.0, 300)
    assert_close(both(drive_log_beta, a, b), reference.betaln(a, b), 1e-14, 1e-14)
    assert np.array_equal(both(drive_log_beta, a, b), both(drive_log_beta, b, a))
    assert special.log_beta(1.0, 1e300) == pytest.approx(-math.log(1e300), rel=1e-14)  # B(1, b) = 1 / b


def test_hypotenuse() -> None:
    a, b = spread(1e-320, 1e307, 500), spread(1e-320, 1e307, 500) * RNG.choice([-1.0, 1.0], 500)
    b[:200] = a[:200] * RNG.uniform(-2.0, 2.0, 200)
    assert_close(both(drive_hypotenuse, a, b), np.hypot(a, b), 4.0 * ULP, 5e-324)
    assert special.hypotenuse(0.0, 0.0) == 0.0
    assert special.hypotenuse(0.0, -3.0) == 3.0
    assert special.hypotenuse(3e200, 4e200) == pytest.approx(5e200, rel=1e-15)


def test_fma_rounds_once() -> None:
    """a b + c of numbers whose product needs 106 bits."""
    a, b = 1.0 + 2.0**-30, 1.0 - 2.0**-30
    assert special.fma(a, b, -1.0) == -(2.0**-60)
    assert a * b - 1.0 == 0.0
    assert special.fma(np.inf, 1.0, 1.0) == np.inf
    assert math.isnan(special.fma(np.inf, 0.0, 1.0))


# --- arrays ------------------------------------------------------------------------------------------------------------


def test_total() -> None:
    """Every length from 0: to 1e-15 of the sum of magnitudes from the exact sum."""
    x = RNG.normal(size=100) * 10.0 ** RNG.uniform(-5.0, 5.0, 100)
    found = both(drive_total, x, np.zeros(8), size=101)
    exact = np.array([math.fsum(x[:n]) for n in range(101)])
    magnitude = np.array([math.fsum(np.abs(x[:n])) for n in range(101)])
    assert np.all(np.abs(found - exact) <= 1e-15 * magnitude)
    assert found[0] == 0.0


def test_largest() -> None:
    x = RNG.normal(size=50)
    found = both(drive_largest, x, size=51)
    assert found[0] == -np.inf
    assert np.array_equal(found[1:], np.maximum.accumulate(x))


# --- random numbers ----------------------------------------------------------------------------------------------------


def test_the_generator_is_splitmix64() -> None:
    """The published first outputs for seed 0, of which a number takes the upper 53 bits."""
    known = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F, 0xF88BB8A8724C81EC]
    found = both(drive_uniform, np.zeros(1, dtype=np.uint64), size=4)
    assert np.array_equal(found, [(value >> 11) * 2.0**-53 for value in known])


def draws(seed: int, count: int) -> np.ndarray:
    random, out = np.array([seed], dtype=np.uint64), np.empty(count)
    Call(drive_uniform, random, out)()
    return out


@pytest.mark.parametrize("seed", [0, 1, 2**63, 2**64 - 1])
def test_uniform_numbers_are_uniform(seed: int) -> None:
    """A million: mean, variance, serial correlation and the shares of 64 bins within 5 standard errors."""
    n = 1_000_000
    u = draws(seed, n)
    assert u.min() >= 0.0
    assert u.max() < 1.0
    assert abs(u.mean() - 0.5) < 5.0 * math.sqrt(1.0 / 12.0 / n)
    assert abs(u.var() - 1.0 / 12.0) < 5.0 * math.sqrt(1.0 / 180.0 / n)
    for lag in (1, 2, 7):
        correlation = np.mean((u[lag:] - 0.5) * (u[:-lag] - 0.5)) * 12.0
        assert abs(correlation) < 5.0 / math.sqrt(n)
    shares = np.bincount((u * 64).astype(int), minlength=64) / n
    assert np.all(np.abs(shares - 1.0 / 64.0) < 5.0 * math.sqrt(1.0 / 64.0 / n))
    last_bits = np.mean((u * 2.0**53).astype(np.int64) & 1)
    assert abs(last_bits - 0.5) < 5.0 * 0.5 / math.sqrt(n)


def test_the_state_wraps_without_a_word() -> None:
    """Unsigned overflow is meant, in Python too: no warning, the same bits."""
    found = both(drive_uniform, np.array([2**64 - 1], dtype=np.uint64), size=50)
    assert np.unique(found).size == 50
