"""Options for the windows of the two predictions: which trials count as alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from volatilis.cli.options import numbers, steps

if TYPE_CHECKING:
    from volatilis.predictions.windows import FirstWindow, SecondWindow

WINDOWS = "Windows, in prior standard deviations"

ConfidenceWindow = Annotated[
    str | None,
    typer.Option(
        metavar="LOW,HIGH", help="Of the measured confidence; a person's middle 80 % if not given.", rich_help_panel=WINDOWS
    ),
]


class Windows(NamedTuple):
    """Of trials that a learner tells about. A measured confidence has a window of its own (`ConfidenceWindow`)."""

    prediction_window: Annotated[
        str, typer.Option(metavar="MIDDLE,WIDTH", help="Of the absolute prediction.", rich_help_panel=WINDOWS)
    ] = "1,0.25"
    spread_window: Annotated[
        str, typer.Option(metavar="MIDDLE,WIDTH", help="Of the learner's uncertainty.", rich_help_panel=WINDOWS)
    ] = "0.5,1"
    confidence_side: Annotated[
        str, typer.Option(help="Confidence or uncertainty before the outcome, or after it.", rich_help_panel=WINDOWS)
    ] = "before"
    errors: Annotated[
        str, typer.Option(metavar="FIRST,LAST,STEP", help="Absolute errors to compare.", rich_help_panel=WINDOWS)
    ] = "0.1,1,0.1"
    error_width: Annotated[float, typer.Option(help="How far from them.", rich_help_panel=WINDOWS)] = 0.1
    probabilities: Annotated[
        str, typer.Option(metavar="FIRST,LAST,STEP", help="Densities p of prediction 2.", rich_help_panel=WINDOWS)
    ] = "0.025,0.4,0.025"
    p_width: Annotated[float, typer.Option(help="How far from them.", rich_help_panel=WINDOWS)] = 0.0125
    least: Annotated[int, typer.Option(min=1, help="Trials that a person's average must rest on.", rich_help_panel=WINDOWS)] = 1

    def both(self, confidence: str | None = None) -> tuple[FirstWindow, SecondWindow]:
        """The windows of prediction 1 and of prediction 2."""
        from volatilis.predictions.windows import FirstWindow, SecondWindow

        middle, width = numbers("prediction-window", self.prediction_window, 2)
        spread, spread_width = numbers("spread-window", self.spread_window, 2)
        ends = None
        if confidence is not None:
            low, high = numbers("confidence-window", confidence, 2)
            ends = (low, high)
        compared, side = steps("errors", self.errors), self.confidence_side
        first = FirstWindow(middle, width, spread, spread_width, ends, side, compared, self.error_width, self.least)
        return first, SecondWindow(steps("probabilities", self.probabilities), self.p_width, self.least)
