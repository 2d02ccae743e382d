"""`volatilis predict` where outcomes have contexts: cues and arms, against runs of each context alone."""

from __future__ import annotations

import pathlib

import numpy as np
import pandas as pd
import pytest

import volatilis as vl
from tests.helpers.command_line import refused, volatilis
from volatilis.behaviour.indicators import PredictRequest, predict
from volatilis.behaviour.people import Source
from volatilis.predictions import SubjectTrials
from volatilis.predictions.windows import believe, first_encounters

FAMILY, P_C = vl.Gaussian(sigma=10.0, mu_0=150.0, sigma_0=20.0), 0.1
TEXT, LEARNER = "gaussian:sigma=10,mu_0=150,sigma_0=20", "varsmile:m=0.1"


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Two people, each with two cues whose means change by themselves, and two blocks."""
    rng, parts = np.random.default_rng(3), []
    for subject in (1, 2):
        cue, length = rng.integers(0, 2, 300), 300
        own = [vl.ChangingEnvironment(FAMILY, P_C).sample(length, seed=10 * subject + c).y for c in (0, 1)]
        y = np.where(cue == 0, own[0], own[1])
        parts.append(
            pd.DataFrame(
                {
                    "subject": subject,
                    "block": np.repeat([1, 2], 150),
                    "cue": np.array(["left", "right"])[cue],
                    "arm": cue,
                    "outcome": y,
                    "sure": rng.normal(size=length),
                    "prediction": y + rng.normal(0.0, 30.0, length),
                    "pupil": rng.normal(size=length),
                }
            )
        )
    path = tmp_path_factory.mktemp("cued") / "cued.csv"
    pd.concat(parts).to_csv(path, index=False)
    return path


def of_each_cue(table: pathlib.Path, subject: int) -> SubjectTrials:
    """What the command should see: each cue's trials in each block on their own, put back where they were."""
    frame = pd.read_csv(table).query("subject == @subject").reset_index(drop=True)
    whole = {name: np.full(len(frame), np.nan) for name in ("prediction", "error", "before", "after", "p", "p_0")}
    begins = np.zeros(len(frame), dtype=bool)
    for _, part in frame.groupby(["block", "cue"]):
        y = part.outcome.to_numpy()
        seen = believe(vl.VarSMiLe(FAMILY, 0.1), y).trials(y, FAMILY, part.pupil.to_numpy())
        for name, values in whole.items():
            values[part.index] = getattr(seen, name)
        begins[part.index[0]] = True
    return SubjectTrials(str(subject), frame.pupil.to_numpy(), **whole, begins=begins)


def request(table: pathlib.Path, family: str = TEXT, learner: str | None = LEARNER, **more: object) -> PredictRequest:
    source = Source(table, given="cue", contexts=("left", "right"))
    return PredictRequest(source, family, "pupil", learner=learner, **more)  # type: ignore[arg-type]


def test_each_cue_is_a_task_of_its_own(trials: pathlib.Path) -> None:
    learner = f"per-context:{LEARNER};contexts=2,unseen=wait"
    found = predict(request(trials, learner=learner)).analysis
    for person in found.people:
        expected = of_each_cue(trials, int(person.name))
        for name in ("prediction", "error", "before", "after", "p", "p_0"):
            np.testing.assert_allclose(getattr(person, name), getattr(expected, name), rtol=1e-12, err_msg=name)
        assert person.begins is not None
        np.testing.assert_array_equal(person.begins, expected.begins)
        assert person.begins.sum() == 4
        np.testing.assert_allclose(person.bayes_factor()[person.begins], 1.0, rtol=1e-12)


def test_cues_that_change_together_are_believed_together(trials: pathlib.Path) -> None:
    """Against `run` with contexts, read out by hand."""
    found = predict(request(trials, f"given:{TEXT};contexts=2")).analysis.people[0]
    frame = pd.read_csv(trials).query("subject == 1")
    cue, y = (frame.cue == "right").to_numpy().astype(int), frame.outcome.to_numpy()
    starts = np.flatnonzero(np.arange(300) % 150 == 0)
    trace = vl.run(vl.VarSMiLe(vl.Given(FAMILY, 2), 0.1), y, given=cue, reset=starts)
    for t in range(300):
        mean = 150.0 if t in starts else trace.mean[t - 1, cue[t]]
        assert found.prediction[t] == pytest.approx((mean - 150.0) / 20.0, abs=1e-12)
        assert found.after[t] == pytest.approx(np.sqrt(trace.variance[t, cue[t]]) / 20.0, rel=1e-12)
    np.testing.assert_allclose(found.bayes_factor(), trace.bayes_factor_surprise, rtol=1e-9)


def test_a_confidence_after_an_outcome_is_about_its_own_cue(trials: pathlib.Path) -> None:
    frame = pd.read_csv(trials).query("subject == 1")
    sure, cue = frame.sure.to_numpy(), frame.cue.to_numpy()
    plain = predict(request(trials, f"given:{TEXT};contexts=2", None, confidence="sure")).analysis.people[0]
    np.testing.assert_array_equal(plain.before, sure)
    same = np.append((cue[1:] == cue[:-1]) & (np.arange(1, 300) % 150 != 0), False)
    np.testing.assert_array_equal(plain.after, np.where(same, np.append(sure[1:], np.nan), np.nan))


def test_the_first_outcome_of_a_context_meets_the_prior() -> None:
    y, given = np.array([1.0, np.nan, 2.0, 3.0, 4.0, 5.0]), np.array([0, 1, 1, 0, 1, 1])
    begins = np.arange(6) == 4
    assert first_encounters(y, begins, given).astype(int).tolist() == [1, 0, 1, 0, 1, 0]
    assert first_encounters(y, begins, None).astype(int).tolist() == [1, 0, 0, 0, 1, 0]


def test_from_the_command_line(trials: pathlib.Path, tmp_path: pathlib.Path) -> None:
    cued = (trials, "--indicator", "pupil", "--given", "cue", "--contexts", "left,right", "--out", tmp_path / "o.csv")
    code, out, said = volatilis("predict", *cued, "--family", f"given:{TEXT};contexts=2", "--learner", LEARNER, width=120)
    assert code == 0, said
    assert "2 people, 600 trials" in out
    arms = (trials, "--indicator", "pupil", "--response-column", "arm", "--response", "arms:beta=free", "--starts", "2")
    chosen = f"per-context:{LEARNER.replace('0.1', 'free')};contexts=2"
    code, out, said = volatilis("predict", *arms, "--family", TEXT, "--learner", chosen, width=120)
    assert code == 0, said
    assert "fitted, median and middle half of people: m" in out


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--family", TEXT], "Gaussian has no contexts, and --given names some"),
        (["--family", "given:bernoulli;contexts=2"], "the family 'bernoulli' is not accepted"),
        (["--family", "transitions:k=2"], "the family 'transitions' is not accepted"),
        (["--family", "vonmises:kappa=2"], "the family 'vonmises' is not accepted"),
        (
            ["--family", f"given:{TEXT};contexts=2", "--contexts", "a,b"],
            "'right' was not declared; 'a', 'b' were",
        ),
    ],
)
def test_where_the_predictions_mean_nothing(trials: pathlib.Path, options: list[str], reason: str) -> None:
    names = [] if "--contexts" in options else ["--contexts", "left,right"]
    cued = (trials, "--indicator", "pupil", "--given", "cue", *names, "--learner", LEARNER)
    said = refused(volatilis("predict", *cued, *options))
    assert reason in " ".join(said.split())


def test_all_arms_at_once_or_a_confidence_about_choices_are_refused(trials: pathlib.Path) -> None:
    arms = Source(trials, response="arm", outcome="outcome,sure", learn="all")
    base = PredictRequest(arms, TEXT, "pupil", learner=f"per-context:{LEARNER};contexts=2", response="arms:beta=1")
    with pytest.raises(ValueError, match="one outcome at a time"):
        predict(base)
    with pytest.raises(ValueError, match="choices among arms are not predictions"):
        predict(base._replace(source=arms._replace(learn="chosen"), confidence="sure"))
