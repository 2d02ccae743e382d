"""Options that several commands share."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from volatilis.trials import Order

Table = Annotated[str, typer.Argument(metavar="TABLE", help="CSV, TSV, Parquet or JSON lines, plain or compressed.")]
Family = Annotated[str, typer.Option(help="What is observed, such as gaussian:sigma=10,mu_0=150,sigma_0=87.")]
Learner = Annotated[list[str], typer.Option(help="A learner, such as merge:n=20,p_c=0.1; may be given several times.")]
By = Annotated[
    str | None,
    typer.Option(metavar="COLUMN,...", help="Columns that make a group; subject, session and block if they are there."),
]
Subject = Annotated[str | None, typer.Option(metavar="COLUMN", help="The file's name for subject.")]
Session = Annotated[str | None, typer.Option(metavar="COLUMN", help="The file's name for session.")]
Block = Annotated[str | None, typer.Option(metavar="COLUMN", help="The file's name for block.")]
Outcome = Annotated[str, typer.Option(metavar="COLUMN,...", help="The outcome's column; several for a vector.")]
Trial = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Numbers the trials of a group; none: do not check their order.")
]
Reset = Annotated[str | None, typer.Option(metavar="COLUMN", help="Not 0 where a block begins and learners start anew.")]
Measures = Annotated[str | None, typer.Option(metavar="NAME,...", help="Measures to compute, or all; most, if not given.")]
Missing = Annotated[str, typer.Option(help="A missing outcome: error, elapse (time passes) or skip.")]
Categories = Annotated[
    str | None, typer.Option(metavar="NAME,...", help="Names of the categories, in order, where outcomes are texts.")
]
Seed = Annotated[int, typer.Option(min=0, help="For learners that sample.")]
Workers = Annotated[int | None, typer.Option(min=1, help="Threads; one per core if not given. The numbers are the same.")]
Report = Annotated[
    str | None,
    typer.Option(metavar="OUT.html", help="A page with a picture per group: outcomes, estimates, surprise, changes found."),
]
ReportGroups = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Groups that the report draws at most, the first, with room for 4,000 numbers each; 500 if not given; up to 10000.",
    ),
]
Prediction = Annotated[
    str | None,
    typer.Option(metavar="COLUMN,...", help="People's own prediction, for the report; prediction, if it is there."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.")]


def order_from(
    table: str | os.PathLike[str],
    family: str,
    learner: list[str],
    by: str | None,
    outcome: str,
    trial: str | None,
    reset: str | None,
    measures: str | None,
    missing: str,
    categories: str | None,
    seed: int,
    workers: int | None,
    subject: str | None = None,
    session: str | None = None,
    block: str | None = None,
) -> Order:
    """What was asked for, with lists split at commas."""
    from volatilis.catalogue import parse_family, parse_learners
    from volatilis.trials import Order

    return Order(
        table,
        parse_family(family),
        tuple(parse_learners(learner)),
        None if by is None else names(by),
        names(outcome),
        trial,
        reset,
        None if measures is None else names(measures),
        missing,
        () if categories is None else names(categories),
        seed,
        workers,
        tuple((role, name) for role, name in (("subject", subject), ("session", session), ("block", block)) if name is not None),
    )


def names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def numbers(option: str, text: str, count: int | None = None) -> tuple[float, ...]:
    """Numbers with commas between them."""
    try:
        found = tuple(float(part) for part in names(text))
    except ValueError:
        found = ()
    if not found or (count is not None and len(found) != count):
        wanted = "numbers" if count is None else f"{count} numbers"
        raise ValueError(f"--{option} {text!r} is not accepted; {wanted} with commas between are")
    return found


def steps(option: str, text: str) -> tuple[float, ...]:
    """FIRST,LAST,STEP as the numbers from first to last."""
    first, last, step = numbers(option, text, 3)
    if not (step > 0.0 and last >= first and (last - first) / step < 1e4):
        raise ValueError(
            f"--{option} {text!r} is not accepted; it must be FIRST,LAST,STEP with a step above 0 up to a later last"
        )
    return tuple(round(first + k * step, 12) for k in range(int((last - first) / step + 1e-9) + 1))


def whole_numbers(option: str, text: str) -> tuple[int, ...]:
    """Whole numbers above 0 with commas between them, in order."""
    try:
        found = tuple(sorted({int(part) for part in names(text)}))
    except ValueError:
        found = ()
    if not found or found[0] < 1:
        raise ValueError(f"--{option} {text!r} is not accepted; whole numbers above 0 with commas between are")
    return found
