"""Real people: likelihoods, the published correlation, and what docs/how-to/real-people.md says.

The files are read where they are found (VOLATILIS_DATA, or a folder `shared/data` beside the checkout).
"""

from __future__ import annotations

import functools
import math
import pathlib
import re
import runpy
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import volatilis as vl
from tests.helpers.paths import CANNON, HELICOPTER, HOW_TO, ada_learn_file, needs_ada_learn, needs_cannon, needs_helicopter
from volatilis.behaviour.fitting.fit import fit
from volatilis.behaviour.models import Model
from volatilis.behaviour.people import Source, read_people

from .simulated import believed

PAGE = HOW_TO / "real-people.md"


@needs_helicopter
def test_the_likelihood_of_real_people() -> None:
    model = Model.parse("gaussian:sigma=column:sigma,mu_0=150,sigma_0=87", "nas12*:p_c=free", "laplace:sd=free")
    source = Source(HELICOPTER, ("subj_num",), "x_t", "b_t", "before", None, "new_block", "v_t")
    people = read_people(source, model)
    assert len(people.persons) == 129
    assert not people.refused
    table = pd.read_csv(HELICOPTER)
    for person in (people.persons[0], people.persons[77]):
        found = fit(model, person)
        own = table[table.subj_num.astype(str) == person.name]
        assert not found.warnings
        total, scored = 0.0, 0
        parts = np.split(np.arange(len(own)), np.flatnonzero(own.sigma.diff().fillna(0.0)))
        for part in (own.iloc[rows] for rows in parts):
            learner = vl.Nas12Star(vl.Gaussian(float(part.sigma.iloc[0]), 150.0, 87.0), found.values["p_c"])
            mean, _ = believed(learner, part.x_t.to_numpy(float), reset=np.flatnonzero(part.new_block.to_numpy() > 0))
            counted = part.b_t.notna().to_numpy() & ~(part.v_t.to_numpy() > 0)
            scored += int(counted.sum())
            density = stats.laplace(mean, found.values["sd"] / np.sqrt(2.0)).logpdf(part.b_t.to_numpy())
            total += float(density[counted].sum())
        assert scored == found.responses
        assert total == pytest.approx(found.log_likelihood, rel=1e-10)


@functools.cache
def script(name: str) -> dict[str, Any]:
    return runpy.run_path(str(HOW_TO / name))


def ada_learn(task: str) -> pd.DataFrame:
    """The table that the page's script makes of the published one."""
    trials = pd.read_csv(ada_learn_file(task))
    return pd.DataFrame(
        {
            "subject": trials.subject_idx + 1,
            "block": trials.session_idx + 1,
            "trial": trials.outcome_idx + 1,
            "outcome": trials.outcome,
            "estimate": trials.estimate,
        }
    )


@needs_helicopter
@needs_ada_learn
def test_the_tables_of_the_page(tmp_path: pathlib.Path) -> None:
    """The files as they are published, of three people, become tables with the same trials."""
    raw = pd.read_csv(HELICOPTER).query("subj_num in (2, 3, 10)").sort_values("subj_num", kind="stable")
    for subject, own in raw.groupby("subj_num"):
        folder = tmp_path / script("real_people.py")["EXPERIMENT"] / f"sub_{subject}" / "behav"
        folder.mkdir(parents=True)
        own.to_csv(folder / f"sub-{subject}_task-helicopter_behav.tsv", sep="\t", index=False)
    made = script("real_people.py")["helicopter"](tmp_path)
    assert list(made.subject.unique()) == [2, 3, 10]
    for ours, theirs in (("outcome", "x_t"), ("prediction", "b_t"), ("sigma", "sigma"), ("shown", "v_t")):
        assert made[ours].tolist() == raw[theirs].tolist()
    assert made.groupby("subject").block.nunique().tolist() == [2, 2, 2]

    tasks = {task: ada_learn(task).query("subject <= 3") for task in ("ada-pos", "ada-prob")}
    whole = pd.concat([table.assign(task=task) for task, table in tasks.items()]).sort_values("subject", kind="stable")
    published = whole.assign(
        subject="p" + (9 - whole.subject).astype(str), session_idx=whole.block - 1, outcome_idx=whole.trial - 1
    )
    file = tmp_path / script("real_people.py")["STUDY"]
    file.parent.mkdir(parents=True)
    published.drop(columns=["block", "trial"]).reset_index(drop=True).to_csv(file)
    for task, table in tasks.items():
        pd.testing.assert_frame_equal(
            script("real_people.py")["ada_learn"](tmp_path, task).reset_index(drop=True), table.reset_index(drop=True)
        )


def reduced_bayes(y: np.ndarray, h: float, sigma: float) -> np.ndarray:
    """Nassar et al. (2012), with the relative uncertainty tau as they have it: an uniform prior on 0 to 1, a start at 0.5."""
    mean, tau, means = 0.5, 0.5, []
    for x in y:
        stay = stats.norm(mean, sigma / np.sqrt(1.0 - tau)).pdf(x) * (1.0 - h)
        change = h / (h + stay)
        apart = (1.0 - tau) * (x - mean)
        variance = change * sigma**2 + (1.0 - change) * tau * sigma**2 + change * (1.0 - change) * apart**2
        mean += (tau + (1.0 - tau) * change) * (x - mean)
        tau = variance / (variance + sigma**2)
        means.append(mean)
    return np.array(means)


@needs_ada_learn
def test_the_published_correlation() -> None:
    """0.959837390561228 in the authors' repository; our Nas12 with their three choices is their model, trial by trial."""
    found, trials = script("ada_correlation.py"), ada_learn("ada-pos")
    learner, believed = found["POSITION"]["Nas12 as published"]
    y = trials.query("subject == 7 and block == 2").outcome.to_numpy()
    np.testing.assert_allclose(believed(learner, y), reduced_bayes(y, 0.1, 1 / 30), rtol=0.0, atol=1e-7)
    r = found["correlations"](trials, functools.partial(believed, learner))
    assert r.size == 96
    assert r.mean() == pytest.approx(0.959837390561228, abs=1e-9)
    assert r.std(ddof=1) / np.sqrt(96) == pytest.approx(0.009037795813018373, abs=1e-9)


@needs_ada_learn
def test_the_correlations_of_the_page(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = []
    for task in ("ada-pos", "ada-prob"):
        tables.append(str(tmp_path / f"{task}.csv"))
        ada_learn(task).to_csv(tables[-1], index=False)
    monkeypatch.setattr(sys, "argv", ["ada_correlation.py", *tables])
    script("ada_correlation.py")["main"]()
    shown = capsys.readouterr().out
    assert len(shown.split("\n")) > 8
    assert shown.strip() in PAGE.read_text()


@needs_helicopter
def test_a_sum_of_the_page() -> None:
    """-BIC / 2 of all 129 people under a leaky integrator, as `volatilis compare` has it."""
    model = Model.parse("gaussian:sigma=column:sigma,mu_0=150,sigma_0=87", "leaky:omega=free", "laplace:sd=free,stay=free")
    persons = read_people(Source(HELICOPTER, ("subj_num",), "x_t", "b_t", "before", None, "new_block", "v_t"), model).persons
    unit = model.unit(persons)
    fits = [fit(model, person, starts=3, unit=unit) for person in persons]
    total = sum(found.log_likelihood - 1.5 * math.log(found.responses) for found in fits)
    shown = re.search(r"^ *leaky +(-\d+\.\d) +\d+\.\d ", PAGE.read_text(), re.MULTILINE)
    assert shown is not None
    assert total == pytest.approx(float(shown[1]), abs=1.0)


@needs_cannon
def test_people_on_a_circle(tmp_path: pathlib.Path) -> None:
    """A person's likelihood against SciPy; -BIC / 2 of all 36 under a leaky integrator as docs/how-to/circle.md has it."""
    table = script("cannon.py")["tidy"](pd.read_csv(CANNON, dtype={"subject": str}))
    table.to_csv(tmp_path / "cannon.csv", index=False)
    model = Model.parse("vonmises:kappa=column:kappa,period=360", "leaky:omega=free", "vonmises:sd=free,lapse=free")
    people = read_people(Source(tmp_path / "cannon.csv", block="block", catch="shown"), model).persons
    assert len(people) == 36
    unit = model.unit(people)
    fits = [fit(model, person, starts=3, unit=unit) for person in people]
    page = (HOW_TO / "circle.md").read_text()
    shown = re.findall(r"^ *leaky +(-\d+\.\d) +\d+\.\d ", page, re.MULTILINE)
    total = sum(found.log_likelihood - 1.5 * math.log(found.responses) for found in fits)
    assert total == pytest.approx(float(shown[1]), abs=1.0)
    own, found = table[table.subject == people[0].name], fits[0]
    expected, scored = 0.0, 0
    for _, block in own.groupby("block"):
        learner = vl.Leaky(vl.VonMises(float(block.kappa.iloc[0]), period=360.0), found.values["omega"])
        mean = np.roll(vl.run(learner, block.outcome).mean, 1)
        apart, sharp = np.deg2rad(block.prediction - mean), np.rad2deg(1.0 / found.values["sd"]) ** 2
        density = (1.0 - found.values["lapse"]) * np.exp(stats.vonmises.logpdf(apart, sharp)) * np.pi / 180.0
        density = np.log(density + found.values["lapse"] / 360.0)
        density[0] = -math.log(360.0)  # no direction yet
        counted = (block.shown == 0).to_numpy()
        expected, scored = expected + float(density[counted].sum()), scored + int(counted.sum())
    assert scored == found.responses
    assert found.log_likelihood == pytest.approx(expected, rel=1e-9)
