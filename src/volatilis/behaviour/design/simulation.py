"""Simulated people of a design: outcomes, what they believe, and an indicator that reflects a surprise, with noise."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from volatilis.behaviour.design.setting import Setting, make_learner_of
from volatilis.predictions.windows import Beliefs, SubjectTrials, believe

MEASURES = ("S_BF", "S_Sh")
CALIBRATION = 20_000  # trials that tell how much a measure varies


def outcomes(setting: Setting, seed: np.random.SeedSequence, trials: int) -> np.ndarray:
    """One person's outcomes: the setting's sequence, or random ones."""
    if setting.sequence:
        return np.array(setting.sequence[:trials])
    return np.asarray(setting.environment().sample(trials, seed).y, dtype=float)


def measure(believed: Beliefs, name: str) -> np.ndarray:
    return believed.bayes_factor if name == "S_BF" else believed.shannon


def observed(
    setting: Setting, y: np.ndarray, believed: Beliefs, indicator: np.ndarray, trials: int | None = None
) -> SubjectTrials:
    """The first trials of a person as the analysis sees them."""
    first = Beliefs(*(values[:trials] for values in believed))
    return first.trials(y[:trials], setting.environment().family, indicator[:trials])


def believe_first(setting: Setting, y: np.ndarray, seed: Any) -> Beliefs:
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
