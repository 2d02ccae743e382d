"""Figures 10B and 11B for measured data: an indicator's averages in the windows of the two predictions."""

from __future__ import annotations

from typing import Any

import numpy as np

from volatilis.plots import _parts, style

SIZE_WITH, SIZE_WITHOUT = (12.6, 4.4), (8.6, 4.4)
SIGNS = ((0, style.POSITIVE, "o", "$s = +1$, outcome further out"), (1, style.NEGATIVE, "s", "$s = -1$, outcome further in"))
PAPER_COLOUR, ADJUSTED_COLOUR = "0.55", "#111111"
ESTIMATORS = (("paper", PAPER_COLOUR, style.DASHED, "o"), ("adjusted", ADJUSTED_COLOUR, style.SOLID, "D"))


def draw(analysis: Any, indicator: str) -> Any:
    """A: averages for both sign biases against |error|. B: their difference. C, with a learner: averages against p.

    Bands are the standard error over people; bars in B are the confidence interval. Small numbers: how many people have trials.
    Returns the figure.
    """
    from matplotlib.figure import Figure

    with style.apply():
        figure = Figure(figsize=SIZE_WITH if analysis.second else SIZE_WITHOUT)
        figure.set_layout_engine("constrained", w_pad=0.12)
        axes = figure.subplots(1, 3 if analysis.second else 2)
        _draw_signs(axes[0], analysis, indicator)
        _draw_difference(axes[1], analysis)
        if analysis.second:
            _draw_probabilities(axes[2], analysis, indicator)
        for axis in axes:
            axis.grid(True, color="0.92", linewidth=0.8)
            axis.set_axisbelow(True)
        figure.draw_without_rendering()  # texts are laid out in the fonts of this context
    return figure


def _draw_signs(axis: Any, analysis: Any, indicator: str) -> None:
    x, means = np.array(analysis.first_window.errors), analysis.first["paper"].means
    for row, colour, mark, text in SIGNS:
        _band(axis, x, means[:, row], colour, mark, text)
    _count_people(axis, x, np.sum(~np.isnan(means).any(axis=1), axis=0))
    axis.set(xlabel=r"absolute prediction error $|\delta|$ (prior SD)", ylabel=f"average of {_plain(indicator)}")
    _legend_below(axis, "sign bias")
    _parts.title(axis, "A", "Prediction 1")


def _draw_difference(axis: Any, analysis: Any) -> None:
    from scipy import stats

    x = np.array(analysis.first_window.errors)
    axis.axhline(0.0, color="0.4", linewidth=1.0)
    for shift, (name, colour, line, mark) in zip((-0.008, 0.008), ESTIMATORS, strict=True):
        means = analysis.first[name].means
        mean, error, count = _over_people(means[:, 0] - means[:, 1])
        reach = error * stats.t.ppf(0.5 + 0.5 * analysis.level, np.maximum(count - 1, 1))
        look = {"color": colour, "linestyle": line, "marker": mark, "markersize": 4.5, "linewidth": 1.4, "elinewidth": 1.0}
        axis.errorbar(x + shift, mean, yerr=np.where(count > 1, reach, 0.0), label=name, **look)
    axis.set(xlabel=r"absolute prediction error $|\delta|$ (prior SD)", ylabel=r"$s=+1$ less $s=-1$")
    _legend_below(axis, f"difference, {100 * analysis.level:g} % interval")
    _parts.title(axis, "B", r"S$_{\mathrm{Sh}}$: above 0   S$_{\mathrm{BF}}$: below 0")


def _draw_probabilities(axis: Any, analysis: Any, indicator: str) -> None:
    x = np.array(analysis.second_window.p)
    for name, colour, line, mark in ESTIMATORS:
        _band(axis, x, analysis.second[name].means, colour, mark, name, line)
    _count_people(axis, x, np.sum(~np.isnan(analysis.second["paper"].means), axis=0))
    axis.set(xlabel="probability density $p$ (per prior SD)", ylabel=f"average of {_plain(indicator)}")
    _legend_below(axis, "estimator")
    _parts.title(axis, "C", r"Prediction 2: S$_{\mathrm{Sh}}$ falls, S$_{\mathrm{BF}}$ is level")


def _band(axis: Any, x: np.ndarray, values: np.ndarray, colour: str, mark: str, text: str, line: Any = style.SOLID) -> None:
    mean, error, _ = _over_people(values)
    axis.plot(x, mean, color=colour, marker=mark, markersize=4.5, linewidth=1.6, linestyle=line, label=text)
    axis.fill_between(x, mean - error, mean + error, color=colour, alpha=0.2, linewidth=0)


def _over_people(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, standard error and number of people, NaN aside."""
    there = ~np.isnan(values)
    count = there.sum(axis=0)
    mean = np.divide(np.where(there, values, 0.0).sum(axis=0), count, out=np.full(count.shape, np.nan), where=count > 0)
    squares = np.where(there, values - mean, 0.0) ** 2
    error = np.sqrt(np.divide(squares.sum(axis=0), count * (count - 1.0), out=np.full(count.shape, np.nan), where=count > 1))
    return mean, error, count


def _count_people(axis: Any, x: np.ndarray, count: np.ndarray) -> None:
    """Along the bottom, in small grey numbers."""
    low, high = axis.get_ylim()
    step = x[1] - x[0]
    axis.set(ylim=(low - 0.08 * (high - low), high), xlim=(x[0] - step, x[-1] + step))
    for place, n in zip(x, count, strict=True):
        axis.text(place, 0.012, str(n), transform=axis.get_xaxis_transform(), ha="center", va="bottom", fontsize=7, color="0.45")


def _legend_below(axis: Any, title: str) -> None:
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=1, title=title, fontsize=8.5, title_fontsize=8.5)


def _plain(text: str) -> str:
    return text.replace("$", r"\$")
