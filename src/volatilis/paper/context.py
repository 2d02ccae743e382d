"""What all figures of one run share: size, folder, workers, tuned parameters, and how to show progress."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any, NamedTuple

from volatilis.experiments.sweep import Plan, sweep
from volatilis.paper.ledger import Ledger
from volatilis.paper.settings import NOISES, RATES, Size
from volatilis.paper.tuned import Best, Environment, tune_all, use_published

Progress = Callable[[str, float], None]  # what is being done, and which share of it is done


class Order(NamedTuple):
    """What was asked for on the command line."""

    figures: tuple[str, ...] = ("all",)
    size: str = "quick"
    out: pathlib.Path = pathlib.Path("paper-results")
    workers: int | None = None
    scheduler: str | None = None
    reference: pathlib.Path | None = None
    benchmark: str = "exact"
    resume: bool = True


class Context(NamedTuple):
    """How to run: nothing here but `size`, `near` and `reference` changes a number."""

    size: Size
    folder: pathlib.Path
    workers: int | None
    scheduler: str | None
    near: bool
    reference: pathlib.Path | None
    progress: Progress
    ledger: Ledger

    def sweep(self, plan: Plan) -> Any:
        return sweep(
            plan, self.folder / "store", self.workers, self.scheduler, progress=lambda share: self._advance(plan.name, share)
        )

    def tuned(self, environments: list[Environment]) -> dict[tuple[str, Environment], Best]:
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


def grid_environments(task: str) -> list[Environment]:
    """Row by row of the paper's heat maps."""
    return [Environment(task, noise, p_c) for noise in NOISES[task] for p_c in RATES]
