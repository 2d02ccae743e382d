"""Exact inference by brute force: a sum over all 2^(t-1) histories of changes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from .conjugate import Family, Vector


class Posterior(NamedTuple):
    """What is known after y_1 .. y_t."""

    mean: Vector  # E[theta_t | y_1:t]
    variance: Vector  # Var[theta_t | y_1:t], element by element
    log_evidence: float  # log P(y_1:t)
    run_lengths: Vector  # P(R_t = r | y_1:t) at index r - 1, for r = 1 .. t
    gamma: float  # P(c_t = 1 | y_1:t); p_c at t = 1
    log_p: float  # log P(y_t; pi_t-1) = log P(y_t | y_1:t-1, c_t = 0); pi_0 is the prior
    log_p_0: float  # log P(y_t; pi_0) = log P(y_t | c_t = 1)


def segments(history: Sequence[int]) -> list[tuple[int, int]]:
    """The stretches [start, stop) between changes of a history c_1 .. c_t with c_1 = 1."""
    starts = [i for i, changed in enumerate(history) if changed]
    return list(zip(starts, [*starts[1:], len(history)], strict=True))


def log_evidence_without_change(family: Family, ys: Sequence[Any]) -> float:
    """log P(y_1:n | one theta) = sum over k of log P(y_k | y_1:k-1)."""
    return math.fsum(family.log_predictive(ys[:k], ys[k]) for k in range(len(ys)))


def log_joint_by_run_length(p_c: float, t: int, evidence: dict[tuple[int, int], float]) -> dict[int, float]:
    """log P(R_t = r, y_1:t) for r = 1 .. t: the sum over all histories that end with r steps since a change.

    P(c_1:t, y_1:t) = product over s = 2 .. t of p_c^c_s (1 - p_c)^(1 - c_s), times each segment's evidence.
    """
    terms: dict[int, list[float]] = {r: [] for r in range(1, t + 1)}
    for later_changes in itertools.product([0, 1], repeat=t - 1):
        stretches = segments((1, *later_changes))
        log_prior = math.fsum(math.log(p_c) if changed else math.log1p(-p_c) for changed in later_changes)
        log_likelihood = math.fsum(evidence[stretch] for stretch in stretches)
        terms[t - stretches[-1][0]].append(log_prior + log_likelihood)
    return {r: float(logsumexp(terms[r])) for r in terms}


def enumerate_histories(family: Family, p_c: float, ys: Sequence[Any]) -> list[Posterior]:
    """The exact posterior after each observation; 2^(T-1) histories, so T up to about 15."""
    ys = list(ys)
    stretches = itertools.combinations(range(len(ys) + 1), 2)
    evidence = {(i, j): log_evidence_without_change(family, ys[i:j]) for i, j in stretches}
    posteriors = []
    log_weights = {0: 0.0}  # log P(R_t-1 = r | y_1:t-1): before the first observation the run length is 0
    for t, y in enumerate(ys, start=1):
        stay = [w + family.log_predictive(ys[t - 1 - r : t - 1], y) for r, w in log_weights.items()]
        log_joint = log_joint_by_run_length(p_c, t, evidence)
        log_evidence = float(logsumexp(list(log_joint.values())))
        log_weights = {r: log_joint[r] - log_evidence for r in log_joint}
        weights = [math.exp(w) for w in log_weights.values()]
        mean, variance = family.mixture_moments(weights, [family.posterior(ys[t - r : t]) for r in log_weights])
        gamma = weights[0] if t > 1 else p_c
        log_p, log_p_0 = float(logsumexp(stay)), family.log_predictive([], y)
        posteriors.append(Posterior(mean, variance, log_evidence, np.array(weights), gamma, log_p, log_p_0))
    return posteriors


class WithOutliers(NamedTuple):
    """What is known after y_1 .. y_T where each observation may be an outlier."""

    log_evidence: float
    mean: Vector
    variance: Vector
    outlier: float  # P(y_T is an outlier | y_1:T)


def enumerate_outliers(
    family: Family, p_c: float, p_o: float, log_broad: Callable[[Any], float], ys: Sequence[Any]
) -> WithOutliers:
    """The exact posterior by a sum over all histories of changes and of outliers: 2^(2T-1), so T up to about 8."""
    ys, total = list(ys), len(ys)
    stretches: dict[tuple[int, int], list[tuple[float, tuple[int, ...]]]] = {}
    evidence: dict[tuple[int, ...], float] = {}
    for start, stop in itertools.combinations(range(total + 1), 2):
        terms = []
        for size in range(stop - start + 1):
            for taken in itertools.combinations(range(start, stop), size):
                if taken not in evidence:
                    evidence[taken] = log_evidence_without_change(family, [ys[t] for t in taken])
                strange = [math.log(p_o) + log_broad(ys[t]) for t in range(start, stop) if t not in taken]
                terms.append((evidence[taken] + size * math.log1p(-p_o) + math.fsum(strange), taken))
        stretches[start, stop] = terms
    sums = {stretch: float(logsumexp([log for log, _ in terms])) for stretch, terms in stretches.items()}
    logs, beliefs, last_is_outlier = [], [], []
    joint = log_joint_by_run_length(p_c, total, sums)
    for run, log_joint in joint.items():
        stretch = (total - run, total)
        for log_term, taken in stretches[stretch]:
            logs.append(log_joint - sums[stretch] + log_term)
            beliefs.append(family.posterior([ys[t] for t in taken]))
            last_is_outlier.append(total - 1 not in taken)
    log_evidence = float(logsumexp(logs))
    weights = np.exp(np.array(logs) - log_evidence)
    mean, variance = family.mixture_moments(weights, beliefs)
    return WithOutliers(log_evidence, mean, variance, float(weights[last_is_outlier].sum()))
