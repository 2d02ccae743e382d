"""A trace in one picture: what was seen and believed, how surprising it was, how much was forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from volatilis._core.fields import given_fields
from volatilis.learners._base import Learner

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.projections.polar import PolarAxes

OBSERVATION, ESTIMATE, TRUTH, SURPRISE, RATE = "#4d4d4d", "#0072b2", "#d55e00", "#cc79a7", "#009e73"
ELEMENT_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c6bb1", "#999933")
MAX_ELEMENTS = 8


class Drawable(Protocol):
    """What of a trace is drawn."""

    def __len__(self) -> int: ...
    @property
    def learner(self) -> Learner: ...
    @property
    def readouts(self) -> tuple[str, ...]: ...
    @property
    def observations(self) -> np.ndarray: ...
    @property
    def mean(self) -> np.ndarray: ...
    @property
    def variance(self) -> np.ndarray: ...
    @property
    def log_bayes_factor_surprise(self) -> np.ndarray: ...
    @property
    def adaptation_rate(self) -> np.ndarray: ...


def draw_trace(
    trace: Drawable, axes: Axes | Sequence[Axes] | np.ndarray | None = None, theta: npt.ArrayLike | None = None
) -> Figure:
    """Three panels over time; a learner without a belief has only the first. Returns the figure.

    theta: the true parameter, if it is known, one per observation.
    """
    has_surprise = "adaptation_rate" in trace.readouts
    panels = 3 if has_surprise else 1
    if axes is None:
        import matplotlib.pyplot as plt

        heights = [2.6, 1.0, 1.0][:panels]
        _, axes = plt.subplots(
            panels, 1, figsize=(10, 1.2 + 1.5 * sum(heights) / 1.3), sharex=True, height_ratios=heights, layout="constrained"
        )
    axes = np.atleast_1d(np.asarray(axes))
    if len(axes) != panels:
        raise ValueError(f"plot: {len(axes)} axes were given; this learner's picture has {panels}")
    t = np.arange(len(trace))
    _draw_estimate(axes[0], t, trace, theta)
    if has_surprise:
        _draw_line(axes[1], t, trace.log_bayes_factor_surprise, SURPRISE, r"$\log\,\mathbf{S}_{\mathrm{BF}}$")
        axes[1].axhline(0.0, color="0.7", linewidth=0.8, zorder=0)
        _draw_line(axes[2], t, trace.adaptation_rate, RATE, r"$\gamma$")
        axes[2].fill_between(t, 0.0, np.nan_to_num(trace.adaptation_rate), color=RATE, alpha=0.25, linewidth=0)
        axes[2].set_ylim(-0.03, 1.03)
        axes[1].set_ylabel("Bayes Factor\nsurprise (log)")
        axes[2].set_ylabel("adaptation\nrate $\\gamma$")
    axes[-1].set_xlabel("observation $t$")
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
        axis.margins(x=0.01)
    return axes[0].figure


def _draw_estimate(axis: Axes, t: np.ndarray, trace: Drawable, theta: npt.ArrayLike | None) -> None:
    family = trace.learner.family
    names = family.parameter_names()
    mean = np.asarray(trace.mean).reshape(len(t), len(names))
    spread = np.sqrt(np.asarray(trace.variance).reshape(len(t), len(names))) if "variance" in trace.readouts else None
    observations, around = trace.observations, family.circumference()
    if around < np.inf:
        observations = np.mod(observations, around)
    if observations.ndim == 1 and len(names) <= 2:
        axis.plot(t, observations, ".", color=OBSERVATION, markersize=3.5, alpha=0.55, label="observations $y_t$", zorder=1)
    shown = 1 if observations.ndim == 1 and len(names) == 2 else min(len(names), MAX_ELEMENTS)
    colours = (ESTIMATE,) if shown == 1 else ELEMENT_COLOURS
    truth = None if theta is None else np.asarray(theta, dtype=float).reshape(len(t), len(names))
    for k in range(shown):
        label = f"estimate of {_tex(names[k])}"
        at, centre, wide = laps(t, mean[:, k], np.zeros(len(t)) if spread is None else 2.0 * spread[:, k], around)
        axis.plot(at, centre, color=colours[k], linewidth=1.8, label=label, zorder=3)
        if spread is not None:
            band = "± 2 standard deviations" if k == 0 else None
            axis.fill_between(at, centre - wide, centre + wide, color=colours[k], alpha=0.22, linewidth=0, label=band, zorder=2)
        if truth is not None:
            colour, words = TRUTH if shown == 1 else colours[k], "truth" if k == 0 else None
            steps = laps(np.repeat(t, 2) + np.tile([-0.5, 0.5], len(t)), np.repeat(truth[:, k], 2), np.zeros(2 * len(t)), around)
            axis.plot(*steps[:2], color=colour, linewidth=1.3, linestyle="--", label=words, zorder=4)
    if around < np.inf:
        draw_circle_axis(axis, around)
    axis.set_ylabel("observed and estimated" if shown == 1 else "estimated")
    axis.set_title(_title(trace.learner), loc="left", fontsize=11)
    axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=9)


def laps(t: np.ndarray, centre: np.ndarray, wide: np.ndarray, around: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A line with its band as it lies on an axis that is a circle, `around` long; as it is where the axis is a line.

    From one point to the next it goes the short way round, so it leaves the axis at one end and comes in at the other: once for
    each lap, as far as the lap is near the axis. What lies beyond the axis is clipped.
    """
    if not around < np.inf:
        return t, centre, wide
    known = np.flatnonzero(np.isfinite(centre))
    whole = np.full(len(centre), np.nan)
    whole[known] = np.unwrap(centre[known], period=around)
    low, high = (int(np.floor(end / around)) for end in ((np.nanmin(whole), np.nanmax(whole)) if known.size else (0.0, 0.0)))
    pieces = []
    for lap in range(low - 1, high + 2):
        value = whole - lap * around
        near = np.flatnonzero((value >= -around) & (value <= 2.0 * around))
        parts = np.split(near, np.flatnonzero(np.diff(near) > 1) + 1)
        for part in (part for part in parts if part.size):
            pieces += [np.stack([t[part], value[part], wide[part]]), np.full((3, 1), np.nan)]
    joined = np.concatenate(pieces, axis=1) if pieces else np.empty((3, 0))
    return joined[0], joined[1], joined[2]


def draw_circle_axis(axis: Axes, around: float) -> None:
    """Once around, from 0 to 0, with marks at the quarters."""
    axis.set_ylim(0.0, around)
    quarters = np.linspace(0.0, around, 5)
    radians = abs(around - 2.0 * np.pi) < 1e-12
    axis.set_yticks(quarters, ["0", "π/2", "π", "3π/2", "2π"] if radians else [f"{mark:g}" for mark in quarters])


def draw_on_circle(
    trace: Drawable, axes: PolarAxes | None = None, theta: npt.ArrayLike | None = None, responses: npt.ArrayLike | None = None
) -> Figure:
    """A trace of places on a circle, from the centre out: the angle is the place, the radius the time. Returns the figure.

    theta       the true places, if they are known, one per observation
    responses   a person's predictions, one per observation; NaN where there is none
    """
    around = trace.learner.family.circumference()
    if not around < np.inf:
        raise ValueError(
            f"plot_circle is for places on a circle, such as VonMises; {type(trace.learner.family).__name__} is none"
        )
    if axes is None:
        import matplotlib.pyplot as plt

        axes = plt.figure(figsize=(7.6, 6.0), layout="constrained").add_subplot(projection="polar")
    t, turn = np.arange(1, len(trace) + 1), 2.0 * np.pi / around
    axes.plot(turn * trace.observations, t, ".", color=OBSERVATION, markersize=4.5, alpha=0.6, label="observations $y_t$")
    _spiral(axes, t, trace.mean, around, color=ESTIMATE, linewidth=1.8, label="estimate of $\\mu$", zorder=3)
    if theta is not None:
        _spiral(
            axes, t, np.asarray(theta, dtype=float), around, color=TRUTH, linewidth=1.3, linestyle="--", label="truth", zorder=4
        )
    if responses is not None:
        axes.plot(turn * np.asarray(responses, dtype=float), t, "x", color=RATE, markersize=4.5, label="responses")
    quarters = np.arange(8) / 8.0
    axes.set_xticks(2.0 * np.pi * quarters, [f"{around * share:.4g}" for share in quarters])
    axes.set_rlim(0.0, len(trace) + 1)
    axes.set_rlabel_position(22.5)
    axes.set_title(f"{_title(trace.learner)}, $t$ from the centre out", fontsize=10)
    axes.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0), frameon=False, fontsize=9)
    return cast("Figure", axes.get_figure(root=True))


def _spiral(axes: PolarAxes, t: np.ndarray, values: np.ndarray, around: float, **look: Any) -> None:
    """From one place to the next the short way round, in steps that are small enough to look like an arc."""
    known = np.flatnonzero(np.isfinite(values))
    whole, fine = (
        np.unwrap(values[known], period=around),
        np.linspace(0.0, max(known.size - 1, 0), 12 * max(known.size - 1, 0) + 1),
    )
    at = np.arange(known.size)
    axes.plot(2.0 * np.pi / around * np.interp(fine, at, whole), np.interp(fine, at, t[known]), **look)


def _draw_line(axis: Axes, t: np.ndarray, values: np.ndarray, colour: str, label: str) -> None:
    axis.plot(t, values, color=colour, linewidth=1.2, label=label)


def _title(learner: Learner) -> str:
    settings = ", ".join(
        f"{name} = {value:g}" for name, value in given_fields(learner).items() if isinstance(value, (int, float))
    )
    return f"{type(learner).__name__} ({settings}) on {type(learner.family).__name__} observations"


def _tex(name: str) -> str:
    return {"mu": r"$\mu$", "lambda": r"$\lambda$", "theta": r"$\theta$"}.get(name, name)
