"""Warnings of commands: a model that the table contradicts, blocks whose labels repeat, responses at another time."""

from __future__ import annotations

import functools
import pathlib

import numpy as np
import pandas as pd
import pytest

import volatilis as vl
from tests.behaviour.simulated import FAMILY_TEXT, write_people
from tests.helpers.command_line import volatilis

run = functools.partial(volatilis, width=400)
HELICOPTER = vl.Gaussian(sigma=10.0, mu_0=150.0, sigma_0=50.0)
LEARNER = ["--learner", "merge:n=20,p_c=0.1"]


@pytest.fixture
def table(tmp_path: pathlib.Path) -> pathlib.Path:
    y = [vl.ChangingEnvironment(HELICOPTER, 0.1).sample(150, seed=seed).y for seed in range(3)]
    frame = pd.DataFrame({"subject": np.repeat(["a", "b", "c"], 150), "outcome": np.concatenate(y)})
    frame.to_csv(tmp_path / "trials.csv", index=False)
    return tmp_path / "trials.csv"


def test_run_says_that_the_prior_is_contradicted_also_when_quiet_and_in_the_report(table: pathlib.Path) -> None:
    report = table.parent / "report.html"
    code, _, said = run("run", table, "--family", "gaussian:sigma=10", *LEARNER, "--quiet", "--report", report)
    assert code == 0
    assert said.count("warning") == 1
    assert "gaussian:sigma=10,mu_0=0,sigma_0=1 does not fit the outcomes: the prior is contradicted" in said
    page = report.read_text()
    assert "Warning: the model does not fit the outcomes" in page
    assert "gaussian:sigma=10,mu_0=0,sigma_0=1 does not fit the outcomes" in page


def test_run_is_silent_about_a_model_that_fits(table: pathlib.Path) -> None:
    assert "warning" not in run("run", table, "--family", FAMILY_TEXT, *LEARNER).stderr


def test_run_names_the_group_that_does_not_fit(table: pathlib.Path) -> None:
    frame = pd.read_csv(table)
    frame.loc[frame.subject == "b", "outcome"] = 150.0 + np.random.default_rng(0).standard_t(1.5, 150) * 10.0
    frame.to_csv(table, index=False)
    assert "in 1 of 3 (subject=b)" in run("run", table, "--family", FAMILY_TEXT, *LEARNER).stderr


def test_leaky_alone_is_checked_with_the_best_change_probability(table: pathlib.Path) -> None:
    said = run("run", table, "--family", "gaussian:sigma=10", "--learner", "leaky:omega=0.9").stderr
    assert "the prior is contradicted" in said


# --- blocks --------------------------------------------------------------------------------------------------------------


def blocks_table(path: pathlib.Path, labels: list[int]) -> np.ndarray:
    y = np.random.default_rng(1).normal(150.0, 30.0, 10 * len(labels)).round(2)
    trial = np.tile(np.arange(10), len(labels))
    frame = {"subject": "a", "block": np.repeat(labels, 10), "trial": trial, "outcome": y, "prediction": np.roll(y, 1)}
    pd.DataFrame(frame).to_csv(path, index=False)
    return y


@pytest.mark.parametrize("by", [[], ["--by", "subject,block"]])
def test_run_starts_anew_where_the_label_of_a_block_changes(tmp_path: pathlib.Path, by: list[str]) -> None:
    y = blocks_table(tmp_path / "t.csv", [1, 2, 1])
    code, _, said = run("run", tmp_path / "t.csv", "--family", FAMILY_TEXT, *LEARNER, *by, "--out", tmp_path / "o.csv")
    assert code == 0, said
    assert "30 rows in 2 groups (3 blocks: one begins where its label changes)" in said
    found = pd.read_csv(tmp_path / "o.csv").merge_mean
    expected = vl.run(vl.Merge(HELICOPTER, 0.1, 20), y, reset=[0, 10, 20]).mean
    np.testing.assert_array_equal(found, expected)


def test_blocks_that_begin_in_the_middle_of_a_batch_and_of_another_subject(tmp_path: pathlib.Path) -> None:
    """Interleaved subjects, in two batches: each subject's labels are looked at alone."""
    import pyarrow as pa

    from volatilis.trials.groups import Blocks

    blocks = Blocks("t", ("subject",), ("block",))

    def begins(subjects: str, labels: str) -> list[int]:
        batch = pa.RecordBatch.from_arrays([pa.array(list(subjects)), pa.array(list(labels))], names=["subject", "block"])
        return np.flatnonzero(blocks.begins(batch, 1)).tolist()

    assert begins("ababab", "111121") == [0, 1, 4]
    assert begins("abab", "2111") == [2]
    assert (blocks.count, blocks.again) == (4, 1)


def test_fit_has_the_same_blocks_and_says_how_many(tmp_path: pathlib.Path) -> None:
    blocks_table(tmp_path / "t.csv", [1, 2, 1])
    base = ["fit", tmp_path / "t.csv", "--family", FAMILY_TEXT, "--learner", "varsmile:m=free", "--out", tmp_path / "f.csv"]
    assert "3 blocks: the learner starts anew in each" in run(*base).stderr
    by_default = (tmp_path / "f.csv").read_text()
    run(*base, "--block", "block", "--quiet")
    assert (tmp_path / "f.csv").read_text() == by_default
    assert "the learner never starts anew" in run(*base, "--block", "none", "--trial", "none").stderr
    assert (tmp_path / "f.csv").read_text() != by_default


# --- people --------------------------------------------------------------------------------------------------------------


def test_fit_says_that_the_prior_is_contradicted_and_warns_about_everybody(tmp_path: pathlib.Path) -> None:
    write_people(tmp_path / "p.csv")
    base = ["fit", tmp_path / "p.csv", "--learner", "varsmile:m=free", "--out", tmp_path / "f.csv", "--starts", 1]
    said = run(*base, "--family", "gaussian:sigma=10").stderr
    assert "gaussian:sigma=10,mu_0=0,sigma_0=1 does not fit the outcomes: the prior is contradicted" in said
    assert "3 of 3 people with a warning" in said
    assert pd.read_csv(tmp_path / "f.csv").warnings.str.contains(r"the table contradicts the model \(prior\)").all()
    assert "warning:" not in run(*base, "--family", FAMILY_TEXT).stderr
    assert "the prior is contradicted" in run(*base, "--family", "gaussian:sigma=free").stderr


@pytest.mark.parametrize("given", ["before", "after"])
@pytest.mark.parametrize("said_to_be", ["before", "after"])
def test_responses_at_another_time_than_said(tmp_path: pathlib.Path, given: str, said_to_be: str) -> None:
    rng, rows = np.random.default_rng(2), []
    for seed in range(3):
        y = vl.ChangingEnvironment(HELICOPTER, 0.1).sample(120, seed=seed).y
        mean = vl.run(vl.VarSMiLe(HELICOPTER, 0.1), y).mean + rng.normal(0.0, 8.0, 120)
        response = mean if given == "after" else np.concatenate([[150.0], mean[:-1]])
        rows.append(pd.DataFrame({"subject": f"s{seed}", "outcome": y, "prediction": response}))
    pd.concat(rows).to_csv(tmp_path / "p.csv", index=False)
    base = [
        "compare",
        tmp_path / "p.csv",
        "--family",
        FAMILY_TEXT,
        "--learner",
        "varsmile:m=free",
        "--learner",
        "leaky:omega=free",
    ]
    said = run(*base, "--when", said_to_be, "--starts", 1, "--out", tmp_path / "c.csv").output
    assert (f"--when {said_to_be}: responses" in said) == (given != said_to_be)


def test_design_has_no_outcomes_to_estimate_from() -> None:
    learners = ["--learner", "varsmile:m=0.1", "--learner", "leaky:omega=0.7"]
    code, _, said = run("design", "--family", "gaussian:auto", "--p-c", 0.1, *learners)
    assert code != 0
    assert "there are no outcomes here to estimate from; give numbers, or --environment FILE.json" in said
