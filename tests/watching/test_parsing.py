"""From lines to observations: both kinds of lines, all at once and one by one, and what is said of a line that is wrong."""

from __future__ import annotations

import gzip
import json
from typing import Any

import numpy as np
import pytest

from volatilis.catalogue import parse_family, parse_learner
from volatilis.watching.parsing import Parsed, Parser
from volatilis.watching.request import WatchRequest, fields_of

from .command import FAMILY, LEARNER, learner_of, sensor_values


def parser(kind: str = "auto", family: str = FAMILY, missing: bool = False, learner: str = LEARNER, **options: Any) -> Parser:
    made = learner_of(family, learner)
    request = WatchRequest("-", parse_family(family), parse_learner(learner), **options)
    return Parser(fields_of(request, made), kind, made, missing)


def parsed(text: str | bytes, **options: Any) -> Parsed:
    data = text if isinstance(text, bytes) else text.encode()
    return parser(**options).parse(data, 0, True, False)


def csv_and_json(rows: list[tuple[str, float]]) -> list[str]:
    return [
        "sensor,value\n" + "".join(f"{key},{value!r}\n" for key, value in rows),
        "sensor;value\n" + "".join(f"{key};{value!r}\n" for key, value in rows),
        "value\tother\tsensor\n" + "".join(f"{value!r}\tx\t{key}\n" for key, value in rows),
        "".join(json.dumps({"sensor": key, "value": value}) + "\n" for key, value in rows),
        "".join(json.dumps({"t": [1, {"value": 3}], "value": value, "sensor": key}) + "\n" for key, value in rows),
    ]


ROWS = list(zip(["a", "b", "a", "ü", "x y"] * 20, sensor_values(100), strict=True))


@pytest.mark.parametrize("text", csv_and_json(ROWS), ids=["comma", "semicolon", "tab", "json", "nested"])
def test_both_kinds_of_lines(text: str) -> None:
    found = parsed(text, key=("sensor",))
    assert list(found.keys) == [key for key, _ in ROWS]
    np.testing.assert_array_equal(found.values, [value for _, value in ROWS])
    first = 1 if text.startswith("{") else 2
    np.testing.assert_array_equal(found.lines, np.arange(first, first + 100))
    assert not found.bad
    assert not found.absent.any()


@pytest.mark.parametrize("text", csv_and_json(ROWS), ids=["comma", "semicolon", "tab", "json", "nested"])
@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: data.replace(b"a", b"a\r", 0).replace(b"\n", b"\r\n", 7),
        lambda data: data.rstrip(b"\n"),
    ],
    ids=["byte-order-mark", "crlf", "mixed endings", "no last newline"],
)
def test_what_editors_do_to_files(text: str, change: Any) -> None:
    one, other = parsed(text, key=("sensor",)), parsed(change(text.encode()), key=("sensor",))
    assert list(one.keys) == list(other.keys)
    np.testing.assert_array_equal(one.values, other.values)
    np.testing.assert_array_equal(one.lines, other.lines)


@pytest.mark.parametrize("text", csv_and_json(ROWS), ids=["comma", "semicolon", "tab", "json", "nested"])
def test_one_by_one_is_the_same_as_all_at_once(text: str) -> None:
    """A line of spaces makes the parser look at each."""
    one, other = parsed(text, key=("sensor",)), parsed(text + "\n  \n", key=("sensor",))
    assert list(one.keys) == list(other.keys)
    np.testing.assert_array_equal(one.values, other.values)
    np.testing.assert_array_equal(one.lines, other.lines)


def test_empty_lines_are_counted_and_left_out() -> None:
    assert parsed("\n\n1.5\n\n2.5\n").lines.tolist() == [3, 5]
    assert parsed("\n\nvalue\n\n2.5\n").lines.tolist() == [5]


def test_bare_numbers_and_vectors() -> None:
    assert parsed("1.5\n-2\n3e2\n").values.tolist() == [1.5, -2.0, 300.0]
    plane = "multivariate-gaussian:covariance=[[1,0],[0,1]],mu_0=[0,0],covariance_0=[[1,0],[0,1]]"
    for text, value in [("[1,2]\n[3,4]\n", "v"), ('{"v":[1,2]}\n{"v":[3,4]}\n', "v"), ("a,b\n1,2\n3,4\n", "a,b")]:
        found = parsed(text, family=plane, value=tuple(value.split(",")))
        np.testing.assert_array_equal(found.observed, [[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(ValueError, match=r"the lines are bare observations, such as '1\.5', without such a field"):
        parsed("1.5\n", key=("sensor",))


def test_keys_of_several_fields_and_numbers_as_keys() -> None:
    assert parsed('{"a":1,"b":"x","value":2}\n', key=("a", "b")).keys == [("1", "x")]
    assert parsed("a,b,value\n1, x ,2\n", key=("a", "b")).keys == [("1", "x")]
    assert parsed('{"a":3,"value":2}\n{"a":3.0,"value":2}\n{"a":"3","value":2}\n', key=("a",)).keys == ["3"] * 3
    others = '{"a":true,"value":2}\n{"a":1.5,"value":2}\n{"a":"1.0","value":2}\n{"a":" x ","value":2}\n'
    assert parsed(others, key=("a",)).keys == ["true", "1.5", "1.0", "x"]
    assert parsed('{"a":"y","value":2}\n{"a":" x ","value":2}\n', key=("a",)).keys == ["y", "x"]
    assert parsed("a,value\n1.0,2\n1,2\ntrue,2\n", key=("a",)).keys == ["1.0", "1", "true"]


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ('{"x": 1}', "'a' is an object; it is the key, so a text or a number is accepted"),
        ("[1]", "'a' is a list; it is the key"),
        ("null", "'a' is missing; it is the key, so every line needs it"),
    ],
)
def test_what_is_no_key(key: str, said: str) -> None:
    found = parsed(f'{{"a":"x","value":1}}\n{{"a":{key},"value":2}}\n', key=("a",))
    assert found.keys == ["x"]
    assert found.bad[0].line == 2
    assert said in found.bad[0].reason


@pytest.mark.parametrize("data", [gzip.compress(b"1\n2\n", mtime=0), "value\n1\n".encode("utf-16"), b"wert;gr\xf6\xdfe\n1;2\n"])
def test_an_input_that_is_no_text_is_said_to_be_binary(data: bytes) -> None:
    with pytest.raises(ValueError, match="it is binary, not lines of text in UTF-8; unpack it first"):
        parsed(data)


def test_missing_values() -> None:
    text = "value\n1.5\nn/a\nNA\nnull\n.\nnan\n2.5\n"
    found = parsed(text, missing=True)
    assert found.absent.tolist() == [False, True, True, True, True, True, False]
    found = parsed('{"value":1.5}\n{"value":null}\n{"value":NaN}\n{"value":""}\n', missing=True)
    assert found.absent.tolist() == [False, True, True, True]
    refused = parsed('{"value":1.5}\n{"value":null}\n{"value":2.5}\n')
    assert refused.lines.tolist() == [1, 3]
    assert "'value' is missing; --missing elapse" in refused.bad[0].reason


def test_categories_and_truth() -> None:
    colours = {"family": "categorical:k=3", "categories": ("red", "green", "blue")}
    assert parsed('{"value":"blue"}\n{"value":"red"}\n', **colours).values.tolist() == [2, 0]
    assert parsed("value\nblue\ngreen\n", **colours).values.tolist() == [2, 1]
    wrong = parsed("value\nblue\npink\n", **colours).bad[0]
    assert "'pink', a category that --categories does not name" in wrong.reason
    assert parsed("true\nfalse\n1\n", family="bernoulli").values.tolist() == [1, 0, 1]
    assert "not a number" in parsed("1.5\ntrue\n").bad[0].reason


# line, what is said of it
WRONG = [
    ('{"value":', "it is not JSON (Expecting value)"),
    ('{"value":1} {"value":2}', "it is not JSON (Extra data)"),
    ('{"valu":1}', "there is no field 'value'; the fields are 'valu'; did you mean 'valu'?"),
    ('{"value":"1,5"}', "'value' is '1,5', not a number (a decimal point, not a comma)"),
    ('{"value":"1_000"}', "'value' is '1_000', not a number"),
    ('{"value":Infinity}', "'value' is inf; it must be a finite number"),
    ('{"value":[1]}', "'value' is a list, not a number"),
    ('{"value":true}', "'value' is true or false, not a number"),
    ('{"value":1' + "0" * 400 + "}", "'value' has too many digits"),
    ("1.5", 'the first lines are like {"value": 1.25}, and this one is not'),
    ("[" * 100_000, "it is nested too deeply"),
    ('{"value":"\udcff"}', "it is not text in UTF-8"),
]


@pytest.mark.parametrize(("line", "said"), WRONG, ids=[said[:30] for _, said in WRONG])
def test_a_bad_line_is_named(line: str, said: str) -> None:
    good = '{"value":1.5}\n'
    found = parsed((good * 3 + line + "\n" + good).encode("utf-8", "surrogateescape"))
    assert found.lines.tolist() == [1, 2, 3, 5]
    assert found.bad[0].line == 4
    assert said in found.bad[0].reason
    assert repr(line[:40])[:-1] in found.bad[0].reason


WRONG_CSV = [
    ("a,x", "'value' is 'x', not a number"),
    ("a", "it has 1 columns, and the header 'sensor,value' has 2"),
    ("a,1,2", "it has 3 columns"),
    (",1", "'sensor' is missing; it is the key, so every line needs it"),
    ("\0,x", "it is binary: it has bytes of value 0"),
    ('"a,1', "it is not CSV (a quote is not closed within 100 lines)"),
    ("a,1_0", "'value' is '1_0', not a number"),
    ("a,inf", "'value' is inf; it must be a finite number"),
]


@pytest.mark.parametrize(("line", "said"), WRONG_CSV, ids=[line for line, _ in WRONG_CSV])
def test_a_bad_line_of_csv_is_named(line: str, said: str) -> None:
    found = parsed(f"sensor,value\na,1\n{line}\nb,2\n", key=("sensor",))
    assert found.lines.tolist() == [2, 4]
    assert list(found.keys) == ["a", "b"]
    assert found.bad[0].line == 3
    assert said in found.bad[0].reason


def test_lines_that_are_wrong_together_are_not_taken_for_one() -> None:
    """Two halves of an object on two lines, and two objects on one: as many lines as objects."""
    found = parsed('{"value":1\n"b":2}\n{"value":3},{"value":4}\n')
    assert not len(found.lines)
    assert [bad.line for bad in found.bad] == [1, 2, 3]


def test_values_that_the_family_refuses() -> None:
    found = parsed("3\n-1\n2.5\n4\n", family="poisson:shape=1,rate=1")
    assert found.values.tolist() == [3, 4]
    assert [bad.line for bad in found.bad] == [2, 3]
    assert "'value' is -1.0; it must be" in found.bad[0].reason


def test_a_header_that_is_wrong_stops() -> None:
    with pytest.raises(
        ValueError,
        match=r"there is no field 'value'; the fields are 'Value', 'b'; did you mean 'Value'\?; name the column with --value",
    ):
        parsed("Value,b\n1,2\n")
    with pytest.raises(ValueError, match=r"there is no field 'sensor'.*name the column with --key"):
        parsed("value,b\n1,2\n", key=("sensor",))
    with pytest.raises(ValueError, match="has carriage returns in it: lines must end in line feeds"):
        parsed("value,b\r1,2\r3,4\r")
    with pytest.raises(ValueError, match="is not the header of a CSV"):
        parsed('value,"b\n1,2\n')
    with pytest.raises(ValueError, match="two columns are named 'value'"):
        parsed("value,value\n1,2\n")


def test_a_header_that_comes_again_is_left_out() -> None:
    assert parsed("value,b\n1,2\nvalue,b\n3,4\n").values.tolist() == [1.0, 3.0]


def test_an_input_that_goes_on_needs_no_header() -> None:
    first = parser()
    first.parse(b"value,b\n1,2\n", 0, True, False)
    again = parser()
    again.set_from(first.to_data())
    assert again.parse(b"3,4\n", 0, True, True).values.tolist() == [3.0]
    with pytest.raises(ValueError, match="is the header"):
        again.parse(b"3,4\n", 0, True, False)


def test_the_kind_may_be_told() -> None:
    assert parsed("1\n", kind="jsonl").values.tolist() == [1.0]
    assert parsed("1\n2\n", kind="csv", value=("1",)).values.tolist() == [2.0]
    with pytest.raises(ValueError, match="auto, jsonl, csv are accepted"):
        parsed("1\n", kind="xml")
