"""One-step errors: the distribution function of the mixture, their law on data from the model, Python and machine code alike."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import volatilis as vl
from tests.helpers.settings import P_C, SETTINGS, observations
from tests.oracles.enumeration import enumerate_histories
from volatilis.estimation.errors import Errors, one_step_errors
from volatilis.estimation.models import reference
from volatilis.running.drivers import ELAPSE, RESET


def errors_of(learner: Any, y: Any, events: np.ndarray | None = None) -> Errors:
    values, _ = learner.family.observations(y)
    return one_step_errors(learner, values, np.zeros(len(values), dtype=np.uint8) if events is None else events)


def test_they_are_those_of_all_histories() -> None:
    """P(Y <= y_t | y_1:t-1) by integrating the evidence of y_1 ... y_t-1, x over x, summed over all histories of changes."""
    setting, ys = SETTINGS["gaussian"], observations("gaussian", 5)
    found = errors_of(vl.ExactBayes(setting.family, P_C), ys).u[:, 0]
    for t in range(5):
        before = enumerate_histories(setting.oracle, P_C, ys[:t])[-1].log_evidence if t else 0.0

        def density(x: float, t: int = t, before: float = before) -> float:
            return math.exp(enumerate_histories(setting.oracle, P_C, [*ys[:t], x])[-1].log_evidence - before)

        expected, _ = integrate.quad(density, -60.0, ys[t], epsabs=1e-9, limit=100)
        assert abs(found[t] - expected) < 1e-7


@pytest.mark.parametrize("name", ["gaussian", "poisson", "vonmises"])
def test_python_and_machine_code_agree(name: str) -> None:
    learner, y = vl.Merge(SETTINGS[name].family, P_C, 20), observations(name, 6)
    compiled = errors_of(learner, y)
    with vl.plain_python():
        plain = errors_of(learner, y)
    for one, other in zip(compiled, plain, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ["gaussian", "poisson", "unknown-covariance", "vonmises"])
def test_on_data_from_the_model_they_are_uniform(name: str) -> None:
    family = SETTINGS[name].family
    y = vl.ChangingEnvironment(family, 0.05).sample(1500, seed=4).y
    u = errors_of(reference(family, 0.05), y).u
    for k in range(u.shape[1]):
        assert stats.kstest(u[:, k], "uniform").pvalue > 1e-3
        assert abs(12.0 * np.mean((u[1:, k] - 0.5) * (u[:-1, k] - 0.5))) < 4.0 / math.sqrt(1500)


def test_blocks_and_gaps() -> None:
    """A block begins with the prior; where nothing is observed there is no error, and time passes."""
    learner = vl.Merge(vl.Gaussian(1.0, 0.0, 3.0), 0.1, 5)
    y = [0.3, 2.0, np.nan, 1.0]
    events = np.array([0, RESET, ELAPSE, 0], dtype=np.uint8)
    u = errors_of(learner, y, events).u[:, 0]
    assert np.isnan(u[2])
    np.testing.assert_allclose(u[:2], stats.norm.cdf([0.3, 2.0], scale=math.sqrt(10.0)), atol=1e-12)
    np.testing.assert_array_equal(u[1:], errors_of(learner, y[1:], np.array([0, ELAPSE, 0], dtype=np.uint8)).u[:, 0])


def test_leaky_predicts_nothing() -> None:
    with pytest.raises(TypeError, match="Leaky predicts no observations"):
        errors_of(vl.Leaky(vl.Gaussian(1.0), 0.9), [0.0, 1.0])
