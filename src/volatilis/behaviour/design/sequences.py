"""Outcome sequences chosen so that the measures differ most, beside random ones.

Random sequences of the environment are drawn, the best is taken, and it is improved: one stretch between two changes is drawn
anew, mean and outcomes, and kept if the sequence got better. Changes stay where they were, so their number is that of a random
sequence; means and outcomes are no longer a fair sample of the environment, which the summary shows.

Three things are wanted of a sequence, and the score is the mean of their logarithms, each relative to the middle random sequence:

apart    the share of the variance of log S_BF that S_Sh does not explain (1 - r^2)
first    what prediction 1 rests on: trials of both signs at each absolute error, n_+ n_- / (n_+ + n_-), summed over errors
second   what prediction 2 rests on: the squared distance of p from its mean, summed over the trials that it selects
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from volatilis.behaviour.design.experiment import believe_first, observed
from volatilis.behaviour.design.setting import Setting, Shown, check
from volatilis.environments import Sample

CRITERIA = ("apart", "first", "second")
SOFTENED = {"apart": 1e-3, "first": 0.5, "second": 1e-3}  # added, so that a sequence without any is bad and not infinitely so


class Chosen(NamedTuple):
    """A sequence and how it compares.

    criteria          of the chosen sequence, in the order of CRITERIA
    random            candidate x criterion: of the random sequences
    score, scores     of the chosen one and of the random ones
    improvements      how many changes of a stretch were kept
    """

    sample: Sample
    criteria: np.ndarray
    random: np.ndarray
    score: float
    scores: np.ndarray
    improvements: int


def choose(
    setting: Setting,
    candidates: int = 200,
    tries: int = 500,
    progress: Callable[[float], None] = lambda share: None,
    number: int = 0,
) -> Chosen:
    """Choose a sequence of outcomes that tells more than random ones: the best of many, improved.

    setting      outcomes and learners; the sequence has the most of its trials
    candidates   random sequences to choose from
    tries        attempts to improve the best one, each with one stretch drawn anew
    progress     called with the share that is done
    number       another one chooses another sequence

    Returns a Chosen, whose `sample` is the sequence. Raises ValueError for a setting that is not accepted.

    >>> from volatilis.behaviour import Setting, choose
    >>> chosen = choose(Setting(trials=(60,)), candidates=5, tries=5)
    >>> len(chosen.sample.y), bool(chosen.score >= chosen.scores.max())
    (60, True)
    """
    check(setting)
    if setting.has_contexts():
        raise ValueError("a sequence of outcomes can be chosen only where there are no contexts")
    if candidates < 2 or tries < 0:
        raise ValueError(f"candidates = {candidates} and tries = {tries}: candidates must be 2 or more, tries 0 or more")
    length, total = max(setting.trials), candidates + tries
    draws, changing = np.random.SeedSequence([setting.seed, 2, number]).spawn(2)
    samples, values = [], []
    for k, child in enumerate(draws.spawn(candidates)):
        samples.append(setting.environment().sample(length, child))
        values.append(criteria(setting, samples[-1].y))
        progress(k / total)
    random = np.array(values)
    middle = np.median(random, axis=0)
    scores = _scores(random, middle)
    best = int(np.argmax(scores))
    sample, reached, score, kept = samples[best], random[best], float(scores[best]), 0
    rng = np.random.default_rng(changing)
    for k in range(tries):
        other = _redrawn(setting, sample, rng)
        its = criteria(setting, other.y)
        its_score = float(_scores(its[None], middle)[0])
        if its_score > score:
            sample, reached, score, kept = other, its, its_score, kept + 1
        progress((candidates + k + 1) / total)
    progress(1.0)
    return Chosen(sample, reached, random, score, scores, kept)


def criteria(setting: Setting, y: np.ndarray) -> np.ndarray:
    """How much a sequence tells, in the order of CRITERIA, for the setting's first learner."""
    believed = believe_first(setting, Shown(y), np.random.SeedSequence([setting.seed, 3]))
    seen = observed(setting, Shown(y), believed, np.zeros(y.size))
    plus, minus = setting.first_window.masks(seen).sum(axis=-1)
    first = np.sum(plus * minus / np.maximum(plus + minus, 1))
    chosen = setting.second_window.masks(seen).any(axis=0)
    p = 0.5 * (seen.p + seen.p_0)[chosen]
    second = float(np.sum((p - p.mean()) ** 2)) if p.size > 1 else 0.0
    r = np.corrcoef(believed.log_bayes_factor, believed.shannon)[0, 1]
    return np.array([1.0 - r * r, first, second])


def _scores(values: np.ndarray, middle: np.ndarray) -> np.ndarray:
    softened = np.array([SOFTENED[name] for name in CRITERIA])
    return np.mean(np.log((values + softened) / (middle + softened)), axis=1)


def _redrawn(setting: Setting, sample: Sample, rng: np.random.Generator) -> Sample:
    """The same with one stretch between two changes drawn anew."""
    starts = np.flatnonzero(sample.changed)
    k = int(rng.integers(starts.size))
    stretch = slice(int(starts[k]), int(starts[k + 1]) if k + 1 < starts.size else len(sample.y))
    family = setting.environment().family
    theta = family.sample_parameter(rng)
    y, means = np.array(sample.y, dtype=float), np.array(sample.theta, dtype=float)
    y[stretch] = family.sample_observations(theta, stretch.stop - stretch.start, rng)
    means[stretch] = np.ravel(theta)[0]
    return Sample(y, means, sample.changed)
