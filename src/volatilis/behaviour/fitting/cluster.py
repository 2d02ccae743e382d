"""Many fits on processes here or on a Dask cluster; the numbers are the same."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from volatilis._core import cluster
from volatilis.behaviour.fitting.fit import Fit
from volatilis.behaviour.fitting.jobs import Failure, Job, Pool, Progress
from volatilis.behaviour.fitting.parameters import Unit
from volatilis.behaviour.fitting.priors import AnyPrior
from volatilis.behaviour.fitting.workers import Workers
from volatilis.behaviour.models import Model
from volatilis.behaviour.people import Person
from volatilis.behaviour.responses import registry


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


def fit_people(
    pool: Pool,
    how: How,
    models: Sequence[Model],
    persons: Sequence[Person],
    prior: AnyPrior,
    unit: Unit | None,
    progress: Progress = lambda share: None,
    profile: bool = False,
) -> list[list[Fit | Failure]]:
    """One list per person, one fit or failure per model in it."""
    jobs = [Job(model, person, how.starts, how.seed, prior, unit, profile) for person in persons for model in models]
    found = pool.run(jobs, progress)
    return [found[i * len(models) : (i + 1) * len(models)] for i in range(len(persons))]


class OnDask(Pool):
    """Fits on a Dask cluster; on any way out, Ctrl-C included, those that wait there are cancelled."""

    def __init__(self, scheduler: str, folder: str | os.PathLike[str] | None = None) -> None:
        self._scheduler = scheduler
        self._client: Any = None
        self._futures: dict[Any, int] = {}
        super().__init__(folder)

    def __enter__(self) -> OnDask:
        return self

    def __exit__(self, *_: object) -> None:
        if self._client is not None:
            self._client.cancel(list(self._futures))
            self._client.close()
        self.close()

    def _results(self, jobs: Sequence[Job], left: Sequence[int]) -> Iterator[tuple[int, Fit | Failure]]:
        if not left:
            return
        client = self._connected()
        from dask import distributed

        self._futures = {client.submit(_run, jobs[i], tuple(registry.files), pure=False, retries=3): i for i in left}
        with cluster.watched(client, self._scheduler):
            for future in distributed.as_completed(self._futures):
                yield self._futures[future], future.result()

    def _connected(self) -> Any:
        """Only when there is something to do."""
        if self._client is None:
            self._client = cluster.connected(self._scheduler)
        return self._client


def _run(job: Job, files: Sequence[str]) -> Fit | Failure:
    """On a worker, which must find the files of one's own response models where they are here."""
    for path in files:
        if path not in registry.files:
            registry.load_responses(path)
    return job.run()
