"""Figures 8 and 9: the regret of learners that assume one probability of change while the true one is another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from volatilis.plots import _parts, style

SIZE = (11.0, 7.6)
LINEAR_SHARE = 0.03  # the part of a panel's largest regret below which its axis is linear


@style.apply()
def draw(dataset: Any, figure: Any, learners: Sequence[str] | None = None) -> None:
    """Four panels A to D: mean regret with its standard error against the true p_c; a red triangle at the assumed p_c."""
    from matplotlib.lines import Line2D

    figure.set_layout_engine("constrained")
    shown = style.present(dataset, learners)
    panels = dataset.sizes["panel"]
    axes = figure.subplots((panels + 1) // 2, 2, squeeze=False, sharex=True)
    for k, axis in enumerate(axes.flat[:panels]):
        _draw_panel(axis, dataset.isel(panel=k), shown)
        text = _parts.setting(dataset, float(dataset.noise[k]), float(dataset.assumed[k]), "p_c'")
        _parts.title(axis, _parts.panel_name(k), text)
    for axis in axes.flat[panels:]:
        axis.remove()
    for axis in axes[-1]:
        axis.set_xlabel("true $p_c$")
    for axis in axes[:, 0]:
        axis.set_ylabel("mean regret")
    triangle = Line2D([], [], color=style.CHANGE, marker="^", linestyle="none", markersize=9, label="assumed $p_c'$")
    _parts.draw_legend(figure, shown, extra=[triangle])


def _draw_panel(axis: Any, dataset: Any, learners: Sequence[str]) -> None:
    p_c = np.asarray(dataset.p_c.values, dtype=float)
    order = np.argsort(p_c)
    largest = 0.0
    for k, learner in enumerate(learners):
        mean, error = _parts.mean_and_error(dataset.regret.sel(learner=learner), "seed")
        if np.isfinite(mean).any():
            largest = max(largest, float(np.nanmax(mean)))
            _parts.draw_curve(axis, p_c[order], mean[order], error[order], learner, k / len(learners))
    axis.set_xscale("log")
    if largest > 0.0:
        axis.set_yscale("symlog", linthresh=LINEAR_SHARE * largest, linscale=0.8)
    axis.axhline(0.0, color="0.4", linewidth=0.8, zorder=0)
    axis.grid(True, color="0.92", linewidth=0.8)
    axis.set_axisbelow(True)
    axis.plot(
        float(dataset.assumed), 0.0, "^", color=style.CHANGE, markersize=10, transform=axis.get_xaxis_transform(), clip_on=False
    )
