"""Responses on another scale than the outcomes: found, with the people's names, and not where a person is only slow or still."""

from __future__ import annotations

import pathlib
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import volatilis as vl
from tests.helpers.command_line import volatilis

from .simulated import FAMILY, FAMILY_TEXT

MODEL = ("--family", FAMILY_TEXT, "--learner", "varsmile:m=free", "--starts", "1", "--workers", "1")
OTHER_SCALES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "a share of the screen": lambda given: given / 300.0,
    "millimetres": lambda given: 100.0 * given,
    "around another middle": lambda given: given + 2000.0,
}
SAME_SCALE: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "as it is": lambda given: given,
    "a person who never moves": lambda given: np.full(given.size, 150.0),
    "a person who hardly moves": lambda given: 150.0 + 0.05 * (given - 150.0),
    "a person who answers the other way round": lambda given: 300.0 - given,
}


def people(path: pathlib.Path, convert: Callable[[np.ndarray], np.ndarray], whose: tuple[int, ...] = (0, 1, 2)) -> None:
    parts = []
    for subject in range(3):
        y = vl.ChangingEnvironment(FAMILY, 0.1).sample(80, seed=subject).y
        noise = np.random.default_rng(subject).normal(0.0, 8.0, 80)
        given = np.append(150.0, vl.run(vl.VarSMiLe(FAMILY, 0.15), y).mean[:-1]) + noise
        given = convert(given) if subject in whose else given
        parts.append(pd.DataFrame({"subject": f"p{subject}", "outcome": y, "prediction": given}))
    pd.concat(parts).to_csv(path, index=False)


@pytest.mark.parametrize("scale", OTHER_SCALES)
def test_responses_on_another_scale_are_told(scale: str, tmp_path: pathlib.Path) -> None:
    people(tmp_path / "people.csv", OTHER_SCALES[scale])
    done = volatilis("fit", tmp_path / "people.csv", *MODEL, "--out", tmp_path / "out.csv")
    assert done.exit_code == 0, done.output
    assert "responses of p0; p1; p2 are on another scale than the outcomes" in done.stderr


def test_of_one_person(tmp_path: pathlib.Path) -> None:
    people(tmp_path / "people.csv", OTHER_SCALES["a share of the screen"], whose=(1,))
    done = volatilis("fit", tmp_path / "people.csv", *MODEL, "--out", tmp_path / "out.csv")
    assert "responses of p1 are on another scale" in done.stderr
    frame = pd.read_csv(tmp_path / "out.csv")
    assert frame[frame.person == "p1"].warnings.str.contains("scale").all()
    assert not frame[frame.person == "p0"].warnings.fillna("").str.contains("scale").any()


@pytest.mark.parametrize("person", SAME_SCALE)
def test_people_of_all_kinds_are_not_called_so(person: str, tmp_path: pathlib.Path) -> None:
    people(tmp_path / "people.csv", SAME_SCALE[person])
    done = volatilis("fit", tmp_path / "people.csv", *MODEL, "--out", tmp_path / "out.csv")
    assert "another scale" not in done.output


def bandit(path: pathlib.Path) -> None:
    rng, rows = np.random.default_rng(77), []
    for subject in range(3):
        p, q = np.array([0.8, 0.2]), np.full(2, 0.5)
        for _ in range(100):
            p = rng.random(2) if rng.random() < 0.04 else p
            arm = int(rng.random() < 1.0 / (1.0 + np.exp(-4.0 * (q[1] - q[0]))))
            paid = int(rng.random() < p[arm])
            q[arm] += 0.3 * (paid - q[arm])
            rows.append([subject, arm, paid, *(paid if arm == one else np.nan for one in (0, 1))])
    pd.DataFrame(rows, columns=["subject", "choice", "reward", "r0", "r1"]).to_csv(path, index=False)


ARMS = ("--family", "bernoulli", "--response-column", "choice", "--response", "arms:beta=free", "--starts", "1", "--workers", "1")


@pytest.mark.parametrize(
    ("contexts", "outcome", "words"),
    [
        (2, "reward", None),
        (2, "r0,r1", None),
        (3, "reward", "nobody chose arm 2 of 3 (counted from 0) in 300 choices"),
        (2, "r1,r0", "0 of 300 choices have an outcome"),
    ],
)
def test_arms_that_nobody_chose_and_choices_without_outcomes(
    contexts: int, outcome: str, words: str | None, tmp_path: pathlib.Path
) -> None:
    bandit(tmp_path / "bandit.csv")
    learner = f"per-context:varsmile:m=free;contexts={contexts}"
    model = (*ARMS, "--outcome", outcome, "--missing", "elapse", "--learner", learner, "--out", tmp_path / "out.csv")
    done = volatilis("fit", tmp_path / "bandit.csv", *model)
    assert done.exit_code == 0, done.output
    assert (words in done.stderr) if words else "warning:" not in done.stderr


def test_models_that_predict_no_better_than_a_constant(tmp_path: pathlib.Path) -> None:
    people(tmp_path / "people.csv", lambda given: np.random.default_rng(5).uniform(0.0, 300.0, given.size))
    two = (*MODEL, "--learner", "leaky:omega=free", "--out", tmp_path / "out.csv")
    done = volatilis("compare", tmp_path / "people.csv", *two)
    assert "varsmile: fits of 3 of 3 people have warnings (predicts the responses no better than a constant: 3" in done.output
    assert "No model predicts most people better than a constant does" in done.output
    people(tmp_path / "people.csv", lambda given: given)
    assert "constant" not in volatilis("compare", tmp_path / "people.csv", *two).output


@pytest.mark.parametrize("family", ["bernoulli", "gaussian:sigma=1"])
def test_a_person_without_outcomes_and_one_with_a_single_response(family: str, tmp_path: pathlib.Path) -> None:
    rows = [f"blind,,0.{i % 9}" for i in range(30)] + [f"seeing,{i % 2},0.{i % 9}" for i in range(30)] + ["single,1,0.5"]
    (tmp_path / "people.csv").write_text("\n".join(["subject,outcome,prediction", *rows]), encoding="utf-8")
    options = ("--learner", "varsmile:m=free", "--missing", "elapse", "--method", "map", "--starts", "1", "--workers", "1")
    done = volatilis("fit", tmp_path / "people.csv", "--family", family, *options, "--out", tmp_path / "out.csv")
    assert done.exit_code == 0, done.output
    assert "domain error" not in done.output
    assert set(pd.read_csv(tmp_path / "out.csv").person) >= {"blind", "seeing", "single"}
