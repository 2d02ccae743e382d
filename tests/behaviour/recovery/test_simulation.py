"""Simulated responses: distributed as the likelihood says, on the same design."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import integrate, stats

import volatilis as vl
from tests.behaviour.simulated import FAMILY, FAMILY_TEXT, believed, trials_of
from volatilis._core.fields import Positive
from volatilis.behaviour import responses
from volatilis.behaviour.likelihood import log_likelihoods
from volatilis.behaviour.models import Model
from volatilis.behaviour.people import Person
from volatilis.behaviour.recovery.simulation import Moment, responses_to, simulate

T = 300
LEARNERS = (vl.VarSMiLe(FAMILY, 0.3), vl.Nas12Star(FAMILY, 0.1), vl.Merge(FAMILY, 0.1, 5), vl.ExactBayes(FAMILY, 0.1))


def outcomes(length: int = T, seed: int = 3) -> np.ndarray:
    return vl.ChangingEnvironment(FAMILY, 0.1).sample(length, seed=seed).y


def last_of(given: np.ndarray) -> np.ndarray:
    return np.concatenate([[np.nan], given[:-1]])


def noise(mean: np.ndarray, sd: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Of the Gaussian response below."""
    return np.hypot(5.0 + 0.5 * sd + 0.2 * np.abs(np.where(np.isnan(last), mean, last) - mean), 3.0)


CONTINUOUS: dict[str, tuple[Any, Any]] = {
    "gaussian": (
        responses.GaussianNoise(5.0, per_uncertainty=0.5, per_update=0.2, motor=3.0),
        lambda given, mean, sd, last: stats.norm.cdf(given, mean, noise(mean, sd, last)),
    ),
    "laplace": (
        responses.LaplaceNoise(9.0),
        lambda given, mean, sd, last: stats.laplace.cdf(given, mean, 9.0 / np.sqrt(2.0)),
    ),
    "truncated": (
        responses.TruncatedNoise(40.0, 120.0, 170.0),
        lambda given, mean, sd, last: stats.truncnorm.cdf(given, (120.0 - mean) / 40.0, (170.0 - mean) / 40.0, mean, 40.0),
    ),
    "lapses": (
        responses.Habits(responses.GaussianNoise(8.0), lapse=0.3, span=400.0),
        lambda given, mean, sd, last: 0.7 * stats.norm.cdf(given, mean, 8.0) + 0.3 * stats.uniform.cdf(given, -50.0, 400.0),
    ),
}


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
@pytest.mark.parametrize("name", CONTINUOUS)
def test_the_probability_below_a_response_is_uniform(name: str, learner: Any) -> None:
    response, below = CONTINUOUS[name]
    y = outcomes(1000)
    given = responses_to(learner, response, trials_of(FAMILY, y, np.zeros(1000)), np.random.default_rng(5), middle=150.0)
    mean, sd = believed(learner, y)
    assert stats.kstest(below(given, mean, sd, last_of(given)), "uniform").pvalue > 0.01


def test_a_third_more_noise_would_show() -> None:
    learner, y = LEARNERS[0], outcomes(1000)
    trials = trials_of(FAMILY, y, np.zeros(1000))
    given = responses_to(learner, responses.GaussianNoise(13.3), trials, np.random.default_rng(5), 150.0)
    assert stats.kstest(stats.norm.cdf(given, believed(learner, y)[0], 10.0), "uniform").pvalue < 0.01


@pytest.mark.parametrize("learner", LEARNERS[1:3], ids=lambda learner: type(learner).__name__)
def test_under_the_belief(learner: Any) -> None:
    """By integration of the density that a stream reports."""
    y, below, stream = outcomes(150), [], vl.Stream(learner)
    given = responses_to(learner, responses.UnderBelief(2.0), trials_of(FAMILY, y, np.zeros(150)), np.random.default_rng(5), 0.0)
    for t in range(150):
        points = np.linspace(-150.0, given[t] - 2.0, 4001)
        below.append(integrate.trapezoid(stream.belief.pdf(points), points))
        stream.update(float(y[t]))
    assert stats.kstest(below, "uniform").pvalue > 0.01


def test_confidence() -> None:
    learner, y, response = LEARNERS[0], outcomes(2000), responses.Confidence(0.4, 3.0, 0.7)
    given = responses_to(learner, response, trials_of(FAMILY, y, np.zeros(2000)), np.random.default_rng(2), 0.0)
    _, sd = believed(learner, y)
    assert stats.kstest((given - 3.0 + 0.7 * np.log(sd)) / 0.4, "norm").pvalue > 0.01


def test_a_slider_piles_up_at_its_ends() -> None:
    learner, y = LEARNERS[0], outcomes(2000)
    given = responses_to(
        learner, responses.CensoredNoise(30.0, 120.0, 170.0), trials_of(FAMILY, y, np.zeros(2000)), np.random.default_rng(1), 0.0
    )
    mean, _ = believed(learner, y)
    for end, p in ((120.0, stats.norm.cdf((120.0 - mean) / 30.0)), (170.0, stats.norm.sf((170.0 - mean) / 30.0))):
        assert abs((given == end).sum() - p.sum()) < 3.0 * np.sqrt((p * (1 - p)).sum())
    assert given.min() == 120.0
    assert given.max() == 170.0


def test_a_mean_far_beyond_the_slider() -> None:
    """Where the tail has no digits left: an exponential from the end, with the rate distance / variance."""
    learner = vl.VarSMiLe(vl.Gaussian(1.0, 500.0, 1.0), 0.1)
    trials = trials_of(learner.family, np.full(2000, 500.0), np.zeros(2000))
    given = responses_to(learner, responses.TruncatedNoise(5.0, 0.0, 100.0), trials, np.random.default_rng(2), 0.0)
    assert stats.kstest((100.0 - given) * 400.0 / 25.0, "expon").pvalue > 0.01


@pytest.mark.parametrize("beta", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("family", [vl.Bernoulli(), vl.Categorical(4, 0.5)], ids=["two", "four"])
def test_choices_have_their_frequencies(family: Any, beta: float) -> None:
    learner, length = vl.VarSMiLe(family, 0.1), 2000
    y = vl.ChangingEnvironment(family, 0.05).sample(length, seed=1).y
    trials = trials_of(family, y, np.zeros(length))
    given = responses_to(learner, responses.Softmax(beta), trials, np.random.default_rng(4), 0.0)
    for choice in range(max(family.size(), 2)):
        p = np.exp(log_likelihoods(learner, responses.Softmax(beta), trials._replace(given=np.full(length, float(choice)))))
        assert abs((given == choice).sum() - p.sum()) < 3.0 * np.sqrt((p * (1.0 - p)).sum())
        weighed = ((given == choice) - p) * p  # more often where it is more likely
        assert abs(weighed.sum()) < 3.0 * np.sqrt((p**3 * (1.0 - p)).sum())


def test_habits_have_their_shares() -> None:
    learner, y = LEARNERS[0], outcomes(3000)
    response = responses.Habits(responses.GaussianNoise(1.0), lapse=0.1, stay=0.25, span=2000.0)
    given = responses_to(learner, response, trials_of(FAMILY, y, np.zeros(3000)), np.random.default_rng(1), middle=150.0)
    stayed = given[1:] == given[:-1]
    assert stayed.mean() == pytest.approx(0.25, abs=3 * np.sqrt(0.25 * 0.75 / 3000))
    mean, _ = believed(learner, y)
    far = np.abs(given - mean)[1:][~stayed] > 6.0
    assert far.mean() == pytest.approx(0.1 * (1 - 12 / 2000), abs=3 * np.sqrt(0.09 / 2250))
    assert given.min() > 150 - 1000
    assert given.max() < 150 + 1000


def test_choice_habits_have_their_shares() -> None:
    """Equal preferences: a choice is repeated with stay + (1 - stay) / 4."""
    family = vl.Categorical(4, 0.5)
    y = vl.ChangingEnvironment(family, 0.05).sample(3000, seed=1).y
    response = responses.ChoiceHabits(responses.Softmax(0.0), lapse=0.2, stay=0.4, span=4.0)
    given = responses_to(vl.VarSMiLe(family, 0.1), response, trials_of(family, y, np.zeros(3000)), np.random.default_rng(2), 0.0)
    assert (given[1:] == given[:-1]).mean() == pytest.approx(0.55, abs=3 * np.sqrt(0.25 / 3000))
    assert set(given) == {0.0, 1.0, 2.0, 3.0}


# --- the design ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("learner", [*LEARNERS, vl.Leaky(FAMILY, 0.7)], ids=lambda learner: type(learner).__name__)
def test_without_noise_the_belief_is_said(learner: Any, after: bool) -> None:
    """Blocks, missing outcomes, before and after: the mean that `vl.run` reports."""
    y, reset = outcomes(), (100, 200)
    y[[5, 150, 200]] = np.nan
    trials = trials_of(FAMILY, y, np.zeros(T), after=after, reset=reset, missing="elapse")
    given = responses_to(learner, responses.GaussianNoise(1e-9), trials, np.random.default_rng(0), 0.0)
    mean, _ = believed(learner, y, after, reset, "elapse")
    mean = np.where(np.isnan(mean), 150.0, mean)
    assert given == pytest.approx(mean, abs=1e-6)


def person() -> Person:
    """Two parts; a missing response and a catch trial in the first."""
    said = outcomes(50, 9)
    said[7] = np.nan
    scored = np.arange(50) != 20
    return Person("p", (trials_of(FAMILY, outcomes(50), said, scored), trials_of(FAMILY, outcomes(40, 4), np.zeros(40))))


MODEL = Model.parse(FAMILY_TEXT, "varsmile:m=free", "gaussian:sd=free")
VALUES = {"m": 0.3, "sd": 8.0}


def test_the_design_stays() -> None:
    before, after = person(), simulate(MODEL, VALUES, person(), 1)
    for old, new in zip(before.parts, after.parts, strict=True):
        assert np.array_equal(old.values, new.values)
        assert np.array_equal(old.scored, new.scored)
        assert np.array_equal(np.isnan(old.given), np.isnan(new.given))
        assert np.array_equal(old.given[~old.scored], new.given[~new.scored], equal_nan=True)
        assert not np.any(old.given[old.scored] == new.given[new.scored])


def test_a_seed_says_all() -> None:
    once, again, other = (simulate(MODEL, VALUES, person(), seed).parts[1].given for seed in (1, 1, 2))
    assert np.array_equal(once, again)
    assert not np.array_equal(once, other)


def test_stay_refers_to_the_response_on_a_catch_trial() -> None:
    model = Model.parse(FAMILY_TEXT, "varsmile:m=free", "gaussian:sd=free,stay=0.999999")
    given = simulate(model, VALUES, person(), 1).parts[0].given
    assert given[21] == given[20] == person().parts[0].given[20]


@responses.response
class Rounded(NamedTuple):
    sd: Positive

    def log_response(self, learner: Any, state: Any, given: float, before: float) -> float:
        return 0.0

    def draw(self, moment: Moment, rng: np.random.Generator) -> float:
        return round(rng.normal(moment.mean[0], self.sd))


@responses.response
class Mute(NamedTuple):
    sd: Positive

    def log_response(self, learner: Any, state: Any, given: float, before: float) -> float:
        return 0.0


def test_a_model_of_ones_own() -> None:
    trials = trials_of(FAMILY, outcomes(30), np.zeros(30))
    given = responses_to(LEARNERS[0], Rounded(5.0), trials, np.random.default_rng(0), 0.0)
    assert np.all(given == np.round(given))
    with pytest.raises(ValueError, match=r"Mute cannot be simulated: give it a method draw\(self, moment, rng\)"):
        responses_to(LEARNERS[0], Mute(5.0), trials, np.random.default_rng(0), 0.0)
