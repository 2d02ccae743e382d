"""`volatilis predict`: the paper's two experimental predictions put to the test on measured data."""

from __future__ import annotations

from typing import Annotated

import typer

from volatilis.cli import behaviour_options, options
from volatilis.cli.errors import reported
from volatilis.cli.help import with_examples
from volatilis.cli.options import ConfidenceWindow, Windows, with_groups

EXAMPLES = """
Examples:

  volatilis predict trials.csv --indicator pupil --family gaussian:sigma=10,mu_0=150,sigma_0=60 --learner 'nas12*:p_c=free'

  volatilis predict trials.csv --indicator pupil --confidence sure --family gaussian:sigma=10,mu_0=150,sigma_0=60

  volatilis predict trials.csv --indicator pupil --family gaussian:sigma=10,mu_0=150,sigma_0=60 --learner 'nas12*:p_c=free'
      --catch helicopter_visible --bounds 0,300 --response truncated:sd=free,low=0,high=300 --store fits --people windows.csv
"""


@with_groups
def predict(
    table: options.Table,
    world: options.World,
    indicator: Annotated[str, typer.Option(metavar="COLUMN", help="What was measured at the outcome, such as pupil size.")],
    columns: behaviour_options.PredictionColumns,
    fits: behaviour_options.Fits,
    windows: Windows,
    learner: Annotated[
        str | None, typer.Option(help="A learner to fit to each person, such as nas12*:p_c=free; without it, prediction 1 only.")
    ] = None,
    confidence: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Reported confidence; with it prediction 1 needs no learner.")
    ] = None,
    response: Annotated[str, typer.Option(help="A response model for the fit; see volatilis responses.")] = "gaussian:sd=free",
    out: Annotated[str | None, typer.Option(metavar="OUT.csv", help="A table of hypotheses, estimates and verdicts.")] = None,
    people: Annotated[str | None, typer.Option(metavar="OUT.csv", help="A table of every person's windows.")] = None,
    plot: Annotated[str | None, typer.Option(metavar="OUT.png", help="The pictures of Figures 10B and 11B.")] = None,
    zscore: Annotated[bool, typer.Option("--zscore", help="Scale each person's indicator to mean 0 and variance 1.")] = False,
    level: Annotated[float, typer.Option(help="Level of the confidence intervals.")] = 0.95,
    confidence_window: ConfidenceWindow = None,
    quiet: behaviour_options.Quiet = False,
) -> None:
    """Which surprise does an indicator reflect, the Bayes Factor Surprise or Shannon's? The paper's two predictions."""
    with reported("predict", behaviour_options.kept(fits.store)):
        from volatilis._core.terminal import console_of
        from volatilis.behaviour.indicators import PredictRequest, results
        from volatilis.behaviour.indicators import predict as analyse
        from volatilis.tables import check_outputs

        check_outputs({"--out": out, "--people": people}, plot, table)
        first, second = windows.both(confidence_window)
        texts = world.settled(() if learner is None else (learner,), lambda: columns.reading(table), quiet)
        request = PredictRequest(
            source=columns.source(table),
            family=texts.family,
            indicator=indicator,
            confidence=confidence,
            learner=None if learner is None else texts.learners[0],
            response=response,
            first_window=first,
            second_window=second,
            level=level,
            zscore=zscore,
            options=fits.options(),
            own=tuple(fits.own or ()),
        )
        with behaviour_options.progress(quiet) as progress:
            result = analyse(request, progress)
        results.write(result, out, people, plot)
        if not quiet:  # beside a table on standard output the rest goes to standard error
            results.show(result, console_of(stderr="-" in (out, people)))


predict.__doc__ = with_examples(predict.__doc__, EXAMPLES)
