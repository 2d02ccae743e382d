"""One look per learner: its colour, line, mark, label and place, the same in every figure. They come from the learner's record.

A learner with several hypotheses has one hue (pf blue, MP green, SOR orange, Merge crimson), darker with more hypotheses.
Line and mark tell learners apart without colour. The published variant of a learner is darker and dashed, and its mark is half
filled; the freely tuned one has a hollow mark.
"""

from __future__ import annotations

import contextlib
import functools
import math
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from volatilis.learners import records as learner_records
from volatilis.learners._base import Learner
from volatilis.learners._kinds import LearnerRecord, record_of

if TYPE_CHECKING:
    import xarray as xr

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
