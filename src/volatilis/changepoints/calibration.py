"""A threshold with a stated rate of false alarms: from simulation, checked on a log, or from the log's own quantiles.

False alarms are onsets of alarms per observation while nothing changes. A rate that is promised has been measured, on data that
did not choose the threshold, with its interval. What a log is too short for is refused.
"""

from __future__ import annotations

import os
import warnings
from typing import NamedTuple

import numpy as np

from volatilis.changepoints.alarm_files import AlarmFile, save_alarms
from volatilis.changepoints.alarms import AlarmRule, Rate
from volatilis.changepoints.thresholds import (
    FEW,
    OTHER,
    CalibrationError,
    cross_validated,
    rate_in_blocks,
    rule_for,
    statistics_of,
    threshold_by_simulation,
)
from volatilis.estimation import check
from volatilis.families import Gaussian
from volatilis.learners import Merge
from volatilis.learners._base import Learner
from volatilis.running import run
from volatilis.running.arguments import ModelMismatchWarning, Seed, checked_learner, labelled

WITHIN, OFTEN = (400, 200), 2e-3  # of the newest observations; 200 for alarms that may come more often than that
MOST = 0.1  # false alarms per observation
FEWEST = 3.0  # expected false alarms in a log that can be checked; 0 among so many has a probability of 5 %
ENOUGH = 10.0  # ... in a log whose own quantiles can choose the threshold
LARGEST = 1.0 - 1e-10  # a probability above it is next to 1: a threshold there hardly tells events apart
WIDER = (1.5, 2.0, 3.0, 4.5, 7.0, 10.0, 15.0, 22.0)


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
                away = "" if within else f", which excludes {self.false_alarms:.3g}: it is {times:.3g} times that"
                measured.append(f"{name}: {rate.text()}{away}")
        chosen = "simulation" if self.source == "simulation" else "the quantiles of the log"
        ends = f" (an event ends at {_level(self.rule.release)})" if self.rule.release < self.rule.threshold else ""
        rule = f"{self.rule.statistic} above {_level(self.rule.threshold)}{ends}, chosen by {chosen}"
        promise = f"{rule}, for {self.false_alarms:.3g} false alarms per observation. On {'; on '.join(measured)}."
        return " ".join([promise, *self.notes])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file `path` for `volatilis watch --alarms FILE`."""
        save_alarms(path, AlarmFile(self.learner, self.rule, self.false_alarms, self.sentence()))


def _level(value: float) -> str:
    """Thresholds next to 1 differ far behind the point."""
    return f"{value:.10g}" if 0.999 < value < 1.0 else f"{value:.6g}"


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
    statistic, within, cool_down, k, n      of the rule (`AlarmRule`); within: 400, frequent alarms 200
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
    if isinstance(false_alarms, bool) or not isinstance(false_alarms, (int, float)) or not 0.0 < false_alarms <= MOST:
        raise ValueError(
            f"false_alarms = {false_alarms!r} is not accepted; it must be above 0 and at most {MOST} per observation"
        )
    if learner is None and y is None:
        raise ValueError("calibrate needs a learner, or a log y to make one for")
    within = WITHIN[false_alarms > OFTEN] if within is None and statistic == "recent_change" else within
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


# --- with a log ------------------------------------------------------------------------------------------------------------


def _from_log(learner: Learner, rule: AlarmRule, target: float, log: object, seed: Seed) -> Calibration:
    values = statistics_of(learner, rule, log, seed)
    count = int((~np.isnan(values)).sum())
    if count * target < FEWEST:
        often = f"ask for {FEWEST / count:.2g} or more, or " if count * MOST >= FEWEST else ""
        raise CalibrationError(
            f"the log has {count:,} observation{'s' * (count != 1)}; a rate of {target:.3g} can be checked with "
            f"{int(np.ceil(FEWEST / target)):,}: {often}give a longer log"
        )
    notes: list[str] = []
    if count * target <= FEW:
        level = np.atleast_1d(run(learner, log, seed=seed, missing="elapse").mean[-1])
        chosen, simulated = threshold_by_simulation(learner, rule, target, seed, level)
        on_log, blocks = rate_in_blocks(chosen, values)
        low, high = on_log.interval
        lasting = float(np.mean(values[~np.isnan(values)] > chosen.release)) if chosen.release < chosen.threshold else 0.0
        if low <= target <= high and chosen.threshold < LARGEST and lasting < OTHER:
            notes += _about_blocks(blocks)
            return Calibration(chosen, learner, target, simulated, on_log, blocks, "simulation", tuple(notes))
        above = f", and is above {chosen.release:.3g}, where events end, {lasting:.0%} of the time" if lasting >= OTHER else ""
        notes.append(f"With the threshold from simulation, {chosen.threshold:.6g}, the log has a rate of {on_log.text()}{above}.")
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
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ModelMismatchWarning)  # it was told with the learner's own noise
                values = statistics_of(tried, rule, log, seed)
        chosen = rule_for(rule, [values], target)
        if rule.statistic != "log_bayes_factor_surprise" and chosen.threshold > LARGEST:
            continue
        if factor > 1.0:
            notes.append(f"sigma is {factor:g} times the learner's: with its own, {rule.statistic} is next to 1 too often here.")
        notes += [f"The family does not fit the log: {one.message}." for one in check(learner, log, missing="elapse").misfits]
        checked = cross_validated(rule, values, target)
        low, high = checked.interval
        if high < target / 2.0 or low > 2.0 * target:
            raise CalibrationError(
                f"a threshold from one half of the log gives the other half a rate of {checked.text()}, not {target:.3g}: the "
                "two halves differ; look for changes in it with volatilis changes"
            )
        rate, blocks = rate_in_blocks(chosen, values)
        low, high = rate.interval
        notes.append(
            f"The threshold rests on {rate.alarms} alarm{'s' * (rate.alarms != 1)} of the log: in other data of this kind it "
            f"gives a rate of {low:.3g} to {high:.3g} (95 %, for alarms that come one by one)."
        )
        return Calibration(chosen, tried, target, None, checked, blocks, "log", (*notes, *_about_blocks(blocks)))
    raise CalibrationError(
        f"no threshold keeps to a rate of {target:.3g}: {rule.statistic} is next to 1 more often than that on this "
        "log. The family does not fit: try a wider sigma or another family (volatilis environment compares some), or, in Python, "
        "another statistic"
    )


def candidates(learner: Learner) -> list[tuple[Learner, float]]:
    """The learner itself; then, of Gaussian observations with known noise, with ever wider noise."""
    family = learner.family
    if not isinstance(family, Gaussian):
        return [(learner, 1.0)]
    wide = [family._replace(sigma=factor * family.sigma) for factor in WIDER]
    return [(learner, 1.0), *((learner._replace(family=f), factor) for f, factor in zip(wide, WIDER, strict=True))]  # type: ignore[attr-defined]


def _about_blocks(blocks: tuple[int, ...]) -> list[str]:
    """A block with far more alarms than the others is said to be one."""
    from scipy import stats

    most, total = max(blocks), sum(blocks)
    if total and stats.binom.sf(most - 1, total, 1.0 / len(blocks)) < 1e-3:
        place = blocks.index(most) + 1
        return [f"Block {place} of {len(blocks)} of the log has {most} of its {total} alarms: something may have changed there."]
    return []
