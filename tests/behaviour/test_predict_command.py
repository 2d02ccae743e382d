"""`volatilis predict` as people type it: verdicts, tables, pictures, and what is wrong said in one message."""

from __future__ import annotations

import os
import pathlib

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from volatilis.behaviour.predictions import Analysis, Order, predict
from volatilis.behaviour.predictions.hypotheses import BAYES_FACTOR, SHANNON
from volatilis.cli import app

from .indicators import table

FAMILY = "gaussian:sigma=10,mu_0=150,sigma_0=20"
KNOWN = "nas12*:p_c=0.1"


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("predict") / "trials.csv"
    table().to_csv(path, index=False)
    return path


def volatilis(*words: str | os.PathLike[str]) -> tuple[int, str, str]:
    done = CliRunner(env={"COLUMNS": "120"}).invoke(app, ["predict", *(os.fspath(word) for word in words)])
    return done.exit_code, done.stdout, done.stderr


def changed(trials: pathlib.Path, folder: pathlib.Path, **columns: object) -> pathlib.Path:
    path = folder / "changed.csv"
    pd.read_csv(trials).assign(**columns).to_csv(path, index=False)
    return path


def values(found: Analysis) -> list[float]:
    return [row.group.value for row in found.rows]


def test_verdicts_tables_and_picture(trials: pathlib.Path, tmp_path: pathlib.Path) -> None:
    outputs = ["--out", tmp_path / "h.csv", "--people", tmp_path / "p.tsv", "--plot", tmp_path / "p.png"]
    code, out, said = volatilis(trials, "--indicator", "pupil", "--family", FAMILY, "--learner", "nas12*:p_c=free", *outputs)
    assert code == 0, said
    assert "6 people, 1,800 trials, indicator 'pupil'" in out
    assert "fitted, median and middle half of people: p_c 0.1" in out
    found = pd.read_csv(tmp_path / "h.csv")
    assert len(found) == 2 * (3 * 2 + 2)
    adjusted = found[found.estimator == "adjusted"].drop_duplicates(["prediction", "hypothesis"])
    verdicts = {(row.prediction, row.hypothesis): row.hypothesis_verdict for row in adjusted.itertuples()}
    assert verdicts[1, BAYES_FACTOR] == "confirmed"
    assert verdicts[1, SHANNON] == "contradicted"
    assert verdicts[2, BAYES_FACTOR] == "consistent"
    own = pd.read_csv(tmp_path / "p.tsv", sep="\t")
    assert len(own) == 6 * (2 * 10 + 16)
    assert own.trials.sum() > 100
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


def test_people_s_own_predictions_and_confidence_need_no_learner(trials: pathlib.Path) -> None:
    code, out, _ = volatilis(trials, "--indicator", "pupil", "--family", FAMILY, "--confidence", "sure")
    assert code == 0
    assert "their own predictions and confidence" in out
    assert "prediction 2 needs a learner" in out
    found = predict(Order(trials, FAMILY, "pupil", confidence="sure"))
    assert found.verdicts(1)[BAYES_FACTOR] == "confirmed"
    assert found.people[0].measured
    assert not found.second


def test_shifted_and_scaled_outcomes_give_the_same(trials: pathlib.Path, tmp_path: pathlib.Path) -> None:
    data = pd.read_csv(trials)
    other = changed(trials, tmp_path, outcome=3.0 * data.outcome - 40.0, prediction=3.0 * data.prediction - 40.0)
    one = predict(Order(trials, FAMILY, "slow", learner=KNOWN))
    two = predict(Order(other, "gaussian:sigma=30,mu_0=410,sigma_0=60", "slow", learner=KNOWN))
    assert values(one) == pytest.approx(values(two), rel=1e-6)


def test_responses_given_after_the_outcome_are_about_the_next(trials: pathlib.Path, tmp_path: pathlib.Path) -> None:
    data = pd.read_csv(trials)
    moved = data.groupby("subject")[["prediction", "sure"]].shift(-1)
    other = changed(trials, tmp_path, prediction=moved.prediction, sure=moved.sure)
    before = predict(Order(trials, FAMILY, "slow", confidence="sure"))
    after = predict(Order(other, FAMILY, "slow", confidence="sure", when="after"))
    first = np.flatnonzero(~np.isnan(before.people[0].prediction))[1:]
    np.testing.assert_allclose(before.people[0].prediction[first], after.people[0].prediction[first])
    np.testing.assert_allclose(before.people[0].before[first], after.people[0].before[first])


def test_a_learner_with_known_parameters_needs_no_predictions(trials: pathlib.Path) -> None:
    found = predict(Order(trials, FAMILY, "slow", prediction=None, learner=KNOWN))
    assert found.verdicts(2)[SHANNON] == "confirmed"


def test_noise_in_a_column_and_blocks(trials: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Constant columns change nothing; blocks start the learner anew."""
    other = changed(trials, tmp_path, noise=10, block=np.arange(1800) // 100)
    plain = predict(Order(trials, FAMILY, "slow", learner=KNOWN))
    same = predict(Order(other, "gaussian:sigma=column:noise,mu_0=150,sigma_0=20", "slow", learner=KNOWN))
    assert values(plain) == values(same)
    blocks = predict(Order(other, FAMILY, "slow", learner=KNOWN, block="block"))
    assert np.flatnonzero(blocks.people[0].before == 1.0).tolist() == [0, 100, 200]


def test_missing_indicators_are_left_out_and_counted(trials: pathlib.Path, tmp_path: pathlib.Path) -> None:
    data = pd.read_csv(trials)
    gone = np.random.default_rng(0).random(len(data)) < 0.1
    other = changed(trials, tmp_path, pupil=data.pupil.mask(gone))
    code, out, _ = volatilis(other, "--indicator", "pupil", "--family", FAMILY, "--learner", KNOWN)
    assert code == 0
    assert f"the indicator is missing in {gone.sum()} of 1,800 trials, of 6 people: left out" in out


def test_a_person_without_any_indicator_is_named_and_the_others_analysed(trials: pathlib.Path, tmp_path: pathlib.Path) -> None:
    data = pd.read_csv(trials)
    other = changed(trials, tmp_path, pupil=data.pupil.mask(data.subject == 3))
    found = predict(Order(other, FAMILY, "pupil", learner=KNOWN))
    assert len(found.people) == 5
    assert found.refused == {"3": "the indicator is missing in all trials"}


def test_one_person_and_a_person_with_few_trials(trials: pathlib.Path, tmp_path: pathlib.Path) -> None:
    data = pd.read_csv(trials)
    path = tmp_path / "one.csv"
    data[data.subject == 1].to_csv(path, index=False)
    code, out, _ = volatilis(path, "--indicator", "pupil", "--family", FAMILY, "--learner", KNOWN, "--plot", tmp_path / "one.svg")
    assert code == 0
    assert "one person only: there is no spread over people" in out
    pd.concat([data[data.subject < 4], data[data.subject == 4].head(4)]).to_csv(path, index=False)
    code, out, _ = volatilis(path, "--indicator", "pupil", "--family", FAMILY, "--learner", KNOWN)
    assert code == 0
    assert "4: prediction 1: no absolute error has enough trials of both signs" in out


def test_predictions_are_read_only_where_they_are_needed(trials: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """A learner that is not fitted, no confidence: a table without predictions, or with none for somebody, gives the same."""
    words = ("--indicator", "pupil", "--family", FAMILY, "--learner", KNOWN)
    whole = volatilis(trials, *words)
    frame, path = pd.read_csv(trials), tmp_path / "changed.csv"
    frame.drop(columns="prediction").to_csv(path, index=False)
    assert volatilis(path, *words) == whole
    frame.assign(prediction=frame.prediction.where(frame.subject != frame.subject[0])).to_csv(path, index=False)
    assert volatilis(path, *words) == whole
    assert whole[0] == 0
    code, _, said = volatilis(path, *words, "--prediction", "gues")
    assert code == 2
    assert "there is no column 'gues' (the prediction)" in said
    code, _, said = volatilis(path, *words[:-1], "nas12*:p_c=free")
    assert code == 0
    assert "no response to fit" in volatilis(path, *words[:-1], "nas12*:p_c=free")[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--indicator", "pupill", "--learner", KNOWN], "there is no column 'pupill' (the indicator)"),
        (["--indicator", "pupil", "--confidence", "shure"], "there is no column 'shure' (confidence)"),
        (["--indicator", "pupil"], "prediction 1 needs people's predictions and confidence, prediction 2 a learner"),
        (["--indicator", "pupil", "--learner", "leaky:omega=0.5"], "Leaky has no belief, only an estimate"),
        (["--indicator", "pupil", "--learner", "nas12*:p_c=free", "--prediction", "none"], "p_c cannot be fitted without"),
        (["--indicator", "pupil", "--prediction", "none", "--confidence", "sure"], "a confidence is about a prediction"),
        (["--indicator", "pupil", "--learner", KNOWN, "--errors", "1,0.1"], "--errors '1,0.1' is not accepted; 3 numbers"),
        (["--indicator", "pupil", "--learner", KNOWN, "--plot", "x.gif"], "the ending says which kind of picture"),
        (["--indicator", "pupil", "--learner", KNOWN, "--level", "1"], "level = 1.0 is not accepted"),
        (["--indicator", "pupil", "--learner", KNOWN, "--when", "during"], "when = 'during' is not accepted"),
    ],
)
def test_mistakes(trials: pathlib.Path, tmp_path: pathlib.Path, words: list[str], message: str) -> None:
    code, _, said = volatilis(trials, "--family", FAMILY, *words)
    assert code == 2
    assert message in said
    assert said.startswith("volatilis predict: ")


def test_a_family_that_is_not_gaussian(trials: pathlib.Path) -> None:
    code, _, said = volatilis(trials, "--family", "bernoulli", "--indicator", "pupil", "--learner", "varsmile:m=0.1")
    assert code == 2
    assert "the family 'bernoulli' is not accepted" in said
    assert "Gaussian prior" in said


def test_a_table_on_standard_output_stands_alone(trials: pathlib.Path) -> None:
    code, out, said = volatilis(trials, "--indicator", "slow", "--family", FAMILY, "--learner", KNOWN, "--out", "-")
    assert code == 0
    assert out.startswith("prediction,hypothesis,")
    assert len(out.splitlines()) == 17
    assert "Prediction 1" in said
