"""`volatilis run --events`: run learners over a table and write event files. Everything is checked before a file is named."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from volatilis._core.files import staged
from volatilis._core.terminal import console_of, plain
from volatilis.events.formats import WRITERS, check_formats, sidecar
from volatilis.events.request import EventsRequest, check_request, is_constant, left_out
from volatilis.events.runs import Run, check_columns, name_notes, parts_of, runs_of
from volatilis.tables import counted, open_table
from volatilis.trials import Onlooker, Result, RunSummary, compute

Progress = Callable[[float], None]
NAMED = 3  # runs that a note names; of more, their number

LONG_APART = 120.0  # seconds: onsets that are further apart on average may be in milliseconds


class EventsResult(NamedTuple):
    """What was written, and notes for the user: one sentence each."""

    summary: RunSummary
    runs: int
    files: tuple[str, ...]
    notes: tuple[str, ...]


def run_events(
    request: EventsRequest,
    out: str | os.PathLike[str] | None = None,
    progress: Progress = lambda share: None,
    watchers: Sequence[Onlooker] = (),
) -> EventsResult:
    """Event files for every run, and the whole table too if `out` is given."""
    check_request(request)
    check_columns(open_table(request.run.table).columns, request, str(request.run.table))
    texts: dict[str, str] = {}
    notes: list[str] = []
    runs: list[Run] = []
    with staged(request.folder, request.overwrite) as files:

        def prepare(result: Result) -> None:
            runs.extend(runs_of(result, request))
            notes.extend(_notes(runs, result, request))
            texts.update(_texts(runs, result, request, _part(progress, 0.5, 0.8)))
            files.add(texts, _part(progress, 0.8, 1.0))

        summary = compute(request.run, _part(progress, 0.0, 0.5), out, prepare, watchers).summary
        files.commit()
    return EventsResult(summary, len(runs), tuple(texts), tuple(notes))


def show_events(result: EventsResult, folder: str, quiet: bool) -> None:
    """On standard error. Notes are shown even if quiet: they say what is wrong with a regressor."""
    console = console_of(stderr=True)
    if not quiet:
        console.print(f"{len(result.files):,} event files for {counted(result.runs, 'run')} -> {plain(folder)}", soft_wrap=True)
    for note in result.notes:
        console.print(f"[yellow]note:[/yellow] {plain(note)}", soft_wrap=True)


def _texts(runs: list[Run], result: Result, request: EventsRequest, progress: Progress) -> dict[str, str]:
    """All files by name. The sidecar comes with every format: it alone says which learner and parameters were used."""
    texts: dict[str, str] = {}
    for done, run in enumerate(runs, 1):
        for name in dict.fromkeys(request.formats):
            texts |= WRITERS[name](run)
        texts |= sidecar(run, result, request)
        progress(done / len(runs))
    return texts


def _part(progress: Progress, start: float, end: float) -> Progress:
    """The progress of a part of the work, as a share of the whole."""
    return lambda share: progress(start + (end - start) * share)


# --- notes: what looks wrong ----------------------------------------------------------------------------------------------


def _notes(runs: list[Run], result: Result, request: EventsRequest) -> list[str]:
    notes = left_out(result.columns, [recipe.label for recipe in request.run.learners], request.regressors or ())
    check_formats(runs, request.formats, str(request.run.table))
    onset = np.concatenate([run.onset for run in runs])
    run_of = np.repeat(np.arange(len(runs)), [len(run.onset) for run in runs])
    duration = np.concatenate([run.duration for run in runs])
    notes += [*_onset_notes(onset, duration, run_of, request.onset), *_problems(runs, request)]
    if "bids" in request.formats:
        notes += name_notes(parts_of(result, request), [run.labels for run in runs])
    return notes


def _onset_notes(onset: np.ndarray, duration: np.ndarray, run_of: np.ndarray, column: str) -> list[str]:
    """What looks wrong with onsets and durations, but may be right."""
    notes = []
    before = int(np.count_nonzero(onset < 0.0))
    if before:
        notes.append(f"{counted(before, 'onset')} {'is' if before == 1 else 'are'} negative: before the start of the run")
    same = np.diff(run_of) == 0
    steps = np.diff(onset)[same]
    if len(steps) and steps.mean() > LONG_APART:
        notes.append(f"onsets in {column!r} are {steps.mean():,.0f} s apart on average; are they in seconds?")
    beyond = int(np.count_nonzero(duration[:-1][same] > steps * (1.0 + 1e-9)))
    if 2 * beyond > len(steps):
        notes.append(
            f"{counted(beyond, 'event')} of {len(steps):,} last longer than until the next onset (the longest "
            f"{duration.max():,.4g} s); is the duration in seconds?"
        )
    return notes


def _problems(runs: Sequence[Run], request: EventsRequest) -> list[str]:
    """One note per regressor and kind of problem; a constant regressor is an error unless it is allowed."""
    notes = _missing_outcomes(runs)
    for i, regressor in enumerate(runs[0].regressors):
        notes += _not_finite(regressor.name, i, runs)
    constant = _constant(runs)
    if constant and not request.allow_constant:
        raise ValueError(
            "; ".join(constant) + "; a GLM cannot tell such a regressor from the events themselves: leave it out with "
            "--regressors, or write it anyway with --allow-constant"
        )
    return notes + constant


def _missing_outcomes(runs: Sequence[Run]) -> list[str]:
    where = {run.name: int((~run.happened).sum()) for run in runs}
    count = sum(where.values())
    if not count:
        return []
    are = "is" if count == 1 else "are"
    return [f"{counted(count, 'outcome')} {are} missing {_in(where)}: regressors are n/a there, and nilearn and FSL get no event"]


def _not_finite(name: str, i: int, runs: Sequence[Run]) -> list[str]:
    infinite = {run.name: int(run.regressors[i].infinite.sum()) for run in runs}
    absent = {run.name: int(np.isnan(run.regressors[i].values[run.happened]).sum()) - infinite[run.name] for run in runs}
    notes = []
    if sum(infinite.values()):
        notes.append(f"{name} is infinite at {counted(sum(infinite.values()), 'event')} {_in(infinite)}: written as n/a")
    if sum(absent.values()):
        notes.append(
            f"{name} is missing at {counted(sum(absent.values()), 'event')} with an outcome {_in(absent)}: written as n/a"
        )
    return notes


def _constant(runs: Sequence[Run]) -> list[str]:
    notes = []
    for i, regressor in enumerate(runs[0].regressors):
        raw = [one.values * one.scale + one.shift for one in (run.regressors[i] for run in runs)]
        where = {run.name: 1 for run, values in zip(runs, raw, strict=True) if is_constant(values)}
        if where:
            notes.append(f"{regressor.name} is constant, or missing at all events, {_in(where)}")
    return notes


def _in(where: dict[str, int]) -> str:
    """in sub-1_task-a, sub-2_task-a and 3 more runs"""
    names = [name for name, count in where.items() if count]
    more = len(names) - NAMED
    return f"in {', '.join(names[:NAMED])}" + (f" and {counted(more, 'more run')}" if more > 0 else "")
