"""What is new here: Merge-N against the learners of the paper, by mean squared distance to Exact Bayes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from volatilis.paper.settings import TASKS

RIVALS = ("pf20", "MP20", "SOR20")


class Promise(NamedTuple):
    """Something Merge is to reach: in how many cells it does, of how many, and the smallest and largest ratio."""

    statement: str
    cells: int
    of: int
    least: float
    most: float


def promises(data: dict[str, Any]) -> list[Promise]:
    """Over the cells of the tasks that are there; empty without any."""
    grids = [data[task].distance.mean("seed") for task in TASKS if task in data]
    if not grids:
        return []

    def ratio(rivals: tuple[str, ...], merge: str) -> np.ndarray:
        parts = [(grid.sel(learner=list(rivals)).min("learner") / grid.sel(learner=merge)).values.ravel() for grid in grids]
        return np.concatenate(parts)

    wanted = (
        ("Merge3 is closer than pf20", ratio(("pf20",), "Merge3"), 1.0),
        ("Merge10 is closer than the best of pf20, MP20 and SOR20 done right", ratio(RIVALS, "Merge10"), 1.0),
        ("Merge20 is at least 20 times closer than that best", ratio(RIVALS, "Merge20"), 20.0),
        ("Merge20 is at least 100 times closer than that best", ratio(RIVALS, "Merge20"), 100.0),
    )
    return [Promise(text, int((r > limit).sum()), r.size, float(r.min()), float(r.max())) for text, r, limit in wanted]
