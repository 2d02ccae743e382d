"""Checks of a stream: constant memory, each kind of misfit once, keys together, hardly ever on data from the model."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import volatilis as vl
from tests.watching.command import watch
from volatilis.estimation.streams import KEYS, LOOKS, StreamCheck
from volatilis.running.drivers import ELAPSE, OBSERVE, PASSED

WORLD = vl.Gaussian(sigma=1.0, mu_0=20.0, sigma_0=10.0)
LEARNER = vl.VarSMiLe(WORLD, 0.02)


def sampled(length: int, seed: int = 0) -> np.ndarray:
    return np.asarray(vl.ChangingEnvironment(WORLD, 0.02).sample(length, seed=seed).y)


def told(check: StreamCheck, y: np.ndarray, numbers: Any = 0, piece: int = 100) -> list[str]:
    """What is said while observations come in pieces."""
    keys, texts = np.broadcast_to(numbers, len(y)), []
    for start in range(0, len(y), piece):
        part = slice(start, start + piece)
        check.see(keys[part], y[part], np.zeros(len(y[part]), dtype=np.int64))
        texts += check.misfits()
    return texts + check.at_the_end()


def test_a_wrong_prior_is_told_once_and_early() -> None:
    check = StreamCheck(LEARNER)
    (text,) = told(check, sampled(300) * 100.0)
    assert "the prior is contradicted" in text
    assert told(check, sampled(20_000) * 100.0) == []


def test_a_fault_that_comes_later_is_found_after_the_next_doubling() -> None:
    check = StreamCheck(LEARNER)
    assert told(check, sampled(5000)) == []
    later = told(check, sampled(20_000, 1) * 4.0)
    assert len(later) >= 1


def test_memory_does_not_grow() -> None:
    check, y = StreamCheck(LEARNER), sampled(1000)
    most = 0
    for _ in range(60):
        check.see(np.arange(1000) % 500, y, np.zeros(1000, dtype=np.int64))
        check.misfits()
        most = max(most, sum(len(part[0]) for part in check._parts))
        assert len(check._keys) <= KEYS
    assert most <= LOOKS[-1] + 1000


def test_keys_are_sequences_apart() -> None:
    """Two interleaved keys of a model that fits, far apart: as one sequence they would look like changes at every line."""
    y = np.empty(2000)
    y[::2], y[1::2] = sampled(1000, 1), sampled(1000, 2)
    assert told(StreamCheck(LEARNER), y, np.tile([0, 1], 1000)) == []
    assert told(StreamCheck(LEARNER), y) != []


def test_steps_that_passed_begin_a_stretch() -> None:
    check, y = StreamCheck(LEARNER), sampled(400)
    events = np.zeros(400, dtype=np.int64)
    events[100] = 5 * PASSED
    events[200] = 3 * PASSED + ELAPSE
    y[200] = np.nan
    check.see(np.zeros(400, dtype=np.int64), y, events)
    assert check.misfits() == []


def test_hardly_ever_on_data_from_the_model() -> None:
    """100 streams, each looked at four times: every kind in at most 1 %."""
    said = [told(StreamCheck(LEARNER), sampled(1500, seed)) for seed in range(100)]
    assert sum(map(len, said)) <= 2


@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_the_command(scale: float) -> None:
    lines = "".join(json.dumps({"value": float(y) * scale}) + "\n" for y in sampled(300))
    done = watch("-", text=lines)
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 300
    assert done.stderr.count("warning") == (scale > 1.0)
    assert ("the prior is contradicted" in done.stderr) == (scale > 1.0)


@pytest.mark.parametrize("passed", [[1, 0], [0] * 9 + [9], [0] * 4 + [2]])
def test_gaps_are_time_and_no_new_beginning(passed: list[int]) -> None:
    """A level that stays, with steps without a line in between: predictions from the prior at each gap would look too wide."""
    y = np.random.default_rng(2).normal(60.5, 1.0, 2000)
    check = StreamCheck(vl.Merge(vl.Gaussian(1.0, 60.0, 10.0), p_c=0.0005, n=20))
    check.see(np.zeros(2000, dtype=int), y, OBSERVE + PASSED * np.resize(passed, 2000))
    assert check.misfits() == []
    assert check.at_the_end() == []
