"""`volatilis paper`: the paper, reproduced."""

from __future__ import annotations

import pathlib
from typing import Annotated

import typer

from volatilis.cli.errors import reported
from volatilis.cli.help import with_examples

EXAMPLES = """
Examples:

  volatilis paper  # every figure, small: minutes

  volatilis paper 3 10 S2 memory  # only these

  volatilis paper claims  # what the paper says, and verdicts

  volatilis paper all --size full --reference DIR --replications 30 --out full

  volatilis paper all --size full --benchmark near --workers 8

  volatilis paper all --size full --scheduler tcp://host:8786
"""


def paper(
    figures: Annotated[
        list[str] | None,
        typer.Argument(metavar="FIGURE|all|claims", help="1 to 11, S1, S2, memory; all; or claims, to print the table."),
    ] = None,
    size: Annotated[str, typer.Option(help="quick (minutes) or full (the paper's size).")] = "quick",
    out: Annotated[pathlib.Path, typer.Option(help="A folder for figures, data and report.")] = pathlib.Path("paper-results"),
    workers: Annotated[int | None, typer.Option(min=1, help="Threads; one per core if not given.")] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="A Dask scheduler to tune and simulate on, such as tcp://host:8786.")
    ] = None,
    reference: Annotated[pathlib.Path | None, typer.Option(help="The authors' release (or its data), to compare with.")] = None,
    replications: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="With --reference: N seeds of what the authors ran, for the intervals (30 or more)."
        ),
    ] = 0,
    benchmark: Annotated[str, typer.Option(help="exact, or near: Merge80 in place of Exact Bayes.")] = "exact",
    resume: Annotated[
        bool, typer.Option("--resume/--fresh", help="Continue where an earlier run stopped, or start again.")
    ] = True,
) -> None:
    """Reproduce the paper: every figure, every claim, and what changes once its errors are corrected."""
    with reported("paper", f"Finished work is kept in {out}; the same command continues from there."):
        from volatilis.paper.context import PaperRequest
        from volatilis.paper.reproduce import reproduce, show

        request = PaperRequest(
            figures=tuple(figures or ("all",)),
            size=size,
            out=out,
            workers=workers,
            scheduler=scheduler,
            reference=reference,
            replications=replications,
            benchmark=benchmark,
            resume=resume,
        )
        show(reproduce(request))


paper.__doc__ = with_examples(paper.__doc__, EXAMPLES)
