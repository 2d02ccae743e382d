"""Simulated people with a measured indicator, for the tests of the two predictions. Written without the code under test."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

import volatilis as vl
from volatilis.predictions import SubjectTrials

SIGMA, P_C, FLAT = 0.5, 0.1, 1000.0


def person(i: int, trials: int = 500, reflects: str = "S_BF", noise: float = 0.0, uses_prior: bool = True) -> SubjectTrials:
    """Someone who learns by Nas12*; the indicator reflects a surprise of theirs, or the error, or nothing."""
    y = vl.ChangingEnvironment(vl.Gaussian(SIGMA), P_C).sample(trials, seed=i).y
    family = vl.Gaussian(SIGMA, 0.0, 1.0 if uses_prior else FLAT)
    trace = vl.run(vl.Nas12Star(family, P_C), y)
    mean, sd = np.concatenate([[0.0], trace.mean[:-1]]), np.sqrt(trace.variance)
    before = np.concatenate([[family.sigma_0], sd[:-1]])
    p = stats.norm.pdf(y, mean, np.hypot(SIGMA, before))
    p_0 = stats.norm.pdf(y, 0.0, np.hypot(SIGMA, family.sigma_0))
    measures: dict[str, Any] = {
        "S_BF": p_0 / p,
        "log S_BF": np.log(p_0 / p),
        "S_Sh": -np.log(P_C * p_0 + (1.0 - P_C) * p),
        "error": np.abs(y - mean),
        "nothing": np.zeros(trials),
    }
    measured = measures[reflects] + np.random.default_rng([i, 7]).normal(0.0, 1.0, trials) * noise
    return SubjectTrials(f"s{i}", measured, mean, y - mean, before, sd, p, p_0)


def table(subjects: int = 6, trials: int = 300, mu_0: float = 150.0, sigma_0: float = 20.0, seed: int = 0) -> pd.DataFrame:
    """Trials in the units of a user: predictions and confidence before each outcome, two indicators."""
    rows = []
    for subject in range(1, subjects + 1):
        rng = np.random.default_rng([seed, subject])
        y = vl.ChangingEnvironment(vl.Gaussian(SIGMA), P_C).sample(trials, seed=100 * seed + subject).y
        trace = vl.run(vl.Nas12Star(vl.Gaussian(SIGMA), P_C), y)
        mean, sd = np.concatenate([[0.0], trace.mean[:-1]]), np.sqrt(np.concatenate([[1.0], trace.variance[:-1]]))
        guess = mean + rng.normal(0.0, 0.05, trials)
        pupil = trace.bayes_factor_surprise + rng.normal(0.0, 0.5, trials)
        slow = trace.shannon_surprise + rng.normal(0.0, 0.1, trials)
        own = {"subject": subject, "outcome": mu_0 + sigma_0 * y, "prediction": mu_0 + sigma_0 * guess, "sure": -np.log(sd)}
        rows.append(pd.DataFrame({**own, "pupil": pupil, "slow": slow}))
    return pd.concat(rows, ignore_index=True)
