"""`volatilis run`: a table in, the same table with surprise, estimates and uncertainties out."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from volatilis.cli import options
from volatilis.cli.errors import reported
from volatilis.cli.help import with_examples
from volatilis.cli.options import with_groups

if TYPE_CHECKING:
    from volatilis.events import EventsRequest
    from volatilis.trials import Onlooker, RunRequest

EXAMPLES = """
Examples:

  volatilis run trials.csv --family gaussian:sigma=10,mu_0=150,sigma_0=87 --learner merge:n=20,p_c=0.1 --out surprise.csv

  volatilis run trials.parquet --family bernoulli --learner varsmile:m=0.05 --learner exact:p_c=0.05 --out out.parquet

  volatilis run helicopter.csv.gz --outcome x_t --by subj_num,sigma --reset new_block
      --family gaussian:sigma=column:sigma,mu_0=150,sigma_0=87 --learner 'nas12*:p_c=0.1' --out surprise.tsv

  volatilis run trials.tsv --family bernoulli --learner varsmile:m=0.05 --by subject,run --events events --duration 1 --zscore run

  volatilis run trials.csv --family gaussian:sigma=10,mu_0=150,sigma_0=87 --learner merge:n=20,p_c=0.1 --report surprise.html
"""
REGRESSORS = "Regressors for a GLM"
LISTS = ("events_format", "regressors", "run_by")


class ReportOptions(NamedTuple):
    """A page with pictures, made in the same pass as the table."""

    report: Annotated[
        str | None,
        typer.Option(metavar="OUT.html", help="A page with a picture per group: outcomes, estimates, surprise, adaptation."),
    ] = None
    report_groups: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How many groups the report draws, from the first; 500 if not given, at most 10000. The page holds at most "
            "4,000 numbers for each.",
        ),
    ] = None
    prediction: Annotated[
        str | None,
        typer.Option(metavar="COLUMN,...", help="People's predictions, for the report; if not given, the column prediction."),
    ] = None

    def watchers(self, outputs: contextlib.ExitStack, *others: str) -> list[Onlooker]:
        """The watcher that makes the page, if one was requested; `others` are the files that the run reads and writes."""
        if self.report is None:
            if self.prediction is not None or self.report_groups is not None:
                raise ValueError("--prediction and --report-groups are for a report: give --report OUT.html too")
            return []
        from volatilis.html.trials import GROUPS, report_to

        prediction = options.optional_names(self.prediction)
        return [outputs.enter_context(report_to(self.report, self.report_groups or GROUPS, prediction, others))]


class EventOptions(NamedTuple):
    """Event files. What is not given is None, so that an option without --events can be refused."""

    events: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Write event files into this folder, one set per run.", rich_help_panel=REGRESSORS),
    ] = None
    events_format: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...", help="One or more of bids, nilearn, fsl, mne; bids if not given.", rich_help_panel=REGRESSORS
        ),
    ] = None
    onset: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Onset of the outcome, in seconds; the column onset if not given.", rich_help_panel=REGRESSORS
        ),
    ] = None
    duration: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN|SECONDS",
            help="Duration of the outcome; the column duration if not given.",
            rich_help_panel=REGRESSORS,
        ),
    ] = None
    regressors: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...",
            help="Measures or computed columns; the surprise measures if not given.",
            rich_help_panel=REGRESSORS,
        ),
    ] = None
    centre: Annotated[
        str | None,
        typer.Option(metavar="SCOPE", help="Subtract the mean within: none, run, subject, all.", rich_help_panel=REGRESSORS),
    ] = None
    zscore: Annotated[
        str | None,
        typer.Option(
            "--zscore", metavar="SCOPE", help="Mean 0 and variance 1 within: none, run, subject, all.", rich_help_panel=REGRESSORS
        ),
    ] = None
    run_by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN,...",
            help="Columns that make a run, also as sub=COLUMN; those of --by if not given.",
            rich_help_panel=REGRESSORS,
        ),
    ] = None
    task: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The task in file names; volatile if not given.", rich_help_panel=REGRESSORS),
    ] = None
    allow_constant: Annotated[
        bool,
        typer.Option("--allow-constant", help="Also write a regressor that is constant in a run.", rich_help_panel=REGRESSORS),
    ] = False
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace event files that exist already.", rich_help_panel=REGRESSORS)
    ] = False

    def request(self, run: RunRequest) -> EventsRequest | None:
        """The request, with lists split at commas; None without --events."""
        given = {name: value for name, value in self._asdict().items() if value not in (None, False)}
        if self.events is None:
            for name in given:
                raise ValueError(f"--{name.replace('_', '-')} is for event files; name a folder for them with --events")
            return None
        from volatilis.events import EventsRequest

        renamed = {"events": "folder", "events_format": "formats"}
        fields: dict[str, Any] = {
            renamed.get(name, name): options.names(value) if name in LISTS else value for name, value in given.items()
        }
        return EventsRequest(run, self.events)._replace(**fields)


@with_groups
def run(
    *,
    table: options.Table,
    world: options.World,
    learner: options.Learner,
    out: Annotated[
        str | None,
        typer.Option(help="The new table; its ending sets the format. -: CSV on standard output, also if no output is named."),
    ] = None,
    report_options: ReportOptions,
    trials: options.TrialOptions,
    seed: options.Seed = 0,
    measures: options.Measures = None,
    quiet: options.Quiet = False,
    event_options: EventOptions,
) -> None:
    """Run learners over a table of trials: every measure of every learner, in new columns beside those of the table."""
    with reported("run"), contextlib.ExitStack() as outputs:
        from volatilis._core.terminal import one_bar, show_warning
        from volatilis.events import run_events
        from volatilis.events.run_events import show_events
        from volatilis.trials import run_table
        from volatilis.trials.run import show_summary

        texts = world.settled(learner, lambda: trials.reading(table), quiet)
        request = trials.request(table, *texts, measures)._replace(seed=seed)
        events = event_options.request(request)
        watchers = report_options.watchers(outputs, table, out or "-")
        if out is None and not watchers and events is None:
            out = "-"
        written = None
        with one_bar(f"running over {table}", quiet) as progress:
            if events is None:
                summary = run_table(request, out, progress, watchers)
            else:
                written = run_events(events, out, progress, watchers)
                summary = written.summary
        outputs.close()
        if not quiet:
            show_summary(summary, *(path for path in (out, report_options.report) if path is not None))
        for text in summary.misfits:
            show_warning(text)
        if events is not None and written is not None:
            show_events(written, events.folder, quiet)


run.__doc__ = with_examples(run.__doc__, EXAMPLES)
