"""Many fits on processes here or on a Dask cluster; the numbers are the same."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from volatilis import _cluster
from volatilis.behaviour import own
from volatilis.behaviour.fitting import Fit
from volatilis.behaviour.many import Failure, Job, Workers
from volatilis.behaviour.models import Model
from volatilis.behaviour.parameters import Unit
from volatilis.behaviour.priors import AnyPrior
from volatilis.behaviour.scoring import Person
from volatilis.behaviour.store import Store

Progress = Callable[[float], None]


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

    def pool(self, fits: int) -> Workers | OnDask:
        """For about so many fits; `with how.pool(fits) as pool`."""
        return Workers(self.workers, fits, self.folder) if self.scheduler is None else OnDask(self.scheduler, self.folder)


class Pool(Protocol):
    """What runs jobs: `Workers` or `OnDask`."""

    def run(self, jobs: Sequence[Job], progress: Progress) -> list[Fit | Failure]: ...


def fit_people(
    pool: Pool,
    how: How,
    models: Sequence[Model],
    persons: Sequence[Person],
    prior: AnyPrior,
    unit: Unit | None,
    progress: Progress = lambda share: None,
) -> list[list[Fit | Failure]]:
    """One list per person, one fit or failure per model in it."""
    jobs = [Job(model, person, how.starts, how.seed, prior, unit) for person in persons for model in models]
    found = pool.run(jobs, progress)
    return [found[i : i + len(models)] for i in range(0, len(found), len(models))]


class OnDask:
    """Fits on a Dask cluster; on any way out, Ctrl-C included, those that wait there are cancelled."""

    def __init__(self, scheduler: str, folder: str | os.PathLike[str] | None = None) -> None:
        self._scheduler = scheduler
        self._client: Any = None
        self._futures: dict[Any, int] = {}
        self._store = Store(folder) if folder is not None else None

    def __enter__(self) -> OnDask:
        return self

    def __exit__(self, *_: object) -> None:
        if self._client is not None:
            self._client.cancel(list(self._futures))
            self._client.close()
        if self._store is not None:
            self._store.close()

    def run(self, jobs: Sequence[Job], progress: Progress = lambda share: None) -> list[Fit | Failure]:
        """The results, in the order of the jobs."""
        keys = [job.key() for job in jobs] if self._store is not None else []
        kept = [None] * len(jobs) if self._store is None else [self._store.get(key) for key in keys]
        found: dict[int, Fit | Failure] = {i: one for i, one in enumerate(kept) if one is not None}
        progress(len(found) / max(len(jobs), 1))
        left = [i for i in range(len(jobs)) if i not in found]
        if left:
            client = self._connected()
            from dask import distributed

            self._futures = {client.submit(_run, jobs[i], tuple(own.files), pure=False, retries=3): i for i in left}
            with _cluster.watched(client, self._scheduler):
                for future in distributed.as_completed(self._futures):
                    i, one = self._futures[future], future.result()
                    found[i] = one
                    if self._store is not None and isinstance(one, Fit):
                        self._store.add(keys[i], one)
                    progress(len(found) / len(jobs))
        return [found[i] for i in range(len(jobs))]

    def _connected(self) -> Any:
        """Only when there is something to do."""
        if self._client is None:
            self._client = _cluster.connected(self._scheduler)
        return self._client


def _run(job: Job, files: Sequence[str]) -> Fit | Failure:
    """On a worker, which must find the files of one's own response models where they are here."""
    for path in files:
        if path not in own.files:
            own.load_responses(path)
    return job.run()
