"""Predictions on a circle, against SciPy's von Mises distribution at the beliefs that `vl.run` reports."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import volatilis as vl
from tests.behaviour.simulated import trials_of
from volatilis._compiler import plain_python
from volatilis.behaviour.fitting.fit import fit, intervals
from volatilis.behaviour.fitting.parameters import unit_of
from volatilis.behaviour.likelihood import log_likelihoods
from volatilis.behaviour.models import Model
from volatilis.behaviour.people import Person
from volatilis.behaviour.recovery.simulation import simulate
from volatilis.behaviour.responses import CircularNoise, GaussianNoise, Habits, LaplaceNoise, TruncatedNoise, UnderBelief

T = 60
FAMILY = vl.VonMises(kappa=8.0, period=360.0)  # a uniform prior
AIMED = vl.VonMises(kappa=8.0, mu_0=350.0, kappa_0=2.0, period=360.0)
UNIT = 360.0 / (2.0 * np.pi)


def outcomes_and_responses(family: Any, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    y = vl.ChangingEnvironment(family, 0.1).sample(T, seed=seed).y
    return y, np.mod(y + np.random.default_rng(seed).normal(0.0, 15.0, T), 360.0)


def log_circular(given: np.ndarray, mean: np.ndarray, sd: Any) -> np.ndarray:
    kappa = (UNIT / np.asarray(sd)) ** 2
    return np.asarray(stats.vonmises.logpdf((given - mean) / UNIT, kappa)) - np.log(UNIT)


def before(trace: vl.Trace, first: float) -> np.ndarray:
    return np.concatenate([[first], trace.mean[:-1]])


@pytest.mark.parametrize("learner", [vl.VarSMiLe(AIMED, 0.3), vl.Merge(AIMED, 0.1, 5)], ids=["VarSMiLe", "Merge"])
def test_noise_around_the_direction(learner: Any) -> None:
    y, given = outcomes_and_responses(AIMED)
    trace = vl.run(learner, y)
    mean, sd = before(trace, 350.0), np.sqrt(np.concatenate([[vl.Stream(learner).belief.variance], trace.variance[:-1]]))
    found = log_likelihoods(learner, CircularNoise(12.0), trials_of(AIMED, y, given))
    np.testing.assert_allclose(found, log_circular(given, mean, 12.0), rtol=1e-9)
    last = np.concatenate([[350.0], given[:-1]])
    update = np.abs(np.mod(mean - last + 180.0, 360.0) - 180.0)  # the short way
    update[0] = 0.0
    assert (np.abs(mean - last)[1:] > 180.0).any()  # where the plain difference would go the long way round
    scale = np.hypot(4.0 + 0.5 * sd + 0.2 * update, 3.0)
    model = CircularNoise(4.0, per_uncertainty=0.5, per_update=0.2, motor=3.0)
    found = log_likelihoods(learner, model, trials_of(AIMED, y, given))
    np.testing.assert_allclose(found, log_circular(given, mean, scale), rtol=1e-9)


def test_whole_turns_do_not_matter() -> None:
    y, given = outcomes_and_responses(AIMED)
    turns = 360.0 * np.random.default_rng(0).integers(-3, 4, T)
    learner, model = vl.VarSMiLe(AIMED, 0.3), CircularNoise(12.0, per_update=0.3)
    plain = log_likelihoods(learner, model, trials_of(AIMED, y, given))
    turned = log_likelihoods(learner, model, trials_of(AIMED, y + 360.0, given + turns))
    np.testing.assert_allclose(turned, plain, rtol=1e-9)


@pytest.mark.parametrize("learner", [vl.VarSMiLe(FAMILY, 0.3), vl.Merge(FAMILY, 0.1, 5), vl.Leaky(FAMILY, 0.7)], ids=str)
def test_a_belief_without_a_direction_expects_any_response(learner: Any) -> None:
    """At the start and where a block begins, a uniform prior has none: 1 / 360 for every response, whatever mu_0 is."""
    y, given = outcomes_and_responses(FAMILY)
    found = log_likelihoods(learner, CircularNoise(12.0), trials_of(FAMILY, y, given, reset=[30]))
    expected = log_circular(given, before(vl.run(learner, y, reset=[30]), 0.0), 12.0)
    expected[[0, 30]] = -np.log(360.0)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("sd", [1e-3, 1.0, 40.0, 1e3])
def test_it_is_a_density(sd: float) -> None:
    """Over once around, with lapses as well, however narrow or broad the noise."""
    learner = vl.VarSMiLe(AIMED, 0.3)
    width = min(20.0 * sd, 180.0)
    grid = 350.0 + width * (2.0 * (np.arange(4000) + 0.5) / 4000 - 1.0)
    for model, lapse in ((CircularNoise(sd), 0.0), (Habits(CircularNoise(sd), lapse=0.1, span=360.0), 0.1)):
        trials = trials_of(AIMED, np.full(4000, 10.0), grid, reset=np.arange(1, 4000))  # the prior's belief each time
        total = np.exp(log_likelihoods(learner, model, trials)).mean() * 2.0 * width
        assert total == pytest.approx(1.0 - lapse * (1.0 - width / 180.0), abs=1e-6)


def test_python_and_native_code_agree_to_the_last_bit() -> None:
    y, given = outcomes_and_responses(FAMILY)
    for model in (CircularNoise(12.0, per_uncertainty=0.2), UnderBelief()):
        native = log_likelihoods(vl.VarSMiLe(FAMILY, 0.3), model, trials_of(FAMILY, y, given))
        with plain_python():
            plain = log_likelihoods(vl.VarSMiLe(FAMILY, 0.3), model, trials_of(FAMILY, y, given))
        np.testing.assert_array_equal(native, plain)


def test_the_prediction_under_the_belief() -> None:
    y, given = outcomes_and_responses(FAMILY)
    stream, expected = vl.Stream(vl.Merge(FAMILY, 0.1, 5)), []
    for t in range(T):
        expected.append(np.log(stream.belief.pdf(np.mod(given[t] - 2.0, 360.0))))
        stream.update(y[t])
    found = log_likelihoods(vl.Merge(FAMILY, 0.1, 5), UnderBelief(2.0), trials_of(FAMILY, y, given))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_what_does_not_go_together_is_refused() -> None:
    y, given = outcomes_and_responses(FAMILY)
    for model in (GaussianNoise(8.0), LaplaceNoise(8.0), TruncatedNoise(8.0, 0.0, 360.0), Habits(GaussianNoise(8.0), stay=0.1)):
        with pytest.raises(TypeError, match=r"on a circle \(360 once around\).*use vonmises"):
            log_likelihoods(vl.VarSMiLe(FAMILY, 0.3), model, trials_of(FAMILY, y, given))
    with pytest.raises(TypeError, match="Gaussian is on a line: use gaussian"):
        log_likelihoods(vl.VarSMiLe(vl.Gaussian(1.0), 0.3), CircularNoise(8.0), trials_of(vl.Gaussian(1.0), y, given))


def test_a_lapse_is_once_around() -> None:
    model = Model.parse("vonmises:kappa=8,period=24", "varsmile:m=0.3", "vonmises:sd=1,lapse=0.2")
    assert model.make({})[1].span == 24.0  # type: ignore[attr-defined]


def test_simulated_people_are_recovered() -> None:
    """Parameters within four standard errors; the same noise as was simulated; nobody starts at mu_0."""
    model = Model.parse("vonmises:kappa=8,period=360", "varsmile:m=free", "vonmises:sd=free,lapse=free")
    y = np.concatenate([vl.ChangingEnvironment(FAMILY, 0.1).sample(200, seed=k).y for k in range(4)])
    design = Person("a", (trials_of(FAMILY, y, np.zeros(800), reset=[200, 400, 600]),))
    truth = {"m": 0.5, "sd": 14.0, "lapse": 0.05}
    person = simulate(model, truth, design, 3)
    given = person.parts[0].given
    assert given.min() >= 0.0
    assert given.max() < 360.0
    assert np.ptp(given[[0, 200, 400, 600]]) > 30.0
    found = fit(model, person, starts=3)
    errors = intervals(found)
    for name, value in truth.items():
        assert abs(found.values[name] - value) < 4.0 * errors[name][0], name
    assert not found.warnings


def test_the_unit_of_a_circle_does_not_depend_on_where_it_is_cut() -> None:
    angles = np.random.default_rng(5).normal(0.0, 20.0, 4000)
    for shift in (0.0, 90.0, 180.0, 300.0):
        middle, spread = unit_of(np.mod(angles + shift, 360.0), 360.0)
        assert abs(np.mod(middle - shift + 180.0, 360.0) - 180.0) < 1.5
        assert spread == pytest.approx(20.0, rel=0.06)
