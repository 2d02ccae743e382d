"""Which measures a sequence can tell apart: their correlations, their variance inflation, and the closest pair trial by trial."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from volatilis.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHARED, CARRIER, BAR, OWN_BAR = "#9aa7b4", "#d55e00", "#0072b2", "#e69f00"
MOST_NUMBERS = 16  # beyond this many regressors the numbers would not be readable
MOST_POINTS = 20_000  # of the trials that carry nothing
LIMIT = 10.0
HIGHEST = 1e4  # bars end here
BEHIND = {"facecolor": "white", "edgecolor": "none", "pad": 0.4}


class Scatter(NamedTuple):
    """A regressor in standard deviations, what another leaves of it, and which trials hold most of that."""

    title: str
    x_name: str
    y_name: str
    x: np.ndarray
    left: np.ndarray
    carriers: np.ndarray
    words: str


class Picture(NamedTuple):
    """What is drawn. `equivalent` marks pairs that no data can tell apart but by shape; `own_inflation` is within a learner."""

    names: list[str]
    pearson: np.ndarray
    spearman: np.ndarray
    equivalent: np.ndarray
    inflation: np.ndarray
    own_inflation: np.ndarray | None
    scatter: Scatter
    trials: int
    runs: int


def size(picture: Picture) -> tuple[float, float]:
    """Width and height in inches."""
    side = max(5.4, 0.5 * len(picture.names) + 2.6)
    return side + 5.6, max(side + 0.7, 7.0)


@style.apply()
def draw(picture: Picture, figure: Figure) -> None:
    """A: correlations, Pearson below the diagonal and Spearman above. B: variance inflation. C: the closest pair."""
    figure.set_layout_engine("constrained", w_pad=0.1, h_pad=0.1)
    width, _ = size(picture)
    left, right = figure.subfigures(1, 2, squeeze=False, width_ratios=[width - 5.0, 5.0])[0]
    share = min(0.62, 0.2 + 0.03 * len(picture.names) * (1 if picture.own_inflation is None else 1.6))
    top, bottom = right.subplots(2, 1, height_ratios=[share, 1.0 - share])
    _draw_correlations(left, picture)
    _draw_inflation(top, picture)
    _draw_scatter(bottom, picture.scatter)


def _draw_correlations(figure: Figure, picture: Picture) -> None:
    from matplotlib.patches import Rectangle

    n, axis = len(picture.names), figure.subplots()
    lower = np.tri(n, k=-1, dtype=bool)
    values = np.where(lower, picture.pearson, picture.spearman)
    np.fill_diagonal(values, np.nan)
    axis.set_anchor("N")
    image = axis.imshow(values, cmap="PuOr", vmin=-1.0, vmax=1.0)
    axis.set_xticks(range(n), picture.names, rotation=45, ha="right", rotation_mode="anchor", fontsize=8.5)
    axis.set_yticks(range(n), picture.names, fontsize=8.5)
    axis.set_xticks(np.arange(n - 1) + 0.5, minor=True)
    axis.set_yticks(np.arange(n - 1) + 0.5, minor=True)
    axis.grid(which="minor", color="white", linewidth=1.2)
    axis.tick_params(which="both", length=0)
    axis.spines[:].set_visible(False)
    for (row, column), value in np.ndenumerate(values):
        if row == column:
            continue
        if n <= MOST_NUMBERS:
            ink = "white" if abs(value) > 0.72 else "black"
            axis.text(column, row, _number(float(value)), ha="center", va="center", fontsize=7.8, color=ink)
        if picture.equivalent[row, column]:
            for inset, colour in ((0.46, "black"), (0.43, "white")):  # two frames: one of them shows on any colour
                corner, side = (column - inset, row - inset), 2.0 * inset
                axis.add_patch(Rectangle(corner, side, side, fill=False, edgecolor=colour, linewidth=1.3))
    trials = f"{picture.trials:,} trials in {picture.runs:,} run{'' if picture.runs == 1 else 's'}, centred within runs"
    words = style.letter("A", f"Correlations: Pearson below the diagonal, Spearman above\n{trials}")
    figure.suptitle(words, x=0.02, ha="left", fontsize=11)
    bar = figure.colorbar(image, cax=axis.inset_axes((1.03, 0.0, 0.03, 1.0)))
    bar.outline.set_visible(False)
    if picture.equivalent.any():
        axis.set_xlabel("framed: equivalent but for shape, or nearly so", fontsize=9, labelpad=6)


def _number(value: float) -> str:
    """Two digits; what is not quite 1 does not read 1."""
    shown = f"{value:.2f}"
    if shown in ("1.00", "-1.00") and abs(value) < 1.0 - 1e-9:
        shown = f"{value:.3f}" if abs(value) < 0.9995 else ">.999" if value > 0 else "<-.999"
    return shown.replace("-", "−")


def _factor(value: float) -> str:
    if np.isinf(value):
        return "infinite"
    return f"{value:.2g}" if value < 100.0 else f"{value:.0f}" if value < HIGHEST else f"{value:.0e}".replace("e+0", "e")


def _draw_inflation(axis: Axes, picture: Picture) -> None:
    n = len(picture.names)
    series = [("given all others", picture.inflation, BAR)]
    if picture.own_inflation is not None:
        series.append(("given its learner's others", picture.own_inflation, OWN_BAR))
    height = 0.8 / len(series)
    for k, (label, factors, colour) in enumerate(series):
        places = np.arange(n) - 0.4 + (k + 0.5) * height
        shown = np.minimum(factors, HIGHEST)
        axis.barh(places, shown - 1.0, height * 0.92, left=1.0, color=colour, label=label)
        for place, factor in zip(places, factors, strict=True):
            axis.text(min(factor, HIGHEST) * 1.12, place, _factor(factor), va="center", fontsize=7.5, bbox=BEHIND)
    axis.axvline(LIMIT, color="0.25", linewidth=1.0, linestyle="--", zorder=1)
    axis.set_xscale("log")
    axis.set_xlim(1.0, HIGHEST * 6.0)
    axis.set_ylim(n - 0.45, -0.55)
    axis.set_yticks(range(n), picture.names, fontsize=8.5)
    axis.tick_params(axis="y", length=0)
    axis.set_xlabel("variance inflation factor (dashed: 10)")
    if len(series) > 1:
        axis.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2, fontsize=8, handlelength=1.2, columnspacing=1.2)
    style.title(axis, "B", "In one model" + ("\n" if len(series) > 1 else ""))


def _draw_scatter(axis: Axes, scatter: Scatter) -> None:
    shared = np.flatnonzero(~scatter.carriers)
    if len(shared) > MOST_POINTS:
        shared = shared[:: len(shared) // MOST_POINTS + 1]
    carriers = np.flatnonzero(scatter.carriers)
    if len(carriers) > MOST_POINTS:
        carriers = carriers[:: len(carriers) // MOST_POINTS + 1]
    plain: dict[str, Any] = {"linestyle": "none", "marker": "o", "markeredgewidth": 0, "rasterized": True}
    axis.plot(scatter.x[shared], scatter.left[shared], markersize=3.0, color=SHARED, alpha=0.6, **plain)
    axis.plot(scatter.x[carriers], scatter.left[carriers], markersize=4.0, color=CARRIER, alpha=0.8, **plain)
    axis.text(0.02, 0.98, scatter.words, transform=axis.transAxes, va="top", fontsize=8.5, color="#a34700")
    axis.margins(y=0.22)
    axis.axhline(0.0, color="0.6", linewidth=0.8, zorder=0)
    axis.set_xlabel(f"{scatter.x_name}\n(standard deviations)")
    axis.set_ylabel(f"{scatter.y_name},\nwhat the other leaves of it")
    style.title(axis, "C", scatter.title)
