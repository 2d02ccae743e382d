"""`watch` without numbers: first lines of each key tell its parameters, later lines use them, a restart goes on bit for bit."""

from __future__ import annotations

import json
import pathlib

import numpy as np

from tests.watching.command import watch


def lines(count: int) -> list[str]:
    """Two sensors of very different units; both jump by eight standard deviations of their noise at line 60 of theirs."""
    rng, texts = np.random.default_rng(1), []
    for t in range(count):
        for key, middle, noise in (("a", 20.0, 0.5), ("b", 1000.0, 30.0)):
            value = middle + (8 * noise if t >= 60 else 0.0) + noise * rng.normal()
            texts.append(json.dumps({"sensor": key, "temperature": round(value, 4)}) + "\n")
    return texts


OPTIONS = ["--value", "temperature", "--key", "sensor", "--learn", "40"]


def test_each_key_has_parameters_of_its_own_and_a_restart_goes_on(tmp_path: pathlib.Path) -> None:
    source, texts = tmp_path / "in.jsonl", lines(80)
    source.write_text("".join(texts))
    whole = watch(*[str(source), *OPTIONS, "--out", str(tmp_path / "whole.jsonl")], both=False)
    assert whole.stderr.startswith("volatilis watch: the first 40 observations of each key are learned from")
    assert "a: learned from the first 40 observations" in whole.stderr
    assert "b: learned from the first 40 observations" in whole.stderr
    rows = [json.loads(line) for line in (tmp_path / "whole.jsonl").read_text().splitlines()]
    assert rows[79]["mean"] is None
    alarms = {key: [r["line"] for r in rows if r["alarm"] and r["sensor"] == key] for key in "ab"}
    assert all(any(120 < line <= 126 for line in found) for found in alarms.values())
    state = ["--state", str(tmp_path / "state"), "--out", str(tmp_path / "parts.jsonl")]
    for stop in (50, 100, 160):
        source.write_text("".join(texts[:stop]))
        watch(*[str(source), *OPTIONS, *state], both=False)
    assert (tmp_path / "parts.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_too_few_lines_are_said(tmp_path: pathlib.Path) -> None:
    source = tmp_path / "in.jsonl"
    few, more = lines(10), lines(42)
    source.write_text("".join([*more, *few[1::2]]).replace('"b"', '"c"', 1))
    done = watch(source, *OPTIONS, both=False)
    assert done.returncode == 0
    assert "before the warm-up of 1 key among 3 was complete" in done.stderr
    source.write_text("".join(few))
    assert "before the warm-up of 2 keys among 2 was complete, which takes 40" in watch(source, *OPTIONS, both=False).stderr
    assert watch(source, *OPTIONS[:-1], "3", both=False).returncode == 2
