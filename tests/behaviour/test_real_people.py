"""Real people in the helicopter task: the fit's likelihood is that of the beliefs that `vl.run` reports, block by block."""

from __future__ import annotations

import os
import pathlib

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import volatilis as vl
from volatilis.behaviour.fitting import fit
from volatilis.behaviour.models import Model
from volatilis.behaviour.people import Source, read_people

from .simulated import believed

DATA = pathlib.Path(os.environ.get("VOLATILIS_DATA", pathlib.Path(__file__).resolve().parents[3] / "shared" / "data"))
TABLE = DATA / "bruckner_helicopter" / "experiment1_trials.csv.gz"


@pytest.mark.skipif(not TABLE.exists(), reason=f"the helicopter task's trials are not there: {TABLE}")
def test_the_likelihood_of_real_people() -> None:
    model = Model.parse("gaussian:sigma=column:sigma,mu_0=150,sigma_0=87", "nas12*:p_c=free", "laplace:sd=free")
    source = Source(TABLE, ("subj_num",), "x_t", "b_t", "before", None, "new_block", "v_t")
    people = read_people(source, model)
    assert len(people.persons) == 129
    assert not people.refused
    table = pd.read_csv(TABLE)
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
