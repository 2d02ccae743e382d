"""Finished work in a file: nothing is lost, nothing that other sources made is used, and what is wrong is named."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest

from volatilis._core.jobs import Processes, run_kept
from volatilis._core.store import Store, digest


def numbers(path: pathlib.Path, sources: str = "a") -> Store[int]:
    return Store(path, sources, lambda value: {"value": value}, lambda entry: int(entry["value"]))


def values(path: pathlib.Path, sources: str = "a") -> list[int]:
    with numbers(path, sources) as store:
        return store.results()


@pytest.mark.parametrize("left", range(1, 40))
def test_a_line_that_was_cut_off_is_passed_over_and_stays(tmp_path: pathlib.Path, left: int) -> None:
    """Wherever it was cut. Another run may have written behind it meanwhile."""
    path = tmp_path / "deep" / "lines.jsonl"
    with numbers(path) as store:
        store.add("one", 1)
    whole, third = path.read_bytes(), json.dumps({"key": "ab", "x": [1.5, None], "ok": True}).encode()
    path.write_bytes(whole + third[:left])
    with numbers(path) as store:
        assert store.results() == [1]
        store.add("two", 2)
    assert values(path) == [1, 2]
    assert path.read_bytes().startswith(whole + third[:left])


def test_two_runs_in_one_folder_take_nothing_from_each_other(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "lines.jsonl"
    with numbers(path) as one, numbers(path) as other:
        for number in range(4):
            (one, other)[number % 2].add(str(number), number)
    assert values(path) == [0, 1, 2, 3]


@pytest.mark.parametrize("damage", [b"{not json\n", b"[1, 2]\n", b'{"key": "a"}\n', b'{"value": 1}\n', b"\xff\xfe\n", b"7\n"])
def test_a_damaged_line_is_named(tmp_path: pathlib.Path, damage: bytes) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b'{"key": "k", "sources": "a", "value": 3}\n' + damage)
    with pytest.raises(ValueError, match=r"lines\.jsonl: line 2 is not what volatilis wrote there: delete that line"):
        numbers(path)


def double(number: int) -> int:
    return 2 * number


def run(path: pathlib.Path, sources: str, *wanted: int) -> tuple[list[int], list[float]]:
    shares: list[float] = []
    with numbers(path, sources) as store, Processes(1) as queue:
        results = run_kept(queue, double, {str(n): (n,) for n in wanted}, store, shares.append)
    return [results[str(n)] for n in wanted], shares


def test_what_other_sources_made_stays_is_not_used_and_is_told(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "lines.jsonl"
    assert run(path, "a", 1, 2) == ([2, 4], [0.0, 0.5, 1.0])
    assert run(path, "a", 1, 2) == ([2, 4], [1.0])
    assert capsys.readouterr().err == ""
    assert run(path, "b", 1, 2, 3) == ([2, 4, 6], [0.0, 1 / 3, 2 / 3, 1.0])
    assert capsys.readouterr().err == f"2 results in {tmp_path} were made with other sources; they are computed again\n"
    assert run(path, "b", 1, 2, 3, 4)[1] == [0.75, 1.0]  # all that was asked for before is there now
    assert run(path, "a", 1, 2)[1] == [1.0]  # and so is what the first sources made
    assert capsys.readouterr().err == ""
    assert run(path, "a", 4)[0] == [8]
    assert capsys.readouterr().err == f"1 result in {tmp_path} was made with other sources; it is computed again\n"


def test_lines_of_an_older_release_are_told_too(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text('{"key": "1", "value": 7}\n')
    assert run(path, "a", 1)[0] == [2]
    assert "1 result in" in capsys.readouterr().err
    assert run(path, "a", 1)[1] == [1.0]
    assert capsys.readouterr().err == ""


def test_a_digest_tells_apart_what_differs() -> None:
    different: list[tuple[Any, ...]] = [
        (1,),
        (1.0,),
        ("1",),
        (1, 2),
        ((1, 2),),
        ([1, 2],),
        ((1, (2,)),),
        (np.array([1, 2]),),
        (np.array([1.0, 2.0]),),
        (np.array([[1.0, 2.0]]),),
        ({"a": 1},),
        ({"a": 2},),
    ]
    assert len({digest(*values) for values in different}) == len(different)
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
