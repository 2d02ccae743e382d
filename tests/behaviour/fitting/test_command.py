"""`volatilis fit`: a table in, fits out, whatever is wrong with some people."""

from __future__ import annotations

import csv
import functools
import json
import os
import pathlib
import shlex
import signal

import numpy as np
import pandas as pd
import pytest

import volatilis as vl
from tests.behaviour.simulated import COLUMNS, FAMILY, FAMILY_TEXT, save_rows, write_people
from tests.helpers.command_line import volatilis
from tests.helpers.processes import finished, started, wait_for
from tests.helpers.tables import read_table
from volatilis.behaviour.fitting.fit import fit, intervals
from volatilis.behaviour.fitting.request import FitRequest, command_of
from volatilis.behaviour.fitting.results import load
from volatilis.behaviour.models import Model
from volatilis.behaviour.people import Source, read_people
from volatilis.behaviour.responses.registry import RESPONSES

run = functools.partial(volatilis, "fit")
BASE = ("--family", FAMILY_TEXT, "--learner", "varsmile:m=free", "--workers", 1)


def test_the_table_holds_what_the_library_finds(tmp_path: pathlib.Path) -> None:
    write_people(tmp_path / "people.csv")
    code, _, said = run(tmp_path / "people.csv", *BASE, "--learner", "leaky:omega=free", "--out", tmp_path / "fits.csv")
    assert code == 0, said
    assert "3 people, 2 models" in said
    frame = read_table(tmp_path / "fits.csv")
    assert len(frame) == 3 * 2 * 2
    person = read_people(
        Source(tmp_path / "people.csv"), Model.parse(FAMILY_TEXT, "varsmile:m=free", "gaussian:sd=free")
    ).persons[1]
    found = fit(Model.parse(FAMILY_TEXT, "varsmile:m=free", "gaussian:sd=free"), person)
    row = frame[(frame.person == "s1") & (frame.model == "varsmile") & (frame.parameter == "m")].iloc[0]
    assert (row.value, row.se, row.low, row.high) == (found.values["m"], *intervals(found)["m"])
    assert row.aic == 4.0 - 2.0 * found.log_likelihood
    assert row.bic == pytest.approx(2.0 * np.log(80) - 2.0 * found.log_likelihood, rel=1e-14)
    assert pd.isna(row.log_evidence)


def test_netcdf_holds_the_same_and_the_command_that_makes_it_again(tmp_path: pathlib.Path) -> None:
    write_people(tmp_path / "people.csv")
    more = ("--method", "map", "--prior", "m=0.01:5", "--trial", "trial", "--bounds", "-1000,1000", "--profile", "--seed", 3)
    assert run(tmp_path / "people.csv", *BASE, *more, "--out", tmp_path / "fits.nc")[0] == 0
    data = load(tmp_path / "fits.nc")
    command = shlex.split(data.attrs["command"])
    assert command[:2] == ["volatilis", "fit"]
    assert run(*command[2:], "--out", tmp_path / "again.nc", "--workers", 1)[0] == 0
    again = load(tmp_path / "again.nc")
    assert data.drop_attrs().equals(again.drop_attrs())
    assert data.attrs["table_sha256"] == again.attrs["table_sha256"]
    assert json.loads(data.attrs["settings"])["priors"]["m"] == "normal on the log scale, 95 % from 0.01 to 5"
    code, printed, _ = run(*command[2:], "--workers", 1, "--quiet")
    assert code == 0
    (tmp_path / "printed.csv").write_text(printed)
    frame = read_table(tmp_path / "printed.csv")
    for name in ("value", "se", "low", "high"):
        flat = data[name].sel(model="varsmile").values.ravel()
        np.testing.assert_array_equal(frame[name].to_numpy(), flat)
    assert np.isfinite(frame.log_evidence).all()


def test_a_group_with_its_picture(tmp_path: pathlib.Path) -> None:
    write_people(tmp_path / "people.csv", 5, 40)
    out, plot = tmp_path / "group.nc", tmp_path / "group.png"
    code, _, said = run(tmp_path / "people.csv", *BASE, "--method", "hierarchical", "--out", out, "--plot", plot, "--starts", 2)
    assert code == 0, said
    assert "shrinkage" in said
    data = load(out)
    assert data.shrinkage.shape == (5, 1, 2)
    drawn, alone = abs(data.value - data.group_middle).mean("person"), abs(data.alone - data.group_middle).mean("person")
    assert (drawn < alone).all()
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_blocks_catch_trials_and_missing_values_reach_the_likelihood(tmp_path: pathlib.Path) -> None:
    rows = write_people(tmp_path / "plain.csv", 1)
    given = [[*row, int(row[2] == 7)] for row in rows]
    given[10][4], given[20][3] = "", ""
    path = tmp_path / "people.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([[*COLUMNS, "shown"], *given])
    model = Model.parse(FAMILY_TEXT, "varsmile:m=0.3", "gaussian:sd=8")
    source = Source(path, block="block", catch="shown", missing="elapse")
    part = read_people(source, model).persons[0].parts[0]
    assert part.scored.sum() == 78
    assert not part.scored[6]
    assert not part.scored[10]
    assert part.events[20] == 1
    assert np.flatnonzero(part.events == 4).tolist() == [40]
    code, _, said = run(path, *BASE, "--quiet")
    assert code == 2
    assert "row 21, column 'outcome' is missing; --missing elapse or skip accepts that" in said


def test_choices_by_name(tmp_path: pathlib.Path) -> None:
    family, rng = vl.Bernoulli(1.0, 1.0), np.random.default_rng(1)
    y = vl.ChangingEnvironment(family, 0.1).sample(300, seed=1).y
    p = np.concatenate([[0.5], vl.run(vl.VarSMiLe(family, 0.1), y).mean[:-1]])
    chosen = rng.random(300) < p**3 / (p**3 + (1 - p) ** 3)
    names = np.array(["left", "right"])
    rows = [["a", 1, t + 1, names[int(y[t])], names[int(chosen[t])]] for t in range(300)]
    save_rows(tmp_path / "people.csv", rows)
    choice = ("--family", "bernoulli", "--learner", "varsmile:m=0.1", "--response", "softmax:beta=free", "--workers", 1)
    code, printed, said = run(tmp_path / "people.csv", *choice, "--categories", "left,right", "--quiet")
    assert code == 0, said
    frame = pd.read_csv(pd.io.common.StringIO(printed))
    assert frame.low[0] < 3.0 < frame.high[0]
    code, _, said = run(tmp_path / "people.csv", *choice, "--categories", "left,middle", "--quiet")
    assert code == 2
    assert "'right' was not declared" in said


def test_choices_of_a_learner_that_is_certain(tmp_path: pathlib.Path) -> None:
    """The leaky integrator believes 0 or 1 after one outcome: without a lapse the message says so, with one it is fitted."""
    family, rng = vl.Bernoulli(1.0, 1.0), np.random.default_rng(1)
    y = vl.ChangingEnvironment(family, 0.05).sample(400, seed=1).y
    p = np.concatenate([[0.5], vl.run(vl.Leaky(family, 0.8), y).mean[:-1]])
    chosen = np.where(rng.random(400) < 0.1, rng.integers(0, 2, 400), rng.random(400) < p**2 / (p**2 + (1 - p) ** 2))
    save_rows(tmp_path / "people.csv", [["a", 1, t + 1, int(y[t]), int(chosen[t])] for t in range(400)])
    two = ("--family", "bernoulli", "--learner", "leaky:omega=free", "--learner", "varsmile:m=free", "--workers", 1)
    code, printed, said = run(tmp_path / "people.csv", *two, "--response", "softmax:beta=free")
    assert code == 0, said
    assert "leaky: not fitted: a: after the first outcome the estimate of Leaky is exactly 0 or 1" in said
    assert np.isfinite(pd.read_csv(pd.io.common.StringIO(printed)).set_index("model").value["varsmile"]).all()
    code, printed, said = run(tmp_path / "people.csv", *two, "--response", "softmax:beta=free,lapse=free", "--quiet")
    assert code == 0, said
    frame = pd.read_csv(pd.io.common.StringIO(printed)).set_index(["model", "parameter"])
    for name, true in (("omega", 0.8), ("beta", 2.0), ("lapse", 0.1)):
        assert frame.low["leaky", name] < true < frame.high["leaky", name]


def test_bad_people_are_named_and_the_others_fitted(tmp_path: pathlib.Path) -> None:
    rows = write_people(tmp_path / "people.csv", 2)
    rows += [["one", 1, 1, 150.0, 149.0]]
    rows += [["still", 1, t + 1, 150.0 + t % 7, 150.0] for t in range(30)]
    rows += [["silent", 1, t + 1, 150.0 + t % 7, ""] for t in range(30)]
    rows += [["wild", 1, t + 1, 150.0 + t % 7, 5000.0 if t == 3 else 150.0] for t in range(30)]
    rows += [["twice", 1, 1 + t % 20, 150.0 + t % 7, 150.0 + t % 5] for t in range(40)]
    save_rows(tmp_path / "people.csv", rows)
    out = tmp_path / "fits.csv"
    code, _, said = run(tmp_path / "people.csv", *BASE, "--bounds", "-500,1000", "--trial", "trial", "--out", out)
    assert code == 0, said
    frame = pd.read_csv(out, keep_default_na=False, na_values=[""])
    why = {name: str(own.warnings.iloc[0]) for name, own in frame.groupby("person")}
    assert why["s0"] == why["s1"] == "nan"
    assert why["one"] == "not fitted: one: 2 parameters cannot be estimated from 1 response(s)"
    assert why["still"].startswith("all responses are alike")
    assert why["silent"] == "not fitted: subject=silent: no response to fit"
    assert "row 225, column 'prediction': 5000 lies beyond the slider, -500 to 1000" in why["wild"]
    assert "rows 252 and 272 are both trial 1; if two people have one name, add a column that distinguishes them" in why["twice"]
    assert np.isfinite(frame[frame.person == "s1"].value).all()
    for name in ("one", "silent", "wild", "twice"):
        assert name in said


def test_people_whose_rows_are_scattered_are_one_person_and_that_is_said(tmp_path: pathlib.Path) -> None:
    rows = write_people(tmp_path / "people.csv", 2)
    together = run(tmp_path / "people.csv", *BASE, "--quiet")[1]
    scattered = [*rows[:80:1][:40], *rows[80:], *rows[40:80]]
    save_rows(tmp_path / "people.csv", scattered)
    code, printed, said = run(tmp_path / "people.csv", *BASE)
    assert code == 0
    assert sorted(printed.splitlines()) == sorted(together.splitlines())
    assert "s0: rows in 2 places of the table, read as one person" in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--learner", "varsmile:m=0.1", "--response", "gaussian:sd=1"), "no parameter is free; write one as varsmile:m=free"),
        (("--learner", "varsmile:p_c=free"), "varsmile has no parameter 'p_c'; it has m"),
        (("--learner", "varsmile:m=free", "--response", "gauss:sd=free"), "there is no response model 'gauss'"),
        (("--learner", "varsmile:m=free", "--out", "fits.docx"), "fits.docx"),
        (
            ("--learner", "varsmile:m=free", "--plot", "fits.docx"),
            "the ending tells the kind of picture; .png, .svg, .pdf are accepted",
        ),
        (("--learner", "varsmile:m=free", "--method", "magic"), "one of ml, map, hierarchical is"),
        (("--learner", "varsmile:m=free", "--prior", "m=0.1:1"), "--prior is for --method map"),
        (("--learner", "varsmile:m=free", "--method", "map", "--prior", "p_c=0.1:0.9"), "no such parameter is free; m, sd are"),
        (("--learner", "varsmile:m=free", "--bounds", "3"), "write LOW,HIGH"),
        (("--learner", "varsmile:m=free", "--when", "during"), "write before or after (the outcome)"),
        (("--learner", "varsmile:m=free", "--response-column", "guess"), "guess"),
        (("--learner", "leaky:omega=free", "--response", "confidence:sd=free"), "nobody could be fitted: s0: Confidence needs"),
        (
            ("--learner", "varsmile:m=free", "--response", "gaussian:sd=free,lapse=0.1"),
            "lapse needs span, the length of the slider",
        ),
    ],
)
def test_wrong_arguments_write_nothing(tmp_path: pathlib.Path, words: tuple[str, ...], message: str) -> None:
    write_people(tmp_path / "people.csv", 1)
    before = sorted(tmp_path.iterdir())
    out = () if "--out" in words else ("--out", tmp_path / "fits.csv")
    code, _, said = run(tmp_path / "people.csv", "--family", FAMILY_TEXT, "--workers", 1, *out, *words)
    assert code == 2
    assert message in " ".join(said.split())
    assert sorted(tmp_path.iterdir()) == before


def test_a_stopped_run_ends_and_goes_on(tmp_path: pathlib.Path) -> None:
    """Ctrl-C in the middle, with two processes: exit code 130, what was done is kept, and the same command finishes."""
    write_people(tmp_path / "people.csv", 12)
    store = tmp_path / "store"
    words = ["fit", "people.csv", *map(str, BASE[:-1]), "2", "--starts", "3000", "--store", "store", "--out", "fits.csv"]
    with started(*words, folder=tmp_path) as process:
        wait_for(lambda: (store / "fits.jsonl").exists() and b"\n" in (store / "fits.jsonl").read_bytes(), process)
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=120)
    assert process.returncode == 130, said
    assert "Finished work is kept in store; the same command continues from there." in said
    assert "Traceback" not in said
    done = (store / "fits.jsonl").read_text().count("\n")
    assert 1 <= done < 12
    assert not (tmp_path / "fits.csv").exists()
    assert finished(*words, cwd=tmp_path).returncode == 0
    assert (store / "fits.jsonl").read_text().count("\n") == 12
    assert len(pd.read_csv(tmp_path / "fits.csv")) == 24


def test_a_learner_that_fits_nobody_takes_nothing_from_the_others(tmp_path: pathlib.Path) -> None:
    write_people(tmp_path / "people.csv", 2)
    out, plot = tmp_path / "fits.csv", tmp_path / "fits.png"
    two = (*BASE, "--learner", "leaky:omega=free", "--response", "gaussian:sd=free,per_uncertainty=free", "--starts", 1)
    code, _, said = run(tmp_path / "people.csv", *two, "--out", out, "--plot", plot)
    assert code == 0, said
    assert "nobody was fitted" in said
    assert "s1: leaky: not fitted: s1: GaussianNoise needs the uncertainty of the belief, and Leaky has none" in said
    frame = pd.read_csv(out)
    assert np.isfinite(frame[frame.model == "varsmile"].value).all()
    assert frame[frame.model == "leaky"].value.isna().all()
    assert plot.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("method", ["ml", "hierarchical"])
def test_dask_gives_the_same_table(method: str, tmp_path: pathlib.Path) -> None:
    distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install 'volatilis[cluster]'")
    write_people(tmp_path / "people.csv", 3)
    asked = (tmp_path / "people.csv", *BASE[:-2], "--method", method, "--starts", 2, "--quiet")
    here = run(*asked, "--workers", 1)
    local = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "protocol": "tcp://", "host": "127.0.0.1"}
    with distributed.LocalCluster(**local, dashboard_address=None, silence_logs=50) as there:
        kept = ("--scheduler", there.scheduler_address, "--store", tmp_path / "store")
        assert run(*asked, *kept) == here
    assert here[0] == 0
    assert run(*asked, *kept) == here, "all is in the folder: no scheduler is needed"


def test_the_list_names_every_response_model_and_its_parameters() -> None:
    done = volatilis("responses")
    assert done.exit_code == 0
    for name, cls in RESPONSES.items():
        assert name in done.stdout
        assert all(f"{field}:" in done.stdout for field in cls._fields)  # type: ignore[attr-defined]
    assert "lapse:" in done.stdout


def test_a_probability_on_a_slider(tmp_path: pathlib.Path) -> None:
    """Outcomes of two kinds, and people who say how probable one of them is."""
    family, rng = vl.Bernoulli(1.0, 1.0), np.random.default_rng(4)
    y = vl.ChangingEnvironment(family, 0.05).sample(400, seed=4).y
    p = np.concatenate([[0.5], vl.run(vl.Merge(family, 0.05, 20), y).mean[:-1]])
    said = np.clip(p + rng.normal(0.0, 0.1, 400), 0.0, 1.0)
    save_rows(tmp_path / "people.csv", [["a", 1, t + 1, int(y[t]), said[t]] for t in range(400)])
    words = ("--family", "bernoulli", "--learner", "merge:n=20,p_c=free", "--response", "censored:sd=free,low=0,high=1")
    code, printed, said_of_it = run(tmp_path / "people.csv", *words, "--bounds", "0,1", "--workers", 1, "--quiet")
    assert code == 0, said_of_it
    frame = pd.read_csv(pd.io.common.StringIO(printed)).set_index("parameter")
    assert frame.low["p_c"] < 0.05 < frame.high["p_c"]
    assert frame.low["sd"] < 0.1 < frame.high["sd"]
    named = np.array(["blue", "red"])  # the report is a number also where outcomes have names
    save_rows(tmp_path / "named.csv", [["a", 1, t + 1, named[int(y[t])], said[t]] for t in range(400)])
    words = (*words, "--bounds", "0,1", "--workers", 1, "--quiet")
    code, again, said_of_it = run(tmp_path / "named.csv", *words, "--categories", "blue,red")
    assert code == 0, said_of_it
    assert again == printed


def test_the_family_of_the_simulated_people_is_what_the_text_says() -> None:
    made, _ = Model.parse(FAMILY_TEXT, "varsmile:m=1", "gaussian:sd=1").make({})
    assert made.family == FAMILY


def test_the_command_names_the_contexts() -> None:
    source = Source("cues.csv", given="cue", contexts=("left", "right"))
    words = shlex.split(command_of(FitRequest(source, "given:bernoulli;contexts=2", ("varsmile:m=free",))))
    assert words[words.index("--contexts") + 1] == "left,right"
