"""`volatilis run`: a table in, the same table with surprise, estimates and uncertainties out."""

from __future__ import annotations

from typing import Annotated

import typer

from volatilis.cli import options
from volatilis.cli.errors import reported

EXAMPLES = """
Examples:

  volatilis run trials.csv --family gaussian:sigma=10,mu_0=150,sigma_0=87 --learner merge:n=20,p_c=0.1 --out surprise.csv

  volatilis run trials.parquet --family bernoulli --learner varsmile:m=0.05 --learner exact:p_c=0.05 --out out.parquet

  volatilis run helicopter.csv.gz --outcome x_t --by subj_num,sigma --reset new_block
      --family gaussian:sigma=column:sigma,mu_0=150,sigma_0=87 --learner nas12*:p_c=0.1 --out surprise.tsv
"""


def run(
    table: options.Table,
    family: options.Family,
    learner: options.Learner,
    out: Annotated[str, typer.Option(help="Where the table goes; its ending says which kind. -: CSV on standard output.")] = "-",
    by: options.By = None,
    outcome: options.Outcome = "outcome",
    trial: options.Trial = None,
    reset: options.Reset = None,
    measures: options.Measures = None,
    missing: options.Missing = "error",
    categories: options.Categories = None,
    seed: options.Seed = 0,
    workers: options.Workers = None,
    quiet: options.Quiet = False,
) -> None:
    """Run learners over a table of trials: every measure of every learner, per row, beside the columns that were there."""
    with reported("run"):
        from volatilis.trials import run_table
        from volatilis.trials.terminal import progress_of, show_summary

        order = options.order_from(
            table, family, learner, by, outcome, trial, reset, measures, missing, categories, seed, workers
        )
        with progress_of(f"running over {table}", quiet) as progress:
            summary = run_table(order, out, progress)
        if not quiet:
            show_summary(summary, out)


run.__doc__ = f"{run.__doc__}\n\n{EXAMPLES}"
