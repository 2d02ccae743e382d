"""Choices among arms, responses to cues and to chains, against formulas at the beliefs that `vl.run` reports."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import volatilis as vl
from volatilis._compiler import plain_python
from volatilis.behaviour.likelihood import log_likelihoods
from volatilis.behaviour.people import Trials
from volatilis.behaviour.responses import Arms, ChoiceHabits, GaussianNoise, Softmax
from volatilis.running.arguments import step_events

T, ARMS = 60, 3
BANDIT = vl.Given(vl.Bernoulli(1.0, 2.0), ARMS)


def drawn(seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Choices, rewards of all arms, magnitudes."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, ARMS, T), (rng.random((T, ARMS)) < 0.5).astype(float), rng.uniform(0.5, 3.0, (T, ARMS))


def trials_of(
    family: Any, y: Any, given: Any, responses: Any, worth: Any = None, reset: Any = None, after: bool = False
) -> Trials:
    values, absent = family.observations(y, given)
    events, scored = step_events(absent, reset, "elapse"), ~np.isnan(np.asarray(responses, dtype=float))
    contexts = np.zeros(0) if given is None else np.nan_to_num(np.asarray(given, dtype=float))
    return Trials(
        values,
        events,
        np.asarray(responses, dtype=float),
        scored,
        after,
        contexts=contexts,
        worth=np.zeros(0) if worth is None else worth,
    )


def beliefs(learner: Any, y: Any, given: Any, **how: Any) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard deviations before each trial, trials x elements; where a block begins, those of the prior."""
    trace, has = vl.run(learner, y, given=given, missing="elapse", **how), "variance" in learner.readouts()
    first = vl.Stream(vl.VarSMiLe(learner.family, 1.0)).belief  # any learner with the prior
    start = np.asarray(first.mean)
    mean = np.vstack([start, trace.mean[:-1]])
    sd = np.sqrt(np.vstack([first.variance, trace.variance[:-1]])) if has else np.full(mean.shape, np.nan)
    for t in how.get("reset", ()):
        mean[t], sd[t] = start, np.sqrt(first.variance) if has else np.nan
    return np.where(np.isnan(mean), start, mean), sd


def expected_logs(mean: np.ndarray, sd: np.ndarray, worth: np.ndarray, choices: np.ndarray, model: Arms) -> np.ndarray:
    logs, last = [], None
    for t, choice in enumerate(choices):
        scores = model.beta * worth[t] * (mean[t] + (model.bonus * sd[t] if model.bonus else 0.0))
        if last is not None:
            scores[last] += model.sticky
        logs.append(scores[choice] - np.logaddexp.reduce(scores))
        last = choice
    return np.array(logs)


@pytest.mark.parametrize(
    "learner",
    [vl.VarSMiLe(BANDIT, 0.3), vl.PerContext(vl.VarSMiLe(vl.Bernoulli(1.0, 2.0), 0.3), ARMS, "wait"), vl.Leaky(BANDIT, 0.7)],
    ids=["Given", "PerContext", "Leaky"],
)
def test_a_choice_among_arms(learner: Any) -> None:
    choices, rewards, worth = drawn()
    y = rewards[np.arange(T), choices]
    mean, sd = beliefs(learner, y, choices)
    for model in (Arms(2.0), Arms(2.0, bonus=0.7, sticky=-0.4)):
        if model.bonus and isinstance(learner, vl.Leaky):
            continue
        found = log_likelihoods(learner, model, trials_of(learner.family, y, choices, choices, worth))
        np.testing.assert_allclose(found, expected_logs(mean, sd, worth, choices, model), rtol=1e-9)


def test_missing_feedback_is_no_feedback_and_the_choice_counts() -> None:
    choices, rewards, worth = drawn()
    y = rewards[np.arange(T), choices]
    y[[5, 20, 21]] = np.nan
    learner = vl.VarSMiLe(BANDIT, 0.3)
    mean, sd = beliefs(learner, y, choices)
    found = log_likelihoods(learner, Arms(2.0), trials_of(BANDIT, y, choices, choices, worth))
    np.testing.assert_allclose(found, expected_logs(mean, sd, worth, choices, Arms(2.0)), rtol=1e-9)


def test_feedback_from_all_arms() -> None:
    choices, rewards, worth = drawn()
    rewards[3, 1] = rewards[10] = np.nan  # of one arm nothing; of none anything
    learner = vl.VarSMiLe(BANDIT, 0.3)
    mean, sd = beliefs(learner, rewards, None)
    trials = trials_of(BANDIT, rewards, None, choices, worth)._replace(contexts=choices.astype(float))
    np.testing.assert_allclose(
        log_likelihoods(learner, Arms(2.0), trials), expected_logs(mean, sd, worth, choices, Arms(2.0)), rtol=1e-9
    )


def test_probabilities_of_all_choices_sum_to_one() -> None:
    choices, rewards, worth = drawn()
    y, learner = rewards[np.arange(T), choices], vl.VarSMiLe(BANDIT, 0.3)
    plain, total = Arms(3.0, bonus=0.5, sticky=1.0), 0.0
    model: Any = ChoiceHabits(plain, lapse=0.1, stay=0.2, span=float(ARMS))
    for last in range(ARMS):
        trials = trials_of(BANDIT, y, choices, choices, worth)
        given = trials.given.copy()
        given[-1] = last  # the outcome of the last trial, which is seen later, stays what it was
        total += np.exp(log_likelihoods(learner, model, trials._replace(given=given))[-1])
    assert total == pytest.approx(1.0, abs=1e-12)


def test_python_and_native_code_agree_to_the_last_bit() -> None:
    choices, rewards, worth = drawn()
    y, learner = rewards[np.arange(T), choices], vl.VarSMiLe(BANDIT, 0.3)
    trials, model = trials_of(BANDIT, y, choices, choices, worth), Arms(3.0, bonus=0.5, sticky=1.0)
    native = log_likelihoods(learner, model, trials)
    with plain_python():
        plain = log_likelihoods(learner, model, trials)
    np.testing.assert_array_equal(native, plain)


def test_a_prediction_uses_the_coming_trial_s_cue() -> None:
    """And after the outcome, the same trial's."""
    family = vl.Given(vl.Gaussian(10.0, 150.0, 50.0), 2)
    rng = np.random.default_rng(2)
    cues, y = rng.integers(0, 2, T), rng.normal(150.0, 30.0, T)
    given, learner = y + rng.normal(0.0, 5.0, T), vl.VarSMiLe(family, 0.3)
    mean, _ = beliefs(learner, y, cues, reset=[30])
    expected = stats.norm(mean[np.arange(T), cues], 8.0).logpdf(given)
    found = log_likelihoods(learner, GaussianNoise(8.0), trials_of(family, y, cues, given, reset=[30]))
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    after = vl.run(learner, y, given=cues).mean[np.arange(T), cues]
    found = log_likelihoods(learner, GaussianNoise(8.0), trials_of(family, y, cues, given, after=True))
    np.testing.assert_allclose(found, stats.norm(after, 8.0).logpdf(given), rtol=1e-9)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_the_next_symbol_of_a_chain(after: bool) -> None:
    """Choices, and reports of the probability of 1; after a gap the last symbol may have been any."""
    family, rng = vl.transitions(2), np.random.default_rng(3)
    y, choices, reports = rng.integers(0, 2, T).astype(float), rng.integers(0, 2, T), rng.random(T)
    y[[12, 40]] = np.nan
    learner = vl.VarSMiLe(family, 0.3)
    trace = vl.run(learner, y, missing="elapse", reset=[30])
    probability = np.empty(T)
    for t in range(T):
        seen = y[t] if after else (np.nan if t in (0, 30) else y[t - 1])
        mean = trace.mean[t] if after else (np.full(4, 0.5) if t in (0, 30) else trace.mean[t - 1])
        probability[t] = 0.5 * (mean[1] + mean[3]) if np.isnan(seen) else mean[2 * int(seen) + 1]
    one = stats.bernoulli(probability**3 / (probability**3 + (1.0 - probability) ** 3)).logpmf(choices)
    found = log_likelihoods(learner, Softmax(3.0), trials_of(family, y, None, choices, reset=[30], after=after))
    np.testing.assert_allclose(found, one, rtol=1e-9)
    said = stats.norm(probability, 0.2).logpdf(reports)
    found = log_likelihoods(learner, GaussianNoise(0.2), trials_of(family, y, None, reports, reset=[30], after=after))
    np.testing.assert_allclose(found, said, rtol=1e-9)


def test_what_does_not_go_together_is_refused() -> None:
    choices, rewards, worth = drawn()
    y = rewards[np.arange(T), choices]
    with pytest.raises(TypeError, match="Arms is for choices among arms"):
        log_likelihoods(vl.VarSMiLe(vl.Bernoulli(), 0.3), Arms(1.0), trials_of(vl.Bernoulli(), y, None, choices))
    angles = vl.Given(vl.VonMises(2.0), 3)
    with pytest.raises(TypeError, match="one of bernoulli, gaussian, gaussian-unknown-variance, poisson"):
        log_likelihoods(vl.VarSMiLe(angles, 0.3), Arms(1.0), trials_of(angles, y, choices, choices, worth))
    with pytest.raises(ValueError, match="the choice 3 is not accepted"):
        log_likelihoods(vl.VarSMiLe(BANDIT, 0.3), Arms(1.0), trials_of(BANDIT, y, choices, choices + 1.0, worth))
    with pytest.raises(TypeError, match="needs the uncertainty of the belief, and Leaky has none"):
        log_likelihoods(vl.Leaky(BANDIT, 0.3), Arms(1.0, bonus=1.0), trials_of(BANDIT, y, choices, choices, worth))
    three = vl.transitions(3)
    with pytest.raises(ValueError, match="that of symbol 1 among two; of 3 symbols choices"):
        log_likelihoods(vl.VarSMiLe(three, 0.3), GaussianNoise(0.1), trials_of(three, choices, None, y))
