"""Fits to be made: each with all that decides it, in any order, and those that are kept are not made again."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from volatilis.behaviour.fitting.fit import Fit, fit
from volatilis.behaviour.fitting.parameters import WHOLE, Unit, searched, unit_of
from volatilis.behaviour.fitting.priors import AnyPrior, resolved
from volatilis.behaviour.fitting.store import Store, digest
from volatilis.behaviour.models import Model
from volatilis.behaviour.people import Person
from volatilis.behaviour.responses import registry

Progress = Callable[[float], None]


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
        return digest(self.model, self.person, self.starts, self.seed, prior, unit, self.profile, registry.texts())

    def run(self) -> Fit | Failure:
        try:
            return fit(*self)
        except (ValueError, ArithmeticError) as error:
            return Failure(self.person.name, self.model.label, str(error))


class Pool(ABC):
    """What runs jobs: processes here or a cluster. With a folder, finished fits are kept there and taken from there."""

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self._store = Store(folder) if folder is not None else None

    def run(self, jobs: Sequence[Job], progress: Progress = lambda share: None) -> list[Fit | Failure]:
        """The results, in the order of the jobs."""
        keys = [job.key() for job in jobs] if self._store is not None else []
        kept = {} if self._store is None else {i: self._store.get(key) for i, key in enumerate(keys)}
        found: dict[int, Fit | Failure] = {i: one for i, one in kept.items() if one is not None}
        left = [i for i in range(len(jobs)) if i not in found]
        progress(1.0 - len(left) / max(len(jobs), 1))
        for i, one in self._results(jobs, left):
            found[i] = one
            if self._store is not None and isinstance(one, Fit):
                self._store.add(keys[i], one)
            progress(len(found) / len(jobs))
        return [found[i] for i in range(len(jobs))]

    @abstractmethod
    def _results(self, jobs: Sequence[Job], left: Sequence[int]) -> Iterator[tuple[int, Fit | Failure]]:
        """Each result of those that are left as it comes, with its job's number."""

    def close(self) -> None:
        if self._store is not None:
            self._store.close()
