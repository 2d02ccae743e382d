"""Observations with a context, in `run`, `run_many` and `Stream`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import volatilis as vl

GAUSSIAN = vl.Gaussian(0.7, mu_0=0.2, sigma_0=2.0)


@vl.scalar_family
class Plain(NamedTuple):
    """A family of one's own from before there were contexts: its `observations` takes one argument."""

    strength: float = 1.0

    def prior_chi(self, row: int) -> float:
        return 0.0

    def prior_nu(self) -> float:
        return self.strength

    def sufficient_statistic(self, y: float, row: int) -> float:
        return y

    def log_normalizer(self, chi: np.ndarray, nu: float) -> float:
        return 0.5 * chi[0] * chi[0] / nu

    def log_base_measure(self, y: float) -> float:
        return -0.5 * y * y

    def mean(self, chi: np.ndarray, nu: float, k: int) -> float:
        return chi[0] / nu

    def variance(self, chi: np.ndarray, nu: float, k: int) -> float:
        return 1.0 / nu

    @vl.python_only
    def observations(self, ys: Any) -> tuple[np.ndarray, np.ndarray]:
        values = np.asarray(ys, dtype=float)
        return values, np.isnan(values)


@pytest.mark.parametrize("family", [GAUSSIAN, vl.Bernoulli(), Plain()], ids=lambda f: type(f).__name__)
def test_a_family_without_contexts_refuses_one(family: Any) -> None:
    learner = vl.VarSMiLe(family, 0.1)
    stream = vl.Stream(learner)
    calls = [
        lambda: vl.run(learner, [0, 1], given=[0, 1]),
        lambda: vl.run_many(learner, [[0, 1]], given=[[0, 1]]),
        lambda: stream.update(1, given=0),
    ]
    for call in calls:
        with pytest.raises(TypeError, match=rf"{type(family).__name__} has no contexts.*volatilis\.Given"):
            call()
    assert stream.seen == 0
    assert stream.update(1).mean == vl.run(learner, [1]).mean[0]


@pytest.mark.parametrize(
    "learner",
    [
        vl.VarSMiLe(vl.Given(vl.Gaussian(1.0), 2), 0.1),
        vl.Merge(vl.Contaminated(vl.Given(vl.Bernoulli(), 2), 0.05), 0.1, 5),
        vl.PerContext(vl.VarSMiLe(vl.Poisson(2.0, 0.5), 0.1), 2),
    ],
    ids=["gaussian", "bernoulli", "poisson"],
)
def test_the_fast_way_with_a_context_gives_the_bits_of_a_run(learner: Any) -> None:
    """Whole numbers of any kind are contexts; what the fast way does not take, and what is wrong, goes the ordinary way."""
    ys, xs = [1, 0, 1, 1, 0, 0], [0, 1, 1, 0, 1, 0]
    trace, stream = vl.run(learner, ys, given=xs), vl.Stream(learner)
    kinds = (int, np.int64, np.uint8, float, lambda x: np.array(x), lambda x: [x])
    for t, (y, x, kind) in enumerate(zip(ys, xs, kinds, strict=True)):
        np.testing.assert_array_equal(stream.update(y, given=kind(x)).mean, trace.mean[t])
    before = stream.to_bytes()
    for wrong, message in ((-1, "is -1"), (2, "is 2"), (0.5, "is 0.5"), (10**30, "is 1e"), (np.nan, "missing"), ("a", "dtype")):
        with pytest.raises((ValueError, TypeError), match=message):
            stream.update(1, given=wrong)
    with pytest.raises(ValueError, match="is missing"):
        stream.update(np.nan, given=0)
    assert stream.to_bytes() == before
