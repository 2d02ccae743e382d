"""An unknown change probability, by two ways that share nothing with the library.

`average_over` sums over all histories and a grid of values. `unknown_hazard` is the recursion of Wilson, Nassar & Gold (2010),
"Bayesian online learning of the hazard rate in change-point problems": with p_c ~ Beta(a, b), a history matters only through the
time of its last change and the number of its changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import stats
from scipy.special import logsumexp

from .conjugate import Vector
from .enumeration import enumerate_histories


class Average(NamedTuple):
    """What is known after y_1 .. y_t, averaged over values of the parameters."""

    mean: Vector
    variance: Vector
    log_predictive: float  # log P(y_t | y_1:t-1)
    gamma: float
    log_p: float
    log_p_0: float
    weights: Vector  # of the values, after y_t


def average_over(members: Sequence[tuple[Any, float]], weights: Sequence[float], ys: Sequence[Any]) -> list[Average]:
    """For the pairs (family, p_c) with these prior weights; all histories, so T up to about 10.

    P(y | c) = sum_k W_k P(c | k) P_k(y | c) / P(c), for c = 0 and c = 1.
    """
    histories = [enumerate_histories(family, p_c, ys) for family, p_c in members]
    p_c, log_w, results = np.array([p for _, p in members]), np.log(np.array(weights) / np.sum(weights)), []
    for posteriors in zip(*histories, strict=True):
        log_p, log_p_0 = (np.array([getattr(one, name) for one in posteriors]) for name in ("log_p", "log_p_0"))
        stay, change = logsumexp(log_w + np.log1p(-p_c) + log_p), logsumexp(log_w + np.log(p_c) + log_p_0)
        of_stay, of_change = logsumexp(log_w + np.log1p(-p_c)), logsumexp(log_w + np.log(p_c))
        evidence = np.logaddexp(stay, change)
        log_w = log_w + np.logaddexp(np.log1p(-p_c) + log_p, np.log(p_c) + log_p_0) - evidence
        w = np.exp(log_w)
        means, variances = (np.array([getattr(one, name) for one in posteriors]) for name in ("mean", "variance"))
        mean = w @ means
        variance = w @ (variances + (means - mean) ** 2)
        gamma = np.exp(change - evidence)
        results.append(Average(mean, variance, float(evidence), float(gamma), stay - of_stay, change - of_change, w))
    return results


class Hazard(NamedTuple):
    """Of each observation: the mean of mu and of p_c after it, and its log probability given those before."""

    mean: Vector
    p_c: Vector
    log_predictive: Vector


def unknown_hazard(ys: Vector, sigma: float, mu_0: float, sigma_0: float, a: float, b: float) -> Hazard:
    """Gaussian observations, p_c ~ Beta(a, b); node (s, c): the last change was at s, and there were c changes, the first not."""
    length = len(ys)
    weights = np.zeros((length, length))  # [s, c]
    means, precisions = np.zeros(length), np.zeros(length)  # of mu since s
    out = np.zeros((3, length))
    for t, y in enumerate(ys):
        means[t], precisions[t] = mu_0, sigma_0**-2
        deviation = np.sqrt(sigma**2 + 1 / precisions[: t + 1])
        likelihood = stats.norm.pdf(y, means[: t + 1], deviation)
        if t == 0:
            joint = np.zeros((length, length))
            joint[0, 0] = likelihood[0]
        else:
            changes = np.arange(length)
            hazard = (changes + a) / (t - 1 + a + b)  # t - 1 chances of a change so far
            joint = weights * (1 - hazard)
            joint[: t + 1] *= likelihood[:, None]
            joint[t, 1:] = (weights * hazard).sum(axis=0)[:-1] * likelihood[t]
        evidence = joint.sum()
        weights = joint / evidence
        precisions[: t + 1] += sigma**-2
        means[: t + 1] += (y - means[: t + 1]) * sigma**-2 / precisions[: t + 1]
        known = (np.arange(length) + a) / (t + a + b)
        out[:, t] = weights.sum(axis=1) @ means, weights.sum(axis=0) @ known, np.log(evidence)
    return Hazard(*out)
