"""Which trials count as alike: the windows of the two predictions (paper, Methods, Experimental predictions).

All lengths are in prior standard deviations, and probabilities are densities per prior standard deviation.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from volatilis.behaviour.indicators.observed import Observed

SIGNS = (1, -1)
SIDES = ("before", "after")
ERRORS = tuple(k / 10 for k in range(1, 11))  # the paper's, but for 0, where the signs mean nothing
PROBABILITIES = tuple(k / 40 for k in range(1, 17))
MIDDLE = (0.1, 0.9)  # the share of a person's own confidence reports that count where no window is given


class FirstWindow(NamedTuple):
    """Trials of prediction 1 with about the same absolute prediction, absolute error and confidence.

    prediction, prediction_width   of the absolute prediction
    spread, spread_width           of the standard deviation of the belief, where a learner tells it
    confidence                     lowest and highest confidence where it was reported; None: the middle 80 % of a person's own
    side                           whether confidence before the outcome counts, or after it. The proof in the paper's Methods
                                   needs the belief that the outcome met, which is before; its text says after, where confidence
                                   has already taken in the surprise. With the paper's window the two hardly differ
    errors, error_width            absolute errors at which trials are compared
    least                          trials that a person's average must rest on
    """

    prediction: float = 1.0
    prediction_width: float = 0.25
    spread: float = 0.5
    spread_width: float = 1.0
    confidence: tuple[float, float] | None = None
    side: str = "before"
    errors: tuple[float, ...] = ERRORS
    error_width: float = 0.1
    least: int = 1

    def masks(self, trials: Observed) -> np.ndarray:
        """sign x error x trial."""
        alike = self.alike(trials)
        close = [np.abs(np.abs(trials.error) - error) < self.error_width for error in self.errors]
        bias = np.sign(trials.error * trials.prediction)
        return np.array([[alike & near & (bias == sign) for near in close] for sign in SIGNS])

    def alike(self, trials: Observed) -> np.ndarray:
        """Trials with an indicator, and prediction and confidence in their windows, whatever the error."""
        side = self.uncertainty(trials)
        if not trials.measured:
            sure = np.abs(side - self.spread) < self.spread_width
        elif self.confidence is not None:
            sure = (side >= self.confidence[0]) & (side <= self.confidence[1])
        elif np.isnan(side).all():
            sure = np.zeros(side.size, dtype=bool)
        else:
            low, high = np.nanquantile(side, MIDDLE)
            sure = (side >= low) & (side <= high)
        return sure & (np.abs(np.abs(trials.prediction) - self.prediction) < self.prediction_width) & ~np.isnan(trials.indicator)

    def uncertainty(self, trials: Observed) -> np.ndarray:
        return trials.before if self.side == "before" else trials.after


class SecondWindow(NamedTuple):
    """Trials of prediction 2, whose outcome has nearly the density p under the belief and under the prior."""

    p: tuple[float, ...] = PROBABILITIES
    p_width: float = 0.0125
    least: int = 1

    def masks(self, trials: Observed) -> np.ndarray:
        """p x trial."""
        there = ~np.isnan(trials.indicator)
        return np.array([there & (np.abs(trials.p - p) < self.p_width) & (np.abs(trials.p_0 - p) < self.p_width) for p in self.p])


def check_windows(first: FirstWindow, second: SecondWindow) -> None:
    """A window that no trial can be in is a mistake."""
    for name, width in (
        ("prediction_width", first.prediction_width),
        ("spread_width", first.spread_width),
        ("error_width", first.error_width),
        ("p_width", second.p_width),
    ):
        if not (math.isfinite(width) and width > 0.0):
            raise ValueError(f"{name} = {width!r} is not accepted; a window's width is a number above 0")
    if first.side not in SIDES:
        raise ValueError(f"side = {first.side!r} is not accepted; confidence is taken before or after the outcome")
    if first.confidence is not None and not first.confidence[0] <= first.confidence[1]:
        raise ValueError(f"the confidence window {first.confidence[0]:g} to {first.confidence[1]:g} is empty")
    if min(first.least, second.least) < 1:
        raise ValueError("an average rests on one trial at least")
    if len(first.errors) < 2 or min(first.errors) <= 0.0:
        raise ValueError("prediction 1 needs two or more absolute errors, all above 0")
    if len(second.p) and second.p_width >= min(second.p):
        raise ValueError(
            f"p_width = {second.p_width:g} is not below the smallest probability, {min(second.p):g}: its window would hold "
            "outcomes that the belief holds to be impossible, whose Bayes Factor Surprise has no bound"
        )
    if len(second.p) < 2 or min(second.p) <= 0.0:
        raise ValueError("prediction 2 needs two or more probabilities, all above 0")
