"""`volatilis compare`: which learner describes people best."""

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

  volatilis compare trials.csv --family gaussian:sigma=10,mu_0=150,sigma_0=87 --response gaussian:sd=free
      --learner varsmile:m=free --learner nas12*:p_c=free --learner leaky:omega=free --out people.csv --plot comparison.png

  volatilis compare choices.tsv --family bernoulli --response softmax:beta=free --response-column choice
      --learner varsmile:m=free --learner leaky:omega=free --criterion laplace --store fits
"""


def compare(
    table: Table,
    family: options.Family,
    learners: options.Learners,
    response: options.Response = "gaussian:sd=free",
    out: Annotated[str | None, typer.Option(help="A table: one row per person and model. -: CSV on standard output.")] = None,
    summary: Annotated[str | None, typer.Option(metavar="OUT", help="A table: one row per model, for the whole group.")] = None,
    plot: options.Plot = None,
    criterion: Annotated[
        str, typer.Option(help="For the group: bic, aic, laplace, cross_validated or log_likelihood. The table has all.")
    ] = "bic",
    folds: Annotated[int, typer.Option(min=0, help="Of cross-validation, at most; blocks make folds. 0: none.")] = 10,
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
    """Compare learners as models of people: likelihood, AIC, BIC, Laplace evidence, cross-validation, and group selection."""
    kept = (
        f"Finished fits are in {store}: the same command goes on." if store else "Nothing was kept: --store FOLDER would keep it."
    )
    with reported("compare", kept), contextlib.ExitStack() as stack:
        from volatilis.behaviour import comparison, result_tables, result_texts
        from volatilis.behaviour.cluster import How
        from volatilis.paper.progress import Bars
        from volatilis.plots import comparison as picture

        options.check_outputs(plot, quiet, out, summary)
        comparison.check_criterion(criterion)
        if criterion == "cross_validated" and folds < 2:
            raise ValueError("--criterion cross_validated needs --folds 2 or more")
        models = options.models_from(family, learners, response, own)
        source = options.source_from(
            *(table, by, outcome, response_column, when, block, reset, catch, missing, bounds, categories, trial)
        )
        persons = options.read(source, models, quiet)
        bars = None if quiet else stack.enter_context(Bars())
        how = How(starts, seed, workers, store, scheduler)
        update = (lambda what, share: None) if bars is None else (lambda what, share: bars.update(f"fits: {what}", share))
        found = comparison.compare(models, persons, how, folds, update)
        stack.close()
        group = comparison.group(found, criterion, seed)
        if plot is not None:
            dataset = comparison.dataset(found, group)
            options.save_picture(plot, picture.draw, picture.size(dataset), dataset)
        if summary is not None:
            result_tables.write_columns(summary, result_tables.group_columns(found, group))
        if out is not None:
            result_tables.write_columns(out, result_tables.people_columns(found, group))
        if not quiet:
            print("\n".join(result_texts.comparison_text(found, group)), file=sys.stderr if out == "-" else sys.stdout)


compare.__doc__ = f"{compare.__doc__}\n\n{EXAMPLES}"
