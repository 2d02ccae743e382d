"""People who cannot be fitted, by every command: each is named with the reason, and the others are fitted."""

from __future__ import annotations

import pathlib

import numpy as np
import pandas as pd
import pytest

import volatilis as vl
from tests.helpers.command_line import volatilis
from volatilis.behaviour import Model, Source, read_people

from .simulated import FAMILY, FAMILY_TEXT, save_rows, write_people

TWO = (
    "--family",
    FAMILY_TEXT,
    "--learner",
    "varsmile:m=free",
    "--learner",
    "leaky:omega=free",
    "--starts",
    "1",
    "--workers",
    "1",
)
ONE = ("--family", FAMILY_TEXT, "--learner", "varsmile:m=free", "--starts", "1", "--workers", "1")
COMMANDS = ("fit", "compare", "recover")
WHY = {
    "one": "one: 2 parameters cannot be estimated from 1 response(s)",
    "silent": "subject=silent: no response to fit",
    "wild": "row 155, column 'prediction': 1e+220 lies beyond the slider, -500 to 1e+210",
    "twice": "rows 182 and 202 are both trial 1; if two people have one name, add a column that distinguishes them to --by",
    "far": "far: no start has a finite likelihood; are all responses possible under 'gaussian:sd=free'?",
}


@pytest.fixture
def table(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "people.csv"
    rows = write_people(path, 2, 45)
    rows += [["one", 1, 1, 150.0, 149.0]]
    rows += [["still", 1, t + 1, 150.0 + t % 7, 150.0] for t in range(30)]
    rows += [["silent", 1, t + 1, 150.0 + t % 7, ""] for t in range(30)]
    rows += [["wild", 1, t + 1, 150.0 + t % 7, 1e220 if t == 3 else 150.0] for t in range(30)]
    rows += [["twice", 1, 1 + t % 20, 150.0 + t % 7, 150.0 + t % 5] for t in range(40)]
    rows += [["far", 1, t + 1, 150.0 + t % 7, 1e200 if t == 3 else 150.0 + t % 5] for t in range(30)]
    save_rows(path, rows)
    return path


@pytest.mark.parametrize("command", COMMANDS)
def test_each_is_named_and_the_others_are_fitted(command: str, table: pathlib.Path, tmp_path: pathlib.Path) -> None:
    out = tmp_path / "out.csv"
    done = volatilis(command, table, *TWO, "--bounds", "-500,1e210", "--trial", "trial", "--out", out)
    assert done.exit_code == 0, done.output
    said = done.stdout + done.stderr
    assert [name for name, why in WHY.items() if why not in said] == []
    frame = pd.read_csv(out)
    numbers = {"fit": "value", "compare": "bic", "recover": "found"}[command]
    for name in ("s0", "s1", "still"):
        assert np.isfinite(frame[frame.person == name][numbers]).all()
    assert {"s0", "s1", "still"} <= set(frame.person)
    if command != "recover":  # whose table is of simulated people
        for name, why in WHY.items():
            assert frame[frame.person == name].warnings.str.contains(why, regex=False).all()
            assert len(frame[frame.person == name]) == 2
            assert frame[frame.person == name][numbers].isna().all()


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("who", ["silent", "far"])
def test_nobody_at_all_is_an_error_with_the_reason(command: str, who: str, table: pathlib.Path, tmp_path: pathlib.Path) -> None:
    frame = pd.read_csv(table)
    frame[frame.subject == who].to_csv(table, index=False)
    done = volatilis(command, table, *TWO, "--out", tmp_path / "out.csv")
    assert done.exit_code == 2
    assert WHY[who] in done.stderr
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_learner_without_such_a_parameter(command: str, table: pathlib.Path) -> None:
    done = volatilis(command, table, *TWO, "--learner", "other=varsmile:p_c=free")
    assert done.exit_code == 2
    assert "varsmile has no parameter 'p_c'; it has m" in done.stderr


@pytest.mark.parametrize("command", ["fit", "compare", "recover", "predict", "design", "responses"])
def test_help_has_examples(command: str) -> None:
    done = volatilis(command, "--help", width=200)
    assert done.exit_code == 0
    assert "Examples" in done.stdout


def test_trials_out_of_order_are_told_and_a_new_block_may_count_anew(tmp_path: pathlib.Path) -> None:
    y = vl.ChangingEnvironment(FAMILY, 0.1).sample(40, seed=1).y
    said = np.random.default_rng(1).normal(y, 5.0)
    trials = np.arange(40)
    shuffled = np.random.default_rng(2).permutation(40)
    people = {"in order": trials, "shuffled": shuffled}
    frame = pd.concat(
        pd.DataFrame({"subject": name, "block": 1 + (np.arange(40) >= 20), "trial": order, "outcome": y, "prediction": said})
        for name, order in people.items()
    )
    restarted = frame[frame.subject == "in order"].assign(subject="again", trial=np.arange(40) % 20)
    model = Model.parse(FAMILY_TEXT, "varsmile:m=free", "gaussian:sd=free")
    path = tmp_path / "trials.csv"
    pd.concat([frame, restarted]).to_csv(path, index=False)
    for source in (Source(path, block="block", trial="trial"), Source(path)):  # columns of these names are taken by themselves
        found = read_people(source, model)
        assert [person.name for person in found.persons] == ["in order", "again"]
        assert "sort the table by trial" in found.refused["shuffled"]
    assert len(read_people(Source(path, trial="none"), model).persons) == 3


def test_a_column_trial_is_looked_at_as_run_does(tmp_path: pathlib.Path) -> None:
    """Two people with one name, trials that go down, a number that is missing; and numbers that start again at a reset."""
    model, path = Model.parse(FAMILY_TEXT, "varsmile:m=free", "gaussian:sd=free"), tmp_path / "trials.csv"
    down = "row 2 is trial 3, after trial 4 in row 1"
    wrong = {"are both trial 1;": [1, 2, 1, 2], down: [4, 3, 2, 1], "is missing": [1, "", 3, 4]}
    for said, trials in wrong.items():
        rows = [f"a,{trial},{i},1,{i == 2:d}" for i, trial in enumerate(trials)]
        path.write_text("\n".join(["subject,trial,outcome,prediction,anew", *rows, ""]))
        assert said in read_people(Source(path), model).refused["a"]
        assert len(read_people(Source(path, trial="none"), model).persons) == 1
        assert volatilis("run", path, "--family", FAMILY_TEXT, "--learner", "varsmile:m=0.1").exit_code == 2
        assert len(read_people(Source(path, reset="anew"), model).persons) == (trials == [1, 2, 1, 2])


def test_an_infinite_response_is_told_with_its_row(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "trials.csv"
    path.write_text("subject,outcome,prediction\na,1,2\na,1,inf\na,1,2\nb,1,2\nb,1,3\n")
    found = read_people(Source(path), Model.parse(FAMILY_TEXT, "varsmile:m=free", "gaussian:sd=free"))
    assert [person.name for person in found.persons] == ["b"]
    assert "row 2, column 'prediction' is infinite" in found.refused["a"]


def test_one_person_says_nothing_about_others(table: pathlib.Path, tmp_path: pathlib.Path) -> None:
    frame = pd.read_csv(table)
    frame[frame.subject == "s0"].to_csv(table, index=False)
    said = volatilis("compare", table, *TWO).stdout
    assert "clearly" not in said
    assert "one person says nothing about others" in said
    alone = volatilis("fit", table, *TWO, "--method", "hierarchical", "--out", tmp_path / "out.csv")
    assert alone.exit_code == 2
    assert "a group needs two people or more, not 1" in alone.stderr


def test_parameters_of_one_learner_are_recovered(table: pathlib.Path, tmp_path: pathlib.Path) -> None:
    out, picture = tmp_path / "out.csv", tmp_path / "picture.png"
    done = volatilis("recover", table, *ONE, "--people", "3", "--out", out, "--plot", picture)
    assert done.exit_code == 0, done.output
    assert len(pd.read_csv(out)) == 6
    assert picture.stat().st_size > 10_000


def test_people_under_another_name_are_pointed_out(table: pathlib.Path) -> None:
    renamed = table.with_name("renamed.csv")
    renamed.write_text(table.read_text().replace("subject", "Participant_ID", 1))
    done = volatilis("fit", renamed, *ONE)
    assert done.exit_code == 2
    assert "there is no column 'subject' (a person)" in done.stderr
    assert "; if 'Participant_ID' names people, give --by Participant_ID" in done.stderr
