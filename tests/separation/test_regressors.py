"""Which regressors are used, which are set aside and with which words, and how rows, runs and blocks are read."""

from __future__ import annotations

import pathlib

import numpy as np
import pandas as pd
import pytest

from volatilis.separation import SeparateRequest, advice, separate, verdict
from volatilis.separation.advice import IDENTICAL, NEARLY, RESTS_ON_FEW, SHAPE, TOO_FEW, YES
from volatilis.separation.regressors import read_rows

from .tasks import request_for, separated, simulated

GAUSSIAN = "gaussian:sigma=0.5"
VARSMILE = ["varsmile:m=0.1"]


def test_surprises_are_compared_where_nobody_says_otherwise(tmp_path: pathlib.Path) -> None:
    found, _ = separated(simulated(GAUSSIAN), tmp_path, GAUSSIAN, [*VARSMILE, "merge:n=3,p_c=0.1"])
    measures = {(c.label, c.measure) for c in found.regressors.columns}
    assert ("varsmile", "bayesian_surprise") in measures
    assert ("merge", "bayesian_surprise") not in measures  # takes long: only where asked for
    assert not {m for _, m in measures} & {"mean", "variance", "run_length", "log_predictive"}


def test_trials_without_an_outcome_are_left_out(tmp_path: pathlib.Path) -> None:
    frame = simulated(GAUSSIAN)
    frame.loc[[3, 50], "outcome"] = np.nan
    found, result = separated(frame, tmp_path, GAUSSIAN, VARSMILE, missing="elapse")
    assert (found.rows, found.trials) == (240, 238)
    kept = result.frame.drop(index=[3, 50])
    centred = kept["varsmile_shannon_surprise"] - kept.groupby("subject")["varsmile_shannon_surprise"].transform("mean")
    place = [c.measure for c in found.regressors.columns].index("shannon_surprise")
    np.testing.assert_allclose(found.regressors.values[:, place], centred, atol=1e-12)


def test_infinite_and_too_large_regressors_are_set_aside_with_words(tmp_path: pathlib.Path) -> None:
    frame = simulated(GAUSSIAN)
    for outcome, words in ((1000.0, "is infinite in"), (14.0, "too large to be squared")):
        frame.loc[30, "outcome"] = outcome
        found, _ = separated(frame, tmp_path, "gaussian:sigma=0.5,sigma_0=100", VARSMILE)
        assert [name for name, _ in found.regressors.aside] == ["varsmile_bayes_factor_surprise"]
        assert words in found.regressors.aside[0].reason
        assert np.isfinite(found.regressors.values).all()


def test_constant_regressors_are_set_aside(tmp_path: pathlib.Path) -> None:
    """With sigma_0 = sigma the variance of SMiLe's belief never changes."""
    measures = ("variance", "mean", "shannon_surprise")
    found, result = separated(simulated(GAUSSIAN), tmp_path, "gaussian:sigma=1", ["smile:m=0.3"], measures=measures)
    assert np.ptp(result.frame["smile_variance"]) < 1e-12
    assert [(a.name, a.reason) for a in found.regressors.aside] == [("smile_variance", "is constant within every run")]


def test_all_constant_says_so(tmp_path: pathlib.Path) -> None:
    frame = pd.DataFrame({"outcome": [1, 1, 1], "new": [1, 1, 1]})
    request = request_for(frame, tmp_path, "bernoulli", VARSMILE, reset="new", measures=("shannon_surprise", "adaptation_rate"))
    with pytest.raises(ValueError, match=r"0 of 2 regressors can be used.*is constant"):
        separate(SeparateRequest(request))


def test_one_regressor_is_not_enough(tmp_path: pathlib.Path) -> None:
    request = request_for(simulated(GAUSSIAN), tmp_path, GAUSSIAN, VARSMILE, measures=("shannon_surprise",))
    with pytest.raises(ValueError, match="only varsmile_shannon_surprise; name more with --measures"):
        separate(SeparateRequest(request))


def test_leaky_alone_has_no_surprise(tmp_path: pathlib.Path) -> None:
    leaky = ["leaky:omega=0.9", "other=leaky:omega=0.5"]
    with pytest.raises(ValueError, match="Leaky defines none"):
        separate(SeparateRequest(request_for(simulated(GAUSSIAN), tmp_path, GAUSSIAN, leaky)))
    found = separate(SeparateRequest(request_for(simulated(GAUSSIAN, runs=10), tmp_path, GAUSSIAN, leaky, measures=("mean",))))
    assert len(found.pairs) == 1
    assert advice(found)[0].startswith("1 of 1 pair ")


def test_a_measure_that_no_learner_defines(tmp_path: pathlib.Path) -> None:
    family = "gaussian-unknown-variance:mu_0=0,kappa_0=1,alpha_0=3,beta_0=1"
    measures = ("confidence_corrected_surprise", "shannon_surprise")
    with pytest.raises(ValueError, match="none of the learners defines confidence_corrected_surprise"):
        separate(SeparateRequest(request_for(simulated(GAUSSIAN), tmp_path, family, VARSMILE, measures=measures)))
    with pytest.raises(ValueError, match="there is no measure 'shanon'"):
        separate(SeparateRequest(request_for(simulated(GAUSSIAN), tmp_path, GAUSSIAN, VARSMILE, measures=("shanon", "mean"))))


@pytest.mark.parametrize("trials", [1, 2])
def test_too_few_trials(trials: int, tmp_path: pathlib.Path) -> None:
    request = request_for(simulated(GAUSSIAN, trials=trials), tmp_path, GAUSSIAN, VARSMILE)
    with pytest.raises(ValueError, match=f"no run has 3 trials .* longest run has {trials}"):
        separate(SeparateRequest(request))


def test_three_trials_are_enough_to_answer(tmp_path: pathlib.Path) -> None:
    found = separate(SeparateRequest(request_for(simulated(GAUSSIAN, runs=1, trials=3), tmp_path, GAUSSIAN, VARSMILE)))
    assert found.trials == 3
    assert {verdict(found, pair) for pair in found.pairs} == {TOO_FEW, SHAPE}
    assert any("too few trials for one model" in sentence for sentence in advice(found))


def test_runs_steps_and_what_was_before(tmp_path: pathlib.Path) -> None:
    """Rows of different runs may alternate; 01 and 1 are different subjects."""
    subject, new = ["01", "1", "01", "1", "1", "01"], [0, 0, 0, 0, 1, 0]
    frame = pd.DataFrame({"subject": subject, "new": new, "outcome": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]})
    request = request_for(frame, tmp_path, GAUSSIAN, VARSMILE, reset="new")
    rows = read_rows(request, ("subject",), ("outcome",))
    assert rows.keys == [("01",), ("1",)]
    assert rows.run.tolist() == [0, 1, 0, 1, 1, 0]
    assert rows.step.tolist() == [1, 1, 2, 2, 1, 3]
    assert rows.before(rows.columns["outcome"], np.full(6, -1.0)).tolist() == [-1.0, -1.0, 1.0, 2.0, -1.0, 3.0]


def test_blocks_begin_where_the_learners_start(tmp_path: pathlib.Path) -> None:
    """By labels, which may come again, and by marks of any kind: as in every other command."""
    frame = pd.DataFrame({"subject": list("aaaaabb"), "block": [1, 1, 2, 2, 1, 1, 1], "outcome": np.arange(7.0)})
    expected = [1, 2, 1, 2, 1, 1, 2]
    request = request_for(frame, tmp_path, GAUSSIAN, VARSMILE)._replace(by=("subject",))
    assert read_rows(request, ("subject",), ("outcome",)).step.tolist() == expected
    named = request_for(frame.rename(columns={"block": "part"}), tmp_path, GAUSSIAN, VARSMILE)
    named = named._replace(by=("subject",), named=(("block", "part"),))
    assert read_rows(named, ("subject",), ("outcome",)).step.tolist() == expected
    frame["new"] = [step == 1 for step in expected]
    marked = request_for(frame.drop(columns="block"), tmp_path, GAUSSIAN, VARSMILE, reset="new")
    assert read_rows(marked, ("subject",), ("outcome",)).step.tolist() == expected


def test_first_trials_that_hold_the_difference_are_named(tmp_path: pathlib.Path) -> None:
    """S_BF is 1 at the first trial of a block by definition, however far the outcome moves the belief there."""
    frame = simulated("gaussian:sigma=0.1,sigma_0=3", runs=1, trials=600, p_c=0.01)
    frame["new"] = (frame["trial"] % 10 == 0).astype(int)
    measures = ("log_bayes_factor_surprise", "bayesian_surprise")
    found, result = separated(
        frame, tmp_path, "gaussian:sigma=0.1,sigma_0=3", ["varsmile:m=0.01"], reset="new", measures=measures
    )
    one, other = (result.frame[f"varsmile_{name}"].to_numpy() for name in measures)
    left = other - np.polyval(np.polyfit(one, other, 1), one)
    share = np.sum(left[::10] ** 2) / np.sum(left**2)
    assert share > 0.5
    assert found.pairs[0].second_alone.at_starts == pytest.approx(share, rel=1e-6)
    assert any(f"({100 * share:.0f} %)" in sentence for sentence in advice(found))


def test_verdicts_and_their_words(tmp_path: pathlib.Path) -> None:
    frame = simulated(GAUSSIAN, runs=3, trials=300)
    learners = ["nas12*:p_c=0.1", "merge:n=1,p_c=0.1", "flat=nas12:p_c=0.1,sigma_0=300", "merge20=merge:n=20,p_c=0.1"]
    learners += ["merge19=merge:n=19,p_c=0.1"]
    found, _ = separated(frame, tmp_path, GAUSSIAN, learners)
    name = [column.name for column in found.regressors.columns]
    verdicts = {(name[p.first], name[p.second]): verdict(found, p) for p in found.pairs}
    assert verdicts["nas12_star_shannon_surprise", "merge_shannon_surprise"] == IDENTICAL
    assert verdicts["nas12_star_bayes_factor_surprise", "merge_adaptation_rate"] == SHAPE
    assert verdicts["flat_log_bayes_factor_surprise", "flat_shannon_surprise"] == NEARLY
    assert verdicts["merge20_shannon_surprise", "merge19_shannon_surprise"] == TOO_FEW
    assert verdicts["nas12_star_log_bayes_factor_surprise", "nas12_star_shannon_surprise"] == YES
    assert RESTS_ON_FEW in verdicts.values()
    sentences = advice(found)
    assert sentences[0].startswith(f"{sum(v == YES for v in verdicts.values())} of {len(verdicts)} pairs")
    said = " ".join(sentences)
    for words in (
        "Merge with n = 1 is Nas12*",
        "as good as flat",
        "use log S_BF",
        "first 19 trials",
        "Prediction 1",
        "Prediction 2",
    ):
        assert words in said
