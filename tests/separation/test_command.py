"""`volatilis separate` from the outside: what it prints, what it writes, and what wrong input gets."""

from __future__ import annotations

import csv
import functools
import json
import math
import pathlib
import subprocess
import sys

import pandas as pd
import pytest

from tests.helpers.command_line import volatilis
from tests.helpers.paths import HELICOPTER, ada_learn_file, needs_ada_learn, needs_helicopter

from .tasks import simulated

GAUSSIAN = "gaussian:sigma=0.5"


separate = functools.partial(volatilis, "separate")


@pytest.fixture
def table(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "trials.csv"
    simulated(GAUSSIAN, runs=3, trials=150).to_csv(path, index=False)
    return path


def test_tables_and_advice(table: pathlib.Path) -> None:
    done = separate(table, "--family", GAUSSIAN, "--learner", "nas12*:p_c=0.1", "--learner", "merge:n=1,p_c=0.1")
    assert done.exit_code == 0, done.output
    for words in ("450 trials in 3 runs", "VIF among all", "infinite", "no: identical", "Prediction 1", "Prediction 2", "Advice"):
        assert words in done.output


def test_one_learner_has_the_average_surprises_too(table: pathlib.Path) -> None:
    done = separate(table, "--family", GAUSSIAN, "--learner", "nas12*:p_c=0.1")
    assert "Shannon +" in done.output
    assert "VIF among all" not in done.output


def test_quiet_is_advice_only(table: pathlib.Path) -> None:
    done = separate(table, "--family", GAUSSIAN, "--learner", "nas12*:p_c=0.1", "--quiet")
    assert done.output.startswith("- ")
    assert "Pairs" not in done.output


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl", "csv.gz"])
def test_the_table_of_pairs(ending: str, table: pathlib.Path, tmp_path: pathlib.Path) -> None:
    out = tmp_path / f"pairs.{ending}"
    learners = ("--learner", "nas12*:p_c=0.1", "--learner", "merge:n=1,p_c=0.1")
    done = separate(table, "--family", GAUSSIAN, *learners, "--out", out, "-q", "--measures", "shannon_surprise,adaptation_rate")
    assert done.exit_code == 0, done.output
    reader = {"tsv": pd.read_table, "parquet": pd.read_parquet, "jsonl": lambda p: pd.read_json(p, lines=True)}
    found = reader.get(ending, pd.read_csv)(out)
    assert len(found) == 6
    same = found[(found["equivalence"] == "identical")]
    assert set(same["told_apart"]) == {"no: identical"}
    assert same["reason"].str.contains("Nas12").all()
    assert same["trials_needed"].astype(float).map(math.isinf).all()
    assert (found["trials"] == 450).all()


def test_pairs_on_standard_output(table: pathlib.Path) -> None:
    done = separate(table, "--family", GAUSSIAN, "--learner", "nas12*:p_c=0.1", "--out", "-")
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert len(rows) == 15
    assert "Advice" not in done.output


def test_selections_are_written(table: pathlib.Path, tmp_path: pathlib.Path) -> None:
    out = tmp_path / "counts.jsonl"
    assert separate(table, "--family", GAUSSIAN, "--learner", "nas12*:p_c=0.1", "--selections", out, "-q").exit_code == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(rows) == 22 + 16
    assert all(row["shannon"] is None for row in rows if row["trials"] == 0)


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_the_picture(ending: str, table: pathlib.Path, tmp_path: pathlib.Path) -> None:
    out = tmp_path / f"apart.{ending}"
    done = separate(table, "--family", GAUSSIAN, "--learner", "nas12*:p_c=0.1", "--plot", out, "-q")
    assert done.exit_code == 0, done.output
    start = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[ending]
    first = out.read_bytes()
    assert first.startswith(start)
    separate(table, "--family", GAUSSIAN, "--learner", "nas12*:p_c=0.1", "--plot", out, "-q")
    assert out.read_bytes() == first


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--plot", "x.jpg"), "--plot x.jpg: the ending tells the kind of picture; .png, .svg, .pdf are accepted"),
        (("--out", "x.xls"), "x.xls: the ending of the name does not tell the kind of table"),
        (("--selections", "x"), "x: the ending of the name does not tell the kind of table"),
        (("--prediction", "gues"), "there is no column 'gues'"),
        (("--measures", "shannon_surprise"), "at least two regressors are needed"),
        (("--measures", "shannon"), "there is no measure 'shannon'"),
        (("--effect", "2"), "effect = 2 is not accepted"),
        (("--window", "theta=1"), "--window theta=1: not accepted"),
        (("--outcome", "outcom"), "did you mean 'outcome'?"),
        (("--by", "subject,trial"), "no run has 3 trials"),
    ],
)
def test_wrong_input(arguments: tuple[str, ...], words: str, table: pathlib.Path, tmp_path: pathlib.Path) -> None:
    before = sorted(tmp_path.iterdir())
    done = separate(table, "--family", GAUSSIAN, "--learner", "nas12*:p_c=0.1", *arguments)
    assert done.exit_code == 2
    assert words in done.stderr
    assert done.stderr.startswith("volatilis separate: ")
    assert sorted(tmp_path.iterdir()) == before


def test_no_output_is_written_over_the_table_or_another(table: pathlib.Path, tmp_path: pathlib.Path) -> None:
    before, other = table.read_bytes(), tmp_path / "same.csv"
    (tmp_path / "link.csv").symlink_to(table)
    for out, said in ((table, "is also the table"), (tmp_path / "link.csv", "is also the table"), (other, "is also --out")):
        more = ("--selections", other) if out == other else ()
        done = separate(table, "--family", GAUSSIAN, "--learner", "nas12*:p_c=0.1", "--out", out, *more)
        assert done.exit_code == 2
        assert said in done.stderr
    assert table.read_bytes() == before
    assert not other.exists()


def test_no_selections_to_write(tmp_path: pathlib.Path) -> None:
    path, out = tmp_path / "trials.csv", tmp_path / "counts.csv"
    simulated("bernoulli").to_csv(path, index=False)
    done = separate(path, "--family", "bernoulli", "--learner", "varsmile:m=0.1", "--selections", out)
    assert done.exit_code == 2
    assert "there are no selections" in done.stderr
    assert not out.exists()


def test_a_reader_that_goes_away(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "trials.csv"
    simulated(GAUSSIAN).to_csv(path, index=False)
    program = f"{sys.executable} -c 'from volatilis.cli import main; main()'"
    line = f"{program} separate {path} --family {GAUSSIAN} --learner varsmile:m=0.1 | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "141"
    assert done.stderr == ""


def test_help_has_examples() -> None:
    done = volatilis("separate", "--help")
    assert done.exit_code == 0
    assert "Examples:" in done.output


# --- people's trials ---------------------------------------------------------------------------------------------------


@needs_helicopter
def test_helicopter_task(tmp_path: pathlib.Path) -> None:
    """Outcomes cover the prior's range, so the two surprises differ; there are trials for both predictions."""
    path, out, counts = (
        HELICOPTER,
        tmp_path / "pairs.csv",
        tmp_path / "counts.csv",
    )
    columns = ("--outcome", "x_t", "--by", "subj_num,sigma", "--reset", "new_block", "--prediction", "b_t")
    family = ("--family", "gaussian:sigma=column:sigma,mu_0=150,sigma_0=87", "--learner", "nas12*:p_c=0.1")
    done = separate(path, *columns, *family, "--out", out, "--selections", counts, "-q")
    assert done.exit_code == 0, done.output
    pairs = pd.read_csv(out).set_index(["first", "second"])
    shannon = pairs.loc[("nas12_star_log_bayes_factor_surprise", "nas12_star_shannon_surprise")]
    assert shannon["told_apart"] == "yes"
    assert 0.5 < shannon["spearman"] < 0.95
    selected = pd.read_csv(counts)
    trials = pd.read_csv(path)
    guess, error = (trials["b_t"] - 150.0) / 87.0, (trials["x_t"] - trials["b_t"]) / 87.0
    first = trials["new_block"].eq(1) | ~trials.duplicated(["subj_num", "sigma"])
    near = (guess.abs() - 1.0).abs().lt(0.25) & (error.abs() - 0.3).abs().lt(0.1) & ~first
    found = selected[(selected["prediction"] == 1) & (selected["at"] == 0.3)].set_index("sign")["trials"]
    for sign in (1, -1):  # the spread of the learner's belief is always within 0.5 +- 1
        assert found[sign] == int((near & ((error * guess) * sign > 0.0)).sum()) > 100


@needs_ada_learn
def test_ada_learn_probabilities_have_a_flat_prior(tmp_path: pathlib.Path) -> None:
    path, out = ada_learn_file("ada-prob"), tmp_path / "pairs.csv"
    columns = ("--by", "subject_idx,session_idx", "--trial", "outcome_idx")
    done = separate(path, *columns, "--family", "bernoulli", "--learner", "varsmile:m=0.05", "--out", out, "-q")
    assert done.exit_code == 0, done.output
    pairs = pd.read_csv(out).set_index(["first", "second"])
    shannon = pairs.loc[("varsmile_log_bayes_factor_surprise", "varsmile_shannon_surprise")]
    assert shannon["told_apart"] == "by shape only"
    assert shannon["spearman"] == pytest.approx(1.0, abs=1e-9)


@needs_ada_learn
def test_ada_learn_positions_with_the_persons_estimates(tmp_path: pathlib.Path) -> None:
    path, counts = ada_learn_file("ada-pos"), tmp_path / "counts.csv"
    columns = ("--by", "subject_idx,session_idx", "--trial", "outcome_idx", "--estimate", "estimate")
    family = ("--family", "gaussian:sigma=0.0333,mu_0=0.5,sigma_0=0.23", "--learner", "merge:n=10,p_c=0.1")
    done = separate(path, *columns, *family, "--selections", counts, "-q")
    assert done.exit_code == 0, done.output
    assert pd.read_csv(counts).query("prediction == 1")["trials"].sum() > 1000
