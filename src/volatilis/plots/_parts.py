"""The parts the paper's figures share: means with standard errors, curves with bands, panel letters, the legend outside."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from volatilis.plots import style

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NOISE_SYMBOLS = {"sigma": r"\sigma", "s": "s"}


def mean_and_error(values: xr.DataArray, dim: str) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard error along a dimension. NaN is left out; the error of fewer than two values is NaN."""
    table = np.moveaxis(np.asarray(values.values, dtype=float), values.get_axis_num(dim), -1)
    given = np.isfinite(table)
    count = given.sum(axis=-1)
    mean = _ratio(np.where(given, table, 0.0).sum(axis=-1), count)
    squares = np.where(given, (table - mean[..., np.newaxis]) ** 2, 0.0).sum(axis=-1)
    return mean, np.sqrt(_ratio(squares, (count - 1) * count))


def _ratio(total: np.ndarray, count: np.ndarray) -> np.ndarray:
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def draw_curve(axis: Axes, x: np.ndarray, mean: np.ndarray, error: np.ndarray, learner: str, place: float = 0.0) -> None:
    """A learner's line with marks and its band of one standard error; `place` in [0, 1) sets the marks of the learners apart."""
    look = style.look(learner)
    is_exact = learner == style.EXACT
    axis.plot(
        x,
        mean,
        color=look.colour,
        linestyle=look.line,
        linewidth=2.2 if is_exact else 1.5,
        markersize=5.0,
        markeredgewidth=0.9,
        markevery=None if len(x) <= 12 else (0.12 * place, 0.12),
        label=look.label,
        zorder=5 if is_exact else 4 if look.fill == "top" else 3,  # what is dashed shows the line below where both coincide
        **({} if is_exact else look.marking),
    )
    if np.isfinite(error).any():
        axis.fill_between(x, mean - error, mean + error, color=look.colour, alpha=0.13, linewidth=0, zorder=2)


def draw_legend(figure: Figure, learners: Sequence[str], extra: Sequence[Artist] = ()) -> None:
    """One legend for all panels, at the right of them."""
    from matplotlib.lines import Line2D

    handles: list[Artist] = []
    for learner in learners:
        look = style.look(learner)
        is_exact = learner == style.EXACT
        handles.append(
            Line2D(
                [],
                [],
                color=look.colour,
                linestyle=look.line,
                linewidth=2.2 if is_exact else 1.5,
                markersize=5.5,
                label=look.label,
                **({} if is_exact else look.marking),
            )
        )
    handles += extra
    if handles:
        figure.legend(handles=handles, loc="outside right center", handlelength=2.6)


def letter(panel: str, text: str = "") -> str:
    """A panel's bold letter and its title."""
    return rf"$\mathbf{{{panel}}}$" + (f"   {text}" if text else "")


def panel_name(k: int) -> str:
    """A, B, ... Z, then AA, AB ..."""
    name = chr(ord("A") + k % 26)
    return name if k < 26 else panel_name(k // 26 - 1) + name


def title(axis: Axes, panel: str, text: str = "") -> None:
    """Writes a panel's letter and title above its left end."""
    axis.set_title(letter(panel, text), loc="left")


def noise_symbol(dataset: xr.Dataset) -> str:
    """The symbol of the task's noise: sigma in the Gaussian task, s in the categorical one."""
    return NOISE_SYMBOLS[str(dataset.attrs.get("noise_name", "sigma"))]


def setting(dataset: xr.Dataset, noise: float, p_c: float, p_c_symbol: str = "p_c") -> str:
    """The task's two parameters in one line."""
    return rf"${noise_symbol(dataset)} = {noise:g}$,  ${p_c_symbol} = {p_c:g}$"


def positive(values: np.ndarray) -> np.ndarray:
    """The values a logarithmic axis can show; the others are NaN."""
    with np.errstate(invalid="ignore"):
        return np.where(values > 0.0, values, np.nan)


def span(values: np.ndarray, factor: float = 1.4) -> tuple[float, float] | None:
    """Limits of a logarithmic axis around the positive values, if there are any."""
    shown = values[np.isfinite(values) & (values > 0.0)]
    if shown.size == 0:
        return None
    return float(shown.min()) / factor, float(shown.max()) * factor


def grid(panels: int, most_columns: int) -> tuple[int, int]:
    """Rows and columns for a number of panels: the fewest rows, then the fewest columns."""
    rows = math.ceil(panels / most_columns)
    return rows, math.ceil(panels / rows)
