"""Fitted parameters: one panel per model and parameter, people in order of their value, with intervals and the group's value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from volatilis.plots import style

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOUR, ALONE, WARNED = "#06397a", "#9a9a9a", "#e08214"
PANEL = (4.2, 2.6)  # inches
DECADES = 1.0  # values that span more than this go on a logarithmic axis


def size(dataset: xr.Dataset) -> tuple[float, float]:
    shown = _shown(dataset)
    return PANEL[0] * max((len(names) for names in shown.values()), default=1), PANEL[1] * max(len(shown), 1) + 0.5


@style.apply()
def draw(dataset: xr.Dataset, figure: Figure) -> None:
    """Dots are values, lines 95 % intervals, orange with a warning; hollow dots: without the group; a dashed line: the group."""
    figure.set_layout_engine("constrained")
    shown = _shown(dataset)
    columns = max((len(names) for names in shown.values()), default=1)
    axes = figure.subplots(len(shown), columns, squeeze=False)
    for row, (label, names) in zip(axes, shown.items(), strict=True):
        for axis, name in zip(row, names, strict=False):
            _draw_panel(axis, dataset.sel(model=label, parameter=name))
            axis.set_title(f"{label}: {name}")
        for axis in row[len(names) :]:
            axis.remove()
        row[0].set_ylabel("value")
    for axis in figure.axes:
        axis.set_xlabel("people, in order")
        axis.locator_params(axis="x", integer=True)


def _shown(dataset: xr.Dataset) -> dict[str, list[str]]:
    """Models with the parameters that somebody has."""
    given = np.isfinite(dataset.value).any("person")
    names_of = {
        str(label): [str(name) for name in given.parameter.values[given.sel(model=label)]] for label in given.model.values
    }
    return {label: names for label, names in names_of.items() if names}


def _draw_panel(axis: Axes, panel: xr.Dataset) -> None:
    value = np.asarray(panel.value.values, dtype=float)
    order = np.argsort(value)[: int(np.isfinite(value).sum())]
    at, value = np.arange(1, order.size + 1), value[order]
    low, high = panel.low.values[order], panel.high.values[order]
    warned = panel.warnings.values[order] != ""
    if value.min() > 0.0 and np.log10(value.max() / value.min()) > DECADES:
        axis.set_yscale("log")
    if "alone" in panel:
        alone = panel.alone.values[order]
        axis.vlines(at, alone, value, color=ALONE, linewidth=0.7)
        axis.plot(at, alone, "o", color=ALONE, markerfacecolor="white", markersize=3.5, label="alone")
        axis.axhline(float(panel.group_middle), color=style.CHANGE, linestyle="--", linewidth=1.1, label="group")
    shown = np.isfinite(low) & np.isfinite(high)
    seen = np.concatenate([value, panel.alone.values[order]]) if "alone" in panel else value
    for some, colour in ((~warned, COLOUR), (warned, WARNED)):
        axis.vlines(at[some & shown], low[some & shown], high[some & shown], color=colour, linewidth=0.9, alpha=0.45)
        axis.plot(at[some], value[some], "o", color=colour, markersize=3.5)
    _limit(axis, seen, low[shown & ~warned], high[shown & ~warned])
    if "alone" in panel:
        axis.legend(loc="upper left")


def _limit(axis: Axes, seen: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    """All values and the intervals of people without a warning; an interval that says nothing would hide the others."""
    every = np.concatenate([seen[np.isfinite(seen)], low, high])
    if axis.get_yscale() == "log":
        every = every[every > 0.0]
        axis.set_ylim(every.min() / 1.15, every.max() * 1.15)
    else:
        margin = 0.05 * (every.max() - every.min() or 1.0)
        axis.set_ylim(every.min() - margin, every.max() + margin)
