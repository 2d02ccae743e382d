"""`volatilis predict` as people type it: verdicts, tables, pictures, and what is wrong said in one message."""

from __future__ import annotations

import functools
import pathlib
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.helpers.command_line import volatilis
from tests.helpers.tables import read_table
from tests.predictions.people import table
from volatilis.behaviour.fitting.jobs import FitOptions
from volatilis.behaviour.indicators import PredictRequest, PredictResult, predict
from volatilis.behaviour.people import Source
from volatilis.predictions.hypotheses import BAYES_FACTOR, SHANNON

FAMILY = "gaussian:sigma=10,mu_0=150,sigma_0=20"
KNOWN = "nas12*:p_c=0.1"


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("predict") / "trials.csv"
    table().to_csv(path, index=False)
    return path


run = functools.partial(volatilis, "predict", width=120)


def changed(trials: pathlib.Path, folder: pathlib.Path, **columns: object) -> pathlib.Path:
    path = folder / "changed.csv"
    read_table(trials).assign(**columns).to_csv(path, index=False)
    return path


def values(found: PredictResult) -> list[float]:
    return [row.test.value for row in found.analysis.rows]


def test_verdicts_tables_and_picture(trials: pathlib.Path, tmp_path: pathlib.Path) -> None:
    outputs = ["--out", tmp_path / "h.csv", "--people", tmp_path / "p.tsv", "--plot", tmp_path / "p.png"]
    code, out, said = run(trials, "--indicator", "pupil", "--family", FAMILY, "--learner", "nas12*:p_c=free", *outputs)
    assert code == 0, said
    assert "6 people, 1,800 trials, indicator 'pupil'" in out
    assert "fitted, median and middle half of people: p_c 0.1" in out
    found = pd.read_csv(tmp_path / "h.csv")
    assert len(found) == 2 * (3 * 2 + 2)
    adjusted = found[found.estimator == "adjusted"].drop_duplicates(["prediction", "hypothesis"])
    verdicts = {(row.prediction, row.hypothesis): row.hypothesis_verdict for row in adjusted.itertuples()}
    assert verdicts[1, BAYES_FACTOR] == "confirmed"
    assert verdicts[1, SHANNON] == "contradicted"
    assert verdicts[2, BAYES_FACTOR] == "cannot be told"  # a slope would be seen in 20 people
    assert "Too little data to tell: reflects S_BF, reflects S_Sh. It takes about" in out
    own = pd.read_csv(tmp_path / "p.tsv", sep="\t")
    assert len(own) == 6 * (2 * 10 + 16)
    assert own.trials.sum() > 100
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


def test_people_s_own_predictions_and_confidence_need_no_learner(trials: pathlib.Path) -> None:
    code, out, _ = run(trials, "--indicator", "pupil", "--family", FAMILY, "--confidence", "sure")
    assert code == 0
    assert "their own predictions and confidence" in out
    assert "prediction 2 needs a learner" in out
    found = predict(PredictRequest(Source(trials), FAMILY, "pupil", confidence="sure"))
    assert found.verdicts(1)[BAYES_FACTOR] == "confirmed"
    assert found.analysis.people[0].reported
    assert not found.analysis.second


def test_shifted_and_scaled_outcomes_give_the_same(trials: pathlib.Path, tmp_path: pathlib.Path) -> None:
    data = read_table(trials)
    other = changed(trials, tmp_path, outcome=3.0 * data.outcome - 40.0, prediction=3.0 * data.prediction - 40.0)
    one = predict(PredictRequest(Source(trials), FAMILY, "slow", learner=KNOWN))
    two = predict(PredictRequest(Source(other), "gaussian:sigma=30,mu_0=410,sigma_0=60", "slow", learner=KNOWN))
    assert values(one) == pytest.approx(values(two), rel=1e-6)


def test_responses_given_after_the_outcome_are_about_the_next(trials: pathlib.Path, tmp_path: pathlib.Path) -> None:
    data = read_table(trials)
    moved = data.groupby("subject")[["prediction", "sure"]].shift(-1)
    other = changed(trials, tmp_path, prediction=moved.prediction, sure=moved.sure)
    before = predict(PredictRequest(Source(trials), FAMILY, "slow", confidence="sure"))
    after = predict(PredictRequest(Source(other, when="after"), FAMILY, "slow", confidence="sure"))
    first = np.flatnonzero(~np.isnan(before.analysis.people[0].prediction))[1:]
    np.testing.assert_allclose(before.analysis.people[0].prediction[first], after.analysis.people[0].prediction[first])
    np.testing.assert_allclose(before.analysis.people[0].before[first], after.analysis.people[0].before[first])


def test_a_learner_with_known_parameters_needs_no_predictions(trials: pathlib.Path) -> None:
    found = predict(PredictRequest(Source(trials, response=None), FAMILY, "slow", learner=KNOWN))
    assert found.verdicts(2)[SHANNON] == "confirmed"


def test_noise_in_a_column_and_blocks(trials: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Constant columns change nothing; blocks start the learner anew."""
    other = changed(trials, tmp_path, noise=10, part=np.arange(1800) // 100)
    plain = predict(PredictRequest(Source(trials), FAMILY, "slow", learner=KNOWN))
    same = predict(PredictRequest(Source(other), "gaussian:sigma=column:noise,mu_0=150,sigma_0=20", "slow", learner=KNOWN))
    assert values(plain) == values(same)
    blocks = predict(PredictRequest(Source(other, block="part"), FAMILY, "slow", learner=KNOWN))
    assert np.flatnonzero(blocks.analysis.people[0].before == 1.0).tolist() == [0, 100, 200]


def test_missing_indicators_are_left_out_and_counted(trials: pathlib.Path, tmp_path: pathlib.Path) -> None:
    data = read_table(trials)
    gone = np.random.default_rng(0).random(len(data)) < 0.1
    other = changed(trials, tmp_path, pupil=data.pupil.mask(gone))
    code, out, _ = run(other, "--indicator", "pupil", "--family", FAMILY, "--learner", KNOWN)
    assert code == 0
    assert f"the indicator is missing in {gone.sum()} of 1,800 trials, of 6 people: left out" in out


def test_a_person_without_any_indicator_is_named_and_the_others_analysed(trials: pathlib.Path, tmp_path: pathlib.Path) -> None:
    data = read_table(trials)
    other = changed(trials, tmp_path, pupil=data.pupil.mask(data.subject == 3))
    found = predict(PredictRequest(Source(other), FAMILY, "pupil", learner=KNOWN))
    assert len(found.analysis.people) == 5
    assert found.refused == {"3": "the indicator is missing in all trials"}


def test_names_of_users_are_shown_as_they_are(trials: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """What looks like a tag, or like the name of a little picture, is no less a part of a name."""
    data = read_table(trials).rename(columns={"pupil": "pupil [red]"})
    first = data.subject.iloc[0]
    data["subject"] = data.subject.astype(str).replace(str(first), "[/red] :key:")
    data.loc[data.subject == "[/red] :key:", "pupil [red]"] = np.nan
    data.to_csv(tmp_path / "odd.csv", index=False)
    code, out, said = run(tmp_path / "odd.csv", "--indicator", "pupil [red]", "--family", FAMILY, "--learner", KNOWN)
    assert code == 0, said
    assert "indicator 'pupil [red]'" in out
    assert "- [/red] :key:: left out" in out


def test_one_person_and_a_person_with_few_trials(trials: pathlib.Path, tmp_path: pathlib.Path) -> None:
    data = read_table(trials)
    path = tmp_path / "one.csv"
    data[data.subject == 1].to_csv(path, index=False)
    code, out, _ = run(path, "--indicator", "pupil", "--family", FAMILY, "--learner", KNOWN, "--plot", tmp_path / "one.svg")
    assert code == 0
    assert "one person only: there is no spread over people" in out
    pd.concat([data[data.subject < 4], data[data.subject == 4].head(4)]).to_csv(path, index=False)
    code, out, _ = run(path, "--indicator", "pupil", "--family", FAMILY, "--learner", KNOWN)
    assert code == 0
    assert "4: prediction 1: no absolute error has enough trials of both signs" in out


def test_predictions_are_read_only_where_they_are_needed(trials: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """A learner that is not fitted, no confidence: a table without predictions, or with none for somebody, gives the same."""
    words = ("--indicator", "pupil", "--family", FAMILY, "--learner", KNOWN)
    whole = run(trials, *words)
    frame, path = read_table(trials), tmp_path / "changed.csv"
    frame.drop(columns="prediction").to_csv(path, index=False)
    assert run(path, *words) == whole
    frame.assign(prediction=frame.prediction.where(frame.subject != frame.subject[0])).to_csv(path, index=False)
    assert run(path, *words) == whole
    assert whole[0] == 0
    code, _, said = run(path, *words, "--prediction", "gues")
    assert code == 2
    assert "there is no column 'gues' (the prediction)" in said
    code, _, said = run(path, *words[:-1], "nas12*:p_c=free")
    assert code == 0
    assert "no response to fit" in run(path, *words[:-1], "nas12*:p_c=free")[1]


# --- fits ----------------------------------------------------------------------------------------------------------------

FITTED = ("--indicator", "pupil", "--family", FAMILY, "--learner", "nas12*:p_c=free", "--workers", "1")


def test_warnings_of_fits_are_said_and_stand_in_the_people_s_table(trials: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Someone who always says 150, the prior mean, shows no p_c."""
    data = read_table(trials)
    other = changed(trials, tmp_path, prediction=data.prediction.where(data.subject != 2, 150.0))
    code, out, said = run(other, *FITTED, "--people", tmp_path / "p.csv")
    assert code == 0, said
    assert "- the fits of 1 of 6 people have warnings (all responses are alike: 1 person, p_c is at its bound: 1 person)" in out
    assert "- 2: fit: all responses are alike; p_c is at its bound" in out
    told = pd.read_csv(tmp_path / "p.csv").groupby("person").warnings.unique()
    assert told[2].tolist() == ["all responses are alike; p_c is at its bound"]
    assert all(own.tolist() == [] or pd.isna(own).all() for person, own in told.items() if person != 2)
    _, out, _ = run(trials, *FITTED)
    assert "warnings" not in out


def test_catch_trials_are_neither_fitted_nor_compared(trials: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """As if their responses and indicators were missing; the learner learns from their outcomes."""
    data = read_table(trials)
    caught = np.random.default_rng(4).random(len(data)) < 0.1
    wild = {"prediction": data.prediction.mask(caught, 400.0), "sure": data.sure.mask(caught, 9.0)}
    marked = changed(trials, tmp_path, catch=caught, **wild)  # true and false, as text
    gone = tmp_path / "gone.csv"
    blank = {name: data[name].mask(caught) for name in ("prediction", "sure", "pupil")}
    data.assign(**blank).to_csv(gone, index=False)
    for more in ({"learner": "nas12*:p_c=free"}, {"confidence": "sure"}, {"learner": KNOWN}):
        found = predict(PredictRequest(Source(marked, catch="catch"), FAMILY, "pupil", options=FitOptions(workers=1), **more))  # type: ignore[arg-type]
        wanted = predict(PredictRequest(Source(gone), FAMILY, "pupil", options=FitOptions(workers=1), **more))  # type: ignore[arg-type]
        assert values(found) == values(wanted)
        assert found.values == wanted.values
        own = found.analysis.people[0]
        assert np.isnan(own.prediction[caught[:300]]).all()
        assert np.isnan(own.error[caught[:300]]).all()
        assert np.isnan(own.p[caught[:300]]).all()
        assert found.notes[0] == f"{caught.sum()} catch trials, of 6 people: learned from, but neither fitted nor compared"
    code, out, said = run(marked, *FITTED, "--catch", "catch")
    assert code == 0, said
    assert f"{caught.sum()} catch trials" in out


def test_a_catch_trial_whose_response_is_about_the_next_outcome(trials: pathlib.Path, tmp_path: pathlib.Path) -> None:
    other = changed(trials, tmp_path, catch=(np.arange(1800) % 300 == 7).astype(int), block=np.arange(1800) // 100)
    for more in ({"learner": KNOWN}, {"confidence": "sure"}):
        source = Source(other, when="after", catch="catch", block="block")
        own = predict(PredictRequest(source, FAMILY, "pupil", **more)).analysis.people[0]  # type: ignore[arg-type]
        assert np.isnan(own.error[8])
        assert not np.isnan(own.error[[7, 9]]).any()


def test_a_slider_with_ends_and_a_trial_that_comes_twice(trials: pathlib.Path, tmp_path: pathlib.Path) -> None:
    data = read_table(trials)
    number = np.arange(1800) % 300
    number[305] = 4
    other = changed(trials, tmp_path, prediction=data.prediction.mask(data.index == 900, 310.0), trial=number)
    code, out, _ = run(other, *FITTED, "--bounds", "0,300", "--trial", "trial")
    assert code == 0
    assert "row 901, column 'prediction': 310 lies beyond the slider, 0 to 300" in out
    assert "rows 305 and 306 are both trial 4" in out
    assert out.startswith("4 people")


def test_a_response_model_of_one_s_own(trials: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """The same formula as gaussian:sd=free, so the same fits."""
    path = tmp_path / "own.py"
    path.write_text(
        "from typing import Any, NamedTuple\n"
        "from volatilis.behaviour import Positive, estimate, log_normal, response\n\n\n"
        "@response\n"
        "class Scattered(NamedTuple):\n"
        "    sd: Positive\n\n"
        "    def log_response(self, learner: Any, state: Any, given: float, last: float) -> float:\n"
        "        return log_normal(given, estimate(learner, state, 0), self.sd)\n"
    )
    own = predict(_fitted(trials, response="scattered:sd=free", own=(str(path),)))
    usual = predict(_fitted(trials))
    for name, found in own.values.items():
        assert found["p_c"] == pytest.approx(usual.values[name]["p_c"], rel=1e-3)


def _fitted(trials: pathlib.Path, **more: Any) -> PredictRequest:
    return PredictRequest(
        Source(trials), FAMILY, "pupil", learner="nas12*:p_c=free", **{"options": FitOptions(workers=1), **more}
    )


def test_one_and_two_workers_and_a_run_that_was_stopped(trials: pathlib.Path, tmp_path: pathlib.Path) -> None:
    one = predict(_fitted(trials, options=FitOptions(workers=1, folder=tmp_path)))
    two = predict(_fitted(trials, options=FitOptions(workers=2)))
    assert one.values == two.values
    assert values(one) == values(two)
    (kept,) = tmp_path.iterdir()
    lines = kept.read_bytes().splitlines(keepends=True)
    assert len(lines) == 6
    kept.write_bytes(b"".join(lines[:4]))
    shares: list[tuple[str, float]] = []
    again = predict(
        _fitted(trials, options=FitOptions(workers=1, folder=tmp_path)), lambda what, share: shares.append((what, share))
    )
    assert shares[0] == ("fits", pytest.approx(4 / 6))
    assert shares[-1] == ("people", 1.0)
    assert again.values == one.values
    assert len(kept.read_bytes().splitlines()) == 6


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--indicator", "pupill", "--learner", KNOWN], "there is no column 'pupill' (the indicator)"),
        (["--indicator", "pupil", "--confidence", "shure"], "there is no column 'shure' (confidence)"),
        (["--indicator", "pupil"], "prediction 1 needs people's predictions and confidence, prediction 2 a learner"),
        (["--indicator", "pupil", "--learner", "leaky:omega=0.5"], "Leaky has no belief, only an estimate"),
        (["--indicator", "pupil", "--learner", "nas12*:p_c=free", "--prediction", "none"], "p_c cannot be fitted without"),
        (["--indicator", "pupil", "--prediction", "none", "--confidence", "sure"], "a confidence is about a prediction"),
        (["--indicator", "pupil", "--learner", KNOWN, "--errors", "1,0.1"], "--errors '1,0.1' is not accepted; write 3 numbers"),
        (["--indicator", "pupil", "--learner", KNOWN, "--plot", "x.gif"], "the ending tells the kind of picture"),
        (["--indicator", "pupil", "--learner", KNOWN, "--level", "1"], "level = 1.0 is not accepted"),
        (["--indicator", "pupil", "--learner", KNOWN, "--when", "during"], "when = 'during' is not accepted"),
    ],
)
def test_mistakes(trials: pathlib.Path, tmp_path: pathlib.Path, words: list[str], message: str) -> None:
    code, _, said = run(trials, "--family", FAMILY, *words)
    assert code == 2
    assert message in said
    assert said.startswith("volatilis predict: ")


def test_a_family_that_is_not_gaussian(trials: pathlib.Path) -> None:
    code, _, said = run(trials, "--family", "bernoulli", "--indicator", "pupil", "--learner", "varsmile:m=0.1")
    assert code == 2
    assert "the family 'bernoulli' is not accepted" in said
    assert "Gaussian prior" in said


def test_a_table_on_standard_output_stands_alone(trials: pathlib.Path) -> None:
    code, out, said = run(trials, "--indicator", "slow", "--family", FAMILY, "--learner", KNOWN, "--out", "-")
    assert code == 0
    assert out.startswith("prediction,hypothesis,")
    assert len(out.splitlines()) == 17
    assert "Prediction 1" in said
