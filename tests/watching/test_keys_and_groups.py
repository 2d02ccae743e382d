"""`volatilis watch --key` and `volatilis run --by` have the same names for what is learned apart: a sampler shows it."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest

from tests.helpers.command_line import volatilis

from .command import rows, watch

FAMILY, LEARNER = ["--family", "gaussian:sigma=1,mu_0=20,sigma_0=10"], ["--learner", "pf:n=5,p_c=0.1"]
JSON_KEYS: list[list[Any]] = [
    [1, 1.0, 2, 2.5, 2.0],
    ["a", " a ", "b", "1.0", "1"],
    [1, 1.0, "1", "x", 1.5],
    [True, False, True, "true", False],
    [2**63 + 1, 2**63 + 2, 2**70, 1, "x"],
]


def means(keys: list[Any], folder: pathlib.Path, kind: str) -> tuple[list[float], list[float], int]:
    """The estimate at each line by both commands, and the number of groups."""
    values = np.random.default_rng(3).normal(20.0, 5.0, 4 * len(keys)).round(2).tolist()
    every = keys * 4
    if kind == "csv":
        text = "sensor,value\n" + "".join(f"{key},{value}\n" for key, value in zip(every, values, strict=True))
    else:
        text = "".join(json.dumps({"sensor": key, "value": value}) + "\n" for key, value in zip(every, values, strict=True))
    path = folder / f"t.{kind}"
    path.write_text(text)
    watched = watch(path, "--key", "sensor", *FAMILY, *LEARNER, both=False)
    assert watched.returncode == 0, watched.stderr
    out = folder / "out.jsonl"
    ran = volatilis("run", path, "--outcome", "value", "--by", "sensor", *FAMILY, *LEARNER, "--out", out)
    assert ran.exit_code == 0, ran.stderr
    groups = int(ran.stderr.split(" groups")[0].split()[-1])
    return [row["mean"] for row in rows(watched.stdout)], [row["particle_filter_mean"] for row in rows(out.read_text())], groups


@pytest.mark.parametrize(("keys", "groups"), list(zip(JSON_KEYS, [3, 4, 3, 2, 5], strict=True)), ids=str)
def test_json_lines(tmp_path: pathlib.Path, keys: list[Any], groups: int) -> None:
    watched, ran, found = means(keys, tmp_path, "jsonl")
    assert watched == ran
    assert found == groups


def test_csv_has_texts_only(tmp_path: pathlib.Path) -> None:
    """1, 1.0 and true are three names; spaces around them are none."""
    watched, ran, found = means(["1", "1.0", " 1", "true", "True"], tmp_path, "csv")
    assert watched == ran
    assert found == 4
