"""How constant the prior predictive probability of the outcomes is within runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from volatilis.separation.equivalences import Flatness
from volatilis.separation.regressors import centred
from volatilis.trials.groups import Key


def change_probabilities(label: str, learners: Mapping[tuple[str, Key], Any], keys: Sequence[Key]) -> np.ndarray:
    """p_c of a learner in each group."""
    return np.array([learners[label, key].change_probability() for key in keys])


def log_prior_predictive(log_predictive: np.ndarray, log_bayes_factor: np.ndarray, p_c: np.ndarray) -> np.ndarray:
    """log P(y; pi_0), from P(y | all before) = P(y; pi_0) ((1 - p_c) / S_BF + p_c)."""
    return np.asarray(log_predictive - np.logaddexp(np.log1p(-p_c) - log_bayes_factor, np.log(p_c)))


def measure_flatness(measures: Mapping[str, np.ndarray], run: np.ndarray, p_c: np.ndarray) -> Flatness:
    """Of one learner, over the trials that are compared; p_c is that of each run."""
    predictive = measures["log_predictive"]
    prior = log_prior_predictive(predictive, measures["log_bayes_factor_surprise"], p_c[run])
    order = np.argsort(run, kind="stable")
    starts = np.flatnonzero(np.diff(run[order], prepend=-1))
    ranges = np.maximum.reduceat(prior[order], starts) - np.minimum.reduceat(prior[order], starts)
    own, whole = (centred(values[:, None], run)[:, 0] for values in (prior, predictive))
    total = float(whole @ whole)
    return Flatness(float(ranges.max()), float(np.sqrt(own @ own / total)) if total > 0.0 else 0.0)
