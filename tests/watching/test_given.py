"""Lines with contexts: `watch --given` is `run --given`, bit for bit, over restarts, keys and gaps."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest

from tests.watching.command import rows, watch, watched
from volatilis.catalogue import parse_family, parse_learners
from volatilis.trials.run import RunRequest, compute

GAUSSIAN = "gaussian:sigma=1,mu_0=0,sigma_0=5"
COUNT = 300


def table(seed: int, missing: bool = False) -> dict[str, list[Any]]:
    """Cues 0 and 1 with levels that jump; two sensors; regressors; 0 and 1; outliers."""
    rng = np.random.default_rng(seed)
    cue = rng.integers(0, 2, COUNT)
    level = np.repeat(rng.normal(0.0, 5.0, (COUNT // 50, 2)), 50, axis=0)[np.arange(COUNT), cue]
    values = np.round(level + rng.normal(size=COUNT), 3)
    columns: dict[str, list[Any]] = {"cue": cue.tolist(), "name": [("a", "b")[c] for c in cue], "x": values.tolist()}
    columns["sensor"] = [f"s{k}" for k in rng.integers(0, 2, COUNT)]
    columns["side"] = np.round(rng.normal(size=COUNT), 3).tolist()
    columns["hit"] = (rng.random(COUNT) < 0.5).astype(int).tolist()
    if missing:
        for t in range(7, COUNT, 11):
            columns["x"][t] = None
    return columns


def lines_of(columns: dict[str, list[Any]]) -> list[str]:
    return [json.dumps(dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)]


def by_run(folder: pathlib.Path, lines: list[str], family: str, learner: str, **options: Any) -> Any:
    path = folder / "trials.jsonl"
    path.write_text("\n".join(lines) + "\n")
    measures = tuple(options.pop("measures", ("mean", "variance", "bayes_factor_surprise", "adaptation_rate", "run_length")))
    request = RunRequest(str(path), parse_family(family), parse_learners([f"it={learner}"]), measures=measures, **options)
    return compute(request._replace(workers=1)).frame


def assert_same(ours: list[dict[str, Any]], frame: Any) -> None:
    compared = 0
    for name in frame.columns:
        if name.startswith("it_"):
            mine = np.array([row[name.removeprefix("it_")] for row in ours], dtype=float)
            np.testing.assert_array_equal(mine, frame[name].to_numpy(dtype=float), err_msg=name)
            compared += 1
    assert compared >= 5


MODELS = {
    "given": (f"given:{GAUSSIAN};contexts=2", "merge:n=5,p_c=0.02", ("cue",)),
    "per-context": (GAUSSIAN, "per-context:merge:n=5,p_c=0.02;contexts=2", ("cue",)),
    "regression": ("linear-regression:p=2", "varsmile:m=0.02", ("side", "cue")),
}


@pytest.mark.parametrize("model", MODELS)
def test_watch_is_run(model: str, tmp_path: pathlib.Path) -> None:
    family, learner, given = MODELS[model]
    lines = lines_of(table(1, missing=True))
    frame = by_run(tmp_path, lines, family, learner, outcome=("x",), given=given, missing="elapse", by=("sensor",))
    ours = watched(tmp_path, lines, learner, family, value=("x",), given=given, missing="elapse", key=("sensor",))
    assert_same(ours.rows, frame)
    assert [row[given[0]] for row in ours.rows] == frame[given[0]].tolist()


@pytest.mark.parametrize(
    ("family", "column"),
    [("transitions:k=2,s=1", "hit"), ("ar:order=1", "x"), (f"contaminated:{GAUSSIAN};p_o=0.05", "x")],
)
def test_worlds_without_a_field_for_the_context(family: str, column: str, tmp_path: pathlib.Path) -> None:
    """What came before is the context of a chain; outliers have a column of their own."""
    lines, learner = lines_of(table(2)), "merge:n=5,p_c=0.02"
    chosen = ("mean", "variance", "bayes_factor_surprise", "adaptation_rate", "run_length")
    measures = (*chosen, "outlier_probability") if "contaminated" in family else chosen
    frame = by_run(tmp_path, lines, family, learner, outcome=(column,), by=("sensor",), measures=measures)
    ours = watched(tmp_path, lines, learner, family, value=(column,), key=("sensor",)).rows
    assert_same(ours, frame)
    assert ("outlier_probability" in ours[0]) == ("contaminated" in family)


def test_a_restart_goes_on_bit_for_bit(tmp_path: pathlib.Path) -> None:
    family, learner, given = MODELS["per-context"]
    lines = lines_of(table(3))
    options: dict[str, Any] = {"value": ("x",), "given": given, "key": ("sensor",)}
    whole = watched(tmp_path, lines, learner, family, **options)
    state = str(tmp_path / "state")
    (tmp_path / "out").unlink()
    for end in (1, 120, COUNT):
        parts = watched(tmp_path, lines[:end], learner, family, state=state, **options)
    assert parts.rows == whole.rows
    with pytest.raises(ValueError, match="made with another given: cue, now hit"):
        watched(tmp_path, lines, learner, family, state=state, **(options | {"given": ("hit",)}))


def test_gaps_in_time_are_missing_rows(tmp_path: pathlib.Path) -> None:
    """A line 5 intervals after the one before is as 4 rows without an observation and without a context."""
    family, learner, given = MODELS["per-context"]
    columns = table(4)
    steps = np.cumsum(np.where(np.arange(COUNT) % 30 == 29, 5, 1)) - 1
    lines = lines_of(columns | {"time": (60 * steps).tolist()})
    ours = watched(tmp_path, lines, learner, family, value=("x",), given=given, time="time", interval="60s").rows
    full: dict[str, list[Any]] = {name: [None] * (int(steps[-1]) + 1) for name in ("x", "cue")}
    for name, values in full.items():
        for step, value in zip(steps.tolist(), columns[name], strict=True):
            values[step] = value
    frame = by_run(tmp_path, lines_of(full), family, learner, outcome=("x",), given=given, missing="elapse")
    assert_same(ours, frame.iloc[steps])


def test_names_of_contexts_in_csv(tmp_path: pathlib.Path) -> None:
    family, learner, _ = MODELS["given"]
    columns = table(5)
    numbers = watched(tmp_path, lines_of(columns), learner, family, value=("x",), given=("cue",)).rows
    csv = ["name,x", *(f"{name},{x}" for name, x in zip(columns["name"], columns["x"], strict=True))]
    texts = watched(tmp_path, csv, learner, family, value=("x",), given=("name",), contexts=("a", "b")).rows
    assert [row.pop("name") for row in texts] == columns["name"]
    assert [{**row, "line": row["line"] - 1} for row in texts] == [{k: v for k, v in r.items() if k != "cue"} for r in numbers]


def test_feedback_from_all_arms(tmp_path: pathlib.Path) -> None:
    """A field for each context, null where there is none; no --given."""
    family, learner, _ = MODELS["given"]
    columns = table(6)
    arms = {f"arm{k}": [x if cue == k else None for x, cue in zip(columns["x"], columns["cue"], strict=True)] for k in (0, 1)}
    frame = by_run(tmp_path, lines_of(arms), family, learner, outcome=("arm0", "arm1"))
    ours = watched(tmp_path, lines_of(arms), learner, family, value=("arm0", "arm1")).rows
    assert_same(ours, frame)
    assert [row["arm0"] for row in ours] == arms["arm0"]


def test_bad_contexts_are_bad_lines(tmp_path: pathlib.Path) -> None:
    family, learner, given = MODELS["given"]
    lines = [
        '{"cue": 0, "x": 1.0}',
        '{"cue": 2, "x": 1.0}',
        '{"cue": null, "x": 1.0}',
        '{"x": 1.0}',
        '{"cue": "left", "x": 1.0}',
        '{"cue": null, "x": null}',
        '{"cue": "1", "x": 2.0}',
    ]
    done = watched(tmp_path, lines, learner, family, value=("x",), given=given, missing="elapse", bad_lines="report")
    assert [row["line"] for row in done.rows] == [1, 6, 7]
    assert done.summary.bad_lines == 4
    words = ["the context 'cue' is 2; it must be", "the context 'cue' is missing", "no field 'cue'", "--contexts where they are"]
    for report, expected in zip(done.reports, words, strict=True):
        assert expected in report


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"given": ("cue",), "family": GAUSSIAN}, "--given has no effect"),
        ({"given": ("cue", "side")}, "the context has 1 number; --given names 2 fields"),
        ({}, "this model has contexts; name their field with --given"),
        ({"contexts": ("a", "b")}, "this model has contexts"),
    ],
)
def test_refused(options: dict[str, Any], words: str, tmp_path: pathlib.Path) -> None:
    family, learner, _ = MODELS["given"]
    with pytest.raises(ValueError, match=words):
        watched(tmp_path, ['{"cue": 0, "x": 1.0}'], learner, **({"family": family, "value": ("x",)} | options))


def test_the_command() -> None:
    family, learner, _ = MODELS["given"]
    options = ["--family", family, "--learner", learner, "--value", "x", "--given", "cue", "--contexts", "left,right"]
    done = watch(*options, text='{"cue": "left", "x": 1}\n{"cue": "right", "x": 2}\n', both=False)
    assert done.returncode == 0
    assert [row["cue"] for row in rows(done.stdout)] == ["left", "right"]
    bare = watch(*options, text="1.5\n", both=False)
    assert bare.returncode == 2
    assert "--given cue: the lines are bare observations" in bare.stderr
