"""Fit many people with many models, on several processes; the numbers are the same on any number of them.

A person who cannot be fitted gives a `Failure` with the reason, and the others are fitted. With a folder, what is done is kept,
and a run that was stopped goes on where it was.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import NamedTuple

from volatilis._arguments import thread_count
from volatilis.behaviour import own
from volatilis.behaviour.fitting import Fit, fit
from volatilis.behaviour.models import RESPONSES, Model
from volatilis.behaviour.parameters import WHOLE, Unit, searched, unit_of
from volatilis.behaviour.priors import AnyPrior, resolved
from volatilis.behaviour.scoring import Person
from volatilis.behaviour.store import Store, digest

FEW = 8  # fits for which a further process is not worth its start


class Failure(NamedTuple):
    """Why a person could not be fitted with a model."""

    person: str
    label: str
    message: str


class Job(NamedTuple):
    """One fit, with all that decides it."""

    model: Model
    person: Person
    starts: int
    seed: int
    prior: AnyPrior = None
    unit: Unit | None = None
    profile: bool = False

    def key(self) -> str:
        unit = self.unit or unit_of(self.person.outcomes())
        free = [searched(name, unit) for name in self.model.free() if name not in WHOLE]
        prior = resolved(self.prior, free)
        return digest(self.model, self.person, self.starts, self.seed, prior, unit, self.profile, own.texts())

    def run(self) -> Fit | Failure:
        try:
            return fit(*self)
        except (ValueError, ArithmeticError) as error:
            return Failure(self.person.name, self.model.label, str(error))


def fit_all(
    models: Sequence[Model],
    persons: Sequence[Person],
    starts: int = 10,
    seed: int = 0,
    workers: int | None = None,
    prior: AnyPrior = None,
    unit: Unit | None = None,
    progress: Callable[[float], None] = lambda share: None,
    folder: str | os.PathLike[str] | None = None,
    profile: bool = False,
) -> list[Fit | Failure]:
    """Every person with every model: persons in order, models within.

    workers    processes; None takes one per core, and fewer for a few fits. With more than one, a script that calls this needs
               `if __name__ == "__main__":` around what it does
    folder     keeps finished fits, and a later call with the same arguments takes them from there
    progress   called with the share that is done
    """
    jobs = [Job(model, person, starts, seed, prior, unit, profile) for person in persons for model in models]
    with Workers(workers, len(jobs), folder) as pool:
        return pool.run(jobs, progress)


class Workers:
    """Processes that fit. On any way out, Ctrl-C included, fits that wait never start and those that run end."""

    def __init__(self, workers: int | None, jobs: int, folder: str | os.PathLike[str] | None = None) -> None:
        count = thread_count(workers)
        self._processes = min(count, jobs if workers is not None else -(-jobs // FEW))
        self._pool: ProcessPoolExecutor | None = None
        self._store = Store(folder) if folder is not None else None

    def __enter__(self) -> Workers:
        if self._processes > 1:
            importable = {
                name: cls for name, cls in RESPONSES.items() if not cls.__module__.startswith(("volatilis.", own.LOADED))
            }
            self._pool = ProcessPoolExecutor(
                self._processes,
                multiprocessing.get_context("spawn"),
                initializer=_prepare,
                initargs=(importable, tuple(own.files)),
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
        if self._store is not None:
            self._store.close()

    def run(self, jobs: Sequence[Job], progress: Callable[[float], None] = lambda share: None) -> list[Fit | Failure]:
        """The results, in the order of the jobs."""
        found: list[Fit | Failure | None] = [None] * len(jobs)
        keys = [job.key() for job in jobs] if self._store is not None else []
        if self._store is not None:
            found = [self._store.get(key) for key in keys]
        left = [i for i, one in enumerate(found) if one is None]
        progress(1.0 - len(left) / max(len(jobs), 1))
        for count, (i, one) in enumerate(self._results(jobs, left), 1):
            found[i] = one
            if self._store is not None and isinstance(one, Fit):
                self._store.add(keys[i], one)
            progress(1.0 - (len(left) - count) / len(jobs))
        return [one for one in found if one is not None]

    def _results(self, jobs: Sequence[Job], left: Sequence[int]) -> Iterator[tuple[int, Fit | Failure]]:
        """Each result as it comes, with its job's number."""
        if self._pool is None:
            yield from ((i, jobs[i].run()) for i in left)
            return
        futures = {self._pool.submit(jobs[i].run): i for i in left}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BrokenProcessPool:
            raise ChildProcessError(
                "a process that fits was ended, maybe for want of memory, or could not begin: a script needs "
                'if __name__ == "__main__": around what it does, or workers=1'
            ) from None


def _prepare(responses: Mapping[str, type], files: Sequence[str]) -> None:
    """A process: Ctrl-C is its parent's business; a user's own response models are known here too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for path in files:
        own.load_responses(path)
    for name, cls in responses.items():
        own.register_response(name, cls)
