"""Options that several commands share, one definition each; a NamedTuple of them is a group, one argument of a command."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from volatilis.cli.help import with_groups as with_groups

if TYPE_CHECKING:
    from volatilis.estimation.texts import Texts
    from volatilis.predictions.windows import FirstWindow, SecondWindow
    from volatilis.trials import RunRequest

Table = Annotated[str, typer.Argument(metavar="TABLE", help="CSV, TSV, Parquet or JSON lines, plain or compressed.")]
Learner = Annotated[list[str], typer.Option(help="A learner, such as merge:n=20,p_c=0.1; may be given several times.")]
By = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN,...",
        help="Columns that identify a group; if not given, subject, session and block, as far as the table has them.",
    ),
]
Subject = Annotated[str | None, typer.Option(metavar="COLUMN", help="The column of the subject, if it has another name.")]
Session = Annotated[str | None, typer.Option(metavar="COLUMN", help="The column of the session, if it has another name.")]
Block = Annotated[str | None, typer.Option(metavar="COLUMN", help="Learners start anew where its value changes; none: never.")]
Outcome = Annotated[str, typer.Option(metavar="COLUMN,...", help="The outcome's column; several for a vector.")]
Given = Annotated[
    str | None, typer.Option(metavar="COLUMN,...", help="The context's column (arm, cue, ...); several for regressors.")
]
Contexts = Annotated[str | None, typer.Option(metavar="NAME,...", help="Names of the contexts, in order, if --given has texts.")]
Trial = Annotated[str | None, typer.Option(metavar="COLUMN", help="Trial numbers, which must go up; none: no check.")]
Reset = Annotated[str | None, typer.Option(metavar="COLUMN", help="Learners start anew where its value is not 0.")]
Measures = Annotated[str | None, typer.Option(metavar="NAME,...", help="Measures to compute, or all; most if not given.")]
Missing = Annotated[str, typer.Option(help="A missing outcome: error, elapse (time passes) or skip (no update).")]
Categories = Annotated[
    str | None, typer.Option(metavar="NAME,...", help="Names of the categories, in order, if outcomes are texts.")
]
Seed = Annotated[int, typer.Option(min=0, help="Seed for learners that sample.")]
Workers = Annotated[int | None, typer.Option(min=1, help="Threads; one per core if not given. The results are the same.")]
Own = Annotated[
    list[str] | None,
    typer.Option(metavar="FILE.py", help="A file with families and learners of your own; may be given several times."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.")]


class World(NamedTuple):
    """What is observed: as a text, or as `volatilis environment` found it."""

    family: Annotated[
        str | None,
        typer.Option(
            help="What is observed, such as gaussian:sigma=10,mu_0=150,sigma_0=87. With gaussian:auto or sigma=auto it is "
            "estimated from the outcomes first, as is a learner's p_c=auto."
        ),
    ] = None
    environment: Annotated[
        str | None,
        typer.Option(metavar="FILE.json", help="The family and p_c from volatilis environment; learners then need no p_c."),
    ] = None

    def settled(self, learners: Sequence[str], reading: Callable[[], RunRequest] | None, quiet: bool = False) -> Texts:
        """The texts of the family and of the learners, with nothing unknown; `reading` says where the outcomes stand.

        What was estimated is told on standard error.
        """
        if self.environment is None and self.family is None:
            raise ValueError("give --family, such as gaussian:sigma=1 or gaussian:auto, or --environment FILE.json")
        if self.environment is not None and self.family is not None:
            raise ValueError("--family and --environment both say what is observed; give one of them")
        from volatilis.estimation.texts import Texts, filled_in, needs_estimate

        texts = Texts(self.family or "", tuple(learners))
        if self.environment is not None:
            from volatilis.estimation import Environment

            return filled_in(texts, Environment.load(self.environment))
        if not needs_estimate(texts):
            return texts
        if reading is None:
            raise ValueError("auto: there are no outcomes here to estimate from; give numbers, or --environment FILE.json")
        from volatilis.trials.sequences import resolved

        return resolved(texts, reading, (lambda text: None) if quiet else (lambda text: print(text, file=sys.stderr)))

    def change_probability(self, given: float | None) -> float:
        """p_c of an environment without a table: as it is given, or as the file has it."""
        if (given is None) == (self.environment is None):
            raise ValueError("give p_c once: --p-c with --family, or an --environment, which has one")
        if given is not None:
            return given
        from volatilis.estimation import Environment

        return Environment.load(self.environment or "").p_c


class TrialOptions(NamedTuple):
    """Where trials stand in the table, and how learners run over them."""

    by: By = None
    subject: Subject = None
    session: Session = None
    block: Block = None
    outcome: Outcome = "outcome"
    trial: Trial = None
    reset: Reset = None
    missing: Missing = "error"
    categories: Categories = None
    workers: Workers = None
    own: Own = None
    given: Given = None
    contexts: Contexts = None

    def reading(self, table: str) -> RunRequest:
        """Where the outcomes of a table stand."""
        return self.request(table, "gaussian:sigma=1", ["leaky:omega=0.5"], None)

    def request(self, table: str, family: str, learners: Sequence[str], measures: str | None) -> RunRequest:
        """The request, with lists split at commas."""
        from volatilis.catalogue import parse_family, parse_learners
        from volatilis.own_files import load_own
        from volatilis.trials import RunRequest

        load_own(self.own or ())
        roles = {"subject": self.subject, "session": self.session, "block": self.block}
        return RunRequest(
            table,
            parse_family(family),
            tuple(parse_learners(learners)),
            by=optional_names(self.by),
            outcome=names(self.outcome),
            trial=self.trial,
            reset=self.reset,
            measures=optional_names(measures),
            missing=self.missing,
            categories=names(self.categories or ""),
            workers=self.workers,
            named=tuple((role, name) for role, name in roles.items() if name is not None),
            given=names(self.given or ""),
            contexts=names(self.contexts or ""),
        )


def names(text: str) -> tuple[str, ...]:
    """Names with commas between them."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def optional_names(text: str | None) -> tuple[str, ...] | None:
    """The same for an option that may not be given."""
    return None if text is None else names(text)


def numbers(option: str, text: str, count: int | None = None) -> tuple[float, ...]:
    """Numbers with commas between them."""
    try:
        values = tuple(float(part) for part in names(text))
    except ValueError:
        values = ()
    if not values or (count is not None and len(values) != count):
        wanted = "numbers" if count is None else f"{count} numbers"
        raise ValueError(f"--{option} {text!r} is not accepted; write {wanted} separated by commas")
    return values


def steps(option: str, text: str) -> tuple[float, ...]:
    """FIRST,LAST,STEP as the numbers from first to last."""
    first, last, step = numbers(option, text, 3)
    if not (step > 0.0 and last >= first and (last - first) / step < 1e4):
        raise ValueError(
            f"--{option} {text!r} is not accepted; write FIRST,LAST,STEP, with STEP above 0 and LAST not below FIRST"
        )
    return tuple(round(first + k * step, 12) for k in range(int((last - first) / step + 1e-9) + 1))


def whole_numbers(option: str, text: str) -> tuple[int, ...]:
    """Whole numbers above 0 with commas between them, in order."""
    try:
        values = tuple(sorted({int(part) for part in names(text)}))
    except ValueError:
        values = ()
    if not values or values[0] < 1:
        raise ValueError(f"--{option} {text!r} is not accepted; write whole numbers above 0 separated by commas")
    return values


WINDOWS = "Windows, in prior standard deviations"

ConfidenceWindow = Annotated[
    str | None,
    typer.Option(
        metavar="LOW,HIGH",
        help="The reported confidence, in its own units; if not given, a person's middle 80 %.",
        rich_help_panel=WINDOWS,
    ),
]
# what `volatilis separate` took before all commands had the same options
OlderWindow = Annotated[list[str] | None, typer.Option("--window", metavar="NAME=...", hidden=True)]


class Windows(NamedTuple):
    """Of trials for which a learner has a belief. A reported confidence has a window of its own (`ConfidenceWindow`)."""

    prediction_window: Annotated[
        str, typer.Option(metavar="MIDDLE,WIDTH", help="The absolute prediction.", rich_help_panel=WINDOWS)
    ] = "1,0.25"
    spread_window: Annotated[
        str, typer.Option(metavar="MIDDLE,WIDTH", help="The learner's uncertainty.", rich_help_panel=WINDOWS)
    ] = "0.5,1"
    confidence_side: Annotated[
        str, typer.Option(help="Confidence or uncertainty before the outcome, or after.", rich_help_panel=WINDOWS)
    ] = "before"
    errors: Annotated[
        str, typer.Option(metavar="FIRST,LAST,STEP", help="Absolute errors to compare (prediction 1).", rich_help_panel=WINDOWS)
    ] = "0.1,1,0.1"
    error_width: Annotated[float, typer.Option(help="How far a trial may lie from --errors.", rich_help_panel=WINDOWS)] = 0.1
    probabilities: Annotated[
        str, typer.Option(metavar="FIRST,LAST,STEP", help="Densities p to compare (prediction 2).", rich_help_panel=WINDOWS)
    ] = "0.025,0.4,0.025"
    p_width: Annotated[float, typer.Option(help="How far a trial may lie from --probabilities.", rich_help_panel=WINDOWS)] = (
        0.0125
    )
    least: Annotated[int, typer.Option(min=1, help="Fewest trials for a person's average.", rich_help_panel=WINDOWS)] = 1
    first_trials: Annotated[
        str,
        typer.Option(
            metavar="text|published",
            help="Prediction 2 uses the first trial of a block, as the paper's text says, or not, as in the published code.",
            rich_help_panel=WINDOWS,
        ),
    ] = "text"

    def both(self, confidence: str | None = None, older: Sequence[str] = ()) -> tuple[FirstWindow, SecondWindow]:
        """The windows of prediction 1 and of prediction 2.

        older   texts of `--window`, which change them
        """
        from volatilis.predictions.windows import FIRST_TRIALS, FirstWindow, SecondWindow

        if self.first_trials not in FIRST_TRIALS:
            raise ValueError(f"--first-trials {self.first_trials}: not accepted; {' and '.join(FIRST_TRIALS)} are")
        prediction, prediction_width = numbers("prediction-window", self.prediction_window, 2)
        spread, spread_width = numbers("spread-window", self.spread_window, 2)
        first = FirstWindow(
            prediction=prediction,
            prediction_width=prediction_width,
            spread=spread,
            spread_width=spread_width,
            confidence=None if confidence is None else _ends(confidence),
            side=self.confidence_side,
            errors=steps("errors", self.errors),
            error_width=self.error_width,
            least=self.least,
        )
        second = SecondWindow(
            p=steps("probabilities", self.probabilities),
            p_width=self.p_width,
            least=self.least,
            first_trials=FIRST_TRIALS[self.first_trials],
        )
        for text in older:
            first, second = older_window(text, first, second)
        return first, second


def _ends(text: str) -> tuple[float, float]:
    low, high = numbers("confidence-window", text, 2)
    return low, high


def older_window(text: str, first: FirstWindow, second: SecondWindow) -> tuple[FirstWindow, SecondWindow]:
    """The windows changed by theta=1:0.25 (middle and width), spread=0.5:1, confidence=3:1, delta=0.1 or p=0.0125 (widths)."""
    name, _, value = text.partition("=")
    try:
        given = [float(part) for part in value.split(":")]
    except ValueError:
        given = []
    count = {"theta": 2, "spread": 2, "confidence": 2, "delta": 1, "p": 1}.get(name)
    if len(given) != count or not all(map(math.isfinite, given)) or not given[-1] > 0.0:
        raise ValueError(
            f"--window {text}: not accepted; theta=MIDDLE:WIDTH, spread=MIDDLE:WIDTH, confidence=MIDDLE:WIDTH, "
            "delta=WIDTH and p=WIDTH are, with a width above 0. Better use --prediction-window, --spread-window, "
            "--confidence-window, --error-width and --p-width, as in volatilis predict"
        )
    middle, width = given[0], given[-1]
    if name == "theta":
        return first._replace(prediction=middle, prediction_width=width), second
    if name == "spread":
        return first._replace(spread=middle, spread_width=width), second
    if name == "confidence":  # its ends were left out
        inside = (math.nextafter(middle - width, math.inf), math.nextafter(middle + width, -math.inf))
        return first._replace(confidence=inside), second
    if name == "delta":
        return first._replace(error_width=width), second
    return first, second._replace(p_width=width)
