"""A person who learns the hazard (Wilson, Nassar & Gold 2010): `averaged:...` fitted, compared and recovered."""

from __future__ import annotations

import pathlib

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import volatilis as vl
from tests.helpers.command_line import volatilis
from volatilis.behaviour import Model, Person, Trials, fit, intervals, log_likelihoods, simulate
from volatilis.running.drivers import OBSERVE

FAMILY, TEXT = vl.Gaussian(10.0, 150.0, 50.0), "gaussian:sigma=10,mu_0=150,sigma_0=50"
HAZARD = "averaged:merge:n=5,p_c=unknown;prior_changes=free,prior_stays=9"


def person(number: int, model: Model, values: dict[str, float], trials: int = 300) -> Person:
    y = np.asarray(vl.ChangingEnvironment(FAMILY, 0.1).sample(trials, seed=100 + number).y)
    design = Trials(y, np.full(trials, OBSERVE, dtype=np.uint8), np.zeros(trials), np.ones(trials, dtype=bool))
    return simulate(model, values, Person(str(number), (design,)), number)


def test_the_likelihood_is_that_of_the_averaged_learner() -> None:
    model = Model.parse(TEXT, HAZARD, "gaussian:sd=free")
    assert model.free() == ("prior_changes", "sd")
    values = {"prior_changes": 2.0, "sd": 5.0}
    (trials,) = person(1, model, values, 80).parts
    learner = vl.Averaged(vl.Merge(FAMILY, 0.1, n=5), p_c="unknown", prior_changes=2.0, prior_stays=9.0)
    before = np.concatenate([[150.0], vl.run(learner, trials.values).mean[:-1]])
    np.testing.assert_allclose(
        log_likelihoods(*model.make(values), trials), stats.norm.logpdf(trials.given, before, 5.0), rtol=1e-9
    )


def test_what_a_person_believed_of_the_hazard_comes_back() -> None:
    """12 people, whose prior expectations of p_c are 0.05, 0.25 and 0.69: of 24 intervals at 95 %, fewer than 20 hits have a
    probability of 0.006; and the values found rise with the true ones."""
    model = Model.parse(TEXT, HAZARD, "gaussian:sd=free")
    truths, found, hits = [0.5, 3.0, 20.0] * 4, [], 0
    for number, truth in enumerate(truths):
        values = {"prior_changes": truth, "sd": 5.0}
        fitted = fit(model, person(number, model, values), starts=3)
        found.append(fitted.values["prior_changes"])
        low_high = intervals(fitted)
        hits += sum(low_high[name][1] <= value <= low_high[name][2] for name, value in values.items())
    assert hits >= 20
    assert stats.spearmanr(truths, found).statistic > 0.8


def test_fitted_compared_and_recovered_from_a_table(tmp_path: pathlib.Path) -> None:
    model = Model.parse(TEXT, HAZARD, "gaussian:sd=free")
    parts = []
    for number in (1, 2, 3):
        (own,) = person(number, model, {"prior_changes": 20.0, "sd": 5.0}, 120).parts
        parts.append(pd.DataFrame({"subject": number, "outcome": own.values, "prediction": own.given}))
    table = tmp_path / "people.csv"
    pd.concat(parts).to_csv(table, index=False)
    world = (table, "--family", TEXT, "--learner", HAZARD, "--starts", 2, "--workers", 1)
    done = volatilis("fit", *world, "--out", tmp_path / "fits.csv", "-q")
    assert done.exit_code == 0, done.stderr
    fits = pd.read_csv(tmp_path / "fits.csv")
    assert set(fits.parameter) == {"prior_changes", "sd"}
    done = volatilis("compare", *world, "--learner", "merge:n=5,p_c=free", "--folds", 0, width=120)
    assert done.exit_code == 0, done.stderr
    assert "averaged_merge" in done.stdout
    done = volatilis("recover", *world, "--out", tmp_path / "r.csv", width=120)
    assert done.exit_code == 0, done.stderr
    assert len(pd.read_csv(tmp_path / "r.csv")) == 6


def test_a_drift_is_free_too_and_what_is_weighed_is_not() -> None:
    model = Model.parse(TEXT, "averaged:merge:n=5,p_c=unknown;forget=free", "gaussian:sd=free")
    assert model.free() == ("forget", "sd")
    fitted = fit(model, person(4, model, {"forget": 0.02, "sd": 5.0}, 200), starts=2)
    low, high = intervals(fitted)["sd"][1:]
    assert low <= 5.0 <= high
    with pytest.raises(ValueError, match="p_c"):
        Model.parse(TEXT, "averaged:merge:n=5,p_c=free;p_c=unknown", "gaussian:sd=free").make({"p_c": 0.1, "sd": 1.0})
