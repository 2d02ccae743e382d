"""Sequences to look at (paper, Figures 1 B, 2 A and 5 A): a few hundred observations with a few changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from volatilis._core.seeds import seed_sequence
from volatilis.environments import ChangingEnvironment
from volatilis.families import Categorical, Gaussian

STEPS = 400
FEWEST, MOST = 3, 5  # changes within an example, that at its start aside
P_C = 0.01


def gaussian_example(seed: int = 0) -> dict[str, Any]:
    """Gaussian observations whose mean changes: sigma = 1, p_c = 0.01."""
    family = Gaussian(1.0)
    return {"task": "gaussian", "sigma": family.sigma, "p_c": P_C} | _with_a_few_changes(ChangingEnvironment(family, P_C), seed)


def categorical_example(seed: int = 0) -> dict[str, Any]:
    """Observations in five categories whose probabilities change: s = 1, p_c = 0.01. theta has a column per category."""
    family = Categorical(5, 1.0)
    return {"task": "categorical", "s": family.s, "p_c": P_C} | _with_a_few_changes(ChangingEnvironment(family, P_C), seed)


def bridge_example(seed: int = 0, days: int = 60) -> dict[str, Any]:
    """When a friend arrives, in minutes after leaving work, day by day, until a new bridge spares her the detour.

    The paper's story has no numbers. Here the way takes 40 minutes on average, the bridge opens somewhere in the middle third of
    the days and saves 12, and the days differ with a standard deviation of 4. `changed` is true on the first day, as in every
    sequence, and on the day of the opening.
    """
    if isinstance(days, bool) or not isinstance(days, (int, np.integer)) or days < 3:
        raise ValueError(f"bridge_example: days = {days!r} is not accepted; it must be a whole number, 3 or more")
    detour, saved, sigma = 40.0, 12.0, 4.0
    rng = np.random.default_rng(seed_sequence(seed))
    opening = int(rng.integers(days // 3, 2 * days // 3))
    day = np.arange(days)
    theta = np.where(day < opening, detour, detour - saved)
    changed = (day == 0) | (day == opening)
    return {
        "task": "bridge",
        "sigma": sigma,
        "p_c": 1.0 / days,
        "y": rng.normal(theta, sigma),
        "theta": theta,
        "changed": changed,
    }


def _with_a_few_changes(environment: ChangingEnvironment, seed: int) -> dict[str, np.ndarray]:
    """The first of the seed's sequences with a few changes: a picture of the model, not a fair sample of it."""
    source = seed_sequence(seed)
    while True:
        sample = environment.sample(STEPS, source.spawn(1)[0])
        if FEWEST <= sample.changed[1:].sum() <= MOST:
            return sample._asdict()
