"""Autoregressions whose coefficients go beyond 1, so that stretches of them grow without end."""

from __future__ import annotations

import numpy as np
import pytest

import volatilis as vl
from volatilis.estimation.evidence import joined, log_evidence
from volatilis.families._regression import far_for_noise, without_growth

FAMILY = vl.AutoRegression(1, 0.1, 4.0, 6.0, 20.0, 25.0)


def drawn(family: vl.AutoRegression, seed: int, length: int = 500) -> np.ndarray:
    return vl.ChangingEnvironment(family, 0.05).sample(length, seed=seed).y


def test_a_series_that_grows_and_comes_back_has_right_estimates() -> None:
    """One stretch reaches 7e7. The highest point lies above the truth, and most intervals hold it: seed found, nothing tuned."""
    y = drawn(FAMILY, 3009)
    assert np.abs(y).max() > 1e7
    found = vl.estimate(y, "autoregression:1", check=False, workers=1)
    values, _ = FAMILY.observations(y)
    true = log_evidence(vl.Merge(FAMILY, 0.05, n=20), joined([values], [np.zeros(len(y), dtype=np.uint8)]))
    assert true <= found.log_evidence < true + 10.0
    truth = {**FAMILY._asdict(), "p_c": 0.05}
    assert all(one.low < truth[one.name] < one.high for one in found.estimates)
    assert not found.warnings


def test_what_windows_say_of_growth() -> None:
    """Level, spread and noise are those of the stretches that do not grow; a series without growth has moments."""
    assert without_growth([drawn(FAMILY, 3000)], 1) is None
    grown = without_growth([drawn(FAMILY, 3009)], 1)
    assert grown is not None
    assert abs(grown.level - 20.0) < 5.0
    assert 2.0 < grown.spread < 15.0  # sqrt(2 / 0.1) = 4.5 and what a mean of ten adds
    assert 1.0 < grown.v < 5.0  # 6 / 3 on average
    assert without_growth([np.arange(5.0)], 1) is None


def test_noise_that_is_rounded_away_is_said() -> None:
    """Beyond 1e14 the noise, 1.4, has no digits left: no estimate can be right. The remedy of the warning mends it."""
    family = vl.AutoRegression(1, 0.1, 4.0, 6.0, 20.0, 2.0)
    y = drawn(family, 4004, 300)
    noise, most = far_for_noise([y], 1)
    assert 1e14 < most < 2e14
    assert np.abs(y).max() > 1e20
    assert 0.5 < noise < 2.0
    found = vl.estimate(y, "autoregression:1", check=False, workers=1)
    (warning,) = (one for one in found.warnings if one.startswith("growth"))
    assert "rounded away" in warning
    assert "Take observations beyond 1e+14 as missing" in warning
    mended = vl.estimate(np.where(np.abs(y) > 1e14, np.nan, y), "autoregression:1", check=False, workers=1)
    assert not mended.warnings
    truth = {**family._asdict(), "p_c": 0.05}
    assert all(one.low < truth[one.name] < one.high for one in mended.estimates)
    assert not all(one.low < truth[one.name] < one.high for one in found.estimates)  # it was needed


@pytest.mark.parametrize("text", ["gaussian", "transitions:k=2"])
def test_other_families_say_nothing_of_it(text: str) -> None:
    y = np.arange(40) % 2 * 1e15 if text == "gaussian" else np.arange(40) % 2
    assert not any("growth" in one for one in vl.estimate(y, text, check=False, workers=1).warnings)
