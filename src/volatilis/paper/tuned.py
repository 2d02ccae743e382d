"""The learners of the paper, and the tuned parameter of each that has one, for every environment: computed once, kept in a file.

The paper searched on grids whose edges cut some optima off (errata 2). So each learner has two values: the best one, and that
within the authors' bounds, which is the best one moved to the nearest bound where it lies outside.
"""

from __future__ import annotations

import json
import math
import os
import pathlib
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from volatilis._core import sources
from volatilis._core.jobs import run_kept, threads_or_dask
from volatilis._core.store import Entry, Store
from volatilis.environments import ChangingEnvironment
from volatilis.experiments import tuning
from volatilis.experiments.tuning import free_parameter
from volatilis.learners import (
    ExactBayes,
    Leaky,
    Merge,
    MessagePassing,
    Nas10,
    Nas10Star,
    Nas12,
    Nas12Star,
    ParticleFilter,
    SMiLe,
    StratifiedResampling,
    VarSMiLe,
    record_of,
)
from volatilis.paper.published.code import PublishedStratifiedResampling, search_bounds
from volatilis.paper.published.files import tuned_values
from volatilis.paper.settings import CATEGORICAL, GAUSSIAN, MERGED, NEAR, PARTICLES, Size, TaskSetting, family_of

if TYPE_CHECKING:
    import pandas as pd

    from volatilis.learners._base import Learner


# --- the learners of the paper under its names, for one environment ----------------------------------------------------

WITH_N: dict[str, type] = {"pf": ParticleFilter, "MP": MessagePassing, "SOR": StratifiedResampling, "Merge": Merge}
TUNED: dict[str, dict[str, type]] = {  # those with a parameter that is tuned
    GAUSSIAN: {
        "VarSMiLe": VarSMiLe,
        "SMiLe": SMiLe,
        "Leaky": Leaky,
        "Nas10*": Nas10Star,
        "Nas12*": Nas12Star,
        "Nas10": Nas10,
        "Nas12": Nas12,
    },
    CATEGORICAL: {"VarSMiLe": VarSMiLe, "SMiLe": SMiLe, "Leaky": Leaky},
}


def benchmark_for(where: TaskSetting, near: bool) -> Learner:
    """Exact Bayes, or `near`: a Merge with so many hypotheses that its estimates hardly differ."""
    family = family_of(where.task, where.noise)
    return Merge(family, where.p_c, NEAR) if near else ExactBayes(family, where.p_c)


def all_learners(where: TaskSetting, tuned: Mapping[tuple[str, TaskSetting], Best]) -> dict[str, Learner]:
    """Every learner but Exact Bayes."""
    return sampling_learners(where) | tuned_learners(where, tuned)


def sampling_learners(where: TaskSetting) -> dict[str, Learner]:
    """Those whose one parameter is the true p_c."""
    family, p_c = family_of(where.task, where.noise), where.p_c
    learners: dict[str, Learner] = {f"{kind}{n}": WITH_N[kind](family, p_c, n) for kind in ("pf", "MP", "SOR") for n in PARTICLES}
    learners |= {f"SOR{n} (published)": PublishedStratifiedResampling(family, p_c, n) for n in PARTICLES}
    return learners | {f"Merge{n}": Merge(family, p_c, n) for n in MERGED}


def tuned_learners(where: TaskSetting, tuned: Mapping[tuple[str, TaskSetting], Best]) -> dict[str, Learner]:
    """Those with a tuned parameter: within the authors' bounds, and free of them."""
    learners: dict[str, Learner] = {}
    for name in TUNED[where.task]:
        best = tuned[name, where]
        learners[name] = _make(name, where, best.bounded)
        learners[f"{name} (free)"] = _make(name, where, best.free)
    return learners


def _make(name: str, where: TaskSetting, value: float) -> Learner:
    cls = TUNED[where.task][name]
    return record_of(cls).make(family_of(where.task, where.noise), {free_parameter(cls): value})


# --- the best leak of Leaky in the Gaussian task, in closed form ---------------------------------------------------------

# The estimate is sum_k (1 - omega) omega^k y_(t-k); means k steps apart correlate with (1 - p_c)^k. So
#
#     MSE(omega) = (1 - omega) / (1 + omega) (sigma^2 + sigma_0^2 (1 + omega a) / (1 - omega a)) + sigma_0^2
#                  - 2 sigma_0^2 (1 - omega) / (1 - omega a),       a = 1 - p_c


def error_of_leak(omega: float, sigma: float, p_c: float, sigma_0: float = 1.0) -> float:
    """The mean squared error of a leak, long after the start."""
    a, prior = 1.0 - p_c, sigma_0**2
    of_estimate = (1.0 - omega) / (1.0 + omega) * (sigma**2 + prior * (1.0 + omega * a) / (1.0 - omega * a))
    return of_estimate + prior - 2.0 * prior * (1.0 - omega) / (1.0 - omega * a)


def best_leak(sigma: float, p_c: float, sigma_0: float = 1.0) -> float:
    """The omega of the least error, up to 1 - 1e-6: a perfect integrator where that is best."""
    from scipy.optimize import minimize_scalar

    optimum = minimize_scalar(
        lambda x: error_of_leak(-math.expm1(-x), sigma, p_c, sigma_0),
        bounds=(0.0, -math.log(1e-6)),
        method="bounded",
        options={"xatol": 1e-9},
    )
    return -math.expm1(-float(optimum.x))


# --- their tuned parameters --------------------------------------------------------------------------------------------


class Best(NamedTuple):
    """A tuned value: without bounds, within the authors', and whether the search itself ended at a bound."""

    free: float
    bounded: float
    at_bound: str | None


class TunedLearner(NamedTuple):
    """A learner in an environment, and the value that was found."""

    name: str
    where: TaskSetting
    best: Best


Job = tuple[str, TaskSetting]  # a learner's name, and where it is tuned


def tune_all(
    environments: Iterable[TaskSetting],
    size: Size,
    folder: str | os.PathLike[str],
    workers: int | None = None,
    scheduler: str | None = None,
    progress: Callable[[float], None] = lambda share: None,
) -> dict[Job, Best]:
    """Tune every learner for every environment; what an earlier call has found is read from the folder.

    workers     threads; None takes one per core
    scheduler   the address of a Dask scheduler, to tune there instead
    """
    wanted = {_key(name, where): (name, where) for where in dict.fromkeys(environments) for name in TUNED[where.task]}
    longest_first = sorted(wanted, key=lambda key: (wanted[key][0] != "SMiLe", wanted[key][1].p_c))
    calls = {key: (*wanted[key], size) for key in longest_first}
    with _store(size, folder) as store, threads_or_dask(workers, scheduler) as queue:
        tuned = run_kept(queue, _tune_one, calls, store, progress)
    progress(1.0)
    return {job: tuned[key].best for key, job in wanted.items()}


def _shown(sequences: tuple[int, int]) -> str:
    return "{}x{}".format(*sequences)


def _tune_one(name: str, where: TaskSetting, size: Size, stop: Callable[[], bool] = lambda: False) -> TunedLearner:
    learner, environment = TUNED[where.task][name], ChangingEnvironment(family_of(where.task, where.noise), where.p_c)
    seeds, steps = size.tuning_sequences(where.p_c)
    best = tuning.tune(learner, environment, steps, range(1000, 1000 + seeds), stop=stop)
    low, high = search_bounds(learner, where.task == CATEGORICAL, where.p_c)
    return TunedLearner(name, where, Best(best.value, min(max(best.value, low), high), best.at_bound))


def use_published(values: dict[Job, Best], folder: str | os.PathLike[str]) -> dict[Job, Best]:
    """The same with the authors' own tuned values, where a reference folder has them."""
    theirs = tuned_values(folder)
    return {
        (name, where): best._replace(bounded=theirs.get((where.task, name, where.noise, where.p_c), best.bounded))
        for (name, where), best in values.items()
    }


def table(size: Size, folder: str | os.PathLike[str], reference: str | os.PathLike[str] | None = None) -> pd.DataFrame:
    """All values found so far in a folder, as a pandas table: the best one, that within the authors' bounds, and the one used.

    `used` is what stands under a learner's plain name: the authors' own value where the reference has it, else that within their
    bounds. `beyond` says at which end the best value lies outside those bounds; `search_ended_at`, at which end of our own, wider
    range the search stopped, so that the best value may lie beyond it.
    """
    import pandas as pd

    with _store(size, folder) as store:
        values = {(one.name, one.where): one.best for one in store.results()}
    published = tuned_values(reference) if reference is not None else {}
    rows = []
    for (name, where), best in sorted(
        values.items(), key=lambda item: (item[0][1].task != GAUSSIAN, item[0][0], *item[0][1][1:])
    ):
        theirs = published.get((where.task, name, where.noise, where.p_c))
        value, source = (best.bounded, "ours") if theirs is None else (theirs, "authors")
        beyond = "" if best.free == best.bounded else "above" if best.free > best.bounded else "below"
        rows.append(
            {
                "task": where.task,
                "learner": name,
                "noise": where.noise,
                "p_c": where.p_c,
                "parameter": tuning.free_parameter(TUNED[where.task][name]),
                "free": best.free,
                "within_bounds": best.bounded,
                "beyond": beyond,
                "search_ended_at": best.at_bound or "",
                "used": value,
                "source": source,
            }
        )
    return pd.DataFrame(rows)


# --- the store -----------------------------------------------------------------------------------------------------------


def _store(size: Size, folder: str | os.PathLike[str]) -> Store[TunedLearner]:
    sequences = f"{_shown(size.tuning)}-{_shown(size.rare_tuning)}"
    path = pathlib.Path(folder) / f"tuned-{size.name}-{sequences}.jsonl"
    return Store(path, sources.digest(__name__), _to_json, _from_json)


def _key(name: str, where: TaskSetting) -> str:
    return json.dumps([name, *where])


def _to_json(tuned: TunedLearner) -> Entry:
    return {"learner": tuned.name, "where": list(tuned.where), "best": list(tuned.best)}


def _from_json(entry: Entry) -> TunedLearner:
    return TunedLearner(str(entry["learner"]), TaskSetting(*entry["where"]), Best(*entry["best"]))
