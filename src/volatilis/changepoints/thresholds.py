"""Which threshold gives a rate of false alarms: of simulated sequences, or of what a log shows.

While the statistic lingers near a threshold it crosses it several times. So that one event rings once, an event ends only where
the statistic is back at a level that it is at or below nine tenths of the time while nothing happens.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from volatilis._core.seeds import seed_sequence
from volatilis.changepoints.alarms import AlarmRule, KeyedAlarms, Rate
from volatilis.learners._base import Learner
from volatilis.running import run
from volatilis.running.arguments import ModelMismatchWarning, Seed

FEW, ALARMS = 400, 1_600  # simulated false alarms, at least and where that is soon done: standard errors of 5 and 2.5 %
LEAST, SOON, MOST = 400_000, 4_000_000, 20_000_000  # simulated observations
SHORT, LENGTH = 5_000, 50_000  # of a simulated sequence: the rate rises by a fifth in the first thousands of observations
SEQUENCES = 80  # the rate depends on where in the prior the parameter is, so there are many of them
USUAL = 0.9  # the share of quiet time in which the statistic is at or below where events end
OTHER = 0.3  # ... above it on a log: its usual level is another one than that of the model
BLOCKS = 10


class CalibrationError(ValueError):
    """A rate of false alarms that cannot be promised with what is there: the log is too short, or no threshold keeps to it."""


def threshold_by_simulation(
    learner: Learner, rule: AlarmRule, target: float, seed: Seed, theta: np.ndarray | None = None
) -> tuple[AlarmRule, Rate]:
    """The rule with its threshold, and its rate in as many observations again; theta: their parameter, where a log shows it."""
    if FEW / target > MOST:
        raise CalibrationError(
            f"a rate of {target:.3g} takes {int(FEW / target):,} simulated observations; {MOST:,} are simulated at most: ask for "
            f"{FEW / MOST:.3g} or more"
        )
    count = int(max(FEW / target, min(ALARMS / target, SOON), LEAST))
    first, second = seed_sequence(seed).spawn(2)
    chosen = rule_for(rule, simulate(learner, rule, count, first, theta), target)
    fresh = simulate(learner, rule, count, second, theta)
    return chosen, Rate(sum(int(alarms_at(chosen, part).sum()) for part in fresh), sum(map(len, fresh)))


def simulate(
    learner: Learner, rule: AlarmRule, count: int, seed: np.random.SeedSequence, theta: np.ndarray | None
) -> list[np.ndarray]:
    """The statistic in sequences in which nothing changes, at least so many observations; parameters are from the prior."""
    family, length = learner.family, min(LENGTH, max(count // SEQUENCES, SHORT))
    result = []
    for child in seed.spawn(-(-count // length)):
        rng = np.random.default_rng(child)
        y = family.sample_observations(family.sample_parameter(rng) if theta is None else theta, length, rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelMismatchWarning)  # what the log's level contradicts was told of the log
            result.append(statistics_of(learner, rule, y, child))
    return result


def statistics_of(learner: Learner, rule: AlarmRule, y: object, seed: Seed = 0) -> np.ndarray:
    return rule.statistics(run(learner, y, seed=seed, missing="elapse", readouts=("adaptation_rate",)))


def alarms_at(rule: AlarmRule, values: np.ndarray) -> np.ndarray:
    """Whether each observation of one sequence rings."""
    return KeyedAlarms(rule).of(values, np.zeros(len(values), dtype=np.int64), ~np.isnan(values))


def rule_for(rule: AlarmRule, parts: list[np.ndarray], target: float) -> AlarmRule:
    """The rule with the lowest threshold from which on upwards there are at most as many alarms as the target rate allows.

    Events end at the usual level of the statistic. For a rate so high that even a threshold there is not low enough, they end at
    the threshold itself. Raises CalibrationError where no threshold has that many.
    """
    everything = np.concatenate(parts)
    everything = everything[~np.isnan(everything)]
    levels = np.unique(everything)
    usual = float(np.quantile(everything, USUAL))
    first = int(np.searchsorted(levels, usual, side="right"))
    allowed = target * everything.size

    def tried(threshold: float, release: float | None) -> int:
        made = rule.with_threshold(threshold, release)
        return sum(int(alarms_at(made, part).sum()) for part in parts)

    if first < levels.size - 1 and tried(float(levels[first]), usual) > allowed:
        lowest = _lowest(levels[first:], lambda level: tried(level, usual), allowed)
        return rule.with_threshold(lowest, usual)
    return rule.with_threshold(_lowest(levels, lambda level: tried(level, None), allowed))


def _lowest(levels: np.ndarray, alarms: Callable[[float], int], allowed: float) -> float:
    """From the highest level down, in steps that double: far below, a statistic that never comes down has few onsets too."""
    high, low, step, most = levels.size - 1, levels.size - 1, 1, 0
    while low > 0:
        low = max(high - step, 0)
        count = alarms(float(levels[low]))
        if count > allowed:
            break
        high, step, most = low, 2 * step, max(most, count)
    else:
        raise CalibrationError(
            f"no threshold gives {allowed:.0f} alarms: at most about {most} begin, whatever the threshold; ask for fewer, or "
            "look whether the learner expects such observations (volatilis environment)"
        )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if alarms(float(levels[middle])) > allowed else (low, middle)
    return float((levels[high] + levels[low]) / 2.0)


def rate_in_blocks(rule: AlarmRule, values: np.ndarray) -> tuple[Rate, tuple[int, ...]]:
    """Block by block, each as the continuation of the one before: alarms are counted where they ring."""
    blocks = tuple(int(part.sum()) for part in np.array_split(alarms_at(rule, values), BLOCKS))
    return Rate(sum(blocks), int((~np.isnan(values)).sum())), blocks


def cross_validated(rule: AlarmRule, values: np.ndarray, target: float) -> Rate:
    """Every other block chooses a threshold, the rest is measured with it; and the other way round."""
    parts = np.array_split(values, BLOCKS)
    alarms = observations = 0
    for turn in (0, 1):
        chosen = rule_for(rule, parts[turn::2], target)
        for part in parts[1 - turn :: 2]:
            alarms += int(alarms_at(chosen, part).sum())
            observations += int((~np.isnan(part)).sum())
    return Rate(alarms, observations)
