"""`volatilis fit`: learners fitted to people's responses."""

from __future__ import annotations

from typing import Annotated

import typer

from volatilis.cli import behaviour_options as options
from volatilis.cli.errors import reported
from volatilis.cli.option_groups import with_groups
from volatilis.cli.options import Table

EXAMPLES = """
Examples:

  volatilis fit trials.csv --family gaussian:sigma=10,mu_0=150,sigma_0=87 --learner varsmile:m=free --out fits.csv

  volatilis fit trials.csv --family gaussian:sigma=10,mu_0=150,sigma_0=87 --learner varsmile:m=free --learner 'nas12*:p_c=free'
      --response truncated:sd=free,low=0,high=300 --bounds 0,300 --method hierarchical --out fits.nc --plot fits.png --store fits

  volatilis fit choices.tsv --family bernoulli --response softmax:beta=free,lapse=0.01 --response-column choice
      --learner leaky:omega=free --method map --prior beta=0.1:20 --profile --out fits.csv
"""


@with_groups
def fit(
    table: Table,
    family: options.Family,
    learners: options.Learners,
    columns: options.Columns,
    fits: options.Fits,
    response: options.Response = "gaussian:sd=free",
    out: Annotated[
        str, typer.Option(help="A table by its ending (csv, tsv, parquet, jsonl) or netCDF (.nc). -: CSV on standard output.")
    ] = "-",
    plot: options.Plot = None,
    method: Annotated[
        str,
        typer.Option(
            help="ml (maximum likelihood), map (with priors) or hierarchical (with a group).", rich_help_panel=options.FITS
        ),
    ] = "ml",
    prior: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=LOW:HIGH",
            help="With map: the range that holds 95 % of it; weak if not given.",
            rich_help_panel=options.FITS,
        ),
    ] = None,
    profile: Annotated[
        bool, typer.Option("--profile", help="Intervals from the profile, not the curvature.", rich_help_panel=options.FITS)
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Fit learners to people's responses: parameters per person, with errors, warnings, and what models are compared by."""
    with reported("fit", options.kept(fits.store)):
        from volatilis.behaviour.fitting.command import Order, check_names, run_fits, write
        from volatilis.behaviour.fitting.terminal import show

        check_names(table, out, plot)
        order = Order(
            *(columns.source(table), family, tuple(learners), response, method, tuple(prior or ())),
            *(fits.how(), profile, tuple(fits.own or ())),
        )
        with options.progress(quiet) as progress:
            results = run_fits(order, lambda share: progress("fits", share))
        write(results, out, plot)
        if not quiet:
            show(results, *(one for one in (out, plot) if one is not None))


fit.__doc__ = f"{fit.__doc__}\n\n{EXAMPLES}"
