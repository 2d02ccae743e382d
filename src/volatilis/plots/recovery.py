"""Recovery: which models are taken for which, and true against found values of every parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from volatilis.plots import style

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FOUND, FLAGGED = "#0072b2", "#d55e00"
MOST_COLUMNS = 4
WIDE = 5.0  # times: values that differ by more are drawn on a logarithmic axis


def size(dataset: xr.Dataset) -> tuple[float, float]:
    """Width and height in inches."""
    rows = style.grid(max(len(_panels(dataset)), 1), MOST_COLUMNS)[0]
    return 12.5, round(_matrix_height(dataset) + 2.9 * rows, 2)


def _matrix_height(dataset: xr.Dataset) -> float:
    return 1.6 + 0.5 * max(dataset.sizes["true"], 4)


@style.apply()
def draw(dataset: xr.Dataset, figure: Figure) -> None:
    """A: P(best | true). B: P(true | best). C onwards: a parameter, true against found with 95 % intervals."""
    panels = _panels(dataset)
    rows = style.grid(max(len(panels), 1), MOST_COLUMNS)[0]
    figure.set_layout_engine("constrained", w_pad=0.08, h_pad=0.08)
    heights = (_matrix_height(dataset), 2.9 * rows)
    above, below = figure.subfigures(2, 1, squeeze=False, height_ratios=heights)[:, 0]
    left, right = above.subplots(1, 2)
    _draw_matrix(left, dataset.confusion, dataset.counts.values)
    _draw_matrix(right, dataset.inverse, None)
    style.title(left, "A", "P(best | true): rows sum to 1")
    style.title(right, "B", "P(true | best): columns sum to 1")
    if panels:
        axes = below.subplots(*style.grid(len(panels), MOST_COLUMNS), squeeze=False)
        for k, (model, parameter) in enumerate(panels):
            of_panel = (dataset.model.values == model) & (dataset.parameter.values == parameter)
            _draw_parameter(axes.flat[k], dataset.isel(entry=np.flatnonzero(of_panel)))
            style.title(axes.flat[k], style.panel_name(k + 2), f"{parameter} of {model}")
        for axis in axes.flat[len(panels) :]:
            axis.remove()
        for axis in axes[:, 0]:
            axis.set_ylabel("found")


def _panels(dataset: xr.Dataset) -> list[tuple[str, str]]:
    return list(dict.fromkeys(zip(dataset.model.values.tolist(), dataset.parameter.values.tolist(), strict=True)))


def _draw_matrix(axis: Axes, matrix: xr.DataArray, counts: np.ndarray | None) -> None:
    values = matrix.values
    axis.imshow(np.nan_to_num(values), cmap="cividis", vmin=0.0, vmax=1.0, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        text = "–" if np.isnan(value) else f"{value:.2f}"
        axis.text(column, row, text, ha="center", va="center", color="black" if value > 0.55 else "white", fontsize=9.0)
    names = [str(name) for name in matrix.true.values]
    axis.set_xticks(range(len(names)), names, rotation=25, ha="right", rotation_mode="anchor")
    people = counts.sum(axis=1) if counts is not None else None
    axis.set_yticks(range(len(names)), names if people is None else [f"{n} ({p})" for n, p in zip(names, people, strict=True)])
    axis.set_xlabel("best model")
    axis.set_ylabel("true model" if people is None else "true model (people)")
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)


def _draw_parameter(axis: Axes, entries: xr.Dataset) -> None:
    true, estimated, flagged = entries.true_value.values, entries.found.values, entries.flagged.values
    low, high = entries.low.values, entries.high.values
    both = np.concatenate([true, estimated])
    wide = bool(both.min() > 0.0 and both.max() > WIDE * both.min())
    ends = np.array([both.min(), both.max()])
    room = np.array([1.0 / 1.3, 1.3]) if wide else np.array([-0.07, 0.07]) * (np.ptp(ends) or 1.0)
    ends = ends * room if wide else ends + room
    error = [np.nan_to_num(np.maximum(estimated - low, 0.0)), np.nan_to_num(np.maximum(high - estimated, 0.0))]
    axis.errorbar(true, estimated, yerr=error, fmt="none", ecolor="#b5cfe3", elinewidth=0.9, zorder=1)
    axis.plot(ends, ends, color="#999999", linewidth=0.9, zorder=0)
    axis.plot(true[~flagged], estimated[~flagged], "o", color=FOUND, markersize=4.0, zorder=2)
    axis.plot(true[flagged], estimated[flagged], "x", color=FLAGGED, markersize=5.5, zorder=2)
    if wide:
        _make_logarithmic(axis, ends)
    axis.set_xlim(*ends)
    axis.set_ylim(*ends)
    axis.set_xlabel("true" + (" (×: at a bound or not identified)" if flagged.any() else ""))


def _make_logarithmic(axis: Axes, ends: np.ndarray) -> None:
    """Few marks, in plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_xscale("log")
    axis.set_yscale("log")
    decades = float(np.log10(ends[1] / ends[0]))
    for line in (axis.xaxis, axis.yaxis):
        line.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if decades < 1.6 else (1.0,), numticks=6))
        line.set_major_formatter(FuncFormatter(lambda value, _: _number(value)))
        line.set_minor_formatter(NullFormatter())


def _number(value: float) -> str:
    return f"{value:g}" if value >= 0.009 else rf"$\mathdefault{{10^{{{round(float(np.log10(value)))}}}}}$"
