"""The numbers of a report as JSON for the page: data only, never code, and safe wherever it stands in HTML.

An array is {"type": "f4" or "f8", "data": base64 of little-endian floats}: single precision where that is within a millionth of
the array's range, double precision where it is not.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np

from volatilis.html.trials.collecting import SURPRISES, Collector, GroupPicture, frame_of
from volatilis.html.trials.summaries import CHANGE
from volatilis.trials.measures import MEASURES

PRECISION = 1e-6  # of an array's range


def embedded(collector: Collector) -> str:
    """The content of the page's data."""
    order = collector.engine.order
    measures = [name for name in SURPRISES if any(column.measure == name for column in collector.columns)]
    content = {
        "by": list(collector.engine.inputs.by),
        "labels": collector.labels,
        "strips": [strip._asdict() for strip in collector.strips],
        "outcomes": list(collector.engine.inputs.outcome),
        "categories": list(order.categories),
        "categorical": collector.categorical,
        "predictions": list(collector.prediction),
        "computed": [[c.label, c.measure, c.element or 0] for c in collector.columns],
        "measures": [{"name": name, "title": title_of(name), "units": MEASURES[name].units} for name in measures],
        "change": CHANGE,
        "groups": [_group(picture, collector) for picture in collector.pictures.values()],
    }
    return safe_json(content)


def safe_json(content: Any) -> str:
    """JSON in which nothing can end the element that holds it, or begin another."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False, ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


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


def _group(picture: GroupPicture, collector: Collector) -> dict[str, Any]:
    frame = frame_of(picture, collector)
    return {
        "key": list(picture.key),
        "rows": picture.rows,
        "missing": picture.missing,
        "resets": picture.resets().tolist(),
        "sums": {label: [t.changes, t.shannon, t.error] for label, t in picture.tallies.items()},
        "person": picture.person.error,
        "trial": _numbered(frame["trial"]),
        **{name: [encoded(values) for values in frame[name]] for name in ("outcomes", "predictions", "computed")},
    }


def _numbered(trials: np.ndarray) -> dict[str, Any]:
    """Trials that count up one by one are their first number and how many there are."""
    if (np.diff(trials) == 1.0).all():
        return {"first": float(trials[0]), "count": len(trials)}
    return encoded(trials)
