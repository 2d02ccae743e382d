"""`volatilis fit`: learners fitted to people's responses."""

from __future__ import annotations

from typing import Annotated

import typer

from volatilis.cli import behaviour_options as options
from volatilis.cli.errors import reported
from volatilis.cli.help import with_examples
from volatilis.cli.options import Table, World, with_groups

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
    world: World,
    learners: options.Learners,
    columns: options.Columns,
    fits: options.Fits,
    response: options.Response = "gaussian:sd=free",
    out: Annotated[
        str, typer.Option(help="A table; its ending sets the format (csv, tsv, parquet, jsonl, nc). -: CSV on standard output.")
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
            help="With map: the range that holds 95 % of the prior; a weak prior if not given.",
            rich_help_panel=options.FITS,
        ),
    ] = None,
    profile: Annotated[
        bool,
        typer.Option(
            "--profile",
            help="Intervals from the profile of the likelihood, not from its curvature.",
            rich_help_panel=options.FITS,
        ),
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Fit learners to people's responses: parameters per person, with errors, warnings and criteria to compare models by."""
    with reported("fit", options.kept(fits.store)):
        from volatilis.behaviour.fitting.request import NETCDF, FitRequest, fit_table, show, write
        from volatilis.tables import check_outputs

        check_outputs({"--out": out}, plot, table, (NETCDF,))
        texts = world.settled(learners, lambda: columns.reading(table), quiet)
        request = FitRequest(
            source=columns.source(table),
            family=texts.family,
            learners=texts.learners,
            response=response,
            method=method,
            priors=tuple(prior or ()),
            options=fits.options(),
            profile=profile,
            own=tuple(fits.own or ()),
        )
        with options.progress(quiet) as progress:
            result = fit_table(request, lambda share: progress("fits", share))
        write(result, out, plot)
        if not quiet:
            show(result, *(one for one in (out, plot) if one is not None))


fit.__doc__ = with_examples(fit.__doc__, EXAMPLES)
