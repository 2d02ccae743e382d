"""Changes in one picture: what was seen, its segments with their levels, where each change may lie, and how probable it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from volatilis.learners._base import Learner
from volatilis.plots.trace import ESTIMATE, OBSERVATION, TRUTH

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAME = "change, 95 % credible"


class DrawableChanges(Protocol):
    """What of a result is drawn."""

    def __len__(self) -> int: ...
    @property
    def learner(self) -> Learner: ...
    @property
    def observations(self) -> np.ndarray: ...
    @property
    def index(self) -> np.ndarray: ...
    @property
    def found(self) -> Sequence[Any]: ...
    @property
    def probability(self) -> np.ndarray: ...
    def segments(self) -> pd.DataFrame: ...


def draw_changes(result: DrawableChanges) -> Figure:
    """Two panels over time: the sequence in segments, and the probability of a change at each step. Returns the figure."""
    import matplotlib.pyplot as plt

    figure, (above, below) = plt.subplots(2, 1, figsize=(10, 5.0), sharex=True, height_ratios=[2.6, 1.0], layout="constrained")
    times, values = result.index, result.observations
    if values.ndim == 1:
        above.plot(times, values, ".", color=OBSERVATION, markersize=3.5, alpha=0.55, label="observations", zorder=1)
    _draw_levels(above, result, times)
    for k, change in enumerate(result.found):
        low, high = times[change.low], times[change.high]
        for axis in (above, below):
            axis.axvspan(low, high, color=TRUTH, alpha=0.18, linewidth=0, zorder=0)
        above.axvline(
            times[change.position], color=TRUTH, linewidth=1.2, zorder=2, label="change, 95 % credible" if k == 0 else None
        )
    below.vlines(times, 0.0, result.probability, color=TRUTH, linewidth=1.0)
    below.set_ylim(0.0, 1.05)
    below.set_ylabel("probability\nof a change")
    below.set_xlabel("observation $t$" if np.issubdtype(times.dtype, np.integer) else "")
    count, expected = len(result.found), float(result.probability.sum())
    above.set_title(f"{count} change{'' if count == 1 else 's'} found; expected number {expected:.1f}", loc="left", fontsize=10)
    above.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=9)
    for axis in (above, below):
        axis.spines[["top", "right"]].set_visible(False)
        axis.margins(x=0.01)
    return figure


def _draw_levels(axis: Axes, result: DrawableChanges, times: np.ndarray) -> None:
    """The first element of theta in each segment, with two standard deviations."""
    name = result.learner.family.parameter_names()[0]
    for k, row in enumerate(result.segments().to_dict("records")):
        ends = times[[int(row["start"]), max(int(row["stop"]) - 1, int(row["start"]))]]
        level, spread = float(row[name]), 2.0 * float(row[f"{name}_sd"])
        axis.plot(ends, [level, level], color=ESTIMATE, linewidth=2.0, zorder=3, label=f"level {name}" if k == 0 else None)
        band = "± 2 standard deviations" if k == 0 else None
        axis.fill_between(ends, level - spread, level + spread, color=ESTIMATE, alpha=0.25, linewidth=0, zorder=2, label=band)
