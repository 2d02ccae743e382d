"""Scalar mathematics: against SciPy over wide ranges, and the same bits from Python and from native code."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special as reference

from volatilis import special
from volatilis._compiler import Call, plain_python

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


def drive_log_gamma_and_digamma(x: Any, out: Any) -> None:
    for i in range(x.size):
        out[2 * i], out[2 * i + 1] = special.log_gamma_and_digamma(x[i])


def drive_total(x: Any, out: Any) -> None:
    for n in range(out.size):
        out[n] = special.total(x, n)


def drive_total_of_rows(x: Any, out: Any) -> None:
    for row in range(x.shape[0]):
        out[row] = special.total(x[row], x.shape[1])
        out[x.shape[0] + row] = special.total(x[row, 1:], x.shape[1] - 1)


def drive_total_of_columns(x: Any, out: Any) -> None:
    for column in range(x.shape[1]):
        for n in range(x.shape[0] + 1):
            out[column * (x.shape[0] + 1) + n] = special.total(x[:, column], n)


def drive_least(x: Any, out: Any) -> None:
    for n in range(out.size):
        out[n] = special.least(x, n + 1)


def drive_uniform_ahead(random: Any, out: Any) -> None:
    for i in range(out.size):
        out[i] = special.uniform_ahead(random, i)


def drive_skip(steps: Any, random: Any, out: Any) -> None:
    for i in range(out.size):
        special.skip(random, steps[i])
        out[i] = special.uniform(random)


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


def test_log_gamma_and_digamma_at_once() -> None:
    """The same log Gamma to the last bit, and digamma as exact as alone."""
    x = np.concatenate([spread(1e-100, 1e100, 400), MODERATE])
    found = both(drive_log_gamma_and_digamma, x, size=2 * x.size).reshape(-1, 2)
    assert np.array_equal(found[:, 0], both(drive_log_gamma, x))
    assert_close(found[:, 1], reference.psi(x), 4e-15, 4e-15)


def test_log_gamma_and_digamma_at_one_and_two() -> None:
    """Exactly 0, and minus Euler's constant and one more: to the last bit, where uniform priors are. Next to it to 1e-15."""
    x = np.array([1.0, 2.0])
    assert np.array_equal(both(drive_log_gamma, x), [0.0, 0.0])
    found = both(drive_log_gamma_and_digamma, x, size=4).reshape(2, 2)
    assert np.array_equal(found[:, 0], [0.0, 0.0])
    assert np.array_equal(found[:, 1], [-np.euler_gamma, 1.0 - np.euler_gamma])
    assert_close(both(drive_digamma, x), found[:, 1], 0.0, 1e-15)
    near = np.array([np.nextafter(1.0, 0.0), np.nextafter(1.0, 2.0), np.nextafter(2.0, 1.0), np.nextafter(2.0, 3.0)])
    found = both(drive_log_gamma_and_digamma, near, size=8).reshape(4, 2)
    assert_close(found[:, 0], np.zeros(4), 0.0, 4e-15)
    assert_close(found[:, 1], reference.psi(near), 0.0, 4e-15)


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
    found = both(drive_total, x, size=101)
    exact = np.array([math.fsum(x[:n]) for n in range(101)])
    magnitude = np.array([math.fsum(np.abs(x[:n])) for n in range(101)])
    assert np.all(np.abs(found - exact) <= 1e-15 * magnitude)
    assert found[0] == 0.0


@pytest.mark.parametrize("magnitude", [0.0, 1.0, 30.0, 290.0])
def test_total_is_eight_sums_in_one_order(magnitude: float) -> None:
    """For n = 0 to 40, Python and native code to the last bit, and both the sum written out: x_i in lane i mod 8, then

    ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)). What stands at n and beyond is not read.
    """
    x = RNG.normal(size=48) * 10.0 ** RNG.uniform(-magnitude, magnitude, 48)
    for n in range(41):
        x_n = np.append(x[:n], np.full(48 - n, np.nan))
        found = both(drive_total, x_n, size=n + 1)[n]
        lanes = np.zeros(8)
        for i in range(n):
            lanes[i % 8] += x[i]
        a, b, c, d, e, f, g, h = lanes
        assert found == ((a + e) + (c + g)) + ((b + f) + (d + h))


def test_total_reads_nothing_behind_the_end() -> None:
    """An array that ends where the process's memory does: what is masked out of the last eight is not touched."""
    import mmap

    size = mmap.PAGESIZE // 8
    x = np.frombuffer(mmap.mmap(-1, mmap.PAGESIZE), dtype=np.float64)
    x[:] = RNG.normal(size=size)
    for n in range(1, 18):
        end, out = x[size - n :], np.empty(n + 1)
        Call(drive_total, end, out)()
        assert out[n] == special.total(end, n)


def test_total_of_rows_of_a_table() -> None:
    """A row lies in one piece; where it starts does not matter."""
    x = RNG.normal(size=(5, 13))
    found = both(drive_total_of_rows, x, size=10)
    assert np.array_equal(found, [special.total(row, 13) for row in x] + [special.total(row[1:], 12) for row in x])


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_total_of_numbers_that_do_not_lie_side_by_side(dtype: Any) -> None:
    """A column of a table, such as a scalar family's chi; and numbers of other types. The same sums, the same bits."""
    x = (100.0 * RNG.normal(size=(19, 3))).astype(dtype)
    found = both(drive_total_of_columns, x, size=60).reshape(3, 20)
    for n in range(20):
        assert np.array_equal(found[:, n], [special.total(np.ascontiguousarray(c[:n], dtype=float), n) for c in x.T])
    row = np.ascontiguousarray(x[:, 0])
    assert both(drive_total, row, size=20)[19] == found[0, 19]


def test_least() -> None:
    """Where the smallest first stands: ties, zeros, subnormal numbers, infinities."""
    cases = [
        RNG.uniform(size=40),
        RNG.integers(0, 4, 40).astype(float),  # many ties and zeros
        np.zeros(20),
        np.full(20, 0.25),
        np.array([np.inf, 3.0, 1e-300, 5e-324, 5e-324, 0.0, 1.0, 0.0, 0.0, 1e308]),
        10.0 ** RNG.uniform(-320.0, 308.0, 60),
        np.repeat(np.linspace(1.0, 0.0, 12), 3),
    ]
    for x in cases:
        found = both(drive_least, x)
        assert np.array_equal(found, [np.argmin(x[:n]) for n in range(1, x.size + 1)])


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


@pytest.mark.parametrize("seed", [0, 1, 2**63, 2**64 - 1, 0x9E3779B97F4A7C15])
def test_uniform_ahead_is_what_so_many_calls_give(seed: int) -> None:
    random = np.array([seed], dtype=np.uint64)
    called = both(drive_uniform, random, size=70)
    assert np.array_equal(both(drive_uniform_ahead, random, size=70), called)
    with np.errstate(over="ignore"):
        special.uniform_ahead(random, 3)
    assert random[0] == seed, "looking ahead moved the state"


@pytest.mark.parametrize("seed", [0, 2**64 - 1])
def test_skip_is_what_so_many_calls_do(seed: int) -> None:
    steps = np.array([0, 1, 5, 0, 20, 2], dtype=np.int64)
    called = both(drive_uniform, np.array([seed], dtype=np.uint64), size=int(steps.sum()) + steps.size)
    found = both(drive_skip, steps, np.array([seed], dtype=np.uint64))
    assert np.array_equal(found, called[np.cumsum(steps) + np.arange(steps.size)])


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


def drive_log_normal_tail(x: Any, out: Any) -> None:
    for i in range(x.size):
        out[i] = special.log_normal_tail(x[i])


def test_the_log_tail_of_a_normal_from_one_end_to_the_other() -> None:
    z = np.concatenate([np.linspace(-40.0, 40.0, 4001), spread(1e-12, 1e150, 300), -spread(1e-12, 1e150, 300), [0.0, 3.0, -3.0]])
    found, expected = np.empty(z.size), reference.log_ndtr(-z)
    Call(drive_log_normal_tail, z, found)()
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)
    assert found[np.argsort(z)][0] == 0.0
    with plain_python():
        again = np.empty(z.size)
        Call(drive_log_normal_tail, z, again)()
    np.testing.assert_array_equal(again, found)
