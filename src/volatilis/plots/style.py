"""One look per learner: its colour, line, mark, label and place, the same in every figure.

A family of learners has one hue (pf blue, MP green, SOR orange, Merge crimson), darker with more hypotheses. Line and mark tell
the families apart without colour. The published variant of a learner is darker and dashed, its mark half filled; the freely tuned
one has a hollow mark.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

EXACT = "Exact Bayes"
CHANGE, PRIOR, BELIEF, TRUTH = "#d7191c", "#000000", "#d7191c", "#1f6fb4"
POSITIVE, NEGATIVE = "#e08214", "#2b6cb0"
SOLID, DASHED, DOTTED, DASH_DOTTED = "-", (0, (4.0, 1.6)), (0, (1.0, 1.3)), (0, (5.0, 1.4, 1.0, 1.4))
SHORT_DASHED = (0, (1.8, 1.2))

# family -> (colour of one hypothesis, colour of twenty, mark); between them the log of the number decides, squared to set 10
# well apart from 20
FAMILIES = {
    "pf": ("#86c5f7", "#06397a", "o"),
    "MP": ("#86deac", "#00785a", "s"),
    "Merge": ("#ff9ecb", "#6e0029", "D"),
    "SOR": ("#ffc078", "#ee5a00", "^"),
}
DARKEST_AT = 20

# learner with one hypothesis -> (colour, line, mark)
SINGLES: dict[str, tuple[str, Any, str]] = {
    EXACT: ("#000000", SOLID, "*"),
    "VarSMiLe": ("#a038c8", SOLID, "v"),
    "Nas12*": ("#776600", SOLID, "<"),
    "Nas10*": ("#e0c030", SOLID, ">"),
    "SMiLe": ("#b58be0", DASH_DOTTED, "P"),
    "Leaky": ("#8a8a8a", SOLID, "X"),
    "Nas12": ("#6f3516", DASH_DOTTED, "p"),
    "Nas10": ("#c48a68", DASH_DOTTED, "h"),
}
UNKNOWN = ("#444444", SOLID, ".")
ORDER = (EXACT, "pf", "MP", "Merge", "SOR", "VarSMiLe", "Nas12*", "Nas10*", "SMiLe", "Leaky", "Nas12", "Nas10")
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
    line: Any
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
    family, n = split_count(base)
    if n is None:
        colour, line, mark = SINGLES.get(base, UNKNOWN)
    else:
        light, dark, mark = FAMILIES[family]
        colour = blend(light, dark, (math.log(n) / math.log(DARKEST_AT)) ** 2)
        line = DOTTED if n == 1 else SOLID
    if variant == "published":
        dashes = DASHED if n in (None, DARKEST_AT) else SHORT_DASHED
        return Look(label(learner), blend(colour, "#000000", 0.4), dashes, mark, "top")
    return Look(label(learner), colour, line, mark, "none" if variant == "free" else "full")


def label(learner: str) -> str:
    """The name as the paper prints it: the Nassar rules without an asterisk are the originals."""
    base, variant = split_variant(learner)
    name = f"{base} Original" if base in ("Nas10", "Nas12") else base
    return f"{name} ({variant})" if variant else name


def ordered(learners: Iterable[str]) -> list[str]:
    """By family, then more hypotheses first, then the plain variant first. Unknown names come last."""
    return sorted(learners, key=_place)


def present(dataset: Any, learners: Iterable[str] | None = None) -> list[str]:
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
    if match is None or match[1] not in FAMILIES:
        return base, None
    return match[1], int(match[2])


def blend(light: str, dark: str, share: float) -> str:
    """The colour at a share of the way from light to dark."""
    share = min(max(share, 0.0), 1.0)
    channels = [(int(light[i : i + 2], 16), int(dark[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(low + share * (high - low)):02x}" for low, high in channels)


def _place(learner: str) -> tuple[int, int, int, str]:
    base, variant = split_variant(learner)
    family, n = split_count(base)
    family_place = ORDER.index(family) if family in ORDER else len(ORDER)
    variant_place = VARIANTS.index(variant) if variant in VARIANTS else len(VARIANTS)
    return family_place, -(n or 0), variant_place, learner
