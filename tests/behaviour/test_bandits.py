"""People who choose among arms, from a table to fits and recovery; cues and chains from a table."""

from __future__ import annotations

import pathlib
import runpy
from typing import Any

import numpy as np
import pandas as pd
import pytest

import volatilis as vl
from tests.helpers.command_line import refused, volatilis
from tests.helpers.paths import HOW_TO
from volatilis.behaviour import Model, Source, fit, intervals, read_people, simulate
from volatilis.behaviour.likelihood import log_likelihoods
from volatilis.behaviour.responses import Arms
from volatilis.running.drivers import ELAPSE

MODEL = Model.parse("bernoulli", "per-context:varsmile:m=free;contexts=2", "arms:beta=free,sticky=free")
TRUTH = {"m": 0.3, "beta": 5.0, "sticky": 0.5}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("bandit") / "bandit.csv"
    person = runpy.run_path(str(HOW_TO / "bandit.py"))["person"]
    pd.concat([person(number) for number in (1, 2)]).to_csv(path, index=False)
    return path


def source(table: pathlib.Path, outcome: str = "reward", **more: Any) -> Source:
    return Source(table, outcome=outcome, response="choice", **more)


def test_a_nested_text_is_a_model() -> None:
    learner, response = MODEL.make(TRUTH)
    assert learner == vl.PerContext(vl.VarSMiLe(vl.Bernoulli(), 0.3), 2)
    assert response == Arms(5.0, sticky=0.5)
    assert MODEL.free() == ("m", "beta", "sticky")
    assert MODEL.label == "per_context_varsmile"
    words = Model.parse("given:bernoulli:a=2,b=1;contexts=3", "merge:n=1,p_c=0.1", "arms:beta=1,lapse=0.1")
    assert words.make({})[0].family == vl.Given(vl.Bernoulli(2.0, 1.0), 3)
    assert words.make({})[1].span == 3.0  # type: ignore[attr-defined]
    waiting = Model.parse("bernoulli", "per-context:varsmile:m=0.1;contexts=2,unseen=wait", "arms:beta=1").make({})[0]
    assert waiting == vl.PerContext(vl.VarSMiLe(vl.Bernoulli(), 0.1), 2, "wait")


def test_the_reward_of_the_chosen_arm_or_a_column_for_each(table: pathlib.Path) -> None:
    """The same likelihood; learning from all arms another one."""
    learner, response = MODEL.make(TRUTH)

    def logs(given: Source) -> np.ndarray:
        return log_likelihoods(learner, response, read_people(given, MODEL).persons[0].parts[0])

    one = logs(source(table))
    np.testing.assert_array_equal(one, logs(source(table, "reward_0,reward_1")))
    everything = logs(source(table, "reward_0,reward_1", learn="all"))
    frame = pd.read_csv(table)[:200]
    mean = np.vstack([[0.5, 0.5], vl.run(learner, frame[["reward_0", "reward_1"]].to_numpy(float)).mean[:-1]])
    last = np.eye(2)[frame.choice.shift(1, fill_value=0)] * (np.arange(200) > 0)[:, None]
    scores = 5.0 * mean + 0.5 * last
    expected = scores[np.arange(200), frame.choice] - np.logaddexp.reduce(scores, axis=1)
    np.testing.assert_allclose(everything, expected, rtol=1e-9)


def test_magnitudes_and_trials_without_feedback(table: pathlib.Path, tmp_path: pathlib.Path) -> None:
    frame = pd.read_csv(table)
    frame["worth_0"], frame["worth_1"] = 3.0, 1.0
    frame.loc[[4, 9], "reward"] = np.nan  # no feedback
    frame.loc[20, ["choice", "reward"]] = np.nan  # no choice, either
    frame.to_csv(tmp_path / "b.csv", index=False)
    (part,) = read_people(source(tmp_path / "b.csv", magnitudes=("worth_0", "worth_1")), MODEL).persons[0].parts
    assert set(np.flatnonzero(part.events == ELAPSE)) == {4, 9, 20}
    assert part.scored.sum() == 199
    np.testing.assert_array_equal(part.worth, np.tile([3.0, 1.0], (200, 1)))
    learner, response = MODEL.make(TRUTH)
    assert log_likelihoods(learner, response, part)[0] == pytest.approx(
        -np.log1p(np.exp((5.0 if frame.choice[0] == 0 else -5.0) * (0.5 - 1.5)))
    )


def test_parameters_come_back_within_their_intervals(table: pathlib.Path) -> None:
    """Of 12 simulated people with three parameters each, 36 intervals at 95 %: fewer than 30 hits have a probability of 0.004.

    docs/how-to/bandits.md has the rates of 400 people.
    """
    design = read_people(source(table, "reward_0,reward_1"), MODEL).persons[0]
    hits = 0
    for seed in range(12):
        person = simulate(MODEL, TRUTH, design, seed)
        part = person.parts[0]
        np.testing.assert_array_equal(part.contexts, part.given)
        np.testing.assert_array_equal(part.values[:, 1], part.rewards[np.arange(200), part.given.astype(int)])
        found = intervals(fit(MODEL, person, starts=3))
        hits += sum(found[name][1] <= value <= found[name][2] for name, value in TRUTH.items())
    assert hits >= 30


def test_simulated_choices_follow_the_model(table: pathlib.Path) -> None:
    """Each with its own probability: the sum of their log probabilities has the mean and variance that follow from them."""
    design = read_people(source(table, "reward_0,reward_1"), MODEL).persons[0]
    learner, response = MODEL.make(TRUTH)
    apart = variance = 0.0
    for seed in range(10):
        part = simulate(MODEL, TRUTH, design, seed).parts[0]
        log_p = log_likelihoods(learner, response, part)
        other = np.log(-np.expm1(log_p))
        mean = np.exp(log_p) * log_p + np.exp(other) * other
        apart += float(np.sum(log_p - mean))
        variance += float(np.sum(np.exp(log_p) * (log_p - mean) ** 2 + np.exp(other) * (other - mean) ** 2))
    assert abs(apart) < 4.0 * np.sqrt(variance)


def test_what_is_missing_is_told(table: pathlib.Path) -> None:
    common = ("--family", "bernoulli", "--response-column", "choice", "--workers", 1, "--starts", 1)
    arms = ("--learner", "per-context:varsmile:m=free;contexts=2", "--response", "arms:beta=free")

    def told(command: str, *words: object) -> str:
        out = ("--out", "-") if command == "fit" else ()
        return refused(volatilis(command, table, *common, *words, *out))

    assert "name a column for each arm" in told("recover", *arms, "--outcome", "reward")
    assert "--outcome names 3 columns, and there are 2 arms" in told("fit", *arms, "--outcome", "reward_0,reward_1,reward")
    assert "--learn all needs what every arm paid" in told("fit", *arms, "--outcome", "reward", "--learn", "all")
    plain = ("--learner", "varsmile:m=free", "--response", "arms:beta=free", "--outcome", "reward")
    assert "Arms is for choices among arms" in told("fit", *plain)
    three = ("--learner", "per-context:varsmile:m=free;contexts=1", "--response", "arms:beta=free", "--outcome", "reward")
    assert "Arms is for choices among arms" in told("fit", *three)


def test_cues_and_chains_from_a_table(tmp_path: pathlib.Path) -> None:
    rng = np.random.default_rng(1)
    rows = {"subject": np.repeat(["a", "b"], 60), "cue": rng.integers(0, 2, 120), "symbol": rng.integers(0, 2, 120)}
    frame = pd.DataFrame({**rows, "outcome": rng.normal(150.0, 30.0, 120), "prediction": rng.normal(150.0, 30.0, 120)})
    frame["choice"] = rng.integers(0, 2, 120)
    frame.to_csv(tmp_path / "cues.csv", index=False)
    words = ("fit", tmp_path / "cues.csv", "--learner", "varsmile:m=free", "--workers", 1, "--starts", 1, "--out", "-")
    cued = ("--family", "given:gaussian:sigma=10,mu_0=150,sigma_0=50;contexts=2")
    assert volatilis(*words, *cued, "--given", "cue").exit_code == 0
    assert "name the column of each trial's context with --given" in refused(volatilis(*words, *cued))
    assert "has no contexts" in refused(volatilis(*words, "--family", "gaussian:sigma=10", "--given", "cue"))
    chain = (
        "--family",
        "transitions:k=2",
        "--outcome",
        "symbol",
        "--response-column",
        "choice",
        "--response",
        "softmax:beta=free",
    )
    assert volatilis(*words, *chain).exit_code == 0
    recovered = ("recover", *words[1:-2], *chain)
    assert volatilis(*recovered).exit_code == 0
