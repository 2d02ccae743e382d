"""Learners over tables: the numbers of `run` on each group alone, however the rows come; mistakes are said with their row."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pandas as pd
import pytest

import volatilis as vl
from tests.helpers.tables import read_table
from volatilis import catalogue, trials
from volatilis.tables import TableError, reading
from volatilis.trials import RunRequest
from volatilis.trials.sequences import read_sequences

FAMILY = vl.Gaussian(1.0, 0.0, 3.0)
LEARNERS = ("merge:n=5,p_c=0.1", "varsmile:m=0.1", "pf:n=7,p_c=0.1", "leaky:omega=0.9", "exact:p_c=0.1")


def table(groups: int = 5, length: int = 60, interleaved: bool = False) -> pd.DataFrame:
    parts = []
    for g in range(groups):
        y, _, changed = vl.ChangingEnvironment(FAMILY, 0.1).sample(length + g, seed=g)
        parts.append(pd.DataFrame({"subject": f"s{g}", "trial": np.arange(length + g), "outcome": y, "change": changed}))
    frame = pd.concat(parts, ignore_index=True)
    return frame.sort_values("trial", kind="stable", ignore_index=True) if interleaved else frame


def order(path: Any, learners: tuple[str, ...] = LEARNERS, family: str = "gaussian:sigma=1,sigma_0=3", **more: Any) -> RunRequest:
    return RunRequest(path, catalogue.parse_family(family), tuple(catalogue.parse_learners(learners)), **more)


def saved(frame: pd.DataFrame, path: pathlib.Path) -> pathlib.Path:
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",", na_rep="n/a")
    return path


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("rows", [7, 100, 10_000])
def test_each_group_is_as_if_alone(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, interleaved: bool, rows: int) -> None:
    """Batches of any size, groups one after the other or mixed: bit for bit what `run` gives."""
    monkeypatch.setattr(reading, "ROWS", rows)
    frame = table(interleaved=interleaved)
    result = trials.compute(order(saved(frame, tmp_path / "t.parquet"), measures=("all",)))
    pd.testing.assert_frame_equal(result.frame[list(frame.columns)], frame, check_dtype=False)
    assert result.summary.rows == len(frame)
    assert result.summary.groups == 5
    for subject, group in result.frame.groupby("subject"):
        y = frame.outcome[frame.subject == subject].to_numpy()
        for label in ("merge", "varsmile", "leaky", "exact_bayes"):
            learner = result.learners[label, (subject,)]
            trace = vl.run(learner, y)
            own = [column for column in result.columns if column.label == label]
            assert {column.measure for column in own} >= {"mean", "run_length"}
            for column in own:
                np.testing.assert_array_equal(group[column.name], getattr(trace, column.measure), err_msg=column.name)
    assert {c.measure for c in result.columns if c.label == "merge"} == set(trials.MEASURES) - {
        "outlier_probability",
        "change_probability",
    }
    assert {c.measure for c in result.columns if c.label == "leaky"} == {"mean", "run_length"}


def test_workers_order_and_company_change_nothing(tmp_path: pathlib.Path) -> None:
    """A sampling learner too: a group's random numbers depend on the seed and the group's name alone."""
    frame, mixed = table(), table(interleaved=True)
    path = saved(frame, tmp_path / "t.parquet")
    one = trials.compute(order(path, workers=1)).frame
    pd.testing.assert_frame_equal(one, trials.compute(order(path, workers=3)).frame)
    other = trials.compute(order(saved(mixed, tmp_path / "m.parquet"))).frame
    pd.testing.assert_frame_equal(other.sort_values(["subject", "trial"], ignore_index=True), one)
    alone = trials.compute(order(saved(frame[frame.subject == "s2"], tmp_path / "a.parquet"))).frame
    pd.testing.assert_frame_equal(alone, one[one.subject == "s2"].reset_index(drop=True))
    seeded = trials.compute(order(path, seed=1)).frame
    assert not np.array_equal(seeded.particle_filter_mean, one.particle_filter_mean)
    np.testing.assert_array_equal(seeded.merge_mean, one.merge_mean)


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl", "csv.gz"])
def test_files_hold_what_memory_holds(tmp_path: pathlib.Path, ending: str) -> None:
    frame = table(2, 30)
    path = saved(frame, tmp_path / "t.tsv")
    summary = trials.run_table(order(path), tmp_path / f"o.{ending}")
    expected = trials.compute(order(path)).frame
    reader = {"parquet": pd.read_parquet, "jsonl": lambda p: pd.read_json(p, lines=True)}
    read = reader.get(ending, read_table)
    pd.testing.assert_frame_equal(read(tmp_path / f"o.{ending}"), expected, check_dtype=False, check_exact=ending != "jsonl")
    assert summary.rows == len(frame)


def test_parameters_in_a_column(tmp_path: pathlib.Path) -> None:
    frame = table(4).assign(noise=lambda f: f.subject.map({"s0": 1, "s1": 2, "s2": 0.5, "s3": 1}), n=3)
    path = saved(frame, tmp_path / "t.csv")
    found = order(path, ("merge:n=column:n,p_c=0.1",), "gaussian:sigma=column:noise,sigma_0=3", measures=("mean",))
    result = trials.compute(found)
    for subject, sigma in (("s1", 2.0), ("s2", 0.5)):
        learner = vl.Merge(vl.Gaussian(sigma, 0.0, 3.0), 0.1, 3)
        assert result.learners["merge", (subject,)] == learner
        y = frame.outcome[frame.subject == subject].to_numpy()
        np.testing.assert_array_equal(result.frame.merge_mean[frame.subject == subject], vl.run(learner, y).mean)
    frame.loc[100, "noise"] = 7
    with pytest.raises(TableError, match=r"row 101, column 'noise' is 7.*, but 2.* in row 61 .*subject=s1.*--by subject,noise"):
        trials.compute(found._replace(table=saved(frame, tmp_path / "u.csv")))
    frame["noise"] = frame["noise"].astype(object)
    frame.loc[60, "noise"] = "loud"
    with pytest.raises(
        TableError, match="row 61, column 'noise': 'loud' is not a number; this column holds a learner's parameter"
    ):
        trials.compute(found._replace(table=saved(frame, tmp_path / "u.csv")))


def test_blocks_and_gaps(tmp_path: pathlib.Path) -> None:
    frame = table(3)
    frame["new"] = (frame.trial % 20 == 0).astype(int)
    frame.loc[[5, 30, 31, 100], "outcome"] = np.nan
    path = saved(frame, tmp_path / "t.tsv")
    for missing in ("elapse", "skip"):
        result = trials.compute(order(path, reset="new", missing=missing))
        assert result.summary.missing_outcomes == 4
        for subject, group in result.frame.groupby("subject"):
            trace = vl.run(vl.Merge(FAMILY, 0.1, 5), group.outcome, reset=group.new == 1, missing=missing)
            np.testing.assert_array_equal(group.merge_mean, trace.mean)
            np.testing.assert_array_equal(group.merge_shannon_surprise, trace.shannon_surprise, err_msg=str(subject))
    with pytest.raises(TableError, match=r"row 6, column 'outcome': the outcome is missing; --missing elapse"):
        trials.compute(order(path, reset="new"))


def test_categories(tmp_path: pathlib.Path) -> None:
    words = np.array(["left", "right", "up"])
    codes = np.random.default_rng(0).integers(0, 3, 50)
    path = saved(pd.DataFrame({"outcome": words[codes]}), tmp_path / "t.csv")
    asked = order(path, ("merge:n=4,p_c=0.1",), "categorical:k=3", categories=("left", "right", "up"))
    result = trials.compute(asked)
    trace = vl.run(vl.Merge(vl.Categorical(3), 0.1, 4), codes)
    for k in range(3):
        np.testing.assert_array_equal(result.frame[f"merge_mean_{k}"], trace.mean[:, k])
    with pytest.raises(
        TableError, match=rf"row {np.argmax(codes == 2) + 1}, .*'up' is not one of the categories: 'left', 'right'"
    ):
        trials.compute(asked._replace(categories=("left", "right"), family=catalogue.parse_family("categorical:k=2")))
    with pytest.raises(ValueError, match="--categories names 3 categories, but the family has 4"):
        trials.compute(asked._replace(family=catalogue.parse_family("categorical:k=4")))
    with pytest.raises(TableError, match="is not a number; name the categories with --categories"):
        trials.compute(asked._replace(categories=()))


def test_vectors(tmp_path: pathlib.Path) -> None:
    y = np.random.default_rng(0).normal(size=(40, 2))
    path = saved(pd.DataFrame({"x": y[:, 0], "z": y[:, 1]}), tmp_path / "t.parquet")
    family = "multivariate-gaussian:covariance=[[1,0],[0,1]],mu_0=[0,0],covariance_0=[[4,0],[0,4]]"
    asked = order(path, ("merge:n=3,p_c=0.1",), family, outcome=("x", "z"))
    result = trials.compute(asked)
    learner = vl.Merge(vl.MultivariateGaussian(np.eye(2), [0, 0], 4 * np.eye(2)), 0.1, 3)
    np.testing.assert_array_equal(result.frame.merge_mean_1, vl.run(learner, y).mean[:, 1])
    with pytest.raises(ValueError, match=r"an observation of this family has 2 numbers; --outcome names 1 column"):
        trials.compute(asked._replace(outcome=("x",)))
    with pytest.raises(ValueError, match=r"an observation of this family has 1 number; --outcome names 2 columns"):
        trials.compute(asked._replace(family=catalogue.parse_family("gaussian:sigma=1")))


@pytest.mark.parametrize(
    ("family", "outcomes", "row", "words"),
    [
        ("categorical:k=3", [0, 1, 2, 1, 3, 0], 5, "category from 0 to 2"),
        ("bernoulli", [0, 1, 0.5], 3, "0 or 1"),
        ("poisson:shape=1,rate=1", [3, 0, -1], 3, "whole number"),
        ("exponential:shape=1,rate=1", [1.5, -0.25, 3], 2, "above 0|0 or more|not negative|positive"),
        ("gaussian:sigma=1", [1, 2, 3, np.inf], 4, "finite number"),
    ],
)
def test_an_outcome_that_the_family_does_not_have(
    tmp_path: pathlib.Path, family: str, outcomes: list[float], row: int, words: str
) -> None:
    path = saved(pd.DataFrame({"outcome": outcomes}), tmp_path / "t.parquet")
    with pytest.raises(TableError, match=rf"t\.parquet: row {row}, column 'outcome': .*({words})"):
        trials.compute(order(path, ("merge:n=2,p_c=0.1",), family))


def test_the_order_of_trials(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = table(2, 10)
    asked = order(tmp_path / "t.csv", ("varsmile:m=0.1",))
    swapped = frame.iloc[[0, 1, 3, 2, *range(4, len(frame))]]
    saved(swapped, tmp_path / "t.csv")
    with pytest.raises(TableError, match=r"row 4: trial 2 of subject=s0 comes after trial 3 in row 3.*sort the table"):
        trials.compute(asked)
    assert trials.compute(asked._replace(trial="none")).summary.rows == len(frame)
    saved(pd.concat([frame, frame.iloc[[9]]]), tmp_path / "t.csv")
    for rows in (5, 1000):  # the same in one batch and over several
        monkeypatch.setattr(reading, "ROWS", rows)
        with pytest.raises(TableError, match=r"rows 10 and 22 are both trial 9 of subject=s0"):
            trials.compute(asked)
    saved(frame.assign(trial=[np.nan, *range(1, len(frame))]), tmp_path / "t.csv")
    with pytest.raises(TableError, match="row 1, column 'trial' is missing; --trial none"):
        trials.compute(asked)


def test_groups_need_a_name(tmp_path: pathlib.Path) -> None:
    frame = table(2, 10)
    frame.loc[13, "subject"] = None
    with pytest.raises(TableError, match="row 14, column 'subject' is missing"):
        trials.compute(order(saved(frame, tmp_path / "t.csv")))


def test_numbers_as_names_of_groups(tmp_path: pathlib.Path) -> None:
    """3 in a CSV, 3 as a whole number and 3.0 are the same subject: the same random numbers."""
    frame = table(1, 20)
    asked = order(tmp_path / "t.parquet", ("pf:n=5,p_c=0.1",))
    found = []
    for subject in ("3", 3, 3.0):
        saved(frame.assign(subject=subject), tmp_path / "t.parquet")
        found.append(trials.compute(asked).frame.particle_filter_mean)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_mistakes_in_the_order(tmp_path: pathlib.Path) -> None:
    path = saved(table(1, 10), tmp_path / "t.csv")
    for change, message in (
        ({"outcome": ("outcme",)}, r"no column 'outcme' \(the outcome\).*did you mean 'outcome'"),
        ({"by": ("subjects",)}, r"no column 'subjects' \(a group\).*did you mean 'subject'"),
        ({"reset": "blok"}, r"no column 'blok' \(where learners start anew\)"),
        ({"missing": "ignore"}, "missing = 'ignore' is not accepted"),
        ({"measures": ("surprise",)}, "there is no measure 'surprise'; accepted are mean, "),
        ({"learners": ()}, "no learner is given"),
        ({"workers": 0}, "workers = 0 is not accepted"),
        ({"measures": ("variance",), "learners": tuple(catalogue.parse_learners(["leaky:omega=0.5"]))}, "none of the learners"),
    ):
        with pytest.raises(ValueError, match=message):
            trials.compute(order(path)._replace(**change))
    saved(pd.DataFrame({"outcome": [1.0], "merge_mean": [2.0]}), tmp_path / "u.csv")
    with pytest.raises(ValueError, match="already has a column 'merge_mean'; give the learner another label"):
        trials.compute(order(tmp_path / "u.csv"))
    (tmp_path / "e.csv").write_text("outcome\n")
    with pytest.raises(ValueError, match="has a header but no rows"):
        trials.compute(order(tmp_path / "e.csv"))


def test_a_failed_run_leaves_no_file(tmp_path: pathlib.Path) -> None:
    frame = table(1, 20)
    frame["outcome"] = frame["outcome"].astype(object)
    frame.loc[15, "outcome"] = "oops"
    path = saved(frame, tmp_path / "t.csv")
    (tmp_path / "o.csv").write_text("what was there before")
    with pytest.raises(TableError, match="row 16, column 'outcome': 'oops' is not a number"):
        trials.run_table(order(path), tmp_path / "o.csv")
    assert (tmp_path / "o.csv").read_text() == "what was there before"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["o.csv", "t.csv"]


def test_a_table_is_not_written_over_itself(tmp_path: pathlib.Path) -> None:
    path = saved(table(2, 30), tmp_path / "t.csv")
    before = path.read_bytes()
    (tmp_path / "link.csv").symlink_to(path)
    for out in (path, tmp_path / "link.csv"):
        with pytest.raises(ValueError, match="is the input table; give --out another name"):
            trials.run_table(order(path), out)
    assert path.read_bytes() == before


def test_blocks_and_sessions_begin_in_every_command(tmp_path: pathlib.Path) -> None:
    """Columns called session and block tell where learners start anew, beside --by too; a label may come again."""
    rng = np.random.default_rng(4)
    rows = [
        {"subject": who, "session": day, "block": label, "outcome": round(float(level + rng.normal()), 3)}
        for who in "ab"
        for day in (1, 2)
        for label in "ABA"
        for level in [10.0 * rng.normal()]
        for _ in range(10)
    ]
    frame = pd.DataFrame(rows)
    frame["new"] = np.arange(len(frame)) % 10 == 0
    frame.to_csv(tmp_path / "t.csv", index=False)

    def means(**request: Any) -> np.ndarray:
        table = order(tmp_path / "t.csv", ("merge:n=5,p_c=0.1",), measures=("mean",), **request)
        trials.run_table(table, tmp_path / "o.csv")
        return read_table(tmp_path / "o.csv")["merge_mean"].to_numpy()

    expected = means(by=("subject",), reset="new")  # written as True and False
    named = (("block", "session,block"),)
    for request in ({}, {"by": ("subject",)}, {"by": ("subject", "session")}, {"by": ("subject",), "named": named}):
        np.testing.assert_array_equal(means(**request), expected)
    assert not np.array_equal(means(by=("subject",), named=(("block", "none"),)), expected)
    sequences = read_sequences(order(tmp_path / "t.csv", by=("subject",)))
    assert [(1 + np.flatnonzero(one.resets[1:])).tolist() for one in sequences] == [[10, 20, 30, 40, 50]] * 2
