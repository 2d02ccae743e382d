"""A threshold with a stated rate of false alarms: from simulation, checked on a log, or from the log's own quantiles.

False alarms are onsets of alarms per observation while nothing changes. A rate that is promised has been measured, on data that
did not choose the threshold, with its interval. What a log is too short for is refused.
"""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np

from volatilis._core.seeds import seed_sequence
from volatilis.changepoints.alarms import AlarmFile, AlarmRule, KeyedAlarms, Rate, save_alarms
from volatilis.estimation import check
from volatilis.families import Gaussian
from volatilis.learners import Merge
from volatilis.learners._base import Learner
from volatilis.running import run
from volatilis.running.arguments import Seed, checked_learner, labelled

WITHIN, RARE = (200, 400), 5e-4  # of the newest observations, for shifts from half a standard deviation on; 400 for rarer alarms
ALARMS = 400  # simulated false alarms: a standard error of 5 %
MOST = 20_000_000  # simulated observations
LENGTH = 50_000  # of a simulated sequence at most: the rate rises by a fifth in the first thousands of observations
FEWEST = 3.0  # expected false alarms in a log that can be checked; 0 among so many has a probability of 5 %
ENOUGH = 10.0  # ... in a log whose own quantiles can choose the threshold
BLOCKS = 10
LARGEST = 1.0 - 1e-10  # a probability above it is next to 1: a threshold there hardly tells events apart
WIDER = (1.5, 2.0, 3.0, 4.5, 7.0, 10.0, 15.0, 22.0)


class CalibrationError(ValueError):
    """A rate of false alarms that cannot be promised with what is there: the log is too short, or no threshold keeps to it."""


class Calibration(NamedTuple):
    """An alarm rule, and what was measured about it.

    rule, learner   use both together: vl.Stream(learner, within=rule.within), or `watch --alarms FILE` after `save`
    false_alarms    the rate that was asked for
    simulated       the rate in data from the model that did not choose the threshold
    on_log          the rate on the log; by cross-validation where the log chose the threshold. None without a log
    blocks          alarms in each of ten blocks of the log
    source          "simulation" or "log": what chose the threshold
    notes           what somebody who uses it should know

    >>> import volatilis as vl
    >>> learner, rule = vl.Merge(vl.Gaussian(sigma=1.0), p_c=0.01, n=20), vl.AlarmRule(0.7, within=100)
    >>> vl.Calibration(rule, learner, 1e-3, None, None, (), "simulation", ()).rule.within
    100
    """

    rule: AlarmRule
    learner: Learner
    false_alarms: float
    simulated: Rate | None
    on_log: Rate | None
    blocks: tuple[int, ...]
    source: str
    notes: tuple[str, ...]

    def sentence(self) -> str:
        """What it found, in words."""
        measured = []
        for name, rate in (("data from the model", self.simulated), ("the log", self.on_log)):
            if rate is not None:
                within, times = rate.interval[0] <= self.false_alarms <= rate.interval[1], rate.value / self.false_alarms
                away = "" if within else f", which excludes {self.false_alarms:.3g}: it is {times:.2g} times that"
                measured.append(f"{name}: {rate.text()}{away}")
        chosen = "simulation" if self.source == "simulation" else "the quantiles of the log"
        rule = f"{self.rule.statistic} above {self.rule.threshold:.6g}, chosen by {chosen}"
        promise = f"{rule}, for {self.false_alarms:.3g} false alarms per observation. On {'; on '.join(measured)}."
        return " ".join([promise, *self.notes])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file `path` for `volatilis watch --alarms FILE`."""
        save_alarms(path, AlarmFile(self.learner, self.rule, self.false_alarms, self.sentence()))


def calibrate(
    learner: Learner | None = None,
    y: object = None,
    *,
    false_alarms: float = 1e-4,
    statistic: str = "recent_change",
    within: int | None = None,
    cool_down: int = 0,
    k: int = 1,
    n: int = 1,
    seed: Seed = 0,
) -> Calibration:
    """Choose the threshold of an alarm rule for a rate of false alarms, and measure the rate.

    learner        such as Merge(family, p_c, n=20); None with a log: Gaussian observations with what the log itself shows
    y              a log in which nothing, or little, changed; without one the rate holds for data from the model only
    false_alarms   onsets of alarms per observation while nothing changes
    statistic, within, cool_down, k, n      of the rule (`AlarmRule`); within: 200, rare alarms 400
    seed           of the simulation; the same seed gives the same threshold

    With a log the threshold comes from simulation if the log agrees with it, else from the log's own quantiles.

    Returns a Calibration: the rule, and the rates that were measured on data that did not choose it.

    Raises CalibrationError where the log is too short, or where no threshold of this learner keeps to the rate; ValueError for a
    rate that is not above 0 and at most 0.1.

    >>> import volatilis as vl
    >>> vl.calibrate(vl.Merge(vl.Gaussian(sigma=1.0), p_c=0.01, n=3), false_alarms=0.5)
    Traceback (most recent call last):
    ValueError: false_alarms = 0.5 is not accepted; it must be above 0 and at most 0.1 per observation
    """
    if isinstance(false_alarms, bool) or not isinstance(false_alarms, (int, float)) or not 0.0 < false_alarms <= 0.1:
        raise ValueError(f"false_alarms = {false_alarms!r} is not accepted; it must be above 0 and at most 0.1 per observation")
    if learner is None and y is None:
        raise ValueError("calibrate needs a learner, or a log y to make one for")
    within = WITHIN[false_alarms < RARE] if within is None and statistic == "recent_change" else within
    rule = AlarmRule(0.0, statistic, within=within, cool_down=cool_down, k=k, n=n)
    log = None if y is None else labelled(y)[0]
    fitted = checked_learner(learner) if learner is not None else learner_for(log)
    if log is None:
        chosen, simulated = threshold_by_simulation(fitted, rule, false_alarms, seed)
        only = ("It holds for data from the model only.",)
        return Calibration(chosen, fitted, false_alarms, simulated, None, (), "simulation", only)
    return _from_log(fitted, rule, false_alarms, log, seed)


def learner_for(log: object) -> Learner:
    """Merge on Gaussian observations: the noise from differences of neighbours, the prior from the whole log."""
    values = np.asarray(log, dtype=float)
    values = values[np.isfinite(values)] if values.ndim == 1 else values[:0]
    if values.size < 100:
        raise CalibrationError(f"a learner for a log of {values.size} numbers cannot be estimated; 100 are needed, or a learner")
    sigma = float(np.median(np.abs(np.diff(values))) / (0.6745 * np.sqrt(2.0)))
    spread = float(np.subtract(*np.percentile(values, [99.5, 0.5])))
    if not sigma > 0.0:
        raise CalibrationError("neighbours in the log are mostly equal, so no noise can be estimated: give a learner")
    return Merge(Gaussian(sigma, float(np.median(values)), max(spread, 5.0 * sigma)), 1e-3, 20)


# --- from the model --------------------------------------------------------------------------------------------------------


def threshold_by_simulation(
    learner: Learner, rule: AlarmRule, target: float, seed: Seed, theta: np.ndarray | None = None
) -> tuple[AlarmRule, Rate]:
    """The rule with its threshold, and its rate in as many observations again; theta: their parameter, where a log shows it."""
    count = int(ALARMS / target)
    if count > MOST:
        raise CalibrationError(
            f"a rate of {target:.3g} takes {count:,} simulated observations; {MOST:,} are simulated at most: ask for "
            f"{ALARMS / MOST:.3g} or more"
        )
    first, second = seed_sequence(seed).spawn(2)
    values = simulate(learner, rule, count, first, theta)
    chosen = rule.with_threshold(threshold_for(rule, values, target))
    fresh = simulate(learner, rule, count, second, theta)
    return chosen, Rate(sum(int(alarms_at(chosen, part).sum()) for part in fresh), sum(map(len, fresh)))


def simulate(
    learner: Learner, rule: AlarmRule, count: int, seed: np.random.SeedSequence, theta: np.ndarray | None
) -> list[np.ndarray]:
    """The statistic in sequences in which nothing changes, at least so many observations; parameters are from the prior."""
    family, length = learner.family, min(LENGTH, max(count // 8, 1_000))
    result = []
    for child in seed.spawn(-(-count // length)):
        rng = np.random.default_rng(child)
        y = family.sample_observations(family.sample_parameter(rng) if theta is None else theta, length, rng)
        result.append(statistics_of(learner, rule, y, child))
    return result


def statistics_of(learner: Learner, rule: AlarmRule, y: object, seed: Seed = 0) -> np.ndarray:
    return rule.statistics(run(learner, y, seed=seed, missing="elapse", readouts=("adaptation_rate",)))


def alarms_at(rule: AlarmRule, values: np.ndarray) -> np.ndarray:
    """Whether each observation of one sequence rings."""
    return KeyedAlarms(rule).of(values, np.zeros(len(values), dtype=np.int64), ~np.isnan(values))


def threshold_for(rule: AlarmRule, parts: list[np.ndarray], target: float) -> float:
    """The lowest threshold from which on upwards there are at most as many alarms as the target rate allows.

    From the highest value down: far below, a statistic that never comes down has few onsets too.
    """
    everything = np.concatenate(parts)
    levels = np.unique(everything[~np.isnan(everything)])
    allowed = target * int((~np.isnan(everything)).sum())

    def too_many(place: int) -> bool:
        tried = rule.with_threshold(float(levels[place]))
        return sum(int(alarms_at(tried, part).sum()) for part in parts) > allowed

    high, step = levels.size - 1, 1
    while high - step > 0 and not too_many(high - step):
        high, step = high - step, 2 * step
    low = max(high - step, 0)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if too_many(middle) else (low, middle)
    return float((levels[high] + levels[low]) / 2.0)


# --- with a log ------------------------------------------------------------------------------------------------------------


def _from_log(learner: Learner, rule: AlarmRule, target: float, log: object, seed: Seed) -> Calibration:
    values = statistics_of(learner, rule, log, seed)
    count = int((~np.isnan(values)).sum())
    if count * target < FEWEST:
        raise CalibrationError(
            f"the log has {count:,} observations; a rate of {target:.3g} can be checked with {int(np.ceil(FEWEST / target)):,}: "
            f"ask for {FEWEST / max(count, 1):.2g} or more, or give a longer log"
        )
    notes: list[str] = []
    if count * target <= ALARMS:
        level = np.atleast_1d(run(learner, log, seed=seed, missing="elapse").mean[-1])
        chosen, simulated = threshold_by_simulation(learner, rule, target, seed, level)
        on_log, blocks = rate_in_blocks(chosen, values)
        low, high = on_log.interval
        if low <= target <= high and chosen.threshold < LARGEST:
            notes += _about_blocks(blocks)
            return Calibration(chosen, learner, target, simulated, on_log, blocks, "simulation", tuple(notes))
        notes.append(f"With the threshold from simulation, {chosen.threshold:.6g}, the log has a rate of {on_log.text()}.")
    return _by_quantiles(learner, rule, target, log, values, count, notes, seed)


def _by_quantiles(
    learner: Learner, rule: AlarmRule, target: float, log: object, values: np.ndarray, count: int, notes: list[str], seed: Seed
) -> Calibration:
    if count * target < ENOUGH:
        raise CalibrationError(
            " ".join(notes) + f" The log does not agree with the model, and its own quantiles give a rate of {target:.3g} from "
            f"{int(np.ceil(ENOUGH / target)):,} observations; it has {count:,}: choose another family, or a longer log"
        )
    for tried, factor in candidates(learner):
        if factor > 1.0:
            values = statistics_of(tried, rule, log, seed)
        threshold = threshold_for(rule, [values], target)
        if rule.statistic != "log_bayes_factor_surprise" and threshold > LARGEST:
            continue
        if factor > 1.0:
            notes.append(f"sigma is {factor:g} times the learner's: with its own, {rule.statistic} is next to 1 too often here.")
            found = check(learner, log, missing="elapse").misfits
            notes += [f"The family does not fit the log: {one.message}." for one in found]
        checked = cross_validated(rule, values, target)
        low, high = checked.interval
        if high < target / 2.0 or low > 2.0 * target:
            raise CalibrationError(
                f"a threshold from one half of the log gives the other half a rate of {checked.text()}, not {target:.3g}: the "
                "log is not the same all the way; look for changes in it with volatilis changes"
            )
        chosen = rule.with_threshold(threshold)
        _, blocks = rate_in_blocks(chosen, values)
        return Calibration(chosen, tried, target, None, checked, blocks, "log", (*notes, *_about_blocks(blocks)))
    raise CalibrationError(
        f"no threshold keeps to a rate of {target:.3g}: {rule.statistic} is next to 1 more often on this log; the family "
        "does not fit: a wider sigma, another family, or statistic='log_bayes_factor_surprise'"
    )


def candidates(learner: Learner) -> list[tuple[Learner, float]]:
    """The learner itself; then, of Gaussian observations with known noise, with ever wider noise."""
    family = learner.family
    if not isinstance(family, Gaussian):
        return [(learner, 1.0)]
    wide = [family._replace(sigma=factor * family.sigma) for factor in WIDER]
    return [(learner, 1.0), *((learner._replace(family=f), factor) for f, factor in zip(wide, WIDER, strict=True))]  # type: ignore[attr-defined]


def rate_in_blocks(rule: AlarmRule, values: np.ndarray) -> tuple[Rate, tuple[int, ...]]:
    """Block by block, each as the continuation of the one before: alarms are counted where they ring."""
    blocks = tuple(int(part.sum()) for part in np.array_split(alarms_at(rule, values), BLOCKS))
    return Rate(sum(blocks), int((~np.isnan(values)).sum())), blocks


def cross_validated(rule: AlarmRule, values: np.ndarray, target: float) -> Rate:
    """Every other block chooses a threshold, the rest is measured with it; and the other way round."""
    parts = np.array_split(values, BLOCKS)
    alarms = observations = 0
    for turn in (0, 1):
        chosen = rule.with_threshold(threshold_for(rule, parts[turn::2], target))
        for part in parts[1 - turn :: 2]:
            alarms += int(alarms_at(chosen, part).sum())
            observations += int((~np.isnan(part)).sum())
    return Rate(alarms, observations)


def _about_blocks(blocks: tuple[int, ...]) -> list[str]:
    """A block with far more alarms than the others is said to be one."""
    from scipy import stats

    most, total = max(blocks), sum(blocks)
    if total and stats.binom.sf(most - 1, total, 1.0 / len(blocks)) < 1e-3:
        place = blocks.index(most) + 1
        return [f"Block {place} of {len(blocks)} of the log has {most} of its {total} alarms: something may have changed there."]
    return []
