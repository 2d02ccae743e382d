"""What `volatilis design` writes: a table of powers, and a sequence of outcomes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from volatilis.behaviour.design.power import Power
from volatilis.behaviour.design.sequences import Chosen
from volatilis.behaviour.fitting.outputs import write_columns


def write_power(path: str | os.PathLike[str], powers: Mapping[str, Power]) -> None:
    """One row per kind of sequence (random, chosen), finding, number of subjects and number of trials."""
    columns: dict[str, list[Any]] = {name: [] for name in ("sequence", "finding", "subjects", "trials", "repeats")}
    shares: dict[str, list[float]] = {"share": [], "low": [], "high": []}
    for kind, found in powers.items():
        for k, finding in enumerate(found.findings):
            for i, trials in enumerate(found.setting.trials):
                for j, subjects in enumerate(found.setting.subjects):
                    for name, value in zip(columns, (kind, finding, subjects, trials, found.repeats), strict=True):
                        columns[name].append(value)
                    for name, values in shares.items():
                        values.append(float(getattr(found, name)[k, i, j]))
    write_columns(path, {**columns, **shares})


def write_sequence(path: str | os.PathLike[str], chosen: Chosen) -> None:
    """One row a trial, as `volatilis run` reads it."""
    sample = chosen.sample
    columns: dict[str, Any] = {"trial": list(range(1, len(sample.y) + 1))}
    columns |= {"outcome": np.asarray(sample.y, dtype=float).tolist(), "mean": np.asarray(sample.theta, dtype=float).tolist()}
    write_columns(path, columns | {"changed": [int(changed) for changed in sample.changed]})
