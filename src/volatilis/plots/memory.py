"""How much memory buys: the distance to Exact Bayes against the number of hypotheses a learner keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from volatilis.plots import _parts, style

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_COLUMNS = 3
PANEL = (3.4, 3.1)
BESIDE_ONE = (0.49, 0.82)  # where learners of one unit have their marks, clear of the lines that begin at n = 1
LEFT = 0.42


def size(panels: int) -> tuple[float, float]:
    """Width and height in inches for a number of panels."""
    rows, columns = _parts.grid(panels, MOST_COLUMNS)
    return round(PANEL[0] * columns + 0.6, 2), round(PANEL[1] * rows + 0.8, 2)


SIZE = size(6)


@style.apply()
def draw(dataset: xr.Dataset, figure: Figure) -> None:
    """One panel per cell, both axes logarithmic: a line per kind of memory, marks at n = 1 (in grey) for learners of one unit."""
    figure.set_layout_engine("constrained")
    cells = [str(cell) for cell in dataset.task_cell.values]
    rows, across = _parts.grid(len(cells), MOST_COLUMNS)
    axes = figure.subplots(rows, across, squeeze=False, sharex=True)
    kinds = [str(kind) for kind in dataset.kind.values]
    singles = style.ordered(str(name) for name in dataset.one_learner.values) if "one_unit" in dataset else []
    for k, cell in enumerate(cells):
        axis = axes.flat[k]
        _draw_cell(axis, dataset.sel(task_cell=cell), kinds, singles)
        axis.set_title(_pretty(cell), loc="left")
        if k % across == 0:
            axis.set_ylabel("distance to Exact Bayes")
        if k + across >= len(cells):
            axis.set_xlabel("number $n$ of hypotheses")
            axis.tick_params(labelbottom=True)
    for axis in axes.flat[len(cells) :]:
        axis.remove()
    _legend(figure, kinds, singles)


def _draw_cell(axis: Axes, dataset: xr.Dataset, kinds: Sequence[str], singles: Sequence[str]) -> None:
    n = np.asarray(dataset.n.values, dtype=float)
    axis.set(xscale="log", yscale="log")
    drawn = []
    for kind in kinds:
        mean, error = _parts.mean_and_error(dataset.distance.sel(kind=kind), "seed")
        mean = _parts.positive(mean)
        if np.isfinite(mean).any():
            _parts.draw_curve(axis, n, mean, error, _darkest(kind))
            drawn.append(mean)
    for x, name in zip(np.geomspace(*BESIDE_ONE, len(singles)), singles, strict=True):
        mean, error = _parts.mean_and_error(dataset.one_unit.sel(one_learner=name), "seed")
        if mean > 0.0:
            look = style.look(name)
            axis.axhline(float(mean), color=look.colour, linewidth=0.8, alpha=0.5, zorder=1)
            shape: dict[str, Any] = {
                "fmt": look.mark,
                "color": look.colour,
                "markersize": 7,
                "markeredgecolor": "white",
                "markeredgewidth": 0.6,
            }
            axis.errorbar(x, float(mean), yerr=float(np.nan_to_num(error)), zorder=4, **shape)
            drawn.append(np.atleast_1d(mean))
    limits = _parts.span(np.concatenate(drawn), 1.8) if drawn else None
    if limits is not None:
        axis.set_ylim(limits)
    axis.axvspan(LEFT, 1.2, color="0.95", linewidth=0, zorder=0)
    axis.set_xlim(LEFT, 1.25 * max(n.max(), 1.0))
    _ticks(axis, n)


def _ticks(axis: Axes, n: np.ndarray) -> None:
    from matplotlib.ticker import NullLocator

    axis.set_xticks(n, [f"{value:g}" for value in n])
    axis.xaxis.set_minor_locator(NullLocator())
    axis.grid(True, which="major", color="0.92", linewidth=0.8)
    axis.set_axisbelow(True)


def _darkest(kind: str) -> str:
    """The name that gives a kind its darkest colour and solid line."""
    return f"{kind}{style.DARKEST_AT}"


def _pretty(cell: str) -> str:
    """'Gaussian sigma 1, p_c 0.01' with its symbols set as formulas."""
    words = {"sigma": r"$\sigma$ =", "s": "$s$ =", "p_c": "$p_c$ ="}
    return " ".join(words.get(word, word) for word in cell.split(" "))


def _legend(figure: Figure, kinds: Sequence[str], singles: Sequence[str]) -> None:
    from matplotlib.lines import Line2D

    handles = []
    for name in [*(_darkest(kind) for kind in kinds), *singles]:
        look = style.look(name)
        is_kind = name not in singles
        text = f"{style.split_count(name)[0]}$n$" if is_kind else f"{look.label} (one unit)"
        line: dict[str, Any] = {"color": look.colour, "marker": look.mark, "linestyle": "-", "linewidth": 1.5 if is_kind else 0.8}
        handles.append(Line2D([], [], label=text, markersize=5.5 if is_kind else 7.0, **line))
    if handles:
        figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 5))
