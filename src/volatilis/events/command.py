"""Run learners over a table and write event files: everything is checked before the first file gets its name."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from volatilis.events import bids, fsl, mne, names, nilearn, report, sidecar, timing
from volatilis.events.plan import Plan, check_plan
from volatilis.events.regressors import left_out
from volatilis.events.runs import Run, parts_of, runs_of
from volatilis.events.writing import staged
from volatilis.tables import open_table
from volatilis.trials import Order, Result, Summary, Watcher, compute

Progress = Callable[[float], None]
WRITERS: dict[str, Callable[[Run], dict[str, str]]] = {
    "bids": bids.files,
    "nilearn": nilearn.files,
    "fsl": fsl.files,
    "mne": mne.files,
}


class Written(NamedTuple):
    """What was written, and what is to be known about it: one sentence each."""

    summary: Summary
    runs: int
    files: tuple[str, ...]
    notes: tuple[str, ...]


def run_events(
    order: Order,
    plan: Plan,
    out: str | os.PathLike[str] | None = None,
    progress: Progress = lambda share: None,
    watchers: Sequence[Watcher] = (),
) -> Written:
    """Event files for every run, and the whole table too if `out` is given."""
    check_plan(plan)
    timing.check_columns(open_table(order.table).columns, plan, str(order.table))
    made: dict[str, str] = {}
    notes: list[str] = []
    runs: list[Run] = []
    with staged(plan.folder, plan.overwrite) as files:

        def prepare(result: Result) -> None:
            runs.extend(runs_of(result, order, plan))
            notes.extend(left_out(result.columns, [recipe.label for recipe in order.learners], plan.regressors or ()))
            notes.extend(_notes(runs, order, plan))
            if "bids" in plan.formats:
                notes.extend(names.notes(parts_of(result, order, plan), [run.labels for run in runs]))
            made.update(_texts(runs, result, order, plan, _part(progress, 0.5, 0.8)))
            files.add(made, _part(progress, 0.8, 1.0))

        summary = compute(order, _part(progress, 0.0, 0.5), out, prepare, watchers).summary
        files.commit()
    return Written(summary, len(runs), tuple(made), tuple(notes))


def _notes(runs: list[Run], order: Order, plan: Plan) -> list[str]:
    if {"nilearn", "fsl"} & set(plan.formats):
        report.check_conditions(runs, str(order.table))
    if {"bids", "nilearn"} & set(plan.formats):
        report.check_texts(runs, str(order.table))
    onset = np.concatenate([run.onset for run in runs])
    run_of = np.repeat(np.arange(len(runs)), [len(run.onset) for run in runs])
    return [*timing.notes(onset, run_of, plan.onset), *report.problems(runs, plan)]


def _texts(runs: list[Run], result: Result, order: Order, plan: Plan, progress: Progress) -> dict[str, str]:
    """All files by name. The sidecar comes with every format: it alone says which learner and parameters were used."""
    made: dict[str, str] = {}
    for done, run in enumerate(runs, 1):
        for name in dict.fromkeys(plan.formats):
            made |= WRITERS[name](run)
        made |= sidecar.files(run, result, order, plan)
        progress(done / len(runs))
    return made


def _part(progress: Progress, start: float, end: float) -> Progress:
    """The progress of a part of the work, as a share of the whole."""
    return lambda share: progress(start + (end - start) * share)
