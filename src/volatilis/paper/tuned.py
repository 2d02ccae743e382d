"""The tuned parameter of every learner that has one, for every environment of the paper: computed once, kept in a file.

The paper searched on grids whose edges cut some optima off (errata 2). So each learner has two values: the best one, and that
within the authors' bounds, which is the best one moved to the nearest bound where it lies outside.
"""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from volatilis._core import sources
from volatilis._core.jobs import run_kept, threads_or_dask
from volatilis._core.store import Entry, Store
from volatilis.environments import ChangingEnvironment
from volatilis.experiments import tuning
from volatilis.paper.learners import TUNED
from volatilis.paper.published.code import search_bounds
from volatilis.paper.published.files import has_tuned_values, tuned_values
from volatilis.paper.settings import CATEGORICAL, GAUSSIAN, Environment, Size, family_of

if TYPE_CHECKING:
    import pandas as pd


class Best(NamedTuple):
    """A tuned value: without bounds, within the authors', and whether the search itself ended at a bound."""

    free: float
    bounded: float
    at_bound: str | None


class Tuned(NamedTuple):
    """A learner in an environment, and the value that was found."""

    name: str
    where: Environment
    best: Best


Job = tuple[str, Environment]  # a learner's name, and where it is tuned


def tune_all(
    environments: Iterable[Environment],
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


def _tune_one(name: str, where: Environment, size: Size, stop: Callable[[], bool] = lambda: False) -> Tuned:
    learner, environment = TUNED[where.task][name], ChangingEnvironment(family_of(where.task, where.noise), where.p_c)
    seeds, steps = size.tuning_sequences(where.p_c)
    best = tuning.tune(learner, environment, steps, range(1000, 1000 + seeds), stop=stop)
    low, high = search_bounds(learner, where.task == CATEGORICAL)
    return Tuned(name, where, Best(best.value, min(max(best.value, low), high), best.at_bound))


def use_published(values: dict[Job, Best], folder: str | os.PathLike[str]) -> dict[Job, Best]:
    """The same with the authors' own tuned values, where a reference folder has them (the Gaussian task)."""
    published = tuned_values(folder) if has_tuned_values(folder) else {}
    return {
        (name, where): best._replace(bounded=published.get((name, where.noise, where.p_c), best.bounded))
        if where.task == GAUSSIAN
        else best
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
    published = tuned_values(reference) if reference is not None and has_tuned_values(reference) else {}
    rows = []
    for (name, where), best in sorted(
        values.items(), key=lambda item: (item[0][1].task != GAUSSIAN, item[0][0], *item[0][1][1:])
    ):
        theirs = published.get((name, where.noise, where.p_c)) if where.task == GAUSSIAN else None
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


def _store(size: Size, folder: str | os.PathLike[str]) -> Store[Tuned]:
    sequences = f"{_shown(size.tuning)}-{_shown(size.rare_tuning)}"
    path = pathlib.Path(folder) / f"tuned-{size.name}-{sequences}.jsonl"
    return Store(path, sources.digest(__name__), _to_json, _from_json)


def _key(name: str, where: Environment) -> str:
    return json.dumps([name, *where])


def _to_json(tuned: Tuned) -> Entry:
    return {"learner": tuned.name, "where": list(tuned.where), "best": list(tuned.best)}


def _from_json(entry: Entry) -> Tuned:
    return Tuned(str(entry["learner"]), Environment(*entry["where"]), Best(*entry["best"]))
