"""Reports on other families than the Gaussian, on very short groups, and on what was not computed."""

from __future__ import annotations

import pathlib

import numpy as np
import pandas as pd
import pytest

from volatilis.tables import TableError

from .pages import GAUSSIAN, LEAKY, MERGE, decoded, elements, order, report, trials

NAMES = ("left", "right", "up")


def categorical() -> pd.DataFrame:
    rng = np.random.default_rng(2)
    codes, said = rng.integers(0, 3, 30), rng.integers(0, 3, 30)
    return pd.DataFrame({"subject": 1, "outcome": np.array(NAMES)[codes], "prediction": np.array(NAMES)[said]})


def test_categories_have_a_strip_each_and_their_error_is_the_probability_that_was_missing(tmp_path: pathlib.Path) -> None:
    made = report(order(tmp_path, categorical(), "categorical:k=3", [MERGE], categories=NAMES))
    strips = made.data["strips"]
    assert [(s["title"], s["category"], s["element"], s["low"], s["high"]) for s in strips] == [
        ("outcome: left", 0, 0, 0.0, 1.0), ("outcome: right", 1, 1, 0.0, 1.0), ("outcome: up", 2, 2, 0.0, 1.0),
    ]  # fmt: skip
    (group,), frame = made.data["groups"], made.result.frame
    codes = frame.outcome.map(NAMES.index).to_numpy()
    np.testing.assert_array_equal(decoded(group["outcomes"][0]), codes)
    before = frame[[f"merge_mean_{k}" for k in range(3)]].shift(1).to_numpy()[np.arange(30), codes]
    assert group["sums"]["merge"][2] == pytest.approx(np.nanmean(1.0 - before))
    assert group["person"] == pytest.approx((frame.outcome != frame.prediction).mean())


def test_many_categories_are_cut_and_it_is_said(tmp_path: pathlib.Path) -> None:
    frame = pd.DataFrame({"outcome": np.arange(40) % 20})
    made = report(order(tmp_path, frame, "categorical:k=20", [MERGE]))
    assert len(made.data["strips"]) == 12
    assert "12 of 20 categories or parameters are drawn" in made.html
    before = made.result.frame[[f"merge_mean_{k}" for k in range(20)]].shift(1).to_numpy()[np.arange(40), np.arange(40) % 20]
    assert made.data["groups"][0]["sums"]["merge"][2] == pytest.approx(np.nanmean(1.0 - before))  # of all 20


def test_vectors_have_a_strip_per_element_and_euclidean_errors(tmp_path: pathlib.Path) -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(20, 2)), columns=["a", "b"])
    frame.loc[4, "b"] = np.nan
    family = "multivariate-gaussian:covariance=[[1,0],[0,1]],mu_0=[0,0],covariance_0=[[4,0],[0,4]]"
    made = report(order(tmp_path, frame, family, [MERGE], outcome=("a", "b")))
    assert [(s["title"], s["outcome"], s["element"]) for s in made.data["strips"]] == [("a", 0, 0), ("b", 1, 1)]
    (group,), result = made.data["groups"], made.result.frame
    assert group["missing"] == 1
    apart = np.hypot(result.merge_mean_0.shift(1) - result.a, result.merge_mean_1.shift(1) - result.b)
    assert group["sums"]["merge"][2] == pytest.approx(apart.mean())


def test_a_parameter_that_is_not_the_outcomes_mean_has_its_own_strip_and_no_error(tmp_path: pathlib.Path) -> None:
    frame = pd.DataFrame({"outcome": np.random.default_rng(4).exponential(size=20)})
    made = report(order(tmp_path, frame, "exponential:shape=2,rate=1", [MERGE]))
    assert [(s["title"], s["outcome"], s["element"]) for s in made.data["strips"]] == [
        ("outcome", 0, None), ("parameter lambda", None, 0),
    ]  # fmt: skip
    assert made.data["groups"][0]["sums"]["merge"][2] is None


def test_an_unknown_variance_stands_below_the_mean(tmp_path: pathlib.Path) -> None:
    frame = pd.DataFrame({"outcome": np.random.default_rng(5).normal(size=20)})
    family = "gaussian-unknown-variance:mu_0=0,kappa_0=0.5,alpha_0=3,beta_0=1"
    made = report(order(tmp_path, frame, family, [MERGE]))
    assert [(s["title"], s["outcome"], s["element"]) for s in made.data["strips"]] == [
        ("outcome", 0, 0),
        ("parameter v", None, 1),
    ]
    error = (made.result.frame.merge_mean_0.shift(1) - made.result.frame.outcome).abs().mean()
    assert made.data["groups"][0]["sums"]["merge"][2] == pytest.approx(error)


def test_one_trial_and_nothing_but_missing(tmp_path: pathlib.Path) -> None:
    frame = pd.DataFrame({"subject": ["one", "gaps", "gaps"], "outcome": [2.0, np.nan, np.nan]})
    made = report(order(tmp_path, frame, GAUSSIAN, [MERGE]))
    one, gaps = made.data["groups"]
    assert (one["rows"], one["missing"], one["sums"]["merge"][2]) == (1, 0, None)
    assert (gaps["rows"], gaps["missing"], gaps["sums"]["merge"][:2]) == (2, 2, [0, None])
    assert np.isnan(decoded(gaps["outcomes"][0])).all()


def test_a_table_without_groups_is_one(tmp_path: pathlib.Path) -> None:
    made = report(order(tmp_path, trials(1).drop(columns="subject"), GAUSSIAN, [MERGE]))
    assert made.data["by"] == []
    assert [group["key"] for group in made.data["groups"]] == [[]]
    assert "the whole table" in made.html


def test_measures_that_were_not_computed_are_not_drawn_and_it_is_said(tmp_path: pathlib.Path) -> None:
    made = report(order(tmp_path, trials(1), GAUSSIAN, [MERGE], measures=("shannon_surprise",)))
    assert made.data["computed"] == [["merge", "shannon_surprise", 0]]
    assert "The mean was not among the measures" in made.html
    assert "The adaptation rate was not computed" in made.html


def test_a_learner_without_a_belief_has_an_estimate_only(tmp_path: pathlib.Path) -> None:
    made = report(order(tmp_path, trials(1), GAUSSIAN, [LEAKY]))
    assert [measure["name"] for measure in made.data["measures"]] == ["run_length"]


def test_a_prediction_column_that_was_asked_for_must_be_readable(tmp_path: pathlib.Path) -> None:
    frame = trials(1).assign(prediction="high")
    with pytest.raises(TableError, match="row 1, column 'prediction': 'high' is not a number"):
        report(order(tmp_path, frame, GAUSSIAN, [MERGE]), prediction=("prediction",))
    made = report(order(tmp_path, frame, GAUSSIAN, [MERGE]))  # found by its name only: left out, and said
    assert "is drawn only as far as it can be read" in made.html
    assert np.isnan(decoded(made.data["groups"][0]["predictions"][0])).all()


def test_predictions_are_as_many_as_outcomes_and_their_names_are_checked(tmp_path: pathlib.Path) -> None:
    asked = order(tmp_path, trials(1), GAUSSIAN, [MERGE])
    with pytest.raises(ValueError, match="--prediction names 2 columns, --outcome 1"):
        report(asked, prediction=("prediction", "trial"))
    with pytest.raises(TableError, match="did you mean 'prediction'"):
        report(asked, prediction=("predicted",))


def test_learners_that_look_alike_get_different_colours(tmp_path: pathlib.Path) -> None:
    from volatilis.html.trials.page import colours
    from volatilis.plots.style import look

    made = report(order(tmp_path, trials(1), GAUSSIAN, ["merge:n=20,p_c=0.1", "slow=merge:n=20,p_c=0.01", "exact:p_c=0.1"]))
    engine = made.collector.engine
    light = [pair[0] for pair in colours(engine.examples)]
    assert light[0] == look("Merge20").colour  # as in the figures
    assert light[2] == look("Exact Bayes").colour
    assert len(set(light)) == 3
    dark = [pair[1] for pair in colours(engine.examples)]
    assert all(sum(int(colour[i : i + 2], 16) for i in (1, 3, 5)) > 200 for colour in dark)
    styles = [text for name, text in elements(made.html).texts if name == "style"]
    assert all(colour in styles[0] for colour in light + dark)


def test_angles_have_an_axis_that_wraps_and_errors_the_short_way(tmp_path: pathlib.Path) -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"outcome": np.mod(rng.normal(0.0, 20.0, 40), 360.0), "prediction": rng.normal(0.0, 30.0, 40)})
    made = report(order(tmp_path, frame, "vonmises:kappa=8,period=360", ["varsmile:m=0.1"]))
    (strip,), (group,) = made.data["strips"], made.data["groups"]
    assert (strip["low"], strip["high"], strip["around"]) == (0.0, 360.0, 360.0)
    result = made.result.frame
    np.testing.assert_allclose(decoded(group["predictions"][0]), np.mod(frame.prediction, 360.0), rtol=1e-6)
    short = np.abs((frame.outcome - frame.prediction + 180.0) % 360.0 - 180.0)
    assert group["person"] == pytest.approx(short.mean())
    before = np.abs((frame.outcome - result.varsmile_mean.shift(1) + 180.0) % 360.0 - 180.0)
    assert group["sums"]["varsmile"][2] == pytest.approx(before.mean())
    assert before.mean() < 60.0
