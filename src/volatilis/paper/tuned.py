"""The tuned parameter of every learner that has one, for every environment of the paper: computed once, kept in a file.

The paper searched on grids whose edges cut some optima off (errata 2). So each learner has two values: the best one, and that
within the authors' bounds, which is the best one moved to the nearest bound where it lies outside.
"""

from __future__ import annotations

import json
import os
import pathlib
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from importlib.metadata import version
from typing import TYPE_CHECKING, NamedTuple

from volatilis._core import cluster
from volatilis._core.files import write_text
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
    path = _path(size, folder)
    values = _read(path)
    wanted = [(name, where) for where in dict.fromkeys(environments) for name in TUNED[where.task]]
    missing = [job for job in wanted if job not in values]
    missing.sort(key=lambda job: (job[0] != "SMiLe", job[1].p_c))  # the longest first
    done = len(wanted) - len(missing)
    for job, best in _on_threads(missing, size, workers) if scheduler is None else _on_cluster(missing, size, scheduler):
        values[job] = best
        done += 1
        _write(path, values)
        progress(done / len(wanted))
    progress(1.0)
    return {job: values[job] for job in wanted}


def _on_threads(jobs: list[Job], size: Size, workers: int | None) -> Iterator[tuple[Job, Best]]:
    stop = threading.Event()
    pool = ThreadPoolExecutor(workers or os.cpu_count() or 1)
    futures = {pool.submit(_tune_one, name, where, size, stop.is_set): (name, where) for name, where in jobs}
    try:
        for future in as_completed(futures):
            yield futures[future], future.result()
    finally:  # on any way out: running searches end at their next try, waiting ones never start
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)


def _on_cluster(jobs: list[Job], size: Size, address: str) -> Iterator[tuple[Job, Best]]:
    return cluster.results(_tune_one, {job: (*job, size) for job in jobs}, address)


def _shown(sequences: tuple[int, int]) -> str:
    return "{}x{}".format(*sequences)


def _tune_one(name: str, where: Environment, size: Size, stop: Callable[[], bool] = lambda: False) -> Best:
    learner, environment = TUNED[where.task][name], ChangingEnvironment(family_of(where.task, where.noise), where.p_c)
    seeds, steps = size.tuning_sequences(where.p_c)
    values = tuning.tune(learner, environment, steps, range(1000, 1000 + seeds), stop=stop)
    low, high = search_bounds(learner, where.task == CATEGORICAL)
    return Best(values.value, min(max(values.value, low), high), values.at_bound)


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

    values = _read(_path(size, folder))
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
                "parameter": tuning.FREE[TUNED[where.task][name]].name,
                "free": best.free,
                "within_bounds": best.bounded,
                "beyond": beyond,
                "search_ended_at": best.at_bound or "",
                "used": value,
                "source": source,
            }
        )
    return pd.DataFrame(rows)


def _path(size: Size, folder: str | os.PathLike[str]) -> pathlib.Path:
    sequences = f"{_shown(size.tuning)}-{_shown(size.rare_tuning)}"
    return pathlib.Path(folder) / f"tuned-{size.name}-{sequences}-{version('volatilis')}.json"


def _read(path: pathlib.Path) -> dict[Job, Best]:
    try:
        rows = json.loads(path.read_text())
        return {(row[0], Environment(row[1], row[2], row[3])): Best(row[4], row[5], row[6]) for row in rows}
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, IndexError, KeyError) as error:
        raise ValueError(f"{path} is damaged ({error}); delete it, or use --fresh") from None


def _write(path: pathlib.Path, values: dict[Job, Best]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps([[name, *where, *best] for (name, where), best in values.items()], indent=0))
