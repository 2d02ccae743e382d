"""Pictures of an estimate: how the evidence falls on both sides of a value that was found, and the one-step errors of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from volatilis.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOUR, SHADE = "#06397a", "#c9d8ea"
DROP = 1.92  # nats below the highest point at which a 95 % interval ends
SIZE = (5.2, 3.4)  # inches
DECADES = 0.6  # a parameter that spans more than this goes on a logarithmic axis
BINS = 20
MOST = 5000  # points that are drawn


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


def draw_errors(errors: Sequence[np.ndarray], axes: Sequence[Axes] | None = None) -> Figure:
    """Left: errors in twenty bins, and the band that holds 95 % of the bins if the model fits. Right: each error and the next."""
    from matplotlib import pyplot
    from scipy.stats import binom

    if axes is None:
        _, made = pyplot.subplots(1, 2, figsize=(8.0, 3.4), layout="constrained")
        axes = list(made)
    left, right = axes
    u = np.concatenate([one[:, 0] for one in errors])
    seen = u[~np.isnan(u)]
    counts, edges = np.histogram(seen, BINS, (0.0, 1.0))
    low, high = binom.interval(0.95, max(seen.size, 1), 1.0 / BINS)
    left.axhspan(low * BINS / max(seen.size, 1), high * BINS / max(seen.size, 1), color="0.88", zorder=0)
    left.stairs(counts * BINS / max(seen.size, 1), edges, fill=True, color="#3a6ea5", alpha=0.8)
    left.set(
        xlabel="place of an observation in its prediction", ylabel="density", xlim=(0.0, 1.0), title="uniform, if the model fits"
    )
    pairs: list[Any] = [np.column_stack([one[:-1, 0], one[1:, 0]]) for one in errors]
    points = np.concatenate(pairs)[:MOST]
    right.plot(points[:, 0], points[:, 1], ".", color="#3a6ea5", markersize=3, alpha=0.5)
    right.set(
        xlabel="one observation", ylabel="the next", xlim=(0.0, 1.0), ylim=(0.0, 1.0), title="no pattern, if the model fits"
    )
    right.set_aspect("equal")
    return left.figure  # type: ignore[return-value]
