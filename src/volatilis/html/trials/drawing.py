"""What the page's script draws with: the numbers, and a colour for each learner.

An array is {"type": "f4" or "f8", "data": base64 of little-endian floats}: single precision where that is within a millionth of
the array's range, double precision where it is not.
"""

from __future__ import annotations

import base64
import colorsys
from collections.abc import Sequence

import numpy as np

from volatilis.html import Json
from volatilis.html.trials.collecting import SURPRISES, Collector, GroupPicture, numbers_of
from volatilis.html.trials.summaries import CHANGE
from volatilis.learners._base import Learner
from volatilis.plots import style
from volatilis.trials.measures import MEASURES

PRECISION = 1e-6  # of an array's range
OTHERS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # Okabe and Ito: told apart by all
ALIKE = 70.0  # a distance in RGB below which two lines are hard to tell apart
ON_LIGHT = ("#ffffff", 2.5, 0.0)  # paper, contrast that a line needs, and where to look for it: towards black
ON_DARK = ("#1c2227", 4.5, 1.0)  # towards white


def drawn_numbers(collector: Collector) -> dict[str, Json]:
    """Everything the script needs, as JSON."""
    request = collector.engine.request
    measures = [name for name in SURPRISES if any(column.measure == name for column in collector.columns)]
    return {
        "by": list(collector.engine.inputs.by),
        "labels": collector.labels,
        "strips": [strip._asdict() for strip in collector.strips],
        "outcomes": list(collector.engine.inputs.outcome),
        "categories": list(request.categories),
        "categorical": collector.categorical,
        "predictions": list(collector.prediction),
        "computed": [[c.label, c.measure, c.element or 0] for c in collector.columns],
        "measures": [{"name": name, "title": title_of(name), "units": MEASURES[name].units} for name in measures],
        "change": CHANGE,
        "groups": [_group(picture, collector) for picture in collector.pictures.values()],
    }


def title_of(measure: str) -> str:
    """bayes_factor_surprise -> Bayes Factor surprise."""
    names = {"bayes": "Bayes", "factor": "Factor", "shannon": "Shannon", "bayesian": "Bayesian"}
    return " ".join(names.get(word, word) for word in measure.split("_"))


def encoded(values: np.ndarray) -> dict[str, str]:
    """An array in as few bytes as its precision allows."""
    with np.errstate(over="ignore"):
        single = values.astype("<f4")
        finite = np.isfinite(values)
        kept, meant = single[finite].astype(float), values[finite]
        size = (meant.max() - meant.min() or abs(meant[0])) if len(meant) else 0.0
        enough = bool(np.isfinite(kept).all() and (np.abs(kept - meant) <= PRECISION * size).all())
    data = single if enough else values.astype("<f8")
    return {"type": "f4" if enough else "f8", "data": base64.b64encode(data.tobytes()).decode()}


def _group(picture: GroupPicture, collector: Collector) -> dict[str, Json]:
    numbers = numbers_of(picture, collector)
    return {
        "key": list(picture.key),
        "rows": picture.rows,
        "missing": picture.missing,
        "resets": picture.resets().tolist(),
        "sums": {label: [t.changes, t.shannon, t.error] for label, t in picture.tallies.items()},
        "person": picture.person.error,
        "trial": _numbered(numbers.trial),
        "outcomes": [encoded(values) for values in numbers.outcomes],
        "predictions": [encoded(values) for values in numbers.predictions],
        "computed": [encoded(values) for values in numbers.computed],
    }


def _numbered(trials: np.ndarray) -> Json:
    """Trials that count up one by one are their first number and how many there are."""
    if (np.diff(trials) == 1.0).all():
        return {"first": float(trials[0]), "count": len(trials)}
    return encoded(trials)


# --- colours -----------------------------------------------------------------------------------------------------------------


def colours(learners: Sequence[Learner]) -> list[tuple[str, str]]:
    """For each learner its colour on white and on a dark page."""
    chosen: list[str] = []
    for learner in learners:
        wanted = style.look(style.name_of(learner)).colour
        if any(_distance(wanted, other) < ALIKE for other in chosen):
            wanted = max(OTHERS, key=lambda colour: min(_distance(colour, other) for other in chosen))
        chosen.append(wanted)
    return [(_readable(colour, *ON_LIGHT), _readable(colour, *ON_DARK)) for colour in chosen]


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
