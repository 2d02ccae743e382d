"""Figure 1: the generative model as a graph, and an example from daily life of an environment that changes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from volatilis.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (11.0, 6.4)

COLUMNS = {"t-1": 0.0, "t": 2.1, "t+1": 4.2}
ROWS = {"C": 3.8, r"\Theta": 1.9, "Y": 0.0}
RADIUS = 0.6
OUTSIDE = (-1.5, 5.7)
PLACE, DETOUR, SOUTH, NORTH = 0.42, 0.84, 0.12, 0.88
WATER, ROAD, OFFICE, CAFE, OBSERVED = "#a9cfe8", "#4d4d4d", "#e08214", "#2b6cb0", "#d9d9d9"


@style.apply()
def draw(example: Mapping[str, npt.ArrayLike], figure: Figure) -> None:
    """A: the graph of C, Theta and Y over three steps. B: the way before and after a bridge opens, and the arrival times.

    example: y and theta (minutes, one number a day) and changed (true on the day of the opening).
    """
    figure.set_layout_engine("constrained")
    graph, before, after, arrivals = figure.subplot_mosaic(
        [["graph", "before", "after"], ["arrivals", "arrivals", "arrivals"]],
        width_ratios=[2.9, 1.0, 1.0],
        height_ratios=[1.15, 1.0],
    ).values()
    _draw_graph(graph)
    _draw_map(before, bridge_is_open=False)
    _draw_map(after, bridge_is_open=True)
    style.title(graph, "A", "Generative model")
    style.title(before, "B", "Before the change")
    after.set_title("After the change", loc="left")
    _draw_arrivals(arrivals, example)


def _draw_graph(axis: Axes) -> None:
    from matplotlib.patches import Circle

    for row, y in ROWS.items():
        for step, x in COLUMNS.items():
            axis.add_patch(Circle((x, y), RADIUS, facecolor=OBSERVED if row == "Y" else "white", edgecolor="black", zorder=3))
            axis.text(x, y, f"${row}_{{{step}}}$", ha="center", va="center", fontsize=12, zorder=4)
    for x in COLUMNS.values():
        _arrow(axis, (x, ROWS["C"]), (x, ROWS[r"\Theta"]))
        _arrow(axis, (x, ROWS[r"\Theta"]), (x, ROWS["Y"]))
    middle = ROWS[r"\Theta"]
    for start, end in itertools.pairwise((OUTSIDE[0], *COLUMNS.values(), OUTSIDE[1])):
        _arrow(axis, (start, middle), (end, middle))
    notes = {
        "C": "$C_t = 1$ with\nprobability $p_c$",
        r"\Theta": "$C_t = 1$: drawn from $\\pi^{(0)}$\n$C_t = 0$: $\\Theta_t = \\Theta_{t-1}$",
        "Y": "observed,\n$Y_t \\sim P_Y(y_t \\,|\\, \\theta_t)$",
    }
    for row, text in notes.items():
        axis.text(6.1, ROWS[row], text, ha="left", va="center", fontsize=10, linespacing=1.4)
    axis.set(xlim=(-1.6, 10.4), ylim=(-0.7, 4.5), aspect="equal")
    axis.axis("off")


def _arrow(axis: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    """From the rim of one circle to the rim of the next; a line that begins or ends outside the graph has no circle there."""
    gap = RADIUS * (np.array(end) - np.array(start)) / np.hypot(end[0] - start[0], end[1] - start[1])
    from_outside, to_outside = start[0] < min(COLUMNS.values()), end[0] > max(COLUMNS.values())
    tail = np.array(start) + (0.0 if from_outside else 1.0) * gap
    head = np.array(end) - (0.0 if to_outside else 1.0) * gap
    line = {"arrowstyle": "-|>", "color": "black", "linewidth": 1.3, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 13}
    axis.annotate("", xy=head, xytext=tail, arrowprops=line, zorder=2)


def _draw_map(axis: Axes, bridge_is_open: bool) -> None:
    axis.axhspan(0.40, 0.60, color=WATER, zorder=0)
    axis.text(0.04, 0.5, "river", ha="left", va="center", fontstyle="italic", fontsize=9, color="#35678c")
    _draw_bridge(axis, DETOUR)
    if bridge_is_open:
        _draw_bridge(axis, PLACE)
        _draw_way(axis, [(PLACE, SOUTH), (PLACE, NORTH)])
    else:
        _draw_way(axis, [(PLACE, SOUTH), (DETOUR, SOUTH), (DETOUR, NORTH), (PLACE, NORTH)])
    for y, colour, name in ((SOUTH, OFFICE, "office"), (NORTH, CAFE, "coffee\nshop")):
        axis.plot(PLACE, y, "o", color=colour, markersize=12, zorder=4)
        axis.text(PLACE - 0.08, y, name, ha="right", va="center", fontsize=9)
    axis.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0), xticks=[], yticks=[])
    axis.spines[["top", "right"]].set_visible(True)


def _draw_bridge(axis: Axes, x: float) -> None:
    axis.plot([x, x], [0.38, 0.62], color="#c9b79c", linewidth=12, solid_capstyle="butt", zorder=1)


def _draw_way(axis: Axes, corners: Sequence[tuple[float, float]]) -> None:
    x, y = zip(*corners, strict=True)
    axis.plot(x, y, color=ROAD, linewidth=2.0, linestyle=style.DASHED, zorder=2)


def _draw_arrivals(axis: Axes, example: Mapping[str, npt.ArrayLike]) -> None:
    y, theta = np.asarray(example["y"], dtype=float), np.asarray(example["theta"], dtype=float)
    days = np.arange(1, len(y) + 1)
    changes = days[np.asarray(example["changed"], dtype=bool) & (days > 1)]
    axis.plot(days, y, ".", color="black", markersize=5, label="arrival $y_t$")
    axis.step(days, theta, where="mid", color=style.TRUTH, linewidth=2.0, label=r"expected arrival $\theta_t$")
    for k, day in enumerate(changes):
        axis.axvline(day - 0.5, color=style.CHANGE, linewidth=1.3, label="change, $C_t = 1$" if k == 0 else None, zorder=0)
    axis.set(xlabel="day $t$", ylabel="arrival time\n(minutes after leaving work)", xlim=(0.0, len(y) + 1.0))
    axis.legend(loc="lower right", bbox_to_anchor=(1.0, 0.98), ncols=3, borderpad=0)
