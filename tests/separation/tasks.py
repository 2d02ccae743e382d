"""Tables of simulated outcomes, and what `separate` makes of them."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

import volatilis as vl
from volatilis.catalogue import make_family, parse_family, parse_learners
from volatilis.predictions import FirstWindow, SecondWindow
from volatilis.separation import SeparateRequest, Separation, separate
from volatilis.trials import Result, RunRequest, compute

BothWindows = tuple[FirstWindow, SecondWindow]
DEFAULT_WINDOWS = FirstWindow(), SecondWindow()
DIRECT = ("mean", "variance", "run_length", "bayes_factor_surprise", "log_bayes_factor_surprise")
DIRECT += ("shannon_surprise", "adaptation_rate", "log_predictive")


def simulated(family: str, runs: int = 2, trials: int = 120, p_c: float = 0.1) -> pd.DataFrame:
    """Runs of a changing environment, one after the other."""
    made = make_family(parse_family(family), {})
    parts = []
    for run in range(runs):
        y = np.asarray(vl.ChangingEnvironment(made, p_c).sample(trials, seed=run + 1).y)
        columns = {"outcome": y} if y.ndim == 1 else {f"y{k}": y[:, k] for k in range(y.shape[1])}
        parts.append(pd.DataFrame({"subject": run, "trial": np.arange(trials), **columns}))
    return pd.concat(parts, ignore_index=True)


def request_for(frame: pd.DataFrame, folder: pathlib.Path, family: str, learners: Sequence[str], **more: Any) -> RunRequest:
    path = folder / "trials.csv"
    frame.to_csv(path, index=False)
    outcome = tuple(name for name in frame.columns if name == "outcome" or name.startswith("y"))
    return RunRequest(path, parse_family(family), tuple(parse_learners(learners)), outcome=outcome, workers=1, **more)


def separated(
    frame: pd.DataFrame,
    folder: pathlib.Path,
    family: str,
    learners: Sequence[str],
    windows: BothWindows = DEFAULT_WINDOWS,
    **more: Any,
) -> tuple[Separation, Result]:
    """What is found, and the plain measures to check it with."""
    request = request_for(frame, folder, family, learners, **more)
    return separate(SeparateRequest(request, first_window=windows[0], second_window=windows[1])), compute(request)
