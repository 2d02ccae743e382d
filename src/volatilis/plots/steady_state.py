"""Figures 3, 4, 6, 7 and S2: the error in every environment of the grid, as heat maps and all environments together."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from volatilis.plots import style

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

SUMMARY_SIZE = (11.0, 8.0)
MOST_COLUMNS = 4
PANEL = (2.95, 2.5)
DECADES = 5
NEGATIVE, MISSING = "#000000", "#d9d9d9"
Excess = dict[str, tuple[np.ndarray, np.ndarray]]

JITTER = 0.32
LINEAR_BELOW = 1e-5
END = 1.12  # an axis without a break ends at this many times the largest value
REACH = 2.0  # the axis breaks between the largest value within bounds and this many times it
BEYOND = 1.5  # a learner is out of bounds where its worst cell is beyond this many times the median learner's worst cell


def heat_maps_size(learners: int) -> tuple[float, float]:
    """Width and height in inches for Exact Bayes and so many learners."""
    rows, columns = style.grid(learners + 1, MOST_COLUMNS)
    return round(PANEL[0] * columns + 0.9, 2), round(PANEL[1] * rows + 0.3, 2)


@style.apply()
def draw_heat_maps(
    dataset: xr.Dataset, figure: Figure, groups: Sequence[Sequence[str]], by_distance: Collection[str] = ()
) -> None:
    """A: Exact Bayes' mean squared error. B onwards: each learner's excess over it, on the same logarithmic colours.

    Learners of one group share a letter. Negative excess, which a finite sample can give, is black; a cell without a value is
    grey. Where the excess of learners drowns in that noise, `by_distance` names them: their panels have the mean squared distance
    to Exact Bayes, whose expectation is the same.
    """
    figure.set_layout_engine("constrained", h_pad=0.06, w_pad=0.06)
    dataset = dataset.sortby(["noise", "p_c"])
    groups = [[name for name in style.present(dataset, group) if name != style.EXACT] for group in groups]
    shown = [learner for group in groups for learner in group]
    maps = {style.EXACT: _mean(dataset.error.sel(learner=style.EXACT))}
    titles = {style.EXACT: f"MSE of {style.EXACT}"}
    for learner in shown:
        distance = learner in by_distance and "distance" in dataset
        excess = dataset.error.sel(learner=learner) - dataset.error.sel(learner=style.EXACT)
        maps[learner] = _mean(dataset.distance.sel(learner=learner) if distance else excess)
        titles[learner] = ("squared distance of " if distance else r"$\Delta$MSE of ") + style.label(learner)
    colours = _colours(list(maps.values()))
    axes = figure.subplots(*style.grid(len(maps), MOST_COLUMNS), squeeze=False)
    firsts = [style.EXACT, *(group[0] for group in groups if group)]
    letters = {learner: style.panel_name(k) for k, learner in enumerate(firsts)}
    for axis, (learner, values) in zip(axes.flat, maps.items(), strict=False):
        _draw_map(axis, values, colours)
        _label(axis, dataset)
        if learner in letters:
            style.title(axis, letters[learner], titles[learner])
        else:
            axis.set_title(titles[learner], loc="left")
    for axis in axes.flat[len(maps) :]:
        axis.remove()
    _label_outside(axes, len(maps), dataset)
    bar = figure.colorbar(colours, ax=list(axes.flat[: len(maps)]), extend="min", aspect=40, pad=0.02, fraction=0.05)
    also = " or squared distance" if any("distance" in title for title in titles.values()) else ""
    bar.set_label(rf"MSE (A), $\Delta$MSE{also} (others); black: below 0")


def _mean(values: xr.DataArray) -> np.ndarray:
    return style.mean_and_error(values.transpose("noise", "p_c", "seed"), "seed")[0]


def _colours(maps: Sequence[np.ndarray]) -> ScalarMappable:
    """One logarithmic colour scale for all panels, at most DECADES long: smaller values share the lowest colour."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, LogNorm

    limits = style.span(np.concatenate([values.ravel() for values in maps]), 1.0) or (0.1, 1.0)
    low = max(limits[0], limits[1] / 10.0**DECADES)
    without_the_darkest = ListedColormap(colormaps["viridis"](np.linspace(0.14, 1.0, 256)))
    high = limits[1] if limits[1] > low else low * 10.0
    return ScalarMappable(LogNorm(low, high), without_the_darkest.with_extremes(under=NEGATIVE, bad=MISSING))


def _draw_map(axis: Axes, values: np.ndarray, colours: ScalarMappable) -> None:
    low = float(colours.get_clim()[0] or 0.0)
    with np.errstate(invalid="ignore"):
        raised = np.where(values >= 0.0, np.maximum(values, low), values)
    numbers = np.ma.masked_invalid(np.where(values < 0.0, low / 10.0, raised))
    painted = np.asarray(colours.cmap(colours.norm(numbers)))
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


def _label(axis: Axes, dataset: xr.Dataset) -> None:
    p_c, noise = dataset.p_c.values, dataset.noise.values
    axis.set_xticks(range(len(p_c)), [f"{value:g}" if value >= 1e-3 else short(float(value)) for value in p_c])
    axis.set_yticks(range(len(noise)), [f"{value:g}" for value in noise])
    axis.set_xticks(np.arange(len(p_c) - 1) + 0.5, minor=True)
    axis.set_yticks(np.arange(len(noise) - 1) + 0.5, minor=True)
    axis.grid(which="minor", color="white", linewidth=0.8)
    axis.tick_params(which="both", length=0, labelsize=8)
    axis.spines[:].set_visible(False)


def _label_outside(axes: np.ndarray, count: int, dataset: xr.Dataset) -> None:
    """Axis names at the left and at the lowest panel of each column only."""
    across = axes.shape[1]
    for k in range(count):
        if k % across == 0:
            axes.flat[k].set_ylabel(f"${style.noise_symbol(dataset)}$", fontsize=13)
        if k + across >= count:
            axes.flat[k].set_xlabel("$p_c$", fontsize=12)


# --- all environments together -----------------------------------------------------------------------------------------


@style.apply()
def draw_summary(dataset: xr.Dataset, figure: Figure, learners: Sequence[str]) -> None:
    """A: linear, with a second axis above for what is out of bounds. B: the same values on a logarithmic axis.

    One dot per cell (mean over seeds) with its standard error, jittered sideways: the same shift for a cell in all learners.
    """
    figure.set_layout_engine("constrained")
    shown = [learner for learner in style.present(dataset, learners) if learner != style.EXACT]
    excess = {learner: _excess(dataset, learner) for learner in shown}
    bound, top = _bounds([mean for mean, _ in excess.values()])
    if top > bound:
        above, linear, logarithmic = figure.subplots(3, 1, sharex=True, height_ratios=[0.45, 1.0, 1.3])
        gap = _gap(np.concatenate([mean for mean, _ in excess.values()]), bound)
        _break(above, linear, gap, top)
        _draw_all(above, excess, lowest=gap)
        _draw_all(linear, excess, highest=gap)
    else:
        above, (linear, logarithmic) = None, figure.subplots(2, 1, sharex=True)
        linear.set_ylim(-0.05 * bound, END * bound)
        _draw_all(linear, excess)
    logarithmic.set_yscale("symlog", linthresh=LINEAR_BELOW, linscale=0.6)
    _draw_all(logarithmic, excess)
    lowest = min((float(np.nanmin(mean)) for mean, _ in excess.values() if np.isfinite(mean).any()), default=0.0)
    logarithmic.set_ylim(min(2.0 * lowest, -LINEAR_BELOW), max(2.0 * top, 10.0 * LINEAR_BELOW))
    _finish(linear, logarithmic, shown)
    style.title(linear if above is None else above, "A")
    style.title(logarithmic, "B", "the same on a logarithmic axis")


def _excess(dataset: xr.Dataset, learner: str) -> tuple[np.ndarray, np.ndarray]:
    excess = dataset.error.sel(learner=learner) - dataset.error.sel(learner=style.EXACT)
    mean, error = style.mean_and_error(excess.transpose("noise", "p_c", "seed"), "seed")
    return mean.ravel(), error.ravel()


def _bounds(means: Sequence[np.ndarray]) -> tuple[float, float]:
    """The upper end of the linear axis and of the values: they differ if some learners are far worse than the median one."""
    worst = np.array([mean[np.isfinite(mean)].max() for mean in means if np.isfinite(mean).any()])
    if worst.size == 0 or worst.max() <= 0.0:
        return 1.0, 1.0
    within = worst[(worst > 0.0) & (worst <= BEYOND * np.median(worst))]
    return float(within.max() if within.size else worst.max()), float(worst.max())


def _gap(values: np.ndarray, bound: float) -> float:
    """Where to break the axis above the bound: the middle of the widest gap between neighbouring values up to twice as high."""
    around = np.sort(values[(values >= bound) & (values <= REACH * bound)])
    around = np.append(around, REACH * bound) if len(around) < 2 else around
    widest = int(np.argmax(np.diff(around)))
    return float(0.5 * (around[widest] + around[widest + 1]))


def _break(above: Axes, linear: Axes, gap: float, top: float) -> None:
    """Two linear axes, one above the other, with the marks of a broken axis."""
    linear.set_ylim(-0.05 * gap, gap)
    above.set_ylim(gap - 0.1 * (top - gap), top + 0.12 * (top - gap))
    above.set_yticks([tick for tick in above.get_yticks() if gap <= tick <= above.get_ylim()[1]])
    above.spines["bottom"].set_visible(False)
    above.tick_params(axis="x", length=0)
    marks: dict[str, Any] = {
        "marker": [(-1, -0.6), (1, 0.6)],
        "markersize": 9,
        "linestyle": "none",
        "color": "black",
        "clip_on": False,
    }
    above.plot([0], [0], transform=above.transAxes, **marks)
    linear.plot([0], [1], transform=linear.transAxes, **marks)


def _draw_all(axis: Axes, excess: Excess, lowest: float = -np.inf, highest: float = np.inf) -> None:
    """The values from lowest to highest of all learners."""
    for place, (learner, (mean, error)) in enumerate(excess.items()):
        with np.errstate(invalid="ignore"):
            inside = np.where((mean > lowest) & (mean <= highest), mean, np.nan)
        _draw_learner(axis, place, learner, inside, error)
    axis.grid(True, axis="y", color="0.92", linewidth=0.8)
    axis.set_axisbelow(True)
    if lowest < 0.0:
        axis.axhline(0.0, color="0.4", linewidth=0.8, zorder=0)


def _draw_learner(axis: Axes, place: int, learner: str, mean: np.ndarray, error: np.ndarray) -> None:
    look = style.look(learner)
    x = place + jitter(len(mean))
    marks, _, _ = axis.errorbar(
        x,
        mean,
        yerr=np.nan_to_num(error),
        linestyle="none",
        color=look.colour,
        markersize=4.5,
        elinewidth=0.9,
        alpha=0.85,
        label=look.label,
        **look.marking,
    )
    marks.set_clip_on(False)  # a mark at the end of an axis is drawn whole


def jitter(count: int) -> np.ndarray:
    """Sideways shifts that look random but are the same in every run: steps of the golden ratio, wrapped round."""
    return JITTER * (2.0 * ((np.arange(count) * 0.6180339887498949) % 1.0) - 1.0)


def _finish(linear: Axes, logarithmic: Axes, learners: Sequence[str]) -> None:
    for axis in (linear, logarithmic):
        axis.set_ylabel(r"$\Delta\mathrm{MSE}\,[\hat{\Theta}_t]$")
    labels = [style.label(learner) for learner in learners]
    logarithmic.set_xticks(range(len(learners)), labels, rotation=40, ha="right", rotation_mode="anchor")
    logarithmic.set_xlim(-0.6, len(learners) - 0.4)
