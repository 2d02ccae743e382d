"""Options for the windows of the two predictions, the same in all commands: which trials count as alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from volatilis.cli.options import numbers, steps

if TYPE_CHECKING:
    from volatilis.predictions.windows import FirstWindow, SecondWindow

WINDOWS = "Windows, in prior standard deviations"

ConfidenceWindow = Annotated[
    str | None,
    typer.Option(
        metavar="LOW,HIGH",
        help="Of the reported confidence, in its own units; a person's middle 80 % if not given.",
        rich_help_panel=WINDOWS,
    ),
]
# what `volatilis separate` took before all commands had the same options
OlderWindow = Annotated[list[str] | None, typer.Option("--window", metavar="NAME=...", hidden=True)]


class Windows(NamedTuple):
    """Of trials for which a learner has a belief. A reported confidence has a window of its own (`ConfidenceWindow`)."""

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

    def both(self, confidence: str | None = None, older: Sequence[str] = ()) -> tuple[FirstWindow, SecondWindow]:
        """The windows of prediction 1 and of prediction 2.

        older   texts of `--window`, which change them
        """
        from volatilis.predictions.windows import FirstWindow, SecondWindow

        prediction, prediction_width = numbers("prediction-window", self.prediction_window, 2)
        spread, spread_width = numbers("spread-window", self.spread_window, 2)
        first = FirstWindow(
            prediction=prediction,
            prediction_width=prediction_width,
            spread=spread,
            spread_width=spread_width,
            confidence=None if confidence is None else _ends(confidence),
            side=self.confidence_side,
            errors=steps("errors", self.errors),
            error_width=self.error_width,
            least=self.least,
        )
        second = SecondWindow(p=steps("probabilities", self.probabilities), p_width=self.p_width, least=self.least)
        for text in older:
            first, second = older_window(text, first, second)
        return first, second


def _ends(text: str) -> tuple[float, float]:
    low, high = numbers("confidence-window", text, 2)
    return low, high


def older_window(text: str, first: FirstWindow, second: SecondWindow) -> tuple[FirstWindow, SecondWindow]:
    """The windows changed by theta=1:0.25 (middle and width), spread=0.5:1, confidence=3:1, delta=0.1 or p=0.0125 (widths)."""
    name, _, value = text.partition("=")
    try:
        given = [float(part) for part in value.split(":")]
    except ValueError:
        given = []
    count = {"theta": 2, "spread": 2, "confidence": 2, "delta": 1, "p": 1}.get(name)
    if len(given) != count or not all(map(math.isfinite, given)) or not given[-1] > 0.0:
        raise ValueError(
            f"--window {text}: not accepted; theta=MIDDLE:WIDTH, spread=MIDDLE:WIDTH, confidence=MIDDLE:WIDTH, "
            "delta=WIDTH and p=WIDTH are, with a width above 0. Better use --prediction-window, --spread-window, "
            "--confidence-window, --error-width and --p-width, as in volatilis predict"
        )
    middle, width = given[0], given[-1]
    if name == "theta":
        return first._replace(prediction=middle, prediction_width=width), second
    if name == "spread":
        return first._replace(spread=middle, spread_width=width), second
    if name == "confidence":  # its ends were left out
        inside = (math.nextafter(middle - width, math.inf), math.nextafter(middle + width, -math.inf))
        return first._replace(confidence=inside), second
    if name == "delta":
        return first._replace(error_width=width), second
    return first, second._replace(p_width=width)
