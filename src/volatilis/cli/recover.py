"""`volatilis recover`: what could be found out with these trials."""

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

  volatilis recover trials.csv --family gaussian:sigma=10,mu_0=150,sigma_0=87 --response gaussian:sd=free
      --learner varsmile:m=free --learner 'nas12*:p_c=free' --learner leaky:omega=free --plot recovery.png --store fits

  volatilis recover trials.csv --family gaussian:sigma=10,mu_0=150,sigma_0=87 --response gaussian:sd=free
      --learner varsmile:m=free --learner leaky:omega=free --people 100 --draw distribution --scheduler tcp://host:8786
"""


@with_groups
def recover(
    table: Table,
    family: options.Family,
    learners: options.Learners,
    columns: options.Columns,
    fits: options.Fits,
    response: options.Response = "gaussian:sd=free",
    out: Annotated[str | None, typer.Option(help="A table: true and found values. -: CSV on standard output.")] = None,
    confusion: Annotated[
        str | None, typer.Option(metavar="OUT.csv", help="A table: how often which model is taken for which.")
    ] = None,
    plot: options.Plot = None,
    people: Annotated[
        int | None, typer.Option(min=1, help="Simulated people per learner; as many as the table has if not given.")
    ] = None,
    draw: Annotated[
        str, typer.Option(help="Their parameters: fitted, to the person whose trials they get; or drawn from the distribution.")
    ] = "fitted",
    criterion: Annotated[str, typer.Option(help="Which model is the best: bic, aic, laplace or log_likelihood.")] = "bic",
    quiet: options.Quiet = False,
) -> None:
    """Simulate people from each learner on the very trials of a table, fit all learners, and say what can be concluded."""
    with reported("recover", options.kept(fits.store)):
        from volatilis.behaviour import models as inputs
        from volatilis.behaviour.fitting.outputs import save_picture, write_columns
        from volatilis.behaviour.recovery import recover as recovery
        from volatilis.behaviour.recovery import result_tables, result_texts
        from volatilis.plots import recovery as picture
        from volatilis.tables import check_outputs

        check_outputs({"--out": out, "--confusion": confusion}, plot, table)
        options.check_quiet(quiet, out, confusion, plot)
        models = inputs.models_of(family, learners, response, fits.own or ())
        persons = options.read(columns.source(table), models, quiet).persons
        with options.progress(quiet, "fits: ") as progress:
            found = recovery.recover(models, persons, fits.how(), people, draw, criterion, progress)
        if plot is not None:
            save_picture(picture, recovery.dataset(found), plot)
        if confusion is not None:
            write_columns(confusion, result_tables.confusion_columns(found))
        if out is not None:
            write_columns(out, result_tables.parameter_columns(found))
        if not quiet:
            print("\n".join(result_texts.recovery_text(found)), file=sys.stderr if out == "-" else sys.stdout)


recover.__doc__ = f"{recover.__doc__}\n\n{EXAMPLES}"
