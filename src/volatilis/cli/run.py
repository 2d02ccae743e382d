"""`volatilis run`: a table in, the same table with surprise, estimates and uncertainties out."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Annotated

import typer

from volatilis.cli import event_options, options
from volatilis.cli.errors import reported

if TYPE_CHECKING:
    from volatilis.trials import Watcher

EXAMPLES = """
Examples:

  volatilis run trials.csv --family gaussian:sigma=10,mu_0=150,sigma_0=87 --learner merge:n=20,p_c=0.1 --out surprise.csv

  volatilis run trials.parquet --family bernoulli --learner varsmile:m=0.05 --learner exact:p_c=0.05 --out out.parquet

  volatilis run helicopter.csv.gz --outcome x_t --by subj_num,sigma --reset new_block
      --family gaussian:sigma=column:sigma,mu_0=150,sigma_0=87 --learner 'nas12*:p_c=0.1' --out surprise.tsv

  volatilis run trials.tsv --family bernoulli --learner varsmile:m=0.05 --by subject,run --events events --duration 1 --zscore run

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
    subject: options.Subject = None,
    session: options.Session = None,
    block: options.Block = None,
    outcome: options.Outcome = "outcome",
    trial: options.Trial = None,
    reset: options.Reset = None,
    measures: options.Measures = None,
    missing: options.Missing = "error",
    categories: options.Categories = None,
    seed: options.Seed = 0,
    workers: options.Workers = None,
    quiet: options.Quiet = False,
    events: event_options.Events = None,
    events_format: event_options.Format = None,
    onset: event_options.Onset = None,
    duration: event_options.Duration = None,
    regressors: event_options.Regressors = None,
    centre: event_options.Centre = None,
    zscore: event_options.ZScore = None,
    run_by: event_options.RunBy = None,
    task: event_options.Task = None,
    allow_constant: event_options.AllowConstant = False,
    overwrite: event_options.Overwrite = False,
) -> None:
    """Run learners over a table of trials: every measure of every learner, per row, beside the columns that were there."""
    with reported("run"), contextlib.ExitStack() as outputs:
        from volatilis._core.progress import one_bar
        from volatilis.events import run_events
        from volatilis.events.terminal import show_written
        from volatilis.trials import run_table
        from volatilis.trials.terminal import show_summary

        roles = (subject, session, block)
        order = options.order_from(
            table, family, learner, by, outcome, trial, reset, measures, missing, categories, seed, workers, *roles
        )
        plan = event_options.plan_from(
            events, events_format, onset, duration, regressors, centre, zscore, run_by, task, allow_constant, overwrite
        )
        watchers: list[Watcher] = []
        if report is not None:
            from volatilis.html.trials import GROUPS, report_to

            asked = None if prediction is None else options.names(prediction)
            watchers.append(outputs.enter_context(report_to(report, report_groups or GROUPS, asked, (table, out or "-"))))
        elif prediction is not None or report_groups is not None:
            raise ValueError("--prediction and --report-groups are for a report: give --report OUT.html too")
        if out is None and report is None and plan is None:
            out = "-"
        with one_bar(f"running over {table}", quiet) as progress:
            if plan is None:
                written, summary = None, run_table(order, out, progress, watchers)
            else:
                written = run_events(order, plan, out, progress, watchers)
                summary = written.summary
        outputs.close()
        if not quiet:
            show_summary(summary, *(path for path in (out, report) if path is not None))
        if written is not None:
            show_written(written, str(events), quiet)


run.__doc__ = f"{run.__doc__}\n\n{EXAMPLES}"
