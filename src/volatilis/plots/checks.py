"""One-step errors of a model: uniform and independent where it fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BINS = 20
MOST = 5000  # points that are drawn


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
