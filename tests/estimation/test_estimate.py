"""Estimates of an environment: values, errors, intervals, units, and words where nothing is known."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import volatilis as vl
from tests.oracles import conjugate
from tests.oracles.enumeration import enumerate_histories
from volatilis.estimation.evidence import joined, log_evidence
from volatilis.estimation.texts import candidates, without_auto

TRUE = vl.Gaussian(sigma=2.0, mu_0=30.0, sigma_0=9.0)


def sampled(length: int, seed: int, p_c: float = 0.05) -> np.ndarray:
    return vl.ChangingEnvironment(TRUE, p_c).sample(length, seed=seed)[0]


@pytest.fixture(scope="module")
def y() -> np.ndarray:
    return sampled(500, 1)


@pytest.fixture(scope="module")
def found(y: np.ndarray) -> vl.Environment:
    return vl.estimate(y, vl.Gaussian)


def test_the_evidence_is_the_sum_over_all_histories() -> None:
    y = sampled(9, 2)
    oracle = conjugate.Gaussian(2.0, 30.0, 9.0)
    exact = enumerate_histories(oracle, 0.05, y.tolist())[-1].log_evidence
    data = joined([y, y], [np.zeros(9, dtype=np.uint8)] * 2)
    assert log_evidence(vl.ExactBayes(TRUE, 0.05, 0.0), data) == pytest.approx(2 * exact, rel=1e-12)
    assert log_evidence(vl.Merge(TRUE, 0.05, 20), data) == pytest.approx(2 * exact, rel=1e-12)


def test_true_values_lie_within_four_errors(found: vl.Environment) -> None:
    for name, true in {"sigma": 2.0, "mu_0": 30.0, "sigma_0": 9.0, "p_c": 0.05}.items():
        one = found[name]
        assert one.low < one.value < one.high
        assert abs(one.value - true) < 4 * one.error
    assert found.family == vl.Gaussian(found["sigma"].value, found["mu_0"].value, found["sigma_0"].value)
    assert found.p_c == found["p_c"].value
    assert found.check is not None
    assert found.check.fits


def test_maximum_evidence_is_what_ten_lines_by_hand_find(y: np.ndarray) -> None:
    def minus_log_evidence(x: Any) -> float:
        family = vl.Gaussian(math.exp(x[0]), x[1], math.exp(x[2]))
        learner = vl.Merge(family, 1 / (1 + math.exp(-x[3])), 20)
        return -float(np.sum(vl.run(learner, y, readouts=["log_predictive"]).log_predictive))

    start = [math.log(3.0), 25.0, math.log(12.0), -2.0]
    by_hand = minimize(minus_log_evidence, start, method="Nelder-Mead", options={"xatol": 1e-4, "fatol": 1e-6, "maxfev": 900})
    found = vl.estimate(y, vl.Gaussian, method="ml", check=False)
    expected = [math.exp(by_hand.x[0]), by_hand.x[1], math.exp(by_hand.x[2]), 1 / (1 + math.exp(-by_hand.x[3]))]
    np.testing.assert_allclose([one.value for one in found.estimates], expected, rtol=2e-3)
    assert found.log_evidence == pytest.approx(-by_hand.fun, abs=1e-4)


@pytest.mark.parametrize(("factor", "offset"), [(1e12, 0.0), (1e-12, 0.0), (1.0, 1e9)])
def test_units_do_not_matter(y: np.ndarray, found: vl.Environment, factor: float, offset: float) -> None:
    other = vl.estimate(factor * y + offset, vl.Gaussian, check=False)
    for name, power in {"sigma": 1, "sigma_0": 1, "p_c": 0}.items():
        np.testing.assert_allclose(other[name].value, found[name].value * factor**power, rtol=1e-3)
        np.testing.assert_allclose(other[name].error, found[name].error * factor**power, rtol=2e-2)
    np.testing.assert_allclose(other["mu_0"].value - offset, factor * found["mu_0"].value, rtol=1e-3)


def test_what_is_given_stays(y: np.ndarray) -> None:
    one = vl.estimate(y, vl.Gaussian, sigma=2.0, mu_0=30.0, p_c=0.05, check=False)
    assert [e.name for e in one.estimates] == ["sigma_0"]
    assert (one.family.sigma, one.family.mu_0, one.p_c) == (2.0, 30.0, 0.05)
    marked = vl.estimate(y, vl.Gaussian(sigma=1.0, mu_0=30.0, sigma_0=9.0), sigma=vl.unknown, p_c=0.05, check=False)
    assert [e.name for e in marked.estimates] == ["sigma"]
    assert abs(marked["sigma"].value - 2.0) < 4 * marked["sigma"].error
    text = vl.estimate(y, "gaussian:mu_0=30,sigma_0=9,sigma=2", check=False)
    assert [e.name for e in text.estimates] == ["p_c"]
    learner = vl.estimate(y, vl.VarSMiLe(TRUE, m=0.5), m=vl.unknown, check=False)
    assert [e.name for e in learner.estimates] == ["m"]
    assert 0.01 < learner["m"].value < 0.3


def test_many_sequences_blocks_and_gaps_share_their_parameters() -> None:
    ys = [sampled(150, seed) for seed in range(4)]
    ys[1][20:30] = np.nan
    together = vl.estimate(ys, vl.Gaussian, check=False)
    joined_up = vl.estimate(np.concatenate(ys), vl.Gaussian, reset=[150, 300, 450], check=False)
    assert (together.observations, together.sequences) == (590, 4)
    for name in ("sigma", "mu_0", "sigma_0", "p_c"):
        assert together[name].value == pytest.approx(joined_up[name].value, rel=1e-9)
    alone = vl.estimate(ys[0], vl.Gaussian, check=False)
    assert together["sigma"].error < alone["sigma"].error
    assert vl.estimate(np.array(ys[2:]), vl.Gaussian, check=False).sequences == 2


def test_sequences_that_are_the_same_count_once(y: np.ndarray) -> None:
    one, other = y[:150], y[150:300]
    twice, once = vl.estimate([one, other], vl.Gaussian), vl.estimate([one, other, one, one, other], vl.Gaussian)
    assert once["sigma"] == twice["sigma"]
    assert once.p_c == twice.p_c
    assert (once.sequences, once.observations) == (2, 300)
    assert "3 of 5 sequences are the same as another one: they count once" in once.notes
    assert not any("count once" in note for note in twice.notes)


def test_a_file_has_the_environment(found: vl.Environment, tmp_path: Any) -> None:
    found.save(tmp_path / "environment.json")
    read = vl.Environment.load(tmp_path / "environment.json")
    assert (read.family, read.p_c, read.estimates) == (found.family, found.p_c, found.estimates)
    for text in (
        "",
        "[]",
        '{"format": "volatilis-environment", "version": 9}',
        '{"format": "volatilis-environment", "version": 1}',
    ):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(ValueError, match=r"bad\.json"):
            vl.Environment.load(tmp_path / "bad.json")


def test_nothing_known_is_said() -> None:
    still = np.random.default_rng(1).normal(5.0, 2.0, 300)
    known = vl.estimate(still, vl.Gaussian(2.0, 0.0, 10.0), check=False)
    before, bound = known.notes[0].rsplit(" ", 1)
    assert before == "no change in 300 observations: p_c is below"
    assert 3 / 300 <= float(bound) < 0.014  # (1 - p)^299 = 1/20 at 0.01; nearly changes that might be one let in a little more
    assert known["p_c"].high < 0.02
    unknown = vl.estimate(still, vl.Gaussian, check=False)
    assert any("no change is visible in 300 observations" in note for note in unknown.notes)
    assert any(note.startswith("p_c is not identified") for note in unknown.notes)


def test_a_wrong_family_is_named(y: np.ndarray) -> None:
    rng = np.random.default_rng(3)
    spoiled = y + (rng.random(y.size) < 0.05) * rng.normal(0.0, 60.0, y.size)
    found = vl.estimate(spoiled, vl.Gaussian)
    assert found.warnings
    assert "WARNING" in str(found)


@pytest.mark.parametrize(
    ("y", "family", "message"),
    [
        ([5.0] * 50, vl.Gaussian, "all 50 observations are 5.0"),
        ([1.0], vl.Gaussian, "1 observation says nothing"),
        ([math.nan] * 10, vl.Gaussian, "all of 10 are missing"),
        ([], vl.Gaussian, "no observation"),
        ([1.0, 2.0, 3.0], vl.Exponential(1.0, 1.0), "nothing is unknown"),
        ([[1.0, 2.0]] * 5, vl.MultivariateGaussian, "covariance must be given"),
        ([1.0, 2.0, 3.0], 7, "is no family"),
        ([1.0, -2.0, 3.0], vl.Exponential, "observation 1"),
    ],
)
def test_bad_input_is_a_clear_error(y: Any, family: Any, message: str) -> None:
    given = {"p_c": 0.1} if isinstance(family, vl.Exponential) else {}
    with pytest.raises((ValueError, TypeError), match=message):
        vl.estimate(y, family, **given)


OTHERS = {
    "bernoulli": (vl.Bernoulli(a=2.0, b=1.0), 0.03, {}),
    "categorical": (vl.Categorical(k=4, s=0.5), 0.03, {}),
    "poisson": (vl.Poisson(shape=2.0, rate=0.2), 0.05, {}),
    "exponential": (vl.Exponential(shape=3.0, rate=2.0), 0.05, {}),
    "gaussian-unknown-variance": (vl.GaussianUnknownVariance(5.0, 0.1, 3.0, 4.0), 0.03, {}),
    "vonmises": (vl.VonMises(kappa=10.0, mu_0=0.0, kappa_0=0.5, period=360.0), 0.05, {"period": 360.0}),
}


@pytest.mark.parametrize("name", OTHERS)
def test_every_family_can_be_estimated(name: str) -> None:
    """Each true value within four standard errors, on the scale where the error was found to be normal (the interval's)."""
    family, p_c, given = OTHERS[name]
    y, *_ = vl.ChangingEnvironment(family, p_c).sample(1500, seed=5)
    found = vl.estimate(y, type(family), check=False, **given)
    assert abs(math.log(found.p_c / p_c)) < 4 * math.log(found["p_c"].high / found["p_c"].low) / 3.92
    for one in found.estimates[:-1]:
        true = getattr(family, one.name)
        assert one.value - 2.1 * (one.value - one.low) < true < one.value + 2.1 * (one.high - one.value) or (
            abs(math.log(true / one.value)) < 2.1 * math.log(one.high / one.low) / 2 if one.low > 0 else False
        )


# --- which world is it? ------------------------------------------------------------------------------------------------------


def autoregressive(phi: float, length: int, seed: int) -> np.ndarray:
    noise, y = np.random.default_rng(seed).normal(size=length), np.zeros(length)
    for t in range(1, length):
        y[t] = phi * y[t - 1] + noise[t]
    return y


def test_outliers_and_autocorrelation_are_among_the_candidates_and_win_where_they_are_true(y: np.ndarray) -> None:
    rng = np.random.default_rng(3)
    spikes = (rng.random(200) < 0.08) * rng.normal(0.0, 60.0, 200)
    found = vl.estimate(y[:200] + spikes)
    assert isinstance(found.family, vl.Contaminated)
    assert found.best.check.fits
    assert abs(found.best["sigma"].value - 2.0) < 4 * found.best["sigma"].error
    assert found.best["p_o"].low < np.mean(np.abs(spikes) > 6.0) < found.best["p_o"].high  # those that stand out of the noise
    found = vl.estimate(1e3 * autoregressive(0.9, 200, 5), ["gaussian", "ar:1"])
    assert isinstance(found.family, vl.AutoRegression)
    assert found.behind[1] > 5.0
    assert [one.observations for one in found] == [199] * 2  # the first is conditioned on, by all


def test_evidences_of_different_families_are_of_the_same_observations() -> None:
    """Against sums over runs, without the observations that an autoregression has no past for."""
    y = sampled(60, 4)
    y[20] = np.nan
    found = vl.estimate(y, [vl.Gaussian(2.0, 30.0, 9.0), vl.AutoRegression(2)], check=False)
    for one in found:
        trace = vl.run(vl.Merge(one.family, one.p_c, 20), y, missing="elapse")
        counted = np.ones(60, dtype=bool)
        counted[[0, 1, 20, 21, 22]] = False
        assert one.log_evidence == pytest.approx(float(np.sum(trace.log_predictive[counted])), abs=1e-9)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0, 1, 1, 0, 1], ("bernoulli", "transitions:k=2")),
        ([True, False, True], ("bernoulli", "transitions:k=2")),
        ([0, 3, 1, 2, 2, 0, 1], ("poisson", "contaminated:poisson", "categorical:k=4", "transitions:k=4")),
        ([0, 13, 1, 22, 2, 0, 1], ("poisson", "contaminated:poisson", "gaussian")),
        ([0.5, 1.5, math.nan, 2.25], ("gaussian", "contaminated:gaussian")),
        ([-0.5, 1.5, 2.25], ("gaussian", "contaminated:gaussian")),
    ],
)
def test_candidates_fit_the_kind_of_the_observations(values: list[float], expected: tuple[str, ...]) -> None:
    found = candidates([np.array(values, dtype=float)])
    assert found[: len(expected)] == expected
    assert ("exponential" in found) == (values[0] == 0.5)


def test_waiting_times_may_be_nothing() -> None:
    assert "exponential" in candidates([np.array([0.0, 1.5, 2.25])])
    y = np.append(np.random.default_rng(0).exponential(3.0, 300), 0.0)
    assert vl.estimate(y, "auto").best.text.startswith("exponential")


def test_candidates_of_angles_and_of_named_symbols() -> None:
    angles, *_ = vl.ChangingEnvironment(vl.VonMises(20.0, period=360.0), 0.1).sample(2000, seed=1)
    circle = "vonmises:mu_0=0,kappa_0=0,period=360.0"  # changes lead anywhere
    assert candidates([np.asarray(angles) % 360.0]) == (circle, f"contaminated:{circle}")
    assert candidates([np.zeros(4)], categories=3) == ("categorical:k=3", "transitions:k=3")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gaussian:auto", "gaussian"),
        ("gaussian:sigma=auto,mu_0=3", "gaussian:mu_0=3,sigma_0=1.0"),
        ("contaminated:gaussian:auto", "contaminated:gaussian"),
        ("contaminated:gaussian:sigma=2;p_o=auto", "contaminated:gaussian:sigma=2,mu_0=0.0,sigma_0=1.0;spread=1.0"),
        ("ar:1", "autoregression:order=1"),
        ("contaminated:gaussian:auto;p_o=0.1", "contaminated:gaussian;p_o=0.1"),
    ],
)
def test_auto_in_texts(text: str, expected: str) -> None:
    assert without_auto(text) == expected


def test_contexts() -> None:
    family = vl.Given(vl.Gaussian(1.0, 0.0, 8.0), 2)
    x = np.arange(200) % 2
    y, *_ = vl.ChangingEnvironment(family, 0.05).sample(200, seed=2, given=x)
    found = vl.estimate(y, "given:gaussian", given=x, check=False)
    assert found.notes[0] == "contexts = 2: as many as the largest number tells"
    assert abs(found["sigma"].value - 1.0) < 4 * found["sigma"].error
    assert found.family.contexts == 2
    read = vl.Environment._from(json.loads(found.to_json()))  # a family of families goes through a file
    assert read.family == found.family


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["a", "b"],), "not real numbers"),
        (([[1.0, 2.0], [2.0, 1.0]], vl.Contaminated), "made of another family"),
        (([1.0, 2.0, 3.0], "given:gaussian"), "contexts must be given"),
        (([1.0, 2.0, 3.0], []), "needs a family"),
    ],
)
def test_bad_worlds_are_clear_errors(arguments: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        vl.estimate(*arguments)


@pytest.mark.parametrize(
    ("ys", "error", "words"),
    [
        ([1.0, 2.0, np.inf, 3.0], ValueError, "observation 2 is inf"),
        ([[1.0, 2.0], [1.0, -np.inf]], ValueError, "sequence 1: observation 1 is -inf"),
        (["1.5", "2.5", "3"], ValueError, "not real numbers"),
        (np.array([1.0 + 1.0j, 2.0, 3.0]), ValueError, "not real numbers"),
        (None, TypeError, "no sequence of observations"),
        (3.0, TypeError, "no sequence of observations"),
        (np.array([1.0, 3.0, 2.0, 5.5]) * 1e300, ValueError, "multiply them by something"),
        (np.array([1.0, 3.0, 2.0, 5.5]) * 1e-300, ValueError, "multiply them by something"),
    ],
)
def test_what_is_no_data_is_named_whatever_family_it_may_be(ys: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        vl.estimate(ys)


def test_one_number_far_away_does_not_hide_all_others() -> None:
    y = vl.ChangingEnvironment(vl.Gaussian(1.0, 5.0, 6.0), 0.05).sample(200, seed=1).y
    found = vl.estimate(np.concatenate([y, [1e12], y]), vl.GaussianUnknownVariance, check=False)
    assert found["mu_0"].low < 5.0 < found["mu_0"].high
    assert found["p_c"].high / found["p_c"].low > 1.5
    worse = vl.estimate(np.concatenate([y, [1e12], y]), vl.Gaussian)
    assert any("contaminated" in warning for warning in worse.warnings)  # nothing that a gaussian could be


def test_numbers_that_come_twice_are_no_outliers() -> None:
    """Whole numbers of small noise: an outliers' law that is narrower than the noise would win by its ties."""
    y = np.random.default_rng(0).integers(-3, 3, 60).astype(float)
    found = vl.estimate(y, "contaminated:gaussian", check=False)
    assert found["spread"].value >= 0.5
