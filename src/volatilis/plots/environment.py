"""The profile of an estimated parameter: how the evidence falls on both sides of its best value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from volatilis.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOUR, SHADE = "#06397a", "#c9d8ea"
DROP = 1.92  # nats below the highest point at which a 95 % interval ends
SIZE = (5.2, 3.4)  # inches
DECADES = 0.6  # a parameter that spans more than this goes on a logarithmic axis


@style.apply()
def draw_profile(
    values: np.ndarray,
    log_evidence: np.ndarray,
    best: tuple[float, float, float],
    name: str,
    title: str,
    axis: Axes | None = None,
) -> Figure:
    """best: the value with the ends of its interval; returns the figure."""
    import matplotlib.pyplot as plt

    if axis is None:
        _, axis = plt.subplots(figsize=SIZE, layout="constrained")
    value, low, high = best
    axis.axvspan(low, high, color=SHADE, linewidth=0, zorder=0, label="95 % interval")
    axis.axhline(-DROP, color="#888888", linewidth=0.8, linestyle="dotted")
    axis.plot(values, log_evidence, color=COLOUR, linewidth=1.8, marker="o", markersize=3, label="profile")
    axis.axvline(value, color=COLOUR, linewidth=0.9, linestyle="dashed", label=f"best: {value:.3g}")
    if values.min() > 0.0 and np.log10(values.max() / values.min()) > DECADES:
        axis.set_xscale("log")
    axis.set_ylim(max(float(np.nanmin(log_evidence)), -8.0) - 0.3, 0.4)
    axis.set_xlabel(name)
    axis.set_ylabel("log evidence, the highest = 0 (nats)")
    axis.set_title(title, fontsize=9)
    axis.legend(fontsize=8, loc="lower center")
    figure = axis.get_figure()
    assert figure is not None
    return figure  # type: ignore[return-value]
