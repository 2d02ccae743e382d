"""Every response model against SciPy's distributions, evaluated at the beliefs that `vl.run` reports."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import stats

import volatilis as vl
from tests.behaviour.simulated import FAMILY, believed, trials_of
from volatilis._compiler import plain_python
from volatilis._core.fields import Positive
from volatilis.behaviour.likelihood import log_likelihoods
from volatilis.behaviour.responses import (
    CensoredNoise,
    ChoiceHabits,
    Confidence,
    GaussianNoise,
    Habits,
    LaplaceNoise,
    Softmax,
    TruncatedNoise,
    UnderBelief,
    estimate,
    log_normal,
    response,
)

T = 60
LEARNERS = (vl.VarSMiLe(FAMILY, 0.3), vl.Nas12Star(FAMILY, 0.1), vl.Merge(FAMILY, 0.1, 5), vl.Leaky(FAMILY, 0.7))


def outcomes_and_responses(seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    y = vl.ChangingEnvironment(FAMILY, 0.1).sample(T, seed=seed).y
    return y, np.clip(y + np.random.default_rng(seed).normal(0.0, 15.0, T), 101.0, 199.0)


def last_responses(given: np.ndarray, resets: tuple[int, ...] = ()) -> np.ndarray:
    """The last one before each trial; NaN where there is none."""
    last, found = np.nan, np.empty(given.size)
    for t, value in enumerate(given):
        last = np.nan if t in resets else last
        found[t] = last
        last = last if np.isnan(value) else value
    return found


def noise(mean: np.ndarray, sd: np.ndarray, last: np.ndarray) -> np.ndarray:
    return np.hypot(4.0 + 0.5 * sd + 0.2 * np.abs(np.where(np.isnan(last), mean, last) - mean), 3.0)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_noise_around_the_mean(learner: Any, after: bool) -> None:
    y, given = outcomes_and_responses()
    mean, _ = believed(learner, y, after)
    trials = trials_of(FAMILY, y, given, after=after)
    np.testing.assert_allclose(
        log_likelihoods(learner, GaussianNoise(8.0), trials), stats.norm(mean, 8.0).logpdf(given), rtol=1e-11
    )
    laplace = stats.laplace(mean, 8.0 / np.sqrt(2.0)).logpdf(given)
    np.testing.assert_allclose(log_likelihoods(learner, LaplaceNoise(8.0), trials), laplace, rtol=1e-11)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_noise_that_grows_with_uncertainty_and_update(after: bool) -> None:
    y, given = outcomes_and_responses()
    learner = vl.Nas12Star(FAMILY, 0.1)
    mean, sd = believed(learner, y, after)
    scale = noise(mean, sd, last_responses(given))
    trials = trials_of(FAMILY, y, given, after=after)
    parts = {"per_uncertainty": 0.5, "per_update": 0.2, "motor": 3.0}
    ends = (100.0 - mean) / scale, (200.0 - mean) / scale
    cases: list[tuple[Any, np.ndarray]] = [
        (GaussianNoise(4.0, **parts), stats.norm(mean, scale).logpdf(given)),
        (LaplaceNoise(4.0, **parts), stats.laplace(mean, scale / np.sqrt(2.0)).logpdf(given)),
        (TruncatedNoise(4.0, 100.0, 200.0, **parts), stats.truncnorm(*ends, mean, scale).logpdf(given)),
    ]
    for model, expected in cases:
        np.testing.assert_allclose(log_likelihoods(learner, model, trials), expected, rtol=1e-10, err_msg=str(model))


def test_a_censored_slider_has_probabilities_at_its_ends() -> None:
    y, given = outcomes_and_responses()
    given[3], given[10] = 120.0, 180.0
    given = np.clip(given, 120.0, 180.0)
    learner = vl.VarSMiLe(FAMILY, 0.3)
    mean, _ = believed(learner, y)
    expected = stats.norm(mean, 9.0).logpdf(given)
    expected[given == 120.0] = stats.norm(mean, 9.0).logcdf(120.0)[given == 120.0]
    expected[given == 180.0] = stats.norm(mean, 9.0).logsf(180.0)[given == 180.0]
    assert (given == 120.0).sum() > 1
    assert (given == 180.0).sum() > 1
    found = log_likelihoods(learner, CensoredNoise(9.0, 120.0, 180.0), trials_of(FAMILY, y, given))
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize(
    "model", [TruncatedNoise(9.0, 120.0, 180.0), CensoredNoise(9.0, 120.0, 180.0)], ids=["truncated", "censored"]
)
@pytest.mark.parametrize("habits", [False, True])
def test_a_slider_is_a_probability_distribution(model: Any, habits: bool) -> None:
    """Densities over the slider and the probabilities of its ends and of staying put sum to one."""
    stay = 150.0
    full: Any = Habits(model, lapse=0.1, stay=0.2, span=60.0) if habits else model
    grid = 120.0 + 60.0 * (np.arange(20000) + 0.5) / 20000  # no grid point is where one may stay

    def probability(given: Any) -> np.ndarray:
        many = np.atleast_1d(given)
        y = np.full(2 * many.size, 130.0)
        pairs = np.column_stack([np.full(many.size, stay), many]).ravel()
        trials = trials_of(FAMILY, y, pairs, reset=np.arange(0, pairs.size, 2))
        return np.exp(log_likelihoods(vl.VarSMiLe(FAMILY, 0.3), full, trials)[1::2])

    total = probability(grid).mean() * 60.0
    total += probability([120.0, 180.0]).sum() if isinstance(model, CensoredNoise) else 0.0
    total += probability(stay)[0] if habits else 0.0
    assert total == pytest.approx(1.0, abs=2e-5)


def test_the_prediction_under_the_belief() -> None:
    """The paper's second criterion, against the belief's own density, a mixture for Merge."""
    y, given = outcomes_and_responses()
    for learner in (vl.VarSMiLe(FAMILY, 0.3), vl.Merge(FAMILY, 0.1, 5), vl.ExactBayes(FAMILY, 0.1)):
        stream, expected = vl.Stream(learner), []
        for t in range(T):
            expected.append(np.log(stream.belief.pdf(given[t] - 2.0)))
            stream.update(y[t])
        found = log_likelihoods(learner, UnderBelief(2.0), trials_of(FAMILY, y, given))
        np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("learner", [vl.VarSMiLe, vl.Merge, vl.Leaky], ids=lambda learner: learner.__name__)
def test_a_slider_for_a_probability(learner: Any) -> None:
    """Estimates of a Bernoulli probability on a slider from 0.1 to 0.9, some at its ends."""
    family = vl.Bernoulli(1.84, 1.84)
    made = {vl.VarSMiLe: (0.2,), vl.Merge: (0.05, 3), vl.Leaky: (0.9,)}[learner]
    y = vl.ChangingEnvironment(family, 0.05).sample(T, seed=4).y
    mean = np.ravel(believed(learner(family, *made), y, after=True)[0])
    given = np.clip(mean + np.random.default_rng(4).normal(0.0, 0.2, T), 0.1, 0.9)
    given[:2] = 0.1, 0.9
    low, high = given == 0.1, given == 0.9
    trials, normal = trials_of(family, y, given, after=True), stats.norm(mean, 0.15)
    truncated = normal.logpdf(given) - np.log(normal.cdf(0.9) - normal.cdf(0.1))
    censored = np.where(low, normal.logcdf(0.1), np.where(high, normal.logsf(0.9), normal.logpdf(given)))
    laplace = stats.laplace(mean, 0.15 / np.sqrt(2.0)).logpdf(given)
    cases: list[tuple[Any, np.ndarray]] = [
        (GaussianNoise(0.15), normal.logpdf(given)),
        (LaplaceNoise(0.15), laplace),
        (TruncatedNoise(0.15, 0.1, 0.9), truncated),
        (CensoredNoise(0.15, 0.1, 0.9), censored),
    ]
    for model, wanted in cases:
        np.testing.assert_allclose(log_likelihoods(learner(family, *made), model, trials), wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("beta", [0.0, 0.4, 1.0, 3.0])
@pytest.mark.parametrize("family", [vl.Bernoulli(0.8, 1.7), vl.Categorical(4, 0.6)], ids=["two", "four"])
def test_choices(family: Any, beta: float) -> None:
    y = vl.ChangingEnvironment(family, 0.1).sample(T, seed=2).y
    choices = np.random.default_rng(3).integers(0, max(family.size(), 2), T).astype(float)
    learner = vl.VarSMiLe(family, 0.2)
    p, _ = believed(learner, y)
    p = np.column_stack([1.0 - p, p]) if p.ndim == 1 else p
    weights = p**beta / (p**beta).sum(axis=1, keepdims=True)
    chosen = weights[np.arange(T), choices.astype(int)]
    trials = trials_of(family, y, choices)
    np.testing.assert_allclose(log_likelihoods(learner, Softmax(beta), trials), np.log(chosen), rtol=1e-9)
    last = last_responses(choices)
    lapsed = 0.9 * chosen + 0.1 / p.shape[1]
    stayed = np.where(np.isnan(last), lapsed, 0.3 * (choices == last) + 0.7 * lapsed)
    habits = ChoiceHabits(Softmax(beta), lapse=0.1, stay=0.3, span=p.shape[1])
    np.testing.assert_allclose(log_likelihoods(learner, habits, trials), np.log(stayed), rtol=1e-9)


@pytest.mark.parametrize("family", [vl.Bernoulli(0.8, 1.7), vl.Categorical(4, 0.6)], ids=["two", "four"])
def test_choices_against_an_estimate_of_exactly_nought_or_one(family: Any) -> None:
    """The leaky integrator is certain after its first outcome: with lapses every choice keeps a probability."""
    y = vl.ChangingEnvironment(family, 0.1).sample(T, seed=2).y
    choices = np.random.default_rng(3).integers(0, max(family.size(), 2), T).astype(float)
    p, _ = believed(vl.Leaky(family, 0.6), y)
    p = np.column_stack([1.0 - p, p]) if p.ndim == 1 else p
    assert (p[1] == 1.0).any()
    weights = p**2.0 / (p**2.0).sum(axis=1, keepdims=True)
    chosen = 0.98 * weights[np.arange(T), choices.astype(int)] + 0.02 / p.shape[1]
    last = last_responses(choices)
    stayed = np.where(np.isnan(last), chosen, 0.3 * (choices == last) + 0.7 * chosen)
    for habits, expected in (
        (ChoiceHabits(Softmax(2.0), 0.02, 0.0, p.shape[1]), chosen),
        (ChoiceHabits(Softmax(2.0), 0.02, 0.3, p.shape[1]), stayed),
    ):
        found = log_likelihoods(vl.Leaky(family, 0.6), habits, trials_of(family, y, choices))
        np.testing.assert_allclose(found, np.log(expected), rtol=1e-9)
    for model in (Softmax(2.0), ChoiceHabits(Softmax(2.0), stay=0.3)):
        with pytest.raises(
            TypeError, match=r"another choice would be impossible; give a lapse, such as softmax:beta=free,lapse=0\.01"
        ):
            log_likelihoods(vl.Leaky(family, 0.6), model, trials_of(family, y, choices))


@pytest.mark.parametrize("family", [vl.Bernoulli(1.0, 1.0), vl.Categorical(2, 1.0)], ids=["one number", "two numbers"])
def test_very_steep_choices_have_a_finite_likelihood(family: Any) -> None:
    """p = 2/3 after one outcome, and beta = 2000: log P of the other choice is -2000 log 2, far below what exp can hold."""
    trials = trials_of(family, [1.0, 1.0, 1.0], [1.0, 0.0, 1.0])
    steep = log_likelihoods(vl.ExactBayes(family, 1e-12), Softmax(2000.0), trials)
    np.testing.assert_allclose(steep[:2], [-np.log(2.0), -2000.0 * np.log(2.0)], rtol=1e-6)
    assert steep[2] == pytest.approx(0.0, abs=1e-200)
    stay = log_likelihoods(vl.ExactBayes(family, 1e-12), ChoiceHabits(Softmax(2000.0), stay=0.5), trials)
    assert stay[1] == pytest.approx(steep[1] + np.log(0.5))


def test_confidence() -> None:
    y, _ = outcomes_and_responses()
    said = np.random.default_rng(1).normal(0.0, 1.0, T)
    learner = vl.Merge(FAMILY, 0.1, 5)
    _, sd = believed(learner, y, after=True)
    found = log_likelihoods(learner, Confidence(0.7, 2.0, 1.5), trials_of(FAMILY, y, said, after=True))
    np.testing.assert_allclose(found, stats.norm(2.0 - 1.5 * np.log(sd), 0.7).logpdf(said), rtol=1e-10)


def test_lapses_and_staying_put() -> None:
    y, given = outcomes_and_responses()
    given[5], given[20] = given[4], given[19]
    learner = vl.VarSMiLe(FAMILY, 0.3)
    mean, _ = believed(learner, y)
    last = last_responses(given)
    said = 0.95 * stats.norm(mean, 8.0).pdf(given) + 0.05 / 100.0
    expected = np.where(np.isnan(last), said, np.where(given == last, 0.2, 0.8 * said))
    found = log_likelihoods(learner, Habits(GaussianNoise(8.0), 0.05, 0.2, 100.0), trials_of(FAMILY, y, given))
    np.testing.assert_allclose(found, np.log(expected), rtol=1e-10)


@pytest.mark.parametrize("missing", ["elapse", "skip"])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_blocks_missing_responses_missing_outcomes_and_catch_trials(learner: Any, after: bool, missing: str) -> None:
    y, given = outcomes_and_responses()
    y[[7, 8, 31]] = np.nan
    given[[4, 5, 22, 31]] = np.nan
    catch, resets = np.zeros(T, dtype=bool), (20, 41)
    catch[[2, 30, 40]] = True
    mean, _ = believed(learner, y, after, np.array(resets), missing)
    if after and missing == "skip" and isinstance(learner, vl.Leaky):
        assert not np.isnan(mean).any()
    last = last_responses(given, resets)
    scale = 4.0 + 0.2 * np.abs(np.where(np.isnan(last), mean, last) - mean)
    expected = stats.norm(mean, scale).logpdf(given)
    expected[np.isnan(given) | catch] = 0.0
    trials = trials_of(FAMILY, y, given, ~catch, after, np.array(resets), missing)
    found = log_likelihoods(learner, GaussianNoise(4.0, per_update=0.2), trials)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@response
class Rounded(NamedTuple):
    """A user's own: to the nearest multiple of five."""

    sd: Positive

    def log_response(self, learner: Any, state: Any, given: float, before: float) -> float:
        return log_normal(given, 5.0 * np.floor(estimate(learner, state, 0) / 5.0 + 0.5), self.sd)


def test_a_response_model_of_ones_own() -> None:
    y, given = outcomes_and_responses()
    learner = vl.VarSMiLe(FAMILY, 0.3)
    mean, _ = believed(learner, y)
    found = log_likelihoods(learner, Rounded(6.0), trials_of(FAMILY, y, given))
    np.testing.assert_allclose(found, stats.norm(5.0 * np.floor(mean / 5.0 + 0.5), 6.0).logpdf(given), rtol=1e-10)


@pytest.mark.parametrize(
    "model",
    [
        *(
            GaussianNoise(4.0, 0.5, 0.2, 3.0),
            LaplaceNoise(4.0),
            TruncatedNoise(9.0, 100.0, 200.0),
            CensoredNoise(9.0, 101.0, 199.0),
        ),
        *(UnderBelief(2.0), Confidence(30.0, 150.0), Habits(CensoredNoise(9.0, 101.0, 199.0), 0.1, 0.2, 98.0), Rounded(6.0)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_compiled_is_plain_python(model: Any) -> None:
    y, given = outcomes_and_responses()
    learner, trials = vl.Merge(FAMILY, 0.1, 3), trials_of(FAMILY, y, given, reset=np.array([30]))
    compiled = log_likelihoods(learner, model, trials)
    with plain_python():
        np.testing.assert_array_equal(log_likelihoods(learner, model, trials), compiled)


def test_what_a_response_model_cannot_go_with() -> None:
    y, given = outcomes_and_responses()
    leaky, trials = vl.Leaky(FAMILY, 0.7), trials_of(FAMILY, y, given)
    for model in (GaussianNoise(4.0, per_uncertainty=0.5), UnderBelief(), Confidence(1.0)):
        with pytest.raises(TypeError, match="needs the uncertainty of the belief, and Leaky has none"):
            log_likelihoods(leaky, model, trials)
    with pytest.raises(TypeError, match="choices among categories, not for Gaussian"):
        log_likelihoods(leaky, Softmax(), trials)
    with pytest.raises(ValueError, match=r"beyond the slider, 150 to 180, are \d+ responses, the first"):
        log_likelihoods(leaky, TruncatedNoise(4.0, 150.0, 180.0), trials)
    four = vl.Categorical(4, 0.6)
    with pytest.raises(ValueError, match="the choice 4 is not accepted; choices are whole numbers from 0 to 3"):
        log_likelihoods(vl.VarSMiLe(four, 0.1), Softmax(), trials_of(four, [0, 1], [4.0, 1.0]))
    beta = vl.Bernoulli(1.0, 1.0)
    with pytest.raises(TypeError, match="the families gaussian and vonmises, not Bernoulli"):
        log_likelihoods(vl.VarSMiLe(beta, 0.1), UnderBelief(), trials_of(beta, [0, 1], [0.4, 0.6]))
    with pytest.raises(ValueError, match=r"low = 3\.0 is not below high = 2\.0"):
        CensoredNoise(1.0, 3.0, 2.0)
