"""Tables of very many small groups: they share their native calls, and have the same numbers as each alone."""

from __future__ import annotations

import pathlib
import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import volatilis as vl
from volatilis import catalogue, trials
from volatilis._core.seeds import named_seed
from volatilis.tables import TableError, reading
from volatilis.trials import RunRequest, sessions
from volatilis.trials.groups import split

LEARNERS = ("merge:n=3,p_c=0.1", "varsmile:m=0.1", "pf:n=7,p_c=0.1", "sor:n=4,p_c=0.1", "mp:n=4,p_c=0.1", "leaky:omega=0.9")
GROUPS = 150


def table(interleaved: bool = False) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    lengths = rng.integers(1, 9, GROUPS)
    subject = np.repeat(np.arange(GROUPS), lengths)
    trial = np.concatenate([np.arange(length) for length in lengths])
    outcome = np.where(rng.random(len(subject)) < 0.1, np.nan, rng.normal(0.0, 3.0, len(subject)))
    frame = pd.DataFrame({"subject": subject, "trial": trial, "outcome": outcome, "start": (rng.random(len(subject)) < 0.2) * 1})
    return frame.sort_values("trial", kind="stable", ignore_index=True) if interleaved else frame


def order(path: pathlib.Path, learners: tuple[str, ...] = LEARNERS, **more: Any) -> RunRequest:
    return RunRequest(
        path, catalogue.parse_family("gaussian:sigma=1,sigma_0=3"), tuple(catalogue.parse_learners(learners)), **more
    )


def saved(frame: pd.DataFrame, folder: pathlib.Path) -> pathlib.Path:
    frame.to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("rows", [200, 10_000])
def test_each_is_as_if_alone(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, interleaved: bool, rows: int) -> None:
    """Resets, gaps, batches that cut groups, learners that sample: bit for bit what `run` gives."""
    monkeypatch.setattr(reading, "ROWS", rows)
    frame = table(interleaved)
    asked = order(saved(frame, tmp_path), missing="elapse", reset="start", seed=4)
    alone: list[int] = []
    monkeypatch.setattr(sessions.Register, "_begin_alone", lambda self, group, number: alone.append(number))
    monkeypatch.setattr(sessions, "MANY", 1)
    result = trials.compute(asked)
    assert not alone
    assert result.summary.groups == GROUPS
    for subject in (0, 1, 77, GROUPS - 1):
        own, found = frame[frame.subject == subject], result.frame[result.frame.subject == subject]
        for label in ("merge", "varsmile", "particle_filter", "stratified_resampling", "message_passing", "leaky"):
            seed = named_seed(4, (str(subject),))
            learner = result.learners[label, (str(subject),)]
            trace = vl.run(learner, own.outcome.to_numpy(), seed=seed, reset=own.start.to_numpy() == 1, missing="elapse")
            for column in (c for c in result.columns if c.label == label):
                np.testing.assert_array_equal(found[column.name], getattr(trace, column.measure), err_msg=column.name)


@pytest.mark.parametrize(
    ("family", "learner"),
    [("categorical:k=3", "varsmile:m=0.1"), ("bernoulli", "merge:n=2,p_c=0.1"), ("poisson:shape=2,rate=1", "smile:m=0.1")],
)
def test_families(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, family: str, learner: str) -> None:
    frame = table().drop(columns="start")
    frame["outcome"] = np.random.default_rng(2).integers(0, 2, len(frame))
    recipes = tuple(catalogue.parse_learners([learner]))
    asked = RunRequest(saved(frame, tmp_path), catalogue.parse_family(family), recipes, measures=("all",))
    together = trials.compute(asked).frame
    monkeypatch.setattr(sessions, "FEW", 0)
    pd.testing.assert_frame_equal(together, trials.compute(asked).frame, check_exact=True)


def test_workers_change_nothing(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "TOGETHER", 70)  # three shares
    asked = order(saved(table(), tmp_path), missing="skip")
    one, two = trials.compute(asked._replace(workers=1)).frame, trials.compute(asked._replace(workers=4)).frame
    pd.testing.assert_frame_equal(one, two, check_exact=True)
    monkeypatch.setattr(sessions, "FEW", 0)
    pd.testing.assert_frame_equal(one, trials.compute(asked).frame, check_exact=True)


def test_parameters_of_their_own(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups share with those that have the same parameters."""
    monkeypatch.setattr(sessions, "MANY", 2)
    frame = table().dropna(ignore_index=True)
    frame["noise"] = 1.0 + frame.subject % 3
    recipes = tuple(catalogue.parse_learners(["merge:n=3,p_c=0.1"]))
    asked = RunRequest(saved(frame, tmp_path), catalogue.parse_family("gaussian:sigma=column:noise,sigma_0=3"), recipes)
    result = trials.compute(asked)
    for subject in (3, 4, 5):
        own = frame[frame.subject == subject]
        learner = vl.Merge(vl.Gaussian(1.0 + subject % 3, 0.0, 3.0), 0.1, 3)
        assert result.learners["merge", (str(subject),)] == learner
        found = result.frame.merge_mean[result.frame.subject == subject]
        np.testing.assert_array_equal(found, vl.run(learner, own.outcome.to_numpy()).mean)


def test_the_first_mistake_is_said(tmp_path: pathlib.Path) -> None:
    frame = table().dropna(ignore_index=True)
    frame["outcome"] = frame.outcome.astype(object)
    frame.loc[[400, 123], "outcome"] = "inf"
    path = saved(frame, tmp_path)
    with pytest.raises(TableError, match=r"row 124, column 'outcome'"):
        trials.compute(order(path))
    frame = table()
    frame.loc[300, "trial"] = -1
    with pytest.raises(TableError, match=r"row 301: trial -1 of subject=\d+ comes after trial \d in row 300"):
        trials.compute(order(saved(frame, tmp_path), missing="skip"))


def test_only_combinations_that_there_are() -> None:
    """Two columns with thousands of names each have millions of combinations, of which a batch holds few."""
    count = 3000
    names = pa.array([f"n{i}" for i in range(count)])
    batch = pa.RecordBatch.from_arrays([names, names, pa.array(["x", "y"] * (count // 2))], ["a", "b", "c"])
    tracemalloc.start()
    groups = split(batch, ("a", "b", "c"), "t.csv", 1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [group.key for group in groups[:2]] == [("n0", "n0", "x"), ("n1", "n1", "y")]
    assert len(groups) == count
    assert peak < 20e6


def test_mixed_groups_come_in_the_order_of_their_first_rows() -> None:
    a, b = ["y", "x", "y", "z", "x"], ["1", "2", "1", "1", "1"]
    batch = pa.RecordBatch.from_arrays([pa.array(a), pa.array(b)], ["a", "b"])
    found = {group.key: list(group.rows) for group in split(batch, ("a", "b"), "t.csv", 1)}
    assert list(found.items()) == [(("y", "1"), [0, 2]), (("x", "2"), [1]), (("z", "1"), [3]), (("x", "1"), [4])]
