"""Figures 3, 6 and S2: the steady-state error of Exact Bayes in every cell, and what each learner adds to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from volatilis.plots import _parts, style

GROUPS: tuple[tuple[str, ...], ...] = (  # panels B to F as in the paper, and G for what is new here
    ("pf20", "pf10", "pf1"),
    ("MP20", "MP10", "MP1"),
    ("SOR20", "SOR20 (published)", "SOR10", "SOR1"),
    ("VarSMiLe", "Nas12*", "Nas10*"),
    ("SMiLe", "Leaky"),
    ("Merge20", "Merge1"),
)
LEARNERS = tuple(learner for group in GROUPS for learner in group)
NASSAR_LEARNERS = ("Nas12*", "Nas12", "Nas10*", "Nas10")
MOST_COLUMNS = 4
PANEL = (2.95, 2.5)
DECADES = 5
NEGATIVE, MISSING = "#000000", "#d9d9d9"


def size(learners: Sequence[str]) -> tuple[float, float]:
    """Width and height in inches for Exact Bayes and these learners."""
    rows, columns = _parts.grid(len(learners) + 1, MOST_COLUMNS)
    return round(PANEL[0] * columns + 0.9, 2), round(PANEL[1] * rows + 0.3, 2)


SIZE = size(LEARNERS)


@style.apply()
def draw(dataset: Any, figure: Any, learners: Sequence[str] = LEARNERS) -> None:
    """A: Exact Bayes' mean squared error. B onwards: each learner's excess over it, on the same logarithmic colours.

    Learners of one group share a letter. Negative excess, which a finite sample can give, is black; a cell without a value is
    grey. The excess of Merge drowns in that noise, so its panels have the mean squared distance to Exact Bayes, whose
    expectation is the same.
    """
    figure.set_layout_engine("constrained", h_pad=0.06, w_pad=0.06)
    dataset = dataset.sortby(["noise", "p_c"])
    shown = [learner for learner in style.present(dataset, learners) if learner != style.EXACT]
    maps = {style.EXACT: _mean(dataset.error.sel(learner=style.EXACT))}
    titles = {style.EXACT: f"MSE of {style.EXACT}"}
    for learner in shown:
        by_distance = learner.startswith("Merge") and "distance" in dataset
        excess = dataset.error.sel(learner=learner) - dataset.error.sel(learner=style.EXACT)
        maps[learner] = _mean(dataset.distance.sel(learner=learner) if by_distance else excess)
        titles[learner] = ("squared distance of " if by_distance else r"$\Delta$MSE of ") + style.label(learner)
    colours = _colours(list(maps.values()))
    axes = figure.subplots(*_parts.grid(len(maps), MOST_COLUMNS), squeeze=False)
    letters = _letters(shown)
    for axis, (learner, values) in zip(axes.flat, maps.items(), strict=False):
        _draw_map(axis, values, colours)
        _label(axis, dataset)
        if learner in letters:
            _parts.title(axis, letters[learner], titles[learner])
        else:
            axis.set_title(titles[learner], loc="left")
    for axis in axes.flat[len(maps) :]:
        axis.remove()
    _label_outside(axes, len(maps), dataset)
    bar = figure.colorbar(colours, ax=list(axes.flat[: len(maps)]), extend="min", aspect=40, pad=0.02, fraction=0.05)
    distance = " or squared distance" if any("distance" in title for title in titles.values()) else ""
    bar.set_label(rf"MSE (A), $\Delta$MSE{distance} (others); black: below 0")


def _letters(learners: Sequence[str]) -> dict[str, str]:
    """A letter for the first learner of each group; learners outside the groups have one each."""
    letters, seen = {style.EXACT: _parts.panel_name(0)}, set()
    for learner in learners:
        group = next((group for group in GROUPS if learner in group and set(learners) <= set(LEARNERS)), (learner,))
        if group not in seen:
            seen.add(group)
            letters[learner] = _parts.panel_name(len(letters))
    return letters


def _mean(values: Any) -> np.ndarray:
    return _parts.mean_and_error(values.transpose("noise", "p_c", "seed"), "seed")[0]


def _colours(maps: Sequence[np.ndarray]) -> Any:
    """One logarithmic colour scale for all panels, at most DECADES long: smaller values share the lowest colour."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, LogNorm

    limits = _parts.span(np.concatenate([values.ravel() for values in maps]), 1.0) or (0.1, 1.0)
    low = max(limits[0], limits[1] / 10.0**DECADES)
    without_the_darkest = ListedColormap(colormaps["viridis"](np.linspace(0.14, 1.0, 256)))
    high = limits[1] if limits[1] > low else low * 10.0
    return ScalarMappable(LogNorm(low, high), without_the_darkest.with_extremes(under=NEGATIVE, bad=MISSING))


def _draw_map(axis: Any, values: np.ndarray, colours: Any) -> None:
    low = colours.norm.vmin
    with np.errstate(invalid="ignore"):
        raised = np.where(values >= 0.0, np.maximum(values, low), values)
    painted = colours.cmap(colours.norm(np.ma.masked_invalid(np.where(values < 0.0, low / 10.0, raised))))
    axis.imshow(painted, origin="lower", aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value):
            red, green, blue = painted[row, column, :3]
            ink = "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "white"
            text = short(float(value))
            size = 7.5 if len(text) <= 5 else 6.6
            axis.text(column, row, text, ha="center", va="center", fontsize=size, color=ink)


def short(value: float) -> str:
    """A number in at most six characters: 0.84, 0.0062, 9e-5."""
    if value == 0.0:
        return "0"
    plain = f"{value:.2g}".replace("-", "−")
    if abs(value) >= 1e-3 and len(plain) <= 6 and "e" not in plain:
        return plain
    mantissa, exponent = f"{value:.0e}".split("e")
    return f"{mantissa}e{int(exponent)}".replace("-", "−")


def _label(axis: Any, dataset: Any) -> None:
    p_c, noise = dataset.p_c.values, dataset.noise.values
    axis.set_xticks(range(len(p_c)), [f"{value:g}" if value >= 1e-3 else short(float(value)) for value in p_c])
    axis.set_yticks(range(len(noise)), [f"{value:g}" for value in noise])
    axis.set_xticks(np.arange(len(p_c) - 1) + 0.5, minor=True)
    axis.set_yticks(np.arange(len(noise) - 1) + 0.5, minor=True)
    axis.grid(which="minor", color="white", linewidth=0.8)
    axis.tick_params(which="both", length=0, labelsize=8)
    axis.spines[:].set_visible(False)


def _label_outside(axes: np.ndarray, count: int, dataset: Any) -> None:
    """Axis names at the left and at the lowest panel of each column only."""
    across = axes.shape[1]
    for k in range(count):
        if k % across == 0:
            axes.flat[k].set_ylabel(f"${_parts.noise_symbol(dataset)}$", fontsize=13)
        if k + across >= count:
            axes.flat[k].set_xlabel("$p_c$", fontsize=12)
