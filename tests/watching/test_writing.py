"""What is written: the same text for few lines and for many; it reads back to the same bits."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import numpy as np
import pytest

import volatilis as vl
from volatilis.running.drivers import outputs
from volatilis.watching.fields import Fields
from volatilis.watching.format import FEW, Format, Written
from volatilis.watching.watcher import NOTHING

GAUSSIAN = vl.VarSMiLe(vl.Gaussian(1.0), 0.1)
FIELDS = Fields(("sensor",), ("value",), None, {}, False)
ODD = [0.0, -0.0, 1.0, -3.0, 1e-4, 9.99e-5, 1e-7, 1e9, 1e10, 123456789012.5, 1e15, 1e16, 1e22, 1e300, 5e-324, np.pi, 0.1, 2 / 3]


def written(count: int, odd: bool = True, keys: str = '"a"') -> Written:
    rng = np.random.default_rng(1)
    out = outputs(count, 1, ("mean", "variance", "run_length", "gamma"))
    for array in (one for one in out if one.size):
        array[:] = rng.normal(size=count) * 10.0 ** rng.integers(-8, 12, count)
    out.log_p[:], out.log_p_0[:] = rng.normal(size=count), rng.normal(size=count)
    if odd:
        out.means[:] = np.resize([*ODD, np.inf, -np.inf, np.nan], count)
        out.gamma[::7] = np.nan
    observed, absent = out.means.copy() if not odd else rng.normal(size=count), np.zeros(count, dtype=bool)
    observed[::5], absent[::5] = np.nan, True
    return Written(np.arange(count) + 7, [keys] * count, [], observed, absent, NOTHING, out, rng.random(count) < 0.3)


def few_by_few(form: Format, block: Written) -> bytes:
    parts = []
    for start in range(0, len(block.lines), FEW - 1):
        chosen = np.zeros(len(block.lines), dtype=bool)
        chosen[start : start + FEW - 1] = True
        parts.append(form.text(block.only(chosen)))
    return b"".join(parts)


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
@pytest.mark.parametrize("odd", [False, True])
def test_many_lines_are_the_same_text_as_few(kind: str, odd: bool) -> None:
    form, block = Format(GAUSSIAN, FIELDS, kind, ["all"], True), written(500, odd)
    assert form.text(block) == few_by_few(form, block)


@pytest.mark.parametrize("count", [10, 500])
def test_numbers_read_back_to_the_same_bits(count: int) -> None:
    block = written(count)
    rows = [json.loads(line) for line in Format(GAUSSIAN, FIELDS, "jsonl", ["mean", "variance"], True).text(block).splitlines()]
    means = [np.nan if row["mean"] is None else row["mean"] for row in rows]
    np.testing.assert_array_equal(means, block.out.means)
    assert [np.signbit(mean) for mean in means[:18]] == np.signbit(block.out.means[:18]).tolist()
    assert [row["variance"] for row in rows] == block.out.variances.tolist()
    assert [row["alarm"] for row in rows] == block.alarms.tolist()
    assert list(rows[0]) == ["line", "sensor", "value", "mean", "variance", "alarm"]
    assert rows[0]["value"] is None


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
@pytest.mark.parametrize("count", [1, 200])
def test_keys_that_need_care(kind: str, count: int) -> None:
    fields = FIELDS._replace(key=("site", "sensor, inner"))
    form = Format(GAUSSIAN, fields, kind, ["mean"], False)
    key = ('a "quoted", one', "ü\tnew\\line")
    text = form.header() + form.text(written(count, keys=form.key_text(key)))
    if kind == "csv":
        found: list[Any] = list(csv.DictReader(io.StringIO(text.decode())))
    else:
        found = [json.loads(line) for line in text.splitlines()]
    assert len(found) == count
    assert all((row["site"], row["sensor, inner"]) == key for row in found)


def test_whole_numbers_and_vectors() -> None:
    poisson = Format(vl.VarSMiLe(vl.Poisson(1.0, 1.0), 0.1), FIELDS._replace(key=()), "csv", ["mean"], False)
    for count in (8, 200):
        block = written(count, odd=False)._replace(observed=np.arange(float(count)))
        values = [line.split(",")[1] for line in poisson.text(block).decode().splitlines()]
        assert values == ["" if absent else str(i) for i, absent in enumerate(block.absent)]
    plane = vl.MultivariateGaussian([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]])
    names = Format(vl.VarSMiLe(plane, 0.1), Fields((), ("v",), 2, {}, False), "csv", ["mean"], True).names
    assert names == ["line", "v_0", "v_1", "mean_0", "mean_1", "alarm"]


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="jsonl, csv are accepted"):
        Format(GAUSSIAN, FIELDS, "xml", None, True)
    with pytest.raises(ValueError, match="'bayesian_surprise' is not accepted; VarSMiLe has mean"):
        Format(GAUSSIAN, FIELDS, "csv", ["bayesian_surprise"], True)
    with pytest.raises(ValueError, match="'mean' would be the name of two columns"):
        Format(GAUSSIAN, FIELDS._replace(key=("mean",)), "csv", None, True)
    assert "adaptation_rate" not in Format(vl.Leaky(vl.Gaussian(1.0), 0.9), FIELDS, "csv", None, False).names


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_many_values_have_the_texts_that_each_has_alone(kind: str) -> None:
    form = Format(GAUSSIAN, FIELDS, kind, None, True)
    some = [*ODD, -1e10, 9.99e14, -5.0, np.nan, np.inf, -np.inf]
    assert form._arrow_texts(np.array(some)).to_pylist() == [form._number(value) for value in some]
    columns: list[list[Any]] = [
        ["a", 'b"', "a", "é,"],
        [1, 2, 10**30],
        [1.0, 2.5, -0.0],
        [1.0, np.nan],
        [True, None, "x", [1, np.inf]],
    ]
    for column in columns:
        assert form._kept_texts(column) == [form._kept_text(value) for value in column]
