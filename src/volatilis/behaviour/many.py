"""Fit many people with many models, on several processes; the numbers are the same on any number of them.

A person who cannot be fitted gives a `Failure` with the reason, and the others are fitted. With a folder, what is done is kept,
and a run that was stopped goes on where it was.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
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
    prior: AnyPrior
    unit: Unit | None

    def key(self) -> str:
        unit = self.unit or unit_of(self.person.outcomes())
        free = [searched(name, unit) for name in self.model.free() if name not in WHOLE]
        return digest(self.model, self.person, self.starts, self.seed, resolved(self.prior, free), unit)

    def run(self) -> Fit | Failure:
        try:
            return fit(self.model, self.person, self.starts, self.seed, self.prior, self.unit)
        except (ValueError, TypeError, ArithmeticError) as error:
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
) -> list[Fit | Failure]:
    """Every person with every model: persons in order, models within.

    workers    processes; None takes one per core, and fewer for a few fits. With more than one, a script that calls this needs
               `if __name__ == "__main__":` around what it does
    folder     keeps finished fits, and a later call with the same arguments takes them from there
    progress   called with the share that is done
    """
    jobs = [Job(model, person, starts, seed, prior, unit) for person in persons for model in models]
    found: list[Fit | Failure | None] = [None] * len(jobs)
    with contextlib.ExitStack() as stack:
        store = stack.enter_context(contextlib.closing(Store(folder))) if folder is not None else None
        keys = [job.key() for job in jobs] if store is not None else [""] * len(jobs)
        if store is not None:
            found = [store.get(key) for key in keys]
        left = [i for i, one in enumerate(found) if one is None]
        progress(1.0 - len(left) / max(len(jobs), 1))
        for count, (i, one) in enumerate(stack.enter_context(_results(jobs, left, workers)), 1):
            found[i] = one
            if store is not None and isinstance(one, Fit):
                store.add(keys[i], one)
            progress(1.0 - (len(left) - count) / len(jobs))
    return [one for one in found if one is not None]


@contextlib.contextmanager
def _results(jobs: Sequence[Job], left: Sequence[int], workers: int | None) -> Iterator[Iterator[tuple[int, Fit | Failure]]]:
    """Each result as it comes, with its job's number. On any way out, Ctrl-C included, waiting fits never start."""
    processes = min(thread_count(workers), len(left))
    if workers is None:
        processes = min(processes, -(-len(left) // FEW))
    if processes <= 1:
        yield ((i, jobs[i].run()) for i in left)
        return
    importable = {name: cls for name, cls in RESPONSES.items() if not cls.__module__.startswith(("volatilis.", own.LOADED))}
    prepared = (importable, tuple(own.files))
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), initializer=_prepare, initargs=prepared)
    try:
        futures = {pool.submit(jobs[i].run): i for i in left}
        yield ((futures[future], future.result()) for future in as_completed(futures))
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _prepare(responses: Mapping[str, type], files: Sequence[str]) -> None:
    """A process: Ctrl-C is its parent's business; a user's own response models are known here too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for path in files:
        own.load_responses(path)
    for name, cls in responses.items():
        own.register_response(name, cls)
