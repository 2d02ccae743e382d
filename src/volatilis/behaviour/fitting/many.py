"""Fit many people with many models, on several processes or on a cluster; the numbers are the same on any number of them.

A person who cannot be fitted gives a `Failure` with the reason, and the others are fitted. With a folder, what is done is kept,
and a run that was stopped goes on where it was.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from volatilis.behaviour.fitting.cluster import How, fit_people
from volatilis.behaviour.fitting.fit import Fit
from volatilis.behaviour.fitting.jobs import Failure, Progress
from volatilis.behaviour.fitting.parameters import Unit
from volatilis.behaviour.fitting.priors import AnyPrior
from volatilis.behaviour.models import Model
from volatilis.behaviour.people import Person


def fit_all(
    models: Sequence[Model],
    persons: Sequence[Person],
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
    """Every person with every model: persons in order, models within.

    workers    processes; None takes one per core, and fewer for a few fits. With more than one, a script that calls this needs
               `if __name__ == "__main__":` around what it does
    folder     keeps finished fits, and a later call with the same arguments takes them from there
    progress   called with the share that is done
    scheduler  the address of a Dask scheduler, to fit there instead
    """
    how = How(starts, seed, workers, folder, scheduler)
    with how.pool(len(models) * len(persons)) as pool:
        found = fit_people(pool, how, models, persons, prior, unit, progress, profile)
    return [one for own in found for one in own]
