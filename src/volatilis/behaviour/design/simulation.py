"""Simulated people of a design: outcomes, what they believe, and an indicator that reflects a surprise, with noise."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from volatilis.behaviour.design.setting import Setting, make_learner_of
from volatilis.behaviour.indicators.observed import Believed, Observed, believe

MEASURES = ("S_BF", "S_Sh")
CALIBRATION = 20_000  # trials that tell how much a measure varies


def outcomes(setting: Setting, seed: np.random.SeedSequence, trials: int) -> np.ndarray:
    """One person's outcomes: the setting's sequence, or random ones."""
    if setting.sequence:
        return np.array(setting.sequence[:trials])
    return np.asarray(setting.environment().sample(trials, seed).y, dtype=float)


def measure(believed: Believed, name: str) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.exp(believed.log_bayes_factor) if name == "S_BF" else believed.shannon


def observed(setting: Setting, y: np.ndarray, believed: Believed, indicator: np.ndarray, trials: int | None = None) -> Observed:
    """The first trials of a person as the analysis sees them."""
    family, own = setting.environment().family, slice(trials)
    prediction = (believed.mean[own] - family.mu_0) / family.sigma_0
    error = (y[own] - believed.mean[own]) / family.sigma_0
    spreads = (believed.before[own] / family.sigma_0, believed.after[own] / family.sigma_0)
    densities = (believed.p[own] * family.sigma_0, believed.p_0[own] * family.sigma_0)
    return Observed("", indicator[own], prediction, error, *spreads, *densities, False)


def believe_first(setting: Setting, y: np.ndarray, seed: Any) -> Believed:
    """What the first candidate believes about these outcomes."""
    return believe(make_learner_of(setting.models()[0]), y, seed=seed)


@functools.cache
def noise_of(setting: Setting, name: str) -> float:
    """The standard deviation of the indicator's noise, in units of the measure."""
    seeds = np.random.SeedSequence([setting.seed, 1]).spawn(2)
    y = np.asarray(setting.environment().sample(CALIBRATION, seeds[0]).y, dtype=float)
    believed = believe_first(setting, y, seeds[1])
    values = measure(believed, name)
    chosen = setting.first_window.masks(observed(setting, y, believed, values)).any(axis=(0, 1))
    if chosen.sum() < 30:
        raise ValueError(
            f"prediction 1 selects {int(chosen.sum())} of {CALIBRATION:,} trials; it needs another sigma, p_c or learner"
        )
    return setting.noise * float(values[chosen].std())
