"""Figures 4 and 7: the excess error over Exact Bayes of every learner, all cells of the grid together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from volatilis.plots import _parts, style

SIZE = (11.0, 8.0)

LEARNERS = (
    "pf20",
    "pf10",
    "pf1",
    "MP20",
    "MP10",
    "MP1",
    "Merge20",
    "Merge1",
    "SOR20",
    "SOR20 (published)",
    "SOR10",
    "SOR10 (published)",
    "SOR1",
    "VarSMiLe",
    "VarSMiLe (free)",
    "Nas12*",
    "Nas12* (free)",
    "Nas10*",
    "Nas10* (free)",
    "SMiLe",
    "SMiLe (free)",
    "Leaky",
    "Leaky (free)",
)
Excess = dict[str, tuple[np.ndarray, np.ndarray]]

JITTER = 0.32
LINEAR_BELOW = 1e-5
END = 1.12  # an axis without a break ends at this many times the largest value
REACH = 2.0  # the axis breaks between the largest value within bounds and this many times it
BEYOND = 1.5  # a learner is out of bounds where its worst cell is beyond this many times the median learner's worst cell


@style.apply()
def draw(dataset: Any, figure: Any, learners: Sequence[str] = LEARNERS) -> None:
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
    _parts.title(linear if above is None else above, "A")
    _parts.title(logarithmic, "B", "the same on a logarithmic axis")


def _excess(dataset: Any, learner: str) -> tuple[np.ndarray, np.ndarray]:
    excess = dataset.error.sel(learner=learner) - dataset.error.sel(learner=style.EXACT)
    mean, error = _parts.mean_and_error(excess.transpose("noise", "p_c", "seed"), "seed")
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


def _break(above: Any, linear: Any, gap: float, top: float) -> None:
    """Two linear axes, one above the other, with the marks of a broken axis."""
    linear.set_ylim(-0.05 * gap, gap)
    above.set_ylim(gap - 0.1 * (top - gap), top + 0.12 * (top - gap))
    above.set_yticks([tick for tick in above.get_yticks() if gap <= tick <= above.get_ylim()[1]])
    above.spines["bottom"].set_visible(False)
    above.tick_params(axis="x", length=0)
    marks = {"marker": [(-1, -0.6), (1, 0.6)], "markersize": 9, "linestyle": "none", "color": "black", "clip_on": False}
    above.plot([0], [0], transform=above.transAxes, **marks)
    linear.plot([0], [1], transform=linear.transAxes, **marks)


def _draw_all(axis: Any, excess: Excess, lowest: float = -np.inf, highest: float = np.inf) -> None:
    """The values from lowest to highest of all learners."""
    for place, (learner, (mean, error)) in enumerate(excess.items()):
        with np.errstate(invalid="ignore"):
            inside = np.where((mean > lowest) & (mean <= highest), mean, np.nan)
        _draw_learner(axis, place, learner, inside, error)
    axis.grid(True, axis="y", color="0.92", linewidth=0.8)
    axis.set_axisbelow(True)
    if lowest < 0.0:
        axis.axhline(0.0, color="0.4", linewidth=0.8, zorder=0)


def _draw_learner(axis: Any, place: int, learner: str, mean: np.ndarray, error: np.ndarray) -> None:
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


def _finish(linear: Any, logarithmic: Any, learners: Sequence[str]) -> None:
    for axis in (linear, logarithmic):
        axis.set_ylabel(r"$\Delta\mathrm{MSE}\,[\hat{\Theta}_t]$")
    labels = [style.label(learner) for learner in learners]
    logarithmic.set_xticks(range(len(learners)), labels, rotation=40, ha="right", rotation_mode="anchor")
    logarithmic.set_xlim(-0.6, len(learners) - 0.4)
