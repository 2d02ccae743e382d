"""`volatilis watch`: lines in, an estimate and an alarm at each line out."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from volatilis.cli import options
from volatilis.cli.errors import reported
from volatilis.cli.help import with_examples

WARM_UP = 200  # observations of each key that are learned from, if nothing is known
NONE_GOOD = 3  # exit code

EXAMPLES = """
Examples:

  tail -f sensor.jsonl | volatilis watch --family gaussian:sigma=1,mu_0=20,sigma_0=10 --learner varsmile:m=0.001

  volatilis watch sensors.csv --follow --key sensor --family gaussian:sigma=1,mu_0=20,sigma_0=10
      --learner merge:n=20,p_c=0.001 --state sensors.state --only-alarms

Exit codes: 0 the input ended; 2 wrong arguments, a bad line, or a state that does not fit; 3 the input ended and none of its
lines could be used; 130 stopped with Ctrl-C, 143 with SIGTERM, 129 with SIGHUP, 141 the reader of standard output went away: in
these four the state is saved.
"""


def watch(
    input: Annotated[
        str, typer.Argument(metavar="INPUT", help="A file of lines, JSON or CSV; standard input if not given.")
    ] = "-",
    alarms: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Learner and alarm rule from volatilis calibrate, in place of --family and --learner."),
    ] = None,
    key: Annotated[
        str | None, typer.Option(metavar="FIELD,...", help="Fields that identify a key; every key has its own state.")
    ] = None,
    value: Annotated[str, typer.Option(metavar="FIELD,...", help="The observation; several fields for a vector.")] = "value",
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Wait for more lines; a rotated file is followed.")] = False,
    input_format: Annotated[str, typer.Option(help="jsonl, csv (with a header), or auto: the first line decides.")] = "auto",
    format: Annotated[str, typer.Option(help="Format of the output: jsonl or csv.")] = "jsonl",
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
    replay: Annotated[
        bool, typer.Option("--replay", help="The pipe repeats its lines from the first one: skip what was read before.")
    ] = False,
    own: options.Own = None,
    time: Annotated[
        str | None, typer.Option(metavar="FIELD", help="The time of an observation, ISO or seconds since 1970; needs --interval.")
    ] = None,
    interval: Annotated[
        str | None, typer.Option(metavar="TIME", help="Length of one step of the learner, such as 60s; in gaps time passes.")
    ] = None,
    keep: Annotated[str | None, typer.Option(metavar="FIELD,...", help="Fields that are passed on to the output.")] = None,
    forget_after: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="A key that was silent for so long starts anew: a time, 24h, or a number of lines, 10000lines."
        ),
    ] = None,
    max_keys: Annotated[
        int | None,
        typer.Option(metavar="N", help="The most keys to keep; beyond it, the one that was silent longest is forgotten."),
    ] = None,
    metrics: Annotated[str | None, typer.Option(metavar="FILE", help="A file with counts for Prometheus.")] = None,
    family: Annotated[
        str | None,
        typer.Option(
            help="What is observed, such as gaussian:sigma=10,mu_0=150,sigma_0=87. Without it, or with gaussian:auto, it is "
            "estimated from the first lines of each key (--learn)."
        ),
    ] = None,
    learner: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="A learner, such as varsmile:m=0.001 or merge:n=20,p_c=0.001; merge:n=20 "
            "where it is not given and parameters are estimated.",
        ),
    ] = None,
    environment: Annotated[
        str | None,
        typer.Option(metavar="FILE.json", help="The family and p_c from volatilis environment; then nothing is estimated."),
    ] = None,
    learn: Annotated[
        int | None,
        typer.Option(metavar="N", help="Estimate each key's parameters from its first N observations; 200 if nothing is known."),
    ] = None,
    given: Annotated[
        str | None, typer.Option(metavar="FIELD,...", help="The context's field (arm, cue, ...); several for regressors.")
    ] = None,
    contexts: options.Contexts = None,
    seed: options.Seed = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No summary at the end, no message while it compiles.")] = False,
) -> None:
    """Watch a stream of lines: an estimate, its uncertainty, surprise and an alarm at each line, at once."""
    kept = f"What was learned is in {state}; the same command goes on from there." if state else "No state was kept."
    with reported("watch", kept, lambda text: _report(f"warning: {text}")):
        from volatilis.catalogue import parse_family, parse_learner
        from volatilis.own_files import load_own
        from volatilis.watching import NoGoodLineError, WatchRequest
        from volatilis.watching import watch as watch_lines

        if learner and len(learner) > 1:
            raise ValueError(f"--learner is given {len(learner)} times; one is accepted: run a watch for each, or volatilis run")
        choose = family is None or family.strip() == "auto"
        if alarms is None:  # a file of alarms has the learner
            family, chosen, learn = _settled(family, (learner or [""])[0], environment, learn)
            learner = [chosen]
        elif environment is not None or learn is not None:
            raise ValueError(f"{alarms} holds the learner and its parameters; leave --environment and --learn out")
        load_own(own or ())
        request = WatchRequest(
            input=input,
            family=None if family is None else parse_family(family),
            learner=parse_learner(learner[0]) if learner else None,
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
            time=time,
            interval=interval,
            keep=options.names(keep or ""),
            forget_after=forget_after,
            max_keys=max_keys,
            metrics=metrics,
            alarms=alarms,
            learn=learn,
            choose=choose and learn is not None,
            given=options.names(given or ""),
            contexts=options.names(contexts or ""),
        )
        is_seen = not quiet and sys.stderr is not None and sys.stderr.isatty()
        try:
            summary, code = watch_lines(request, _report, _report if is_seen else None), 0
        except NoGoodLineError as error:
            summary, code = error.args[0], NONE_GOOD
            _report("none of the lines could be used")
        if not quiet:
            _say(summary.sentence())
        if code:
            raise typer.Exit(code)


def _settled(family: str | None, learner: str, environment: str | None, learn: int | None) -> tuple[str, str, int | None]:
    """The family, the learner and how many lines are learned from; None where everything is known."""
    from volatilis.estimation import Environment
    from volatilis.estimation.texts import Texts, filled_in, needs_estimate, warm_up_texts

    if environment is not None:
        if family is not None or learn is not None:
            raise ValueError("--environment says what is observed; leave --family and --learn out")
        texts = filled_in(Texts("", (learner or "merge:n=20",)), Environment.load(environment))
        return texts.family, texts.learners[0], None
    known = family is not None and not needs_estimate(Texts(family, ())) and learn is None
    if known:
        if not learner:
            raise ValueError(
                "give --learner, such as merge:n=20,p_c=0.001; or leave --family out, and the first lines are learned from"
            )
        return family or "", learner, None
    text = "gaussian" if family is None or family.strip() == "auto" else family
    return (*warm_up_texts(text, learner or "merge:n=20"), WARM_UP if learn is None else learn)


def _report(message: str) -> None:
    _say(f"volatilis watch: {message}")


def _say(message: str) -> None:
    if sys.stderr is not None:  # it may be closed, and print would take standard output then
        print(message, file=sys.stderr, flush=True)


watch.__doc__ = with_examples(watch.__doc__, EXAMPLES)
