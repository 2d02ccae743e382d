"""`volatilis predict`: the paper's two experimental predictions put to the test on measured data."""

from __future__ import annotations

from typing import Annotated

import typer

from volatilis.cli import behaviour_options, options
from volatilis.cli.errors import reported

EXAMPLES = """
Examples:

  volatilis predict trials.csv --indicator pupil --family gaussian:sigma=10,mu_0=150,sigma_0=60 --learner 'nas12*:p_c=free'

  volatilis predict trials.csv --indicator pupil --confidence sure --family gaussian:sigma=10,mu_0=150,sigma_0=60
"""
WINDOWS = "Windows, in prior standard deviations"


def predict(
    table: options.Table,
    family: options.Family,
    indicator: Annotated[str, typer.Option(metavar="COLUMN", help="What was measured while the outcome was seen.")],
    learner: Annotated[
        str | None, typer.Option(help="Fitted to each person, such as nas12*:p_c=free; without it prediction 1 only.")
    ] = None,
    prediction: Annotated[
        str, typer.Option(metavar="COLUMN|none", help="People's predictions; none, if they were not asked for.")
    ] = "prediction",
    confidence: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="How sure they were: with it prediction 1 needs no learner.")
    ] = None,
    when: behaviour_options.When = "before",
    response: Annotated[str, typer.Option(help="How predictions arise from the belief, for the fit.")] = "gaussian:sd=free",
    by: behaviour_options.By = "subject",
    outcome: behaviour_options.Outcome = "outcome",
    block: behaviour_options.Block = None,
    reset: behaviour_options.Reset = None,
    missing: behaviour_options.Missing = "error",
    out: Annotated[str | None, typer.Option(metavar="OUT", help="A table of hypotheses, estimates and verdicts.")] = None,
    people: Annotated[str | None, typer.Option(metavar="OUT", help="A table of every person's windows.")] = None,
    plot: Annotated[str | None, typer.Option(metavar="OUT.png", help="The pictures of Figures 10B and 11B.")] = None,
    zscore: Annotated[bool, typer.Option("--zscore", help="Bring each person's indicator to mean 0 and variance 1.")] = False,
    level: Annotated[float, typer.Option(help="Of the confidence intervals.")] = 0.95,
    prediction_window: Annotated[
        str, typer.Option(metavar="MIDDLE,WIDTH", help="Of the absolute prediction.", rich_help_panel=WINDOWS)
    ] = "1,0.25",
    spread_window: Annotated[
        str, typer.Option(metavar="MIDDLE,WIDTH", help="Of the learner's uncertainty.", rich_help_panel=WINDOWS)
    ] = "0.5,1",
    confidence_window: Annotated[
        str | None,
        typer.Option(
            metavar="LOW,HIGH", help="Of the measured confidence; a person's middle 80 % if not given.", rich_help_panel=WINDOWS
        ),
    ] = None,
    confidence_side: Annotated[
        str, typer.Option(help="Confidence before the outcome, or after it.", rich_help_panel=WINDOWS)
    ] = "before",
    errors: Annotated[
        str, typer.Option(metavar="FIRST,LAST,STEP", help="Absolute errors to compare.", rich_help_panel=WINDOWS)
    ] = "0.1,1,0.1",
    error_width: Annotated[float, typer.Option(help="How far from them.", rich_help_panel=WINDOWS)] = 0.1,
    probabilities: Annotated[
        str, typer.Option(metavar="FIRST,LAST,STEP", help="Densities p of prediction 2.", rich_help_panel=WINDOWS)
    ] = "0.025,0.4,0.025",
    p_width: Annotated[float, typer.Option(help="How far from them.", rich_help_panel=WINDOWS)] = 0.0125,
    least: Annotated[int, typer.Option(min=1, help="Trials that a person's average must rest on.", rich_help_panel=WINDOWS)] = 1,
    starts: behaviour_options.Starts = 5,
    seed: behaviour_options.Seed = 0,
    quiet: behaviour_options.Quiet = False,
) -> None:
    """Which surprise does an indicator reflect, the Bayes Factor Surprise or Shannon's? The paper's two predictions."""
    with reported("predict"):
        from volatilis.behaviour.predictions import FirstWindow, Order, SecondWindow
        from volatilis.behaviour.predictions import predict as analyse
        from volatilis.behaviour.predictions.command import deliver
        from volatilis.tables import check_outputs

        check_outputs({"--out": out, "--people": people}, plot, table)
        middle, width = options.numbers("prediction-window", prediction_window, 2)
        spread, spread_width = options.numbers("spread-window", spread_window, 2)
        bounds = None
        if confidence_window is not None:
            low, high = options.numbers("confidence-window", confidence_window, 2)
            bounds = (low, high)
        compared = options.steps("errors", errors)
        first = FirstWindow(middle, width, spread, spread_width, bounds, confidence_side, compared, error_width, least)
        second = SecondWindow(options.steps("probabilities", probabilities), p_width, least)
        order = Order(
            table,
            family,
            indicator,
            None if prediction == "none" else prediction,
            confidence,
            learner,
            response,
            by=options.names(by),
            outcome=outcome,
            when=when,
            block=block,
            reset=reset,
            missing=missing,
            first_window=first,
            second_window=second,
            level=level,
            zscore=zscore,
            starts=starts,
            seed=seed,
        )
        with behaviour_options.progress(quiet) as progress:
            found = analyse(order, lambda share: progress("people", share))
        deliver(found, indicator, out, people, plot, quiet)


predict.__doc__ = f"{predict.__doc__}\n\n{EXAMPLES}"
