"""A trace in one picture: what was seen and believed, how surprising it was, how much was forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from volatilis._core.fields import given_fields
from volatilis.learners._base import Learner

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
    observations = trace.observations
    if observations.ndim == 1 and len(names) <= 2:
        axis.plot(t, observations, ".", color=OBSERVATION, markersize=3.5, alpha=0.55, label="observations $y_t$", zorder=1)
    shown = 1 if observations.ndim == 1 and len(names) == 2 else min(len(names), MAX_ELEMENTS)
    colours = (ESTIMATE,) if shown == 1 else ELEMENT_COLOURS
    truth = None if theta is None else np.asarray(theta, dtype=float).reshape(len(t), len(names))
    for k in range(shown):
        label = f"estimate of {_tex(names[k])}"
        axis.plot(t, mean[:, k], color=colours[k], linewidth=1.8, label=label, zorder=3)
        if spread is not None:
            low, high = mean[:, k] - 2.0 * spread[:, k], mean[:, k] + 2.0 * spread[:, k]
            band = "± 2 standard deviations" if k == 0 else None
            axis.fill_between(t, low, high, color=colours[k], alpha=0.22, linewidth=0, label=band, zorder=2)
        if truth is not None:
            colour = TRUTH if shown == 1 else colours[k]
            axis.step(
                t,
                truth[:, k],
                where="mid",
                color=colour,
                linewidth=1.3,
                linestyle="--",
                label="truth" if k == 0 else None,
                zorder=4,
            )
    axis.set_ylabel("observed and estimated" if shown == 1 else "estimated")
    axis.set_title(_title(trace.learner), loc="left", fontsize=11)
    axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=9)


def _draw_line(axis: Axes, t: np.ndarray, values: np.ndarray, colour: str, label: str) -> None:
    axis.plot(t, values, color=colour, linewidth=1.2, label=label)


def _title(learner: Learner) -> str:
    settings = ", ".join(
        f"{name} = {value:g}" for name, value in given_fields(learner).items() if isinstance(value, (int, float))
    )
    return f"{type(learner).__name__} ({settings}) on {type(learner.family).__name__} observations"


def _tex(name: str) -> str:
    return {"mu": r"$\mu$", "lambda": r"$\lambda$", "theta": r"$\theta$"}.get(name, name)
