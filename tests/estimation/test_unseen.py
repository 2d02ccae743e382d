"""Where no change was seen: no changes are found in noise, and a large one that comes later is followed."""

from __future__ import annotations

import numpy as np
import pytest

import volatilis as vl


@pytest.mark.parametrize(("length", "seeds"), [(100, range(120, 130)), (600, range(6)), (3000, range(1))])
def test_noise_has_no_changes(length: int, seeds: range) -> None:
    """With the values of highest evidence, most series of 600 had some, and all of 3,000."""
    found = []
    for seed in seeds:
        y = np.random.default_rng(seed).normal(20.0, 1.0, length)
        environment = vl.estimate(y, vl.Gaussian, check=False)
        assert environment.p_c <= 1.0 / length
        assert any("no change to learn from" in note for note in environment.notes)
        found.append(len(vl.changes(y, vl.ExactBayes(environment.family, environment.p_c)).points))
    assert sum(found) <= 1  # of all series: with p_c = 1 / T one may have a change


def test_a_step_after_a_quiet_log_is_followed_at_once() -> None:
    rng = np.random.default_rng(1)
    quiet = vl.estimate(rng.normal(20.0, 1.0, 1000), vl.Gaussian, check=False)
    trace = vl.run(
        vl.Merge(quiet.family, quiet.p_c, n=20), np.concatenate([rng.normal(20.0, 1.0, 300), rng.normal(28.0, 1.0, 50)])
    )
    assert trace.adaptation_rate[300] > 0.9
    assert abs(trace.mean[-1] - 28.0) < 0.5


def test_changes_that_were_seen_and_starts_that_tell_their_size_are_kept() -> None:
    family = vl.Gaussian(2.0, 30.0, 9.0)
    seen = vl.estimate(vl.ChangingEnvironment(family, 0.05).sample(400, seed=1).y, vl.Gaussian, check=False)
    assert seen.p_c == seen["p_c"].value
    assert seen.family.sigma_0 == seen["sigma_0"].value
    blocks = [
        np.random.default_rng(k).normal(30.0 + 9.0 * z, 2.0, 10) for k, z in enumerate(np.random.default_rng(9).normal(size=40))
    ]
    still = vl.estimate(blocks, vl.Gaussian, check=False)
    assert still.p_c <= 1.0 / 400
    assert still.family.sigma_0 == still["sigma_0"].value
