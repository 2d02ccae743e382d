"""`volatilis compare`: which learner describes people best."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from volatilis.cli import behaviour_options as options
from volatilis.cli.errors import reported
from volatilis.cli.option_groups import with_groups
from volatilis.cli.options import Table

EXAMPLES = """
Examples:

  volatilis compare trials.csv --family gaussian:sigma=10,mu_0=150,sigma_0=87 --response gaussian:sd=free
      --learner varsmile:m=free --learner 'nas12*:p_c=free' --learner leaky:omega=free --out people.csv --plot criteria.png

  volatilis compare choices.tsv --family bernoulli --response softmax:beta=free,lapse=0.01 --response-column choice
      --learner varsmile:m=free --learner leaky:omega=free --criterion laplace --store fits
"""


@with_groups
def compare(
    table: Table,
    family: options.Family,
    learners: options.Learners,
    columns: options.Columns,
    fits: options.Fits,
    response: options.Response = "gaussian:sd=free",
    out: Annotated[str | None, typer.Option(help="A table: one row per person and model. -: CSV on standard output.")] = None,
    summary: Annotated[
        str | None, typer.Option(metavar="OUT.csv", help="A table: one row per model, for the whole group.")
    ] = None,
    plot: options.Plot = None,
    criterion: Annotated[
        str, typer.Option(help="For the group: bic, aic, laplace, cross_validated or log_likelihood. The table has all.")
    ] = "bic",
    folds: Annotated[int, typer.Option(min=0, help="Of cross-validation, at most; blocks make folds. 0: none.")] = 10,
    quiet: options.Quiet = False,
) -> None:
    """Compare learners as models of people: likelihood, AIC, BIC, Laplace evidence, cross-validation, and group selection."""
    with reported("compare", options.kept(fits.store)):
        from volatilis.behaviour import models as inputs
        from volatilis.behaviour.comparison import criteria
        from volatilis.behaviour.fitting.outputs import save_picture, write_columns
        from volatilis.behaviour.recovery import result_tables, result_texts
        from volatilis.plots import comparison as picture
        from volatilis.tables import check_outputs

        check_outputs({"--out": out, "--summary": summary}, plot, table)
        options.check_quiet(quiet, out, summary, plot)
        criteria.check_criterion(criterion)
        if criterion == "cross_validated" and folds < 2:
            raise ValueError("--criterion cross_validated needs --folds 2 or more")
        models = inputs.models_of(family, learners, response, fits.own or ())
        people = options.read(columns.source(table), models, quiet)
        with options.progress(quiet, "fits: ") as progress:
            found = criteria.compare(models, people.persons, fits.how(), folds, progress)
        if out is not None and found.anybody():  # first: whatever becomes of the group, this is not lost
            write_columns(out, result_tables.people_columns(found, criterion, people.refused))
        group = criteria.group(found, criterion, fits.seed)
        if plot is not None:
            save_picture(picture, criteria.dataset(found, group), plot)
        if summary is not None:
            write_columns(summary, result_tables.group_columns(found, group))
        if not quiet:
            print("\n".join(result_texts.comparison_text(found, group)), file=sys.stderr if out == "-" else sys.stdout)


compare.__doc__ = f"{compare.__doc__}\n\n{EXAMPLES}"
