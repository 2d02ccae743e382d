"""A small table of trials with onsets, the command on it, and the same measures from the library without tables."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pandas as pd

import volatilis as vl
from tests.helpers.command_line import Done, volatilis

FAMILY = "gaussian:sigma=1,mu_0=0,sigma_0=5"
LEARNERS = ("varsmile:m=0.1", "merge:n=3,p_c=0.1")
GAUSSIAN = vl.Gaussian(sigma=1.0, mu_0=0.0, sigma_0=5.0)
REFERENCE = {"varsmile": vl.VarSMiLe(GAUSSIAN, m=0.1), "merge": vl.Merge(GAUSSIAN, p_c=0.1, n=3)}
USUAL = {
    "varsmile": (
        "log_bayes_factor_surprise",
        "shannon_surprise",
        "adaptation_rate",
        "bayesian_surprise",
        "confidence_corrected_surprise",
    ),
    "merge": ("log_bayes_factor_surprise", "shannon_surprise", "adaptation_rate"),
}
TRIALS = 40


def trials(missing: tuple[int, ...] = ()) -> pd.DataFrame:
    """Two subjects, two runs each; the hidden mean changes now and then. `missing`: rows without an outcome."""
    rng = np.random.default_rng(5)
    parts = []
    for subject in ("01", "02"):
        for run in (1, 2):
            theta = np.repeat(rng.normal(0.0, 5.0, TRIALS // 8), 8)
            parts.append(
                pd.DataFrame(
                    {
                        "subject": subject,
                        "run": run,
                        "trial": np.arange(TRIALS),
                        "onset": np.cumsum(rng.uniform(3.0, 7.0, TRIALS)).round(3),
                        "duration": rng.uniform(0.5, 1.5, TRIALS).round(2),
                        "trial_type": np.where(rng.random(TRIALS) < 0.3, "catch", "main"),
                        "outcome": rng.normal(theta, 1.0).round(3),
                    }
                )
            )
    table = pd.concat(parts, ignore_index=True)
    table.loc[list(missing), "outcome"] = np.nan
    return table


def expected(table: pd.DataFrame, missing: str = "error") -> pd.DataFrame:
    """The usual regressors by `volatilis.run`, group by group."""
    parts = []
    for _, group in table.groupby(["subject", "run"], sort=False):
        columns = {}
        for label, learner in REFERENCE.items():
            trace = vl.run(learner, group.outcome.to_numpy(), missing=missing)
            columns |= {f"{label}_{measure}": getattr(trace, measure) for measure in USUAL[label]}
        parts.append(pd.DataFrame(columns, index=group.index))
    return pd.concat(parts)


def run(table: pd.DataFrame | pathlib.Path, folder: pathlib.Path, *options: str, **changed: Any) -> Done:
    """`volatilis run`; the table is written beside the folder. Options with a value of None are left away."""
    path = folder.parent / "trials.csv" if isinstance(table, pd.DataFrame) else table
    if isinstance(table, pd.DataFrame):
        table.to_csv(path, index=False)
    given = {"family": FAMILY, "by": "subject,run", "events": str(folder)} | changed
    named = [text for name, value in given.items() if value is not None for text in (f"--{name.replace('_', '-')}", str(value))]
    learners = [] if "learner" in changed else [text for learner in LEARNERS for text in ("--learner", learner)]
    return volatilis("run", path, *named, *learners, *options)
