"""How closely people's estimates follow a learner with fixed parameters: the mean over people of Pearson's correlation.

python docs/how-to/ada_correlation.py ada-pos.csv ada-prob.csv

The published value for the position task, 0.9598, has the reduced Bayesian model of Nassar et al. (2012) with h = 0.1 and three
choices: an outcome after a change has the density 1 on the slider from 0 to 1; the estimate after a change is that outcome;
a session starts with the belief N(0.5, sigma^2). That for the probability task, 0.7975, has exact inference with p_c = 0.05 and a
probability that is uniform from 0.1 to 0.9. A Beta prior has no such ends, but can have the same mean and variance.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import volatilis as vl

SIGMA, HAZARD, BROAD = 1 / 30, 0.1, 1000.0
UNIFORM_SD = 0.8 / math.sqrt(12)  # from 0.1 to 0.9
BETA = 0.125 / UNIFORM_SD**2 - 0.5  # Beta(a, a) has the variance 1 / (4 (2 a + 1))


def flat_prior(h: float) -> Any:
    """Nas12 whose surprise is that of a flat prior on a slider of length 1.

    Under a prior as broad as this every outcome has the same density, 1 / (sqrt(2 pi) sigma_0); only its product with the odds of
    a change matters, so the odds make up for what the density lacks.
    """
    odds = h / (1.0 - h) * math.sqrt(2.0 * math.pi) * BROAD
    return vl.Nas12(SIGMA, odds / (1.0 + odds), 0.5, BROAD)


def estimates(learner: Any, y: np.ndarray) -> np.ndarray:
    return vl.run(learner, y).mean


def from_the_middle(learner: Any, y: np.ndarray) -> np.ndarray:
    """As if an outcome of 0.5 had come before: under a broad prior the belief is then N(0.5, sigma^2)."""
    return estimates(learner, np.concatenate([[0.5], y]))[1:]


def correlations(trials: pd.DataFrame, believed: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """One per person, over the trials of all sessions together; the learner starts anew in each session."""
    found = []
    for _, own in trials.groupby("subject"):
        model = np.concatenate([believed(session.outcome.to_numpy(float)) for _, session in own.groupby("block")])
        found.append(np.corrcoef(model, own.estimate)[0, 1])
    return np.array(found)


POSITION = {
    "Nas12 as published": (flat_prior(HAZARD), from_the_middle),
    "the same, first outcome believed": (flat_prior(HAZARD), estimates),
    "nas12, sigma_0 = 1000": (vl.Nas12(SIGMA, HAZARD), estimates),
    "nas12*, sigma_0 = 0.289": (vl.Nas12Star(vl.Gaussian(SIGMA, 0.5, 1 / math.sqrt(12)), HAZARD), estimates),
    "nas12*, sigma_0 = 0.231": (vl.Nas12Star(vl.Gaussian(SIGMA, 0.5, UNIFORM_SD), HAZARD), estimates),
    "exact Bayes, sigma_0 = 0.231": (vl.ExactBayes(vl.Gaussian(SIGMA, 0.5, UNIFORM_SD), HAZARD), estimates),
}
PROBABILITY = {
    "exact Bayes, a = b = 1": (vl.ExactBayes(vl.Bernoulli(), 0.05), estimates),
    "exact Bayes, a = b = 1.84": (vl.ExactBayes(vl.Bernoulli(BETA, BETA), 0.05), estimates),
}


def main() -> None:
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    print(f"{'':34}  mean     s.e.m.   median   least")
    for path, learners in zip(sys.argv[1:], (POSITION, PROBABILITY), strict=True):
        trials = pd.read_csv(path)
        for name, (learner, believed) in learners.items():
            r = correlations(trials, functools.partial(believed, learner))
            print(f"{name:34}  {r.mean():.5f}  {r.std(ddof=1) / math.sqrt(r.size):.5f}  {np.median(r):.5f}  {r.min():.5f}")


if __name__ == "__main__":
    main()
