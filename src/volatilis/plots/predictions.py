"""The two experimental predictions that tell the Bayes Factor Surprise from the Shannon surprise.

`draw_first` and `draw_second` are the paper's Figures 10 and 11, `draw_observed` is their panel B for a measured indicator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from volatilis.plots import style

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Panels = list[list[Axes]]
    DrawPanel = Callable[[Axes, xr.Dataset, str], None]
    Line = str | tuple[int, tuple[float, ...]]

SIZE = (11.0, 5.4)

MEASURES = {
    "bayes_factor": "Bayes Factor Surprise\n" r"$\bar{S}_{\mathrm{BF}}$",
    "shannon": "Shannon Surprise\n" r"$\bar{S}_{\mathrm{Sh}}$",
}
EXPECTED = r"expected: $S_{\mathrm{BF}} = 1$, $S_{\mathrm{Sh}} = -\log\,p$"
SIGNS = ((1, style.POSITIVE, "o", "$s = +1$"), (-1, style.NEGATIVE, "s", "$s = -1$"))
PRIOR_SPREAD, BELIEF_SPREAD, BELIEF_MEAN, ERROR = 1.12, 0.6, 1.0, 0.9


@style.apply()
def draw_first(dataset: xr.Dataset, figure: Figure, variant: str = "right") -> None:
    """Figure 10. A: two observations at equal distance from the estimate. B: both surprises against |delta| for both signs."""
    of_variant = dataset.sel(variant=variant)
    schematic, panels = _layout(figure, of_variant)
    _draw_signs_schematic(schematic)

    def draw_panel(axis: Axes, of_learner: xr.Dataset, measure: str) -> None:
        for sign, colour, mark, text in SIGNS:
            _draw_band(axis, of_learner.sel(sign=sign), "delta", measure, colour, mark, text)

    _draw_panels(panels, of_variant, draw_panel, r"prediction error $\delta$", variant)
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", title="sign bias")


@style.apply()
def draw_second(dataset: xr.Dataset, figure: Figure, variant: str = "right") -> None:
    """Figure 11. A: observations equally probable under prior and belief. B: both surprises against that probability p."""
    of_variant = dataset.sel(variant=variant)
    schematic, panels = _layout(figure, of_variant)
    _draw_intersections_schematic(schematic)

    def draw_panel(axis: Axes, of_learner: xr.Dataset, measure: str) -> None:
        learner = str(of_learner.learner.values)
        look = style.look(learner)
        p = np.asarray(of_learner.p.values, dtype=float)
        expected = np.ones_like(p) if measure == "bayes_factor" else -np.log(p)
        if variant == "right":
            axis.plot(p, expected, color="0.45", linestyle=style.DOTTED, linewidth=1.6, label=EXPECTED, zorder=1)
        _draw_band(axis, of_learner, "p", measure, look.colour, look.mark, look.label)
        if measure == "bayes_factor":
            _keep_in_view(axis, 1.0, 0.5)

    _draw_panels(panels, of_variant, draw_panel, "probability $p$", variant)
    handles = dict(pair[::-1] for axis in panels[0] for pair in zip(*axis.get_legend_handles_labels(), strict=True))
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=len(handles))


def _layout(figure: Figure, dataset: xr.Dataset) -> tuple[Axes, Panels]:
    """The schematic at the left; at the right one row per measure and one column per learner."""
    figure.set_layout_engine("constrained")
    learners = max(dataset.sizes["learner"], 1)
    grid = figure.add_gridspec(2, 1 + learners, width_ratios=[1.5] + [1.0] * learners)
    schematic = figure.add_subplot(grid[:, 0])
    panels = [[figure.add_subplot(grid[row, 1 + column]) for column in range(learners)] for row in range(2)]
    return schematic, panels


def _draw_panels(panels: Panels, dataset: xr.Dataset, draw_panel: DrawPanel, name: str, variant: str) -> None:
    for row, (measure, symbol) in zip(panels, MEASURES.items(), strict=True):
        for column, learner in enumerate(dataset.learner.values):
            draw_panel(row[column], dataset.sel(learner=learner), measure)
            row[column].grid(True, color="0.92", linewidth=0.8)
            row[column].set_axisbelow(True)
            if row is not panels[0]:
                row[column].set_xlabel(name)
            elif column == 0:
                style.title(row[column], "B", style.label(str(learner)))
            else:
                row[column].set_title(style.label(str(learner)), loc="left")
        unit = " (nats)" if measure == "shannon" and variant == "right" else ""
        row[0].set_ylabel(symbol + unit)
        _share_height(row)


def _share_height(axes: Sequence[Axes]) -> None:
    """The same limits for a row of panels."""
    limits = np.array([axis.get_ylim() for axis in axes])
    for axis in axes:
        axis.set_ylim(limits[:, 0].min(), limits[:, 1].max())


def _keep_in_view(axis: Axes, value: float, reach: float) -> None:
    """At least this far on both sides of a value, so that noise about a constant does not look like a course."""
    low, high = axis.get_ylim()
    axis.set_ylim(min(low, value - reach), max(high, value + reach))


def _draw_band(axis: Axes, dataset: xr.Dataset, over: str, measure: str, colour: str, mark: str, text: str) -> None:
    x, mean, error = (np.asarray(dataset[name].values, dtype=float) for name in (over, measure, f"{measure}_se"))
    _band(axis, x, Curve(mean, error), colour, mark, text)


def _density(y: np.ndarray | float, mean: float, spread: float) -> np.ndarray:
    return np.asarray(np.exp(-0.5 * ((y - mean) / spread) ** 2) / (spread * np.sqrt(2.0 * np.pi)))


def _draw_signs_schematic(axis: Axes) -> None:
    y = np.linspace(-2.6, 3.4, 400)
    axis.plot(y, _density(y, 0.0, PRIOR_SPREAD), color=style.PRIOR, linewidth=1.8)
    axis.plot(y, _density(y, BELIEF_MEAN, BELIEF_SPREAD), color=style.BELIEF, linewidth=1.8)
    top = 1.3 * float(_density(0.0, 0.0, BELIEF_SPREAD))
    reach = {"arrowstyle": "<->", "color": "0.3", "shrinkA": 0, "shrinkB": 0}
    for sign, colour, _, text in SIGNS:
        at = BELIEF_MEAN + sign * ERROR
        axis.plot([at, at], [0.0, 0.87 * top], color=colour, linestyle=style.DASHED, linewidth=1.6, zorder=1)
        axis.plot(at, _density(at, 0.0, PRIOR_SPREAD), "o", color=style.PRIOR, markersize=8, zorder=4)
        axis.plot(at, _density(at, BELIEF_MEAN, BELIEF_SPREAD), "o", color=style.BELIEF, markersize=8, zorder=4)
        axis.annotate("", (at, 0.83 * top), (BELIEF_MEAN, 0.83 * top), arrowprops=reach)
        axis.text(BELIEF_MEAN + 0.5 * sign * ERROR, 0.85 * top, r"$\delta$", ha="center", va="bottom", color="0.2")
        axis.text(at, 0.89 * top, text, ha="center", va="bottom", color=colour)
    axis.text(-0.95, 0.29, "under the\nprior $\\pi^{(0)}$", ha="right", va="bottom", color=style.PRIOR)
    axis.text(2.0, 0.40, "under the\nbelief $\\pi^{(t)}$", ha="left", va="bottom", color=style.BELIEF)
    axis.set_xticks([0.0, BELIEF_MEAN], ["0", r"$\hat{\theta}$"])
    _finish_schematic(axis, top)


def _draw_intersections_schematic(axis: Axes) -> None:
    y = np.linspace(-3.2, 3.4, 500)
    prior = _density(y, 0.0, PRIOR_SPREAD)
    axis.plot(y, prior, color=style.PRIOR, linewidth=1.8)
    top = 0.0
    for name, mean, spread in (("A", -1.15, 0.62), ("B", 2.05, 0.55)):
        belief = _density(y, mean, spread)
        axis.plot(y, belief, color=style.BELIEF, linestyle=style.DASHED, linewidth=1.8)
        axis.text(mean, belief.max() + 0.02, f"belief {name}", ha="center", va="bottom", color=style.BELIEF)
        top = max(top, float(belief.max()))
        crossings = np.flatnonzero(np.diff(np.sign(belief - prior)) != 0)
        inner = crossings[np.argmin(np.abs(y[crossings]))]
        axis.plot([-3.2, y[inner]], [prior[inner]] * 2, color="0.55", linestyle=style.DOTTED, linewidth=1.4, zorder=0)
        axis.plot(y[inner], prior[inner], "o", color="black", markersize=8, zorder=4)
        axis.text(-3.15, prior[inner] + 0.008, f"$p_{name}$", ha="left", va="bottom")
    axis.text(0.05, float(_density(0.0, 0.0, PRIOR_SPREAD)) + 0.02, r"prior $\pi^{(0)}$", ha="left", va="bottom")
    axis.set_xticks([0.0])
    _finish_schematic(axis, 1.22 * top)


def _finish_schematic(axis: Axes, top: float) -> None:
    axis.set(xlabel="observation $y_{t+1}$", ylabel="probability density", yticks=[], ylim=(0.0, top))
    style.title(axis, "A")


# --- a measured indicator ------------------------------------------------------------------------------------------------

OBSERVED_SIZE, OBSERVED_SIZE_1 = (12.6, 4.4), (8.6, 4.4)  # of both predictions, of the first alone
OBSERVED_SIGNS = (
    (style.POSITIVE, "o", "$s = +1$, outcome further out"),
    (style.NEGATIVE, "s", "$s = -1$, outcome further in"),
)
ESTIMATORS: Mapping[str, tuple[str, Line, str]] = {  # colour, line, mark
    "paper": ("0.55", style.DASHED, "o"),
    "adjusted": ("#111111", style.SOLID, "D"),
}
ERROR_AXIS = r"absolute prediction error $|\delta|$ (prior SD)"


class Curve(NamedTuple):
    """A mean over people at each point, and how far its band or its bar reaches."""

    mean: np.ndarray
    reach: np.ndarray


class IndicatorAverages(NamedTuple):
    """What is drawn of an indicator; numbers of people at each point in `people` and `people_at_p`.

    signs           the averages at s = +1 and s = -1 over the errors, with standard errors
    differences     estimator -> s = +1 less s = -1, with the confidence interval of this level
    probabilities   estimator -> the averages over p, with standard errors; empty without a learner
    """

    indicator: str
    level: float
    errors: np.ndarray
    signs: tuple[Curve, Curve]
    differences: Mapping[str, Curve]
    people: np.ndarray
    p: np.ndarray
    probabilities: Mapping[str, Curve]
    people_at_p: np.ndarray


def draw_observed(observed: IndicatorAverages) -> Figure:
    """A: averages for both sign biases against |error|. B: their difference. C, with a learner: averages against p.

    Bands are the standard error over people; bars in B are the confidence interval. Small numbers: how many people have trials.
    """
    from matplotlib.figure import Figure

    both = bool(observed.probabilities)
    with style.apply():
        figure = Figure(figsize=OBSERVED_SIZE if both else OBSERVED_SIZE_1)
        figure.set_layout_engine("constrained", w_pad=0.12)
        axes = figure.subplots(1, 3 if both else 2)
        _draw_signs(axes[0], observed)
        _draw_difference(axes[1], observed)
        if both:
            _draw_probabilities(axes[2], observed)
        for axis in axes:
            axis.grid(True, color="0.92", linewidth=0.8)
            axis.set_axisbelow(True)
        figure.draw_without_rendering()  # texts are laid out in the fonts of this context
    return figure


def _draw_signs(axis: Axes, observed: IndicatorAverages) -> None:
    for curve, look in zip(observed.signs, OBSERVED_SIGNS, strict=True):
        _band(axis, observed.errors, curve, *look, alpha=0.2)
    _count_people(axis, observed.errors, observed.people)
    axis.set(xlabel=ERROR_AXIS, ylabel=f"average of {_plain(observed.indicator)}")
    _legend_below(axis, "sign bias")
    style.title(axis, "A", "Prediction 1")


def _draw_difference(axis: Axes, observed: IndicatorAverages) -> None:
    axis.axhline(0.0, color="0.4", linewidth=1.0)
    for shift, (name, curve) in zip((-0.008, 0.008), observed.differences.items(), strict=True):
        colour, line, mark = ESTIMATORS[name]
        axis.errorbar(
            observed.errors + shift,
            curve.mean,
            yerr=curve.reach,
            label=name,
            color=colour,
            linestyle=line,
            marker=mark,
            markersize=4.5,
            linewidth=1.4,
            elinewidth=1.0,
        )
    axis.set(xlabel=ERROR_AXIS, ylabel=r"$s=+1$ less $s=-1$")
    _legend_below(axis, f"difference, {100 * observed.level:g} % interval")
    style.title(axis, "B", r"S$_{\mathrm{Sh}}$: above 0   S$_{\mathrm{BF}}$: below 0")


def _draw_probabilities(axis: Axes, observed: IndicatorAverages) -> None:
    for name, curve in observed.probabilities.items():
        colour, line, mark = ESTIMATORS[name]
        _band(axis, observed.p, curve, colour, mark, name, line, alpha=0.2)
    _count_people(axis, observed.p, observed.people_at_p)
    axis.set(xlabel="probability density $p$ (per prior SD)", ylabel=f"average of {_plain(observed.indicator)}")
    _legend_below(axis, "estimator")
    style.title(axis, "C", r"Prediction 2: S$_{\mathrm{Sh}}$ falls, S$_{\mathrm{BF}}$ is level")


def _band(
    axis: Axes,
    x: np.ndarray,
    curve: Curve,
    colour: str,
    mark: str,
    text: str,
    line: Line = style.SOLID,
    alpha: float = 0.22,
) -> None:
    axis.plot(x, curve.mean, color=colour, marker=mark, markersize=4.5, linewidth=1.6, linestyle=line, label=text)
    axis.fill_between(x, curve.mean - curve.reach, curve.mean + curve.reach, color=colour, alpha=alpha, linewidth=0)


def _count_people(axis: Axes, x: np.ndarray, count: np.ndarray) -> None:
    """Along the bottom, in small grey numbers."""
    low, high = axis.get_ylim()
    step = x[1] - x[0]
    axis.set(ylim=(low - 0.08 * (high - low), high), xlim=(x[0] - step, x[-1] + step))
    for place, n in zip(x, count, strict=True):
        axis.text(place, 0.012, str(n), transform=axis.get_xaxis_transform(), ha="center", va="bottom", fontsize=7, color="0.45")


def _legend_below(axis: Axes, title: str) -> None:
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=1, title=title, fontsize=8.5, title_fontsize=8.5)


def _plain(text: str) -> str:
    return text.replace("$", r"\$")
