"""VonMises against mpmath at every concentration; its circle: wrapping, any period, "anywhere", the short way round."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import volatilis as vl
from tests.helpers.settings import bank
from volatilis.families import Beliefs, empty_beliefs, prior_beliefs
from volatilis.families.von_mises import GAP, LENGTH, set_vector

mpmath.mp.dps = 50
CONCENTRATIONS = [0.0, 1e-9, 1e-4, 0.3, 2.0, 7.0, 15.9, 16.1, 40.0, 1e3, 1e5, 1e8]
every_concentration = pytest.mark.parametrize("concentration", CONCENTRATIONS, ids=lambda r: f"{r:g}")
RNG = np.random.default_rng(12)


def belief(family: Any, *vectors: tuple[float, float]) -> Beliefs:
    """Columns with these concentrations and directions, in radians."""
    beliefs = empty_beliefs(family, len(vectors))
    for i, (r, angle) in enumerate(vectors):
        set_vector(beliefs, i, r * math.cos(angle), r * math.sin(angle))
    return beliefs


def vector(beliefs: Beliefs, i: int = 0) -> Any:
    """The natural parameter as mpmath's complex number, from the very numbers that the belief holds."""
    return mpmath.mpc(float(beliefs.chi[0, i]), float(beliefs.chi[1, i]))


def log_i0(x: Any) -> Any:
    return x + mpmath.log(mpmath.besseli(0, x) * mpmath.exp(-x)) if x < 1e4 else x + mpmath.log(scaled_far(x))


def scaled_far(x: Any) -> Any:
    """I0(x) e^-x for large x by its asymptotic series, whose terms fall below 1e-50 before they grow."""
    total, term = mpmath.mpf(1), mpmath.mpf(1)
    for k in range(1, 40):
        term *= mpmath.mpf((2 * k - 1) ** 2) / (8 * k * x)
        total += term
    return total / mpmath.sqrt(2 * mpmath.pi * x)


def resultant(z: Any) -> Any:
    """E[e^(i theta)] for the natural parameter z."""
    x = abs(z)
    if x == 0:
        return mpmath.mpc(0)
    return mpmath.besseli(1, x) / mpmath.besseli(0, x) * z / x


# --- against mpmath ----------------------------------------------------------------------------------------------------


@every_concentration
@pytest.mark.parametrize("kappa", [1e-6, 0.5, 15.0, 300.0, 1e8], ids=lambda k: f"{k:g}")
def test_predictive_to_twelve_digits(concentration: float, kappa: float) -> None:
    """Of the density where its logarithm is small, of the logarithm where that is large."""
    family = vl.VonMises(kappa)
    for direction in (0.4, 3.0):
        beliefs = belief(family, (concentration, direction))
        z = vector(beliefs)
        width = 1 / math.sqrt(1 + min(kappa, concentration))
        for y in (direction, direction + 0.3 * width, direction - 3 * width, direction + math.pi, 1.0, 2.0):
            after = abs(z + kappa * mpmath.expj(mpmath.mpf(y)))
            expected = log_i0(after) - log_i0(abs(z)) - log_i0(mpmath.mpf(kappa)) - mpmath.log(mpmath.mpf(family.period))
            assert_allclose(family.log_predictive(beliefs, 0, y), float(expected), rtol=1e-12, atol=1e-12)


@every_concentration
def test_divergence_to_twelve_digits(concentration: float) -> None:
    family = vl.VonMises(1.0)
    for other in CONCENTRATIONS:
        for apart in (0.0, 1e-4, 0.5, 3.0):
            beliefs = belief(family, (concentration, 0.7), (other, 0.7 + apart))
            p, q = vector(beliefs, 0), vector(beliefs, 1)
            m = resultant(p)
            expected = log_i0(abs(q)) - log_i0(abs(p)) + (m * mpmath.conj(p - q)).real
            if abs(expected) < 1e-30:
                assert family.divergence(beliefs, 0, beliefs, 1) == pytest.approx(0.0, abs=1e-28)
            else:
                assert_allclose(family.divergence(beliefs, 0, beliefs, 1), float(expected), rtol=1e-12)


@every_concentration
@pytest.mark.parametrize("share", [0.5, 0.01])
def test_merge_to_twelve_digits(concentration: float, share: float) -> None:
    """The mean vector of the pair: what its length lacks of one, and its direction."""
    family = vl.VonMises(1.0)
    for other in CONCENTRATIONS[1:]:
        for apart in (0.0, 1e-4, 0.5, 2.5):
            beliefs = belief(family, (concentration, 0.7), (other, 0.7 + apart))
            expected = (1 - mpmath.mpf(share)) * resultant(vector(beliefs, 0)) + mpmath.mpf(share) * resultant(vector(beliefs, 1))
            family.merge(beliefs, 0, 1, 1 - share, share)
            found = resultant(vector(beliefs))
            assert_allclose(float((1 - abs(found)) / (1 - abs(expected))), 1.0, rtol=0, atol=1e-12)
            assert_allclose(float(abs(found) / abs(expected)), 1.0, rtol=0, atol=1e-12)
            assert abs(float(mpmath.arg(found / expected))) < 1e-12
            assert_allclose(beliefs.chi[GAP, 0], float(1 - abs(found)), rtol=2e-14)


# --- the circle --------------------------------------------------------------------------------------------------------

LEARNERS = [
    lambda f: vl.ExactBayes(f, 0.1),
    lambda f: vl.MessagePassing(f, 0.1, 4),
    lambda f: vl.Merge(f, 0.1, 3),
    lambda f: vl.ParticleFilter(f, 0.1, 6),
    lambda f: vl.StratifiedResampling(f, 0.1, 4),
    lambda f: vl.VarSMiLe(f, 0.1),
    lambda f: vl.SMiLe(f, 0.1),
    lambda f: vl.Leaky(f, 0.8),
]
DEGREES = [350.0, 10.0, 2.0, 355.0, 170.0, 185.0, 179.0, 300.0]


@pytest.mark.parametrize("make", LEARNERS, ids=lambda make: type(make(vl.VonMises(1.0))).__name__)
def test_units_and_whole_periods_do_not_matter(make: Any) -> None:
    """Radians, hours, and numbers from other periods: the same directions, and densities per unit of the period."""
    with vl.plain_python():
        degrees = vl.run(make(vl.VonMises(8.0, 30.0, 0.5, 360.0)), DEGREES, seed=1)
        shifted = vl.run(make(vl.VonMises(8.0, 390.0, 0.5, 360.0)), np.array(DEGREES) - 720.0, seed=1)
        hours = vl.run(make(vl.VonMises(8.0, 2.0, 0.5, 24.0)), np.array(DEGREES) / 15.0, seed=1)
    assert np.all((degrees.mean >= 0.0) & (degrees.mean < 360.0))
    assert_allclose(shifted.mean, degrees.mean, rtol=1e-12, atol=1e-10)
    assert_allclose(hours.mean, degrees.mean / 15.0, rtol=1e-12, atol=1e-11)
    if "variance" in degrees.readouts:
        assert_allclose(hours.variance, degrees.variance / 225.0, rtol=1e-11)
        assert_allclose(hours.log_predictive, degrees.log_predictive + math.log(15.0), rtol=1e-11)
        assert_allclose(hours.adaptation_rate, degrees.adaptation_rate, rtol=1e-9)
        assert_allclose(hours.bayesian_surprise, degrees.bayesian_surprise, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("make", LEARNERS, ids=lambda make: type(make(vl.VonMises(1.0))).__name__)
def test_where_the_circle_is_cut_does_not_matter(make: Any) -> None:
    """Everything turned by an angle: the means turn with it, and nothing else changes, surprises included."""
    for turn in (10.0, 183.0):
        with vl.plain_python():
            plain = vl.run(make(vl.VonMises(8.0, 0.0, 0.5, 360.0)), DEGREES, seed=1)
            turned = vl.run(make(vl.VonMises(8.0, turn, 0.5, 360.0)), np.array(DEGREES) + turn, seed=1)
        apart = np.mod(turned.mean - plain.mean - turn + 180.0, 360.0) - 180.0
        assert_allclose(apart, 0.0, rtol=0, atol=1e-9)
        if "variance" in plain.readouts:
            assert_allclose(turned.variance, plain.variance, rtol=1e-10)
            assert_allclose(turned.log_predictive, plain.log_predictive, rtol=1e-10, atol=1e-11)
            for measure in ("bayesian_surprise", "confidence_corrected_surprise"):
                assert_allclose(getattr(turned, measure), getattr(plain, measure), rtol=1e-7, atol=2e-6)


def test_a_concentrated_belief_is_a_gaussian() -> None:
    """At kappa = 1e6 the circle looks flat: mean, variance and predictive of the Gaussian, to about 1 / kappa."""
    kappa, sigma = 1e6, math.degrees(1e-3)
    ys = 180.0 + sigma * RNG.normal(size=40)
    circle = vl.run(vl.ExactBayes(vl.VonMises(kappa, 180.0, 100.0, 360.0), 0.1), ys)
    line = vl.run(vl.ExactBayes(vl.Gaussian(sigma, 180.0, math.degrees(0.1)), 0.1), ys)
    assert_allclose(circle.mean, line.mean, rtol=0, atol=1e-3 * sigma)
    assert_allclose(circle.variance, line.variance, rtol=1e-2)
    assert_allclose(circle.log_predictive, line.log_predictive, rtol=0, atol=1e-2)


def test_a_mixture_of_opposite_directions_has_no_mean_but_a_variance() -> None:
    """Equal and opposite: the mean vector is of length 0, so the variance is the largest there is; mu_0 stands for the mean."""
    family = vl.VonMises(5.0, 25.0, 0.0, 360.0)
    beliefs, room = belief(family, (5.0, 0.0), (5.0, math.pi)), np.zeros(2)
    set_vector(beliefs, 1, -5.0, 0.0)
    w = np.array([0.5, 0.5])
    mean = family.mixture_mean(beliefs, w, 2, 0, room)
    assert mean == 25.0
    assert_allclose(family.mixture_variance(beliefs, w, 2, 0, mean, room), 2.0 * math.degrees(1.0) ** 2, rtol=1e-13)


def test_anywhere_is_a_prior() -> None:
    """kappa_0 = 0: uniform, whatever mu_0; the mean of nothing is mu_0. Files keep such a state."""
    family = vl.VonMises(4.0, -30.0, 0.0, 360.0)
    pi_0 = prior_beliefs(family)
    assert pi_0.nu[0] == pi_0.chi[LENGTH, 0] == 0.0
    assert family.mean(pi_0, 0, 0) == 330.0
    assert_allclose([family.log_predictive(pi_0, 0, y) for y in (0.0, 77.0, -1e5)], -math.log(360.0), rtol=1e-14)
    with vl.plain_python():
        for learner in (vl.ExactBayes(family, 0.1), vl.VarSMiLe(family, 0.1), vl.Leaky(family, 0.5)):
            stream = vl.Stream(learner)
            again = vl.Stream.from_bytes(stream.to_bytes())
            assert again.update(12.0).mean == stream.update(12.0).mean
            assert vl.Stream.from_bytes(stream.to_bytes()).update(40.0).mean == stream.update(40.0).mean


@pytest.mark.parametrize(("row", "value"), [("nu", -1.0), (0, 7.0), (2, 0.1), (3, -1.0), (4, 2.0), (5, 0.0)])
def test_states_that_no_directions_lead_to_are_refused(row: Any, value: float) -> None:
    family = vl.VonMises(4.0)
    beliefs = bank(family, [0.3, 0.5])
    assert family.invalid_state(beliefs.chi, beliefs.nu) is None
    assert family.invalid_state(np.zeros((6, 1)), np.zeros(1)) is None
    if row == "nu":
        beliefs.nu[0] = value
    else:
        beliefs.chi[row, 0] = value
    assert "belief" in str(family.invalid_state(beliefs.chi, beliefs.nu))


def test_the_short_way_round() -> None:
    family = vl.VonMises(1.0, period=360.0)
    a, b = np.array([10.0, 350.0, 180.0, 5.0, 725.0, 90.0]), np.array([350.0, 10.0, 0.0, 5.0, 0.0, -90.0])
    assert_array_equal(np.abs(family.difference(a, b)), [20.0, 20.0, 180.0, 0.0, 5.0, 180.0])
    assert_array_equal(family.difference(a, b)[:2], [20.0, -20.0])
    assert [family.difference(x, y) for x, y in zip(a, b, strict=True)] == family.difference(a, b).tolist()
    assert vl.Gaussian(1.0).difference(350.0, 10.0) == 340.0


def test_any_finite_number_is_a_direction() -> None:
    family = vl.VonMises(4.0, period=360.0)
    values, missing = family.observations([10.0, -1e300, 1e17, None])
    assert missing.tolist() == [False, False, False, True]
    assert values[0] == 10.0
    assert_array_equal(values[1:3], [math.fmod(-1e300, 360.0), math.fmod(1e17, 360.0)])
    with vl.plain_python():
        stream, other = vl.Stream(vl.VarSMiLe(family, 0.1)), vl.Stream(vl.VarSMiLe(family, 0.1))
        assert stream.update(-1e300) == other.update(math.fmod(-1e300, 360.0))
    with pytest.raises(ValueError, match="VonMises: observation 1 is inf"):
        family.observations([1.0, math.inf])


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kappa": 0.0}, "kappa = 0.0 is not accepted; it must be a number above 0, at most 1e15"),
        ({"kappa": 1.0, "kappa_0": -1.0}, "kappa_0 = -1.0"),
        ({"kappa": 1.0, "period": 0.0}, "period = 0.0 .*such as 360 for degrees"),
        ({"kappa": 1.0, "mu_0": math.nan}, "mu_0"),
    ],
)
def test_what_is_not_accepted(fields: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        vl.VonMises(**fields)


def test_python_and_native_code_give_the_same_bits() -> None:
    """Beliefs of every concentration side by side, near and far ones in every order; with weights that underflow too."""
    for kappa in (0.01, 3.0, 20.0, 1e6):
        family = vl.VonMises(kappa, 1.0, 0.2)
        ys = np.concatenate([RNG.uniform(0, 6.28, 30), RNG.normal(2.0, 1 / math.sqrt(1 + kappa), 30)])
        for learner in (vl.ExactBayes(family, 0.02), vl.Merge(family, 0.02, 11), vl.ParticleFilter(family, 0.02, 10)):
            native = vl.run(learner, ys, seed=2)
            with vl.plain_python():
                plain = vl.run(learner, ys, seed=2)
            for name in native.readouts:
                assert_array_equal(getattr(native, name), getattr(plain, name), err_msg=name)
