"""Where no change was seen, learners reckon with large ones, in every family; and shapes of arrays that are no sequences."""

from typing import Any

import numpy as np
import pytest

import volatilis as vl


@pytest.mark.parametrize(
    ("family", "before", "after", "level"),
    [
        (vl.Poisson, lambda rng, n: rng.poisson(3.0, n), lambda rng, n: rng.poisson(12.0, n), 12.0),
        (vl.Bernoulli, lambda rng, n: 1 * (rng.random(n) < 0.1), lambda rng, n: 1 * (rng.random(n) < 0.9), 0.9),
        (vl.Exponential, lambda rng, n: rng.exponential(1.0, n), lambda rng, n: rng.exponential(10.0, n), 0.1),
    ],
)
def test_a_large_change_is_followed(family: Any, before: Any, after: Any, level: float) -> None:
    """It was not: the prior of highest evidence for 200 alike observations expects no other level (mean 5.9 after 20 at 12)."""
    rng = np.random.default_rng(2)
    found = vl.estimate(before(rng, 200), family)
    assert any("no change to learn from" in note for note in found.notes)
    mean = vl.run(vl.Merge(found.family, found.p_c, 20), np.concatenate([before(rng, 200), after(rng, 40)])).mean
    way = abs(mean[[219, 239]] - level) / abs(mean[199] - level)
    assert way[0] < 0.35  # what is left of the way to the new level after 20 observations
    assert way[1] < 0.15  # and after 40


def test_rows_that_are_too_short_to_be_sequences() -> None:
    y = np.random.default_rng(0).normal(size=400)
    with pytest.raises(ValueError, match=r"shape \(400, 1\) is 400 sequences, one for each row, of 1: .* y.ravel\(\)"):
        vl.estimate(y[:, None], vl.Gaussian)
    assert vl.estimate(y.reshape(2, 200), vl.Gaussian).sequences == 2
