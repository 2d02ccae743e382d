"""`volatilis recover`: what could be found out with these trials."""

from __future__ import annotations

import contextlib
import sys
from typing import Annotated

import typer

from volatilis.cli import behaviour_options as options
from volatilis.cli.errors import reported
from volatilis.cli.options import Table

EXAMPLES = """
Examples:

  volatilis recover trials.csv --family gaussian:sigma=10,mu_0=150,sigma_0=87 --response gaussian:sd=free
      --learner varsmile:m=free --learner nas12*:p_c=free --learner leaky:omega=free --plot recovery.png --store fits

  volatilis recover trials.csv --family gaussian:sigma=10,mu_0=150,sigma_0=87 --response gaussian:sd=free
      --learner varsmile:m=free --learner leaky:omega=free --people 100 --draw distribution --scheduler tcp://host:8786
"""


def recover(
    table: Table,
    family: options.Family,
    learners: options.Learners,
    response: options.Response = "gaussian:sd=free",
    out: Annotated[str | None, typer.Option(help="A table: true and found values. -: CSV on standard output.")] = None,
    confusion: Annotated[
        str | None, typer.Option(metavar="OUT", help="A table: how often which model is taken for which.")
    ] = None,
    plot: options.Plot = None,
    people: Annotated[
        int | None, typer.Option(min=1, help="Simulated people per learner; as many as the table has if not given.")
    ] = None,
    draw: Annotated[
        str, typer.Option(help="Their parameters: fitted, to the person whose trials they get; or drawn from the distribution.")
    ] = "fitted",
    criterion: Annotated[str, typer.Option(help="Which model is the best: bic, aic, laplace or log_likelihood.")] = "bic",
    by: options.By = "subject",
    outcome: options.Outcome = "outcome",
    response_column: options.ResponseColumn = "prediction",
    when: options.When = "before",
    block: options.Block = None,
    reset: options.Reset = None,
    catch: options.Catch = None,
    trial: options.Trial = None,
    missing: options.Missing = "error",
    bounds: options.Bounds = None,
    categories: options.Categories = None,
    starts: options.Starts = 10,
    seed: options.Seed = 0,
    workers: options.Workers = None,
    scheduler: options.Scheduler = None,
    store: options.Store = None,
    own: options.Own = None,
    quiet: options.Quiet = False,
) -> None:
    """Simulate people from each learner on the very trials of a table, fit all learners, and say what can be concluded."""
    kept = (
        f"Finished fits are in {store}: the same command goes on." if store else "Nothing was kept: --store FOLDER would keep it."
    )
    with reported("recover", kept), contextlib.ExitStack() as stack:
        from volatilis.behaviour import recovery, result_tables, result_texts
        from volatilis.behaviour.cluster import How
        from volatilis.paper.progress import Bars
        from volatilis.plots import recovery as picture

        options.check_outputs(plot, quiet, out, confusion)
        models = options.models_from(family, learners, response, own)
        source = options.source_from(
            *(table, by, outcome, response_column, when, block, reset, catch, missing, bounds, categories, trial)
        )
        persons = options.read(source, models, quiet)
        bars = None if quiet else stack.enter_context(Bars())
        how = How(starts, seed, workers, store, scheduler)
        update = (lambda what, share: None) if bars is None else (lambda what, share: bars.update(f"fits: {what}", share))
        found = recovery.recover(models, persons, how, people, draw, criterion, update)
        stack.close()
        if plot is not None:
            dataset = recovery.dataset(found)
            options.save_picture(plot, picture.draw, picture.size(dataset), dataset)
        if confusion is not None:
            result_tables.write_columns(confusion, result_tables.confusion_columns(found))
        if out is not None:
            result_tables.write_columns(out, result_tables.parameter_columns(found))
        if not quiet:
            print("\n".join(result_texts.recovery_text(found)), file=sys.stderr if out == "-" else sys.stdout)


recover.__doc__ = f"{recover.__doc__}\n\n{EXAMPLES}"
