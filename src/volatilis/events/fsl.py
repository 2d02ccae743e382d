"""FSL's three-column files: onset, duration, weight; one file per regressor, and one per kind of event with weight 1."""

from __future__ import annotations

import re

from volatilis.events import nilearn
from volatilis.events.runs import Run

NOTHING = "0 0 0\n"  # how FSL writes an explanatory variable without events


def files(run: Run) -> dict[str, str]:
    made: dict[str, str] = {}
    for name, columns in nilearn.rows(run).items():
        lines = (f"{onset!r} {duration!r} {weight!r}\n" for onset, duration, weight in zip(*map(_floats, columns), strict=True))
        file = f"{run.name}_{re.sub('[^A-Za-z0-9_]+', '', name)}.txt"
        if file.casefold() in map(str.casefold, made):
            raise ValueError(f"the trial_type {name!r} would be written to {file}, which holds another; rename it in the table")
        made[file] = "".join(lines) or NOTHING
    return made


def _floats(values: object) -> list[float]:
    return values.tolist()  # type: ignore[attr-defined]
