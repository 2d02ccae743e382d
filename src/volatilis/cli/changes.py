"""`volatilis changes`: where sequences changed. `volatilis calibrate`: an alarm with a stated rate of false ones."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from volatilis.cli import options
from volatilis.cli.errors import reported
from volatilis.cli.help import with_examples
from volatilis.cli.options import with_groups

CHANGES_EXAMPLES = """
Examples:

  volatilis changes nile.csv --outcome volume --family gaussian:sigma=130,mu_0=900,sigma_0=200 --learner exact:p_c=0.01

  volatilis changes trials.csv --family bernoulli --learner exact:p_c=0.05 --by subject --out changes.csv --segments levels.csv
      --plot changes.png
"""
CALIBRATE_EXAMPLES = """
Examples:

  volatilis calibrate log.csv --outcome value --family gaussian:sigma=1,mu_0=20,sigma_0=10 --learner merge:n=20,p_c=0.001
      --false-alarms 1/10000 --out alarms.json

  volatilis watch --alarms alarms.json
"""
Learner = Annotated[list[str], typer.Option(help="A learner, such as merge:n=20,p_c=0.1.")]
Segments = Annotated[
    str | None, typer.Option(metavar="FILE", help="A table with one row per segment: its level and uncertainty.")
]
Plot = Annotated[str | None, typer.Option(metavar="FILE", help="A picture of the first group: .png, .svg or .pdf.")]
Rate = Annotated[str, typer.Option(metavar="RATE", help="False alarms per observation while nothing changes, such as 1/10000.")]


@with_groups
def changes(
    *,
    table: options.Table,
    world: options.World,
    learner: Learner,
    out: Annotated[
        str, typer.Option(metavar="FILE", help="A table with one row per change; its ending sets the format. -: CSV.")
    ] = "-",
    segments: Segments = None,
    plot: Plot = None,
    trials: options.TrialOptions,
    quiet: options.Quiet = False,
) -> None:
    """Look back over whole sequences: where each changed, with credible sets, and how probable each change is."""
    with reported("changes"):
        from volatilis._core.terminal import show_warning
        from volatilis.tables import check_outputs, save_figure, write_columns
        from volatilis.trials.changes import find_changes

        check_outputs({"--out": out, "--segments": segments}, plot, table)
        texts = world.settled(learner, lambda: trials.reading(table), quiet)
        result = find_changes(trials.request(table, *texts, None))
        for path, frame in ((out, result.table), (segments, result.segments)):
            if path is not None:
                write_columns(path, {name: column.tolist() for name, column in frame().items()})
        if plot is not None:
            save_figure(next(iter(result.found.values())).plot(), plot)
        if not quiet:
            print(result.sentence(), file=sys.stderr)
        for text in result.misfits:
            show_warning(text)


@with_groups
def calibrate(
    *,
    log: Annotated[str, typer.Argument(metavar="LOG", help="A table of observations in which nothing, or little, changed.")],
    world: options.World,
    learner: Learner,
    false_alarms: Rate = "1/10000",
    within: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="The alarm rings for a change among so many of the newest observations. If not given: 400, or 200 for a "
            "rate above 1/500.",
        ),
    ] = None,
    out: Annotated[str | None, typer.Option(metavar="FILE.json", help="A file for volatilis watch --alarms FILE.json.")] = None,
    trials: options.TrialOptions,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the simulation.")] = 0,
) -> None:
    """Choose an alarm's threshold for a rate of false alarms, check it on a log, and report the rate that it has there."""
    with reported("calibrate"):
        from volatilis.tables import check_outputs
        from volatilis.trials.changes import calibrate_log

        check_outputs({}, None, log)
        request = trials.request(log, *world.settled(learner, lambda: trials.reading(log)), None)
        calibrated = calibrate_log(request, _rate(false_alarms), within, seed)
        if out is not None:
            calibrated.save(out)
        print(calibrated.sentence())


def _rate(text: str) -> float:
    try:
        above, _, below = text.partition("/")
        return float(above) / (float(below) if below else 1.0)
    except (ValueError, ZeroDivisionError):
        raise ValueError(
            f"--false-alarms {text}: not accepted; write a rate per observation, such as 1/10000 or 0.0001"
        ) from None


changes.__doc__ = with_examples(changes.__doc__, CHANGES_EXAMPLES)
calibrate.__doc__ = with_examples(calibrate.__doc__, CALIBRATE_EXAMPLES)
