"""The colours of learners: those of the figures, and variants of them for dark pages and for learners that would look alike."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from typing import Any

from volatilis.catalogue import Recipe
from volatilis.plots import style

NAMES = {  # in the figures
    "exact-bayes": style.EXACT,
    "varsmile": "VarSMiLe",
    "smile": "SMiLe",
    "leaky": "Leaky",
    "nas10-star": "Nas10*",
    "nas12-star": "Nas12*",
    "nas10": "Nas10",
    "nas12": "Nas12",
    "merge": "Merge",
    "message-passing": "MP",
    "particle-filter": "pf",
    "stratified-resampling": "SOR",
}
OTHERS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # Okabe and Ito: told apart by all
ALIKE = 70.0  # a distance in RGB below which two lines are hard to tell apart
ON_LIGHT = ("#ffffff", 2.5, 0.0)  # paper, contrast that a line needs, and where to look for it: towards black
ON_DARK = ("#1c2227", 4.5, 1.0)  # towards white


def colours(recipes: Sequence[Recipe], learners: Sequence[Any]) -> list[tuple[str, str]]:
    """For each learner its colour on white and on a dark page."""
    found: list[str] = []
    for recipe, learner in zip(recipes, learners, strict=True):
        n = getattr(learner, "n", None)
        own = style.look(NAMES[recipe.name] + ("" if n is None else str(n))).colour
        if any(_distance(own, other) < ALIKE for other in found):
            own = max(OTHERS, key=lambda colour: min(_distance(colour, other) for other in found))
        found.append(own)
    return [(_readable(colour, *ON_LIGHT), _readable(colour, *ON_DARK)) for colour in found]


def _readable(colour: str, paper: str, contrast: float, limit: float) -> str:
    """The same hue, as much lighter or darker as it takes to be seen on the paper."""
    hue, lightness, saturation = colorsys.rgb_to_hls(*(v / 255 for v in _channels(colour)))
    steps = (lightness + (limit - lightness) * step / 40 for step in range(41))
    nearer = ("#" + "".join(f"{round(255 * v):02x}" for v in colorsys.hls_to_rgb(hue, step, saturation)) for step in steps)
    return next(c for c in nearer if _contrast(c, paper) >= contrast)


def _channels(colour: str) -> list[int]:
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def _distance(one: str, other: str) -> float:
    return float(sum((a - b) ** 2 for a, b in zip(_channels(one), _channels(other), strict=True)) ** 0.5)


def _contrast(one: str, other: str) -> float:
    """As WCAG has it: from 1, the same, to 21, black and white."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    """The share of white's light."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in _channels(colour))]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
