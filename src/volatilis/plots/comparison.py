"""A comparison of models: how far each lies behind the best, person by person, and which is the most frequent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from volatilis.plots import style

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BEST, OTHER, FREQUENCY, EXCEEDANCE = "#000000", "#0072b2", "#9ecae1", "#d55e00"
LEAST = 0.1  # differences below this share the lightest colour
MOST_NAMES = 40  # of people beside the map
NAMES = {
    "log_likelihood": "log likelihood",
    "aic": "−AIC/2",
    "bic": "−BIC/2",
    "laplace": "Laplace evidence",
    "cross_validated": "cross-validated log likelihood",
}


def size(dataset: xr.Dataset) -> tuple[float, float]:
    """Width and height in inches."""
    return 13.0, round(2.6 + 0.42 * max(dataset.sizes["model"], 3), 2)


@style.apply()
def draw(dataset: xr.Dataset, figure: Figure) -> None:
    """A: summed difference to the best model with its 95 % interval. B: each person's difference to their own best model.
    C: expected frequency and protected exceedance probability."""
    figure.set_layout_engine("constrained", w_pad=0.08)
    ordered = dataset.isel(model=np.argsort(dataset.behind.values, kind="stable"))
    left, middle, right = figure.subplots(1, 3, gridspec_kw={"width_ratios": (1.0, 1.25, 1.0)})
    _draw_behind(left, ordered)
    _draw_people(figure, middle, ordered)
    _draw_frequencies(right, ordered)


def _draw_behind(axis: Axes, dataset: xr.Dataset) -> None:
    behind, places = dataset.behind.values, np.arange(dataset.sizes["model"])
    error = np.maximum([behind - dataset.low.values, dataset.high.values - behind], 0.0)
    axis.axvline(0.0, color="#999999", linewidth=0.8)
    axis.errorbar(behind[1:], places[1:], xerr=error[:, 1:], fmt="o", color=OTHER, capsize=3.0, markersize=5.5)
    axis.plot(behind[:1], places[:1], "*", color=BEST, markersize=11.0)
    for place, value, count in zip(places, np.maximum(behind, dataset.high.values), dataset.best_for.values, strict=True):
        axis.annotate(f"  best for {count}", (value, place), va="center", fontsize=8.5, color="#555555", annotation_clip=False)
    _name_models(axis, dataset)
    axis.set_xlim(right=axis.get_xlim()[1] + 0.28 * np.ptp(axis.get_xlim()))
    axis.set_xlabel(f"{NAMES[dataset.criterion]} behind the best,\nsummed over {dataset.sizes['person']} people")
    style.title(axis, "A", "Sums")


def _draw_people(figure: Figure, axis: Axes, dataset: xr.Dataset) -> None:
    from matplotlib.colors import LogNorm

    logs = dataset.evidence.values
    behind = logs.max(axis=1, keepdims=True) - logs
    order = np.lexsort((np.sort(behind, axis=1)[:, 1] if logs.shape[1] > 1 else behind[:, 0], logs.argmax(axis=1)))
    shown = np.maximum(behind[order].T, LEAST)
    image = axis.imshow(shown, aspect="auto", cmap="cividis_r", norm=LogNorm(LEAST, max(float(shown.max()), 10.0 * LEAST)))
    best = logs[order].argmax(axis=1)
    axis.plot(np.arange(len(order)), best, ".", color=BEST, markersize=4.0 if len(order) > 60 else 7.0)
    _name_models(axis, dataset)
    names = [str(dataset.person.values[i]) for i in order]
    if len(names) <= MOST_NAMES:
        axis.set_xticks(range(len(names)), names, rotation=90, fontsize=7.0)
    axis.set_xlabel("people, by their best model (dots)")
    axis.spines[:].set_visible(False)
    figure.colorbar(image, ax=axis, label="behind the person's own best", extend="min", pad=0.02)
    style.title(axis, "B", "Person by person")


def _draw_frequencies(axis: Axes, dataset: xr.Dataset) -> None:
    places = np.arange(dataset.sizes["model"])
    axis.barh(places - 0.2, dataset.frequency.values, 0.36, color=FREQUENCY, label="expected frequency")
    axis.barh(places + 0.2, dataset.protected.values, 0.36, color=EXCEEDANCE, hatch="//", edgecolor="white", label="protected")
    axis.plot(dataset.exceedance.values, places + 0.2, "D", color=BEST, markersize=4.5, label="exceedance")
    axis.axvline(1.0 / len(places), color="#999999", linewidth=0.8, linestyle=style.DOTTED)
    _name_models(axis, dataset)
    axis.set_xlim(0.0, 1.04)
    axis.set_xlabel(f"probability (omnibus risk {dataset.omnibus_risk:.2g})")
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22), ncol=3, fontsize=8.5, columnspacing=1.0, handlelength=1.4)
    style.title(axis, "C", "Most frequent model")


def _name_models(axis: Axes, dataset: xr.Dataset) -> None:
    axis.set_yticks(range(dataset.sizes["model"]), [str(name) for name in dataset.model.values])
    axis.set_ylim(dataset.sizes["model"] - 0.5, -0.5)
