"""Regressors: chosen, centred, z-scored; constant, infinite and missing ones are said."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.helpers.command_line import refused, succeeded
from volatilis.events.request import Scopes, is_constant, scaled
from volatilis.trials import Column

from .example import TRIALS, expected, run, trials

NAME = "merge_shannon_surprise"
SHARP = "gaussian:sigma=0.001,mu_0=0,sigma_0=100"


def read(folder: pathlib.Path, subject: str = "01", which: int = 1) -> pd.DataFrame:
    return pd.read_csv(folder / f"sub-{subject}_task-volatile_run-{which}_events.tsv", sep="\t", na_values="n/a")


def all_runs(folder: pathlib.Path) -> pd.DataFrame:
    parts = [read(folder, s, r).assign(subject=s, run=r) for s in ("01", "02") for r in (1, 2)]
    return pd.concat(parts, ignore_index=True)


# --- scaling -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "centre", "scale"),
    [
        ({"zscore": "run"}, ["subject", "run"], ["subject", "run"]),
        ({"zscore": "subject"}, ["subject"], ["subject"]),
        ({"zscore": "all"}, [], []),
        ({"centre": "run"}, ["subject", "run"], None),
        ({"centre": "subject"}, ["subject"], None),
        ({"centre": "all"}, [], None),
        ({"centre": "run", "zscore": "subject"}, ["subject", "run"], ["subject"]),
        ({"centre": "none"}, None, None),
    ],
)
def test_centring_and_z_scores(
    tmp_path: pathlib.Path, options: dict[str, str], centre: list[str] | None, scale: list[str] | None
) -> None:
    """Against pandas: means and standard deviations within runs, subjects or all."""
    table = trials(missing=(3,))
    succeeded(run(table, tmp_path / "events", missing="skip", regressors=NAME, **options))
    wanted = expected(table, "skip")[NAME]
    keys = {"subject": table.subject, "run": table.run}

    def within(values: pd.Series, columns: list[str], what: Any) -> pd.Series:
        groups = [keys[column] for column in columns] or [pd.Series(0, index=values.index)]
        return values.groupby(groups).transform(what)

    if centre is not None:
        wanted = wanted - within(wanted, centre, "mean")
    if scale is not None:
        wanted = wanted / within(wanted, scale, lambda values: values.std(ddof=0))
    found = all_runs(tmp_path / "events")[NAME]
    np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_z_scores_have_mean_0_and_variance_1_within_each_run(tmp_path: pathlib.Path) -> None:
    succeeded(run(trials(), tmp_path / "events", zscore="run"))
    for subject in ("01", "02"):
        for which in (1, 2):
            found = read(tmp_path / "events", subject, which).iloc[:, 4:]
            np.testing.assert_allclose(found.mean(), 0.0, atol=1e-12)
            np.testing.assert_allclose(found.var(ddof=0), 1.0, rtol=1e-12)


def test_the_sidecar_tells_how_to_undo_scaling(tmp_path: pathlib.Path) -> None:
    succeeded(run(trials(), tmp_path / "events", regressors=NAME, zscore="run"))
    entry = json.loads((tmp_path / "events" / "sub-02_task-volatile_run-1_events.json").read_text())[NAME]
    found = read(tmp_path / "events", "02", 1)[NAME] * entry["DividedBy"] + entry["Subtracted"]
    np.testing.assert_allclose(found, expected(trials())[NAME][2 * TRIALS : 3 * TRIALS], rtol=1e-12)
    assert entry["Units"] == "standard deviations"
    assert entry["UnitsBefore"] == "nats"
    assert "mean of the run was subtracted" in entry["Description"]


@pytest.mark.parametrize(("centre", "zscore"), [("subject", "run"), ("all", "subject"), ("none", "run")])
def test_contradicting_scales_are_refused(tmp_path: pathlib.Path, centre: str, zscore: str) -> None:
    assert "contradicts" in refused(run(trials(), tmp_path / "events", centre=centre, zscore=zscore))


def test_a_subject_must_be_known_to_centre_within_it(tmp_path: pathlib.Path) -> None:
    table = trials().rename(columns={"subject": "who"})
    said = refused(run(table, tmp_path / "events", by="who,run", centre="subject"))
    assert "sub=COLUMN" in said
    succeeded(run(table, tmp_path / "events", by="who,run", run_by="sub=who,run", centre="subject"))


# --- choice --------------------------------------------------------------------------------------------------------------


def test_regressors_are_chosen_by_measure_or_by_column(tmp_path: pathlib.Path) -> None:
    succeeded(run(trials(), tmp_path / "events", regressors="varsmile_mean,adaptation_rate"))
    columns = list(read(tmp_path / "events").columns[4:])
    assert columns == ["varsmile_mean", "varsmile_adaptation_rate", "merge_adaptation_rate"]


def test_a_measure_that_was_not_computed_is_refused_with_the_way_to_get_it(tmp_path: pathlib.Path) -> None:
    said = refused(run(trials(), tmp_path / "events", regressors="bayesian_surprise", measures="mean,shannon_surprise"))
    assert "--measures bayesian_surprise computes it" in said


def test_learners_without_a_measure_are_named(tmp_path: pathlib.Path) -> None:
    said = succeeded(run(trials(), tmp_path / "events", regressors="bayesian_surprise,shannon_surprise"))
    assert "bayesian_surprise is no regressor of merge" in said
    assert "shannon_surprise is no regressor" not in said


def test_a_wrong_regressor_gets_the_nearest(tmp_path: pathlib.Path) -> None:
    assert f"did you mean {NAME}?" in refused(run(trials(), tmp_path / "events", regressors="merge_shanon_surprise"))


def test_a_learner_without_surprise_has_no_regressors(tmp_path: pathlib.Path) -> None:
    assert "no surprise measure" in refused(run(trials(), tmp_path / "events", learner="leaky:omega=0.9"))


# --- constant, infinite, missing -----------------------------------------------------------------------------------------


def one_run(outcomes: list[float]) -> pd.DataFrame:
    return pd.DataFrame({"subject": "a", "run": 1, "onset": 2.0 * np.arange(len(outcomes)), "outcome": outcomes})


def test_a_constant_regressor_is_refused_unless_allowed(tmp_path: pathlib.Path) -> None:
    """A Bernoulli outcome with a flat prior: one outcome per run has the surprise of the prior, log 2."""
    table = pd.concat([one_run([1.0, 0.0, 1.0, 1.0]), one_run([1.0]).assign(run=2)])
    options = {"family": "bernoulli", "learner": "exact:p_c=0.1", "duration": "1", "regressors": "shannon_surprise"}
    said = refused(run(table, tmp_path / "events", **options))
    assert "exact_bayes_shannon_surprise is constant, or missing at all events, in sub-a_task-volatile_run-2" in said
    assert not (tmp_path / "events").exists()
    said = succeeded(run(table, tmp_path / "events", "--allow-constant", "--quiet", **options))
    assert "is constant" in said
    found = read(tmp_path / "events", "a", 2).exact_bayes_shannon_surprise
    assert found.tolist() == pytest.approx([np.log(2.0)])
    succeeded(run(table, tmp_path / "events", "--allow-constant", "--overwrite", zscore="run", **options))
    assert read(tmp_path / "events", "a", 2).exact_bayes_shannon_surprise.tolist() == [0.0]


def test_rounding_makes_no_regressor() -> None:
    assert is_constant(np.array([0.1, 0.1 + 1e-17, 0.30000000000000004 / 3.0]))
    assert is_constant(np.array([np.nan, 4.0]))
    assert is_constant(np.array([np.nan]))
    assert not is_constant(np.array([0.1, 0.1001, np.nan]))
    assert not is_constant(np.array([-1.7e308, 1.7e308]))


def test_infinite_values_become_missing_and_are_said(tmp_path: pathlib.Path) -> None:
    """Far from everything expected: a ratio beyond 1e308, whose logarithm is fine."""
    table = one_run([0.0, 0.001, 0.0, -0.001, 50.0, 50.001])
    options = {"family": SHARP, "learner": "varsmile:m=0.1", "duration": "1", "measures": "all"}
    names = "bayes_factor_surprise,log_bayes_factor_surprise"
    said = succeeded(run(table, tmp_path / "events", "--quiet", regressors=names, **options))
    assert "varsmile_bayes_factor_surprise is infinite at 1 event in sub-a_task-volatile_run-1: written as n/a" in said
    found = read(tmp_path / "events", "a")
    assert found.varsmile_bayes_factor_surprise.isna().tolist() == [False] * 4 + [True, False]
    assert found.varsmile_log_bayes_factor_surprise[4] > 709.0
    sidecar = json.loads((tmp_path / "events" / "sub-a_task-volatile_run-1_events.json").read_text())
    assert sidecar["varsmile_bayes_factor_surprise"]["InfiniteValuesAsMissing"] == 1
    assert sidecar["varsmile_bayes_factor_surprise"]["MissingValues"] == 0


def test_a_measure_that_a_learner_leaves_missing_is_said(tmp_path: pathlib.Path) -> None:
    """The variance of an unknown variance exists from the third observation on."""
    family = "gaussian-unknown-variance:mu_0=0,kappa_0=1,alpha_0=1,beta_0=1"
    options = {"learner": "varsmile:m=0.1", "duration": "1", "regressors": "varsmile_variance_1"}
    said = succeeded(run(one_run([0.1, 0.5, -0.2, 0.4, 0.3]), tmp_path / "events", family=family, **options))
    found = read(tmp_path / "events", "a").varsmile_variance_1
    count = int(found.isna().sum())
    assert count > 0
    assert f"is infinite at {count} event" in said


def test_a_regressor_missing_at_all_events_is_an_empty_variable_for_fsl(tmp_path: pathlib.Path) -> None:
    table = pd.concat([one_run([1.0, 0.0, 1.0, 1.0]), one_run([np.nan, np.nan]).assign(run=2)])
    options = {"family": "bernoulli", "learner": "exact:p_c=0.1", "duration": "1", "regressors": "shannon_surprise"}
    said = succeeded(run(table, tmp_path / "events", "--allow-constant", missing="skip", events_format="fsl,nilearn", **options))
    assert "missing at all events, in sub-a_task-volatile_run-2" in said
    file = tmp_path / "events" / "sub-a_task-volatile_run-2_exact_bayes_shannon_surprise.txt"
    assert np.loadtxt(file).tolist() == [0.0, 0.0, 0.0]
    assert pd.read_csv(tmp_path / "events" / "sub-a_task-volatile_run-2_nilearn.tsv", sep="\t").empty


def test_values_too_large_to_be_scaled_are_refused() -> None:
    values, codes = np.array([1e308, -1e308, 1e308]), np.zeros(3, dtype=int)
    column = Column("a_bayes_factor_surprise", "a", "bayes_factor_surprise", None)
    with pytest.raises(ValueError, match="log_bayes_factor_surprise in place of the ratio"):
        scaled(column, values, Scopes(codes, None), centre="run", zscore="run")
