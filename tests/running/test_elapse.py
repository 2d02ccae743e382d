"""Stream.elapse: so many missing observations at once, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import volatilis as vl
from tests.helpers.settings import name_of
from volatilis.running.stream import STEPS

GAUSSIAN = vl.Gaussian(sigma=0.5, mu_0=0.3, sigma_0=2.0)
LEARNERS = [
    vl.VarSMiLe(GAUSSIAN, 0.1),
    vl.Merge(GAUSSIAN, 0.15, 4),
    vl.ExactBayes(GAUSSIAN, 0.15),
    vl.ParticleFilter(GAUSSIAN, 0.15, 5),
    vl.Leaky(GAUSSIAN, 0.8),
]


def two(learner: Any) -> list[vl.Stream]:
    streams = [vl.Stream(learner, seed=4, missing="elapse") for _ in range(2)]
    for stream in streams:
        for y in (0.1, 2.0, -3.0, 0.2):
            stream.update(y)
    return streams


@pytest.mark.parametrize("learner", LEARNERS, ids=name_of)
@pytest.mark.parametrize("n", [0, 1, 7, 300])
def test_it_is_n_missing_observations(learner: Any, n: int) -> None:
    one, other = two(learner)
    step = one.elapse(n)
    for _ in range(n):
        expected = other.update(None)
    if n:
        assert repr(step) == repr(expected)
        assert one.to_bytes() == other.to_bytes()
    assert one.seen == 4
    assert repr(one.update(1.0)) == repr(other.update(1.0))


@pytest.mark.parametrize("learner", LEARNERS, ids=name_of)
def test_pieces_do_not_matter_and_long_times_end(learner: Any) -> None:
    one, other = two(learner)
    one.elapse(2 * STEPS + 11)
    for n in (STEPS - 3, STEPS + 3, 11):
        other.elapse(n)
    assert one.to_bytes() == other.to_bytes()
    if not learner.samples():
        step = one.elapse(10**15)  # nothing is left to change after a while
        if isinstance(learner, vl.Leaky):
            return
        np.testing.assert_allclose([step.mean, step.variance], [GAUSSIAN.mu_0, GAUSSIAN.sigma_0**2], rtol=1e-12)
        assert np.isnan(step.adaptation_rate)


@pytest.mark.parametrize("n", [-1, 10**15 + 1])
def test_numbers_that_are_refused(n: int) -> None:
    stream = vl.Stream(LEARNERS[0])
    with pytest.raises(ValueError, match=f"n = {n} is not accepted; it must be from 0 to"):
        stream.elapse(n)


@pytest.mark.parametrize("n", [1.0, True, None, "3", np.bool_(True), [2]])
def test_what_is_no_number_of_steps(n: Any) -> None:
    with pytest.raises(TypeError, match="must be a whole number"):
        vl.Stream(LEARNERS[0]).elapse(n)


def test_numpy_numbers_and_no_argument() -> None:
    one, other = two(LEARNERS[0])
    assert one.elapse(np.int64(2)).mean == (other.elapse(), other.elapse())[1].mean
