"""How figures look: one look per learner, the same in every figure, and the parts that figures share.

A learner's colour, line, mark, label and place come from its record.

A learner with several hypotheses has one hue (pf blue, MP green, SOR orange, Merge crimson), darker with more hypotheses.
Line and mark tell learners apart without colour. The published variant of a learner is darker and dashed, and its mark is half
filled; the freely tuned one has a hollow mark.
"""

from __future__ import annotations

import contextlib
import functools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from volatilis.learners import records as learner_records
from volatilis.learners._base import Learner
from volatilis.learners._kinds import LearnerRecord, record_of

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EXACT = "Exact Bayes"
CHANGE, PRIOR, BELIEF, TRUTH = "#d7191c", "#000000", "#d7191c", "#1f6fb4"
POSITIVE, NEGATIVE = "#e08214", "#2b6cb0"
Line = str | tuple[int, tuple[float, ...]]  # as Matplotlib has it
SOLID: Line = "-"
DASHED: Line = (0, (4.0, 1.6))
SHORT_DASHED: Line = (0, (1.8, 1.2))
DOTTED: Line = (0, (1.0, 1.3))
DASH_DOTTED: Line = (0, (5.0, 1.4, 1.0, 1.4))

LINES = {"solid": SOLID, "dash-dotted": DASH_DOTTED}
DARKEST_AT = 20  # hypotheses; below it the logarithm of their number decides, squared to set 10 well apart from 20
UNKNOWN = ("#444444", SOLID, ".")
VARIANTS = ("", "published", "free")
NOISE_SYMBOLS = {"sigma": r"\sigma", "s": "s"}

FONT_SIZES = {
    "font.size": 10.0,
    "axes.titlesize": 11.0,
    "axes.labelsize": 10.5,
    "xtick.labelsize": 9.5,
    "ytick.labelsize": 9.5,
    "legend.fontsize": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "mathtext.default": "it",
}


class Look(NamedTuple):
    """How one learner is drawn."""

    label: str
    colour: str
    line: Line
    mark: str
    fill: str = "full"  # of the mark: full, none or top

    @property
    def marking(self) -> dict[str, Any]:
        """The mark as arguments of Matplotlib's lines."""
        face = "white" if self.fill == "none" else self.colour
        half = {} if self.fill != "top" else {"fillstyle": "top", "markerfacecoloralt": "white"}
        return {"marker": self.mark, "markerfacecolor": face, "markeredgecolor": self.colour, **half}


@contextlib.contextmanager
def apply() -> Iterator[None]:
    """Fonts and spines of the figures, for the duration of the context only (also a decorator)."""
    import matplotlib as mpl

    with mpl.rc_context(FONT_SIZES):
        yield


def look(learner: str) -> Look:
    """The look of a learner by its name in the datasets, such as "SOR20 (published)"."""
    base, variant = split_variant(learner)
    title, n = split_count(base)
    record = _records().get(title)
    colour, line, mark = UNKNOWN
    if record is not None and record.style is not None:
        colour, line, mark = record.style.colour, LINES[record.style.line], record.style.mark
        if n is not None and record.style.many is not None:
            colour = blend(colour, record.style.many, (math.log(n) / math.log(DARKEST_AT)) ** 2)
            line = DOTTED if n == 1 else SOLID
    if variant == "published":
        dashes = DASHED if n in (None, DARKEST_AT) else SHORT_DASHED
        return Look(label(learner), blend(colour, "#000000", 0.4), dashes, mark, "top")
    return Look(label(learner), colour, line, mark, "none" if variant == "free" else "full")


def name_of(learner: Learner) -> str:
    """A learner's name in the datasets, with the number of its hypotheses where that matters: pf20."""
    record = record_of(type(learner))
    counted = record.style is not None and record.style.many is not None
    return f"{record.title}{learner.most_hypotheses()}" if counted else record.title


def label(learner: str) -> str:
    """The name as the paper prints it: the Nassar rules without an asterisk are the originals."""
    base, variant = split_variant(learner)
    record = _records().get(base)
    name = f"{base} Original" if record is not None and record.original else base
    return f"{name} ({variant})" if variant else name


def ordered(learners: Iterable[str]) -> list[str]:
    """By family, then more hypotheses first, then the plain variant first. Unknown names come last."""
    return sorted(learners, key=_place)


def present(dataset: xr.Dataset, learners: Iterable[str] | None = None) -> list[str]:
    """The wanted learners that the dataset has, in the wanted order; without a wish all of them in the common order."""
    held = [str(name) for name in dataset.learner.values]
    return ordered(held) if learners is None else [name for name in learners if name in held]


def split_variant(learner: str) -> tuple[str, str]:
    """'SOR20 (published)' -> ('SOR20', 'published')."""
    base, _, variant = learner.partition(" (")
    return base, variant.rstrip(")")


def split_count(base: str) -> tuple[str, int | None]:
    """'pf20' -> ('pf', 20); names without a number of hypotheses stay whole."""
    match = re.fullmatch(r"([A-Za-z]+)(\d+)", base)
    record = _records().get(match[1]) if match else None
    if match is None or record is None or record.style is None or record.style.many is None:
        return base, None
    return match[1], int(match[2])


@functools.cache
def _records() -> dict[str, LearnerRecord]:
    """By title, in the order of legends."""
    return {record.title: record for record in learner_records()}


def blend(light: str, dark: str, share: float) -> str:
    """The colour at a share of the way from light to dark."""
    share = min(max(share, 0.0), 1.0)
    channels = [(int(light[i : i + 2], 16), int(dark[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(low + share * (high - low)):02x}" for low, high in channels)


def _place(learner: str) -> tuple[int, int, int, str]:
    base, variant = split_variant(learner)
    title, n = split_count(base)
    titles = list(_records())
    place = titles.index(title) if title in titles else len(titles)
    variant_place = VARIANTS.index(variant) if variant in VARIANTS else len(VARIANTS)
    return place, -(n or 0), variant_place, learner


# --- parts that figures share: means with standard errors, curves with bands, panel letters, the legend outside ---------------


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
    its_look = look(learner)
    is_exact = learner == EXACT
    axis.plot(
        x,
        mean,
        color=its_look.colour,
        linestyle=its_look.line,
        linewidth=2.2 if is_exact else 1.5,
        markersize=5.0,
        markeredgewidth=0.9,
        markevery=None if len(x) <= 12 else (0.12 * place, 0.12),
        label=its_look.label,
        zorder=5 if is_exact else 4 if its_look.fill == "top" else 3,  # what is dashed shows the line below where both coincide
        **({} if is_exact else its_look.marking),
    )
    if np.isfinite(error).any():
        axis.fill_between(x, mean - error, mean + error, color=its_look.colour, alpha=0.13, linewidth=0, zorder=2)


def draw_legend(figure: Figure, learners: Sequence[str], extra: Sequence[Artist] = ()) -> None:
    """One legend for all panels, at the right of them."""
    from matplotlib.lines import Line2D

    handles: list[Artist] = []
    for learner in learners:
        its_look = look(learner)
        is_exact = learner == EXACT
        handles.append(
            Line2D(
                [],
                [],
                color=its_look.colour,
                linestyle=its_look.line,
                linewidth=2.2 if is_exact else 1.5,
                markersize=5.5,
                label=its_look.label,
                **({} if is_exact else its_look.marking),
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
