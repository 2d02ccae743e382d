"""Fit many people with many models, on several processes or on a Dask cluster; the numbers are the same on any number of them.

A person who cannot be fitted gives a `Failure` with the reason, and the others are fitted. With a folder, finished fits are kept
there, and a run that was stopped goes on where it was.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from volatilis._core import sources
from volatilis._core.jobs import Dask, Processes, Queue, run_kept, worker_count
from volatilis._core.records import is_own
from volatilis._core.store import Entry, Store, digest
from volatilis.behaviour.fitting.fit import Fit, fit
from volatilis.behaviour.fitting.parameters import RANGES, WHOLE, AnyPrior, Unit, resolved, searched
from volatilis.behaviour.models import Model, checked
from volatilis.behaviour.people import Person
from volatilis.behaviour.responses import registry
from volatilis.behaviour.responses._base import is_response
from volatilis.own_files import LOADED, own_files

FORMAT = 3
FEW = 8  # fits for which a further process is not worth its start

Progress = Callable[[float], None]


class FitOptions(NamedTuple):
    """How fits are made, whatever is fitted.

    starts      of each search
    seed        for starts, and for learners that sample
    workers     processes; None: one per core, and fewer for a few fits
    folder      keeps finished fits, and takes those that are there from it
    scheduler   the address of a Dask scheduler, to fit there instead
    """

    starts: int = 10
    seed: int = 0
    workers: int | None = None
    folder: str | os.PathLike[str] | None = None
    scheduler: str | None = None


class Failure(NamedTuple):
    """Why a person could not be fitted with a model: `fit_all` returns it in place of a Fit.

    person, label   who, with which model
    message         why
    """

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
        """A digest of all that decides the fit, but for the sources of this package."""
        unit = self.unit or self.model.unit([self.person])
        prior = resolved(self.prior, [searched(name, unit) for name in self.model.free() if name not in WHOLE])
        users_sources = sources.user_digest(*self.model.classes())
        ranges = [WHOLE[name] if name in WHOLE else (RANGES[name].scale.name, *RANGES[name][1:]) for name in self.model.free()]
        settings = (self.starts, self.seed, prior, unit, self.profile, ranges, users_sources)
        return digest(FORMAT, self.model, self.person, settings)

    def run(self) -> Fit | Failure:
        try:
            return fit(*self)
        except (ValueError, ArithmeticError) as error:
            return Failure(self.person.name, self.model.label, str(error))


class Fitter:
    """Runs jobs on processes or on a cluster, and keeps their results where the options name a folder."""

    def __init__(self, options: FitOptions, queue: Queue, store: Store[Fit | Failure] | None) -> None:
        self.options, self._queue, self._store = options, queue, store

    def run(self, jobs: Sequence[Job], progress: Progress = lambda share: None) -> list[Fit | Failure]:
        """The results, in the order of the jobs."""
        keys = [job.key() for job in jobs] if self._store is not None else [str(i) for i in range(len(jobs))]
        calls = {key: (job, users(job.model)) for key, job in zip(keys, jobs, strict=True)}
        results = run_kept(self._queue, _run, calls, self._store, progress, keep=lambda one: isinstance(one, Fit))
        return [results[key] for key in keys]

    def fit_people(
        self,
        models: Sequence[Model],
        persons: Sequence[Person],
        *,
        prior: AnyPrior = None,
        unit: Unit | None = None,
        profile: bool = False,
        progress: Progress = lambda share: None,
    ) -> list[list[Fit | Failure]]:
        """One list per person, one fit or failure per model in it."""
        starts, seed = self.options.starts, self.options.seed
        jobs = [Job(model, person, starts, seed, prior, unit, profile) for person in persons for model in models]
        results = self.run(jobs, progress)
        return [results[i * len(models) : (i + 1) * len(models)] for i in range(len(persons))]


@contextlib.contextmanager
def fitter(options: FitOptions, fits: int) -> Iterator[Fitter]:
    """`with fitter(options, fits) as fitter`, for about so many fits."""
    with contextlib.ExitStack() as stack:
        store = None if options.folder is None else stack.enter_context(_store(options.folder))
        yield Fitter(options, stack.enter_context(_queue(options, fits)), store)


def fit_all(
    models: Sequence[Model],
    persons: Sequence[Person],
    *,
    starts: int = 10,
    seed: int = 0,
    workers: int | None = None,
    prior: AnyPrior = None,
    unit: Unit | None = None,
    progress: Progress = lambda share: None,
    folder: str | os.PathLike[str] | None = None,
    profile: bool = False,
    scheduler: str | None = None,
) -> list[Fit | Failure]:
    """Fit every person with every model: persons in order, models within.

    models, persons                        what is fitted to whom
    starts, seed, prior, unit, profile     as for `fit`
    workers    processes; None takes one per core, and fewer for a few fits. With more than one, a script that calls this needs
               `if __name__ == "__main__":` around what it does
    folder     keeps finished fits, and a later call with the same arguments takes them from there
    progress   called with the share that is done
    scheduler  the address of a Dask scheduler, to fit there instead

    Returns a Fit for each, or a Failure that says why a person could not be fitted. Raises ValueError for options that are not
    accepted.

    >>> from volatilis.behaviour import Model, Source, fit_all, read_people
    >>> model = Model.parse("gaussian:sigma=10,mu_0=150,sigma_0=50", "varsmile:m=free", "gaussian:sd=free")
    >>> fits = fit_all([model], read_people(Source("people.csv"), model).persons[:2], starts=2, workers=1)
    >>> [(one.person, round(one.values["m"], 2)) for one in fits]
    [('1', 0.28), ('2', 0.3)]
    """
    options = FitOptions(starts, seed, workers, folder, scheduler)
    with fitter(options, len(models) * len(persons)) as pool:
        results = pool.fit_people(models, persons, prior=prior, unit=unit, profile=profile, progress=progress)
    return [one for of_person in results for one in of_person]


# --- where they run ------------------------------------------------------------------------------------------------------


class Users(NamedTuple):
    """What is the user's own in a model, which another process must know too: files to read, classes that it imports as it gets
    them, and the name of the response model."""

    files: tuple[str, ...]
    classes: tuple[type, ...]
    response: str


def users(model: Model) -> Users:
    """From where they are here."""
    classes = tuple(cls for cls in model.classes() if is_own(cls) and not cls.__module__.startswith(LOADED))
    return Users(tuple(own_files()), classes, model.response.name)


def _run(job: Job, own: Users) -> Fit | Failure:
    """In another process, too, which must find the user's files and modules where they are here."""
    registry.load_own(own.files)
    for cls in own.classes:
        if is_response(cls) and registry.RESPONSES.get(own.response) is not cls:
            registry.register_response(own.response, cls)
    checked(job.model)
    return job.run()


def _queue(options: FitOptions, fits: int) -> Queue:
    if options.scheduler is not None:
        return Dask(options.scheduler)
    most = fits if options.workers is not None else -(-fits // FEW)
    return Processes(max(1, min(worker_count(options.workers), most)))


# --- what is kept --------------------------------------------------------------------------------------------------------


def _store(folder: str | os.PathLike[str]) -> Store[Fit | Failure]:
    return Store(pathlib.Path(folder) / "fits.jsonl", sources.digest(__name__), to_json, from_json)


def to_json(fit: Fit | Failure) -> Entry:
    """Numbers come back as the same bits; what is not a number is null."""
    if isinstance(fit, Failure):
        raise TypeError("a failure is not kept: its reason may be gone the next time")
    arrays = {"x": _listed(fit.x), "covariance": _listed(fit.covariance), "shape": fit.covariance.shape[0]}
    return fit._asdict() | arrays


def from_json(entry: Entry) -> Fit:
    """The inverse of `to_json`."""
    fields = dict(entry)
    n = fields.pop("shape")
    for name, shape in (("x", (n,)), ("covariance", (n, n))):
        fields[name] = np.array([np.nan if value is None else value for value in fields[name]], dtype=float).reshape(shape)
    fields["profile"] = {name: tuple(ends) for name, ends in fields["profile"].items()}
    return Fit(**fields | {name: tuple(fields[name]) for name in ("names", "warnings")})


def _listed(values: np.ndarray) -> list[float | None]:
    return [value if value == value else None for value in np.ravel(values).tolist()]
