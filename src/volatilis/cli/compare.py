"""`volatilis compare`: which learner describes people best."""

from __future__ import annotations

from typing import Annotated

import typer

from volatilis.cli import behaviour_options as options
from volatilis.cli.errors import reported
from volatilis.cli.help import with_examples
from volatilis.cli.options import Table, World, with_groups

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
    world: World,
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
        str,
        typer.Option(help="Criterion for the group: bic, aic, laplace, cross_validated or log_likelihood. The table has all."),
    ] = "bic",
    folds: Annotated[
        int, typer.Option(min=0, help="Most folds of the cross-validation; blocks make folds. 0: no cross-validation.")
    ] = 10,
    quiet: options.Quiet = False,
) -> None:
    """Compare learners as models of people: likelihood, AIC, BIC, Laplace evidence, cross-validation, and group selection."""
    with reported("compare", options.kept(fits.store)):
        from volatilis.behaviour.comparison.request import CompareRequest, compare_table, show, write
        from volatilis.tables import check_outputs

        check_outputs({"--out": out, "--summary": summary}, plot, table)
        options.check_quiet(quiet, out, summary, plot)
        texts = world.settled(learners, lambda: columns.reading(table), quiet)
        request = CompareRequest(
            source=columns.source(table),
            family=texts.family,
            learners=texts.learners,
            response=response,
            criterion=criterion,
            folds=folds,
            options=fits.options(),
            own=tuple(fits.own or ()),
        )
        with options.progress(quiet, "fits: ") as progress:
            result = compare_table(request, progress, options.notices(quiet))
        write(result, out, summary, plot)
        if not quiet:
            show(result, stderr=out == "-")


compare.__doc__ = with_examples(compare.__doc__, EXAMPLES)
