"""Tuning finds the least error on common sequences, says when it lies at a bound, and reads published values."""

from __future__ import annotations

import numpy as np
import pytest

import volatilis as vl
from volatilis.experiments import tuning
from volatilis.paper.published import code

ENVIRONMENT = vl.ChangingEnvironment(vl.Gaussian(1.0), 0.05)


def error_of(learner: object, seeds: range, steps: int) -> float:
    """Independently of the compiled sums: run the learner and average the squared errors."""
    errors = []
    for seed in seeds:
        sample = ENVIRONMENT.sample(steps, np.random.SeedSequence([seed, 7]).spawn(2)[0])
        errors.append(np.mean((vl.run(learner, sample.y).mean - sample.theta) ** 2))
    return float(np.mean(errors))


@pytest.mark.parametrize("learner", [vl.VarSMiLe, vl.Leaky, vl.Nas12Star, vl.Nas10])
def test_the_value_found_is_as_good_as_a_fine_grid(learner: type) -> None:
    found = tuning.tune(learner, ENVIRONMENT, steps=3000, seeds=2)
    grid = tuning.tune(learner, ENVIRONMENT, steps=3000, seeds=2, grid=code.search_grid(learner, p_c=0.001))
    assert found.error <= grid.error * 1.002
    assert found.evaluations < 40 <= grid.evaluations
    assert found.error == pytest.approx(error_of(found.learner, range(2), 3000), rel=1e-12)


def test_a_bound_that_cuts_the_optimum_off_is_named() -> None:
    free = tuning.tune(vl.Leaky, ENVIRONMENT, steps=3000, seeds=2)
    assert free.at_bound is None
    low = tuning.tune(vl.Leaky, ENVIRONMENT, steps=3000, seeds=2, bounds=(0.0, free.value / 2))
    assert low.at_bound == "high"
    assert low.value == pytest.approx(free.value / 2, rel=0.02)
    high = tuning.tune(vl.Leaky, ENVIRONMENT, steps=3000, seeds=2, bounds=((1 + free.value) / 2, 0.999))
    assert high.at_bound == "low"


def test_a_scan_of_a_tenth_finds_what_a_whole_scan_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = tuning.tune(vl.VarSMiLe, ENVIRONMENT, steps=20_000, seeds=1)
    monkeypatch.setattr(tuning, "FEWEST", 500)
    tenth = tuning.tune(vl.VarSMiLe, ENVIRONMENT, steps=20_000, seeds=1)
    assert tenth.value == pytest.approx(whole.value, rel=0.02)
    assert tenth.error == pytest.approx(error_of(tenth.learner, range(1), 20_000), rel=1e-12)


def test_published_grids() -> None:
    eps = 2.0**-52
    assert code.search_bounds(vl.Leaky) == code.search_bounds(vl.Leaky, p_c=0.0001) == (eps, 0.99 + eps)
    assert np.diff(code.search_grid(vl.Leaky, p_c=0.005)) == pytest.approx(0.03)
    assert np.diff(code.search_grid(vl.Leaky, p_c=0.001)) == pytest.approx(0.01)
    assert code.search_bounds(vl.VarSMiLe) == pytest.approx((eps, 5.0))
    assert code.search_bounds(vl.VarSMiLe, categorical=True) == pytest.approx((eps, 10.0))
    assert code.search_bounds(vl.SMiLe) == pytest.approx((eps, 10.0))
    assert code.search_bounds(vl.Nas12Star) == pytest.approx((1e-4, 0.1))
    assert code.search_bounds(vl.Nas10Star)[1] == code.search_bounds(vl.Nas10)[1] == pytest.approx(0.855, abs=1e-3)


def test_what_has_no_free_parameter_is_refused() -> None:
    with pytest.raises(TypeError, match=r"ExactBayes.*VarSMiLe"):
        tuning.tune(vl.ExactBayes, ENVIRONMENT)
    with pytest.raises(ValueError, match="bounds"):
        tuning.tune(vl.Leaky, ENVIRONMENT, steps=100, bounds=(0.9, 0.1))
