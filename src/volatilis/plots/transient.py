"""Figures 2, 5 and S1: an example of the task, and the squared error n steps after a change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from volatilis.plots import _parts, style

SIZE = (11.0, 7.2)
SIZE_WITHOUT_EXAMPLE = (11.0, 4.2)

LEARNERS = (
    style.EXACT,
    "pf20",
    "pf1",
    "MP20",
    "MP1",
    "Merge20",
    "SOR20",
    "SOR1",
    "SOR20 (published)",
    "SOR10 (published)",
    "VarSMiLe",
    "Nas12*",
    "Nas10*",
    "SMiLe",
    "Leaky",
)
NASSAR_LEARNERS = ("Nas12*", "Nas12", "Nas10*", "Nas10")
CATEGORY_SHADES = ("#ffffff", "#5f9fd4")


@style.apply()
def draw(dataset: Any, example: Mapping[str, Any] | None, figure: Any, learners: Sequence[str] = LEARNERS) -> None:
    """A: the example (none for figure S1). B: one panel per setting, every learner's mean with its standard error."""
    figure.set_layout_engine("constrained")
    settings = dataset.sizes["setting"]
    if example is None:
        panels = np.atleast_1d(figure.subplots(1, settings))
    else:
        grid = figure.add_gridspec(2, settings, height_ratios=[1.0, 1.75])
        _draw_example(figure.add_subplot(grid[0, :]), example)
        panels = np.array([figure.add_subplot(grid[1, k]) for k in range(settings)])
    shown = style.present(dataset, learners)
    for k, axis in enumerate(panels):
        _draw_setting(axis, dataset.isel(setting=k), shown)
        text = _parts.setting(dataset, float(dataset.noise[k]), float(dataset.p_c[k]))
        if k == 0 and example is not None:
            _parts.title(axis, "B", text)
        else:
            axis.set_title(text, loc="left")
    panels[0].set_ylabel(r"$\mathrm{MSE}\,[\hat{\Theta}_t \,|\, R_t = n]$")
    _parts.draw_legend(figure, shown)


def _draw_setting(axis: Any, dataset: Any, learners: Sequence[str]) -> None:
    n = np.asarray(dataset.n.values, dtype=float)
    axis.set(xscale="log", yscale="log", xlabel="steps $n$ after a change")
    means = []
    for k, learner in enumerate(learners):
        of_learner = dataset.sel(learner=learner)
        mean = np.asarray(of_learner["mean"].values, dtype=float)
        held = np.isfinite(mean)
        if not held.any():
            continue
        error = np.asarray(of_learner["standard_error"].values, dtype=float)
        _parts.draw_curve(axis, n[held], mean[held], error[held], learner, k / len(learners))
        means.append(mean[held])
    limits = _parts.span(np.concatenate(means), 1.25) if means else None
    if limits is not None:
        axis.set_ylim(limits)
    _plain_ticks(axis)


def _plain_ticks(axis: Any) -> None:
    """1, 2, 5, 10 ... instead of powers of ten: both axes span one or two decades only."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    for direction in (axis.xaxis, axis.yaxis):
        direction.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        direction.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        direction.set_minor_formatter(NullFormatter())
    axis.xaxis.set_minor_locator(NullLocator())
    axis.grid(True, which="major", color="0.92", linewidth=0.8)
    axis.set_axisbelow(True)


def _draw_example(axis: Any, example: Mapping[str, Any]) -> None:
    theta = np.asarray(example["theta"], dtype=float)
    t = np.arange(1, len(theta) + 1)
    shades: list[Any] = []
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
    _parts.title(axis, "A", _setting_of(example))


def _setting_of(example: Mapping[str, Any]) -> str:
    """The parameters the example was drawn with, those it names."""
    symbols = {"sigma": r"\sigma", "s": "s", "p_c": "p_c"}
    return ",  ".join(f"${symbol} = {example[name]:g}$" for name, symbol in symbols.items() if name in example)


def _draw_categories(axis: Any, t: np.ndarray, y: np.ndarray, p: np.ndarray) -> list[Any]:
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
