"""How often experiments of every size find what is true."""

from __future__ import annotations

import contextlib
import os
import pathlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from volatilis._core import sources
from volatilis._core.jobs import Processes, run_kept, worker_count
from volatilis._core.store import Store, digest
from volatilis.behaviour.design.experiment import experiment, findings
from volatilis.behaviour.design.setting import Setting, check

FORMAT = 6  # of the store


class Power(NamedTuple):
    """For each finding, number of trials and number of subjects: how many of the experiments found it.

    share, low, high   finding x trials x subjects; the interval is Wilson's for a binomial share, 95 %
    """

    setting: Setting
    findings: tuple[str, ...]
    repeats: int
    share: np.ndarray
    low: np.ndarray
    high: np.ndarray


class Smallest(NamedTuple):
    """The design with the fewest trials in all (then the fewest subjects) whose share reaches what is wanted."""

    finding: str
    wanted: float
    subjects: int
    trials: int
    share: float
    low: float


def power(
    setting: Setting,
    repeats: int = 200,
    workers: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    progress: Callable[[float], None] = lambda share: None,
) -> Power:
    """Simulate experiments, and count how many find what is true.

    setting    outcomes, learners, noise, and the designs to compare
    repeats    experiments; the interval of a share shrinks with their square root
    workers    processes; None takes one per core. The numbers are the same whatever the number
    folder     keeps what is done, and a second call goes on from there, with more repeats too
    progress   called with the share that is done

    Returns a Power: the share of experiments for each finding, number of trials and number of subjects. Raises ValueError for a
    setting that is not accepted.

    >>> from volatilis.behaviour import Setting, power, smallest
    >>> result = power(Setting(subjects=(4,), trials=(60,)), repeats=2, workers=1)
    >>> result.share.shape[1:], len(smallest(result, wanted=0.8)) == len(result.findings)
    ((1, 1), True)
    """
    check(setting)
    if repeats < 1:
        raise ValueError(f"repeats = {repeats!r} is not accepted; it must be a whole number, 1 or more")
    calls = {str(number): (setting, number) for number in range(repeats)}
    with contextlib.ExitStack() as stack:
        store = None if folder is None else stack.enter_context(_store(setting, folder))
        queue = stack.enter_context(Processes(min(worker_count(workers), repeats)))
        results = run_kept(queue, experiment, calls, store, progress)
    counts = np.sum([results[key] for key in calls], axis=0)
    low, high = wilson(counts, repeats)
    return Power(setting, tuple(findings(setting)), repeats, counts / repeats, low, high)


def smallest(result: Power, wanted: float) -> list[Smallest | None]:
    """The smallest design that finds what is true often enough.

    result   what `power` returned
    wanted   the share of experiments that must find it, such as 0.8

    Returns for each finding the design; None where no design of the grid reaches it. Raises nothing. Example: `power`.
    """
    setting = result.setting
    designs: list[Smallest | None] = []
    pairs = [(i, j) for i in range(len(setting.trials)) for j in range(len(setting.subjects))]
    pairs.sort(key=lambda pair: (setting.trials[pair[0]] * setting.subjects[pair[1]], setting.subjects[pair[1]]))
    for k, name in enumerate(result.findings):
        reached = [(i, j) for i, j in pairs if result.share[k, i, j] >= wanted]
        if not reached:
            designs.append(None)
            continue
        i, j = reached[0]
        shares = (float(result.share[k, i, j]), float(result.low[k, i, j]))
        designs.append(Smallest(name, wanted, setting.subjects[j], setting.trials[i], *shares))
    return designs


def wilson(counts: np.ndarray, n: int, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Wilson's interval of a binomial share."""
    from scipy import stats

    z = float(stats.norm.ppf(0.5 + 0.5 * level))
    share = counts / n
    middle, denominator = share + z * z / (2.0 * n), 1.0 + z * z / n
    reach = z * np.sqrt(share * (1.0 - share) / n + z * z / (4.0 * n * n))
    return np.maximum((middle - reach) / denominator, 0.0), np.minimum((middle + reach) / denominator, 1.0)


def _store(setting: Setting, folder: str | os.PathLike[str]) -> Store[np.ndarray]:
    """The experiments of one setting, by their numbers; another setting has another file."""
    shape = (len(findings(setting)), len(setting.trials), len(setting.subjects))
    users_sources = sources.user_digest(*(cls for model in setting.models() for cls in model.classes()))
    return Store(
        pathlib.Path(folder) / f"power-{digest(FORMAT, setting._replace(own=()), users_sources)[:16]}.jsonl",
        sources.digest("volatilis.behaviour.design.experiment"),
        lambda found: {"found": found.tolist()},
        lambda entry: np.array(entry["found"], dtype=float).reshape(shape),
    )
