"""`volatilis fit`: learners fitted to people's responses."""

from __future__ import annotations

from typing import Annotated

import typer

from volatilis.cli import options
from volatilis.cli.errors import reported

PANEL = "How it is fitted"


def fit(
    table: options.Table,
    family: options.Family,
    learner: Annotated[
        list[str], typer.Option(help="A learner with what is free, such as nas12*:p_c=free; may be given several times.")
    ],
    response: Annotated[
        str, typer.Option(help="A response model, such as laplace:sd=free,lapse=0.01; see volatilis responses.")
    ] = "gaussian:sd=free",
    out: Annotated[
        str, typer.Option(help="A table by its ending (csv, tsv, parquet, jsonl) or netCDF (.nc). -: CSV on standard output.")
    ] = "-",
    plot: Annotated[str | None, typer.Option(metavar="OUT.png", help="A picture of all parameters; also .pdf and .svg.")] = None,
    by: Annotated[str, typer.Option("--by", "--subject", metavar="COLUMN,...", help="Columns that make a person.")] = "subject",
    outcome: Annotated[str, typer.Option(metavar="COLUMN", help="What was observed.")] = "outcome",
    response_column: Annotated[str, typer.Option(metavar="COLUMN", help="What the person said or chose.")] = "prediction",
    when: Annotated[str, typer.Option(help="A response was given before or after the trial's outcome.")] = "before",
    block: Annotated[str | None, typer.Option(metavar="COLUMN", help="Learners start anew where its value changes.")] = None,
    reset: options.Reset = None,
    catch: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Not 0 where the hidden mean was shown: learned from, not scored.")
    ] = None,
    trial: Annotated[str | None, typer.Option(metavar="COLUMN", help="Numbers a person's trials; none may come twice.")] = None,
    missing: options.Missing = "error",
    bounds: Annotated[str | None, typer.Option(metavar="LOW,HIGH", help="Ends of the slider; none may lie beyond.")] = None,
    categories: options.Categories = None,
    method: Annotated[
        str,
        typer.Option(help="ml (maximum likelihood), map (with priors) or hierarchical (with a group).", rich_help_panel=PANEL),
    ] = "ml",
    prior: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=LOW:HIGH", help="With map: the range that holds 95 % of it; weak if not given.", rich_help_panel=PANEL
        ),
    ] = None,
    profile: Annotated[
        bool, typer.Option("--profile", help="Intervals from the profile, not the curvature.", rich_help_panel=PANEL)
    ] = False,
    starts: Annotated[int, typer.Option(min=1, help="Of the search.", rich_help_panel=PANEL)] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Of the starts, and of learners that sample.", rich_help_panel=PANEL)] = 0,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes; one per core if not given. The numbers are the same.")
    ] = None,
    store: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Keeps finished fits: the same command goes on from there.")
    ] = None,
    own: Annotated[
        list[str] | None, typer.Option(metavar="FILE.py", help="Response models of your own.", rich_help_panel=PANEL)
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Fit learners to people's responses: parameters per person, with errors, warnings, and what models are compared by."""
    kept = f"What is done is kept in {store}; the same command goes on from there." if store else "Nothing was written."
    with reported("fit", kept):
        from volatilis.behaviour.command import Order, check_outputs, run_fits, write
        from volatilis.behaviour.people import Source
        from volatilis.behaviour.terminal import show
        from volatilis.trials.terminal import progress_of

        check_outputs(out, plot)
        source = Source(
            *(table, options.names(by), outcome, response_column, when, block, reset, catch, missing, ends(bounds)),
            *(() if categories is None else options.names(categories), trial),
        )
        order = Order(
            *(source, family, tuple(learner), response, method, tuple(prior or ()), starts, seed, workers, profile),
            *(tuple(own or ()), store),
        )
        with progress_of("fitting", quiet) as progress:
            results = run_fits(order, progress)
        write(results, out, plot)
        if not quiet:
            show(results, *(one for one in (out, plot) if one is not None))


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
