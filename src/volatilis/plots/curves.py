"""Figures 2, 5 and S1: the squared error n steps after a change. Figures 8 and 9: the regret of learners with a wrong p_c.

And how much memory buys: the distance to Exact Bayes against the number of hypotheses a learner keeps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from volatilis.plots import style

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

AFTER_CHANGE_SIZE = (11.0, 10.4)
SIZE_WITHOUT_EXAMPLE = (11.0, 7.6)
WRONG_RATE_SIZE = (18.0, 8.4)
CATEGORY_SHADES = ("#ffffff", "#5f9fd4")
LINEAR_SHARE = 0.03  # the part of a panel's largest regret below which its axis is linear


@style.apply()
def draw_after_change(
    dataset: xr.Dataset, example: Mapping[str, npt.ArrayLike] | None, figure: Figure, learners: Sequence[str]
) -> None:
    """A: the example (none for figure S1). B: linear axes as in the paper, the late steps in an inset. C: logarithmic axes."""
    figure.set_layout_engine("constrained")
    settings, first = dataset.sizes["setting"], 0 if example is None else 1
    grid = figure.add_gridspec(2 + first, settings, height_ratios=[1.0, 1.75, 1.75][1 - first :])
    if example is not None:
        _draw_example(figure.add_subplot(grid[0, :]), example)
    shown = style.present(dataset, learners)
    for row, logarithmic in enumerate((False, True)):
        for k in range(settings):
            axis = figure.add_subplot(grid[row + first, k])
            _draw_setting(axis, dataset.isel(setting=k), shown, logarithmic)
            text = style.setting(dataset, float(dataset.noise[k]), float(dataset.p_c[k]))
            if k == 0 and example is not None:
                style.title(axis, "BC"[row], text)
            else:
                axis.set_title(text, loc="left")
            if k == 0:
                axis.set_ylabel(r"$\mathrm{MSE}\,[\hat{\Theta}_t \,|\, R_t = n]$")
    style.draw_legend(figure, shown)


def _draw_setting(axis: Axes, dataset: xr.Dataset, learners: Sequence[str], logarithmic: bool) -> None:
    axis.set_xlabel("steps $n$ after a change")
    if logarithmic:
        axis.set(xscale="log", yscale="log")
    means = _draw_curves(axis, dataset, learners)
    limits = style.span(np.concatenate(list(means.values())), 1.25) if means else None
    if limits is None:
        return
    if logarithmic:
        axis.set_ylim(limits)
        _plain_ticks(axis)
        return
    axis.set_ylim(0.0, limits[1])
    axis.grid(True, color="0.92", linewidth=0.8)
    inset = axis.inset_axes((0.5, 0.5, 0.48, 0.48))
    _draw_curves(inset, dataset, [name for name in learners if name in means])
    last = max(map(len, means.values()))
    late = np.sort([mean[-max(1, last // 2) :].mean() for mean in means.values()])
    inset.set(xlim=(0.5 * last, last), ylim=(0.9 * late[0], 1.3 * late[len(late) // 2]))  # the better half of the learners
    inset.tick_params(labelsize="x-small")


def _draw_curves(axis: Axes, dataset: xr.Dataset, learners: Sequence[str]) -> dict[str, np.ndarray]:
    """Every learner's mean with its standard error; returns the means that there are."""
    n, means = np.asarray(dataset.n.values, dtype=float), {}
    for k, learner in enumerate(learners):
        of_learner = dataset.sel(learner=learner)
        mean = np.asarray(of_learner["mean"].values, dtype=float)
        held = np.isfinite(mean)
        if held.any():
            error = np.asarray(of_learner["standard_error"].values, dtype=float)
            style.draw_curve(axis, n[held], mean[held], error[held], learner, k / len(learners))
            means[learner] = mean[held]
    return means


def _plain_ticks(axis: Axes) -> None:
    """1, 2, 5, 10 ... instead of powers of ten: both axes span one or two decades only."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    for direction in (axis.xaxis, axis.yaxis):
        direction.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        direction.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        direction.set_minor_formatter(NullFormatter())
    axis.xaxis.set_minor_locator(NullLocator())
    axis.grid(True, which="major", color="0.92", linewidth=0.8)
    axis.set_axisbelow(True)


def _draw_example(axis: Axes, example: Mapping[str, npt.ArrayLike]) -> None:
    theta = np.asarray(example["theta"], dtype=float)
    t = np.arange(1, len(theta) + 1)
    shades: list[Patch] = []
    if theta.ndim == 2:
        shades = _draw_categories(axis, t, np.asarray(example["y"]), theta)
    else:
        axis.plot(t, example["y"], ".", color="black", markersize=3.0, label="observation $y_t$")
        axis.step(t, theta, where="mid", color=style.TRUTH, linewidth=2.0, label=r"mean $\mu_t$")
        axis.set_ylabel("observation $y_t$")
    changes = t[np.asarray(example["changed"], dtype=bool) & (t > 1)]
    for k, change in enumerate(changes):
        axis.axvline(change - 0.5, color=style.CHANGE, linewidth=1.2, label="change" if k == 0 else None, zorder=1.5)
    axis.set(xlabel="time step $t$", xlim=(0.5, len(t) + 0.5))
    handles = [*axis.get_legend_handles_labels()[0], *shades]
    close = {"columnspacing": 1.2, "handlelength": 1.5, "handletextpad": 0.5, "borderpad": 0}
    axis.legend(handles=handles, loc="lower right", bbox_to_anchor=(1.0, 0.98), ncols=len(handles), **close)
    style.title(axis, "A", _setting_of(example))


def _setting_of(example: Mapping[str, npt.ArrayLike]) -> str:
    """The parameters the example was drawn with, those it names."""
    symbols = {"sigma": r"\sigma", "s": "s", "p_c": "p_c"}
    return ",  ".join(f"${symbol} = {float(np.asarray(example[name])):g}$" for name, symbol in symbols.items() if name in example)


def _draw_categories(axis: Axes, t: np.ndarray, y: np.ndarray, p: np.ndarray) -> list[Patch]:
    """One row per category, shaded with its probability; returns the shades for the legend."""
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Patch

    shades = LinearSegmentedColormap.from_list("probability", CATEGORY_SHADES)
    categories = p.shape[1]
    axis.imshow(
        p.T,
        aspect="auto",
        origin="lower",
        cmap=shades,
        vmin=0.0,
        vmax=1.0,
        interpolation="nearest",
        extent=(0.5, len(t) + 0.5, 0.5, categories + 0.5),
    )
    axis.plot(t, y + 1, "o", color="black", markersize=2.4, markeredgewidth=0, label="observation $y_t$")
    axis.set(ylabel="category", yticks=range(1, categories + 1))
    texts = {0.0: "probability 0", 0.5: "0.5", 1.0: "1"}
    return [Patch(facecolor=shades(share), edgecolor="0.6", linewidth=0.5, label=text) for share, text in texts.items()]


# --- a wrong p_c -------------------------------------------------------------------------------------------------------


@style.apply()
def draw_wrong_rate(dataset: xr.Dataset, figure: Figure, rows: Mapping[str, Sequence[str]] | None = None) -> None:
    """Panels A to D, mean regret against the true p_c, a red triangle at the assumed one; a row per named set of learners."""
    from matplotlib.lines import Line2D

    figure.set_layout_engine("constrained")
    panels, chosen = dataset.sizes["panel"], rows or {"": style.present(dataset)}
    axes = figure.subplots(len(chosen), panels, squeeze=False, sharex=True)
    for row, (name, learners) in enumerate(chosen.items()):
        for k, axis in enumerate(axes[row]):
            _draw_regrets(axis, dataset.isel(panel=k), style.present(dataset, learners))
            text = style.setting(dataset, float(dataset.noise[k]), float(f"{float(dataset.assumed[k]):.3g}"), "p_c'")
            style.title(axis, style.panel_name(k), text)
        axes[row, 0].set_ylabel(f"mean regret{', ' if name else ''}{name}")
    for axis in axes[-1]:
        axis.set_xlabel("true $p_c$")
    shown = {style.split_variant(who)[0]: who for learners in chosen.values() for who in style.present(dataset, learners)}
    triangle = Line2D([], [], color=style.CHANGE, marker="^", linestyle="none", markersize=9, label="assumed $p_c'$")
    style.draw_legend(figure, list(shown), extra=[triangle])


def _draw_regrets(axis: Axes, dataset: xr.Dataset, learners: Sequence[str]) -> None:
    p_c = np.asarray(dataset.p_c.values, dtype=float)
    order = np.argsort(p_c)
    largest = 0.0
    for k, learner in enumerate(learners):
        mean, error = style.mean_and_error(dataset.regret.sel(learner=learner), "seed")
        if np.isfinite(mean).any():
            largest = max(largest, float(np.nanmax(mean)))
            look = style.split_variant(learner)[0]
            style.draw_curve(axis, p_c[order], mean[order], error[order], look, k / len(learners))
    axis.set_xscale("log")
    if largest > 0.0:
        axis.set_yscale("symlog", linthresh=LINEAR_SHARE * largest, linscale=0.8)
    axis.axhline(0.0, color="0.4", linewidth=0.8, zorder=0)
    axis.grid(True, color="0.92", linewidth=0.8)
    axis.set_axisbelow(True)
    axis.plot(
        float(dataset.assumed), 0.0, "^", color=style.CHANGE, markersize=10, transform=axis.get_xaxis_transform(), clip_on=False
    )


# --- memory ------------------------------------------------------------------------------------------------------------

MEMORY_COLUMNS = 3
MEMORY_PANEL = (3.4, 3.1)
BESIDE_ONE = (0.49, 0.82)  # where learners of one unit have their marks, clear of the lines that begin at n = 1
LEFT = 0.42


def memory_size(panels: int) -> tuple[float, float]:
    """Width and height in inches for a number of panels."""
    rows, columns = style.grid(panels, MEMORY_COLUMNS)
    return round(MEMORY_PANEL[0] * columns + 0.6, 2), round(MEMORY_PANEL[1] * rows + 0.8, 2)


MEMORY_SIZE = memory_size(6)


@style.apply()
def draw_memory(dataset: xr.Dataset, figure: Figure) -> None:
    """One panel per cell, both axes logarithmic: a line per kind of memory, marks at n = 1 (in grey) for learners of one unit."""
    figure.set_layout_engine("constrained")
    cells = [str(cell) for cell in dataset.task_cell.values]
    rows, across = style.grid(len(cells), MEMORY_COLUMNS)
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
    _memory_legend(figure, kinds, singles)


def _draw_cell(axis: Axes, dataset: xr.Dataset, kinds: Sequence[str], singles: Sequence[str]) -> None:
    n = np.asarray(dataset.n.values, dtype=float)
    axis.set(xscale="log", yscale="log")
    drawn = []
    for kind in kinds:
        mean, error = style.mean_and_error(dataset.distance.sel(kind=kind), "seed")
        mean = style.positive(mean)
        if np.isfinite(mean).any():
            style.draw_curve(axis, n, mean, error, _darkest(kind))
            drawn.append(mean)
    for x, name in zip(np.geomspace(*BESIDE_ONE, len(singles)), singles, strict=True):
        mean, error = style.mean_and_error(dataset.one_unit.sel(one_learner=name), "seed")
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
    limits = style.span(np.concatenate(drawn), 1.8) if drawn else None
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


def _memory_legend(figure: Figure, kinds: Sequence[str], singles: Sequence[str]) -> None:
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
