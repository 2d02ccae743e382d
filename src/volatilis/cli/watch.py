"""`volatilis watch`: lines in, an estimate and an alarm at each line out."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from volatilis.cli import options
from volatilis.cli.errors import reported

EXAMPLES = """
Examples:

  tail -f sensor.jsonl | volatilis watch --family gaussian:sigma=1,mu_0=20,sigma_0=10 --learner varsmile:m=0.001

  volatilis watch sensors.csv --follow --key sensor --family gaussian:sigma=1,mu_0=20,sigma_0=10
      --learner merge:n=20,p_c=0.001 --state sensors.state --only-alarms

Exit codes: 0 the input ended; 2 wrong arguments, a bad line, or a state that does not fit; 130 stopped with Ctrl-C, 143 with
SIGTERM, 141 the reader of standard output went away: in these three the state is saved.
"""


def watch(
    family: options.Family,
    learner: Annotated[
        list[str], typer.Option(metavar="TEXT", help="A learner, such as varsmile:m=0.001 or merge:n=20,p_c=0.001.")
    ],
    input: Annotated[
        str, typer.Argument(metavar="INPUT", help="A file of lines, JSON or CSV; standard input if not given.")
    ] = "-",
    key: Annotated[
        str | None, typer.Option(metavar="FIELD,...", help="Fields that make the key; every key has its own state.")
    ] = None,
    value: Annotated[str, typer.Option(metavar="FIELD,...", help="The observation; several fields for a vector.")] = "value",
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Wait for more lines; a rotated file is followed.")] = False,
    input_format: Annotated[str, typer.Option(help="jsonl, csv (with a header), or auto: the first line decides.")] = "auto",
    format: Annotated[str, typer.Option(help="Of the output: jsonl or csv.")] = "jsonl",
    out: Annotated[str, typer.Option(help="A file that lines are added to; -: standard output.")] = "-",
    measures: Annotated[
        str | None, typer.Option(metavar="NAME,...", help="Measures to write, or all; six of them if not given.")
    ] = None,
    missing: Annotated[str, typer.Option(help="A missing observation: error, elapse (time passes) or skip.")] = "error",
    categories: options.Categories = None,
    alarm: Annotated[
        float | None, typer.Option(metavar="RATE", help="Alarm where the adaptation rate is above this; 0.5 if not given.")
    ] = None,
    alarm_run_length: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Alarm also where the run length is below this share of its longest since an alarm."),
    ] = None,
    only_alarms: Annotated[bool, typer.Option("--only-alarms", help="Write only lines with an alarm.")] = False,
    bad_lines: Annotated[str, typer.Option(help="stop, or report: name them on standard error and continue.")] = "stop",
    state: Annotated[
        str | None, typer.Option(metavar="FILE", help="A file that keeps the state; the same command continues from it.")
    ] = None,
    save_every: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Seconds between two saves of the state; 10 if not given.")
    ] = None,
    replay: Annotated[bool, typer.Option("--replay", help="The pipe starts again: skip what was read before.")] = False,
    seed: options.Seed = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No summary at the end, no message while it compiles.")] = False,
) -> None:
    """Watch a stream of lines: an estimate, its uncertainty, surprise and an alarm at each line, at once."""
    with reported(
        "watch", f"What was learned is in {state}; the same command goes on from there." if state else "No state was kept."
    ):
        from volatilis.catalogue import parse_family, parse_learner
        from volatilis.watching import WatchRequest
        from volatilis.watching import watch as watch_lines

        if len(learner) > 1:
            raise ValueError(f"--learner is given {len(learner)} times; one is accepted: run a watch for each, or volatilis run")
        request = WatchRequest(
            input=input,
            family=parse_family(family),
            learner=parse_learner(learner[0]),
            key=options.names(key or ""),
            value=options.names(value),
            input_format=input_format,
            output_format=format,
            out=out,
            measures=options.optional_names(measures),
            missing=missing,
            categories=options.names(categories or ""),
            alarm=alarm,
            alarm_run_length=alarm_run_length,
            only_alarms=only_alarms,
            bad_lines=bad_lines,
            follow=follow,
            state=state,
            save_every=save_every,
            replay=replay,
            seed=seed,
        )
        is_seen = not quiet and sys.stderr is not None and sys.stderr.isatty()
        summary = watch_lines(request, _report, _report if is_seen else None)
        if not quiet:
            _say(summary.sentence())


def _report(message: str) -> None:
    _say(f"volatilis watch: {message}")


def _say(message: str) -> None:
    if sys.stderr is not None:  # it may be closed, and print would take standard output then
        print(message, file=sys.stderr, flush=True)


watch.__doc__ = f"{watch.__doc__}\n\n{EXAMPLES}"
