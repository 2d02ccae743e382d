"""Many fits here or on a Dask cluster; the numbers are the same."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from volatilis.behaviour.fitting import Fit
from volatilis.behaviour.many import Failure, Job, fit_all
from volatilis.behaviour.models import Model
from volatilis.behaviour.parameters import Unit
from volatilis.behaviour.priors import AnyPrior
from volatilis.behaviour.scoring import Person
from volatilis.behaviour.store import Store

ANSWER_WITHIN = 15  # seconds that a scheduler has to answer


class How(NamedTuple):
    """How fits are made, whatever is fitted.

    starts      of each search
    seed        for starts, and for learners that sample
    workers     processes; None: one per core
    folder      keeps finished fits, and takes those that are there from it
    scheduler   the address of a Dask scheduler, to fit there instead
    """

    starts: int = 10
    seed: int = 0
    workers: int | None = None
    folder: str | os.PathLike[str] | None = None
    scheduler: str | None = None


def fit_people(
    models: Sequence[Model],
    persons: Sequence[Person],
    how: How,
    prior: AnyPrior = None,
    unit: Unit | None = None,
    progress: Callable[[float], None] = lambda share: None,
) -> list[list[Fit | Failure]]:
    """One list per person, one fit or failure per model in it."""
    if how.scheduler is None:
        found = fit_all(models, persons, how.starts, how.seed, how.workers, prior, unit, progress, how.folder)
    else:
        jobs = [Job(model, person, how.starts, how.seed, prior, unit) for person in persons for model in models]
        found = _on_dask(jobs, how.scheduler, how.folder, progress)
    return [found[i : i + len(models)] for i in range(0, len(found), len(models))]


def _on_dask(
    jobs: Sequence[Job], scheduler: str, folder: str | os.PathLike[str] | None, progress: Callable[[float], None]
) -> list[Fit | Failure]:
    with contextlib.ExitStack() as stack:
        store = stack.enter_context(contextlib.closing(Store(folder))) if folder is not None else None
        keys = [job.key() if store is not None else "" for job in jobs]
        found: dict[int, Fit | Failure] = {}
        for i, key in enumerate(keys):
            kept = store.get(key) if store is not None else None
            if kept is not None:
                found[i] = kept
        left = [i for i in range(len(jobs)) if i not in found]
        progress(len(found) / max(len(jobs), 1))
        for i, one in stack.enter_context(_results(jobs, left, scheduler)):
            found[i] = one
            if store is not None and isinstance(one, Fit):
                store.add(keys[i], one)
            progress(len(found) / len(jobs))
    return [found[i] for i in range(len(jobs))]


@contextlib.contextmanager
def _results(jobs: Sequence[Job], left: Sequence[int], address: str) -> Iterator[Iterator[tuple[int, Fit | Failure]]]:
    if not left:
        yield iter(())
        return
    try:
        from dask import distributed
    except ImportError:
        raise ModuleNotFoundError("--scheduler needs Dask: pip install 'volatilis[cluster]'") from None
    try:
        client: Any = distributed.Client(address, timeout=ANSWER_WITHIN)
    except (OSError, ValueError) as error:
        raise ConnectionError(f"no Dask scheduler answers at {address!r}: {error}") from None
    with client:
        futures = {client.submit(jobs[i].run, pure=False, retries=3): i for i in left}
        try:
            yield ((futures[future], future.result()) for future in distributed.as_completed(futures))
        finally:  # on any way out, Ctrl-C included
            client.cancel(list(futures))
