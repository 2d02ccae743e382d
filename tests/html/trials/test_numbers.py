"""The numbers in a report are those of the run, and its sums are what they are said to be."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pandas as pd
import pytest

import volatilis as vl
from volatilis.html.trials.groups import encoded
from volatilis.tables import reading

from .pages import GAUSSIAN, LEAKY, MERGE, VARSMILE, Report, decoded, order, report, trials


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return report(order(tmp_path_factory.mktemp("made"), trials(), GAUSSIAN, [MERGE, VARSMILE, LEAKY], reset="start"))


def group_of(made: Report, i: int) -> tuple[dict[str, Any], pd.DataFrame]:
    group = made.data["groups"][i]
    return group, made.result.frame[made.result.frame.subject == group["key"][0]]


def close(found: np.ndarray, expected: Any) -> None:
    """Within the precision that the report promises: a millionth of the range."""
    expected = np.asarray(expected, dtype=float)
    size = np.nanmax(expected) - np.nanmin(expected)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * (size or abs(expected[0])))


def test_every_group_has_its_rows_and_what_was_computed(made: Report) -> None:
    assert [group["key"] for group in made.data["groups"]] == [["s0"], ["s1"], ["s2"]]
    for i in range(3):
        group, frame = group_of(made, i)
        np.testing.assert_array_equal(decoded(group["trial"]), frame.trial)
        close(decoded(group["outcomes"][0]), frame.outcome)
        close(decoded(group["predictions"][0]), frame.prediction)
        for (label, measure, _), array in zip(made.data["computed"], group["computed"], strict=True):
            close(decoded(array), frame[f"{label}_{measure}"])
        assert group["resets"] == [0, 20]


def test_what_is_drawn_is_computed_for_every_learner_that_defines_it(made: Report) -> None:
    have = {label: {name for owner, name, _ in made.data["computed"] if owner == label} for label in made.data["labels"]}
    assert have["leaky"] == {"mean", "run_length"}
    assert {"mean", "variance", "log_bayes_factor_surprise", "shannon_surprise", "adaptation_rate"} <= have["merge"]
    assert "bayesian_surprise" in have["varsmile"]


def test_the_sums_are_what_they_are_said_to_be(made: Report) -> None:
    for i in range(3):
        group, frame = group_of(made, i)
        assert (group["rows"], group["missing"]) == (40, int(frame.outcome.isna().sum()))
        assert group["person"] == pytest.approx((frame.prediction - frame.outcome).abs().mean())
        for label in made.data["labels"]:
            changes, shannon, error = group["sums"][label]
            before = frame[f"{label}_mean"].shift(1).mask(frame.start == 1)
            assert error == pytest.approx((before - frame.outcome).abs().mean())
            if label == "leaky":
                assert (changes, shannon) == (None, None)
            else:
                p_c = 0.1 if label == "merge" else 0.1 / 1.1
                looked = vl.changes(
                    frame.outcome.to_numpy(),
                    vl.ExactBayes(vl.Gaussian(1.0, 0.0, 4.0), p_c),
                    reset=frame.start == 1,
                    missing="elapse",
                )
                assert changes == len(looked.points)
                (own,) = [entry for entry in group["changes"] if label in entry["labels"]]
                close(decoded(own["probability"]), looked.probability)
                assert [row[:4] for row in own["found"]] == [[c.position, c.earliest, c.low, c.high] for c in looked.found]
                np.testing.assert_allclose([row[4] for row in own["found"]], [c.probability for c in looked.found])
                assert shannon == pytest.approx(frame[f"{label}_shannon_surprise"].mean())
    assert sum(group["sums"]["merge"][0] for group in made.data["groups"]) > 0


def test_the_table_has_the_sums(made: Report) -> None:
    for group in made.data["groups"]:
        assert f'data-value="{group["sums"]["merge"][1]!r}"' in made.html


def test_batches_and_interleaved_groups_change_nothing(made: Report, tmp_path: pathlib.Path, monkeypatch: Any) -> None:
    frame = trials().sort_values(["trial", "subject"])
    monkeypatch.setattr(reading, "ROWS", 7)
    again = report(order(tmp_path, frame, GAUSSIAN, [MERGE, VARSMILE, LEAKY], reset="start"))
    assert [dict(group, sums=0, person=0) for group in again.data["groups"]] == [
        dict(group, sums=0, person=0) for group in made.data["groups"]
    ]
    for one, other in zip(again.data["groups"], made.data["groups"], strict=True):
        for label in made.data["labels"]:
            assert one["sums"][label] == pytest.approx(other["sums"][label])


def test_a_report_changes_nothing_in_the_table(made: Report, tmp_path: pathlib.Path) -> None:
    from volatilis.trials import compute

    alone = compute(order(tmp_path, trials(), GAUSSIAN, [MERGE, VARSMILE, LEAKY], reset="start"))
    pd.testing.assert_frame_equal(alone.frame, made.result.frame)


def test_without_a_trial_column_trials_are_counted(tmp_path: pathlib.Path) -> None:
    made = report(order(tmp_path, trials(2).drop(columns="trial"), GAUSSIAN, [MERGE]))
    assert [group["trial"] for group in made.data["groups"]] == [{"first": 1.0, "count": 40}] * 2


def test_trials_with_gaps_keep_their_numbers(tmp_path: pathlib.Path) -> None:
    frame = trials(1).drop(index=[3, 4, 17])
    made = report(order(tmp_path, frame, GAUSSIAN, [MERGE]))
    np.testing.assert_array_equal(decoded(made.data["groups"][0]["trial"]), frame.trial)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1.0, 2.5, np.nan], "f4"),
        ([0.1, 0.2, 0.3], "f4"),
        ([1e9 + 0.001, 1e9 + 0.002], "f8"),  # single precision would not tell them apart
        ([1e300, -1e300], "f8"),
        ([1e308, -1.7e308], "f8"),
        ([np.inf, 1.0, -np.inf], "f4"),
        ([np.nan, np.nan], "f4"),
        ([0.0], "f4"),
        ([], "f4"),
    ],
)
def test_single_precision_only_where_it_is_enough(values: list[float], kind: str) -> None:
    array = encoded(np.array(values))
    assert array["type"] == kind
    found, expected = decoded(array), np.array(values)
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(expected))
    np.testing.assert_allclose(found, expected, rtol=1e-7)
