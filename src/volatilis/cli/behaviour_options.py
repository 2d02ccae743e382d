"""Options of the commands about people's behaviour: one definition each, and people and fits from them."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from volatilis.cli.options import TrialOptions, names

if TYPE_CHECKING:
    from volatilis.behaviour.fitting.jobs import FitOptions
    from volatilis.behaviour.people import Source
    from volatilis.trials import RunRequest

COLUMNS, FITS = "Columns of the table", "How it is fitted"

Learners = Annotated[
    list[str],
    typer.Option("--learner", help="A learner with its free parameters, such as varsmile:m=free; may be given several times."),
]
Response = Annotated[str, typer.Option(help="A response model, such as laplace:sd=free,lapse=0.01; see volatilis responses.")]
Plot = Annotated[str | None, typer.Option(metavar="OUT.png", help="A picture: .png, .pdf or .svg.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.")]

By = Annotated[
    str, typer.Option("--by", "--subject", metavar="COLUMN,...", help="Columns that identify a person.", rich_help_panel=COLUMNS)
]
Outcome = Annotated[
    str,
    typer.Option(
        metavar="COLUMN",
        help="What was observed; with several arms, one column for each is accepted too.",
        rich_help_panel=COLUMNS,
    ),
]
ResponseColumn = Annotated[
    str,
    typer.Option(
        "--response-column", "--prediction", metavar="COLUMN", help="What the person said or chose.", rich_help_panel=COLUMNS
    ),
]
Prediction = Annotated[
    str,
    typer.Option(
        "--prediction",
        "--response-column",
        metavar="COLUMN|none",
        help="People's predictions; none, if they made none.",
        rich_help_panel=COLUMNS,
    ),
]
When = Annotated[
    str,
    typer.Option(
        help="before or after: responses were given before the outcome of their row or after it.", rich_help_panel=COLUMNS
    ),
]
Block = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The learner starts anew where its value changes. If not given: session and block, if the table has them and "
        "there is no --reset; none: never.",
        rich_help_panel=COLUMNS,
    ),
]
Reset = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="The learner starts anew where its value is not 0.", rich_help_panel=COLUMNS),
]
Catch = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The hidden mean was shown where its value is not 0: such trials are learned from, not scored.",
        rich_help_panel=COLUMNS,
    ),
]
Trial = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Trial numbers, which must go up within a person. If not given: trial, if the table has it; none: no check.",
        rich_help_panel=COLUMNS,
    ),
]
Missing = Annotated[
    str, typer.Option(help="A missing outcome: error, elapse (time passes) or skip (no update).", rich_help_panel=COLUMNS)
]
Bounds = Annotated[
    str | None,
    typer.Option(metavar="LOW,HIGH", help="Ends of the slider; responses beyond them are refused.", rich_help_panel=COLUMNS),
]
Categories = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,...",
        help="Names of the categories, in order, where outcomes and choices are texts.",
        rich_help_panel=COLUMNS,
    ),
]

Given = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="The context of the outcome, such as a cue: 0, 1, ...", rich_help_panel=COLUMNS),
]
Contexts = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,...", help="Names of the contexts or arms, in order, where they are texts.", rich_help_panel=COLUMNS
    ),
]
Magnitudes = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN,...",
        help="Choices among arms: columns with what each arm pays when its outcome is 1.",
        rich_help_panel=COLUMNS,
    ),
]
Learn = Annotated[
    str,
    typer.Option(
        metavar="chosen|all", help="Choices among arms: learn from the chosen arm or from all.", rich_help_panel=COLUMNS
    ),
]

Starts = Annotated[int, typer.Option(min=1, help="Starting points of each search for the best parameters.", rich_help_panel=FITS)]
Seed = Annotated[int, typer.Option(min=0, help="Seed of everything random.", rich_help_panel=FITS)]
Workers = Annotated[
    int | None,
    typer.Option(min=1, help="Processes; one per core if not given. The results are the same.", rich_help_panel=FITS),
]
Scheduler = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="A Dask scheduler to fit on, such as tcp://host:8786.", rich_help_panel=FITS),
]
Store = Annotated[
    str | None,
    typer.Option(
        metavar="FOLDER", help="A folder that keeps finished work: the same command continues from there.", rich_help_panel=FITS
    ),
]
Own = Annotated[
    list[str] | None,
    typer.Option(metavar="FILE.py", help="Families, learners and response models of your own.", rich_help_panel=FITS),
]


class Columns(NamedTuple):
    """Where people's trials stand."""

    by: By = "subject"
    outcome: Outcome = "outcome"
    response_column: ResponseColumn = "prediction"
    when: When = "before"
    block: Block = None
    reset: Reset = None
    catch: Catch = None
    trial: Trial = None
    missing: Missing = "error"
    bounds: Bounds = None
    categories: Categories = None
    given: Given = None
    contexts: Contexts = None
    magnitudes: Magnitudes = None
    learn: Learn = "chosen"

    def source(self, table: str) -> Source:
        from volatilis.behaviour.people import Source

        return Source(
            table,
            by=names(self.by),
            outcome=self.outcome,
            response=self.response_column,
            when=self.when,
            block=self.block,
            reset=self.reset,
            catch=self.catch,
            missing=self.missing,
            bounds=ends(self.bounds),
            categories=() if self.categories is None else names(self.categories),
            trial=self.trial,
            given=self.given,
            magnitudes=names(self.magnitudes or ""),
            learn=self.learn,
            contexts=names(self.contexts or ""),
        )

    def reading(self, table: str) -> RunRequest:
        """Where the outcomes stand, for an estimate of the environment, with blocks as fits have them."""
        columns: dict[str, Any] = {"by": self.by, "outcome": self.outcome, "trial": "none", "reset": self.reset}
        columns["block"] = self.block
        contexts: dict[str, Any] = {"given": self.given, "contexts": self.contexts if self.given else None}
        return TrialOptions(**columns, **contexts, missing=self.missing, categories=self.categories).reading(table)


class PredictionColumns(NamedTuple):
    """The same where outcomes are numbers, and responses are predictions of them, if there are any."""

    by: By = "subject"
    outcome: Outcome = "outcome"
    prediction: Prediction = "prediction"
    when: When = "before"
    block: Block = None
    reset: Reset = None
    catch: Catch = None
    trial: Trial = None
    missing: Missing = "error"
    bounds: Bounds = None
    given: Given = None
    contexts: Contexts = None
    magnitudes: Magnitudes = None
    learn: Learn = "chosen"

    def source(self, table: str) -> Source:
        shared = self._asdict()
        source = Columns(response_column=shared.pop("prediction"), **shared).source(table)
        return source._replace(response=None) if self.prediction == "none" else source

    def reading(self, table: str) -> RunRequest:
        shared = self._asdict()
        return Columns(response_column=shared.pop("prediction"), **shared).reading(table)


class Fits(NamedTuple):
    """How fits are made, and where."""

    starts: Starts = 10
    seed: Seed = 0
    workers: Workers = None
    scheduler: Scheduler = None
    store: Store = None
    own: Own = None

    def options(self) -> FitOptions:
        from volatilis.behaviour.fitting.jobs import FitOptions

        return FitOptions(self.starts, self.seed, self.workers, self.store, self.scheduler)


def ends(text: str | None) -> tuple[float, float] | None:
    """The two ends of a slider."""
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        low, high = 0.0, 0.0
    if not low < high:
        raise ValueError(f"--bounds {text}: not accepted; write LOW,HIGH, such as 0,300")
    return low, high


def kept(store: str | None) -> str:
    """The message after a run that was stopped."""
    if store is None:
        return "Nothing was written. With --store FOLDER finished work is kept."
    return f"Finished work is kept in {store}; the same command continues from there."


def notices(quiet: bool) -> Callable[[str], None]:
    """Prints lines on standard error about people who are left out."""
    return (lambda text: None) if quiet else (lambda text: print(text, file=sys.stderr))


def check_quiet(quiet: bool, *outputs: str | None) -> None:
    if quiet and all(out is None for out in outputs):
        raise ValueError("--quiet without an output gives nothing: name an output, or leave --quiet out")


@contextlib.contextmanager
def progress(quiet: bool, before: str = "") -> Iterator[Callable[[str, float], None]]:
    """A bar for each thing that is done, by its name; lines, where there is no terminal, if it takes long."""
    from volatilis._core.terminal import Bars

    with Bars(quiet) as bars:
        yield lambda what, share: bars.update(f"{before}{what}", share)
