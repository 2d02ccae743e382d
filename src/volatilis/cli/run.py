"""`volatilis run`: a table in, the same table with surprise, estimates and uncertainties out."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Annotated

import typer

from volatilis.cli import options
from volatilis.cli.errors import reported

if TYPE_CHECKING:
    from volatilis.trials import Watcher

EXAMPLES = """
Examples:

  volatilis run trials.csv --family gaussian:sigma=10,mu_0=150,sigma_0=87 --learner merge:n=20,p_c=0.1 --out surprise.csv

  volatilis run trials.parquet --family bernoulli --learner varsmile:m=0.05 --learner exact:p_c=0.05 --out out.parquet

  volatilis run helicopter.csv.gz --outcome x_t --by subj_num,sigma --reset new_block
      --family gaussian:sigma=column:sigma,mu_0=150,sigma_0=87 --learner nas12*:p_c=0.1 --out surprise.tsv

  volatilis run trials.csv --family gaussian:sigma=10,mu_0=150,sigma_0=87 --learner merge:n=20,p_c=0.1 --report surprise.html
"""


def run(
    table: options.Table,
    family: options.Family,
    learner: options.Learner,
    out: Annotated[
        str | None,
        typer.Option(help="Where the table goes; its ending says which kind. -: CSV on standard output, as without any output."),
    ] = None,
    report: options.Report = None,
    report_groups: options.ReportGroups = None,
    prediction: options.Prediction = None,
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
    with reported("run"), contextlib.ExitStack() as outputs:
        from volatilis.trials import run_table
        from volatilis.trials.terminal import progress_of, show_summary

        order = options.order_from(
            table, family, learner, by, outcome, trial, reset, measures, missing, categories, seed, workers
        )
        watchers: list[Watcher] = []
        if report is not None:
            from volatilis.trial_report import GROUPS, report_to

            asked = None if prediction is None else options.names(prediction)
            watchers.append(outputs.enter_context(report_to(report, report_groups or GROUPS, asked, (table, out or "-"))))
        elif prediction is not None or report_groups is not None:
            raise ValueError("--prediction and --report-groups are for a report: give --report OUT.html too")
        if out is None and report is None:
            out = "-"
        with progress_of(f"running over {table}", quiet) as progress:
            summary = run_table(order, out, progress, watchers)
        outputs.close()
        if not quiet:
            show_summary(summary, *(path for path in (out, report) if path is not None))


run.__doc__ = f"{run.__doc__}\n\n{EXAMPLES}"
