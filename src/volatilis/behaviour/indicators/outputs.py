"""What the analysis writes: a table of hypotheses, and one of every person's windows."""

from __future__ import annotations

import os
from typing import Any

from volatilis.behaviour.fitting.outputs import write_columns
from volatilis.behaviour.indicators.analysis import Analysis
from volatilis.predictions.windows import SIGNS


def write_hypotheses(path: str | os.PathLike[str], found: Analysis) -> None:
    """One row per prediction, estimator, hypothesis and quantity."""
    rows = found.rows
    texts = ("hypothesis", "estimator", "quantity", "verdict", "hypothesis_verdict")
    columns: dict[str, Any] = {"prediction": [row.prediction for row in rows]}
    columns |= {name: [getattr(row, name) for row in rows] for name in texts[:3]}
    columns["predicted_sign"] = [row.predicted for row in rows]
    for name in ("value", "error", "low", "high", "t", "p", "p_flip"):
        columns[name] = [float(getattr(row.group, name)) for row in rows]
    columns["people"] = [row.group.people for row in rows]
    columns |= {name: [getattr(row, name) for row in rows] for name in texts[3:]}
    write_columns(path, columns)


def write_people(path: str | os.PathLike[str], found: Analysis) -> None:
    """One row per person, prediction, window (and sign): trials in it, the indicator's average, the adjusted average.

    `warnings` are those of the person's fit.
    """
    keys: list[tuple[str, int, int | None, float]] = []
    numbers: list[tuple[int, float, float]] = []
    for i, trials in enumerate(found.people):
        for s, sign in enumerate(SIGNS):
            for k, error in enumerate(found.first_window.errors):
                keys.append((trials.name, 1, sign, error))
                paper, adjusted = found.first["paper"], found.first["adjusted"]
                numbers.append((int(paper.counts[i, s, k]), float(paper.means[i, s, k]), float(adjusted.means[i, s, k])))
        for k, p in enumerate(found.second_window.p if found.second else ()):
            keys.append((trials.name, 2, None, p))
            own, other = found.second["paper"], found.second["adjusted"]
            numbers.append((int(own.counts[i, k]), float(own.means[i, k]), float(other.means[i, k])))
    columns: dict[str, Any] = {
        "person": [key[0] for key in keys],
        "prediction": [key[1] for key in keys],
        "sign": [key[2] for key in keys],
        "window": [key[3] for key in keys],
        "trials": [own[0] for own in numbers],
        "mean": [own[1] for own in numbers],
        "adjusted_mean": [own[2] for own in numbers],
        "warnings": ["; ".join(found.warnings.get(key[0], ())) for key in keys],
    }
    write_columns(path, columns)
