"""What one run of `volatilis paper` works with: the request, and the context that all figures share."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from volatilis.experiments.sweep import Plan, sweep
from volatilis.paper.settings import Size, TaskSetting
from volatilis.paper.tuned import Best, tune_all, use_published
from volatilis.paper.writing import CostLedger

if TYPE_CHECKING:
    import xarray as xr

Progress = Callable[[str, float], None]  # what is being done, and which share of it is done


class PaperRequest(NamedTuple):
    """What to reproduce, and how.

    figures     their keys; ("all",), or ("claims",) for the claims only
    size        a name in settings.SIZES
    out         the folder for figures, data and report; what an earlier run stored in it is used
    workers     threads; None takes one per core
    scheduler   the address of a Dask scheduler, to tune and simulate there instead
    reference   the authors' release, or its data folder, to compare with
    benchmark   "exact", or "near": Merge80 in the place of Exact Bayes
    resume      False: forget first what is stored of this size and benchmark
    replications   how many seeds the published procedure is run on besides, for the intervals of that comparison; 0: none
    """

    figures: tuple[str, ...] = ("all",)
    size: str = "quick"
    out: pathlib.Path = pathlib.Path("paper-results")
    workers: int | None = None
    scheduler: str | None = None
    reference: pathlib.Path | None = None
    benchmark: str = "exact"
    resume: bool = True
    replications: int = 0

    @property
    def only_claims(self) -> bool:
        return self.figures == ("claims",)


class Context(NamedTuple):
    """How to run: nothing here but `size`, `near` and `reference` changes a number."""

    size: Size
    folder: pathlib.Path
    workers: int | None
    scheduler: str | None
    near: bool
    reference: pathlib.Path | None
    progress: Progress
    ledger: CostLedger

    def sweep(self, plan: Plan) -> xr.Dataset:
        """The results of a plan; those in the store are not computed again."""
        return sweep(
            plan, self.folder / "store", self.workers, self.scheduler, progress=lambda share: self._advance(plan.name, share)
        )

    def tuned(self, environments: Iterable[TaskSetting]) -> dict[tuple[str, TaskSetting], Best]:
        """The tuned values of every learner for these environments."""
        with self.ledger.part("tuning"):
            values = tune_all(
                environments,
                self.size,
                self.folder / "store",
                self.workers,
                self.scheduler,
                lambda share: self._advance("tuning", share),
            )
        return use_published(values, self.reference) if self.reference is not None else values

    def _advance(self, what: str, share: float) -> None:
        self.ledger.charge()
        self.progress(what, share)
