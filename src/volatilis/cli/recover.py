"""`volatilis recover`: what could be found out with these trials."""

from __future__ import annotations

from typing import Annotated

import typer

from volatilis.cli import behaviour_options as options
from volatilis.cli.errors import reported
from volatilis.cli.help import with_examples
from volatilis.cli.options import Table, World, with_groups

EXAMPLES = """
Examples:

  volatilis recover trials.csv --family gaussian:sigma=10,mu_0=150,sigma_0=87 --response gaussian:sd=free
      --learner varsmile:m=free --learner 'nas12*:p_c=free' --learner leaky:omega=free --plot recovery.png --store fits

  volatilis recover trials.csv --family gaussian:sigma=10,mu_0=150,sigma_0=87 --response gaussian:sd=free
      --learner varsmile:m=free --learner leaky:omega=free --people 100 --draw distribution --scheduler tcp://host:8786
"""


@with_groups
def recover(
    table: Table,
    world: World,
    learners: options.Learners,
    columns: options.Columns,
    fits: options.Fits,
    response: options.Response = "gaussian:sd=free",
    out: Annotated[str | None, typer.Option(help="A table: true and found values. -: CSV on standard output.")] = None,
    confusion: Annotated[
        str | None, typer.Option(metavar="OUT.csv", help="A table: how often each model is taken for each other one.")
    ] = None,
    plot: options.Plot = None,
    people: Annotated[
        int | None, typer.Option(min=1, help="Simulated people per learner; as many as the table has if not given.")
    ] = None,
    draw: Annotated[
        str,
        typer.Option(
            help="Their parameters: fitted (to the person whose trials they get) or distribution (drawn from all fits)."
        ),
    ] = "fitted",
    criterion: Annotated[str, typer.Option(help="Criterion for the best model: bic, aic, laplace or log_likelihood.")] = "bic",
    quiet: options.Quiet = False,
) -> None:
    """Simulate people from each learner on the trials of a table, fit all learners, and report what can be concluded."""
    with reported("recover", options.kept(fits.store)):
        from volatilis.behaviour.recovery.request import RecoverRequest, recover_table, show, write
        from volatilis.tables import check_outputs

        check_outputs({"--out": out, "--confusion": confusion}, plot, table)
        options.check_quiet(quiet, out, confusion, plot)
        texts = world.settled(learners, lambda: columns.reading(table), quiet)
        request = RecoverRequest(
            source=columns.source(table),
            family=texts.family,
            learners=texts.learners,
            response=response,
            people=people,
            draw=draw,
            criterion=criterion,
            options=fits.options(),
            own=tuple(fits.own or ()),
        )
        with options.progress(quiet, "fits: ") as progress:
            recovery = recover_table(request, progress, options.notices(quiet))
        write(recovery, out, confusion, plot)
        if not quiet:
            show(recovery, stderr=out == "-")


recover.__doc__ = with_examples(recover.__doc__, EXAMPLES)
